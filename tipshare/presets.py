"""Named configs: what we recommend, and what was published."""

from tipshare.config import (
    KINDS,
    ModelConfig,
    NeuralOdeConfig,
    StandardConfig,
    TimeIndexedMlpConfig,
    config_class_of,
)

_PUBLISHED_TIME = {
    "time_features": "published",
    "time_network": "separate",
    "time_frequencies": 32,
    "time_dim": 64,
    "positions": "none",
}
_LARGER_TIME = {"time_frequencies": 64, "time_dim": 129}

# Parameter counts of the published models, reproduced to the last one; our attention is causal, theirs was not. The
# published Time-Indexed SSM is left out: its state space did not depend on the input, so ours is another model.
_PUBLISHED: dict[str, ModelConfig] = {
    # 308,460,480: not a standard transformer, but six layers that each own a hypernetwork read at one fixed t.
    "standard": StandardConfig(weights="own-generated", branches="parallel", timed_final_norm=True, **_PUBLISHED_TIME),
    # 51,512,960
    "neural-ode": NeuralOdeConfig(**_PUBLISHED_TIME),
    # 715,840
    "time-indexed-mlp": TimeIndexedMlpConfig(
        use_bias=True, attention_bias=False, timed_final_norm=True, **_PUBLISHED_TIME
    ),
}

PRESETS: dict[str, dict[str, ModelConfig]] = {
    "default": {kind: config_class() for kind, config_class in KINDS.items()},
    "published": _PUBLISHED,
    # 617,430,932 and 956,684
    "published-large": {kind: _PUBLISHED[kind].replace(**_LARGER_TIME) for kind in ("standard", "time-indexed-mlp")},
}


def preset(kind: str, name: str = "default") -> ModelConfig:
    """The config of a kind under a preset's name."""
    config_class_of(kind)
    if name not in PRESETS:
        raise ValueError(f"unknown preset {name!r}; the presets are {', '.join(PRESETS)}")
    if kind not in PRESETS[name]:
        raise ValueError(f"preset {name!r} has no {kind}; it has {', '.join(PRESETS[name])}")
    return PRESETS[name][kind]
