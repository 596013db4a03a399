"""Runs that answer for more than one recipe: the usual model of an ablation is a run of the recipe it varies."""

from collections.abc import Iterable, Iterator
from dataclasses import replace

from training.recipes.library import RECIPES
from training.recipes.recipe import Recipe
from training.results.records import RunRecord


def with_shared_runs(records: Iterable[RunRecord]) -> list[RunRecord]:
    """The records and, under the labels of every recipe among them, the runs of other recipes that are its runs too.

    A recipe is completed with the seeds it has, so that all models of its tables saw the same ones.
    """
    known = list(records)
    return known + [record for recipe in RECIPES.values() for record in _shared(recipe, known)]


def _shared(recipe: Recipe, records: list[RunRecord]) -> Iterator[RunRecord]:
    own = [each for each in records if each.recipe == recipe.name]
    done = {(each.model, each.seed) for each in own}
    seeds, texts = {each.seed for each in own}, [each.data for each in own]
    others = [each for each in records if each.seed in seeds and each.data in texts and each not in own]
    for label in recipe.models if others else ():
        _, config = recipe.configure(label)
        fields, settings = config.to_dict(), recipe.for_model(label).settings()
        for record in others:
            is_same = record.config == fields and record.settings == settings
            if is_same and (label, record.seed) not in done:
                done.add((label, record.seed))
                yield replace(record, recipe=recipe.name, model=label)
