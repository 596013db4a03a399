"""`python -m training train`: one run."""

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Annotated

import tyro

from tipshare.files import BusyError
from training.commands.options import DeviceOptions, RecipeName, RunOptions, optional
from training.engine.history import DivergedError
from training.engine.run import Run
from training.engine.signals import StoppedError, StopRequest

DIVERGED, BUSY = 3, 4


@dataclass(frozen=True, kw_only=True)
class Train:
    """Train one model; the same command continues a run that was interrupted.

    Writes states, metrics, the record and the final checkpoint to OUT/RECIPE/MODEL/seed-N, and adds the record to
    OUT/runs.jsonl. Exit codes: 0 finished, 2 wrong arguments, 3 diverged, 4 trained by another process, 130 or 143
    stopped by SIGINT or SIGTERM, to be continued.
    """

    recipe: RecipeName
    """Name of a recipe; `python -m training recipes` lists them."""
    model: str = "time-indexed-ssm"
    """A model kind, or a model of an ablation recipe."""
    seed: Annotated[int | None, optional("INT", "the recipe's first")] = None
    """Seed of the initial weights, the training windows and dropout."""
    track: bool = False
    """Show the run live in trackio, which the track extra installs."""
    run_options: Annotated[RunOptions, tyro.conf.arg(name="")] = field(default_factory=RunOptions)
    device_options: Annotated[DeviceOptions, tyro.conf.arg(name="")] = field(default_factory=DeviceOptions)

    def run(self) -> int:
        options = self.run_options
        seed = options.recipe(self.recipe).seeds[0] if self.seed is None else self.seed
        return carry_out(
            lambda: options.describe_run(self.recipe, self.model, seed), self.device_options, track=self.track
        )


def carry_out(
    describe: Callable[[], Run],
    device_options: DeviceOptions,
    *,
    track: bool,
    scores: Sequence[str] = ("valid_loss", "bits_per_byte"),
) -> int:
    """Train the run that `describe` gives, print its scores and where it is, and return the exit code."""
    stop = StopRequest()
    stop.listen()
    try:
        with stop.interruptible():  # a corpus may have to be downloaded
            from training.engine.loop import train

            placement = device_options.placement()
            run = describe()
        record = train(run, placement=placement, track=track, stop=stop)
    except StoppedError as stopped:
        print(stopped, file=sys.stderr)
        return stopped.exit_code
    except DivergedError as error:
        print(f"error: {error}", file=sys.stderr)
        return DIVERGED
    except BusyError as error:
        print(f"error: {error}", file=sys.stderr)
        return BUSY
    if placement.is_writer:
        shown = ", ".join(f"{name} {record.final[name]:.4f}" for name in scores if name in record.final)
        print(f"finished: {shown}\ncheckpoint and record: {run.folder}")
    return 0
