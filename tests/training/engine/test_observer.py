"""Who watches a run is told all of it, and may end it early or leave."""

import numpy as np
import pytest

import tipshare
from tipshare.analysis import unit_values
from training.engine.loop import train
from training.engine.observer import Evaluation, Observer
from training.engine.signals import StoppedError, StopRequest
from training.engine.state import saved_steps

CHANGES = ("depth_steps=[1,2]", "depth_evaluation=[1,3]", "sample_every=12")


class Watcher(Observer):
    """Notes all it is told; does something at one step."""

    def __init__(self, at: int = 0, do=lambda: None) -> None:
        self.at, self.do = at, do
        self.said, self.losses, self.found, self.samples = [], [], [], []

    def say(self, text: str) -> None:
        self.said.append(text)

    def stepped(self, step: int, loss: float, seconds: float | None) -> None:
        self.losses.append([step, loss])
        if step == self.at:
            self.do()

    def evaluated(self, found: Evaluation) -> None:
        model = found.model()
        self.found.append((found.step, found.score.loss, found.loss_at(3), unit_values(model).of("up").copy()))

    def sampled(self, step: int, text: str) -> None:
        self.samples.append((step, text))


def test_an_observer_sees_what_the_record_says_and_the_command_line_shows(make_run, stream):
    watcher, run = Watcher(), make_run("time-indexed-mlp", *CHANGES)
    record = train(run, observer=watcher)
    assert watcher.losses == record.train_curve
    assert [[step, loss] for step, loss, *_ in watcher.found] == record.curve
    *_, (_, _, at_three, gates) = watcher.found
    assert at_three == pytest.approx(record.final["valid_loss_at_steps_3"], abs=1e-6)
    np.testing.assert_allclose(gates, unit_values(tipshare.load(run.folder)).of("up"), atol=1e-6)
    assert not np.allclose(watcher.found[0][3], gates)  # it saw the weights move
    train(make_run("time-indexed-mlp", *CHANGES, folder="shown"), stream=stream)
    shown = stream.getvalue()
    for text in (*watcher.said[:3], f"step 10: valid loss {record.curve[1][1]:.4f} nats", repr(watcher.samples[0][1])):
        assert text in shown


def test_a_run_that_ends_early_is_recorded_as_far_as_it_came(make_run, stream):
    stop, run = StopRequest(), make_run("time-indexed-mlp", *CHANGES)
    watcher = Watcher(6, lambda: setattr(stop, "ends_early", True))
    record = train(run, observer=watcher, stop=stop)
    ended = record.num_steps
    assert ended == record.settings["ended_after"] == watcher.losses[-1][0] == record.curve[-1][0] == 7
    assert record.tokens_seen == ended * run.recipe.tokens_per_step
    assert sum(record.final[f"training_steps_at_depth_{depth}"] for depth in (1, 2)) == ended
    assert watcher.samples[-1][0] == ended
    assert tipshare.load(run.folder).config == run.config
    whole = train(make_run("time-indexed-mlp", *CHANGES, folder="whole"), stream=stream)
    assert whole.curve[0] == record.curve[0]
    assert whole.id != record.id


def test_who_leaves_ends_a_run_between_two_steps(make_run):
    stop, run = StopRequest(), make_run("time-indexed-mlp")
    watcher = Watcher(5, stop.ask)
    with pytest.raises(StoppedError, match="after step 6"):
        train(run, observer=watcher, stop=stop)
    assert watcher.losses[-1][0] == saved_steps(run.folder / "state")[0] == 6
    before = StopRequest()
    before.ask()
    with pytest.raises(StoppedError, match="before training began"):
        train(make_run(folder="other"), observer=Watcher(), stop=before)
