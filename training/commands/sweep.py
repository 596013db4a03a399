"""`python -m training sweep`: all runs of a recipe that are not finished."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Annotated

import tyro

from tipshare.checkpoint.locate import bundle_folder
from tipshare.presets import PRESETS
from training.commands.children import Child, Tally
from training.commands.options import RecipeName, RunOptions, optional
from training.results.records import read_records


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
        child.stop.listen()
        runs = list(self._runs())
        self._say_costs()
        if self.plan:
            return 0
        tally = Tally()
        for number, (model, seed) in enumerate(runs, start=1):
            print(f"[{number}/{len(runs)}] {model}, seed {seed}", flush=True)
            twin = self.run_options.describe_run(self.recipe, model, seed).finished_elsewhere()
            if twin:
                print(f"the same run as {twin.model} of {twin.recipe}, which is finished")
            code = 0 if twin else child.run(self._command(model, seed))
            if not tally.add(code, f"{model}, seed {seed}"):
                return code
        return tally.finish()

    def _runs(self) -> Iterator[tuple[str, int]]:
        """Models and seeds; all models of one seed first, so that models can be compared early."""
        recipe = self.run_options.recipe(self.recipe)
        models = self._models()
        for model in models:
            recipe.configure(model, self.run_options.preset)
        for seed in self.seeds or recipe.seeds:
            for model in models:
                yield model, seed

    def _models(self) -> tuple[str, ...]:
        """The chosen models, or those of the recipe that the preset has a shape for."""
        recipe, shapes = self.run_options.recipe(self.recipe), PRESETS[self.run_options.preset]
        return self.models or tuple(each for each in recipe.models if each in recipe.variants or each in shapes)

    def _say_costs(self) -> None:
        """Print what each model will take, before anything is trained."""
        from training.commands.forecast import forecast

        recipe, models = self.run_options.recipe(self.recipe), self._models()
        paths = (bundle_folder() / "runs.jsonl", self.run_options.out / "runs.jsonl")
        records = [record for path in paths if path.is_file() for record in read_records(path)]
        seeds = len(self.seeds or recipe.seeds)
        print(f"{recipe.name}: models {len(models)}, seeds of each {seeds}; what the training steps of a run take:")
        for model in models:
            print(
                f"  {forecast(recipe.for_model(model), *recipe.configure(model, self.run_options.preset), records)}",
                flush=True,
            )
        for model in recipe.models if not self.models else ():
            if model not in models:
                print(f"  {model} is left out: the preset {self.run_options.preset} has no shape of it")

    def _command(self, model: str, seed: int) -> list[str]:
        options = self.run_options
        words = ["train", self.recipe, "--model", model, "--seed", str(seed), "--out", str(options.out)]
        words += ["--preset", options.preset]
        words += ["--set", *options.changes] if options.changes else []
        words += ["--data-dir", str(options.data_dir)] if options.data_dir is not None else []
        return words
