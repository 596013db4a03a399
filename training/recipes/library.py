"""The recipes by name."""

from dataclasses import replace

from training.recipes.ablations import ablations
from training.recipes.protocols import PUBLISHED, SHOWCASE, TUNED, TUNED_PROTOCOLS
from training.recipes.recipe import Recipe

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
    "published-1000": PUBLISHED,
    "published-3000": replace(
        PUBLISHED,
        name="published-3000",
        summary="the published 3,000-step benchmark on WikiText-2, evaluated every 500 steps",
        num_steps=3_000,
        evaluate_every=500,
        depth_evaluation=(2, 3, 4, 6, 8, 12, 18),
        seeds=(42,),
    ),
    "wikitext-103": replace(
        SHOWCASE,
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
        model={**SHOWCASE.model, "hidden_dim": 512, "num_heads": 8, "num_layers": 8},
        by_model={**TUNED.by_model, "standard": SHOWCASE.by_model["standard"]},
        variants={},
    ),
    "shakespeare-cpu": _SHAKESPEARE_CPU,
    "shakespeare-cpu-tuned": replace(
        _SHAKESPEARE_CPU,
        name="shakespeare-cpu-tuned",
        summary="nanoGPT's CPU budget on tiny Shakespeare, spent on a wide shared block",
        optimizer="muon",
        learning_rate=4e-3,
        by_model=TUNED.by_model,
        model={**TUNED.model, "use_bias": False},
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
    **TUNED_PROTOCOLS,
    **ablations(PUBLISHED),
}


def find_recipe(name: str) -> Recipe:
    """A recipe by name, or an error that lists the names."""
    if name not in RECIPES:
        raise ValueError(f"unknown recipe {name!r}; the recipes are {', '.join(RECIPES)}")
    return RECIPES[name]
