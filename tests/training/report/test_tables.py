"""Tables in Markdown, LaTeX and CSV."""

import csv
import io
import re

import pytest

from tests.training.results.factory import group_of, make_record, runs
from tipshare.config import StandardConfig
from tipshare.model.parameters import count_parameters
from training.report.tables import to_latex, to_markdown
from training.results.formatting import count_in_words, show_p
from training.results.rows import result_rows
from training.results.selection import Selection
from training.results.summaries import LOSS
from training.results.views.comparisons import significance_table
from training.results.views.losses import results_table


def results_markdown(group, source="measured"):
    return to_markdown(results_table(Selection(group=group, source=source)))


def test_the_results_table_has_all_columns_and_the_lowest_loss_in_bold():
    table = results_markdown(group_of(*runs(), *runs("time-indexed-mlp", (1.0, 1.1, 1.2))))
    heading, _, standard, shared = table.splitlines()
    plain = count_parameters(StandardConfig(num_layers=2, hidden_dim=16, num_heads=2, max_position_embeddings=16)).total
    for column in ("model", "parameters", "effective", "loss (nats/byte)", "seeds", "bits/byte", "ms/step", "memory"):
        assert column in heading
    assert f"against plain {count_in_words(plain)}" in heading
    assert "**1.100 ± 0.248**" in shared
    assert "| Standard |" in standard
    assert "2.100 ± 0.248 | 3 | 3.030 | 20.0 | 400 |" in standard
    assert "**" not in standard


def test_one_seed_shows_no_interval():
    (line,) = results_markdown(group_of(make_record())).splitlines()[2:]
    assert "| 2.000 | 1 |" in line
    assert "±" not in line


def test_published_rows_follow_ours_with_their_true_intervals():
    table = results_markdown(group_of(*runs(), *runs("time-indexed-mlp"), *runs("time-indexed-ssm")), source="both")
    assert table.count("| published |") == 3  # of the kinds that were run
    assert "2.147 ± 0.173" in table
    assert "6.8x smaller" in table
    assert "63.3x larger" in table
    assert results_markdown(group_of(*runs(recipe="quick")), source="both").count("published") == 0
    with pytest.raises(ValueError, match="source='ours' is not one of measured, published, both"):
        result_rows(group_of(*runs()), source="ours")


def test_compression_is_against_a_plain_transformer_of_the_same_size():
    group = group_of(
        *runs("time-indexed-mlp", model="a", config={"num_layers": 2}),
        *runs("time-indexed-mlp", model="b", config={"num_layers": 4}),
    )
    first, second = result_rows(group)
    assert second.plain > first.plain
    assert first.compression == first.plain / first.parameters
    assert "against plain of its width" in results_markdown(group)


def test_csv_is_unrounded_and_reads_back():
    group = group_of(*runs(losses=(2.0, 2.1, 2.23456789)), *runs("neural-ode", (1.0,)))
    first, second = csv.DictReader(io.StringIO(results_table(Selection(group=group, source="measured")).to_csv()))
    assert float(first["loss"]) == group_summary_mean(group)
    assert (first["model"], first["seeds"], second["deviation"], second["low"]) == ("standard", "3", "", "")
    (pair,) = csv.DictReader(io.StringIO(significance_table(Selection(group=group)).to_csv()))
    assert (pair["common_seeds"], pair["test"], pair["p_value"]) == ("1", "", "")


def group_summary_mean(group):
    return sum(run.final[LOSS] for run in group.runs["standard"]) / 3


def test_latex_uses_booktabs_and_escapes_labels():
    group = group_of(*runs(model="standard, 50% & a_b"), *runs("neural-ode", (1.0, 1.1, 1.2)))
    text = to_latex(results_table(Selection(group=group, source="measured")))
    for part in (r"\toprule", r"\midrule", r"\bottomrule", r"50\% \& a\_b", r"\textbf{1.100 $\pm$ 0.248}"):
        assert part in text
    assert "±" not in text
    columns = re.search(r"tabular\}\{(\w+)\}", text)[1]
    body = [line for line in text.splitlines() if line.endswith(r"\\")]
    assert {len(re.split(r"(?<!\\)&", line)) for line in body} == {len(columns)}


def test_a_label_with_a_bar_does_not_break_the_markdown_table():
    table = results_markdown(group_of(*runs(model="standard | wide")))
    assert r"Standard \| wide" in table


@pytest.mark.parametrize(
    ("p_value", "shown"), [(0.0625, "0.0625"), (3.505e-5, "3.5e-5"), (1.0, "1"), (1e-300, "1.0e-300"), (None, "n/a")]
)
def test_p_values_are_never_shown_as_zero(p_value, shown):
    assert show_p(p_value) == shown


@pytest.mark.parametrize(
    ("count", "shown"), [(308_460_480, "308 M"), (4_871_168, "4.87 M"), (715_840, "716 k"), (12, "12")]
)
def test_counts_in_words(count, shown):
    assert count_in_words(count) == shown
