"""The recipes by name."""

from dataclasses import replace

from training.recipes.ablations import ablations
from training.recipes.recipe import Recipe, Variant

_PUBLISHED = Recipe(
    name="published-1000",
    summary="the published five-seed protocol on WikiText-2, with causal models",
    model=dict(hidden_dim=256, num_heads=4, num_layers=6, time_features="published"),
)

_SHAKESPEARE_CPU = Recipe(
    name="shakespeare-cpu",
    summary="nanoGPT's CPU setting on tiny Shakespeare",
    cost="about 3 minutes per run on 2 CPU cores",
    expected="valid loss 1.88 nats per byte for nanoGPT's own model",
    corpus="shakespeare",
    num_steps=2_000,
    batch_size=12,
    length=64,
    optimizer="adamw",
    betas=(0.9, 0.99),
    learning_rate=1e-3,
    schedule="cosine",
    warmup_steps=100,
    weight_decay=0.1,
    clip_norm=1.0,
    evaluate_every=250,
    full_evaluation=("valid",),
    save_every=250,
    model=dict(hidden_dim=128, num_heads=4, num_layers=4, use_bias=False),
    seeds=(1337,),
)

# What the two protocols of 1,000 tuned steps share. Muon's rates are of its own scale, see `training.engine.muon`.
_TUNED = replace(
    _PUBLISHED,
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
    model={**_PUBLISHED.model, "time_features": "smooth", "step_features": True},
)

# On average six depth steps per training step, so that a run costs what one at six costs.
_DRAWN = dict(depth_steps=(3, 4, 6, 8, 12), depth_weights=(2.0, 1.0, 5.0, 1.0, 1.0))

_SHOWCASE = replace(
    _TUNED,
    name="showcase",
    summary="the longer, tuned run behind the bundled checkpoints; depth drawn where weights are defined at every t",
    num_steps=2_000,
    length=256,
    warmup_steps=200,
    evaluate_every=250,
    full_evaluation=("valid", "test"),
    depth_evaluation=tuple(range(2, 19)),
    sample_every=500,
    **_DRAWN,
    # A model with weights of its own in every layer has one depth.
    by_model={**_TUNED.by_model, "standard": {**_TUNED.by_model["standard"], "depth_steps": (), "depth_weights": ()}},
    seeds=(42,),
)

_QUICK = Recipe(
    name="quick",
    summary="a first look: small models on a text that comes with Python, no download",
    cost="under a minute on 2 CPU cores",
    corpus="builtin",
    num_steps=300,
    batch_size=8,
    length=64,
    optimizer="adamw",
    betas=(0.9, 0.99),
    learning_rate=3e-3,
    schedule="cosine",
    warmup_steps=30,
    weight_decay=0.1,
    clip_norm=1.0,
    evaluate_every=100,
    evaluation_windows=128,
    full_evaluation=("valid",),
    save_every=100,
    sample_every=150,
    model=dict(hidden_dim=96, num_heads=4, num_layers=4),
    seeds=(0, 1, 2),
)

RECIPES: dict[str, Recipe] = {
    "quick": _QUICK,
    "one-minute": replace(
        _QUICK,
        name="one-minute",
        summary="what the page's Train tab runs: as quick, but watched more closely",
        evaluate_every=30,
        depth_evaluation=(2, 6, 8),
        save_every=300,
        sample_every=60,
        seeds=(0,),
    ),
    "published-1000": _PUBLISHED,
    "published-3000": replace(
        _PUBLISHED,
        name="published-3000",
        summary="the published 3,000-step benchmark on WikiText-2, evaluated every 500 steps",
        num_steps=3_000,
        evaluate_every=500,
        depth_evaluation=(2, 3, 4, 6, 8, 12, 18),
        seeds=(42,),
    ),
    "wikitext-103": replace(
        _SHOWCASE,
        name="wikitext-103",
        summary="the tuned run on WikiText-103, for a GPU",
        corpus="wikitext-103",
        num_steps=20_000,
        batch_size=64,
        precision="bfloat16",
        evaluate_every=1_000,
        evaluation_windows=1_024,
        save_every=1_000,
        sample_every=5_000,
        model=dict(hidden_dim=512, num_heads=8, num_layers=8),
    ),
    "shakespeare-cpu": _SHAKESPEARE_CPU,
    "shakespeare-cpu-tuned": replace(
        _SHAKESPEARE_CPU,
        name="shakespeare-cpu-tuned",
        summary="nanoGPT's CPU budget on tiny Shakespeare, spent on a wide shared block",
        optimizer="muon",
        learning_rate=4e-3,
        by_model=_TUNED.by_model,
        model={**_TUNED.model, "use_bias": False},
    ),
    "shakespeare": replace(
        _SHAKESPEARE_CPU,
        name="shakespeare",
        summary="nanoGPT's GPU setting on tiny Shakespeare",
        cost="for a GPU; hours on a CPU",
        expected="valid loss 1.4697 nats per byte for nanoGPT's own model, at its best step",
        num_steps=5_000,
        batch_size=64,
        length=256,
        precision="bfloat16",
        model=dict(
            hidden_dim=384, num_heads=6, num_layers=6, use_bias=False, attn_pdrop=0.2, resid_pdrop=0.2, embd_pdrop=0.2
        ),
    ),
    "showcase": _SHOWCASE,
    "tuned-shakespeare": replace(
        _TUNED,
        name="tuned-shakespeare",
        summary="as tuned-1000 on tiny Shakespeare, for checkpoints that fine-tuning takes to another text or depth",
        corpus="shakespeare",
        depth_evaluation=(3, 6, 12),
        seeds=(42,),
    ),
    "tuned-1000": _TUNED,
    "elastic-1000": replace(
        _TUNED,
        name="elastic-1000",
        summary="as tuned-1000, with the number of depth steps drawn anew for every training step",
        **_DRAWN,
        by_model={name: own for name, own in _TUNED.by_model.items() if name != "standard"},
        variants={
            "time-indexed-ssm": Variant("time-indexed-ssm"),
            "time-indexed-mlp": Variant("time-indexed-mlp"),
            "neural-ode": Variant("neural-ode"),
            "time-indexed-ssm, tied": Variant("time-indexed-ssm", {"weights": "tied"}),
        },
    ),
    **ablations(_PUBLISHED),
}


def find_recipe(name: str) -> Recipe:
    """A recipe by name, or an error that lists the names."""
    if name not in RECIPES:
        raise ValueError(f"unknown recipe {name!r}; the recipes are {', '.join(RECIPES)}")
    return RECIPES[name]
