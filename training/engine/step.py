"""The compiled functions of a run: initial arrays and training step."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import equinox as eqx
import haliax as hax
import jax
import jax.numpy as jnp
import jax.random as jr
import numpy as np
from jax.stages import Compiled
from jaxtyping import Array

from tipshare.config import ModelConfig
from tipshare.model.language_model import LanguageModel
from training.engine.optimizer import make_optimizer, tail_mean
from training.engine.sharding import Placement
from training.engine.start import Start, join
from training.recipes.recipe import Recipe

# For a function that runs once: optimizing its many random draws takes longer than running them.
RUN_ONCE = {"xla_backend_optimization_level": 0, "xla_llvm_disable_expensive_passes": True}

# Depth steps per iteration of the compiled scan over depth: a run is compiled once and runs thousands of steps.
UNROLL = 6

Arrays = Any  # the arrays of a model, or of an optimizer, in the tree they came in


@dataclass(frozen=True)
class Program:
    """The functions of a run, for one recipe and config. Arrays are arguments and results, never constants.

    Attributes:
        static: The model without its arrays.
        begin: Where the run begins, if not at new weights.
    """

    recipe: Recipe
    config: ModelConfig
    placement: Placement
    static: LanguageModel
    begin: Start | None = None

    @staticmethod
    def of(recipe: Recipe, config: ModelConfig, placement: Placement, begin: Start | None = None) -> "Program":
        placement.check(recipe.batch_size, config.hidden_dim)
        if begin is not None:
            static = eqx.filter(begin.model, eqx.is_array, inverse=True)
            return Program(recipe, config, placement, static, begin)
        shapes = eqx.filter_eval_shape(config.build, key=jr.key(0))
        static = eqx.filter(shapes, lambda leaf: isinstance(leaf, jax.ShapeDtypeStruct), inverse=True)
        return Program(recipe, config, placement, static)

    def shapes(self) -> tuple[Arrays, Arrays]:
        """Shapes of the model and optimizer arrays."""
        if self.begin is not None:
            parameters = eqx.filter_eval_shape(self.begin.arrays)
            return parameters, jax.eval_shape(self._start_optimizer, parameters)
        return jax.eval_shape(self._start, np.uint32(0))

    def start(self, seed: int) -> tuple[Arrays, Arrays]:
        """Model and optimizer arrays before the first step."""
        shapes = self.shapes()
        if self.begin is not None:
            shardings = self.placement.out_shardings(shapes[1])
            parameters = self.placement.put(self.begin.arrays())
            return parameters, jax.jit(self._start_optimizer, compiler_options=RUN_ONCE, **shardings)(parameters)
        shardings = self.placement.out_shardings(*shapes)
        return jax.jit(self._start, compiler_options=RUN_ONCE, **shardings)(np.uint32(seed))

    def _start(self, seed: Array) -> tuple[Arrays, Arrays]:
        parameters = eqx.filter(self.config.build(key=_keys(seed)[0]), eqx.is_array)
        return parameters, self._start_optimizer(parameters)

    def _start_optimizer(self, parameters: Arrays) -> Arrays:
        trained, _ = self.split(parameters)
        return make_optimizer(self.recipe, trained).init(trained)

    def split(self, parameters: Arrays) -> tuple[Arrays, Arrays]:
        """The arrays that are trained, and the others, which `join` puts together again."""
        return (parameters, None) if self.begin is None else self.begin.split(parameters)

    def with_tail_mean(self, parameters: Arrays, optimizer_state: Arrays) -> Arrays:
        """The model's arrays with the mean of the last training steps in the place of what was trained."""
        return join(tail_mean(optimizer_state), self.split(parameters)[1])

    def model(self, parameters: Arrays) -> LanguageModel:
        return eqx.combine(parameters, self.static)

    def compile_step(
        self, parameters: Arrays, optimizer_state: Arrays, depth_steps: int | None = None
    ) -> tuple[Compiled, float]:
        """`(parameters, optimizer state, windows, step, seed) -> (parameters, optimizer state, loss)`, and how many
        seconds compiling took. The first two arguments are donated. `depth_steps` is the model's own number if None.
        """
        recipe = self.recipe
        shape = (recipe.accumulate, recipe.batch_size, recipe.length + 1)
        windows = self.put_windows(np.zeros(shape, self.config.tokenizer.dtype).reshape(-1, shape[2]))
        shardings = {}
        if self.placement.mesh is not None:
            loss_shape = jax.ShapeDtypeStruct((), jnp.float32)
            shardings = self.placement.out_shardings(parameters, optimizer_state, loss_shape)
        depth_steps = depth_steps or self.config.steps
        step = jax.jit(partial(self._step, depth_steps=depth_steps), donate_argnums=(0, 1), **shardings)
        started = time.perf_counter()
        compiled = step.lower(parameters, optimizer_state, windows, np.int32(0), np.uint32(0)).compile()
        return compiled, time.perf_counter() - started

    def put_windows(self, windows: np.ndarray) -> Any:
        """The windows of one step on the devices, as {pass, window, byte}."""
        recipe = self.recipe
        return self.placement.put_batch(windows.reshape(recipe.accumulate, recipe.batch_size, -1), axis=1)

    def _step(
        self,
        parameters: Arrays,
        optimizer_state: Arrays,
        windows: Array,
        number: Array,
        seed: Array,
        *,
        depth_steps: int,
    ) -> tuple[Arrays, Arrays, Array]:
        has_dropout = any(getattr(self.config, name) for name in ("attn_pdrop", "resid_pdrop", "embd_pdrop"))
        step_key = jr.fold_in(_keys(seed)[1], number) if has_dropout else None
        trained, fixed = self.split(parameters)

        def loss_of(trained: Arrays, windows: Array, key: Array | None) -> Array:
            return self.loss(join(trained, fixed), windows, key, depth_steps)

        value_and_grad = jax.value_and_grad(loss_of)
        if self.recipe.accumulate == 1:
            loss, gradients = value_and_grad(trained, windows[0], step_key)
        else:
            loss, gradients = self._accumulate(value_and_grad, trained, windows, step_key)
        optimizer = make_optimizer(self.recipe, trained)
        updates, optimizer_state = optimizer.update(gradients, optimizer_state, trained)
        return join(eqx.apply_updates(trained, updates), fixed), optimizer_state, loss

    def _accumulate(self, value_and_grad: Callable, trained: Arrays, windows: Array, step_key: Array | None):
        """Mean loss and gradients over the passes of one step."""

        def one_pass(total: Any, number: Array):
            key = None if step_key is None else jr.fold_in(step_key, number)
            found = value_and_grad(trained, windows[number], key)
            return jax.tree.map(jnp.add, total, found), None

        nothing = (jnp.float32(0.0), jax.tree.map(jnp.zeros_like, trained))
        total, _ = jax.lax.scan(one_pass, nothing, jnp.arange(self.recipe.accumulate))
        return jax.tree.map(lambda value: value / self.recipe.accumulate, total)

    def loss(self, parameters: Arrays, windows: Array, key: Array | None, depth_steps: int | None = None) -> Array:
        """Mean loss of {window, byte}, computed in the recipe's precision; gradients are float32.

        With consistency, the loss is that of the model's own number of depth steps and, times the recipe's weight, of
        the drawn number and of how far its path ends from the other, which gets no gradient of that distance.
        """
        model = self.model(parameters)
        if self.recipe.precision == "bfloat16":
            model = model.astype(jnp.bfloat16)
        ids = windows.astype(jnp.int32)
        tokens, targets = (hax.named(side, ("batch", "position")) for side in (ids[:, :-1], ids[:, 1:]))
        depth_steps = depth_steps or self.config.steps
        if not self.recipe.consistency or depth_steps == self.config.steps:
            return model.compute_loss(tokens, targets, key=key, steps=depth_steps, unroll=UNROLL)
        (own, _), (drawn, _) = (
            model.hidden(tokens, key=key, steps=steps, unroll=UNROLL) for steps in (self.config.steps, depth_steps)
        )
        apart = hax.mean(hax.square(drawn - jax.lax.stop_gradient(own))).scalar()
        extra = model.loss_of(drawn, targets) + apart.astype(jnp.float32)
        return model.loss_of(own, targets) + self.recipe.consistency * extra


def _keys(seed: Array) -> Array:
    """A key for the initial weights and a key for dropout."""
    return jr.split(jr.key(seed), 2)
