"""What a model is, as plain frozen fields: every kind is one point in a small grid of choices."""

import dataclasses
import json
import math
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self

from haliax import Axis

from tipshare.text.tokenizer import BYTES, Tokenizer
from tipshare.validation import check_fields, check_names, check_whole

if TYPE_CHECKING:
    from jaxtyping import PRNGKeyArray

    from tipshare.model.language_model import LanguageModel

Mixer = Literal["mlp", "ssm"]
Step = Literal["residual", "euler"]
Time = Literal["indexed", "constant"]
Branches = Literal["sequential", "parallel"]
Positions = Literal["rotary", "learned", "none"]
TimeFeatures = Literal["published", "smooth", "legendre"]
TimeNetwork = Literal["shared", "separate"]
Gate = Literal["sigmoid", "two-sigmoid", "linear"]
Activation = Literal["gelu", "gelu-exact", "relu", "relu-squared", "silu", "tanh"]


def weight_sources() -> tuple[str, ...]:
    """The values of `weights`: the names in the table of `tipshare.model.weights`."""
    from tipshare.model.weights import SOURCES

    return tuple(SOURCES)


def _weights(default: str) -> Any:
    return field(default=default, metadata={"choices": weight_sources})


# dt, and its logarithm.
NUM_STEP_FEATURES = 2

# No size in a sensible model comes near this; a damaged or hostile config.json might.
LARGEST_SIZE = 2**20


@dataclass(frozen=True, kw_only=True)
class ModelConfig:
    """Sizes and choices shared by all kinds; the subclasses only set other defaults.

    `model = embed -> for t in 1/L, 2/L, ..., 1: x = x + step * block_at(t)(x) -> norm -> unembed`

    Attributes:
        num_layers: Depth steps L the model is trained with.
        hidden_dim: Width of the residual stream.
        num_heads: Attention heads; must divide `hidden_dim`.
        vocab_size: Token ids run from 0 to `vocab_size - 1`; 256 for bytes.
        max_position_embeddings: Context: the most positions one window can have.
        weights: Where the weights at depth t come from. `own`: a block per layer; `generated`: a hypernetwork of the
            time features; `gated`: one shared block times `sigmoid(g(t))`; `tied`: one shared block;
            `own-generated`: a hypernetwork per layer, each read at its own fixed t (the published "standard");
            `generated-gated`: as `gated`, but a mixer whose weights are generated before gates act on them (the
            published Time-Indexed SSM).
        mixer: What follows attention in a block.
        step: `residual` adds a block's output as it is, `euler` adds it divided by the number of depth steps.
        time: `indexed` shows the block its depth t; `constant` holds t at 0, the control.
        branches: `sequential` lets the mixer read what attention wrote; `parallel` lets both read the same input.
        positions: How the model tells positions apart.
        query_key_norm: Scale every query and key to the same size, so that scores stay bounded at any depth.
        mlp_ratio: Width of the MLP in units of `hidden_dim`.
        state_dim: States of the SSM mixer.
        selective: Let the step size of the SSM mixer depend on the input; otherwise its recurrence is the same at
            every position, a long convolution.
        ssm_projections: Surround the recurrence of the SSM mixer by projections, a short convolution and a
            multiplicative branch; otherwise it reads and writes the residual stream directly (as published).
        convolution_width: Taps of the short causal convolution in the SSM mixer.
        attention_convolution_width: Taps of a short causal convolution on the input of attention; 0 for none.
        activation_function: Nonlinearity of the MLP.
        use_bias: Biases in the dense layers of a block.
        attention_bias: The same for the attention layers alone; `None` follows `use_bias`.
        attn_pdrop: Dropout on attention probabilities.
        resid_pdrop: Dropout on what a block adds to the residual stream.
        embd_pdrop: Dropout on the embedded bytes.
        time_features: What is computed of t before any weight. `published`: t and sin, cos of 1000 t w, which alias
            between depth steps; `smooth`: t and sin, cos of pi k t with k from 1/4 to 4; `legendre`: Legendre
            polynomials of degree 1, 2, ...
        time_frequencies: Sine and cosine pairs in the time features, or the highest degree of the polynomials.
        step_features: Let gates and generators read the step size dt = 1/L beside t.
        time_dim: Units of the time networks, and the rank of what a hypernetwork can generate.
        time_network: `shared`: one small network of the time features feeds all gates and generators; `separate`:
            gates read the features directly and each generator has a network of its own (as published).
        gate: `sigmoid` lies in (0, 1), `two-sigmoid` in (0, 2), `linear` is 1 + g(t), unbounded.
        gate_start: Value of g(t) at the start of training.
        timed_final_norm: Generate the last norm from t = 1 too (as published) instead of storing a plain one.
        gradient_checkpointing: Recompute a block in the backward pass instead of keeping its activations.
        depth_steps: Depth steps of a pass, for a model that was fine-tuned at another number than the `num_layers` it
            was first trained with; `None` for `num_layers`. The length of the whole way stays that of `num_layers`.
    """

    kind: ClassVar[str] = ""

    num_layers: int = 6
    hidden_dim: int = 256
    num_heads: int = 4
    vocab_size: int = 256
    max_position_embeddings: int = 128
    weights: str = _weights("own")
    mixer: Mixer = "mlp"
    step: Step = "residual"
    time: Time = "indexed"
    branches: Branches = "sequential"
    positions: Positions = "rotary"
    query_key_norm: bool = True
    mlp_ratio: float = 4.0
    state_dim: int = 64
    selective: bool = True
    ssm_projections: bool = True
    convolution_width: int = 4
    attention_convolution_width: int = field(default=0, metadata={"least": 0})
    activation_function: Activation = "gelu"
    use_bias: bool = True
    attention_bias: bool | None = None
    attn_pdrop: float = field(default=0.0, metadata={"below": 1.0})
    resid_pdrop: float = field(default=0.0, metadata={"below": 1.0})
    embd_pdrop: float = field(default=0.0, metadata={"below": 1.0})
    time_features: TimeFeatures = "smooth"
    time_frequencies: int = 32
    step_features: bool = False
    time_dim: int = 64
    time_network: TimeNetwork = "shared"
    gate: Gate = "sigmoid"
    gate_start: float = field(default=2.0, metadata={"least": -math.inf})
    timed_final_norm: bool = False
    gradient_checkpointing: bool = False
    depth_steps: int | None = None

    def __post_init__(self) -> None:
        if not self.kind:
            raise ValueError(f"ModelConfig is abstract: use one of {', '.join(sorted(KINDS))} from tipshare.KINDS")
        check_fields(self, most=LARGEST_SIZE)
        if self.hidden_dim % self.num_heads:
            raise ValueError(
                f"hidden_dim={self.hidden_dim} is not a multiple of num_heads={self.num_heads}; "
                "choose a head count that divides it"
            )
        if self.positions == "rotary" and self.HeadSize.size % 2:
            raise ValueError(
                f"rotary positions rotate pairs, but hidden_dim={self.hidden_dim} over num_heads={self.num_heads} "
                f"gives {self.HeadSize.size} units per head; make that even, or choose positions='learned'"
            )
        if self.mlp_ratio * self.hidden_dim < 1:
            raise ValueError(
                f"mlp_ratio={self.mlp_ratio} of hidden_dim={self.hidden_dim} leaves no MLP unit; make it larger"
            )

        if self.depth_steps is not None and not self.is_continuous:
            raise ValueError(
                f"depth_steps={self.depth_steps}, but {self.kind} with weights={self.weights!r} has exactly "
                f"{self.num_layers} layers: choose weights that are defined at every depth, or leave depth_steps out"
            )

    # Axes by the names that every named array of the model uses.
    Position = property(lambda self: Axis("position", self.max_position_embeddings))
    Embed = property(lambda self: Axis("embed", self.hidden_dim))
    Heads = property(lambda self: Axis("heads", self.num_heads))
    HeadSize = property(lambda self: Axis("head_size", self.hidden_dim // self.num_heads))
    Mlp = property(lambda self: Axis("mlp", round(self.mlp_ratio * self.hidden_dim)))
    Channel = property(lambda self: Axis("channel", self.hidden_dim))
    State = property(lambda self: Axis("state", self.state_dim))
    Vocab = property(lambda self: Axis("vocab", self.vocab_size))
    Depth = property(lambda self: Axis("depth", self.num_layers))
    TimeUnits = property(lambda self: Axis("time", self.time_dim))

    @property
    def Features(self) -> Axis:  # noqa: N802
        """The axis of the time features."""
        of_t = self.time_frequencies if self.time_features == "legendre" else 1 + 2 * self.time_frequencies
        return Axis("features", of_t + (NUM_STEP_FEATURES if self.step_features else 0))

    @property
    def tokenizer(self) -> Tokenizer:
        """What turns text into the ids of this model; the same for all models so far."""
        return BYTES

    @property
    def is_continuous(self) -> bool:
        """Whether the weights are defined at every t, so that the number of depth steps is free."""
        from tipshare.model.weights import SOURCES

        return SOURCES[self.weights].is_continuous

    @property
    def steps(self) -> int:
        """Depth steps of a pass."""
        return self.depth_steps or self.num_layers

    def check_steps(self, steps: int | None) -> int:
        """`steps`, or the model's own number if None; a ValueError if no pass can have that many."""
        if steps is None or steps == self.steps:
            return self.steps
        steps = check_whole("steps", steps)
        if not self.is_continuous:
            raise ValueError(
                f"{self.kind} with weights={self.weights!r} has exactly {self.steps} layers; "
                f"steps={steps} needs weights that are generated, gated or tied"
            )
        return steps

    @property
    def has_attention_bias(self) -> bool:
        return self.use_bias if self.attention_bias is None else self.attention_bias

    def build(self, *, key: "PRNGKeyArray") -> "LanguageModel":
        """A freshly initialised model of this config."""
        from tipshare.model.language_model import LanguageModel

        return LanguageModel.init(self, key=key)

    def replace(self, **changes: Any) -> Self:
        """A copy with some fields changed, validated again."""
        check_names(self, changes, "field")
        return dataclasses.replace(self, **changes)

    def to_dict(self) -> dict[str, Any]:
        """All fields and the kind, ready for JSON; `depth_steps` only if it is set, as few models have it."""
        fields = {"kind": self.kind, **dataclasses.asdict(self)}
        return {name: value for name, value in fields.items() if name != "depth_steps" or value is not None}

    def to_json(self) -> str:
        return json.dumps(self.to_dict(), indent=2, sort_keys=True, allow_nan=False)

    @staticmethod
    def from_dict(fields: dict[str, Any]) -> "ModelConfig":
        """The config that `to_dict` described; fields left out take the kind's defaults."""
        if not isinstance(fields, dict):
            raise ValueError(f"a model config is a JSON object of fields, not {type(fields).__name__}")
        fields = dict(fields)
        config_class = config_class_of(fields.pop("kind", None))
        if fields.keys() >= {"hidden_dim", "gate", "time_frequencies"}:
            # Complete, and so maybe written before there was a choice of features, or of norms in attention.
            fields.setdefault("time_features", "published")
            fields.setdefault("query_key_norm", False)
        check_names(config_class, fields, "field")
        return config_class(**fields)

    @staticmethod
    def from_json(text: str | Path) -> "ModelConfig":
        """The config in a JSON text, or in the file at a path."""
        if isinstance(text, Path):
            text = text.read_text(encoding="utf-8")
        try:
            return ModelConfig.from_dict(json.loads(text))
        except json.JSONDecodeError as error:
            raise ValueError(f"a model config must be JSON: {error}") from error


@dataclass(frozen=True, kw_only=True)
class StandardConfig(ModelConfig):
    """A plain pre-norm transformer with weights of its own in every layer: the honest baseline."""

    kind: ClassVar[str] = "standard"


@dataclass(frozen=True, kw_only=True)
class NeuralOdeConfig(ModelConfig):
    """The neural-ODE transformer of Tong et al. (ICLR 2025): every weight is generated from t, Euler step 1/L."""

    kind: ClassVar[str] = "neural-ode"

    weights: str = _weights("generated")
    step: Step = "euler"
    branches: Branches = "parallel"
    time_network: TimeNetwork = "separate"
    # A quarter of the published 64, and of the size it gives, at no cost in loss: the generated source scales what few
    # time units give. Runs of the equal protocol with 16 and with 64 are in checkpoints/runs.jsonl, one seed each.
    time_dim: int = 16


@dataclass(frozen=True, kw_only=True)
class TimeIndexedMlpConfig(ModelConfig):
    """One shared block of attention and a narrow MLP, its weights gated by t."""

    kind: ClassVar[str] = "time-indexed-mlp"

    weights: str = _weights("gated")
    mlp_ratio: float = 1.0
    use_bias: bool = False
    # In the middle of what a sigmoid can be, a gate can open as far as it can close. From 2, where most are open, runs
    # of this kind end higher, and those of the state space do not: docs/results/trials.md has both, one seed each.
    gate_start: float = field(default=0.0, metadata={"least": -math.inf})


@dataclass(frozen=True, kw_only=True)
class TimeIndexedSsmConfig(ModelConfig):
    """One shared block of attention and a selective state-space layer, both gated by t."""

    kind: ClassVar[str] = "time-indexed-ssm"

    weights: str = _weights("gated")
    mixer: Mixer = "ssm"
    use_bias: bool = False


KINDS: dict[str, type[ModelConfig]] = {
    each.kind: each for each in (StandardConfig, NeuralOdeConfig, TimeIndexedMlpConfig, TimeIndexedSsmConfig)
}


def config_class_of(kind: object) -> type[ModelConfig]:
    """The config class of a kind, or an error that lists the kinds."""
    if not isinstance(kind, str) or kind not in KINDS:
        raise ValueError(f"unknown model kind {kind!r:.80}; the kinds are {', '.join(sorted(KINDS))}")
    return KINDS[kind]
