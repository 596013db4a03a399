"""What running a model costs, estimated from its config alone: no weights are read and nothing is compiled.

For whoever runs models of strangers: a config of a few hundred bytes can ask for more memory and time than a machine
has. The numbers are upper estimates within a small factor, not measurements.
"""

import functools
from dataclasses import dataclass

import equinox as eqx
import haliax as hax
import jax.random as jr

from tipshare.analysis.scoring import scoring_shape
from tipshare.config import ModelConfig
from tipshare.model.parameters import count_parameters
from tipshare.model.weights import SOURCES
from tipshare.validation import check_whole

FLOAT_BYTES = 4
# Copies of the residual stream that are alive at once within a block, and of the wider arrays of its mixer.
STREAM_COPIES, MIXER_COPIES = 10, 3
# The attention scores, and a share of them for the mask and the softmax.
SCORE_COPIES = 1.3
# Generation pads a prompt to at most this many times its length, and to no less than this many positions.
READ_PADDING, SHORTEST_READ = 4, 32


@dataclass(frozen=True)
class Cost:
    """What one call takes: bytes of memory beside the stored weights, and floating-point operations."""

    memory: int
    operations: int


@dataclass(frozen=True)
class Demand:
    """What running a model costs.

    Attributes:
        depth_steps: Blocks that one pass runs through; generation compiles each of them.
        parameters: Numbers that the checkpoint stores.
        effective: Numbers that one pass reads: the weights of all depth steps, without gates and hypernetworks.
        entries_per_step: Numbers that a token is multiplied with in one depth step.
    """

    config: ModelConfig
    depth_steps: int
    parameters: int
    effective: int
    entries_per_step: int

    @property
    def positions(self) -> int:
        """The context: the most positions that one window may have."""
        return self.config.max_position_embeddings

    @property
    def weights(self) -> int:
        """Bytes of the stored weights in float32."""
        return FLOAT_BYTES * self.parameters

    @property
    def operations_per_byte(self) -> int:
        """Of the matrix products with weights, once those of all depths are computed."""
        return 2 * (self.depth_steps * self.entries_per_step + self.config.hidden_dim * self.config.vocab_size)

    def scoring(self, num_bytes: int, *, stride: int | None = None) -> Cost:
        """The cost of `score` for a text of this many bytes."""
        shape = scoring_shape(check_whole("num_bytes", num_bytes), self.positions, stride)
        logits = 3 * FLOAT_BYTES * shape.rows * shape.width * self.config.vocab_size
        return Cost(
            self._pass_memory(shape.rows, shape.width) + logits,
            shape.calls * self._operations(shape.rows, shape.width),
        )

    def writing(self, prompt_bytes: int, num_bytes: int, *, texts: int = 1) -> Cost:
        """The cost of `generate`: reading a prompt and writing this many bytes, for several texts side by side."""
        prompt_bytes, num_bytes = check_whole("prompt_bytes", prompt_bytes, 0), check_whole("num_bytes", num_bytes, 0)
        width = min(self.positions, max(SHORTEST_READ, READ_PADDING * prompt_bytes))
        # Keys and values of the whole context at every depth step, however short the prompt; twice while they are made.
        cached = 2 * 2 * FLOAT_BYTES * texts * self.depth_steps * self.positions * self.config.hidden_dim
        # Weights are computed from t once, when the prompt is read.
        attention = 4 * texts * self.depth_steps * self.positions * self.config.hidden_dim
        each_byte = texts * self.operations_per_byte + attention
        return Cost(self._pass_memory(texts, width) + cached, self._operations(texts, width) + num_bytes * each_byte)

    def _pass_memory(self, rows: int, width: int) -> int:
        config = self.config
        scores = SCORE_COPIES * rows * config.num_heads * width**2
        mixer = config.Mlp.size if config.mixer == "mlp" else config.hidden_dim + 2 * config.state_dim
        streams = rows * width * (STREAM_COPIES * config.hidden_dim + MIXER_COPIES * mixer)
        # The weights computed from t, and the networks that compute them.
        made = 2 * self.effective if SOURCES[config.weights].reads_time else 0
        return round(FLOAT_BYTES * (scores + streams + made))

    def _operations(self, rows: int, width: int) -> int:
        """Of the matrix products of one pass: two per entry and token, four per unit and pair of positions."""
        config = self.config
        tokens = rows * width
        attention = 4 * self.depth_steps * tokens * width * config.hidden_dim
        # Hypernetworks and gates are evaluated once per depth step.
        return tokens * self.operations_per_byte + attention + 2 * self.depth_steps * self.parameters


def demand_of(config: ModelConfig, *, steps: int | None = None) -> Demand:
    """What running the model of a config costs at a number of depth steps, its own if None.

    Cost: the shapes of the model are traced once per config; nothing is computed.

    Example:
        print(demand_of(model.config).scoring(1_000).memory)
    """
    steps = config.check_steps(steps)
    stored, effective, own, shared = _sizes(config.replace(depth_steps=None))
    return Demand(config, steps, stored, effective + (steps - config.num_layers) * own, own + shared)


@functools.lru_cache(maxsize=64)
def _sizes(config: ModelConfig) -> tuple[int, int, int, int]:
    """Numbers that a model stores, that a pass of the trained depth reads, and in one block: those of its own depth
    step, and those that all depth steps share.
    """
    model = eqx.filter_eval_shape(config.build, key=jr.key(0))
    frozen = eqx.filter_eval_shape(lambda: config.build(key=jr.key(0)).freeze())
    arrays = hax.tree_util.tree_leaves(frozen.block)
    own = sum(each.size for each in arrays if each.has_axis("depth")) // config.steps
    shared = sum(each.size for each in arrays if not each.has_axis("depth"))
    return count_parameters(model).total, count_parameters(frozen).total, own, shared
