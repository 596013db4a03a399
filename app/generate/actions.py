"""The actions of the Generate tab."""

from collections.abc import Iterator, Sequence
from typing import Any

import gradio as gr

from app.generate.active_runs import Runs
from app.generate.cards import show_foot, show_head, show_line, show_prompt
from app.generate.settings import MOST_MODELS, PARAMETERS, WritingRequest, read_query
from app.generate.streaming import Column, write_in_turns
from app.shelf import ModelShelf

NOTHING_HERE = "No model is here yet: load one from the Hub (top of the page), or train one (see About)."


class GenerateActions:
    """The actions on one shelf of models; ValueError on bad input."""

    def __init__(self, shelf: ModelShelf, runs: Runs) -> None:
        self.shelf, self.runs = shelf, runs

    def of(self, request: gr.Request) -> "GenerateActions":
        """The same actions with the models that a visitor sees."""
        return GenerateActions(self.shelf.of(request.session_hash), self.runs)

    def open_page(self, request: gr.Request) -> list[Any]:
        """The controls as set in the page's address, a card per model, and a message if the address is wrong."""
        names, query = self.shelf.names(), dict(request.query_params)
        wanted, note = None, "" if names else NOTHING_HERE
        try:
            wanted = read_query(query, names) if names else None
        except ValueError as error:
            note = f"This link is damaged: {error}."
        models = list(wanted.models) if wanted else names[:MOST_MODELS]
        # Controls that the address does not set are left alone: the visitor may have begun to type.
        values = {name: getattr(wanted, name) if wanted and name in query else gr.skip() for name in PARAMETERS}
        values["models"] = gr.CheckboxGroup(choices=self.shelf.choices(), value=models)
        return [*values.values(), *self.lay_out(models), show_line(note)]

    def choose(self, models: Sequence[str] | None) -> list[Any]:
        """Empty cards for the chosen models, and a message if there are too many or none."""
        chosen = list(models or ())
        note = ""
        if not chosen:
            note = "Choose at least one model." if self.shelf.names() else NOTHING_HERE
        elif len(chosen) > MOST_MODELS:
            note = f"{len(chosen)} models are chosen: the first {MOST_MODELS} have room."
        return [*self.lay_out(chosen), show_line(note)]

    def prepare(self, *values: Any) -> list[Any]:
        """Cards with the prompt, before the models start."""
        if not self.shelf.names():
            raise ValueError(NOTHING_HERE)
        wanted = WritingRequest.of_controls(*values)
        return [*self.lay_out(wanted.models, wanted.prompt), show_line("In line …")]

    def write(self, visitor: str, *values: Any) -> Iterator[list[Any]]:
        """Text and foot of every card as they grow, the status line, and at the end everything as JSON."""
        wanted = WritingRequest.of_controls(*values)
        prompt = show_prompt(wanted.prompt)
        with self.runs.begin(visitor) as stop:
            for columns in write_in_turns(self.shelf, wanted, stop.is_set):
                shown: list[Any] = []
                for column in columns:
                    shown += [prompt + column.shown, show_foot(column)]
                shown += [""] * (2 * (MOST_MODELS - len(columns)))
                result = summarise(wanted, columns) if is_over(columns) else None
                yield [*shown, show_line(progress_in_words(columns)), result]

    def write_plainly(self, visitor: str, wanted: WritingRequest) -> Iterator[dict[str, Any]]:
        """The texts as plain data as they grow; the last update has the probabilities of every byte."""
        with self.runs.begin(visitor) as stop:
            for columns in write_in_turns(self.shelf, wanted, stop.is_set):
                yield summarise(wanted, columns, with_bytes=is_over(columns))

    def stop(self, visitor: str) -> None:
        """End the visitor's run; the run itself then shows what it has."""
        self.runs.stop(visitor)

    def leave_line(self) -> list[Any]:
        """Feet and status line of a run that was cancelled in the queue."""
        return [*[""] * MOST_MODELS, show_line("Stopped.")]

    def lay_out(self, models: Sequence[str], prompt: str | None = None) -> list[Any]:
        """Visibility, head, text and foot of every card; with a prompt, the cards are about to be filled."""
        updates: list[Any] = []
        for name in models[:MOST_MODELS]:
            text, foot = ("", "") if prompt is None else (show_prompt(prompt), show_foot(Column(name)))
            updates += [gr.Column(visible=True), show_head(self.shelf, name), text, foot]
        for _ in range(MOST_MODELS - len(models)):
            updates += [gr.Column(visible=False), "", "", ""]
        return updates


def summarise(wanted: WritingRequest, columns: list[Column], *, with_bytes: bool = True) -> dict[str, Any]:
    """A run as plain data, for downloads and other programs."""
    return {"request": wanted.as_json(), "texts": [column.as_json(with_bytes=with_bytes) for column in columns]}


def is_over(columns: list[Column]) -> bool:
    return all(column.state in ("finished", "stopped") for column in columns)


def progress_in_words(columns: list[Column]) -> str:
    """The status line of a run."""
    states = [column.state for column in columns]
    written = sum(len(column.infos) for column in columns)
    if "loading" in states or "waiting" in states:
        return "Loading; what is new to this server is compiled first, which takes some seconds …"
    if "writing" in states:
        return f"Writing … {written:,} bytes"
    return f"{'Stopped after' if 'stopped' in states else 'Finished:'} {written:,} bytes."
