"""A few models that together have every weight source, mixer, step and order of branches."""

import pytest

from tests.factories import GRID, cells

FEW = (
    *("standard", "neural-ode", "time-indexed-mlp", "time-indexed-ssm"),
    *("tied mlp", "generated-gated ssm", "own-generated mlp", "hybrid: shared weights, Euler step"),
    *("neural ODE without 1/L", "bare state space"),
)
each_source = pytest.mark.parametrize("config", cells({name: GRID[name] for name in FEW}))
# The fewest for what compiles long: own, generated and gated; Euler and residual; MLP and state space.
FEWEST = ("standard", "neural-ode", "tied mlp", "time-indexed-ssm")
each_of_few = pytest.mark.parametrize("config", cells({name: GRID[name] for name in FEWEST}))
TEXT = "what it does"[:9]
