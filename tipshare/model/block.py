"""The block that every kind repeats along depth."""

import math
from typing import ClassVar, NamedTuple

import equinox as eqx
import jax.random as jr
from haliax import NamedArray
from jaxtyping import PRNGKeyArray

from tipshare.config import Activation, ModelConfig
from tipshare.model.attention import Attention, AttentionCache
from tipshare.model.layers import GateSlot, LayerNorm, Linear, activate, dropout, split_key
from tipshare.model.positions import Place
from tipshare.model.ssm import Ssm, SsmState


class Mlp(eqx.Module):
    """Two dense layers with a nonlinearity between."""

    gated: ClassVar[dict[str, GateSlot]] = {
        "up": GateSlot("up", "input_scale"),
        "down": GateSlot("down", "input_scale"),
    }

    up: Linear  # embed -> mlp
    down: Linear  # mlp -> embed
    activation: Activation = eqx.field(static=True)

    @staticmethod
    def init(config: ModelConfig, *, key: PRNGKeyArray, output_scale: float = 1.0) -> "Mlp":
        k_up, k_down = jr.split(key)
        bias = config.use_bias
        return Mlp(
            up=Linear.init(config.Embed, config.Mlp, key=k_up, use_bias=bias),
            down=Linear.init(config.Mlp, config.Embed, key=k_down, use_bias=bias, scale=output_scale),
            activation=config.activation_function,
        )

    def run(self, x: NamedArray, state: object = None, place: Place | None = None) -> tuple[NamedArray, None]:
        """The arguments and results of `Ssm.run`, but each position is worked on by itself: there is no state."""
        del state, place
        return self.down(activate(self.up(x), self.activation)), None


class BlockCache(NamedTuple):
    """What one depth step remembers of the text so far."""

    attention: AttentionCache
    mixer: SsmState | None

    def open_ring(self, context: int) -> "BlockCache":
        """With room for the keys and values of `context` positions."""
        return self._replace(attention=self.attention.open_ring(context))


class Block(eqx.Module):
    """Attention and a mixer, each behind a norm, added to the residual stream.

    In a time-indexed block some slots hold `Gated` or `Generated` layers; `tipshare.model.depth.at(block, time)` turns
    it into a block of plain layers, and only such a block can be called.
    """

    attention_norm: LayerNorm
    attention: Attention
    mixer_norm: LayerNorm
    mixer: Mlp | Ssm
    parallel: bool = eqx.field(static=True)
    drop_rate: float = eqx.field(static=True)

    @staticmethod
    def init(config: ModelConfig, *, key: PRNGKeyArray) -> "Block":
        """A block of plain layers."""
        k_attention, k_mixer = jr.split(key)
        # The sum of 2 L branches should start no larger than one of them (GPT-2); an Euler step is small already.
        output_scale = 1.0 / math.sqrt(2 * config.num_layers) if config.step == "residual" else 1.0
        mixer_class = Ssm if config.mixer == "ssm" else Mlp
        return Block(
            attention_norm=LayerNorm.init(config.Embed),
            attention=Attention.init(config, key=k_attention, output_scale=output_scale),
            mixer_norm=LayerNorm.init(config.Embed),
            mixer=mixer_class.init(config, key=k_mixer, output_scale=output_scale),
            parallel=config.branches == "parallel",
            drop_rate=config.resid_pdrop,
        )

    def __call__(self, x: NamedArray, step_size: float = 1.0, *, key: PRNGKeyArray | None = None) -> NamedArray:
        """One depth step over texts that begin with `x`; `key` switches dropout on."""
        return self.run(x, step_size, key=key)[0]

    def run(
        self,
        x: NamedArray,
        step_size: float = 1.0,
        cache: BlockCache | None = None,
        place: Place | None = None,
        *,
        key: PRNGKeyArray | None = None,
    ) -> tuple[NamedArray, BlockCache]:
        """Read on after what `cache` holds (None: from the start of a text); also return the cache after `x`.

        Args:
            place: Where the positions of `x` stand; None for texts that begin with `x` and have no padding.
        """
        k_attention, k_first, _, k_second = split_key(key, 4)
        attention, mixer = (None, None) if cache is None else cache
        attended, attention = self.attention.run(self.attention_norm(x), attention, place, key=k_attention)
        after = x + step_size * dropout(attended, self.drop_rate, k_first)
        mixed, mixer = self.mixer.run(self.mixer_norm(x if self.parallel else after), mixer, place)
        return after + step_size * dropout(mixed, self.drop_rate, k_second), BlockCache(attention, mixer)

    def slope(
        self, x: NamedArray, cache: BlockCache | None = None, place: Place | None = None
    ) -> tuple[NamedArray, BlockCache]:
        """dx/dt: the sum of both branches, each of which reads `x`; otherwise as `run`.

        With parallel branches, an Euler step of this is `run`. With branches one after the other, `run` is a splitting
        of the same equation, and equal in the limit of many steps.
        """
        attention, mixer = (None, None) if cache is None else cache
        attended, attention = self.attention.run(self.attention_norm(x), attention, place)
        mixed, mixer = self.mixer.run(self.mixer_norm(x), mixer, place)
        return attended + mixed, BlockCache(attention, mixer)


def gate_values(block: Block) -> dict[str, NamedArray]:
    """The gate vectors of a block of plain layers, by name; empty if nothing in it is gated."""
    values = {
        name: getattr(getattr(part, place.slot), place.field)
        for part in (block.attention, block.mixer)
        for name, place in part.gated.items()
    }
    return {name: value for name, value in values.items() if value is not None}
