"""Every function of `tipshare.analysis` says what it costs, and its example runs."""

import inspect
import textwrap

import haliax as hax
import jax.random as jr
import numpy as np
import pytest

from tests.factories import GRID
from tipshare import analysis

FUNCTIONS = [name for name in analysis.__all__ if inspect.isfunction(getattr(analysis, name))]


@pytest.fixture(scope="module")
def scene() -> dict[str, dict]:
    """What the examples speak of, by mixer: a model, and a text as tokens."""
    names = {"mlp": "time-indexed-mlp", "ssm": "time-indexed-ssm"}
    models = {mixer: GRID[name].build(key=jr.key(0)) for mixer, name in names.items()}
    own = {name: getattr(analysis, name) for name in analysis.__all__} | {"np": np}
    return {
        mixer: own | {"model": model, "tokens": hax.named(model.tokenizer.encode("abc"), "position")}
        for mixer, model in models.items()
    }


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_function_says_its_cost_and_its_example_runs(scene, name, capsys):
    told = inspect.getdoc(getattr(analysis, name)) or ""
    assert "Cost: " in told
    before, _, example = told.partition("Example:\n")
    assert before, "no example"
    exec(textwrap.dedent(example), dict(scene["ssm" if name == "ssm_poles" else "mlp"]))
