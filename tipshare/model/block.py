"""The block that every kind repeats along depth, and the five places its weights can come from."""

import math
from typing import ClassVar, NamedTuple

import equinox as eqx
import haliax as hax
import jax
import jax.random as jr
from haliax import Axis, NamedArray
from jaxtyping import PRNGKeyArray

from tipshare.config import Activation, ModelConfig
from tipshare.model.attention import Attention, AttentionCache
from tipshare.model.layers import LayerNorm, Linear, ShortConvolution, activate, dropout, split_key
from tipshare.model.positions import Place
from tipshare.model.ssm import Rate, Skip, Ssm, SsmState, StepSize
from tipshare.model.weights.gated import GateSlot, gate_layers
from tipshare.model.weights.generated import Generated

LAYERS = (Linear, LayerNorm, ShortConvolution, Rate, StepSize, Skip)


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

    def run(self, x: NamedArray, state: None = None, place: Place | None = None) -> tuple[NamedArray, None]:
        """Each position by itself: nothing to remember, nothing to know of the places."""
        del state, place
        return self.down(activate(self.up(x), self.activation)), None


class BlockCache(NamedTuple):
    """What one depth step remembers of the text so far."""

    attention: AttentionCache | None = None
    mixer: SsmState | None = None


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
        cache = BlockCache() if cache is None else cache
        attended, attention = self.attention.run(self.attention_norm(x), cache.attention, place, key=k_attention)
        after = x + step_size * dropout(attended, self.drop_rate, k_first)
        mixed, mixer = self.mixer.run(self.mixer_norm(x if self.parallel else after), cache.mixer, place)
        return after + step_size * dropout(mixed, self.drop_rate, k_second), BlockCache(attention, mixer)


def init_block(config: ModelConfig, Time: Axis, *, key: PRNGKeyArray) -> Block:
    """The block of a model, its slots filled as `config.weights` says.

    Args:
        Time: The axis of the time embedding, which gates and generators read.
    """
    match config.weights:
        case "tied":
            return Block.init(config, key=key)
        case "gated":
            return _init_gated(config, Time, key=key)
        case "generated":
            return _init_generated(config, key=key)
        case "own" | "own-generated":
            init_layer = Block.init if config.weights == "own" else _init_generated
            keys = jr.split(key, config.num_layers)
            return hax.vmap(lambda key: init_layer(config, key=key), config.Depth)(keys)


def _init_generated(config: ModelConfig, *, key: PRNGKeyArray) -> Block:
    k_block, k_generators = jr.split(key)
    block = Block.init(config, key=k_block)
    layers, structure = jax.tree.flatten(block, is_leaf=lambda node: isinstance(node, LAYERS))
    keys = jr.split(k_generators, len(layers))
    generated = [Generated.init(config, layer, key=each) for layer, each in zip(layers, keys, strict=True)]
    return jax.tree.unflatten(structure, generated)


def _init_gated(config: ModelConfig, Time: Axis, *, key: PRNGKeyArray) -> Block:
    k_block, k_attention, k_mixer, k_first, k_second = jr.split(key, 5)
    block = Block.init(config, key=k_block)
    return eqx.tree_at(
        lambda b: (b.attention_norm, b.attention, b.mixer_norm, b.mixer),
        block,
        (
            Generated.init(config, block.attention_norm, key=k_first),
            gate_layers(config, block.attention, Time, key=k_attention),
            Generated.init(config, block.mixer_norm, key=k_second),
            gate_layers(config, block.mixer, Time, key=k_mixer),
        ),
    )


def gate_values(block: Block) -> dict[str, NamedArray]:
    """The gate vectors of a block of plain layers, by name; empty if nothing in it is gated."""
    values = {
        name: getattr(getattr(part, place.slot), place.field)
        for part in (block.attention, block.mixer)
        for name, place in part.gated.items()
    }
    return {name: value for name, value in values.items() if value is not None}
