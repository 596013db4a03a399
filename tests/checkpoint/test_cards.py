"""Cards say what the record says, their head is valid, and their examples run."""

import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
import yaml

import tipshare
from tests.checkpoint.configs import SIZES, TINY, build_tiny
from tests.checkpoint.records import make_record, record_fields
from tests.factories import fill
from tipshare import kinds
from tipshare.checkpoint.card import ComparisonRow, make_card
from tipshare.checkpoint.gate_figure import draw_gates

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("kind", TINY)
def test_the_head_of_a_card_is_what_the_hub_expects(kind):
    card = make_card(TINY[kind], make_record(kind, loss=1.25), name="org/tiny")
    head = yaml.safe_load(card.split("---")[1])
    assert head["library_name"] == "tipshare"
    assert head["pipeline_tag"] == "text-generation"
    assert head["license"] == "mit"
    assert head["language"] == ["en"]
    assert head["datasets"] == ["Salesforce/wikitext"]
    assert kind in head["tags"]
    (model,) = head["model-index"]
    metrics = {each["type"]: each["value"] for each in model["results"][0]["metrics"]}
    assert metrics["valid_loss"] == 1.25
    assert model["results"][0]["dataset"]["name"] == "wikitext-2"


def test_the_client_accepts_the_head_of_a_card():
    from huggingface_hub import ModelCard

    data = ModelCard(make_card(TINY["standard"], make_record("standard"), name="org/tiny")).data
    assert data.eval_results is not None
    assert {each.metric_type for each in data.eval_results} == {"valid_loss", "valid_loss_full", "bits_per_byte"}


def test_a_card_shows_the_numbers_of_its_record_and_of_the_others():
    rows = [
        ComparisonRow(model="standard", parameters=4_900_000, runs=5, mean=1.61, low=1.6, high=1.62),
        ComparisonRow(model="time-indexed-ssm", parameters=810_000, runs=1, mean=1.51),
    ]
    config = TINY["time-indexed-ssm"]
    card = make_card(config, make_record("time-indexed-ssm", loss=1.2345), comparison=rows, figure=True)
    counts = tipshare.count_parameters(config)
    for text in ("1.2345", f"**{counts.total:,}**", f"| gates | {counts.gates:,} |", "1.6000 to 1.6200", "one run"):
        assert text in card
    assert card.index("| time-indexed-ssm | 810,000") < card.index("| standard | 4,900,000")
    assert "![Gate values by depth](gates.png)" in card
    assert "python -m training train tiny --model time-indexed-ssm --seed 0" in card
    assert "ab" * 32 in card
    for author in ("Tong", "Gu and T. Dao", "Chen"):
        assert author in card


def test_a_card_without_a_record_claims_nothing():
    card = make_card(TINY["neural-ode"])
    assert "model-index" not in card
    assert "## Results" not in card
    assert "## Training" not in card


def test_a_record_cannot_write_markup_into_the_card():
    record = replace(
        make_record("standard"),
        recipe="x --- <script>alert(1)</script> | `",
        settings={"corpus": "a\u00b7: --- <b>", "<i>": "\n---\n<script>"},
        data={"<b>": {"sha256": "`<script>\n---\n", "bytes": True}},
        command="```\n<script>",
    )
    card = make_card(TINY["standard"], record)
    assert "<script" not in card.split("---", 2)[2]
    assert "<i>" not in card
    assert card.count("\n---\n") == 1
    head = yaml.safe_load(card.split("\n---\n")[0])
    assert head["license"] == "mit"
    assert head["model-index"][0]["results"][0]["dataset"]["name"] == "a\u00b7: --- <b>"


@pytest.mark.parametrize(
    ("config", "said", "unsaid"),
    [
        (
            tipshare.StandardConfig(weights="tied", **SIZES),
            ("one block is shared by all depths, without gates", r"f(x_i;\, W)"),
            ("weights of its own", "W_i"),
        ),
        (
            tipshare.TimeIndexedMlpConfig(step="euler", **SIZES),
            (r"\tfrac{1}{L}", r"\sigma(g(t))", "Euler"),
            ("residual",),
        ),
        (
            tipshare.TimeIndexedSsmConfig(gate="two-sigmoid", **SIZES),
            (r"2\,\sigma(g(t))",),
            (r"\tfrac",),
        ),
    ],
    ids=["tied standard", "euler gated", "two-sigmoid"],
)
def test_the_card_of_an_ablation_describes_that_model(config, said, unsaid, tmp_path):
    card = (tipshare.save(fill(config), tmp_path / "model") / "README.md").read_text()
    assert all(text in card for text in said)
    assert not any(text in card for text in unsaid)


def test_a_weight_source_without_an_entry_in_the_table_still_saves_a_card(tmp_path, monkeypatch):
    for table, left_out in (("SOURCES", "gated"), ("LOOKS", "time-indexed-mlp")):
        others = {name: entry for name, entry in getattr(kinds, table).items() if name != left_out}
        monkeypatch.setattr(kinds, table, others)  # taken out and put back, an entry would stand at the end
    folder = tipshare.save(build_tiny("time-indexed-mlp"), tmp_path / "model", record_fields("time-indexed-mlp"))
    assert "its weights at depth t are 'gated'" in (folder / "README.md").read_text()


@pytest.mark.slow
def test_the_examples_of_a_card_run_as_they_stand(tmp_path):
    folder = tipshare.save(build_tiny("time-indexed-mlp"), tmp_path / "model", record=record_fields("time-indexed-mlp"))
    snippets = re.findall(r"```python\n(.*?)```", (folder / "README.md").read_text(), flags=re.S)
    assert len(snippets) == 2
    environment = {"PATH": "/usr/bin:/bin", "PYTHONPATH": str(ROOT), "HOME": str(tmp_path), "JAX_PLATFORMS": "cpu"}
    outputs = [
        subprocess.run(
            [sys.executable, "-c", code], cwd=folder, env=environment, capture_output=True, text=True, check=True
        ).stdout
        for code in snippets
    ]
    assert float(outputs[0]) > 0
    assert outputs[1] == f"{list(b'The cat')}\n"


def test_the_gate_figure_is_drawn_only_where_there_are_gates(tmp_path):
    assert not draw_gates(build_tiny("standard"), tmp_path / "gates.png")
    assert not draw_gates(build_tiny("neural-ode"), tmp_path / "gates.png")
    assert not (tmp_path / "gates.png").exists()
    for name in ("first.png", "second.png"):
        assert draw_gates(build_tiny("time-indexed-mlp"), tmp_path / name)
    first = (tmp_path / "first.png").read_bytes()
    assert first.startswith(b"\x89PNG")
    assert first == (tmp_path / "second.png").read_bytes()
