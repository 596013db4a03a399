"""The language model: embed, run the block along depth, norm, unembed."""

import dataclasses
from typing import TYPE_CHECKING, Any, Self, overload

import equinox as eqx
import haliax as hax
import jax
import jax.numpy as jnp
import jax.random as jr
import numpy as np
from haliax import NamedArray
from jaxtyping import Array, PRNGKeyArray

from tipshare.config import ModelConfig
from tipshare.model.block import Block, gate_values
from tipshare.model.depth import SOLVERS, TimeEmbedding, at, at_place, check_depth, depth_grid, depths, run_depth
from tipshare.model.layers import LayerNorm, Linear, dropout, split_key
from tipshare.model.low_rank import Adapters
from tipshare.model.tokens import Tokens, to_named
from tipshare.model.weights import SOURCES, WeightSource
from tipshare.model.weights.generated import Generated
from tipshare.text.tokenizer import Tokenizer

if TYPE_CHECKING:
    from tipshare.analysis.scoring import Score
    from tipshare.generation.pieces import Generation
    from tipshare.generation.sampling import Sampling

# How far rows start from zero. Large beside what a block adds at first: with 0.02 instead, the Time-Indexed MLP is
# 0.05 nats worse after 1,000 steps.
EMBEDDING_SPREAD = 0.5
# Relative to 1 / sqrt(hidden_dim): first predictions are close to uniform.
HEAD_SCALE = 0.32


class LanguageModel(eqx.Module):
    """A next-byte predictor of any kind; built by `config.build(key=...)`."""

    config: ModelConfig = eqx.field(static=True)
    embedding: NamedArray  # vocab x embed
    positions: NamedArray | None  # position x embed, when positions are learned
    time: TimeEmbedding | None  # None once frozen, or when no weight depends on t
    block: Block
    final_norm: LayerNorm
    head: Linear  # embed -> vocab
    steps: int = eqx.field(static=True)  # depth steps of one pass
    adapters: Adapters | None = None  # what is added to the weights of blocks
    solver: str = eqx.field(static=True, default="euler")  # of one pass; another one only once frozen

    @staticmethod
    def init(config: ModelConfig, *, key: PRNGKeyArray) -> "LanguageModel":
        k_embedding, k_positions, k_time, k_block, k_norm, k_head = jr.split(key, 6)
        source, time = SOURCES[config.weights], TimeEmbedding.init(config, key=k_time)
        final_norm: Any = LayerNorm.init(config.Embed)
        if config.timed_final_norm:
            final_norm = Generated.init(config, final_norm, key=k_norm)
        learned = config.positions == "learned"
        position_axes = (config.Position, config.Embed)
        return LanguageModel(
            config=config,
            embedding=hax.random.normal(k_embedding, (config.Vocab, config.Embed)) * EMBEDDING_SPREAD,
            positions=hax.random.normal(k_positions, position_axes) * EMBEDDING_SPREAD if learned else None,
            time=time if source.reads_time or config.timed_final_norm else None,
            block=source.init(config, time.Out, key=k_block),
            final_norm=final_norm,
            head=Linear.init(config.Embed, config.Vocab, key=k_head, use_bias=False, scale=HEAD_SCALE),
            steps=config.steps,
        )

    def __call__(
        self,
        tokens: Tokens,
        *,
        key: PRNGKeyArray | None = None,
        steps: int | None = None,
        solver: str | None = None,
    ) -> NamedArray:
        """Logits of the next token at every position.

        Args:
            tokens: Ids as {position} or {batch, position}: a named array (its other axes are batch axes) or a plain
                integer array of one or two dimensions.
            key: Switches dropout on.
            steps: Depth steps, for the kinds whose weights are defined at every t; the trained number if None.
            solver: `midpoint`, `heun` or `rk4` instead of `euler`, for models with step="euler". They evaluate a block
                two, two and four times per depth step: see `block_evaluations`.

        Returns:
            The axes of `tokens` and `vocab`.
        """
        x, _ = self.hidden(tokens, key=key, steps=steps, solver=solver)
        return self.unembed(x)

    def hidden(
        self,
        tokens: Tokens,
        *,
        key: PRNGKeyArray | None = None,
        steps: int | None = None,
        solver: str | None = None,
        keep_path: bool = False,
        unroll: int = 1,
    ) -> tuple[NamedArray, NamedArray | None]:
        """The residual stream after the last depth step, and with `keep_path` after every one, along `depth`.

        `unroll` is that of `tipshare.model.depth.run_depth`.
        """
        k_embedding, k_blocks = split_key(key, 2)
        steps, solver = self._check_steps(steps), self._check_solver(solver)
        if key is not None and solver != "euler":
            raise ValueError(f"solver={solver!r} is for evaluation: dropout, which a key switches on, needs 'euler'")
        x = dropout(self.embed(to_named(tokens, self.config)), self.config.embd_pdrop, k_embedding)
        return run_depth(
            self.blocks(steps, solver),
            x,
            steps=steps,
            step_size=self.step_size(steps),
            solver=solver,
            key=k_blocks,
            keep_path=keep_path,
            recompute=self.config.gradient_checkpointing,
            unroll=unroll,
        )

    def embed(self, tokens: NamedArray) -> NamedArray:
        """Where the residual stream starts."""
        x = self.embedding.take("vocab", tokens)
        if self.positions is not None:
            x = x + self.positions.slice("position", start=0, length=tokens.axis_size("position"))
        return x

    def unembed(self, x: NamedArray) -> NamedArray:
        """Logits of the next token, in float32, from a residual stream at any depth."""
        return self.head(self._last_norm()(x)).astype(jnp.float32)

    def compute_loss(
        self,
        tokens: Tokens,
        targets: Tokens,
        *,
        key: PRNGKeyArray | None = None,
        steps: int | None = None,
        unroll: int = 1,
    ) -> Array:
        """Mean cross-entropy of `targets` in nats per token; `key` switches dropout on.

        `unroll` trades compile time for speed, see `tipshare.model.depth.run_depth`.
        """
        tokens, targets = to_named(tokens, self.config), to_named(targets, self.config, "targets")
        if set(tokens.axes) != set(targets.axes):
            raise ValueError(f"targets have axes {targets.axes}, but tokens have {tokens.axes}: they must be equal")
        x, _ = self.hidden(tokens, key=key, steps=steps, unroll=unroll)
        return self.loss_of(x, targets)

    def loss_of(self, x: NamedArray, targets: NamedArray) -> Array:
        """Mean cross-entropy of `targets` in nats per token, from a residual stream at any depth."""
        log_probs = hax.nn.log_softmax(self.unembed(x), self.config.Vocab)
        return -hax.mean(log_probs.take("vocab", targets)).scalar()

    def blocks(self, steps: int | None = None, solver: str = "euler") -> Block:
        """The blocks of all depths that a pass reads: weights that depend on t have a `depth` axis, shared ones none.

        These are the depth steps themselves, unless a solver reads between them.
        """
        steps, solver = self._check_steps(steps), self._check_solver(solver)
        t = depth_grid(steps, solver)
        return self._along(t, steps)

    def blocks_at(self, t: NamedArray) -> Block:
        """The blocks at any depths in (0, 1], along their axis `depth`, as a path of the trained number of steps has
        them; for the kinds whose weights are defined at every t.
        """
        if not self.config.is_continuous or self.is_frozen:
            raise ValueError(f"this {self.config.kind} has weights at its {self.steps} depth steps only: use blocks()")
        return self._along(t, self.steps)

    def at(self, t: float) -> Block:
        """The block at depth t in (0, 1], with plain layers; kinds with weights per layer have one only at i/L."""
        t = check_depth(t)
        if self.config.is_continuous and not self.is_frozen:
            return self._adapt(at(self.block, self._embed_time(t, self.steps)), hax.named(jnp.float32(t), ()))
        known = depths(self.steps, self.solver)
        layer = int(np.abs(known - t).argmin())
        if abs(known[layer] - t) > 1e-6:
            raise ValueError(
                f"t={t} lies between layers: this {self.config.kind} has weights at "
                f"t = {', '.join(f'{each:.4g}' for each in known)} only"
            )
        return at_place(self.blocks(solver=self.solver), layer)

    def gates(self, t: float) -> dict[str, NamedArray]:
        """Gate values at depth t by name (`attention_in`, `attention_out`, `up`, `down`, or `A` ... `delta`).

        Empty for the kinds without gates.
        """
        return gate_values(self.at(t))

    @property
    def source(self) -> WeightSource:
        """Where the weights at depth t come from."""
        return SOURCES[self.config.weights]

    @property
    def is_frozen(self) -> bool:
        """Whether `freeze` made this model."""
        if self.source.reads_time or self.config.timed_final_norm:
            return self.time is None
        # Plain sharing reads no t, but adapters that do leave their traces in the frozen weights.
        varies = self.config.is_continuous and any(
            array.has_axis("depth") for array in hax.tree_util.tree_leaves(self.block)
        )
        return varies or (self.steps, self.solver) != (self.config.steps, "euler")

    def freeze(self, steps: int | None = None, *, solver: str | None = None) -> Self:
        """The same function with the weights of every depth step computed: no generator and no gate network is left.

        Args:
            steps: Depth steps, for the kinds whose weights are defined at every t; the trained number if None.
            solver: As in a call; the frozen model holds the weights between its depth steps too, where it reads there.
        """
        steps, solver = self._check_steps(steps), self._check_solver(solver)
        block, final_norm = self.blocks(steps, solver), self._last_norm()
        return dataclasses.replace(
            self, time=None, block=block, final_norm=final_norm, steps=steps, adapters=None, solver=solver
        )

    def block_evaluations(self, steps: int | None = None, *, solver: str | None = None) -> int:
        """How many times a pass runs a block: what it costs, whatever the solver."""
        return self._check_steps(steps) * len(SOLVERS[self._check_solver(solver)].reads)

    def step_size(self, steps: int) -> float:
        """What a block's output is multiplied with: 1/steps for Euler; 1 for a residual step at the trained depth.

        With more or fewer residual steps than trained, each is shorter or longer, so that the whole way stays the
        same.
        """
        return (1.0 if self.config.step == "euler" else float(self.config.num_layers)) / steps

    @property
    def tokenizer(self) -> Tokenizer:
        """What turns text into token ids and back; ValueError if the model has too few ids for it."""
        return self.config.tokenizer.check_fits(self.config.vocab_size)

    def score(
        self,
        text: str | bytes,
        *,
        stride: int | None = None,
        steps: int | None = None,
        solver: str | None = None,
    ) -> "Score":
        """How well the model predicts each byte of `text`; see `tipshare.analysis.scoring.score`."""
        from tipshare.analysis.scoring import score

        return score(self, text, stride=stride, steps=steps, solver=solver)

    @overload
    def generate(
        self, prompt: str | bytes, sampling: "Sampling | None" = None, *, samples: None = None, **options: Any
    ) -> "Generation": ...

    @overload
    def generate(
        self, prompt: Any, sampling: "Sampling | None" = None, *, samples: int | None = None, **options: Any
    ) -> "list[Generation]": ...

    def generate(self, prompt: Any, sampling: "Sampling | None" = None, **options: Any) -> Any:
        """Continue a prompt, or several; see `tipshare.generate`."""
        from tipshare.generation.streaming import generate

        return generate(self, prompt, sampling, **options)

    def __repr__(self) -> str:
        config, count = self.config, sum(getattr(leaf, "size", 0) for leaf in jax.tree.leaves(self))
        return (
            f"LanguageModel({config.kind}, {config.weights} weights, width {config.hidden_dim}, "
            f"context {config.max_position_embeddings}, {config.vocab_size} token ids, {self.steps} depth steps, "
            f"{count:,} parameters{', frozen' if self.is_frozen else ''}{', with adapters' if self.adapters else ''})"
        )

    def astype(self, dtype: Any) -> Self:
        """The model with all weights cast, for example to bfloat16; norms, softmax and loss still use float32."""
        return jax.tree.map(lambda leaf: leaf.astype(dtype) if eqx.is_inexact_array(leaf) else leaf, self)

    def _adapt(self, block: Block, t: NamedArray) -> Block:
        return block if self.adapters is None else self.adapters.on(block, t)

    def _along(self, t: NamedArray, steps: int) -> Block:
        return self._adapt(self.source.along_depth(self.block, self._embed_time(t, steps)), t)

    def _embed_time(self, t: float | NamedArray, steps: int) -> NamedArray | None:
        if self.time is None:
            return None
        time = self.time(t if isinstance(t, NamedArray) else hax.named(jnp.float32(t), ()), steps)
        # The features are computed in float32; what they meet next has the type of the weights.
        return time.astype(self.embedding.dtype)

    def _last_norm(self) -> LayerNorm:
        return at(self.final_norm, self._embed_time(1.0, self.config.num_layers))

    def _check_steps(self, steps: int | None) -> int:
        if steps is None or steps == self.steps:
            return self.steps
        if self.is_frozen:
            raise ValueError(
                f"this model was frozen at {self.steps} depth steps, not {steps}: freeze the live one again"
            )
        return self.config.check_steps(steps)

    def _check_solver(self, solver: str | None) -> str:
        if solver is None or solver == self.solver:
            return self.solver
        if solver not in SOLVERS:
            raise ValueError(f"solver={solver!r} is not one of {', '.join(SOLVERS)}")
        if self.is_frozen:
            raise ValueError(f"this model was frozen for {self.solver}, not {solver}: freeze the live one again")
        config = self.config
        if config.step != "euler" or not config.is_continuous:
            raise ValueError(
                f"solver={solver!r} needs step='euler' and weights that are defined at every t (generated, gated or "
                f"tied); this {config.kind} has step={config.step!r} and weights={config.weights!r}"
            )
        return solver
