"""The files that let `transformers` load a model's tokenizer, written without importing it."""

from tipshare.checkpoint.layout import GENERATION_CONFIG, TOKENIZER, TOKENIZER_CONFIG
from tipshare.checkpoint.reading import dump_json
from tipshare.config import ModelConfig
from tipshare.generation.sampling import Sampling


def describe_files(config: ModelConfig) -> dict[str, bytes]:
    """The content of each file by its name; no tokenizer for a model whose vocabulary is too small for it."""
    sampling = {"do_sample": True, "temperature": Sampling.temperature, "top_p": Sampling.top_p}
    generation = {"max_length": config.max_position_embeddings, **sampling}
    files = {GENERATION_CONFIG: dump_json(generation)}
    if config.vocab_size >= config.tokenizer.size:
        files[TOKENIZER] = dump_json(config.tokenizer.to_file())
        files[TOKENIZER_CONFIG] = dump_json(
            {
                "backend": "tokenizers",
                "tokenizer_class": "PreTrainedTokenizerFast",
                "model_max_length": config.max_position_embeddings,
                "clean_up_tokenization_spaces": False,
            }
        )
    return files
