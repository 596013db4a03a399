"""The page builds, and its numbers are the library's."""

import tipshare
from app import build_demo
from app.page import COLUMNS, list_kinds


def test_the_page_lists_every_kind_with_its_parameters():
    rows = {row[0]: dict(zip(COLUMNS, row, strict=True)) for row in list_kinds()}
    assert set(rows) == set(tipshare.KINDS)
    for kind, row in rows.items():
        assert row["Stored"] == f"{tipshare.count_parameters(tipshare.preset(kind)).total:,}"
    # Once generated, the weights of a neural ODE are those of a plain transformer.
    assert rows["neural-ode"]["Used by one pass"] == rows["standard"]["Used by one pass"]


def test_the_demo_shows_the_table():
    demo = build_demo()
    tables = [block for block in demo.blocks.values() if block.get_block_name() == "dataframe"]
    assert len(tables) == 1
    assert [list(map(str, row)) for row in tables[0].value["data"]] == list_kinds()
