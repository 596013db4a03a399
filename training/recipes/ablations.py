"""Ablations: recipes that vary one choice of the model grid at a time."""

import dataclasses

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

_TIME = {
    f"{kind}, t {time}": _variant(kind, time=time)
    for kind in ("neural-ode", "time-indexed-mlp", "time-indexed-ssm")
    for time in ("indexed", "constant")
}

_STEP = {
    f"{kind}, {step}": _variant(kind, step=step)
    for kind in ("neural-ode", "time-indexed-mlp", "time-indexed-ssm")
    for step in ("residual", "euler")
}

_POSITIONS = {
    f"{kind}, {positions} positions": _variant(kind, positions=positions)
    for kind in ("standard", "time-indexed-mlp", "time-indexed-ssm")
    for positions in ("rotary", "learned", "none")
}

_GATE = {
    f"{kind}, {gate} gate": _variant(kind, gate=gate)
    for kind in ("time-indexed-mlp", "time-indexed-ssm")
    for gate in ("sigmoid", "two-sigmoid", "linear")
} | {f"{kind}, no gate": _variant(kind, weights="tied") for kind in ("time-indexed-mlp", "time-indexed-ssm")}

_DEPTH = {
    f"{kind}, {steps} depth steps": _variant(kind, num_layers=steps)
    for kind in ("standard", "time-indexed-mlp", "time-indexed-ssm")
    for steps in (2, 4, 6, 8, 12)
}


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
