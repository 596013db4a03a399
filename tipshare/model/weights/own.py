"""Weights of their own in every layer: the plain transformer."""

import haliax as hax
import jax.random as jr
from haliax import Axis
from jaxtyping import PRNGKeyArray

from tipshare.config import ModelConfig
from tipshare.model.block import Block
from tipshare.model.weights.source import WeightSource


class OwnWeights(WeightSource):
    """A block per layer, stacked along `depth`."""

    is_continuous = False
    reads_time = False

    def init(self, config: ModelConfig, Time: Axis, *, key: PRNGKeyArray) -> Block:
        del Time
        keys = jr.split(key, config.num_layers)
        return hax.vmap(lambda key: Block.init(config, key=key), config.Depth)(keys)
