"""Let `transformers` know our checkpoints: after `import tipshare.transformers`, `AutoConfig.from_pretrained` works.

`AutoTokenizer.from_pretrained(folder)` needs no registration. The models themselves are loaded by `tipshare.load`.
"""

from typing import Any

from transformers import AutoConfig, PreTrainedConfig

from tipshare.checkpoint.layout import FORMAT
from tipshare.config import ModelConfig


class TipshareConfig(PreTrainedConfig):
    """config.json of a checkpoint as `transformers` sees it; `to_model_config()` is ours."""

    model_type = FORMAT

    def __init__(self, model: dict[str, Any] | None = None, **kwargs: Any) -> None:
        self.model = dict(model or {})
        super().__init__(**kwargs)

    # The names that tools on the Hub look for.
    vocab_size = property(lambda self: self.to_model_config().vocab_size)
    hidden_size = property(lambda self: self.to_model_config().hidden_dim)
    num_hidden_layers = property(lambda self: self.to_model_config().num_layers)
    num_attention_heads = property(lambda self: self.to_model_config().num_heads)
    max_position_embeddings = property(lambda self: self.to_model_config().max_position_embeddings)

    def to_model_config(self) -> ModelConfig:
        """The config that `tipshare` builds a model from."""
        return ModelConfig.from_dict(self.model)


AutoConfig.register(FORMAT, TipshareConfig, exist_ok=True)

__all__ = ["TipshareConfig"]
