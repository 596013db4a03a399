"""Push to a Hub and load from it, with the real client and the real `hf` command."""

import subprocess
import sys
from pathlib import Path

import pytest

import tipshare
from tests.checkpoint.configs import TINY, TOKENS, build_tiny, equal_weights
from tests.checkpoint.records import record_fields
from tests.factories import logits_of
from tipshare import CheckpointError
from tipshare.checkpoint import open_checkpoint

# The client's own way of sending large files.
pytestmark = pytest.mark.filterwarnings("ignore:Use 'content=:DeprecationWarning")

ROOT = Path(__file__).parents[2]
HF = Path(sys.executable).with_name("hf")


@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
@pytest.mark.parametrize("kind", TINY)
def test_a_model_comes_back_from_the_hub(kind, dtype, hub, tmp_path):
    model = build_tiny(kind).astype(dtype)
    tipshare.save(model, tmp_path / "model", record=record_fields(kind))
    published = tipshare.push(tmp_path / "model", "org/tiny")
    assert published.changed
    assert published.address == f"{hub.endpoint}/org/tiny"
    loaded = tipshare.load("org/tiny")
    assert equal_weights(loaded, model)
    assert (logits_of(loaded, TOKENS) == logits_of(model, TOKENS)).all()
    texts = [tipshare.generate(each, "a", max_bytes=8, seed=3).text for each in (loaded, model)]
    assert texts[0] == texts[1]
    assert hub.repository("org/tiny").files()["model.safetensors"].large


@pytest.fixture
def pushed(hub, tmp_path):
    """A checkpoint folder that is on the Hub as org/tiny."""
    folder = tipshare.save(build_tiny("standard"), tmp_path / "model", record=record_fields("standard"))
    tipshare.push(folder, "org/tiny")
    return folder


def test_an_unchanged_folder_makes_no_new_commit(hub, pushed):
    history = list(hub.repository("org/tiny").history)
    again = tipshare.push(pushed, "org/tiny")
    assert not again.changed
    assert hub.repository("org/tiny").history == history
    assert len(history) == 2  # the empty repository, and all files in one commit


def test_a_push_replaces_what_is_stale_and_leaves_what_is_not_ours(hub, pushed):
    tipshare.save(build_tiny("neural-ode"), pushed, largest_shard=20_000)
    (pushed / "optimizer.pkl").write_bytes(b"never uploaded")
    tipshare.push(pushed, "org/tiny")
    files = set(hub.repository("org/tiny").files())
    assert "model.safetensors" not in files
    assert "record.json" not in files
    assert "model.safetensors.index.json" in files
    assert ".gitattributes" in files
    assert "optimizer.pkl" not in files
    assert equal_weights(tipshare.load("org/tiny"), build_tiny("neural-ode"))


def test_revisions_and_tags_name_what_was_pushed(hub, pushed):
    first = tipshare.push(pushed, "org/tiny", tag="v1")
    tipshare.save(build_tiny("standard", seed=1), pushed)
    second = tipshare.push(pushed, "org/tiny", tag="v2")
    tipshare.save(build_tiny("standard", seed=2), pushed)
    tipshare.push(pushed, "org/tiny", revision="experiment")
    for revision, seed in {"v1": 0, first.commit: 0, "v2": 1, "main": 1, "experiment": 2}.items():
        assert equal_weights(tipshare.load("org/tiny", revision=revision), build_tiny("standard", seed=seed))
    assert hub.repository("org/tiny").branches["main"] == second.commit
    with pytest.raises(ValueError, match="tag 'v1' of org/tiny names the older commit"):
        tipshare.push(pushed, "org/tiny", tag="v1")
    with pytest.raises(CheckpointError, match="cannot fetch org/tiny at revision v9"):
        tipshare.load("org/tiny", revision="v9")


def test_a_private_repository_needs_the_token(hub, pushed, monkeypatch):
    tipshare.push(pushed, "org/secret", private=True)
    assert hub.repository("org/secret").private
    assert equal_weights(tipshare.load("org/secret"), build_tiny("standard"))
    with pytest.raises(ValueError, match="org/tiny exists and is public"):
        tipshare.push(pushed, "org/tiny", private=True)
    with pytest.raises(CheckpointError, match="cannot fetch org/secret"):
        tipshare.load("org/secret", token=False, cache_dir=pushed.parent / "other")


def test_loading_says_where_it_found_the_model(hub, pushed, monkeypatch, caplog):
    with caplog.at_level("INFO", "tipshare"):
        assert open_checkpoint("org/tiny").origin == "Hub"
        assert open_checkpoint("org/tiny").origin == "cache"
        assert open_checkpoint(pushed).origin == "path"
    assert [r.message for r in caplog.records if "org" in r.message] == ["org/tiny: from Hub", "org/tiny: from cache"]


def test_a_cached_model_loads_without_the_hub(hub, pushed, monkeypatch):
    tipshare.load("org/tiny")
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    asked = len(hub.requests)
    assert equal_weights(tipshare.load("org/tiny"), build_tiny("standard"))
    assert len(hub.requests) == asked
    with pytest.raises(CheckpointError, match="unset HF_HUB_OFFLINE"):
        tipshare.load("org/other")


def test_only_files_of_a_checkpoint_are_downloaded(hub, pushed):
    repository = hub.repository("org/tiny")
    files = repository.files()
    repository.commit("main", {**files, "pytorch_model.bin": files["README.md"], "code/run.py": files["README.md"]})
    folder = open_checkpoint("org/tiny").folder
    names = {path.relative_to(folder).as_posix() for path in folder.rglob("*")}
    assert names == {path.name for path in pushed.iterdir()}


@pytest.mark.slow
def test_another_process_and_the_hf_command_fetch_the_same_folder(hub, pushed, hub_environment, tmp_path):
    target = tmp_path / "fetched"
    run = subprocess.run(
        [HF, "download", "org/tiny", "--local-dir", target], env=hub_environment, capture_output=True, text=True
    )
    assert run.returncode == 0, run.stderr
    for path in pushed.iterdir():
        assert (target / path.name).read_bytes() == path.read_bytes()
    assert equal_weights(tipshare.load(target), build_tiny("standard"))
    code = "import tipshare; print(tipshare.load('org/tiny').config.kind)"
    run = subprocess.run([sys.executable, "-c", code], env=hub_environment, capture_output=True, text=True, cwd=ROOT)
    assert run.stdout == "standard\n", run.stderr


@pytest.mark.slow
def test_the_hf_command_can_upload_what_we_load(hub, pushed, hub_environment):
    command = [HF, "upload", "org/by-hand", pushed, "."]
    run = subprocess.run(command, env=hub_environment, capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    assert equal_weights(tipshare.load("org/by-hand"), build_tiny("standard"))
