"""A selective state-space layer: a linear recurrence along positions whose speed depends on the input.

Symbols, in the words of Mamba (Gu & Dao, 2023) and S5 (Smith et al., 2022):

    u      channel  the input after a short causal convolution and SiLU
    z      channel  the multiplicative branch, SiLU of the input
    delta  state    step size, softplus(u W_delta + b): how far the state moves at this position
    A      state    decay rate, -exp(log_rate)
    B, C            channel -> state and state -> channel
    D      channel  what u adds directly
    h      state    h_p = exp(delta_p A) h_(p-1) + delta_p (u_p B);   y_p = (h_p C + D u_p) z_p

As in S5 all channels share one state, so the parallel scan runs over `state_dim` numbers per position. As in Mamba
delta depends on the input; z_p makes what is read from the state depend on it too. `step size`, A, B, C and D each
have a gate when the layer is time-indexed.

Two fields take this back. Without `selective`, delta does not see the input: the recurrence is time-invariant and
equals a convolution with the kernel C exp(j delta A) delta B. Without `ssm_projections`, u is the layer's input itself
and there is no z: y = C h + D u, with A = -softplus(...) and delta = softplus(...) + 1e-4. Both together are the state
space of the published Time-Indexed SSM.
"""

import math
from typing import ClassVar

import equinox as eqx
import haliax as hax
import jax.numpy as jnp
import jax.random as jr
from haliax import Axis, NamedArray
from jaxtyping import PRNGKeyArray

from tipshare.config import ModelConfig
from tipshare.model.layers import GateSlot, Layer, Linear, ShortConvolution, activate, contract, scale_by
from tipshare.model.positions import Place, keep_text
from tipshare.model.recurrence import run_recurrence

# Below this no step size falls in a layer without projections, as published.
SMALLEST_BARE_STEP = 1e-4
# Step sizes start spread log-uniformly over this range: slow states remember, fast ones follow the text.
SMALLEST_STEP, LARGEST_STEP = 0.001, 1.0


class Rate(Layer):
    """A: how fast each state decays, `-exp(log_rate) * scale`, or `-softplus(log_rate) * scale`."""

    constant_start: ClassVar[dict[str, float]] = {"log_rate": 0.0}

    log_rate: NamedArray  # state
    scale: NamedArray | None = None
    is_softplus: bool = eqx.field(static=True, default=False)

    def scale_axes(self, field: str) -> tuple[Axis, ...]:
        del field
        return self.log_rate.axes

    @property
    def effective_weight(self) -> NamedArray:
        """The rates themselves, gate included."""
        return self()

    def __call__(self) -> NamedArray:
        raw = self.log_rate.astype(jnp.float32)
        rate = -(hax.nn.softplus(raw) if self.is_softplus else hax.exp(raw))
        return rate if self.scale is None else rate * self.scale


class StepSize(Layer):
    """delta: `(softplus(u @ weight + bias) + least) * scale`, one positive number per position and state.

    Without a weight it is the same at every position.
    """

    weight: NamedArray | None  # channel x state
    bias: NamedArray  # state
    scale: NamedArray | None = None
    least: float = eqx.field(static=True, default=0.0)

    def scale_axes(self, field: str) -> tuple[Axis, ...]:
        del field
        return self.bias.axes

    @staticmethod
    def init(
        Channel: Axis, State: Axis, *, key: PRNGKeyArray, selective: bool = True, least: float = 0.0
    ) -> "StepSize":
        steps = jnp.geomspace(SMALLEST_STEP, LARGEST_STEP, State.size)
        # The bias that softplus turns into `steps`; a small weight lets the input choose only as training goes on.
        bias = hax.named(jnp.log(jnp.expm1(steps)), State)
        weight = hax.random.normal(key, (Channel, State)) * (0.1 / math.sqrt(Channel.size)) if selective else None
        return StepSize(weight, bias, least=least)

    @property
    def effective_weight(self) -> NamedArray:
        """The matrix in front of the softplus, each state's column times what the gate makes of its step.

        Without a matrix, the step sizes themselves.
        """
        if self.weight is None:
            return self._activated(self.bias)
        return self.weight if self.scale is None else scale_by(self.weight, self.scale)

    def __call__(self, u: NamedArray) -> NamedArray:
        if self.weight is None:
            return self._activated(self.bias)
        Channel, State = self.weight.resolve_axis("channel"), self.weight.resolve_axis("state")
        return self._activated(contract(u, self.weight, (Channel,), (State,)) + self.bias)

    def _activated(self, raw: NamedArray) -> NamedArray:
        delta = hax.nn.softplus(raw.astype(jnp.float32)) + self.least
        return delta if self.scale is None else delta * self.scale


class Skip(Layer):
    """D: how much of its own input each channel adds to the output, `u * weight * scale`."""

    constant_start: ClassVar[dict[str, float]] = {"weight": 1.0}

    weight: NamedArray  # channel
    scale: NamedArray | None = None

    def scale_axes(self, field: str) -> tuple[Axis, ...]:
        del field
        return self.weight.axes

    @property
    def effective_weight(self) -> NamedArray:
        """One factor per channel, gate included."""
        return self.weight if self.scale is None else self.weight * self.scale

    def __call__(self, u: NamedArray) -> NamedArray:
        u = u * self.weight
        return u if self.scale is None else u * self.scale


class SsmState(eqx.Module):
    """What the layer remembers of the text so far."""

    before: NamedArray | None  # the last few inputs of the short convolution
    h: NamedArray  # the recurrent state


class Ssm(eqx.Module):
    """The selective state-space layer of this module's head."""

    gated: ClassVar[dict[str, GateSlot]] = {
        "A": GateSlot("rate", "scale"),
        "B": GateSlot("into_state", "output_scale"),
        "C": GateSlot("from_state", "input_scale"),
        "D": GateSlot("skip", "scale"),
        "delta": GateSlot("step_size", "scale"),
    }

    enter: Linear | None  # embed -> channel, gives u; None, as the three others, without projections
    branch: Linear | None  # embed -> channel, gives z
    convolution: ShortConvolution | None
    step_size: StepSize  # delta
    rate: Rate  # A
    into_state: Linear  # B: channel -> state
    from_state: Linear  # C: state -> channel
    skip: Skip  # D
    leave: Linear | None  # channel -> embed

    @staticmethod
    def init(config: ModelConfig, *, key: PRNGKeyArray, output_scale: float = 1.0) -> "Ssm":
        keys = jr.split(key, 7)
        Embed, Channel, State, bias = config.Embed, config.Channel, config.State, config.use_bias
        bare = not config.ssm_projections
        least = SMALLEST_BARE_STEP if bare else 0.0
        # The layers that write to the residual stream: C and D themselves, where nothing comes after them.
        inner_scale = output_scale if bare else 1.0
        return Ssm(
            enter=None if bare else Linear.init(Embed, Channel, key=keys[0], use_bias=bias),
            branch=None if bare else Linear.init(Embed, Channel, key=keys[1], use_bias=bias),
            convolution=None if bare else ShortConvolution.init(Channel, config.convolution_width, key=keys[2]),
            step_size=StepSize.init(Channel, State, key=keys[3], selective=config.selective, least=least),
            rate=Rate(hax.zeros(State), is_softplus=bare),
            into_state=Linear.init(Channel, State, key=keys[4], use_bias=False),
            from_state=Linear.init(State, Channel, key=keys[5], use_bias=False, scale=inner_scale),
            skip=Skip(hax.full(Channel, inner_scale)),
            leave=None if bare else Linear.init(Channel, Embed, key=keys[6], use_bias=bias, scale=output_scale),
        )

    def run(
        self, x: NamedArray, state: SsmState | None = None, place: Place | None = None
    ) -> tuple[NamedArray, SsmState]:
        """Read on from `state` (None: from the start of a text); also return the state after the last position.

        Args:
            place: Where the positions of `x` stand; None when there is no padding among them.
        """
        u, before = self._input(x, state, place)
        delta = self.step_size(u)
        drive = keep_text(delta * self.into_state(u), place)
        decay = hax.exp(delta * self.rate()).broadcast_to(drive.axes)
        h = scan_states(decay, drive, None if state is None else state.h)
        y = self.from_state(h.astype(x.dtype)) + self.skip(u)
        if self.branch is not None:
            y = y * activate(self.branch(x), "silu")
        y = y.rename({"channel": "embed"}) if self.leave is None else self.leave(y)
        return y, SsmState(before, h["position", -1])

    def log_poles(self, x: NamedArray) -> NamedArray:
        """delta A at every position of texts that begin with `x`: in one position, state h is scaled by its exp."""
        u, _ = self._input(x, None, None)
        product = self.step_size(u) * self.rate()
        return product if product.has_axis("position") else product.broadcast_axis(x.resolve_axis("position"))

    def _input(
        self, x: NamedArray, state: SsmState | None, place: Place | None
    ) -> tuple[NamedArray, NamedArray | None]:
        """u, and the last inputs of the short convolution that the position after `x` will need."""
        if self.enter is None or self.convolution is None:
            return x.rename({"embed": "channel"}), None
        entered = keep_text(self.enter(x), place)
        mixed, before = self.convolution.run(entered, None if state is None else state.before)
        return activate(mixed, "silu"), before


def scan_states(decay: NamedArray, drive: NamedArray, initial: NamedArray | None = None) -> NamedArray:
    """h_p = decay_p h_(p-1) + drive_p for all positions at once."""
    drive = drive.rearrange(decay.axes)
    if initial is not None:
        is_first = hax.arange(decay.resolve_axis("position")) == 0
        drive = hax.where(is_first, drive + decay * initial, drive)
    along = [axis.name for axis in decay.axes].index("position")
    h = run_recurrence(*(jnp.moveaxis(each.array, along, 1) for each in (decay, drive)))
    return hax.named(jnp.moveaxis(h, 1, along), decay.axes)
