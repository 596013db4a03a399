"""One block at every depth, without gates: plain sharing, as in ALBERT (Lan et al., 2020)."""

from haliax import Axis
from jaxtyping import PRNGKeyArray

from tipshare.config import ModelConfig
from tipshare.model.block import Block
from tipshare.model.weights.source import WeightSource


class TiedWeights(WeightSource):
    """One block of plain layers."""

    is_continuous = True
    reads_time = False

    def init(self, config: ModelConfig, Time: Axis, *, key: PRNGKeyArray) -> Block:
        del Time
        return Block.init(config, key=key)
