"""Every extra brings all that its part of the project imports: tried with nothing else in reach."""

from pathlib import Path

import pytest

from tests.extras.environment import closure, declared, link_packages, run_script
from tests.extras.main_calls import MAIN_CALLS

SCRIPT = Path(__file__).with_name("main_calls.py")


@pytest.mark.slow
@pytest.mark.parametrize("extra", MAIN_CALLS)
def test_an_extra_brings_what_its_main_call_imports(extra, tmp_path):
    packages = closure(declared(None if extra == "tipshare" else extra))
    ran = run_script(SCRIPT, extra, packages=link_packages(packages.values(), tmp_path / "packages"), cwd=tmp_path)
    assert ran.returncode == 0, ran.stderr
    assert ran.stdout.endswith(f"{extra}: works\n")


def test_what_an_extra_does_not_bring_is_out_of_reach(tmp_path):
    library = closure(declared())
    assert "gradio" not in library
    script = tmp_path / "script.py"
    script.write_text("import numpy, sys\ntry:\n    import gradio\nexcept ModuleNotFoundError:\n    print('none')\n")
    packages = link_packages(library.values(), tmp_path / "packages")
    ran = run_script(script, packages=packages, cwd=tmp_path)
    assert ran.stdout == "none\n", ran.stderr
