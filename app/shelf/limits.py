"""How much a model of a visitor may ask for, so that one visitor cannot use all memory or all time of the page."""

from tipshare.analysis import demand_of
from tipshare.checkpoint import Checkpoint
from tipshare.model.depth_change import own_config
from tipshare.model.parameters import count_parameters
from tipshare.text.tokenizer import BYTES

# Of one model, in float32; what is downloaded for it is bounded by the same number.
MOST_WEIGHTS = 1_600_000_000
# All fetched models together. Those that were used least recently are dropped, from memory and from the disk.
MOST_KEPT_BYTES = 4_000_000_000
MOST_POSITIONS = 4_096
# As many as the page's own dial has: each is compiled for itself.
MOST_DEPTH_STEPS = 24
# Of the largest request that the page takes: about half a minute on two cores.
MOST_MEMORY = 1_000_000_000
MOST_OPERATIONS = 1_000_000_000_000
# The largest requests: bytes that are written, and bytes that are scored.
LONGEST_WRITING, LONGEST_SCORED = 2_000, 4_000


def check_demand(name: str, checkpoint: Checkpoint) -> None:
    """Raise ValueError if running a model would take more than a visitor's model may; no weights are read for it."""
    config = checkpoint.config
    parameters = count_parameters(checkpoint.shapes).total
    if 4 * parameters > MOST_WEIGHTS:
        raise ValueError(_words(name, parameters, MOST_WEIGHTS // 4, "parameters"))
    if config.vocab_size != BYTES.size:
        raise ValueError(
            f"{name} has a vocabulary of {config.vocab_size:,}; this page shows models of {BYTES.size} bytes"
        )
    positions, steps = config.max_position_embeddings, max(config.num_layers, config.steps)
    if positions > MOST_POSITIONS:
        raise ValueError(_words(name, positions, MOST_POSITIONS, "positions of context"))
    if steps > MOST_DEPTH_STEPS:
        raise ValueError(_words(name, steps, MOST_DEPTH_STEPS, "depth steps"))
    steps = MOST_DEPTH_STEPS if config.is_continuous else steps
    adapters = checkpoint.shapes.adapters
    # Adapters that differ along depth leave no weight that depth steps could share.
    varies = adapters is not None and not all(each.is_shared for _, each in adapters.items())
    demand = demand_of(own_config(config, steps) if varies else config, steps=steps)
    writing, scoring = demand.writing(positions, LONGEST_WRITING), demand.scoring(LONGEST_SCORED)
    memory = 4 * demand.effective + max(writing.memory, scoring.memory)
    if memory > MOST_MEMORY:
        raise ValueError(_words(name, memory, MOST_MEMORY, "bytes of memory for one request"))
    operations = max(writing.operations, scoring.operations)
    if operations > MOST_OPERATIONS:
        raise ValueError(_words(name, operations, MOST_OPERATIONS, "operations for one request"))


def in_words() -> str:
    """The limits as the page tells them."""
    return (
        f"at most {MOST_WEIGHTS // 4_000_000} million parameters, {MOST_POSITIONS:,} bytes of context and "
        f"{MOST_DEPTH_STEPS} depth steps"
    )


def _words(name: str, asked: int, most: int, what: str) -> str:
    return (
        f"{name} asks for {asked:,} {what}; this page gives at most {most:,}. In Python, tipshare.load({name!r}) takes "
        "any number"
    )
