"""Fine-tuning in tables, sentences and the figure: what was gained, given back and forgotten."""

import pytest

from tests.training.results.factory import group_of, make_record
from training.report.parts import NOT_YET
from training.report.result_parts import finetuned_depths, finetuning
from training.report.tables import to_markdown
from training.results.groups import group_records
from training.results.naming import title_of_group
from training.results.selection import Selection
from training.results.views.finetuning import depth_in_words, gains_in_words, tuned_groups, tuned_table
from training.results.views.losses import parameters_view, results_table

KIND = "time-indexed-ssm"


def tuned(method: str, loss: float, trained: int, *, seed: int = 42, text: str = "shakespeare", **final: float):
    """A record as fine-tuning writes it; before, the loss was 3.0."""
    rank = {"rank": 8} if method == "lora" else {}
    return make_record(
        KIND,
        seed,
        loss,
        recipe=f"finetune-wikitext-2-to-{text}",
        model=f"{KIND}, {method}, {'3' if 'valid_loss_of_base' in final else '2'} depth steps",
        settings={"corpus": text, "base_corpus": "wikitext-2", "method": method, **rank},
        parameters={"block": 1000, "total": 1000, "effective": 1000, "trained": trained},
        final={"valid_loss": loss, "valid_loss_before": 3.0, **final},
    )


BETWEEN = [
    tuned("full", 2.0, 1000, first_text_loss_before=1.5, first_text_loss=2.0),
    tuned("lora", 2.5, 90, first_text_loss_before=1.5, first_text_loss=1.6),
]
DEPTH = [
    tuned("full", loss, 1000, seed=seed, text="wikitext-2", valid_loss_of_base=1.0)
    for seed, loss in enumerate((1.2, 1.4))
]


def test_a_table_has_what_each_method_trained_gained_and_forgot():
    ((group, models),) = tuned_groups([*BETWEEN, make_record("standard")])
    assert group.recipe == "finetune-wikitext-2-to-shakespeare"
    head, _, full, lora = to_markdown(tuned_table(models)).splitlines()
    assert "given back" not in head  # nothing was read at another depth
    assert full == "| Time-Indexed SSM, full, 2 depth steps | 1 k | 400 | 20 | 3.000 | 3.000 | 2.000 | +0.500 | 1 |"
    assert "| 90 | 400 | 20 | 3.000 | 3.000 | 2.500 | +0.100 | 1 |" in lora


def test_sentences_compare_with_full_finetuning():
    ((_, models),) = tuned_groups(BETWEEN)
    words = gains_in_words(models)
    assert "training all 1 k lowers the loss by 1.000; of that, LoRA of rank 8 50% (90)." in words
    assert "rises least with LoRA of rank 8 (+0.100) and most with full (+0.500)" in words


def test_what_a_depth_cost_is_given_back():
    ((_, models),) = tuned_groups(DEPTH)
    (model,) = models
    assert model.given_back == pytest.approx((3.0 - 1.3) / (3.0 - 1.0))
    assert "1.000 at the depth of the checkpoint, 3.000 before and 1.300 after 1000 steps: 85% " in depth_in_words(
        models
    )
    assert "| 85% |" in to_markdown(tuned_table(models))


def test_documents_show_the_figure_once_there_are_runs():
    assert finetuning([make_record()]) == finetuned_depths([make_record()]) == NOT_YET
    assert "](../finetuning.png)" in finetuning([*BETWEEN, *DEPTH])
    assert "### Fine-tuning from wikitext-2 to shakespeare" in finetuning([*BETWEEN, *DEPTH])
    assert "### Fine-tuning from wikitext-2 to wikitext-2" not in finetuning([*BETWEEN, *DEPTH])
    assert "85%" in finetuned_depths([*BETWEEN, *DEPTH])
    assert title_of_group(group_of(*BETWEEN)) == (
        "Fine-tuning from wikitext-2 to shakespeare (finetune-wikitext-2-to-shakespeare, 1,000 steps)"
    )
    # A setting that was changed makes a trial, which is no result.
    trial = make_record(KIND, recipe="finetune-wikitext-2-to-shakespeare+num_steps=50")
    assert finetuning([trial]) == NOT_YET


def test_the_figure_is_against_trained_parameters():
    view = parameters_view(Selection(group=group_of(*BETWEEN)))
    assert sorted(mark.at for mark in view.points) == [90, 1000]
    assert view.x_label == "trained parameters"
    assert view.to_csv().count("\n") == 3
    assert ",trained_parameters,loss," in view.to_csv()
    assert "trained" in to_markdown(results_table(Selection(group=group_of(*BETWEEN)))).splitlines()[0]
    plain = parameters_view(Selection(group=group_records([make_record(), make_record("neural-ode")])[0]))
    assert plain.x_label == "stored parameters"
