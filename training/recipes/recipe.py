"""A recipe: everything that a run depends on, apart from the model and the seed."""

import dataclasses
import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, get_origin, get_type_hints

from tipshare.config import KINDS, ModelConfig
from tipshare.presets import preset
from tipshare.validation import check_fields, check_names

Optimizer = Literal["adam", "adamw", "muon"]
Schedule = Literal["constant", "cosine"]
Precision = Literal["float32", "bfloat16"]

NOT_MEASURED = "not measured"
# File names may have 255 bytes at most.
LONGEST_NAME = 120
# How a run is saved and what is measured besides its curve; neither changes the curve.
OBSERVATION = ("save_every", "sample_every", "full_evaluation", "depth_evaluation")
# Fields that are younger than the first records, and what runs did before: a run that still does so is the same run.
ADDED_SETTINGS = {
    "adam_learning_rate": 0.0,
    "depth_steps": [],
    "depth_weights": [],
    "depth_growth": 0.0,
    "consistency": 0.0,
    "average_tail": 0.0,
}
# How a recipe is described, and what the command line has arguments of its own for.
DESCRIPTION = ("name", "summary", "cost", "expected", "variants", "seeds", "model", "by_model")


@dataclass(frozen=True)
class Variant:
    """One model of an ablation: a kind and the fields changed in it."""

    kind: str
    changes: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Recipe:
    """Everything that a run depends on, apart from the model kind and the seed.

    Attributes:
        summary: What the recipe is for.
        cost: How long a run takes and on what machine, if there are no records of it.
        expected: The loss to expect, if there are no records of it.
        corpus: Name of a corpus, or a label for the text in `--data-dir`.
        num_steps: Training steps (optimizer updates).
        batch_size: Windows per pass.
        length: Bytes per window; also the context of the model.
        accumulate: Passes whose gradients are averaged into one training step.
        betas: Decay rates of Adam's two averages.
        optimizer: `muon` moves the dense weights of the blocks, and AdamW the rest.
        learning_rate: Peak learning rate.
        adam_learning_rate: Peak learning rate of what AdamW moves beside Muon; 0 for the same as Muon's.
        warmup_steps: Steps of linear rise to the peak.
        final_learning_rate_share: Learning rate at the end of the cosine, as a share of the peak.
        weight_decay: AdamW's decay; on matrices only.
        clip_norm: Largest norm of a gradient; 0 for no limit.
        average_tail: Share of the training steps, the last ones, over which the weights are averaged in the end; 0 for
            the weights of the last step.
        precision: Of the forward and backward pass; weights and optimizer state are always float32.
        evaluate_every: Training steps between evaluations; the last step is always evaluated.
        evaluation_windows: Number of fixed windows of `valid` that an evaluation computes the loss of.
        full_evaluation: Splits that are scored whole after the last step.
        depth_steps: Numbers of depth steps, one of which is drawn for every training step; empty for the model's own.
            For models whose weights are defined at every t.
        depth_weights: How often each of `depth_steps` is drawn, relative to the others; empty for equally often.
        depth_growth: Share of the training steps over which the set of depth steps grows from its smallest to all of
            them; 0 draws from all from the start.
        consistency: Weight of a second, shorter or longer path. Above 0, every training step runs the model's own
            number of depth steps, and adds this weight times the loss of the drawn number and the squared distance
            between the ends of the two paths (LoopFormer uses 0.1).
        depth_evaluation: Numbers of depth steps at which the fixed windows are evaluated again after the last step,
            besides `depth_steps`, for the models whose weights are defined at every t.
        save_every: Training steps between saved states.
        sample_every: Training steps between samples of generated text; 0 for none.
        model: Fields of the model config, for every kind.
        variants: The models of an ablation by label; empty for the four kinds.
        by_model: Fields of the recipe that are different for one of its models, by label; see `for_model`.
        seeds: Default seeds of `sweep`; `train` takes the first.
    """

    name: str
    summary: str
    cost: str = NOT_MEASURED
    expected: str = NOT_MEASURED
    corpus: str = "wikitext-2"
    num_steps: int = 1_000
    batch_size: int = 8
    length: int = 128
    accumulate: int = 1
    optimizer: Optimizer = "adam"
    betas: tuple[float, float] = (0.9, 0.999)
    learning_rate: float = 3e-4
    adam_learning_rate: float = 0.0
    schedule: Schedule = "constant"
    warmup_steps: int = field(default=0, metadata={"least": 0})
    final_learning_rate_share: float = field(default=0.1, metadata={"most": 1.0})
    weight_decay: float = 0.0
    clip_norm: float = 0.0
    average_tail: float = field(default=0.0, metadata={"most": 1.0})
    precision: Precision = "float32"
    evaluate_every: int = 100
    evaluation_windows: int = 320
    full_evaluation: tuple[str, ...] = ("valid", "test")
    depth_steps: tuple[int, ...] = ()
    depth_weights: tuple[float, ...] = ()
    depth_growth: float = field(default=0.0, metadata={"most": 1.0})
    consistency: float = 0.0
    depth_evaluation: tuple[int, ...] = ()
    save_every: int = 100
    sample_every: int = field(default=0, metadata={"least": 0})
    model: Mapping[str, Any] = field(default_factory=dict)
    variants: Mapping[str, Variant] = field(default_factory=dict)
    by_model: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    seeds: tuple[int, ...] = (42, 123, 456, 789, 1011)

    def __post_init__(self) -> None:
        check_fields(self, f"recipe {self.name}: ")
        if not all(0 <= beta < 1 for beta in self.betas) or len(self.betas) != 2:
            raise ValueError(f"recipe {self.name}: betas={self.betas} must be two numbers from 0 to below 1")
        if self.learning_rate <= 0:
            raise ValueError(f"recipe {self.name}: learning_rate={self.learning_rate} must be above 0")
        if self.warmup_steps >= self.num_steps:
            raise ValueError(
                f"recipe {self.name}: warmup_steps={self.warmup_steps} leaves none of num_steps={self.num_steps}"
            )
        for name in ("depth_evaluation", "depth_steps"):
            numbers = getattr(self, name)
            if any(steps < 1 for steps in numbers) or len(set(numbers)) < len(numbers):
                raise ValueError(f"recipe {self.name}: {name}={numbers} must be different whole numbers from 1 up")
        if self.depth_weights and (
            len(self.depth_weights) != len(self.depth_steps) or not all(weight > 0 for weight in self.depth_weights)
        ):
            raise ValueError(
                f"recipe {self.name}: depth_weights={self.depth_weights} must be one number above 0 for each of "
                f"depth_steps={self.depth_steps}"
            )
        if (self.depth_growth or self.consistency) and not self.depth_steps:
            raise ValueError(f"recipe {self.name}: depth_growth and consistency need depth_steps to draw from")
        if self.weight_decay and self.optimizer == "adam":
            raise ValueError(f"recipe {self.name}: adam has no weight decay; set optimizer=adamw or weight_decay=0")
        for label, fields in self.by_model.items():
            if label not in self.models:
                raise ValueError(f"recipe {self.name}: by_model names {label!r}; its models are {self.models}")
            check_names(Recipe, fields, "recipe field")
            self.for_model(label)

    @property
    def tokens_per_step(self) -> int:
        return self.batch_size * self.accumulate * self.length

    @property
    def models(self) -> tuple[str, ...]:
        """Labels of the models this recipe compares."""
        return tuple(self.variants or KINDS)

    def for_model(self, label: str) -> "Recipe":
        """This recipe with the fields that it sets for one of its models."""
        return dataclasses.replace(self, **self.by_model.get(label, {}), by_model={})

    def settings(self) -> dict[str, Any]:
        """The fields that the curve of a run depends on, as JSON values, for its record."""
        settings = {name: value for name, value in vars(self).items() if name not in (*OBSERVATION, *DESCRIPTION)}
        settings = json.loads(json.dumps(settings))
        return {name: value for name, value in settings.items() if value != ADDED_SETTINGS.get(name, ...)}

    def configure(self, model: str, preset_name: str = "default") -> tuple[str, ModelConfig]:
        """Label and config of one model: a kind, or a variant of this recipe."""
        variant = self.variants.get(model, Variant(model))
        if model not in self.variants and model not in KINDS:
            known = dict.fromkeys([*self.models, *KINDS])
            raise ValueError(f"unknown model {model!r} for recipe {self.name}; it has {', '.join(known)}")
        fields = {"max_position_embeddings": self.length, **self.model, **variant.changes}
        config = preset(variant.kind, preset_name).replace(**fields)
        if config.max_position_embeddings < self.length:
            raise ValueError(
                f"recipe {self.name} trains on windows of {self.length} bytes, but the model has "
                f"max_position_embeddings={config.max_position_embeddings}; make them fit"
            )
        return (model if preset_name == "default" else f"{model}, {preset_name} shape"), config

    def change(self, changes: list[str] | tuple[str, ...]) -> "Recipe":
        """A copy with fields set from texts such as `num_steps=50` or `model.hidden_dim=384`.

        The name of the copy lists the changes, so that its runs are not taken for runs of the recipe itself.
        """
        fields: dict[str, Any] = {}
        model = dict(self.model)
        types = get_type_hints(type(self))
        known = [each for each in types if each not in DESCRIPTION]
        for change in changes:
            name, equals, text = change.partition("=")
            if not equals:
                raise ValueError(f"{change!r} is not a change: write field=value, for example num_steps=50")
            if name.startswith("model."):
                model[name.removeprefix("model.")] = _parse(text)
            elif name in known:
                value = _parse(text)
                is_tuple = get_origin(types[name]) is tuple
                fields[name] = tuple(value if isinstance(value, list) else [value]) if is_tuple else value
            else:
                raise ValueError(f"unknown recipe field {name!r}; there are {', '.join(known)} and model.FIELD")
        # A change is for all models.
        fields["by_model"] = {
            label: {name: value for name, value in own.items() if name not in fields}
            for label, own in self.by_model.items()
        }
        marked = [change for change in changes if change.partition("=")[0] not in OBSERVATION]
        name = "+".join([self.name, *sorted(marked)])
        return dataclasses.replace(self, **fields, model=model, name=name)


def slug(label: str) -> str:
    """A label as the name of a folder; a very long one is cut and gets its digest as a suffix."""
    name = re.sub(r"[^\w.=+-]+", "-", label).strip("-.")
    if len(name) <= LONGEST_NAME:
        return name
    return f"{name[:LONGEST_NAME]}-{hashlib.sha256(label.encode()).hexdigest()[:8]}"


def _parse(text: str) -> Any:
    """A JSON value, or the text itself if it is not one."""
    try:
        return json.loads(text)
    except json.JSONDecodeError:
        return text
