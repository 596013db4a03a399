"""`python -m training sweep`: all runs of a recipe that are not finished."""

import signal
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Annotated

import tyro

from training.commands.options import RecipeName, RunOptions, optional
from training.commands.train import BUSY, DIVERGED
from training.engine.signals import StopRequest, exit_code


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
    run_options: Annotated[RunOptions, tyro.conf.arg(name="")] = field(default_factory=RunOptions)

    def run(self) -> int:
        child = Child()
        child.stop.listen()
        runs = list(self._runs())
        outcomes = {0: "finished", DIVERGED: "diverged", BUSY: "trained by another process"}
        counts: dict[str, int] = {}
        for number, (model, seed) in enumerate(runs, start=1):
            print(f"[{number}/{len(runs)}] {model}, seed {seed}", flush=True)
            twin = self.run_options.describe_run(self.recipe, model, seed).finished_elsewhere()
            if twin:
                print(f"the same run as {twin.model} of {twin.recipe}, which is finished")
            code = 0 if twin else child.run(self._command(model, seed))
            if code not in outcomes:
                print(f"stopped at {model}, seed {seed}; the same command continues", file=sys.stderr)
                return code
            counts[outcomes[code]] = counts.get(outcomes[code], 0) + 1
        print(", ".join(f"{count} {outcome}" for outcome, count in counts.items()))
        return 0 if set(counts) <= {"finished"} else 1

    def _runs(self) -> Iterator[tuple[str, int]]:
        """Models and seeds; all models of one seed first, so that models can be compared early."""
        recipe = self.run_options.recipe(self.recipe)
        models = self.models or recipe.models
        for model in models:
            recipe.configure(model, self.run_options.preset)
        for seed in self.seeds or recipe.seeds:
            for model in models:
                yield model, seed

    def _command(self, model: str, seed: int) -> list[str]:
        options = self.run_options
        words = ["train", self.recipe, "--model", model, "--seed", str(seed), "--out", str(options.out)]
        words += ["--preset", options.preset]
        words += ["--set", *options.changes] if options.changes else []
        words += ["--data-dir", str(options.data_dir)] if options.data_dir is not None else []
        return [sys.executable, "-m", "training", *words]


class Child:
    """The run that a sweep has under way.

    Attributes:
        stop: Whether the sweep was asked to stop.
    """

    def __init__(self) -> None:
        self.stop = StopRequest(self._pass_on)
        self._process: subprocess.Popen | None = None

    def run(self, command: list[str]) -> int:
        """Wait for a child and return its exit code; that of the signal if the sweep was asked to stop before."""
        if self.stop.signal is None:
            self._process = subprocess.Popen(command)
            if self.stop.signal is not None:  # it came while the child was started
                self._pass_on(self.stop.signal)
            code = self._process.wait()
            return code if code >= 0 else exit_code(-code)
        return exit_code(self.stop.signal)

    def _pass_on(self, number: int) -> None:
        # A terminal sends SIGINT to the child as well, and a second one would end it before its state is saved.
        if number == signal.SIGTERM and self._process is not None and self._process.poll() is None:
            self._process.send_signal(number)
