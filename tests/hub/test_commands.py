"""The commands: what they show, what they upload, what they print, and what they never give away."""

import json
import platform
import socket
from pathlib import Path

import pytest
import yaml

import tipshare
from tests.checkpoint.configs import TINY, build_tiny, equal_weights
from tests.checkpoint.records import make_record, record_fields
from tests.hub.server import TOKEN
from tipshare.__main__ import main
from training.commands.push import Push, PushAll, PushSpace
from training.publish.hub import compare_runs
from training.results.records import write_records

pytestmark = pytest.mark.filterwarnings("ignore:Use 'content=:DeprecationWarning")


def run_push(target, **options) -> int:
    return Push(run_or_folder=str(target), **options).run()


def run_push_all(organisation, **options) -> int:
    return PushAll(organisation=organisation, **options).run()


def run_push_space(repo, **options) -> int:
    return PushSpace(repo=repo, **options).run()


@pytest.fixture
def shelf(tmp_path, monkeypatch):
    """A working folder with the checkpoints of all kinds and the records of three seeds each."""
    monkeypatch.chdir(tmp_path)
    for kind in TINY:
        tipshare.save(build_tiny(kind), tmp_path / "checkpoints" / kind, record=record_fields(kind))
    records = [
        make_record(kind, seed=seed, loss=1.5 + 0.1 * number + 0.01 * seed)
        for number, kind in enumerate(TINY)
        for seed in range(3)
    ]
    write_records(records, tmp_path / "checkpoints" / "runs.jsonl")
    return tmp_path / "checkpoints"


def test_push_shows_sizes_makes_one_commit_and_prints_the_address(hub, shelf, capsys):
    folder = str(shelf / "time-indexed-mlp")
    assert run_push(folder, repo="org/tiny", private=True, tag="v1", collection=True) == 0
    shown = capsys.readouterr().out
    size = (shelf / "time-indexed-mlp" / "model.safetensors").stat().st_size
    assert f"{size:,}  model.safetensors" in shown
    assert f"{hub.endpoint}/org/tiny (pushed, " in shown
    repository = hub.repository("org/tiny")
    assert len(repository.history) == 2
    assert repository.private
    assert repository.tags == {"v1": repository.branches["main"]}
    (collection,) = hub.store.collections.values()
    assert [item["id"] for item in collection["items"]] == ["org/tiny"]
    card = repository.files()["README.md"].content.decode()
    assert 'tipshare.load("org/tiny")' in card
    assert "gates.png" in card
    assert repository.files()["gates.png"].content.startswith(b"\x89PNG")

    assert run_push(folder, repo="org/tiny", private=True, tag="v1") == 0
    assert "unchanged, no new commit" in capsys.readouterr().out
    assert len(repository.history) == 2


def test_a_push_that_fails_says_what_to_do(hub, shelf, capsys):
    hub.faults.add("error", "POST", "/commit/")
    with pytest.raises(ValueError, match=r"did not finish .*500.*; repeat the command"):
        run_push(str(shelf / "standard"), repo="org/tiny")
    assert run_push(str(shelf / "standard"), repo="org/tiny") == 0
    assert sorted(path.name for path in (shelf / "standard").iterdir() if path.name.startswith(".")) == []


def test_push_finds_the_checkpoint_of_a_run_and_of_a_bundled_name(hub, shelf, tmp_path, monkeypatch):
    monkeypatch.setenv("TIPSHARE_CHECKPOINTS", str(shelf))
    (tmp_path / "run").mkdir()
    (shelf / "standard").rename(tmp_path / "run" / "checkpoint")
    assert run_push("run", repo="org/from-run") == 0
    assert run_push("neural-ode", repo="org/from-name") == 0
    assert equal_weights(tipshare.load("org/from-run"), build_tiny("standard"))
    with pytest.raises(ValueError, match="nowhere holds no checkpoint"):
        run_push("nowhere", repo="org/x")


def test_push_all_compares_the_four_models_in_every_card(hub, shelf):
    assert run_push_all("org", prefix="tiny-") == 0
    for kind in TINY:
        assert equal_weights(tipshare.load(f"org/tiny-{kind}"), build_tiny(kind))
        card = hub.repository(f"org/tiny-{kind}").files()["README.md"].content.decode()
        assert all(f"| {other} | " in card for other in TINY)
        assert "| 3 | 1.5100 | 1.4852 to 1.5348 |" in card
    (collection,) = hub.store.collections.values()
    assert len(collection["items"]) == 4


def test_push_all_needs_all_models_before_it_pushes_any(hub, shelf):
    (shelf / "neural-ode").rename(shelf / "elsewhere")
    with pytest.raises(ValueError, match=r"no checkpoint in .*neural-ode"):
        run_push_all("org")
    assert not hub.store.repositories


def test_intervals_are_those_of_students_t():
    records = [make_record("standard", seed=seed, loss=loss) for seed, loss in enumerate([1.0, 2.0, 3.0])]
    (row,) = compare_runs([*records, make_record("standard", seed=0)], "tiny")[:1]
    assert row.runs == 4
    (row,) = compare_runs(records, "tiny")
    assert (row.mean, round(row.low, 3), round(row.high, 3)) == (2.0, -0.484, 4.484)
    assert compare_runs(records, "another recipe") == []


def make_project(root: Path) -> None:
    for name, text in {
        "app.py": "print('demo')\n",
        "requirements.txt": "gradio==6.31.0\n",
        "README.md": "---\ntitle: old\n---\n# tipshare\n",
        "app/__init__.py": "",
        "app/__pycache__/x.pyc": "",
        "app/.secret": "no",
        "tests/test_x.py": "",
    }.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)


def test_push_space_uploads_the_demo_without_weights_that_are_on_the_hub(hub, shelf, tmp_path, capsys):
    make_project(tmp_path)
    assert run_push_space("org/demo") == 0
    files = hub.repository("org/demo", "space").files()
    assert "checkpoints/standard/model.safetensors" in files
    assert f"{hub.endpoint}/spaces/org/demo (pushed" in capsys.readouterr().out

    (tmp_path / "app" / "__init__.py").rename(tmp_path / "app" / "page.py")
    assert run_push_space("org/demo", models=["org/tiny-standard"]) == 0
    files = hub.repository("org/demo", "space").files()
    assert {"app.py", "requirements.txt", "README.md", "app/page.py", "checkpoints/standard/record.json"} <= set(files)
    assert not any(name.endswith((".safetensors", ".pyc")) for name in files)
    assert not {"app/.secret", "tests/test_x.py", "app/__init__.py"} & set(files)
    readme = files["README.md"].content.decode()
    head = yaml.safe_load(readme.split("---")[1])
    assert (head["sdk"], head["sdk_version"], head["python_version"]) == ("gradio", "6.31.0", "3.11")
    assert (head["app_file"], head["models"], head["title"]) == ("app.py", ["org/tiny-standard"], "tipshare")
    assert readme.endswith("---\n# tipshare\n")
    commits = len(hub.repository("org/demo", "space").history)
    assert run_push_space("org/demo", models=["org/tiny-standard"]) == 0
    assert len(hub.repository("org/demo", "space").history) == commits


def test_info_shows_what_a_checkpoint_is(shelf, capsys):
    assert main(["info", str(shelf / "time-indexed-ssm")]) == 0
    shown = capsys.readouterr().out
    total = tipshare.count_parameters(TINY["time-indexed-ssm"]).total
    for text in ("time-indexed-ssm (float32), found by path", f"{total:,} (", "recipe      tiny (seed 0", "valid_loss"):
        assert text in shown
    assert main(["info", "--json", str(shelf / "standard")]) == 0
    fields = json.loads(capsys.readouterr().out)
    assert fields["record"] == make_record("standard").id
    assert len(fields["files"]["model.safetensors"]["sha256"]) == 64
    content = bytearray((shelf / "standard" / "model.safetensors").read_bytes())
    content[-1] ^= 1
    (shelf / "standard" / "model.safetensors").write_bytes(content)
    assert main(["info", str(shelf / "standard")]) == 2
    assert "error: model.safetensors is damaged" in capsys.readouterr().err


def test_download_fetches_and_checks(hub, shelf, tmp_path, capsys):
    tipshare.push(shelf / "standard", "org/tiny")
    assert main(["download", "org/tiny", "--to", str(tmp_path / "mine")]) == 0
    assert "org/tiny (standard, from Hub)" in capsys.readouterr().out
    for path in (shelf / "standard").iterdir():
        assert (tmp_path / "mine" / path.name).read_bytes() == path.read_bytes()
    assert main(["download", "org/tiny", "--to", str(tmp_path / "mine")]) == 2
    assert main(["download", "org/absent"]) == 2
    assert "error: cannot fetch org/absent" in capsys.readouterr().err


@pytest.fixture
def secrets(tmp_path, monkeypatch) -> tuple[str, ...]:
    """A token, a home folder and a host name that can be told from all other text."""
    home, host = str(tmp_path / "home" / "someone"), "a-host-of-its-own"
    monkeypatch.setenv("HOME", home)
    monkeypatch.setattr(socket, "gethostname", lambda: host)
    monkeypatch.setattr(platform, "node", lambda: host)
    return TOKEN, home, host


def test_nothing_written_or_printed_gives_a_secret_away(hub, shelf, tmp_path, capsys, caplog, secrets):
    hub.faults.add("error", "POST", "/preupload/")
    with caplog.at_level("DEBUG"):
        run_push(str(shelf / "time-indexed-mlp"), repo="org/tiny", tag="v1")
        main(["info", "org/tiny"])
        main(["download", "org/tiny", "--to", str(tmp_path / "mine")])
        main(["download", "org/absent"])
    printed = "".join(capsys.readouterr()) + caplog.text
    written = [path for path in tmp_path.rglob("*") if path.is_file()]
    pushed = [blob.content for blob in hub.repository("org/tiny").files().values()]
    assert len(written) > 40
    for secret in secrets:
        assert secret not in printed
        assert not [path for path in written if secret.encode() in path.read_bytes()]
        assert not [content for content in pushed if secret.encode() in content]


@pytest.mark.parametrize("secret", ["hf_" + "Ab1" * 10, str(Path.home() / "runs"), f"x={Path.home()}"])
def test_a_record_that_gives_something_away_is_not_saved(secret, tmp_path):
    with pytest.raises(ValueError, match=r"record\.json holds"):
        tipshare.save(build_tiny("standard"), tmp_path / "model", record={"command": f"train --out {secret}"})
    assert not list(tmp_path.iterdir())
