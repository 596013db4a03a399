"""One run, from its start or from where it stopped, to its record."""

import contextlib
import dataclasses
import datetime
import math
import shutil
import signal
import sys
from collections.abc import Iterator
from typing import Any, TextIO

import jax
import numpy as np
from jax.stages import Compiled

import tipshare
from tipshare.files import locked
from training.engine.averaging import tail_mean
from training.engine.costs import flops_per_token, memory_in_use, parameters_by_part, speed_of
from training.engine.elastic import count_draws, depths_of, draw_depth
from training.engine.evaluation import Evaluator
from training.engine.history import DivergedError, History, LossReader, Tracker
from training.engine.machine import code_commit, describe_machine
from training.engine.progress import Progress, format_seconds
from training.engine.run import Run
from training.engine.sharding import Placement
from training.engine.signals import StoppedError, StopRequest
from training.engine.state import SavedState, flatten, load_newest, save_state, unflatten
from training.engine.step import Program
from training.results.records import RunRecord

# Several processes compare every so many steps whether one of them was asked to stop.
AGREE_EVERY = 10
SAMPLE = tipshare.Sampling(max_bytes=120)


def train(
    run: Run,
    *,
    placement: Placement | None = None,
    stream: TextIO | None = None,
    track: bool = False,
    stop: StopRequest | None = None,
) -> RunRecord:
    """Train a run to its end, continuing a saved state if there is one; returns at once if it is finished.

    Args:
        track: Show the run live in trackio.
        stop: Asked after every step whether to stop; once the checkpoint is being written the run finishes.

    Raises:
        StoppedError: `stop` asked for it; the state is saved.
        DivergedError: The loss became unusable; the last good state is kept.
        BusyError: Another process trains this run.
    """
    placement = placement or Placement()
    with locked(run.folder / "lock") if placement.is_writer else contextlib.nullcontext():
        record = run.finished_record()
        if record is None:
            record = Training(run, placement, stream or sys.stdout, track, stop or StopRequest()).finish()
        if placement.is_writer:
            run.collect(record)
            shutil.rmtree(run.folder / "state", ignore_errors=True)
    return record


class Training:
    """A run in progress: its compiled step, arrays, history and display."""

    def __init__(self, run: Run, placement: Placement, stream: TextIO, track: bool, stop: StopRequest) -> None:
        self.run, self.placement, self.stop = run, placement, stop
        recipe = run.recipe
        self.progress = Progress(
            stream,
            num_steps=recipe.num_steps,
            tokens_per_step=recipe.tokens_per_step,
            silent=not placement.is_writer,
        )
        tracker = Tracker(run) if track and placement.is_writer else None
        metrics = run.folder / "metrics.jsonl" if placement.is_writer else None
        self.history = History(run, metrics, tracker)
        self.program = Program.of(recipe, run.config, placement)
        self.evaluator = Evaluator(self.program.static, placement)
        self.valid_windows = run.corpus.evaluation_windows("valid", recipe.evaluation_windows, recipe.length)
        self.parameters, self.optimizer_state = self._arrays()
        self.steps = self._compile()

    def _arrays(self) -> tuple[Any, Any]:
        """Model and optimizer arrays of the newest saved state, or new ones."""
        saved = load_newest(self.run.folder / "state", self.progress.say)
        if saved is None:
            self.history.rewind_metrics()
            return self.program.start(self.run.seed)
        self.run.check_identity(saved.facts["run"])
        self.history.continue_from(saved.step, saved.facts["history"])
        self.progress.say(f"continuing after step {saved.step:,}")
        return self.placement.put(unflatten(saved.arrays, self.program.shapes()))

    def _compile(self) -> dict[int, Compiled]:
        """A compiled training step for every number of depth steps that may be drawn."""
        depths = depths_of(self.run.recipe, self.run.config)
        compiled, seconds = {}, 0.0
        for number, depth in enumerate(depths, start=1):
            if len(depths) > 1:
                self.progress.say(f"compiling the training step of {depth} depth steps ({number} of {len(depths)})")
            with self._interruptible():
                compiled[depth], took = self.program.compile_step(self.parameters, self.optimizer_state, depth)
            seconds += took
        if self.history.compile_seconds is None:
            self.history.compile_seconds = seconds
        return compiled

    def finish(self) -> RunRecord:
        """Train the remaining steps, measure, and write checkpoint and record."""
        counts = parameters_by_part(self.run.config)
        self.progress.say(
            f"{self.run.recipe.name}: {self.run.model}, seed {self.run.seed}, {counts['total']:,} parameters, "
            f"on {self.placement.num_devices} {jax.devices()[0].platform} device(s)"
        )
        if self.history.step < self.run.recipe.num_steps:
            self._train()
        # Scoring whole splits may take long and writes nothing; the state is saved, so it may start over.
        with self._interruptible():
            record = self._record(self._score_splits(), self._score_depths(), counts)
        # From here on a signal comes too late: the run finishes.
        parameters = self.placement.fetch(self.parameters)
        if self.placement.is_writer:
            tipshare.save(self.program.model(parameters), self.run.folder, dataclasses.asdict(record))
        self.history.close()
        return record

    @contextlib.contextmanager
    def _interruptible(self) -> Iterator[None]:
        """A part that writes nothing: a single process ends it at once, several agree to stop before or after it."""
        if jax.process_count() == 1:
            with self.stop.interruptible(self.history.step):
                yield
            return
        self._stop_together()
        yield
        self._stop_together()

    def _stop_together(self) -> None:
        if self.placement.any_process(self.stop.is_set):
            raise self._stopped(self.history.step)

    def _stopped(self, step: int) -> StoppedError:
        # With several processes the signal may have gone to another one.
        return StoppedError(self.stop.signal or signal.SIGTERM, step)

    def _train(self) -> None:
        run, recipe, history = self.run, self.run.recipe, self.history
        seed, windows_per_step = np.uint32(run.seed), recipe.batch_size * recipe.accumulate
        reader = LossReader(self._note_loss)
        for step in range(history.step + 1, recipe.num_steps + 1):
            windows = run.corpus.windows("train", run.seed, step, windows_per_step, recipe.length)
            depth = draw_depth(recipe, run.config, run.seed, step)
            self.parameters, self.optimizer_state, loss = self.steps[depth](
                self.parameters, self.optimizer_state, self.program.put_windows(windows), np.int32(step), seed
            )
            reader.push(step, loss)
            last = step == recipe.num_steps
            if last and recipe.average_tail:
                self.parameters = tail_mean(self.optimizer_state)
            stopping = self._should_stop(step)
            evaluating = last or step % recipe.evaluate_every == 0
            sampling = recipe.sample_every > 0 and (last or step % recipe.sample_every == 0)
            saving = last or stopping or step % recipe.save_every == 0
            if evaluating or sampling or saving:
                reader.drain()
            if evaluating:
                self._evaluate(step)
            if sampling:
                self._sample(step)
            if saving:
                self._save(step)
            if stopping:
                raise self._stopped(step)

    def _note_loss(self, step: int, loss: float, seconds: float | None) -> None:
        try:
            self.history.note_loss(step, loss, seconds)
        except DivergedError as error:
            raise DivergedError(f"{error}. {self._last_good_state()}") from None
        self.progress.update(step, loss, seconds)

    def _should_stop(self, step: int) -> bool:
        if jax.process_count() == 1:
            return self.stop.is_set
        return step % AGREE_EVERY == 0 and self.placement.any_process(self.stop.is_set)

    def _evaluate(self, step: int) -> None:
        found = self.evaluator.on_windows(self.parameters, self.valid_windows)
        self.history.note_evaluation(step, found.loss)
        self.progress.say(f"step {step:,}: valid loss {found.loss:.4f} nats, {found.bits_per_byte:.4f} bits per byte")

    def _sample(self, step: int) -> None:
        parameters = self.placement.fetch(self.parameters)
        if self.placement.is_writer:
            text = tipshare.generate(self.program.model(parameters), "", SAMPLE, seed=step).text
            self.history.log({"step": step, "sample": text})
            self.progress.say(f"step {step:,}: sample {text!r}")

    def _save(self, step: int) -> None:
        arrays = flatten(self.placement.fetch((self.parameters, self.optimizer_state)))
        if not all(np.isfinite(array).all() for array in arrays.values()):
            raise DivergedError(f"some weights are not finite after step {step}. {self._last_good_state()}")
        if self.placement.is_writer:
            facts = {"run": self.run.identity(), "history": self.history.to_facts()}
            save_state(self.run.folder / "state", SavedState(step, arrays, facts))

    def _last_good_state(self) -> str:
        return f"The last state that was saved, if any, is kept in {self.run.folder / 'state'}"

    def _score_splits(self) -> dict[str, tipshare.Score]:
        """The loss on whole splits."""
        recipe, corpus = self.run.recipe, self.run.corpus
        losses = {}
        for split in recipe.full_evaluation:
            if split in corpus.splits:
                self.progress.say(f"scoring all {len(corpus.split(split)):,} bytes of {split}")
                losses[split] = self.evaluator.on_split(self.parameters, corpus.split(split), recipe.length)
        return losses

    def _score_depths(self) -> dict[int, float]:
        """Loss on the fixed windows for several numbers of depth steps, if the weights are defined at every t."""
        wanted = self.run.recipe.depth_evaluation if self.run.config.is_continuous else ()
        if wanted:
            self.progress.say(f"evaluating with {', '.join(map(str, wanted))} depth steps")
        return {
            steps: self.evaluator.on_windows(self.parameters, self.valid_windows, steps=steps).loss for steps in wanted
        }

    def _record(
        self, losses: dict[str, tipshare.Score], at_steps: dict[int, float], parameters: dict[str, int]
    ) -> RunRecord:
        run, recipe, history = self.run, self.run.recipe, self.history
        drawn = count_draws(recipe, run.config, run.seed)
        speed = speed_of(history.step_seconds, history.compile_seconds or 0.0, recipe)
        if "step_ms" in speed:
            total = format_seconds(speed["step_ms"] / 1e3 * recipe.num_steps)
            self.progress.say(f"{speed['step_ms']:.1f} ms per step, {total} for all {recipe.num_steps:,}")
        return RunRecord(
            **run.identity(),
            kind=run.config.kind,
            model=run.model,
            command=run.command,
            num_steps=recipe.num_steps,
            tokens_seen=recipe.num_steps * recipe.tokens_per_step,
            curve=history.curve,
            train_curve=history.train_curve,
            final={
                **final_numbers(history.curve, losses, at_steps),
                **{f"training_steps_at_depth_{depth}": count for depth, count in drawn.items() if len(self.steps) > 1},
            },
            parameters=parameters,
            speed=speed,
            memory=memory_in_use(self.steps[max(self.steps)]),
            flops=flops_per_token(run.config, recipe.batch_size, recipe.length),
            machine=describe_machine(self.placement.num_devices),
            commit=code_commit(),
            finished=datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
        )


def final_numbers(
    curve: list[list[float]], losses: dict[str, tipshare.Score], at_steps: dict[int, float] | None = None
) -> dict[str, float]:
    """Losses after the last step by name; bits per byte and perplexity are of all of `valid` if it was scored whole,
    else of its fixed windows.
    """
    last = curve[-1][1]
    final = {"valid_loss": last, "best_valid_loss": min(loss for _, loss in curve)}
    for split, found in losses.items():
        final[f"{split}_loss_full"] = found.loss
        final[f"{split}_bits_per_byte"] = found.bits_per_byte
        final[f"{split}_loss_per_character"] = found.loss_per_character
        final[f"{split}_perplexity"] = found.perplexity
    final |= {f"valid_loss_at_steps_{steps}": loss for steps, loss in (at_steps or {}).items()}
    valid = losses["valid"].loss if "valid" in losses else last
    return {**final, "bits_per_byte": valid / math.log(2), "perplexity": math.exp(valid)}
