"""`transformers` reads our folders: the tokenizer as it is, the config after one import."""

import json

import numpy as np
import pytest

import tipshare
from tests.checkpoint.configs import TINY, build_tiny
from tipshare.text.tokenizer import BYTES

TEXT = "Tick,  tock: naïve café 🕰\n\tdone ."


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tipshare.save(build_tiny("time-indexed-ssm"), tmp_path_factory.mktemp("hf") / "model")


def test_the_tokenizer_loads_and_its_ids_are_bytes(folder):
    from transformers import AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(folder)
    ids = tokenizer(TEXT)["input_ids"]
    assert ids == list(TEXT.encode())
    assert tokenizer.decode(ids) == TEXT
    assert tokenizer.model_max_length == 16
    assert len(tokenizer) == 256


def test_the_tokenizer_file_is_the_one_transformers_would_write(folder, tmp_path):
    BYTES.to_transformers(16).save_pretrained(tmp_path)
    ours, theirs = (json.loads((each / "tokenizer.json").read_text()) for each in (folder, tmp_path))
    # transformers adds a template that adds nothing.
    assert theirs.pop("post_processor")["special_tokens"] == {}
    del ours["post_processor"]
    assert ours == theirs


def test_the_config_loads_after_one_import(folder):
    from transformers import AutoConfig, GenerationConfig

    import tipshare.transformers

    config = AutoConfig.from_pretrained(folder)
    assert isinstance(config, tipshare.transformers.TipshareConfig)
    assert config.to_model_config() == TINY["time-indexed-ssm"]
    assert (config.hidden_size, config.num_hidden_layers, config.vocab_size) == (16, 2, 256)
    generation = GenerationConfig.from_pretrained(folder)
    assert (generation.max_length, generation.temperature) == (16, tipshare.Sampling().temperature)


def test_a_config_that_transformers_wrote_still_loads_as_ours(folder, tmp_path):
    from transformers import AutoConfig

    import tipshare.transformers  # noqa: F401
    from tipshare.checkpoint.config_file import parse
    from tipshare.checkpoint.reading import read_json

    AutoConfig.from_pretrained(folder).save_pretrained(tmp_path)
    stored = parse(read_json(tmp_path / "config.json"))
    assert stored.model == TINY["time-indexed-ssm"]
    assert stored.dtype == np.float32
