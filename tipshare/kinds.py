"""What a kind and a weight source are called and how they look: the one table that cards, README, report and page read.

A kind, weight source or mixer without an entry is still shown: by its name, its field values and a neutral look.
"""

import re
from dataclasses import dataclass

from tipshare.config import KINDS, ModelConfig


@dataclass(frozen=True)
class Look:
    """How a kind appears.

    Attributes:
        title: The name that readers see.
        summary: One sentence about the kind at its default fields, as the rest of "This is ...".
        colour: From the Okabe-Ito set, which readers with any common colour blindness can tell apart.
        mark: A second cue beside colour, for print in black and white; a name that matplotlib knows.
    """

    title: str
    summary: str
    colour: str
    mark: str


@dataclass(frozen=True)
class SourceWords:
    """A weight source in words.

    Attributes:
        title: As a row of a table.
        sentence: What it means for a block.
        argument: The weights in one depth step, f(x_i; argument), in LaTeX.
        weight: How they depend on t, in LaTeX; empty if they do not. `{gate}` stands for the gate.
    """

    title: str
    sentence: str
    argument: str
    weight: str = ""


LOOKS: dict[str, Look] = {
    "standard": Look(
        "Standard",
        "a plain pre-norm transformer: every layer has weights of its own. It is the baseline of the others",
        "#6B7280",
        "s",
    ),
    "neural-ode": Look(
        "Neural ODE",
        "a neural-ODE transformer: a hypernetwork generates every weight from the depth t, and a pass is an Euler "
        "integration over t",
        "#D55E00",
        "D",
    ),
    "time-indexed-mlp": Look(
        "Time-Indexed MLP",
        "one shared block of attention and a narrow MLP, reused at every depth t and modulated by gates",
        "#0072B2",
        "o",
    ),
    "time-indexed-ssm": Look(
        "Time-Indexed SSM",
        "one shared block of attention and a selective state-space layer, reused at every depth t and modulated by "
        "gates",
        "#009E73",
        "^",
    ),
}
NEUTRAL = Look("", "", "#444444", "X")

SOURCES: dict[str, SourceWords] = {
    "own": SourceWords("own: a block per layer", "every layer has weights of its own", r"W_i"),
    "generated": SourceWords(
        "generated from t", "a hypernetwork generates the weights from the depth t", r"W(t_i)", r"W(t) = W_0 + e(t)\,P"
    ),
    "gated": SourceWords(
        "one block, gated by t",
        "one block is shared by all depths and modulated by gates of t",
        r"W(t_i)",
        r"W(t) = W \odot {gate}",
    ),
    "tied": SourceWords("one block, no gates (plain sharing)", "one block is shared by all depths, without gates", "W"),
    "own-generated": SourceWords(
        "own hypernetworks: one per layer",
        "every layer has a hypernetwork of its own, which generates its weights at one fixed t",
        r"W_i(t_i)",
        r"W_i(t) = W_{0,i} + e_i(t)\,P_i",
    ),
    "generated-gated": SourceWords(
        "generated from t and gated",
        "a hypernetwork generates the mixer's weights from the depth t, each entry behind a gate of its own; attention "
        "is shared by all depths and gated",
        r"W(t_i)",
        r"W(t) = (W_0 + e(t)\,P) \odot {gate}",
    ),
}

MIXERS: dict[str, str] = {"mlp": "MLP", "ssm": "state space"}
# A cell of the grid of weights and mixers, such as `own + ssm`, in a few words.
CELLS: dict[str, str] = {
    "own": "a block per layer",
    "generated": "weights generated from t",
    "gated": "one block gated by t",
    "tied": "one block without gates",
}
GATES: dict[str, str] = {
    "sigmoid": r"\sigma(g({t}))",
    "two-sigmoid": r"2\,\sigma(g({t}))",
    "linear": r"(1 + g({t}))",
}


def title_of(label: str) -> str:
    """A model's label as readers see it: the title of a kind and what was changed in it, or a cell of the grid."""
    for kind, look in LOOKS.items():
        if label == kind or label.startswith((f"{kind} ", f"{kind},")):
            return look.title + label[len(kind) :]
    cell = re.fullmatch(r"(\w+) \+ (\w+)(, .*)?", label)
    if cell and cell[1] in CELLS and cell[2] in MIXERS:
        mixer = MIXERS[cell[2]]
        return f"{mixer[0].upper()}{mixer[1:]} with {CELLS[cell[1]]}{cell[3] or ''}"
    return label


def colour_of(kind: str) -> str:
    """The colour of a kind, in tables, figures and on the page."""
    return LOOKS.get(kind, NEUTRAL).colour


def mark_of(kind: str) -> str:
    """The mark of a kind in figures, by matplotlib's name."""
    return LOOKS.get(kind, NEUTRAL).mark


def rank_of(kind: str) -> int:
    """The place of a kind in every list; kinds without an entry come last."""
    return list(LOOKS).index(kind) if kind in LOOKS else len(LOOKS)


def mixer_of(config: ModelConfig) -> str:
    """What follows attention in a block, with its size."""
    if config.mixer == "mlp":
        return f"MLP, {config.mlp_ratio:g}x"
    invariant = "" if config.selective else "time-invariant "
    bare = "" if config.ssm_projections else " without projections"
    return f"{invariant}{MIXERS.get(config.mixer, config.mixer)}{bare}, {config.state_dim} states"


def source_title(weights: str) -> str:
    """A weight source as a row of a table; its field value if it has no entry."""
    return SOURCES[weights].title if weights in SOURCES else weights


def summary_of(config: ModelConfig) -> str:
    """One sentence about a model, as the rest of "This is ...".

    A kind at its usual choices has a sentence of its own; any other cell of the grid is described by its fields.
    """
    look, usual = LOOKS.get(config.kind), KINDS.get(config.kind)
    choices = ["weights", "mixer", "step", "time", "branches"]
    choices += ["selective", "ssm_projections"] if config.mixer == "ssm" else []
    if look and usual and all(getattr(config, name) == getattr(usual(), name) for name in choices):
        return look.summary
    source = SOURCES.get(config.weights)
    sentence = source.sentence if source else f"its weights at depth t are {config.weights!r}"
    if config.time == "constant" and source and source.weight:
        sentence += ", with t held constant"
    step = "Euler steps of 1/L" if config.step == "euler" else "residual steps"
    beside = "beside" if config.branches == "parallel" else "followed by"
    return f"a variant of {title_of(config.kind)}: attention {beside} {mixer_of(config)}, {step}; {sentence}"


def equation_of(config: ModelConfig) -> str:
    """One depth step in LaTeX, by where weights come from, how they are gated and how a step is added."""
    factor = r"\tfrac{1}{L}\, " if config.step == "euler" else ""
    words = SOURCES.get(config.weights, SourceWords("", "", r"W(t_i)"))
    gate = GATES.get(config.gate, r"g({t})").replace("{t}", "0" if config.time == "constant" else "t")
    weight = words.weight.replace("{gate}", gate)
    rest = rf"{weight}, \quad t_i = i / L" if weight else r"i = 1, \dots, L"
    return rf"x_{{i+1}} = x_i + {factor}f(x_i;\, {words.argument}), \quad {rest}"
