"""What fine-tuning changes in a checkpoint, as one set of choices, and the start of a run that they make."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import jax.random as jr

import tipshare
from tipshare.adapters.apply import ALL_TARGETS, settings_of
from tipshare.adapters.description import digest_of, prepare
from tipshare.checkpoint import Checkpoint, open_checkpoint
from tipshare.model.low_rank import AlongDepth
from training.data.corpus import Corpus
from training.engine.start import Start
from training.finetune.methods import Method, trained_by

USUAL_RANK = 8
# Keeps the draw of new adapters apart from other random numbers of the same seed.
STREAM = 0xADA


@dataclass(frozen=True, kw_only=True)
class Choices:
    """What is trained, and at which depth.

    Attributes:
        method: Which parameters are trained.
        depth_steps: Number of depth steps; that of the checkpoint if None.
        to_layers: Give every depth step weights of its own first: one block grows into that many layers.
        rank: Of adapters; 8 if None.
        alpha: What adapters add is multiplied by alpha / rank; twice the rank if None.
        targets: Dense layers that get adapters; attention and mixer if empty.
        along_depth: Whether adapters are shared by all depths, differ between depth steps, or are scaled by t.
    """

    method: Method = "lora"
    depth_steps: int | None = None
    to_layers: bool = False
    rank: int | None = None
    alpha: float | None = None
    targets: tuple[str, ...] = ()
    along_depth: AlongDepth | None = None

    def __post_init__(self) -> None:
        of_adapters = [
            name for name in ("rank", "alpha", "targets", "along_depth") if getattr(self, name) not in (None, ())
        ]
        if of_adapters and self.method != "lora":
            raise ValueError(
                f"{of_adapters[0]} is of adapters, which method {self.method!r} does not train: choose lora"
            )

    def begin(self, source: str | Path, seed: int, first_text: Corpus | None = None) -> Start:
        """The checkpoint at `source`, prepared for a run.

        Args:
            seed: Decides where new adapters start.
        """
        checkpoint = open_checkpoint(source)
        if checkpoint.adapter is not None:
            raise ValueError(
                f"{source} is an adapter: merge it with tipshare.adapters.merge, save it, and start from that"
            )
        base = checkpoint.load("float32")
        if self.to_layers and not base.config.is_continuous:
            raise ValueError(
                f"{source} has weights of its own in each of its {base.steps} layers already: "
                "leave out --freeze-to-layers"
            )
        model = prepare(base, self.depth_steps, layers=self.to_layers)
        if self.method == "lora":
            model = tipshare.adapters.apply(
                model,
                key=jr.fold_in(jr.key(seed), STREAM),
                rank=USUAL_RANK if self.rank is None else self.rank,
                alpha=self.alpha,
                targets=self.targets or ALL_TARGETS,
                along_depth=self.along_depth or "shared",
            )
        of_base = {"base": name_of(checkpoint, source), "base_corpus": corpus_of(checkpoint)}
        facts = {**self._facts(model), **of_base, "base_digest": digest_of(base)}
        return Start(
            source=source,
            base=base,
            model=model,
            trained=trained_by(self.method, model),
            facts={**facts, "base_depth_steps": base.steps},
            first_text=first_text,
        )

    def label(self, kind: str, steps: int) -> str:
        """The name of the run's model in tables."""
        words = [kind, f"lora {self.rank or USUAL_RANK}" if self.method == "lora" else self.method]
        if self.along_depth not in (None, "shared"):
            words.append(self.along_depth)
        words += [", ".join(self.targets)] if self.targets else []
        words += [f"alpha {self.alpha:g}"] if self.alpha is not None else []
        words.append(f"{steps} layers" if self.to_layers or self._is_layered(kind) else f"{steps} depth steps")
        return ", ".join(words)

    @staticmethod
    def _is_layered(kind: str) -> bool:
        return not tipshare.KINDS[kind]().is_continuous

    def _facts(self, model: tipshare.LanguageModel) -> dict[str, Any]:
        facts: dict[str, Any] = {"method": self.method, "to_layers": self.to_layers}
        if model.adapters is None:
            return facts
        settings = settings_of(model)
        return {**facts, **settings, "targets": list(settings["targets"])}


def corpus_of(checkpoint: Checkpoint) -> str:
    """The name of the text that a checkpoint was trained on, as far as its record tells."""
    settings = checkpoint.record.settings if checkpoint.record else {}
    return str(settings.get("corpus", "unknown"))


def name_of(checkpoint: Checkpoint, source: str | Path) -> str:
    """A checkpoint as records and reports call it: the run it came from in place of a path of this machine."""
    if checkpoint.origin != "path":
        return str(source)
    record = checkpoint.record
    return f"{record.recipe}, {record.model}, seed {record.seed}" if record else checkpoint.folder.resolve().name
