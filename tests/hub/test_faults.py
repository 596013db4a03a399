"""A push or a load that goes wrong half way leaves the old state or the new one, and repeating it completes it."""

import os

import httpx2
import pytest
from huggingface_hub.errors import HfHubHTTPError

import tipshare
from tests.checkpoint.configs import build_tiny, equal_weights
from tipshare import CheckpointError

pytestmark = pytest.mark.filterwarnings("ignore:Use 'content=:DeprecationWarning")

OLD, NEW = build_tiny("time-indexed-mlp", 0), build_tiny("time-indexed-mlp", 1)


@pytest.fixture(autouse=True)
def no_waiting(monkeypatch):
    """The client waits between its own retries; here it need not."""
    monkeypatch.setattr("huggingface_hub.utils._http.time.sleep", lambda seconds: None)


@pytest.fixture
def folder(hub, tmp_path):
    """A folder with the new model, while the Hub has the old one."""
    tipshare.save(OLD, tmp_path / "model")
    tipshare.push(tmp_path / "model", "org/tiny")
    tipshare.save(NEW, tmp_path / "model")
    return tmp_path / "model"


def state_of(hub) -> str:
    """Which model the Hub holds; anything between the two fails to load."""
    files = hub.repository("org/tiny").files()
    assert set(files) >= {"config.json", "model.safetensors", "checksums.json", "README.md"}
    loaded = tipshare.load("org/tiny")
    assert equal_weights(loaded, OLD) or equal_weights(loaded, NEW)
    return "old" if equal_weights(loaded, OLD) else "new"


REQUESTS = [
    ("POST", "/api/repos/create"),
    ("GET", "/api/models/org/tiny"),
    ("POST", "/preupload/"),
    ("POST", "/objects/batch"),
    ("PUT", "/large/"),
    ("POST", "/large/verify"),
    ("POST", "/commit/"),
]


@pytest.mark.parametrize("trouble", ["cut-request", "lost-reply"])
@pytest.mark.parametrize(("method", "path"), REQUESTS, ids=[path for _, path in REQUESTS])
def test_a_push_cut_anywhere_is_completed_by_the_same_command(hub, folder, method, path, trouble):
    hub.faults.add(trouble, method, path, times=20)
    with pytest.raises((httpx2.HTTPError, HfHubHTTPError, RuntimeError)):
        tipshare.push(folder, "org/tiny")
    assert hub.faults.happened
    hub.faults.clear()
    # A commit whose reply was lost has happened; everything before it has not.
    assert state_of(hub) == ("new" if (path, trouble) == ("/commit/", "lost-reply") else "old")
    tipshare.push(folder, "org/tiny")
    assert state_of(hub) == "new"
    assert len(hub.repository("org/tiny").history) == 3


@pytest.mark.parametrize("path", ["/preupload/", "/objects/batch", "/large/verify"])
def test_a_passing_error_is_retried(hub, folder, path):
    hub.faults.add("error", "POST", path)
    tipshare.push(folder, "org/tiny")
    assert hub.faults.happened
    assert state_of(hub) == "new"


def test_a_slow_hub_is_waited_for(hub, folder):
    hub.faults.add("slow", "PUT")
    hub.faults.add("slow", "POST", "/commit/")
    tipshare.push(folder, "org/tiny")
    assert state_of(hub) == "new"


def test_a_full_quota_is_reported_and_changes_nothing(hub, folder):
    hub.store.quota = 1000
    with pytest.raises(ValueError, match="quota exceeded"):
        tipshare.push(folder, "org/tiny")
    assert state_of(hub) == "old"
    hub.store.quota = None
    hub.faults.add("full", "POST", "/commit/")
    with pytest.raises(HfHubHTTPError, match="quota exceeded"):
        tipshare.push(folder, "org/tiny")
    assert state_of(hub) == "old"


def test_two_pushes_at_once_do_not_mix(hub, folder, monkeypatch):
    """Someone else commits after we looked and before we commit: we are told, and nothing of ours is there."""
    other = hub.repository("org/tiny")
    batch = "tests.hub.server._Handler.batch"
    from tests.hub.server import _Handler

    plain = _Handler.batch

    def commit_first(self, body, **names):
        other.commit("main", dict(other.files()))
        plain(self, body, **names)

    monkeypatch.setattr(batch, commit_first)
    with pytest.raises(HfHubHTTPError, match="A commit has happened since"):
        tipshare.push(folder, "org/tiny")
    assert state_of(hub) == "old"


def test_a_download_cut_in_the_middle_is_completed(hub, folder):
    tipshare.push(folder, "org/tiny")
    hub.faults.add("cut-reply", "GET", "model.safetensors", times=2)
    assert equal_weights(tipshare.load("org/tiny"), NEW)
    assert len(hub.faults.happened) == 2


def test_a_download_that_stays_cut_is_reported_and_completed_later(hub, folder):
    tipshare.push(folder, "org/tiny")
    hub.faults.add("cut-reply", "GET", "model.safetensors", times=100)
    with pytest.raises(CheckpointError, match="cannot fetch org/tiny"):
        tipshare.load("org/tiny")
    hub.faults.clear()
    assert equal_weights(tipshare.load("org/tiny"), NEW)


def test_a_download_with_a_flipped_bit_is_refused_by_name(hub, folder):
    hub.faults.add("wrong-content", "GET", "model.safetensors")
    with pytest.raises(CheckpointError, match=r"model\.safetensors is damaged or was changed"):
        tipshare.load("org/tiny")


def test_a_hub_that_is_down_is_reported(hub, folder):
    hub.faults.add("error", "GET", times=1000)
    with pytest.raises(CheckpointError, match="cannot fetch org/tiny from the Hub"):
        tipshare.load("org/tiny")


def test_a_damaged_folder_is_not_pushed(hub, folder):
    path = folder / "model.safetensors"
    content = path.read_bytes()
    path.write_bytes(content[:-1] + bytes([content[-1] ^ 1]))
    asked = len(hub.requests)
    with pytest.raises(CheckpointError, match="damaged"):
        tipshare.push(folder, "org/tiny")
    assert len(hub.requests) == asked


def test_a_card_with_a_token_in_it_is_not_pushed(hub, folder):
    (folder / "README.md").write_text("Log in with hf_" + "a" * 34)
    with pytest.raises(ValueError, match=r"README\.md holds what looks like an access token"):
        tipshare.push(folder, "org/tiny")
    assert state_of(hub) == "old"


@pytest.mark.parametrize("name", ["generation_config.json", "README.md", "gates.png", "tokenizer.json"])
def test_what_a_link_leads_to_is_not_pushed(hub, folder, tmp_path, name):
    (tmp_path / "secret").write_text("password: 1234")
    (folder / name).unlink(missing_ok=True)
    (folder / name).symlink_to(tmp_path / "secret")
    asked = len(hub.requests)
    with pytest.raises(CheckpointError, match=f"{name} is a link out of its folder"):
        tipshare.push(folder, "org/tiny")
    assert len(hub.requests) == asked


def test_files_that_the_format_does_not_name_are_not_pushed(hub, folder):
    for name in ("notes.txt", ".env", "model.pkl"):
        (folder / name).write_text("mine")
    os.mkfifo(folder / "gates.png")
    tipshare.push(folder, "org/tiny")
    assert not {"notes.txt", ".env", "model.pkl", "gates.png"} & set(hub.repository("org/tiny").files())


def test_a_refused_push_makes_no_repository(hub, folder):
    (folder / "README.md").write_text("hf_" + "a" * 34)
    with pytest.raises(ValueError, match="access token"):
        tipshare.push(folder, "org/new")
    assert ("model", "org/new") not in hub.store.repositories
