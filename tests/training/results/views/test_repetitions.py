"""Published experiments and their repetition in the README."""

from tests.training.results.factory import make_record
from training.report.tables import to_markdown
from training.results.views.document_tables import shape_table, timeline_table


def test_the_timeline_has_our_losses_at_the_published_marks_above_the_published_ones():
    curve = [[step, 3.0 - step / 2000] for step in range(250, 3001, 250)]
    runs = [make_record("time-indexed-ssm", recipe="published-3000", curve=curve), make_record(loss=9.0)]
    rows = to_markdown(timeline_table(runs)).splitlines()
    assert rows[0] == (
        "| model | source | parameters | step 500 | step 1,000 | step 1,500 | step 2,000 | step 2,500 | step 3,000 |"
    )
    assert rows[2] == "| Time-Indexed SSM | measured | 14.2 k | 2.750 | 2.500 | 2.250 | 2.000 | 1.750 | 1.500 |"
    assert rows[-1] == "| Time-Indexed SSM | published | 9.41 M | 2.558 | 2.305 | 2.077 | 2.009 | 1.940 | 1.849 |"
    assert len(rows) == 2 + 1 + 3


def test_published_shapes_stand_beside_the_usual_ones_and_short_runs_show_no_loss():
    runs = [
        make_record("standard", loss=5.0, recipe="published-1000+num_steps=5", model="standard, published shape"),
        make_record("neural-ode", loss=1.5, model="neural-ode, published shape"),
        make_record("neural-ode", loss=1.6),
        make_record("neural-ode", seed=7, loss=9.9),
        make_record("time-indexed-mlp", loss=1.7),
    ]
    assert to_markdown(shape_table(runs)).splitlines()[2:] == [
        "| Standard, published shape | 14,224 | n/a | 20 | 400 | cpu |",
        "| Neural ODE, published shape | 14,224 | 1.500 | 20 | 400 | cpu |",
        "| Neural ODE | 14,224 | 1.600 | 20 | 400 | cpu |",
    ]
