"""`python tests/extras/main_calls.py EXTRA`: what each extra is for, done once in the environment that runs this file.

Continuous integration runs it after `pip install` of the extra into a fresh environment; `test_extras.py` runs it with
nothing but the extra's packages in reach. It imports nothing of the tests, which need packages of their own.
"""

import argparse
import contextlib
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

SHORT = ["num_steps=2", "warmup_steps=0", "batch_size=2", "length=16", "evaluation_windows=2", "full_evaluation=[]"]
SMALL = ["sample_every=0", "model.hidden_dim=16", "model.num_layers=2", "model.num_heads=2", "model.state_dim=4"]


def use_library(scratch: Path) -> None:
    """Build, save, load, write and score; look at a checkpoint from the terminal."""
    import jax

    import tipshare
    from tipshare.__main__ import main

    config = tipshare.TimeIndexedSsmConfig(hidden_dim=16, num_heads=2, num_layers=2, state_dim=4)
    folder = scratch / "checkpoint"
    tipshare.save(config.build(key=jax.random.key(0)), folder)
    model = tipshare.load(folder)
    assert len(tipshare.generate(model, "The", max_bytes=3).text) > 0
    assert model.score("The tower").bits_per_byte > 0
    assert model.gates(0.5)
    assert main(["info", str(folder)]) == 0


def use_training(scratch: Path) -> None:
    """Train a model, report on it, and meet a corpus that cannot be downloaded."""
    from training.__main__ import main
    from training.data.sources import fetch_hub_text

    out = scratch / "runs"
    changes = ["--set", *SHORT, *SMALL]
    assert main(["train", "quick", "--model", "time-indexed-ssm", *changes, "--out", str(out)]) == 0
    assert main(["report", str(out / "runs.jsonl"), "--out", str(scratch / "report")]) == 0
    message = ""
    with without_the_hub():
        try:
            fetch_hub_text("wikitext-2", scratch / "corpora")
        except ValueError as error:
            message = str(error)
    assert "cannot download wikitext-2" in message, message


def use_page(scratch: Path) -> None:
    """Serve the page on a free port, let it write, and download a figure as a PDF."""
    import os

    os.environ["GRADIO_TEMP_DIR"] = str(scratch)
    from gradio_client import Client

    from app.page import build_demo
    from app.serve import launch_settings

    demo = build_demo()
    _, address, _ = demo.launch(prevent_thread_lock=True, **launch_settings())
    try:
        client = Client(address, verbose=False, analytics_enabled=False, download_files=str(scratch))
        names = [model["name"] for model in client.predict(api_name="/models")]
        answer = client.predict("The", names[:1], length=3, api_name="/write")
        assert len(answer["texts"][0]["bytes"]) == 3, answer
        # As a visitor who opens the tab: it fills the lists that the figure's button reads.
        client.predict("", None, [], "measured", False, "validation", 1, "nats", "parameters", api_name="/show_results")
        figure = client.predict(
            "published-1000", ["standard"], "measured", "validation", 1, "nats", "parameters", api_name="/loss_pdf"
        )
        assert Path(figure).read_bytes().startswith(b"%PDF"), figure
    finally:
        demo.close()


def use_transformers(scratch: Path) -> None:
    """Open a checkpoint's config and tokenizer by the classes of `transformers`."""
    import jax
    from transformers import AutoConfig, AutoTokenizer

    import tipshare
    import tipshare.transformers

    config = tipshare.StandardConfig(hidden_dim=16, num_heads=2, num_layers=2)
    folder = tipshare.save(config.build(key=jax.random.key(0)), scratch / "checkpoint")
    opened = AutoConfig.from_pretrained(folder)
    assert isinstance(opened, tipshare.transformers.TipshareConfig)
    assert opened.to_model_config() == config
    assert AutoTokenizer.from_pretrained(folder)("The")["input_ids"] == list(b"The")


@contextlib.contextmanager
def without_the_hub() -> Iterator[None]:
    """Point the Hub's client at a port that nothing listens on."""
    from huggingface_hub import constants

    before = constants.ENDPOINT
    constants.ENDPOINT = "http://127.0.0.1:9"
    try:
        yield
    finally:
        constants.ENDPOINT = before


MAIN_CALLS: dict[str, Callable[[Path], None]] = {
    "tipshare": use_library,
    "train": use_training,
    "app": use_page,
    "transformers": use_transformers,
}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("extra", choices=MAIN_CALLS, help="`tipshare` for the library without extras")
    extra = parser.parse_args().extra
    if extra in ("train", "app"):
        # Both packages are used from the checkout; the library may be an installed wheel.
        sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
    with tempfile.TemporaryDirectory() as scratch:
        MAIN_CALLS[extra](Path(scratch))
    print(f"{extra}: works")
    return 0


if __name__ == "__main__":
    sys.exit(main())
