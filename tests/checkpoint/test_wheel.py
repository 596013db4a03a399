"""What `pip install tipshare` gives: a typed package with two checkpoints that writes text without a network."""

import os
import subprocess
import sys
import sysconfig
import zipfile
from pathlib import Path

import pytest

import tipshare
from tests.compiling import compiler_environment

ROOT = Path(__file__).parents[2]
INSIDE = ["time-indexed-mlp", "time-indexed-ssm"]

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    folder = tmp_path_factory.mktemp("wheel")
    subprocess.run([sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", folder], check=True, cwd=ROOT)
    (built,) = folder.glob("*.whl")
    return built


@pytest.fixture(scope="module")
def installed(wheel, tmp_path_factory):
    """The programs of a fresh virtual environment with the wheel in it, and its dependencies by a path file."""
    folder = tmp_path_factory.mktemp("environment")
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder], check=True)
    python = folder / "bin" / "python"
    command = ["-m", "pip", "--python", python, "install", "--quiet", "--no-deps", "--no-index", wheel]
    subprocess.run([sys.executable, *command], check=True)
    (packages,) = (folder / "lib").glob("python*/site-packages")
    # A folder that is added this way brings its packages, and not its own path files with the checkout in them.
    (packages / "dependencies.pth").write_text(sysconfig.get_path("purelib") + "\n")
    return folder / "bin"


def run(program: Path, *arguments: str, folder: Path) -> str:
    environment = {
        "PATH": os.environ["PATH"],
        "HOME": str(folder),
        "HF_HUB_OFFLINE": "1",
        "JAX_PLATFORMS": "cpu",
        **compiler_environment(),
    }
    done = subprocess.run([program, *arguments], cwd=folder, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_the_wheel_holds_the_package_its_types_and_the_small_checkpoints_alone(wheel):
    names = zipfile.ZipFile(wheel).namelist()
    assert "tipshare/py.typed" in names
    assert {name.split("/")[2] for name in names if name.startswith("tipshare/bundled/")} == set(INSIDE)
    assert {name.split("/")[0].split("-")[0] for name in names} == {"tipshare"}
    assert wheel.stat().st_size < 8e6


def test_an_installed_package_loads_its_checkpoints_offline(installed, tmp_path):
    code = (
        "import tipshare; print(tipshare.__file__); print(*tipshare.list_bundled()); "
        "print(tipshare.load('time-indexed-ssm').config.kind); "
        "print(tipshare.generate(tipshare.load('time-indexed-mlp'), 'The history of', max_bytes=20, seed=1).text)"
    )
    place, bundled, kind, *_, text = run(installed / "python", "-c", code, folder=tmp_path).splitlines()
    assert Path(place).is_relative_to(installed.parent)
    assert (bundled.split(), kind) == (INSIDE, "time-indexed-ssm")
    model = tipshare.load("time-indexed-mlp")
    assert text == tipshare.generate(model, "The history of", max_bytes=20, seed=1).text.splitlines()[-1]


def test_the_console_script_writes_text_offline(installed, tmp_path):
    text = run(
        installed / "tipshare", "generate", "The history of", "--max-bytes", "20", "--seed", "1", folder=tmp_path
    )
    model = tipshare.load("time-indexed-ssm", dtype="float32")
    assert text == tipshare.generate(model, "The history of", max_bytes=20, seed=1).text + "\n"
    assert "time-indexed-ssm" in run(installed / "tipshare", "info", "time-indexed-ssm", folder=tmp_path)


def test_a_checkout_lists_all_its_checkpoints():
    assert tipshare.list_bundled() == sorted(tipshare.KINDS)
