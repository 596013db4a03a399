"""The commands: what they show, what they upload, what they print, and what they never give away."""

import dataclasses
import errno
import io
import json
import os
import platform
import shutil
import socket
import sys
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
from training.publish.space import make_readme
from training.results.records import write_records

ROOT = Path(__file__).parents[2]
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
    (shelf / "standard").rename(tmp_path / "run")
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
    (row,) = compare_runs(records, records[0])
    assert (row.runs, row.mean, round(row.low, 3), round(row.high, 3)) == (3, 2.0, -0.484, 4.484)
    (row,) = compare_runs(records, dataclasses.replace(records[0], recipe="another recipe"))
    assert (row.runs, row.mean, row.low) == (1, 1.0, None)


def make_project(root: Path) -> None:
    for name, text in {
        "app.py": "print('demo')\n",
        "requirements.txt": "gradio==6.31.0\n",
        "README.md": "---\ntitle: demo 🌀\nsdk: gradio\nsdk_version: 1.0\napp_file: app.py\n---\n# tipshare\n",
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
    assert (head["sdk"], head["sdk_version"], head["app_file"]) == ("gradio", "6.31.0", "app.py")
    assert (head["models"], head["title"]) == (["org/tiny-standard"], "demo 🌀")
    assert readme.endswith("---\n# tipshare\n")
    commits = len(hub.repository("org/demo", "space").history)
    assert run_push_space("org/demo", models=["org/tiny-standard"]) == 0
    assert len(hub.repository("org/demo", "space").history) == commits


def test_info_keeps_what_a_terminal_would_obey_to_itself(tmp_path, capsys):
    settings = {"corpus": "tiny", "precision": "\x1b[2J"}
    record = dataclasses.replace(make_record("standard"), settings=settings)
    tipshare.save(build_tiny("standard"), tmp_path / "standard", record=record)
    assert main(["info", str(tmp_path / "standard")]) == 0
    shown = capsys.readouterr().out
    assert "corpus tiny" in shown
    assert "\x1b" not in shown


def test_info_shows_what_a_checkpoint_is(shelf, capsys):
    assert main(["info", str(shelf / "time-indexed-ssm")]) == 0
    shown = capsys.readouterr().out
    total = tipshare.count_parameters(TINY["time-indexed-ssm"]).total
    for text in ("time-indexed-ssm (float32), found by path", f"{total:,} (", "recipe      tiny (seed 0", "valid_loss"):
        assert text in shown
    assert "depth       2 steps, any other number by --steps" in shown
    assert main(["info", "--json", "--steps", "5", str(shelf / "time-indexed-ssm")]) == 0
    depth = json.loads(capsys.readouterr().out)["depth"]
    deeper = tipshare.load(shelf / "time-indexed-ssm").freeze(5)
    assert depth["effective_parameters"] == tipshare.count_parameters(deeper).total
    assert main(["info", "--steps", "5", str(shelf / "standard")]) == 2
    assert "has exactly 2 layers" in capsys.readouterr().err
    assert main(["info", str(shelf / "standard")]) == 0
    assert "depth       2 steps, fixed" in capsys.readouterr().out
    assert main(["info", "--json", str(shelf / "standard")]) == 0
    fields = json.loads(capsys.readouterr().out)
    assert fields["record"] == make_record("standard").id
    assert len(fields["files"]["model.safetensors"]["sha256"]) == 64
    content = bytearray((shelf / "standard" / "model.safetensors").read_bytes())
    content[-1] ^= 1
    (shelf / "standard" / "model.safetensors").write_bytes(content)
    assert main(["info", str(shelf / "standard")]) == 2
    assert "error: model.safetensors is damaged" in capsys.readouterr().err


def test_a_space_takes_its_front_matter_from_the_readme_and_no_linked_file(hub, shelf, tmp_path):
    make_project(tmp_path)
    readme = make_readme((ROOT / "README.md").read_text(), "gradio==9.9.9\n", ["org/tiny"])
    ours, made = (yaml.safe_load(text.split("---")[1]) for text in ((ROOT / "README.md").read_text(), readme))
    assert made == {**ours, "sdk_version": "9.9.9", "models": ["org/tiny"]}
    with pytest.raises(ValueError, match="does not pin gradio"):
        make_readme(readme, "", [])
    with pytest.raises(ValueError, match="does not begin with the front matter of a Gradio Space"):
        make_readme("# tipshare\n", "gradio==9.9.9\n", [])
    (tmp_path / "secret").write_text("password: 1234")
    (tmp_path / "app" / "linked.py").symlink_to(tmp_path / "secret")
    with pytest.raises(ValueError, match=r"linked\.py is a link out of its folder"):
        run_push_space("org/demo")
    assert not hub.store.repositories


def test_score_gives_bits_per_byte_of_a_text_a_file_or_standard_input(shelf, tmp_path, capsys, monkeypatch):
    monkeypatch.setenv("TIPSHARE_COMPILATION_CACHE", "0")
    folder, text = str(shelf / "time-indexed-ssm"), "naïve café \udcff".encode("utf-8", "surrogateescape")
    model = tipshare.load(folder)
    (tmp_path / "text.bin").write_bytes(text)

    def scored(*arguments) -> dict:
        assert main(["score", *arguments, "--checkpoint", folder, "--json"]) == 0
        return json.loads(capsys.readouterr().out)

    expected = scored(text.decode("utf-8", "surrogateescape"))
    assert expected["bytes"] == len(text)
    assert expected["bits_per_byte"] == pytest.approx(model.score(text).bits_per_byte, rel=1e-5)
    assert scored("--file", str(tmp_path / "text.bin")) == expected
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(text)))
    assert scored() == expected
    assert scored("--file", str(tmp_path / "text.bin"), "--steps", "2") == pytest.approx(expected, rel=1e-4)
    deeper = scored("--file", str(tmp_path / "text.bin"), "--steps", "5")
    assert deeper["bits_per_byte"] == pytest.approx(model.freeze(5).score(text).bits_per_byte, rel=1e-5)
    assert deeper["bits_per_byte"] != pytest.approx(expected["bits_per_byte"], rel=5e-5)
    assert (expected["block_evaluations"], deeper["block_evaluations"]) == (2, 5)
    folder = str(shelf / "neural-ode")
    assert scored("abc", "--steps", "3", "--solver", "rk4")["block_evaluations"] == 12
    assert main(["generate", "a", "--checkpoint", folder, "--solver", "heun", "--max-bytes", "3"]) == 0
    assert " bytes/s, 4 block evaluations per byte" in capsys.readouterr().err
    assert main(["score", "a", "--checkpoint", str(shelf / "standard"), "--solver", "heun"]) == 2
    assert "solver='heun' needs step='euler'" in capsys.readouterr().err
    assert main(["score", "abc", "--checkpoint", folder]) == 0
    assert " bits per byte (" in capsys.readouterr().out
    assert main(["score", "abc", "--file", "x"]) == 2
    assert main(["score", "--file", str(tmp_path / "absent")]) == 2
    assert "No such file" in capsys.readouterr().err


def test_without_an_argument_a_terminal_is_not_waited_for(shelf, capsys, monkeypatch):
    monkeypatch.setattr(sys, "stdin", open(os.devnull))  # noqa: SIM115
    monkeypatch.setattr(sys.stdin, "isatty", lambda: True, raising=False)
    for verb in ("generate", "score"):
        assert main([verb]) == 2
        assert "there is no text: give one in quotation marks" in capsys.readouterr().err


@pytest.mark.parametrize("verb", ["generate", "score", "info", "download"])
def test_every_verb_has_help(verb, capsys):
    with pytest.raises(SystemExit) as ended:
        main([verb, "--help"])
    assert ended.value.code == 0
    shown = capsys.readouterr().out
    assert f"usage: tipshare {verb}" in shown
    assert ("{None}" in shown) <= (verb == "generate")
    if verb == "generate":
        for each in dataclasses.fields(tipshare.Sampling):
            assert f"--{each.name.replace('_', '-')}" in shown


def test_download_fetches_and_checks(hub, shelf, tmp_path, capsys, monkeypatch):
    def disk_full(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    tipshare.push(shelf / "standard", "org/tiny")
    assert main(["download", "org/tiny", "--to", str(tmp_path / "mine")]) == 0
    assert "org/tiny (standard, from Hub)" in capsys.readouterr().out
    for path in (shelf / "standard").iterdir():
        assert (tmp_path / "mine" / path.name).read_bytes() == path.read_bytes()
    assert main(["download", "org/tiny", "--to", str(tmp_path / "mine")]) == 2
    monkeypatch.setattr(shutil, "copyfile", disk_full)
    assert main(["download", "org/tiny", "--to", str(tmp_path / "half")]) == 2
    assert sorted(each.name for each in tmp_path.iterdir() if "half" in each.name) == []
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
    record = {**record_fields("standard"), "command": f"train --out {secret}"}
    with pytest.raises(ValueError, match=r"record\.json holds"):
        tipshare.save(build_tiny("standard"), tmp_path / "model", record=record)
    assert not list(tmp_path.iterdir())
