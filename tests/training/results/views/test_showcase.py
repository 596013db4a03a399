"""The README's tables of the bundled checkpoints."""

from pathlib import Path

from tests.training.results.factory import make_record
from tipshare.config import KINDS
from training.recipes.library import find_recipe
from training.report.tables import to_markdown
from training.results.records import read_records
from training.results.views.document_tables import SEARCH, depth_table, search_table, showcase_in_words, showcase_table


def searched(kind: str, rate: float, loss: float):
    recipe = f"showcase+learning_rate={rate}+num_steps=300+warmup_steps=40"
    return make_record(kind, loss=loss, recipe=recipe, settings={"corpus": "wikitext-2", "learning_rate": rate})


def shown(kind: str, **final: float):
    settings = {"corpus": "wikitext-2", "learning_rate": 0.004}
    return make_record(kind, recipe="showcase", settings=settings, final={"valid_loss": 1.4, **final})


def test_the_search_marks_the_best_rate_of_every_kind_and_leaves_out_other_runs():
    runs = [searched("time-indexed-ssm", 0.002, 1.58), searched("time-indexed-ssm", 0.004, 1.57)]
    runs += [searched("standard", 0.002, 1.73), make_record(loss=1.0)]
    assert to_markdown(search_table(runs)).splitlines()[2:] == [
        "| Standard | **1.730** |  |",
        "| Time-Indexed SSM | 1.580 | **1.570** |",
    ]


def test_whole_texts_and_other_depths_come_from_the_showcase_alone():
    depths = {f"valid_loss_at_steps_{steps}": 1.0 + steps / 100 for steps in (2, 3, 4, 6, 8, 12, 18)}
    runs = [
        shown("time-indexed-ssm", valid_loss_full=1.41, test_loss_full=1.39, test_bits_per_byte=2.005, **depths),
        shown("standard", valid_loss_full=1.38, test_loss_full=1.37, test_bits_per_byte=1.976),
        searched("standard", 0.002, 1.73),
    ]
    assert to_markdown(showcase_table(runs)).splitlines()[2:] == [
        "| Standard | 14,224 | 0.004 | 1.3800 | 1.3700 | 1.976 |",
        "| Time-Indexed SSM | 14,224 | 0.004 | 1.4100 | 1.3900 | 2.005 |",
    ]
    assert to_markdown(depth_table(runs)).splitlines()[2:] == [
        "| Time-Indexed SSM | 1.030 | 1.040 | 1.060 | 1.080 | 1.120 |"
    ]


def test_the_kinds_are_ranked_in_words():
    runs = [shown("standard", valid_loss_full=1.41), shown("time-indexed-ssm", valid_loss_full=1.38)]
    assert "Time-Indexed SSM 1.380 (0.01 M), Standard 1.410 (0.01 M)." in showcase_in_words([*runs, make_record()])
    assert showcase_in_words([make_record()]) == "Not trained yet."


def test_the_bundled_runs_have_the_best_rate_of_the_recorded_search_with_a_worse_one_on_either_side():
    records = read_records(Path(__file__).parents[4] / "checkpoints" / "runs.jsonl")
    showcase = find_recipe("showcase")
    for kind in KINDS:
        tried = {
            run.settings["learning_rate"]: run.final["valid_loss"]
            for run in records
            if run.kind == kind and SEARCH.fullmatch(run.recipe)
        }
        taken = showcase.for_model(kind).learning_rate
        assert taken == min(tried, key=lambda rate: tried[rate])
        assert min(tried) < taken < max(tried)
