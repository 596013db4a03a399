"""Settings of all tests."""

import signal
from collections.abc import Iterator

import jax
import pytest

# Tests compile hundreds of small programs and run each a few times: compile quickly rather than well.
jax.config.update("jax_disable_most_optimizations", True)


@pytest.fixture(autouse=True)
def usual_signals() -> Iterator[None]:
    """Commands take SIGTERM and SIGINT until their process ends; here the process goes on."""
    before = {each: signal.getsignal(each) for each in (signal.SIGTERM, signal.SIGINT)}
    yield
    for each, handler in before.items():
        signal.signal(each, handler)
