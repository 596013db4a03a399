"""Settings of all tests."""

import signal
from collections.abc import Iterator

import jax
import pytest
from hypothesis import HealthCheck, settings

# Tests compile hundreds of small programs and run each a few times: compile quickly rather than well.
jax.config.update("jax_disable_most_optimizations", True)

# How long an example takes says how busy the machine is.
settings.register_profile("steady", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("steady")


@pytest.fixture(autouse=True)
def usual_signals() -> Iterator[None]:
    """Commands take SIGTERM and SIGINT until their process ends; here the process goes on."""
    before = {each: signal.getsignal(each) for each in (signal.SIGTERM, signal.SIGINT)}
    yield
    for each, handler in before.items():
        signal.signal(each, handler)
