"""The protocols that kinds are compared by: as published, and every model at its own best setting."""

from dataclasses import replace

from tipshare.config import KINDS
from training.recipes.recipe import Recipe, Variant

PUBLISHED = Recipe(
    name="published-1000",
    summary="the published five-seed protocol on WikiText-2, with causal models",
    model=dict(
        hidden_dim=256, num_heads=4, num_layers=6, time_features="published", query_key_norm=False, gate_start=2.0
    ),
)

# What the two protocols of 1,000 tuned steps share. Muon's rates are of its own scale, see `training.engine.muon`.
TUNED = replace(
    PUBLISHED,
    name="tuned-1000",
    summary="1,000 steps with every model at its own best setting; depth fixed at six steps",
    optimizer="muon",
    betas=(0.9, 0.99),
    learning_rate=4e-3,
    schedule="cosine",
    warmup_steps=100,
    weight_decay=0.1,
    clip_norm=1.0,
    full_evaluation=(),
    depth_evaluation=(2, 3, 4, 5, 6, 8, 10, 12, 18),
    save_every=250,
    by_model={
        "standard": {"learning_rate": 3e-3, "adam_learning_rate": 1e-3},
        # AdamW moves its hypernetworks, for which a rate is a rate of everything that they generate.
        "neural-ode": {"adam_learning_rate": 1e-3},
        "time-indexed-mlp": {"learning_rate": 8e-3, "adam_learning_rate": 4e-3},
    },
    model=dict(hidden_dim=256, num_heads=4, num_layers=6, step_features=True),
)

# On average six depth steps per training step, so that a run costs what one at six costs.
_DRAWN = dict(depth_steps=(3, 4, 6, 8, 12), depth_weights=(2.0, 1.0, 5.0, 1.0, 1.0))

_KINDS = {kind: Variant(kind) for kind in KINDS}

SHOWCASE = replace(
    TUNED,
    name="showcase",
    summary="a longer, tuned run for checkpoints to publish; depth drawn where weights are defined at every t",
    num_steps=6_000,
    length=256,
    warmup_steps=200,
    evaluate_every=500,
    full_evaluation=("valid", "test"),
    depth_evaluation=tuple(range(2, 19)),
    sample_every=1_000,
    average_tail=0.1,
    **_DRAWN,
    by_model={
        **TUNED.by_model,
        # A model with weights of its own in every layer has one depth.
        "standard": {**TUNED.by_model["standard"], "depth_steps": (), "depth_weights": ()},
        # The bundled checkpoints of this kind and of the MLP are older than what tuned-1000 has for them. Once they are
        # trained anew, this and the start of the gates below can go.
        "neural-ode": {"optimizer": "adamw", "learning_rate": 5e-4},
    },
    variants={
        **_KINDS,
        "time-indexed-mlp": Variant("time-indexed-mlp", {"gate_start": 2.0}),
        # As wide as it takes to store as many parameters as the plain transformer.
        "time-indexed-ssm, large": Variant("time-indexed-ssm", {"hidden_dim": 752}),
    },
    seeds=(42,),
)

# What sharing and gates are judged against: neither, sharing alone, and models of a block per layer that are made as
# small as the shared one (777,600 parameters: the plain one has 779,200, the state space 812,688).
_OWN_SSM = {"weights": "own"}
_BESIDE = {
    "time-indexed-ssm, tied": Variant("time-indexed-ssm", {"weights": "tied"}),
    "own + ssm": Variant("time-indexed-ssm", _OWN_SSM),
    "standard, 0.8 M": Variant("standard", {"hidden_dim": 100, "num_heads": 2}),
    "own + ssm, 0.8 M": Variant("time-indexed-ssm", {**_OWN_SSM, "hidden_dim": 120}),
}
_RATES_BESIDE = {
    "own + ssm": {"adam_learning_rate": 2e-3},
    "standard, 0.8 M": {"learning_rate": 3e-3, "adam_learning_rate": 2e-3},
    "own + ssm, 0.8 M": {"adam_learning_rate": 2e-3},
}

_TUNED_1000 = replace(TUNED, variants={**_KINDS, **_BESIDE}, by_model={**TUNED.by_model, **_RATES_BESIDE})

_ELASTIC = replace(
    TUNED,
    name="elastic-1000",
    summary="as tuned-1000, with the number of depth steps drawn anew for every training step",
    **_DRAWN,
    by_model={name: own for name, own in TUNED.by_model.items() if name != "standard"},
    variants={
        "time-indexed-ssm": Variant("time-indexed-ssm"),
        "time-indexed-mlp": Variant("time-indexed-mlp"),
        "neural-ode": Variant("neural-ode"),
        "time-indexed-ssm, tied": Variant("time-indexed-ssm", {"weights": "tied"}),
    },
)

# What the gates read, one choice changed at a time, under drawn depths.
_FEATURES = {
    "time-indexed-ssm": Variant("time-indexed-ssm"),
    "time-indexed-ssm, published features": Variant("time-indexed-ssm", {"time_features": "published"}),
    "time-indexed-ssm, legendre features": Variant(
        "time-indexed-ssm", {"time_features": "legendre", "time_frequencies": 8}
    ),
    "time-indexed-ssm, without dt": Variant("time-indexed-ssm", {"step_features": False}),
}

# Widths and heads that give each kind about so many stored parameters; 4 heads where their size is even.
_SIZES = {
    "standard": {"0.1 M": (32, 4), "0.3 M": (60, 2), "0.8 M": (100, 2), "2.5 M": (184, 4)},
    "neural-ode": {"0.1 M": (20, 2), "0.3 M": (36, 2), "0.8 M": (60, 2), "2.5 M": (108, 2)},
    "time-indexed-mlp": {"0.1 M": (64, 4), "0.3 M": (152, 4), "0.8 M": (280, 4), "2.5 M": (560, 4)},
    "time-indexed-ssm": {"0.1 M": (48, 4), "0.3 M": (136, 4), "0.8 M": (256, 4), "2.5 M": (512, 4)},
}
_SCALES = {
    f"{kind}, {size}": Variant(kind, {"hidden_dim": width, "num_heads": heads})
    for kind, sizes in _SIZES.items()
    for size, (width, heads) in sizes.items()
}

# One block read six times, and up to six blocks of the same shape: how many blocks is a loop worth?
_LOOPS = {
    "time-indexed-ssm": Variant("time-indexed-ssm"),
    "time-indexed-ssm, tied": _BESIDE["time-indexed-ssm, tied"],
    **{
        f"own + ssm, {layers} layer{'s' if layers > 1 else ''}": Variant(
            "time-indexed-ssm", {**_OWN_SSM, "num_layers": layers}
        )
        for layers in (1, 2, 3, 4, 6)
    },
}

TUNED_PROTOCOLS: dict[str, Recipe] = {
    "showcase": SHOWCASE,
    "tuned-shakespeare": replace(
        TUNED,
        name="tuned-shakespeare",
        summary="as tuned-1000 on tiny Shakespeare, for checkpoints that fine-tuning takes to another text or depth",
        corpus="shakespeare",
        depth_evaluation=(3, 6, 12),
        seeds=(42,),
    ),
    "tuned-1000": _TUNED_1000,
    "tuned-3000": replace(
        _TUNED_1000,
        name="tuned-3000",
        summary="as tuned-1000 for three times as many training steps",
        num_steps=3_000,
        evaluate_every=250,
        seeds=(42,),
    ),
    "elastic-1000": _ELASTIC,
    "ablation-features": replace(
        _ELASTIC,
        name="ablation-features",
        summary="ablation: which features of t the gates read, and whether they read the step size dt",
        variants=_FEATURES,
        by_model={},
    ),
    "scaling-1000": replace(
        TUNED,
        name="scaling-1000",
        summary="four kinds at four sizes, each with the tuned settings of its kind: what a parameter buys",
        depth_evaluation=(),
        variants=_SCALES,
        by_model={
            **{label: TUNED.by_model[each.kind] for label, each in _SCALES.items() if each.kind in TUNED.by_model},
            "standard, 0.8 M": _RATES_BESIDE["standard, 0.8 M"],
        },
        seeds=(42,),
    ),
    "loops-1000": replace(
        TUNED,
        name="loops-1000",
        summary="one state-space block read six times against one to six blocks of their own: what a loop is worth",
        depth_evaluation=(),
        variants=_LOOPS,
        by_model={label: _RATES_BESIDE["own + ssm"] for label in _LOOPS if label.startswith("own")},
        seeds=(42, 123, 456),
    ),
}
