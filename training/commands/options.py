"""Arguments that several verbs share."""

import shlex
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

import tyro

from training.engine.run import Run
from training.engine.sharding import Placement, start_processes
from training.recipes.library import find_recipe
from training.recipes.recipe import Recipe, slug


def optional(metavar: str, default: str = "") -> Any:
    """How `--help` shows an argument that may be None: the name of its value, and what None stands for."""
    return tyro.conf.arg(metavar=metavar, help_behavior_hint=f"(default: {default})" if default else "")


Preset = Literal["default", "published", "published-large"]
Changes = Annotated[
    tuple[str, ...], tyro.conf.arg(name="set", metavar="FIELD=VALUE ...", help_behavior_hint="(default: none)")
]
DataDir = Annotated[Path | None, optional("PATH", "the corpus by its name")]
RecipeName = Annotated[str, tyro.conf.Positional, tyro.conf.arg(metavar="RECIPE")]


@dataclass(frozen=True, kw_only=True)
class RunOptions:
    """What is trained, and where files are."""

    changes: Changes = ()
    """Fields of the recipe or the model to change, such as num_steps=50 or model.hidden_dim=384."""
    preset: Preset = "default"
    """Model configs: the recommended ones, or those of the published models."""
    data_dir: DataDir = None
    """Text to train on: a folder with train.txt, valid.txt and test.txt, or a single text file."""
    out: Path = Path("runs")
    """Folder for runs; a run's own folder is OUT/RECIPE/MODEL/seed-N."""

    def recipe(self, name: str) -> Recipe:
        return find_recipe(name).change(self.changes)

    def describe_run(self, recipe_name: str, model: str, seed: int) -> Run:
        """The run that these arguments describe; loads the corpus."""
        from training.data.corpus import load_corpus

        recipe = self.recipe(recipe_name)
        label, config = recipe.configure(model, self.preset)
        return Run(
            recipe=recipe.for_model(model),
            model=label,
            config=config,
            seed=seed,
            corpus=load_corpus(recipe.corpus, self.data_dir),
            folder=run_folder(self.out, recipe, label, seed),
            collection=self.out / "runs.jsonl",
            command=self.command(recipe_name, model, seed),
        )

    def command(self, recipe_name: str, model: str, seed: int) -> str:
        """The command that repeats a run; the folder of the data is left out, as it differs by machine."""
        folder = None if self.data_dir is None else Path("DIR")
        return shlex.join(["python", "-m", "training", *self.words(recipe_name, model, seed, folder)])

    def words(self, recipe_name: str, model: str, seed: int, data_dir: Path | None) -> list[str]:
        """The arguments of a run, apart from where it goes and where it is computed."""
        words = ["train", recipe_name, "--model", model, "--seed", str(seed)]
        words += ["--set", *self.changes] if self.changes else []
        words += ["--preset", self.preset] if self.preset != "default" else []
        return words + (["--data-dir", str(data_dir)] if data_dir is not None else [])


@dataclass(frozen=True, kw_only=True)
class DeviceOptions:
    """The devices to train on."""

    devices: Literal["one", "data-parallel", "fully-sharded"] = "one"
    """A single device; all devices, each with a part of the batch; or each with a part of the weights as well."""
    distributed: bool = False
    """Join several processes; under SLURM, Open MPI or on a TPU, JAX finds the next three arguments itself."""
    coordinator: Annotated[str | None, optional("HOST:PORT")] = None
    """Address of process 0."""
    num_processes: Annotated[int | None, optional("INT")] = None
    """Number of processes."""
    process_id: Annotated[int | None, optional("INT")] = None
    """Number of this process, from 0."""

    def placement(self) -> Placement:
        """Join the other processes, if there are any, and return the placement of the arrays."""
        if self.distributed:
            if self.devices == "one":
                raise ValueError("--distributed needs --devices data-parallel or fully-sharded")
            start_processes(self.coordinator, self.num_processes, self.process_id)
        elif any(value is not None for value in (self.coordinator, self.num_processes, self.process_id)):
            raise ValueError("--coordinator, --num-processes and --process-id need --distributed")
        if self.devices == "one":
            return Placement()
        return Placement.over_all_devices(fully_sharded=self.devices == "fully-sharded")


def run_folder(out: Path, recipe: Recipe, label: str, seed: int) -> Path:
    return out / slug(recipe.name) / slug(label) / f"seed-{seed}"
