"""Every snippet in the README runs."""

import re
import subprocess
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text()


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
def test_shell_commands_exist(command):
    words = command.split()
    if words[0] == "make":
        subprocess.run(["make", "--dry-run", *words[1:]], check=True, cwd=ROOT, capture_output=True)
    elif words[:2] == ["pip", "install"]:
        extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
        for extra in re.findall(r"\[(.*?)\]", command)[0].split(","):
            assert extra in extras
    else:
        pytest.fail(f"the README shows a command this test does not know how to check: {command}")


def test_front_matter_is_what_a_space_needs():
    front = re.match(r"---\n(.*?)\n---\n", README, re.DOTALL)
    assert front
    fields = dict(line.split(": ", 1) for line in front[1].splitlines())
    assert fields["sdk"] == "gradio"
    assert (ROOT / fields["app_file"]).exists()
    assert f"gradio=={fields['sdk_version']}" in (ROOT / "requirements.txt").read_text().splitlines()
    assert len(fields["short_description"]) <= 60
