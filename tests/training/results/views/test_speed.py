"""Tables of benchmark reports, and the words above them."""

import json

from training.report.parts import from_reports
from training.results.views.document_tables import (
    generation_table,
    machine_in_words,
    other_depths_table,
    training_table,
)

PARTIES = {"plain torch": {"step_ms": 184.0}, "standard": {"step_ms": 125.0, "time_over_plain torch": 0.68}}
MACHINE = {"device": "AMD EPYC (family 26, model 2), 2 threads", "torch": "2.13.0+cpu"}


def test_the_words_tell_the_machine_and_both_matrix_rates():
    rates = {"matrix_product_operations_per_second": 5.24e11, "torch_matrix_product_operations_per_second": 2.33e11}
    assert machine_in_words({"machine": MACHINE, **rates, "parties": PARTIES}) == (
        "On AMD EPYC (family 26, model 2), 2 threads, where one large matrix product runs at 524 billion operations "
        "per second in XLA and at 233 in torch 2.13.0:"
    )


def test_a_report_without_a_machine_says_so():
    assert machine_in_words({"matrix_product_operations_per_second": 1.29e11}) == (
        "On a processor that its report does not name, where one large matrix product runs at 129 billion operations "
        "per second:"
    )
    assert machine_in_words({"machine": MACHINE}) == "On AMD EPYC (family 26, model 2), 2 threads:"


def test_every_machine_has_a_table_of_its_own(tmp_path):
    for name, device in (("training", "a new one"), ("training-earlier", "an old one")):
        report = {"machine": {"device": device}, "parties": PARTIES}
        (tmp_path / f"{name}.json").write_text(json.dumps(report))
    section = from_reports("training", machine_in_words, training_table)((), tmp_path) or ""
    assert section.index("On a new one:") < section.index("On an old one:")
    assert section.count("| Standard | 125 | 0.68 |") == 2


def test_other_depths_stand_in_their_order_and_reports_without_them_show_nothing(tmp_path):
    depths = {"time-indexed-mlp": {"12": numbers(50.0, 0.5), "3": numbers(200.0, 2.0)}}
    write = from_reports("generation", machine_in_words, other_depths_table)
    (tmp_path / "generation-earlier.json").write_text(json.dumps({"parties": {}}))
    assert (write((), tmp_path) or "") == "Not measured yet."
    (tmp_path / "generation.json").write_text(json.dumps({"machine": MACHINE, "depths": depths}))
    assert (write((), tmp_path) or "").splitlines()[-2:] == [
        "| Time-Indexed MLP | 3 | 200 | 2.00x | 2.00x |",
        "| Time-Indexed MLP | 12 | 50 | 0.50x | 0.50x |",
    ]


def test_without_torch_there_is_no_column_to_compare_with_it(tmp_path):
    (tmp_path / "generation.json").write_text(
        json.dumps({"parties": {"standard": {"batch_1": {"bytes_per_second": 900.0}}}})
    )
    assert "| generation | bytes/s |\n" in (
        from_reports("generation", machine_in_words, generation_table)((), tmp_path) or ""
    )


def numbers(speed: float, ratio: float) -> dict[str, float]:
    return {"bytes_per_second": speed, "writing_speed": ratio, "reading_speed": ratio}
