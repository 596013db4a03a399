"""How fine-tuning is trained, unless it is told otherwise."""

from collections.abc import Sequence
from dataclasses import replace

from training.finetune.methods import Method
from training.recipes.recipe import Recipe

FINETUNE = Recipe(
    name="finetune",
    summary="a trained checkpoint on another text, or at another depth",
    num_steps=100,
    batch_size=8,
    length=128,
    optimizer="adamw",
    betas=(0.9, 0.99),
    schedule="cosine",
    warmup_steps=10,
    clip_norm=1.0,
    evaluate_every=50,
    full_evaluation=(),
    save_every=50,
    seeds=(42, 123, 456),
)
# Few parameters, and those that start at zero, need larger steps than all of them together.
LEARNING_RATES: dict[Method, float] = {"full": 1e-3, "gates": 1e-2, "norms": 1e-2, "lora": 4e-3}


def finetune_recipe(method: Method, before: str, corpus: str, context: int, changes: Sequence[str] = ()) -> Recipe:
    """The recipe of a run, named after the two texts.

    Args:
        before: Name of the text that the checkpoint was trained on.
        corpus: Name of the text to train on.
        context: The longest window that the checkpoint takes.
        changes: Fields to change, such as `num_steps=50`.
    """
    for change in changes:
        if change.startswith(("model.", "corpus=")):
            raise ValueError(f"--set {change}: the checkpoint decides the model, and --corpus or --data-dir the text")
    recipe = replace(
        FINETUNE,
        name=f"finetune-{before}-to-{corpus}",
        corpus=corpus,
        learning_rate=LEARNING_RATES[method],
        length=min(FINETUNE.length, context),
    ).change(tuple(changes))
    if recipe.length > context:
        raise ValueError(f"length={recipe.length} is longer than the {context} bytes that the checkpoint takes")
    return recipe
