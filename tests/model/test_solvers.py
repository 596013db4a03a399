"""Solvers: order of convergence, equality with textbook loops, freezing, generation, and who refuses them."""

import dataclasses

import equinox as eqx
import haliax as hax
import jax
import numpy as np
import pytest
from haliax import Axis, NamedArray

import tipshare
import tipshare.analysis
from tests.factories import GRID, SMALL, TOKENS, build, cells, logits_of
from tests.model.test_causality import largest_changes
from tipshare.model.depth import SOLVERS, depths, places_read, run_depth
from tipshare.model.depth_change import with_depth_steps

HIGHER = [name for name in SOLVERS if name != "euler"]
# Parallel branches; branches one after the other; features of dt, which a solver must not change.
ODES = {
    name: GRID[name]
    for name in ("neural-ode", "hybrid: shared weights, Euler step", "Legendre features, dt in every generator")
} | {"tied": tipshare.TimeIndexedSsmConfig(weights="tied", step="euler", **SMALL)}
each_ode = pytest.mark.parametrize("config", cells(ODES))
each_solver = pytest.mark.parametrize("solver", HIGHER)
call = eqx.filter_jit(tipshare.LanguageModel.__call__)


class Decay(eqx.Module):
    """dx/dt = -4 t x^2, which goes from x(0) = 1 to x(1) = 1/3."""

    t: NamedArray  # depth

    def slope(self, x: NamedArray) -> tuple[NamedArray, None]:
        return -4.0 * self.t * x * x, None

    def __call__(self, x: NamedArray, step_size: float, *, key: None) -> NamedArray:
        assert key is None
        return x + step_size * self.slope(x)[0]


def error_of(solver: str, steps: int) -> float:
    with jax.enable_x64(True):
        block = Decay(hax.named(depths(steps, solver), "depth"))
        x, _ = run_depth(
            block, hax.ones(Axis("embed", 1), dtype=float), steps=steps, step_size=1 / steps, solver=solver
        )
        return abs(float(x.array[0]) - 1 / 3)


@pytest.mark.parametrize(("solver", "order"), [("euler", 1), ("midpoint", 2), ("heun", 2), ("rk4", 4)])
def test_halving_the_step_lowers_the_error_by_the_order(solver, order):
    errors = [error_of(solver, steps) for steps in (16, 32, 64)]
    assert np.log2(errors[0] / errors[1]) == pytest.approx(order, abs=0.25)
    assert np.log2(errors[1] / errors[2]) == pytest.approx(order, abs=0.15)


def test_euler_reads_the_grid_and_others_between_its_depths():
    np.testing.assert_allclose(depths(3), [1 / 3, 2 / 3, 1])
    np.testing.assert_allclose(depths(3, "midpoint"), [1 / 6, 3 / 6, 5 / 6])
    np.testing.assert_allclose(depths(2, "heun"), [0, 1 / 2, 1])
    np.testing.assert_allclose(depths(2, "rk4"), [0, 1 / 4, 1 / 2, 3 / 4, 1])
    assert places_read(2, "rk4").tolist() == [[0, 1, 1, 2], [2, 3, 3, 4]]
    assert [len(SOLVERS[name].reads) for name in SOLVERS] == [1, 2, 2, 4]


def textbook(model: tipshare.LanguageModel, solver: str) -> np.ndarray:
    """Logits by a loop over depth steps, written out for each solver."""
    x, h = model.embed(hax.named(TOKENS, ("batch", "position"))), 1.0 / model.steps
    apply = eqx.filter_jit(lambda block, x: dataclasses.replace(block, parallel=True)(x, 1.0))

    def f(t: float, x: NamedArray) -> NamedArray:
        return apply(model.at(max(t, 1e-9)), x) - x

    for i in range(model.steps):
        start, middle, end = (i * h, (i + 0.5) * h, (i + 1) * h)
        if solver == "midpoint":
            x = x + h * f(middle, x + h / 2 * f(middle, x))
        elif solver == "heun":
            first = f(start, x)
            x = x + h / 2 * (first + f(end, x + h * first))
        else:
            first = f(start, x)
            second = f(middle, x + h / 2 * first)
            third = f(middle, x + h / 2 * second)
            x = x + h / 6 * (first + 2 * second + 2 * third + f(end, x + h * third))
    return np.asarray(model.unembed(x).array)


@each_solver
@each_ode
def test_the_scan_of_a_solver_equals_its_textbook_loop(config, solver):
    model = with_depth_steps(build(config), 4)
    found = np.asarray(call(model, TOKENS, solver=solver).array)
    np.testing.assert_allclose(found, textbook(model, solver), atol=1e-4)
    assert not np.allclose(found, logits_of(model, TOKENS), atol=1e-3)


@each_solver
@each_ode
def test_frozen_for_a_solver_equals_live_and_sees_no_later_byte(config, solver):
    model = build(config)
    frozen = eqx.filter_jit(tipshare.LanguageModel.freeze)(model, 4, solver=solver)
    np.testing.assert_allclose(logits_of(frozen, TOKENS), call(model, TOKENS, steps=4, solver=solver).array, atol=1e-5)
    earlier, later = largest_changes(frozen)
    assert earlier <= 1e-5
    assert later > 1e-4
    assert frozen.block_evaluations() == 4 * {"midpoint": 2, "heun": 2, "rk4": 4}[solver]


def test_a_frozen_model_gives_the_weights_it_reads_and_no_others():
    frozen = build(GRID["neural-ode"]).freeze(2, solver="midpoint")
    live = build(GRID["neural-ode"]).at(0.75).attention.qkv.weight
    np.testing.assert_allclose(frozen.at(0.75).attention.qkv.weight.array, live.array, atol=1e-6)
    with pytest.raises(ValueError, match=r"t=0.5 lies between layers: .* weights at t = 0.25, 0.75 only"):
        frozen.at(0.5)
    with pytest.raises(ValueError, match="frozen for midpoint, not rk4"):
        frozen(TOKENS, solver="rk4")
    with pytest.raises(ValueError, match="frozen for midpoint, not euler"):
        tipshare.analysis.unit_values(frozen)


def test_a_solver_of_higher_order_is_closer_to_the_limit_at_the_same_cost():
    model = build(GRID["neural-ode"].replace(time_features="smooth"))
    limit = np.asarray(call(model, TOKENS, steps=256, solver="rk4").array)
    apart = {
        (solver, steps): np.abs(np.asarray(call(model, TOKENS, steps=steps, solver=solver).array) - limit).max()
        for solver, steps in (("euler", 64), ("midpoint", 32), ("heun", 32), ("rk4", 16))
    }
    assert len({model.block_evaluations(steps, solver=solver) for solver, steps in apart}) == 1
    assert apart["euler", 64] > 3 * apart["midpoint", 32]
    assert apart["euler", 64] > 3 * apart["heun", 32]
    assert apart["rk4", 16] < apart["midpoint", 32]


@pytest.mark.parametrize("kind", ["standard", "time-indexed-ssm"])
def test_models_that_are_no_equation_refuse_solvers(kind):
    with pytest.raises(ValueError, match=r"solver='rk4' needs step='euler' .* has step='residual'"):
        build(GRID[kind])(TOKENS, solver="rk4")
    assert build(GRID[kind]).block_evaluations(solver="euler") == 3


def test_unknown_solvers_and_dropout_are_refused():
    model = build(GRID["neural-ode"])
    with pytest.raises(ValueError, match="solver='rk45' is not one of euler, midpoint, heun, rk4"):
        model.score("a", solver="rk45")
    with pytest.raises(ValueError, match="solver='heun' is for evaluation"):
        model(TOKENS, solver="heun", key=jax.random.key(0))
