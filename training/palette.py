"""One colour, one mark and one place in every list per kind: tables, figures and the app agree."""

from tipshare.config import KINDS

# From the Okabe-Ito set, which readers with any common colour blindness can tell apart; grey for the baseline.
COLOURS: dict[str, str] = {
    "standard": "#6B7280",
    "neural-ode": "#D55E00",
    "time-indexed-mlp": "#0072B2",
    "time-indexed-ssm": "#009E73",
}

# A second cue beside colour, for print in black and white; names that matplotlib knows.
MARKS: dict[str, str] = {
    "standard": "s",
    "neural-ode": "D",
    "time-indexed-mlp": "o",
    "time-indexed-ssm": "^",
}

TITLES: dict[str, str] = {
    "standard": "Standard",
    "neural-ode": "Neural ODE",
    "time-indexed-mlp": "Time-Indexed MLP",
    "time-indexed-ssm": "Time-Indexed SSM",
}

INK = "#1F2937"
FAINT = "#D1D5DB"


def colour_of(kind: str) -> str:
    """The colour of a kind, in tables, figures and the app."""
    return COLOURS[_known(kind)]


def mark_of(kind: str) -> str:
    """The mark of a kind in figures."""
    return MARKS[_known(kind)]


def title_of(label: str) -> str:
    """A model's label as readers see it: the kind's title, and what an ablation changed in it."""
    for kind, title in TITLES.items():
        if label == kind or label.startswith((f"{kind} ", f"{kind},")):
            return title + label[len(kind) :]
    return label


def rank_of(kind: str) -> int:
    """The place of a kind in every list."""
    return list(COLOURS).index(_known(kind))


def _known(kind: str) -> str:
    if kind not in COLOURS:
        raise ValueError(f"no colour for the kind {kind!r}; the kinds are {', '.join(KINDS)}")
    return kind
