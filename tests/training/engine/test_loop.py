"""One run: what it writes, that it stops and continues exactly, and that it notices when it diverges."""

import dataclasses
import json
import math

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from safetensors.numpy import load_file

import tipshare
from tests.training.engine.tiny import TINY, StoppingCorpus, assert_same_arrays, repeatable
from tipshare.files import BusyError, locked
from tipshare.presets import PRESETS
from training.engine.history import DivergedError, History
from training.engine.loop import train
from training.engine.sharding import Placement
from training.engine.state import saved_steps
from training.engine.step import Program
from training.results.records import read_records


@pytest.mark.slow
def test_an_interrupted_run_ends_bit_identical_to_one_that_was_not(make_run, corpus, stream):
    model = "time-indexed-mlp"
    whole = train(make_run(model, folder="whole"), stream=stream)
    for failing_step in (3, 7, 10):  # before the first state, between two, after the last but one
        run = make_run(model, folder="broken", text=StoppingCorpus.before(failing_step, corpus))
        with pytest.raises(OSError, match="the disk is gone"):
            train(run, stream=stream)
    run = make_run(model, folder="broken")
    continued = train(run, stream=stream)
    assert repeatable(continued) == repeatable(whole)
    weights = [load_file(run.folder.parent / folder / "model.safetensors") for folder in ("whole", "broken")]
    assert_same_arrays(*weights)
    metrics = [(run.folder.parent / folder / "metrics.jsonl").read_text() for folder in ("whole", "broken")]
    assert metrics[0] == metrics[1]
    other = train(make_run(model, folder="other", seed=1), stream=stream)
    assert other.train_curve != whole.train_curve  # the probe bites


def test_a_finished_run_leaves_record_checkpoint_and_collection_but_no_state(make_run, stream):
    run = make_run()
    (run.folder / "state").mkdir(parents=True)
    (run.folder / "state" / ".step-00000002.safetensors.1-1.tmp").write_bytes(b"of a process that was killed")
    (run.folder.parent / f".{run.folder.name}.abc.new").mkdir()
    (run.folder.parent / ".runs.jsonl.1-1.tmp").write_bytes(b"of another one")
    record = train(run, stream=stream)
    assert sorted(path.name for path in run.folder.parent.iterdir()) == ["run", "runs.jsonl", "runs.lock"]
    assert not (run.folder / "state").exists()
    assert (run.folder / "metrics.jsonl").exists()
    assert tipshare.load(run.folder).config == run.config
    assert read_records(run.collection) == [record]
    assert [step for step, _ in record.curve] == [5, 10, 12]
    assert [step for step, _ in record.train_curve] == list(range(1, 13))
    assert record.final["valid_loss"] == record.curve[-1][1] < record.curve[0][1] < math.log(256)
    assert record.tokens_seen == 12 * 4 * 16
    lines = [json.loads(line) for line in (run.folder / "metrics.jsonl").read_text().splitlines()]
    assert [line["step"] for line in lines if "valid_loss" in line] == [5, 10, 12]


def test_weights_defined_at_every_depth_are_also_read_with_other_numbers_of_steps(make_run, stream):
    changes = ("num_steps=2", "depth_evaluation=[1,2,4]")
    run = make_run("time-indexed-mlp", *changes)
    final = train(run, stream=stream).final
    assert final["valid_loss_at_steps_2"] == final["valid_loss"]
    assert len({final[f"valid_loss_at_steps_{steps}"] for steps in (1, 2, 4)}) == 3
    windows = run.corpus.evaluation_windows("valid", TINY.evaluation_windows, TINY.length).astype(np.int32)
    by_hand = tipshare.load(run.folder).compute_loss(windows[:, :-1], windows[:, 1:], steps=4)
    assert final["valid_loss_at_steps_4"] == pytest.approx(float(by_hand), rel=1e-5)
    layered = train(make_run("standard", *changes, folder="layered"), stream=stream)
    assert not [name for name in layered.final if "at_steps" in name]


def test_a_finished_run_is_not_run_again(make_run, corpus, stream):
    run = make_run()
    record = train(run, stream=stream)
    run.collection.unlink()
    failing = make_run(text=StoppingCorpus.before(1, corpus))
    assert train(failing, stream=stream) == record
    assert read_records(run.collection) == [record]  # the collection is made whole again


@pytest.mark.slow
def test_a_damaged_state_falls_back_to_the_one_before_and_says_so(make_run, corpus, stream):
    whole = train(make_run(folder="whole"), stream=stream)
    with pytest.raises(OSError, match="the disk is gone"):
        train(make_run(text=StoppingCorpus.before(10, corpus)), stream=stream)
    run = make_run()
    arrays = run.folder / "state" / "step-00000008.safetensors"
    content = bytearray(arrays.read_bytes())
    content[-1] ^= 1
    arrays.write_bytes(content)
    assert repeatable(train(run, stream=stream)) == repeatable(whole)
    assert "state of step 8 is damaged (the checksum of its arrays does not match)" in stream.getvalue()
    assert "continuing after step 4" in stream.getvalue()


def test_a_finished_run_whose_weights_were_changed_is_not_called_finished(make_run, stream):
    run = make_run()
    train(run, stream=stream)
    path = run.folder / "model.safetensors"
    content = path.read_bytes()
    path.write_bytes(content[:-1] + bytes([content[-1] ^ 1]))
    with pytest.raises(
        ValueError, match=r"the finished run in .* was damaged .*: delete that folder to train it again"
    ):
        train(run, stream=stream)


def test_a_torn_collection_is_noticed_before_training(make_run, corpus, stream):
    run = make_run(text=StoppingCorpus.before(1, corpus))
    run.collection.write_text('{"half": ')
    with pytest.raises(ValueError, match=r"runs\.jsonl, line 1: the file ends in the middle of a record"):
        train(run, stream=stream)
    assert not (run.folder / "state").exists()


def test_a_second_process_on_one_folder_is_refused(make_run, stream):
    run = make_run()
    with locked(run.folder / "lock"), pytest.raises(BusyError, match="another process holds"):
        train(run, stream=stream)


def test_a_folder_of_another_run_is_refused(make_run, corpus, stream):
    with pytest.raises(OSError, match="the disk is gone"):
        train(make_run(text=StoppingCorpus.before(6, corpus)), stream=stream)
    changed = make_run("standard", "learning_rate=0.001")
    changed = dataclasses.replace(changed, recipe=dataclasses.replace(changed.recipe, name="tiny"))
    with pytest.raises(ValueError, match=r"another settings: learning_rate: 0\.01 there, 0\.001 here"):
        train(changed, stream=stream)


@pytest.mark.slow
def test_divergence_stops_the_run_and_keeps_the_last_good_state(make_run, stream):
    run = make_run("standard", "learning_rate=1e18", "save_every=1", "num_steps=50", "evaluate_every=50")
    with pytest.raises(DivergedError, match="smaller learning rate") as error:
        train(run, stream=stream)
    assert str(run.folder / "state") in str(error.value)
    for step in saved_steps(run.folder / "state"):
        arrays = load_file(run.folder / "state" / f"step-{step:08d}.safetensors")
        assert all(np.isfinite(array).all() for array in arrays.values())


def test_a_distance_between_two_paths_has_no_limit_but_must_be_finite(make_run):
    changes = ("depth_steps=[1,2]", "consistency=0.1")
    History(make_run("time-indexed-mlp", *changes), None).note_loss(1, 50.0, None)
    for loss, with_distance in ((50.0, ()), (float("inf"), changes)):
        with pytest.raises(DivergedError, match="the run diverged"):
            History(make_run("time-indexed-mlp", *with_distance), None).note_loss(1, loss, None)


@pytest.mark.slow
def test_accumulated_passes_equal_one_large_batch(make_run, stream):
    large = train(make_run("standard", "batch_size=4", folder="large"), stream=stream)
    small = train(make_run("standard", "batch_size=2", "accumulate=2", folder="small"), stream=stream)
    np.testing.assert_allclose(small.train_curve, large.train_curve, rtol=1e-4)
    assert small.tokens_seen == large.tokens_seen


@pytest.mark.slow
def test_bfloat16_passes_keep_float32_weights(make_run, stream):
    exact = train(make_run(folder="exact"), stream=stream)
    run = make_run("standard", "precision=bfloat16", folder="rounded")
    rounded = train(run, stream=stream)
    assert all(array.dtype == np.float32 for array in load_file(run.folder / "model.safetensors").values())
    np.testing.assert_allclose(rounded.final["valid_loss"], exact.final["valid_loss"], rtol=0.02)
    assert rounded.train_curve != exact.train_curve


def test_dropout_differs_by_step_and_repeats_by_seed(make_run):
    run = make_run("standard", "model.resid_pdrop=0.5")
    program = Program.of(run.recipe, run.config, Placement())
    windows = run.corpus.windows("train", 0, 1, 4, 16)

    compiled, _ = program.compile_step(*program.start(0))

    def loss(step: int) -> float:
        given = (program.put_windows(windows), np.int32(step), np.uint32(0))
        return float(compiled(*program.start(0), *given)[2])

    assert loss(1) == loss(1) != loss(2)


def test_the_step_takes_its_arrays_as_donated_arguments(make_run):
    run = make_run()
    program = Program.of(run.recipe, run.config, Placement())
    parameters, optimizer_state = program.start(0)
    compiled, _ = program.compile_step(parameters, optimizer_state)
    compiled(parameters, optimizer_state, np.zeros((1, 4, 17), np.uint8), np.int32(1), np.uint32(0))
    assert all(leaf.is_deleted() for leaf in jax.tree.leaves((parameters, optimizer_state)))


@pytest.mark.parametrize(("preset_name", "kind"), [(name, kind) for name in PRESETS for kind in PRESETS[name]])
def test_every_kind_passes_in_bfloat16(preset_name, kind):
    recipe = TINY.change(["precision=bfloat16"])
    program = Program.of(recipe, recipe.configure(kind, preset_name)[1], Placement())

    def run(parameters, windows):
        hidden, _ = program.model(parameters).astype(jnp.bfloat16).hidden(windows[:, :-1].astype(int))
        return program.loss(parameters, windows, None), hidden

    windows = jax.ShapeDtypeStruct((4, 17), np.uint8)
    loss, hidden = jax.eval_shape(run, program.shapes()[0], windows)
    assert (loss.dtype, hidden.dtype) == (jnp.float32, jnp.bfloat16)
