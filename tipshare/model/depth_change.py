"""Another depth for a trained model: another number of depth steps, or a block of its own for every layer."""

import dataclasses
from typing import Any

import equinox as eqx
import haliax as hax
import jax
import jax.numpy as jnp
import jax.random as jr
from haliax import Axis, NamedArray
from jax.core import Tracer

from tipshare.config import ModelConfig
from tipshare.model.attention import Attention
from tipshare.model.block import Mlp
from tipshare.model.language_model import LanguageModel
from tipshare.model.layers import Linear, scale_by
from tipshare.model.ssm import Rate, Skip, Ssm


def with_depth_steps(model: LanguageModel, steps: int | None) -> LanguageModel:
    """The model with `steps` as its own number of depth steps; unchanged if None.

    Calling it equals `model(tokens, steps=steps)`.
    """
    steps = model._check_steps(steps)
    if steps == model.config.steps:
        return model
    depth_steps = None if steps == model.config.num_layers else steps
    return dataclasses.replace(model, config=model.config.replace(depth_steps=depth_steps), steps=steps)


def to_layers(model: LanguageModel, steps: int | None = None) -> LanguageModel:
    """The same function with weights of its own in every layer: one block grows into `steps` layers.

    Unlike `freeze`, which keeps shared weights shared, the result is a model of the same kind with `weights="own"`,
    which can be trained and saved: gates and step sizes are folded into the weights.
    """
    steps = model._check_steps(steps)
    factor = model.step_size(steps)
    frozen = model.freeze(steps)
    config = own_config(model.config, steps)
    if config.step == "euler":
        factor *= steps  # the new model's own step is 1 / steps as well
    Depth = Axis("depth", steps)
    block = dataclasses.replace(
        frozen.block,
        attention=_plain_attention(frozen.block.attention, factor),
        mixer=_plain_mixer(frozen.block.mixer, factor),
    )
    block = jax.tree.map(lambda leaf: _along(leaf, Depth), block, is_leaf=lambda leaf: isinstance(leaf, NamedArray))
    made = dataclasses.replace(frozen, config=config, block=block)
    wanted = eqx.filter_eval_shape(config.build, key=jr.key(0))
    if jax.tree.structure(wanted) != jax.tree.structure(made):
        raise ValueError(f"a {config.kind} with weights={model.config.weights!r} cannot be written as plain layers")
    return made


def own_config(config: ModelConfig, steps: int) -> ModelConfig:
    """The config of what `to_layers` makes of a model."""
    return config.replace(weights="own", num_layers=steps, depth_steps=None, timed_final_norm=False)


def _along(leaf: NamedArray, Depth: Axis) -> NamedArray:
    """An array with a `depth` axis, as its first."""
    return (leaf if leaf.has_axis("depth") else leaf.broadcast_axis(Depth)).rearrange((Depth, ...))


def _plain_attention(attention: Attention, factor: float) -> Attention:
    return dataclasses.replace(attention, qkv=_plain(attention.qkv), output=_plain(attention.output, factor))


def _plain_mixer(mixer: Mlp | Ssm, factor: float) -> Any:
    if isinstance(mixer, Mlp):
        return dataclasses.replace(mixer, up=_plain(mixer.up), down=_plain(mixer.down, factor))
    # delta only occurs as delta A and delta B, so that its gate can act on A and B instead.
    step_gate = mixer.step_size.scale
    into_state = _plain(mixer.into_state)
    if step_gate is not None:
        into_state = dataclasses.replace(into_state, weight=scale_by(into_state.weight, step_gate))
    writes = mixer.leave is None
    return dataclasses.replace(
        mixer,
        enter=mixer.enter and _plain(mixer.enter),
        branch=mixer.branch and _plain(mixer.branch),
        step_size=dataclasses.replace(mixer.step_size, scale=None),
        rate=_plain_rate(mixer.rate, step_gate),
        into_state=into_state,
        from_state=_plain(mixer.from_state, factor if writes else 1.0),
        skip=Skip(mixer.skip.effective_weight * (factor if writes else 1.0)),
        leave=mixer.leave and _plain(mixer.leave, factor),
    )


def _plain(layer: Linear, factor: float = 1.0) -> Linear:
    """A dense layer whose gates are part of its weight, and whose output is multiplied by a factor."""
    bias = None if layer.bias is None else layer.bias * factor
    return Linear(layer.effective_weight * factor, bias, In=layer.In, Out=layer.Out)


def _plain_rate(rate: Rate, step_gate: NamedArray | None) -> Rate:
    gates = [gate for gate in (rate.scale, step_gate) if gate is not None]
    if not gates:
        return rate
    gate = gates[0] if len(gates) == 1 else gates[0] * gates[1]
    if not isinstance(gate.array, Tracer) and not bool(jnp.all(gate.array > 0)):
        raise ValueError("a gate of A or delta is not above 0, which no plain layer can have: use gate='sigmoid'")
    raw = rate.log_rate
    if rate.is_softplus:
        raised = scale_by(hax.nn.softplus(raw), gate)
        # The inverse of softplus, log(exp(y) - 1), in a form that does not overflow.
        return Rate(raised + hax.log(-hax.expm1(-raised)), is_softplus=True)
    return Rate(raw.broadcast_axis([axis for axis in gate.axes if axis not in raw.axes]) + hax.log(gate))
