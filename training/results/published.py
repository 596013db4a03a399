"""The figures published for these models, as data, and in words what is wrong with them.

From the reports beside zaphrode/qkvflow (commit a0ec1da), which builds on SDML-KU/qkvflow; the faults were found by
running that code with its own pinned versions.
"""

import math
from dataclasses import dataclass

SOURCE = "zaphrode/qkvflow, commit a0ec1da"


@dataclass(frozen=True)
class PublishedResult:
    """One model in a published table.

    Attributes:
        kind: The kind of ours that carries the same name.
        name: The model's name in the published table.
        loss: Validation loss in nats per character.
        spread: What was printed after ±: a standard deviation with n, although called an interval.
        interval: The published 95 % interval.
        seed_losses: Best validation loss of every seed, in the order of the experiment's seeds.
        curve: (training step, validation loss) pairs.
    """

    kind: str
    name: str
    loss: float
    parameters: int | None = None
    step_ms: float | None = None
    spread: float | None = None
    interval: tuple[float, float] | None = None
    seed_losses: tuple[float, ...] = ()
    curve: tuple[tuple[int, float], ...] = ()


@dataclass(frozen=True, kw_only=True)
class PublishedExperiment:
    """A published table.

    Attributes:
        recipe: The recipe of ours that repeats it, or its name where none does.
        p_values: Published two-sided p-values by pair of kinds: Student's t test with pooled variance.
        caveats: What to know before comparing, beyond `FAULTS`.
    """

    recipe: str
    title: str
    corpus: str
    num_steps: int | None
    seeds: tuple[int, ...]
    device: str
    results: tuple[PublishedResult, ...]
    p_values: dict[tuple[str, str], float]
    caveats: tuple[str, ...]


# What is wrong with all published figures.
FAULTS: tuple[str, ...] = (
    "None of the four models is causal: queries and keys share one axis name, so the mask hides nothing and every "
    "position sees the bytes it should predict. Where the answer is not in the window, the trained MLP variant scores "
    "2.449 and the SSM variant 2.769 nats, both worse than a table of bigram counts (2.358).",
    "The losses of Standard (2.367) and Tong's neural ODE (2.336) are at the level of bigram counts (2.350).",
    "The 308 M Standard is no standard transformer: 99.4 % of its parameters generate weights, in six layers that each "
    "own four hypernetworks read at one fixed t. A plain transformer of that size has 4.9 M, so the MLP variant is "
    "6.8 times smaller, not 430 times.",
    "The state space does not depend on the input and is scanned one position after the other, which is why its step "
    "takes 8.4 times that of the MLP variant.",
)

# Best validation loss of every seed.
_STANDARD = (2.33890, 2.35235, 2.35947, 2.39864, 2.38658)
_ODE = (2.32050, 2.32276, 2.33173, 2.33608, 2.37029)
_MLP = (2.20381, 2.20338, 2.23256, 2.24593, 2.26726)
_SSM = (2.06201, 2.02575, 2.08540, 2.19048, 2.36991)
# Validation loss every 500 training steps.
_STANDARD_CURVE = (3.150, 3.167, 3.143, 3.136, 2.896, 2.371)
_MLP_CURVE = (2.881, 2.658, 2.473, 2.331, 2.225, 2.151)
_SSM_CURVE = (2.558, 2.305, 2.077, 2.009, 1.940, 1.849)


def _curve(losses: tuple[float, ...]) -> tuple[tuple[int, float], ...]:
    return tuple((500 * place, loss) for place, loss in enumerate(losses, start=1))


FIVE_SEEDS = PublishedExperiment(
    recipe="published-1000",
    title="Five seeds, 1,000 steps",
    corpus="wikitext-2",
    num_steps=1_000,
    seeds=(42, 123, 456, 789, 1011),
    device="NVIDIA A100",
    results=(
        PublishedResult("standard", "Standard", 2.367, 308_460_480, 55.3, 0.022, (2.336, 2.398), _STANDARD),
        PublishedResult("neural-ode", "Tong's Neural ODE", 2.336, 51_512_960, 15.3, 0.018, (2.311, 2.361), _ODE),
        PublishedResult("time-indexed-mlp", "Time-Indexed MLP", 2.231, 715_840, 7.7, 0.025, (2.196, 2.265), _MLP),
        PublishedResult("time-indexed-ssm", "Time-Indexed SSM", 2.147, 4_901_760, 64.3, 0.124, (1.974, 2.319), _SSM),
    ),
    p_values={
        ("standard", "neural-ode"): 0.0617,
        ("standard", "time-indexed-mlp"): 3.5e-5,
        ("standard", "time-indexed-ssm"): 0.00818,
        ("neural-ode", "time-indexed-mlp"): 1.2e-4,
        ("neural-ode", "time-indexed-ssm"): 0.0166,
        ("time-indexed-mlp", "time-indexed-ssm"): 0.222,
    },
    caveats=(
        "Each seed was judged on 10,240 characters of its own; their sampling error (0.024) is as large as the spread "
        "between seeds, and the best of ten evaluations was reported.",
        "The number after ± is a standard deviation with n, not a half-width: for the SSM variant 0.124, where the "
        "95 % interval reaches 0.173 to either side. The printed intervals themselves are right.",
        "The p-values are of Student's t test with pooled variance, although the SSM variant spreads at least five "
        "times as wide as the others (Welch: Standard against SSM 0.023, not 0.0082), and six comparisons went without "
        "a correction.",
        "Seeds share their batches across models, so paired tests are due: Standard against neural ODE 0.021, Standard "
        "against SSM 0.015, MLP against SSM 0.17.",
    ),
)


LONGER_RUN = PublishedExperiment(
    recipe="published-3000",
    title="One seed, 3,000 steps",
    corpus="wikitext-2",
    num_steps=3_000,
    seeds=(),
    device="NVIDIA A100",
    results=(
        PublishedResult("standard", "Standard", 2.3708, 617_430_932, 71.0, curve=_curve(_STANDARD_CURVE)),
        PublishedResult("time-indexed-mlp", "Time-Indexed MLP", 2.1512, 956_684, 8.8, curve=_curve(_MLP_CURVE)),
        PublishedResult("time-indexed-ssm", "Time-Indexed SSM", 1.8488, 9_411_600, 61.9, curve=_curve(_SSM_CURVE)),
    ),
    p_values={},
    caveats=(
        "One seed: no interval and no test.",
        "Counts are larger than in the five-seed table because the time features have 64 frequencies and the time "
        "networks 129 units.",
    ),
)

WIKITEXT_103 = PublishedExperiment(
    recipe="wikitext-103",
    title="A subset of WikiText-103",
    corpus="wikitext-103",
    num_steps=None,
    seeds=(),
    device="NVIDIA A100",
    results=tuple(
        PublishedResult(kind, name, math.log(perplexity))
        for kind, name, perplexity in (
            ("standard", "Standard", 12.21),
            ("neural-ode", "Tong's Neural ODE", 11.86),
            ("time-indexed-mlp", "Time-Indexed MLP", 10.73),
            ("time-indexed-ssm", "Time-Indexed SSM", 24.57),
        )
    ),
    p_values={},
    caveats=("Published as perplexities per character (10.73 for the MLP variant); losses here are their logarithms.",),
)

PUBLISHED: dict[str, PublishedExperiment] = {each.recipe: each for each in (FIVE_SEEDS, LONGER_RUN, WIKITEXT_103)}


def published_for(recipe: str) -> PublishedExperiment | None:
    """The published table that a recipe repeats; `None` where nothing was published."""
    return PUBLISHED.get(recipe)
