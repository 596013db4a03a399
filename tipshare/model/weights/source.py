"""What a weight source is."""

import abc
from typing import ClassVar

from haliax import Axis, NamedArray
from jaxtyping import PRNGKeyArray

from tipshare.config import ModelConfig
from tipshare.model.block import Block
from tipshare.model.depth import at


class WeightSource(abc.ABC):
    """Where the weights at depth t come from.

    A source builds a block whose slots hold plain layers, or layers that are `TimeIndexed` and become plain at a depth.

    Attributes:
        is_continuous: Whether the weights are defined at every t, so that the number of depth steps is free.
        reads_time: Whether anything in the block reads features of t.
    """

    is_continuous: ClassVar[bool]
    reads_time: ClassVar[bool]

    @abc.abstractmethod
    def init(self, config: ModelConfig, Time: Axis, *, key: PRNGKeyArray) -> Block:
        """A block for a model; `Time` is the axis of the time embedding, which gates and generators read."""

    def along_depth(self, block: Block, time: NamedArray | None) -> Block:
        """The block of plain layers at `time`; weights that depend on t have its `depth` axis."""
        return at(block, time)
