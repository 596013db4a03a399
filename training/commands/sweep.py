"""`python -m training sweep`: all runs of a recipe that are not finished."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Annotated

import tyro

from tipshare.checkpoint.locate import bundle_folder
from tipshare.config import ModelConfig
from tipshare.presets import PRESETS
from training.commands.children import Child, carry_out_all
from training.commands.options import RecipeName, RunOptions, optional
from training.recipes.recipe import Recipe
from training.results.records import known_records


@dataclass(frozen=True, kw_only=True)
class Sweep:
    """Train every model of a recipe with every seed, except the runs that are finished.

    Every run is a process of its own. Several sweeps may share a folder: none trains what another one is training. A
    run that is finished under the name of another recipe is not trained again.
    """

    recipe: RecipeName
    """Name of a recipe; `python -m training recipes` lists them."""
    models: Annotated[tuple[str, ...], optional("MODEL ...", "all of the recipe")] = ()
    """Model kinds, or models of an ablation recipe."""
    seeds: Annotated[tuple[int, ...], optional("INT ...", "the recipe's")] = ()
    """Seeds of the runs."""
    plan: bool = False
    """Only say what the runs will take in time and memory."""
    run_options: Annotated[RunOptions, tyro.conf.arg(name="")] = field(default_factory=RunOptions)

    def run(self) -> int:
        child = Child()
        options = self.run_options
        recipe, shapes = options.recipe(self.recipe), PRESETS[options.preset]
        # The chosen models, or those of the recipe that the preset has a shape for.
        models = self.models or tuple(each for each in recipe.models if each in recipe.variants or each in shapes)
        configs = {model: recipe.configure(model, options.preset) for model in models}
        seeds = self.seeds or recipe.seeds
        print(
            f"{recipe.name}: models {len(models)}, seeds of each {len(seeds)}; what the training steps of a run take:"
        )
        self._say_costs(recipe, configs)
        if self.plan:
            return 0
        # All models of one seed first, so that models can be compared early.
        return carry_out_all(
            [(f"{model}, seed {seed}", partial(self._train, child, model, seed)) for seed in seeds for model in models]
        )

    def _say_costs(self, recipe: Recipe, configs: Mapping[str, tuple[str, ModelConfig]]) -> None:
        """Print what a run of each model will take, before anything is trained."""
        from training.commands.forecast import forecast

        records = known_records(bundle_folder() / "runs.jsonl", self.run_options.out / "runs.jsonl")
        for model, config in configs.items():
            print(f"  {forecast(recipe.for_model(model), *config, records)}", flush=True)
        for model in recipe.models if not self.models else ():
            if model not in configs:
                print(f"  {model} is left out: the preset {self.run_options.preset} has no shape of it")

    def _train(self, child: Child, model: str, seed: int) -> int:
        """Train one run, unless it is finished under another name; returns its exit code."""
        options = self.run_options
        twin = options.describe_run(self.recipe, model, seed).finished_elsewhere()
        if twin is None:
            words = options.words(self.recipe, model, seed, options.data_dir)
            return child.run([*words, "--out", str(options.out)])
        print(f"the same run as {twin.model} of {twin.recipe}, which is finished")
        return 0
