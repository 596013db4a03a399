"""A hypernetwork per layer, each read at its own fixed t: what was published as the "standard" transformer."""

import haliax as hax
import jax.random as jr
from haliax import Axis, NamedArray
from jaxtyping import PRNGKeyArray

from tipshare.config import ModelConfig
from tipshare.model.block import Block
from tipshare.model.depth import at
from tipshare.model.weights.generated import generate_block
from tipshare.model.weights.source import WeightSource


class OwnGeneratedWeights(WeightSource):
    """Generated blocks stacked along `depth`; layer i is read at t = i/L only."""

    is_continuous = False
    reads_time = True

    def init(self, config: ModelConfig, Time: Axis, *, key: PRNGKeyArray) -> Block:
        del Time  # every generated layer has a network of its own, or reads what the model's shared one gives
        keys = jr.split(key, config.num_layers)
        return hax.vmap(lambda key: generate_block(config, key=key), config.Depth)(keys)

    def along_depth(self, block: Block, time: NamedArray | None) -> Block:
        return block if time is None else hax.vmap(at, time.resolve_axis("depth"))(block, time)
