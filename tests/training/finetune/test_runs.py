"""Fine-tuning as runs: what moves, what is written, and that it stops and continues exactly."""

import dataclasses
from pathlib import Path

import equinox as eqx
import numpy as np
import pytest
from safetensors.numpy import load_file

import tipshare
from tests.factories import fill
from tests.training.engine.tiny import TINY, StoppingCorpus, assert_same_arrays, repeatable
from tipshare.checkpoint import name_tensors, open_checkpoint
from training.data.corpus import Corpus, make_corpus
from training.engine.loop import train
from training.engine.run import Run
from training.engine.sharding import Placement
from training.engine.step import Program
from training.finetune.choices import Choices

KIND = "time-indexed-mlp"


@pytest.fixture
def base(tmp_path) -> Path:
    return tipshare.save(fill(TINY.configure(KIND)[1]), tmp_path / "base")


@pytest.fixture
def make_finetuning(base, corpus, tmp_path):
    """Build a tiny run from the checkpoint: `make_finetuning(method="gates", depth_steps=3)`."""

    def make(
        *changes: str, folder: str = "run", text: Corpus = corpus, first_text: Corpus | None = None, **choices
    ) -> Run:
        chosen = Choices(**choices)
        start = chosen.begin(base, 0, first_text)
        return Run(
            recipe=TINY.change(changes),
            model=chosen.label(KIND, start.model.steps),
            config=start.model.config,
            seed=0,
            corpus=text,
            folder=tmp_path / folder,
            collection=tmp_path / "runs.jsonl",
            command="none",
            start=start,
        )

    return make


@pytest.mark.parametrize(
    ("method", "changes"),
    [("full", ()), ("gates", ()), ("norms", ("accumulate=2",)), ("lora", ("optimizer=muon", "average_tail=0.5"))],
)
def test_only_the_chosen_arrays_move(method, changes, make_finetuning):
    run = make_finetuning(*changes, method=method)
    start = run.start
    program = Program.of(run.recipe, run.config, Placement(), start)
    parameters, state = program.start(run.seed)
    step, _ = program.compile_step(parameters, state)
    # New adapters end in zeros, so that what comes before them moves from the second step on.
    for number in (1, 2):
        windows = run.corpus.windows("train", 0, number, 4 * run.recipe.accumulate, 16)
        parameters, state, loss = step(parameters, state, program.put_windows(windows), np.int32(number), np.uint32(0))
    assert np.isfinite(loss)
    chosen = name_tensors(start.trained)
    before, after = name_tensors(eqx.filter(start.model, eqx.is_array)), name_tensors(parameters)
    assert before.keys() == after.keys() == chosen.keys()
    for name in chosen:
        same = np.asarray(before[name]).tobytes() == np.asarray(after[name]).tobytes()
        assert same != chosen[name], name
    if run.recipe.average_tail:
        mean = name_tensors(program.with_tail_mean(parameters, state))
        assert mean.keys() == before.keys()


@pytest.mark.slow
def test_an_interrupted_run_of_adapters_ends_bit_identical(make_finetuning, base, corpus, stream):
    whole = train(make_finetuning(folder="whole", method="lora", rank=2, first_text=corpus), stream=stream)
    broken = make_finetuning(
        folder="broken", method="lora", rank=2, first_text=corpus, text=StoppingCorpus.before(7, corpus)
    )
    with pytest.raises(OSError, match="the disk is gone"):
        train(broken, stream=stream)
    run = make_finetuning(folder="broken", method="lora", rank=2, first_text=corpus)
    continued = train(run, stream=stream)
    assert "continuing after step 4" in stream.getvalue()
    assert repeatable(continued) == repeatable(whole)
    files = [load_file(run.folder.parent / name / "adapter_model.safetensors") for name in ("whole", "broken")]
    assert_same_arrays(*files)
    # The record says what was fine-tuned, and the losses before and after.
    settings, final = continued.settings, continued.final
    assert (settings["method"], settings["rank"], settings["alpha"], settings["base"]) == ("lora", 2, 4.0, "base")
    assert settings["base_digest"] == open_checkpoint(run.folder).adapter["base"]["digest"]
    assert continued.parameters["trained"] == continued.parameters["adapters"] == sum(map(np.size, files[0].values()))
    assert final["valid_loss"] < final["valid_loss_before"]
    assert final["first_text_loss"] == final["valid_loss"]  # it is the same text
    assert final["first_text_loss_before"] == final["valid_loss_before"]
    windows = corpus.evaluation_windows("valid", TINY.evaluation_windows, TINY.length).astype(np.int32)
    for model, name in ((tipshare.load(base), "valid_loss_before"), (tipshare.load(run.folder), "valid_loss")):
        assert final[name] == pytest.approx(float(model.compute_loss(windows[:, :-1], windows[:, 1:])), rel=1e-5)


@pytest.mark.slow
def test_another_depth_is_compared_with_the_depth_of_the_checkpoint(make_finetuning, base, stream):
    run = make_finetuning("num_steps=2", method="gates", depth_steps=3)
    record = train(run, stream=stream)
    model, windows = tipshare.load(base), run.corpus.evaluation_windows("valid", 8, 16).astype(np.int32)
    for name, steps in (("valid_loss_of_base", 2), ("valid_loss_before", 3)):
        by_hand = model.compute_loss(windows[:, :-1], windows[:, 1:], steps=steps)
        assert record.final[name] == pytest.approx(float(by_hand), rel=1e-5)
    assert tipshare.load(run.folder).steps == 3
    assert record.config["depth_steps"] == 3
    assert record.parameters["trained"] == record.parameters["gates"]
    assert "training_per_token" not in record.flops
    assert record.model == "time-indexed-mlp, gates, 3 depth steps"


@pytest.mark.slow
def test_one_block_grows_into_layers_of_its_own(make_finetuning, stream):
    run = make_finetuning("num_steps=1", method="norms", depth_steps=3, to_layers=True)
    record = train(run, stream=stream)
    loaded = tipshare.load(run.folder)
    assert (loaded.config.weights, loaded.config.num_layers, loaded.steps) == ("own", 3, 3)
    assert record.settings["to_layers"] is True
    assert record.model == "time-indexed-mlp, norms, 3 layers"


def test_runs_of_other_choices_are_other_runs(make_finetuning):
    runs = [make_finetuning(method=method) for method in ("full", "norms", "lora")]
    runs.append(make_finetuning(method="lora", rank=3))
    assert len({str(run.identity()["settings"]) for run in runs}) == len({run.model for run in runs}) == 4
    with pytest.raises(ValueError, match="another settings: method"):
        runs[0].check_identity(runs[1].identity())
    other = dataclasses.replace(runs[0], start=dataclasses.replace(runs[0].start, first_text=runs[0].corpus))
    with pytest.raises(ValueError, match="another data"):
        runs[0].check_identity(other.identity())


def test_a_first_text_without_a_window_is_refused_before_training(make_finetuning):
    short = make_corpus("short", {"valid": np.arange(9, dtype=np.uint8)})
    with pytest.raises(ValueError, match=r"corpus short, split valid: 9 bytes are fewer than one window of 16 \+ 1"):
        make_finetuning(method="norms", first_text=short)
