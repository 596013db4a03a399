"""Every snippet in the README runs."""

import re
import shlex
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")
# What the README writes for something of the reader's own.
PLACEHOLDERS = ("CHECKPOINT", "RUN", "ORG", "PYTHON", "org/name", "runs")
# Trained for real in the tests of training; here a few steps are enough to see the command work.
SHORTER = {
    "train quick": [
        "--set",
        "num_steps=3",
        "warmup_steps=0",
        "evaluation_windows=2",
        "full_evaluation=[]",
        "sample_every=0",
    ]
}


def snippets(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", README, re.MULTILINE | re.DOTALL)


def shell_commands() -> list[str]:
    lines = [line.split("  #")[0].strip() for block in snippets("sh") for line in block.splitlines()]
    return [line for line in lines if line and not line.startswith("#")]


def test_python_snippets_run_in_order(capsys):
    assert snippets("python")
    namespace: dict = {}
    for code in snippets("python"):
        exec(compile(code, "README.md", "exec"), namespace)
    printed = capsys.readouterr().out
    # What a comment under a print promises is what it prints.
    promised = re.search(r"^# ([\d,]+ parameters .*)$", README, re.MULTILINE)
    assert promised
    assert promised[1] in printed


@pytest.mark.parametrize("command", shell_commands())
def test_shell_commands_work(command, tmp_path):
    words = shlex.split(command)
    if words[0] == "make":
        subprocess.run(["make", "--dry-run", *words[1:]], check=True, cwd=ROOT, capture_output=True)
    elif words[:2] == ["pip", "install"]:
        extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
        for extra in re.findall(r"\[(.*?)\]", command)[0].split(","):
            assert extra in extras
    elif words[:2] == ["python", "-m"]:
        run_or_parse(words[1:], tmp_path)
    else:
        pytest.fail(f"the README shows a command this test does not know how to check: {command}")


def run_or_parse(words: list[str], folder: Path) -> None:
    """Run a command; one that needs a model, the Hub or hours must at least know its verb and its flags."""
    module, verb, *rest = words[1:]
    for shortened, extra in SHORTER.items():
        if [verb, *rest][: len(shortened.split())] == shortened.split():
            subprocess.run([sys.executable, *words, *extra, "--out", folder], check=True, cwd=ROOT, capture_output=True)
            return
    needs_more = any(word in PLACEHOLDERS for word in rest) or verb == "sweep"
    arguments = [verb, "--help"] if needs_more else [verb, *rest]
    shown = subprocess.run(
        [sys.executable, "-m", module, *arguments], check=True, cwd=ROOT, capture_output=True, text=True
    )
    if needs_more:
        for flag in (word for word in rest if word.startswith("--")):
            assert flag in shown.stdout, f"{verb} has no {flag}"


def test_front_matter_is_what_a_space_needs():
    front = re.match(r"---\n(.*?)\n---\n", README, re.DOTALL)
    assert front
    fields = dict(line.split(": ", 1) for line in front[1].splitlines())
    assert fields["sdk"] == "gradio"
    assert (ROOT / fields["app_file"]).exists()
    assert f"gradio=={fields['sdk_version']}" in (ROOT / "requirements.txt").read_text().splitlines()
    assert len(fields["short_description"]) <= 60
