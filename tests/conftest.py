"""Settings of all tests."""

import gc
import signal
from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, settings

from tests.compiling import compile_quickly

compile_quickly()

# How long an example takes says how busy the machine is.
settings.register_profile("steady", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("steady")


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Tests of a served page are slow: its process takes longer to start than most tests to run."""
    for item in items:
        if "server" in getattr(item, "fixturenames", ()):
            item.add_marker(pytest.mark.slow)


def pytest_collection_finish() -> None:
    """Let Python look for garbage among what tests make, and seldom: tracing makes many small objects that stay.

    What was imported stays anyway; going through all of it again and again is a part of every test's time.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(50_000, 20, 100)


@pytest.fixture(autouse=True)
def usual_signals() -> Iterator[None]:
    """Commands take SIGTERM and SIGINT until their process ends; here the process goes on."""
    before = {each: signal.getsignal(each) for each in (signal.SIGTERM, signal.SIGINT)}
    yield
    for each, handler in before.items():
        signal.signal(each, handler)
