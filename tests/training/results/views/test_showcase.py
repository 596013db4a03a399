"""The README's tables of the bundled checkpoints."""

from dataclasses import replace

from tests.training.results.factory import make_record
from training.report.tables import to_markdown
from training.results.views.document_tables import depth_table, showcase_in_words, showcase_table


def tried(kind: str, changes: str, loss: float, protocol: str = "tuned-1000"):
    final = {"valid_loss": loss, "valid_loss_at_steps_3": loss + 0.01, "valid_loss_at_steps_12": loss + 0.02}
    return make_record(kind, recipe=f"{protocol}+{changes}", final=final)


def shown(kind: str, **final: float):
    settings = {"corpus": "wikitext-2", "optimizer": "muon", "learning_rate": 0.004}
    return make_record(kind, recipe="showcase", settings=settings, final={"valid_loss": 1.4, **final})


def test_whole_texts_and_other_depths_come_from_the_showcase_alone():
    depths = {f"valid_loss_at_steps_{steps}": 1.0 + steps / 100 for steps in (2, 3, 4, 6, 8, 12, 18)}
    runs = [
        shown("time-indexed-ssm", valid_loss_full=1.41, test_loss_full=1.39, test_bits_per_byte=2.005, **depths),
        shown("standard", valid_loss_full=1.38, test_loss_full=1.37, test_bits_per_byte=1.976),
        tried("standard", "learning_rate=2e-3", 1.73),
    ]
    assert to_markdown(showcase_table(runs)).splitlines()[2:] == [
        "| Standard | 14,224 | muon | 0.004 | 1.3800 | 1.3700 | 1.976 |",
        "| Time-Indexed SSM | 14,224 | muon | 0.004 | 1.4100 | 1.3900 | 2.005 |",
    ]
    assert to_markdown(depth_table(runs)).splitlines()[2:] == [
        "| Time-Indexed SSM | 1.020 | 1.030 | 1.040 | 1.060 | 1.080 | 1.120 | 1.180 |"
    ]
    early = shown("time-indexed-mlp", valid_loss_at_steps_3=1.03, valid_loss_at_steps_6=1.06)
    assert to_markdown(depth_table([early])).splitlines()[0] == "| depth steps | 3 | 6 |"


def test_the_kinds_are_ranked_in_words():
    runs = [shown("standard", valid_loss_full=1.41), shown("time-indexed-ssm", valid_loss_full=1.38)]
    assert "Time-Indexed SSM 1.380 (0.01 M), Standard 1.410 (0.01 M)." in showcase_in_words([*runs, make_record()])
    assert showcase_in_words([make_record()]) == "Not trained yet."


def test_of_two_budgets_the_newest_alone_is_shown():
    new, old = (shown(kind, valid_loss_full=1.4, valid_loss_at_steps_3=1.5) for kind in ("neural-ode", "standard"))
    runs = [replace(old, tokens_seen=512_000, finished="2025-01-01T00:00:00+00:00"), new]
    for table in (showcase_table(runs), depth_table(runs)):
        assert [row.kind for row in table.rows] == ["neural-ode"]
    assert "Standard" not in showcase_in_words(runs)
