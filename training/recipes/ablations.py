"""Ablations: recipes that vary one choice of the model grid at a time."""

import dataclasses
from collections.abc import Sequence

from training.recipes.recipe import NOT_MEASURED, Recipe, Variant


def _variant(kind: str, **changes: object) -> Variant:
    return Variant(kind, changes)


# One MLP width throughout, so that the cells of the grid differ only in what their names say.
_GRID = {
    f"{weights} + {mixer}": _variant(
        {"own": "standard", "generated": "neural-ode"}.get(weights, f"time-indexed-{mixer}"),
        weights=weights,
        mixer=mixer,
        step="residual",
        branches="sequential",
        use_bias=False,
        **({"mlp_ratio": 1.0} if mixer == "mlp" else {}),
    )
    for weights in ("own", "generated", "gated", "tied")
    for mixer in ("mlp", "ssm")
}


def _vary(kinds: Sequence[str], field: str, values: Sequence[object], label: str) -> dict[str, Variant]:
    """Every kind with every value of a field, which stands in its label."""
    return {f"{kind}, {label.format(value)}": _variant(kind, **{field: value}) for kind in kinds for value in values}


_GATED = ("time-indexed-mlp", "time-indexed-ssm")
_CONTINUOUS = ("neural-ode", *_GATED)

_TIME = _vary(_CONTINUOUS, "time", ("indexed", "constant"), "t {}")
_STEP = _vary(_CONTINUOUS, "step", ("residual", "euler"), "{}")
_POSITIONS = _vary(("standard", *_GATED), "positions", ("rotary", "learned", "none"), "{} positions")
_GATE = _vary(_GATED, "gate", ("sigmoid", "two-sigmoid", "linear"), "{} gate")
_GATE |= _vary(_GATED, "weights", ("tied",), "no gate")
_DEPTH = _vary(("standard", *_GATED), "num_layers", (2, 4, 6, 8, 12), "{} depth steps")
_SELECTIVE = {
    "time-indexed-ssm, selective": _variant("time-indexed-ssm", selective=True),
    "time-indexed-ssm, time-invariant": _variant("time-indexed-ssm", selective=False),
}


def ablations(base: Recipe) -> dict[str, Recipe]:
    """One recipe per question, each with the budget of `base`."""
    questions = {
        "weights": ("where the weights at depth t come from, by what follows attention", _GRID),
        "time": ("whether blocks that see t beat blocks that always see t = 0", _TIME),
        "step": ("whether a block's output is added whole (residual) or divided by the depth steps (Euler)", _STEP),
        "positions": ("how the model tells positions apart", _POSITIONS),
        "gate": ("the range of the gates, and whether they help at all", _GATE),
        "depth": ("how many depth steps a model is trained with", _DEPTH),
        "selective": ("whether the step size of the state space depends on the input", _SELECTIVE),
    }
    return {
        f"ablation-{name}": dataclasses.replace(
            base,
            name=f"ablation-{name}",
            summary=f"ablation: {question}",
            cost=f"{len(variants)} models, each as {base.name}",
            expected=NOT_MEASURED,
            variants=variants,
        )
        for name, (question, variants) in questions.items()
    }
