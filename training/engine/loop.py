"""One run, from its start or from where it stopped, to its record."""

import contextlib
import datetime
import shutil
import signal
import sys
from collections.abc import Iterator
from typing import Any, TextIO

import jax
import numpy as np
from jax.stages import Compiled

import tipshare
from tipshare.files import locked, remove_left_overs
from training.engine.costs import flops_per_token, memory_in_use, parameters_by_part, speed_of
from training.engine.elastic import count_draws, depths_of, depths_to_evaluate, draw_depth
from training.engine.evaluation import Evaluator, compare_with_start, final_numbers
from training.engine.history import DivergedError, History, LossReader, Tracker
from training.engine.machine import code_commit, describe_machine
from training.engine.observer import Evaluation, Observer
from training.engine.progress import Progress, format_seconds
from training.engine.run import Run
from training.engine.sharding import Placement
from training.engine.signals import StoppedError, StopRequest
from training.engine.state import SavedState, flatten, load_newest, save_state, unflatten
from training.engine.step import Program
from training.results.records import RunRecord

# Number of training steps after which several processes compare whether one of them was asked to stop.
AGREE_EVERY = 10
METRICS = "metrics.jsonl"
SAMPLE = tipshare.Sampling(max_bytes=120)


def train(
    run: Run,
    *,
    placement: Placement | None = None,
    stream: TextIO | None = None,
    track: bool = False,
    stop: StopRequest | None = None,
    observer: Observer | None = None,
) -> RunRecord:
    """Train a run to its end, continuing a saved state if there is one; returns at once if it is finished.

    Args:
        stream: Where the progress is shown; standard output if None.
        track: Show the run live in trackio.
        stop: Asked after every step whether to stop; once the checkpoint is being written the run finishes.
        observer: Told what happens, instead of showing it; in the process that writes.

    Raises:
        StoppedError: `stop` asked for it; the state is saved.
        DivergedError: The loss became unusable; the last good state is kept.
        BusyError: Another process trains this run.
    """
    placement = placement or Placement()
    with locked(run.folder / "lock") if placement.is_writer else contextlib.nullcontext():
        if placement.is_writer:
            remove_left_overs(run.folder)
            remove_left_overs(run.folder / METRICS)
        record = run.finished_record()
        if record is None:
            # Hours of training would end with an error otherwise.
            run.check_collection()
            recipe = run.recipe
            observer = observer or Progress(
                stream or sys.stdout, num_steps=recipe.num_steps, tokens_per_step=recipe.tokens_per_step
            )
            if not placement.is_writer:
                observer = Observer()
            record = Training(run, placement, observer, track, stop or StopRequest()).finish()
        if placement.is_writer:
            run.collect(record)
            shutil.rmtree(run.folder / "state", ignore_errors=True)
    return record


class Training:
    """A run in progress: its compiled step, arrays, history and observer."""

    def __init__(self, run: Run, placement: Placement, observer: Observer, track: bool, stop: StopRequest) -> None:
        self.run, self.placement, self.observer, self.stop = run, placement, observer, stop
        recipe = run.recipe
        tracker = Tracker(run) if track and placement.is_writer else None
        metrics = run.folder / METRICS if placement.is_writer else None
        self.history = History(run, metrics, tracker)
        self.program = Program.of(recipe, run.config, placement, run.start)
        self.evaluator = Evaluator(self.program.static, placement)
        self.valid_windows = run.corpus.evaluation_windows("valid", recipe.evaluation_windows, recipe.length)
        self.parameters, self.optimizer_state = self._arrays()
        self.steps = self._compile()

    def _arrays(self) -> tuple[Any, Any]:
        """Model and optimizer arrays of the newest saved state, or new ones."""
        saved = load_newest(self.run.folder / "state", self.observer.say)
        if saved is None:
            self.history.rewind_metrics()
            return self.program.start(self.run.seed)
        self.run.check_identity(saved.facts["run"])
        self.history.continue_from(saved.step, saved.facts["history"])
        self.observer.say(f"continuing after step {saved.step:,}")
        return self.placement.put(unflatten(saved.arrays, self.program.shapes()))

    def _compile(self) -> dict[int, Compiled]:
        """A compiled training step for every number of depth steps that may be drawn."""
        depths = depths_of(self.run.recipe, self.run.config)
        compiled, seconds = {}, 0.0
        for number, depth in enumerate(depths, start=1):
            if len(depths) > 1:
                self.observer.say(f"compiling the training step of {depth} depth steps ({number} of {len(depths)})")
            with self._interruptible():
                compiled[depth], took = self.program.compile_step(self.parameters, self.optimizer_state, depth)
            seconds += took
        if self.history.compile_seconds is None:
            self.history.compile_seconds = seconds
        return compiled

    def finish(self) -> RunRecord:
        """Train the remaining steps, measure, and write checkpoint and record."""
        counts = self._count_parameters()
        trained = f", of which {counts['trained']:,} are trained" if "trained" in counts else ""
        self.observer.say(
            f"{self.run.recipe.name}: {self.run.model}, seed {self.run.seed}, {counts['total']:,} parameters{trained}, "
            f"on {self.placement.num_devices} {jax.devices()[0].platform} device(s)"
        )
        if self.history.step < self.run.recipe.num_steps:
            self._train()
        # Scoring whole splits may take long and writes nothing; the state is saved, so it may start over.
        with self._interruptible():
            compared = self._compare_with_start()
            record = self._record(self._score_splits(), self._score_depths(), compared, counts)
        # From here on a signal comes too late: the run finishes.
        model = self._model()
        if self.placement.is_writer:
            save = tipshare.save if self.run.start is None else self.run.start.save
            save(model, self.run.folder, record)
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
            last = step == recipe.num_steps or self.stop.ends_early
            if step == recipe.num_steps and recipe.average_tail:
                self.parameters = self.program.with_tail_mean(self.parameters, self.optimizer_state)
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
            if last:
                return

    def _note_loss(self, step: int, loss: float, seconds: float | None) -> None:
        try:
            self.history.note_loss(step, loss, seconds)
        except DivergedError as error:
            raise DivergedError(f"{error}. {self._last_good_state()}") from None
        self.observer.stepped(step, loss, seconds)

    def _should_stop(self, step: int) -> bool:
        if jax.process_count() == 1:
            return self.stop.is_set
        return step % AGREE_EVERY == 0 and self.placement.any_process(self.stop.is_set)

    def _evaluate(self, step: int) -> None:
        found = self.evaluator.on_windows(self.parameters, self.valid_windows)
        self.history.note_evaluation(step, found.loss)
        self.observer.evaluated(Evaluation(step, found, self._model, self._loss_at))

    def _sample(self, step: int) -> None:
        model = self._model()
        if self.placement.is_writer:
            text = tipshare.generate(model, "", SAMPLE, seed=step).text
            self.history.log({"step": step, "sample": text})
            self.observer.sampled(step, text)

    def _model(self) -> tipshare.LanguageModel:
        return self.program.model(self.placement.fetch(self.parameters))

    def _loss_at(self, steps: int) -> float:
        return self.evaluator.on_windows(self.parameters, self.valid_windows, steps=steps).loss

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
                self.observer.say(f"scoring all {len(corpus.split(split)):,} bytes of {split}")
                losses[split] = self.evaluator.on_split(self.parameters, corpus.split(split), recipe.length)
        return losses

    def _score_depths(self) -> dict[int, float]:
        """Loss on the fixed windows for several numbers of depth steps, if the weights are defined at every t."""
        wanted = depths_to_evaluate(self.run.recipe, self.run.config)
        if wanted:
            self.observer.say(f"evaluating with {', '.join(map(str, wanted))} depth steps")
        return {steps: self._loss_at(steps) for steps in wanted}

    def _compare_with_start(self) -> dict[str, float]:
        """Losses before training, and on the text of the model that the run began with."""
        if self.run.start is None:
            return {}
        self.observer.say("scoring the model as it was before")
        return compare_with_start(self.run.start, self.parameters, self.valid_windows, self.evaluator, self.placement)

    def _count_operations(self) -> dict[str, float]:
        found = flops_per_token(self.run.config, self.run.recipe.batch_size, self.run.recipe.length)
        # A backward pass through what is not trained is shorter by an amount that depends on where it is.
        return {name: count for name, count in found.items() if self.run.start is None or "training" not in name}

    def _count_parameters(self) -> dict[str, int]:
        start = self.run.start
        if start is None:
            return parameters_by_part(self.run.config)
        return {**parameters_by_part(start.model), "trained": start.num_trained}

    def _record(
        self,
        losses: dict[str, tipshare.Score],
        at_steps: dict[int, float],
        compared: dict[str, float],
        parameters: dict[str, int],
    ) -> RunRecord:
        run, recipe, history = self.run, self.run.recipe, self.history
        drawn = count_draws(recipe, run.config, run.seed, history.step)
        speed = speed_of(history.step_seconds, history.compile_seconds or 0.0, recipe)
        if "step_ms" in speed:
            total = format_seconds(speed["step_ms"] / 1e3 * recipe.num_steps)
            self.observer.say(f"{speed['step_ms']:.1f} ms per step, {total} for all {recipe.num_steps:,}")
        identity = run.identity()
        if history.step < recipe.num_steps:
            # Another run than one that goes on to the end of its schedule.
            identity["settings"] |= {"ended_after": history.step}
        return RunRecord(
            **identity,
            kind=run.config.kind,
            model=run.model,
            command=run.command,
            num_steps=history.step,
            tokens_seen=history.step * recipe.tokens_per_step,
            curve=history.curve,
            train_curve=history.train_curve,
            final={
                **final_numbers(history.curve, losses, at_steps),
                **compared,
                **{f"training_steps_at_depth_{depth}": count for depth, count in drawn.items() if len(self.steps) > 1},
            },
            parameters=parameters,
            speed=speed,
            memory=memory_in_use(self.steps[max(self.steps)]),
            flops=self._count_operations(),
            machine=describe_machine(self.placement.num_devices),
            commit=code_commit(),
            finished=datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
        )
