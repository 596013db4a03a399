"""Prompts to begin with, and the texts that the page opens with, which the models write when the server starts."""

from collections.abc import Sequence
from typing import Any

from app.generate.cards import show_texts
from app.generate.dial import usual_steps
from app.generate.measured import Measured
from app.generate.settings import WritingRequest
from app.generate.streaming import write_in_turns
from app.shelf import ModelShelf

# In the prompt when the page opens.
FIRST = "The history of"
PROMPTS = (" = History of ", "In 1912 , ", "The species is ", "She was born in ", "The battle of ")
# Before any run of the visitor.
NO_RUN = 0


def write_examples(shelf: ModelShelf, measured: Measured, names: Sequence[str]) -> None:
    """Write what Generate would write with the settings that the page opens with, and keep it."""
    steps = usual_steps([shelf.describe(name) for name in names])
    for name in names:
        *_, columns = write_in_turns(shelf, measured, WritingRequest(prompt=FIRST, models=(name,), steps=steps))
        measured.keep_example(columns[0])


def show_examples(measured: Measured, note: str = "") -> dict[str, Any]:
    """The examples that there are, in the form of a run."""
    texts = show_texts(FIRST, measured.examples())
    line = "An example of each model, from this server. Generate writes more; a prompt below the box starts at once."
    waiting = (
        "The models are loading: examples come with them. Generate works already, after some seconds of compiling."
    )
    return {"run": NO_RUN, "line": note or (line if texts else waiting), "texts": texts, "result": None}
