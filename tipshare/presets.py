"""Named configs: what we recommend, and what was published."""

from tipshare.config import (
    KINDS,
    ModelConfig,
    NeuralOdeConfig,
    StandardConfig,
    TimeIndexedMlpConfig,
    TimeIndexedSsmConfig,
    config_class_of,
)

_PUBLISHED_TIME = {
    "time_features": "published",
    "time_network": "separate",
    "time_frequencies": 32,
    "time_dim": 64,
    "positions": "none",
    "query_key_norm": False,
    "gate_start": 2.0,
}
_LARGER_TIME = {"time_frequencies": 64, "time_dim": 129}

# Parameter counts of the published models, reproduced to the last one; our attention is causal, theirs was not.
_PUBLISHED: dict[str, ModelConfig] = {
    # 308,460,480: not a standard transformer, but six layers that each own a hypernetwork read at one fixed t.
    "standard": StandardConfig(weights="own-generated", branches="parallel", timed_final_norm=True, **_PUBLISHED_TIME),
    # 51,512,960
    "neural-ode": NeuralOdeConfig(**_PUBLISHED_TIME),
    # 715,840
    "time-indexed-mlp": TimeIndexedMlpConfig(
        use_bias=True, attention_bias=False, timed_final_norm=True, **_PUBLISHED_TIME
    ),
    # 4,901,760: a state space that does not depend on the input, all of it generated from t and gated.
    "time-indexed-ssm": TimeIndexedSsmConfig(
        weights="generated-gated", selective=False, ssm_projections=False, timed_final_norm=True, **_PUBLISHED_TIME
    ),
}

PRESETS: dict[str, dict[str, ModelConfig]] = {
    "default": {kind: config_class() for kind, config_class in KINDS.items()},
    "published": _PUBLISHED,
    # 617,430,932, 956,684 and 9,411,600; no larger neural-ode was published.
    "published-large": {
        kind: _PUBLISHED[kind].replace(**_LARGER_TIME) for kind in ("standard", "time-indexed-mlp", "time-indexed-ssm")
    },
}


def preset(kind: str, name: str = "default") -> ModelConfig:
    """The config of a kind under a preset's name."""
    config_class_of(kind)
    if name not in PRESETS:
        raise ValueError(f"unknown preset {name!r}; the presets are {', '.join(PRESETS)}")
    if kind not in PRESETS[name]:
        raise ValueError(f"preset {name!r} has no {kind}; it has {', '.join(PRESETS[name])}")
    return PRESETS[name][kind]
