"""What the page tells its controls never undoes what a visitor chose in the meantime."""

import gradio as gr

from app.controls import as_linked, told


def test_a_control_is_not_told_the_value_that_it_sent():
    assert told("a", "a", choices=["a"]) == gr.update(choices=["a"])
    assert told(["b", "a"], ["a", "b"]) == gr.update()
    assert told(["b", "a"], ["a"]) == gr.update(value=["a"])
    assert told("a", "b", choices=["b"]) == gr.update(choices=["b"], value="b")


def test_a_page_that_opens_sets_only_what_its_link_says():
    assert as_linked(["x", 2], ["x", 1]) == [gr.skip(), 2]
