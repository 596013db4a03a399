"""The protocols that kinds are compared by: as published, and every model at its own best setting."""

from dataclasses import replace

from tipshare.config import KINDS
from training.recipes.recipe import Recipe, Variant

PUBLISHED = Recipe(
    name="published-1000",
    summary="the published five-seed protocol on WikiText-2, with causal models",
    model=dict(hidden_dim=256, num_heads=4, num_layers=6, time_features="published", query_key_norm=False),
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
        # All its weights are generated, which AdamW moves.
        "neural-ode": {"optimizer": "adamw", "learning_rate": 5e-4},
        "time-indexed-mlp": {"learning_rate": 8e-3, "adam_learning_rate": 4e-3},
    },
    model={**PUBLISHED.model, "time_features": "smooth", "query_key_norm": True, "step_features": True},
)

# On average six depth steps per training step, so that a run costs what one at six costs.
_DRAWN = dict(depth_steps=(3, 4, 6, 8, 12), depth_weights=(2.0, 1.0, 5.0, 1.0, 1.0))

SHOWCASE = replace(
    TUNED,
    name="showcase",
    summary="the longer, tuned run behind the bundled checkpoints; depth drawn where weights are defined at every t",
    num_steps=3_000,
    length=256,
    warmup_steps=200,
    evaluate_every=250,
    full_evaluation=("valid", "test"),
    depth_evaluation=tuple(range(2, 19)),
    sample_every=500,
    average_tail=0.1,
    **_DRAWN,
    # A model with weights of its own in every layer has one depth.
    by_model={**TUNED.by_model, "standard": {**TUNED.by_model["standard"], "depth_steps": (), "depth_weights": ()}},
    seeds=(42,),
)

_KINDS = {kind: Variant(kind) for kind in KINDS}

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
}
