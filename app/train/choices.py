"""What a visitor may change in a run: one thing at a time, so that a comparison says what it did."""

from dataclasses import dataclass
from functools import cache
from typing import get_args

from tipshare.config import ModelConfig, TimeFeatures, TimeIndexedMlpConfig
from tipshare.kinds import MIXERS, SOURCES
from tipshare.model.parameters import count_parameters
from training.recipes.library import find_recipe
from training.recipes.recipe import Optimizer, Recipe

# Sizes and settings of every run on the page, but for what the visitor changes.
RECIPE = find_recipe("one-minute")
NOTHING = ""
# With gradients and the two averages of Adam, every parameter takes 16 bytes while it is trained.
MOST_PARAMETERS = 8_000_000
RATES = (3e-4, 1e-3, 1e-2)
DEPTHS = (2, 8)
DRAWN = (2, 4, 8)
FEATURES = {"published": "as published", "smooth": "smooth", "legendre": "Legendre polynomials"}


@dataclass(frozen=True)
class Option:
    """One change.

    Attributes:
        title: As the list shows it.
        label: As it stands after the name of the kind.
        changes: For `Recipe.change`, and `--set` of the command line.
    """

    title: str
    label: str
    changes: tuple[str, ...]


@cache
def options_of(kind: str, recipe: Recipe = RECIPE) -> dict[str, Option]:
    """What may be changed in a kind, by the value of the page's list; the first is nothing.

    Weight sources that make the model too large for the page at the recipe's width are left out.
    """
    _, config = recipe.configure(kind)
    found = {NOTHING: Option("nothing: the kind as it is", "", ())}
    for name, words in SOURCES.items():
        changes = (f"model.weights={name}",)
        if name != config.weights and _fits(recipe.change(changes).configure(kind)[1]):
            found[f"weights={name}"] = Option(f"weights: {words.title}", f"weights {name}", changes)
    for name, words in MIXERS.items():
        if name != config.mixer:
            found[f"mixer={name}"] = Option(f"mixer: {words}", f"mixer {name}", _mixer(config, name))
    if SOURCES[config.weights].weight:
        for name in get_args(TimeFeatures):
            if name != config.time_features:
                change = (f"model.time_features={name}",)
                found[f"features={name}"] = Option(f"features of t: {FEATURES.get(name, name)}", f"{name} t", change)
    if config.is_continuous:
        drawn = ", ".join(map(str, DRAWN))
        title = f"depth: drawn from {drawn} for every training step"
        found["depth=drawn"] = Option(title, "depth drawn", (f"depth_steps={list(DRAWN)}",))
    for steps in DEPTHS:
        label = f"{steps} depth steps"
        found[f"depth={steps}"] = Option(
            f"depth: {steps} steps instead of {config.num_layers}", label, (f"model.num_layers={steps}",)
        )
    for name in get_args(Optimizer):
        if name != recipe.optimizer:
            # Adam has no weight decay.
            more = ("weight_decay=0",) if name == "adam" else ()
            found[f"optimizer={name}"] = Option(f"optimizer: {name.title()}", name, (f"optimizer={name}", *more))
    for rate in RATES:
        title = f"learning rate: {rate:g} instead of {recipe.learning_rate:g}"
        found[f"rate={rate:g}"] = Option(title, f"rate {rate:g}", (f"learning_rate={rate:g}",))
    return found


def _fits(config: ModelConfig) -> bool:
    return count_parameters(config).total <= MOST_PARAMETERS


def _mixer(config: ModelConfig, name: str) -> tuple[str, ...]:
    # A shared block has a narrow MLP, as in the kind that is made of one.
    narrow = name == "mlp" and config.weights == "gated"
    return (f"model.mixer={name}", *((f"model.mlp_ratio={TimeIndexedMlpConfig.mlp_ratio}",) if narrow else ()))
