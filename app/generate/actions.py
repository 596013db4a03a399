"""The actions of the Generate tab."""

import dataclasses
import json
import math
from collections.abc import Iterator, Sequence
from typing import Any

import gradio as gr

from app.controls import texts, whole_number
from app.generate.active_runs import Runs
from app.generate.blind import question
from app.generate.cards import lay_out, show_head, show_texts
from app.generate.claim import show_claim
from app.generate.dial import on_dial, usual_steps
from app.generate.examples import show_examples
from app.generate.passage import gates_of, show_passage
from app.generate.settings import MOST_MODELS, PARAMETERS, SAMPLING, WritingRequest, read_query
from app.generate.streaming import Column, write_in_turns
from app.shelf import ModelShelf

NOTHING_HERE = "No model is here yet: load one from the Hub (top of the page), or train one (see About)."
# The name of this tab in the page's address.
TAB = "generate"


class GenerateActions:
    """The actions on one shelf of models; ValueError on bad input."""

    def __init__(self, shelf: ModelShelf, runs: Runs) -> None:
        self.shelf, self.runs, self.measured = shelf, runs, runs.measured

    def of(self, request: gr.Request) -> "GenerateActions":
        """The same actions with the models that a visitor sees."""
        return GenerateActions(self.shelf.of(request.session_hash), self.runs)

    def open_page(self, request: gr.Request) -> list[Any]:
        """The controls as set in the page's address, cards, their first texts, a run to start, the examples' timer, and
        whether the settings are open.

        A link with settings of this tab brings its texts too: they are written again. Other pages open with examples.
        """
        names, query = self.shelf.names(), dict(request.query_params)
        query = query if query.get("tab", TAB) == TAB else {}
        wanted, note = None, "" if names else NOTHING_HERE
        try:
            wanted = read_query(query, names) if names else None
        except ValueError as error:
            note = f"This link is damaged: {error}."
        models = list(wanted.models) if wanted else names[:MOST_MODELS]
        # Controls that the address does not set are left alone: the visitor may have begun to type.
        values = {name: getattr(wanted, name) if wanted and name in query else gr.skip() for name in PARAMETERS}
        values["models"] = gr.CheckboxGroup(choices=self.shelf.choices(), value=models)
        values["steps"] = steps = on_dial(wanted.steps) if wanted and wanted.steps else self.dial()
        cards, examples = self.lay_out(models, steps, note), show_examples(self.measured, note)
        if wanted:
            values["prompt"] = wanted.prompt
            settings = gr.Accordion(open=True) if set(query) & set(SAMPLING) else gr.skip()
            linked = dataclasses.replace(wanted, steps=steps)
            return [*values.values(), cards, gr.skip(), json.dumps(linked.as_values()), gr.skip(), settings]
        timer = gr.Timer(active=not self.measured.has_all_examples)
        return [*values.values(), cards, examples, gr.skip(), timer, gr.skip()]

    def look_for_examples(self) -> list[Any]:
        """The examples for a page that was opened before they were written."""
        done = self.measured.has_all_examples
        return [show_examples(self.measured), gr.Timer(active=False) if done else gr.skip()]

    def dial(self) -> int:
        """Where the dial for depth stands at first."""
        return usual_steps(list(self.shelf.listings()))

    def show_opening(self) -> list[str]:
        """The claim with its bars, and the question of the blind test, from the bundled models."""
        listings = list(self.shelf.listings())
        return [show_claim(listings), question(listings)]

    def show_passage(self) -> str:
        """A byte on its way through depth, with the gates of the bundled model of the claim."""
        return self.measured.once("passage", self._draw_passage)

    def _draw_passage(self) -> str:
        gated = [each for each in self.shelf.listings() if each.config.weights == "gated"]
        best = min(gated, key=lambda each: math.inf if each.loss is None else each.loss, default=None)
        try:
            return show_passage(gates_of(self.shelf.get(best.name)) if best else None)
        except ValueError:  # damaged weights, as the model's card says
            return show_passage(None)

    def choose(self, models: Any, steps: Any) -> dict[str, Any]:
        """Cards of the chosen models, in which texts stay; and a message if there are too many models or none."""
        chosen, steps = texts("models", models), whole_number("depth steps", steps)
        note = ""
        if not chosen:
            note = "Choose at least one model." if self.shelf.names() else NOTHING_HERE
        elif len(chosen) > MOST_MODELS:
            note = f"{len(chosen)} models are chosen: the first {MOST_MODELS} have room."
        return self.lay_out(chosen, steps, note)

    def prepare(self, visitor: str, *values: Any) -> list[Any]:
        """Cards with the prompt, before the models start; ends an earlier run of the visitor."""
        if not self.shelf.names():
            raise ValueError(NOTHING_HERE)
        wanted = WritingRequest.of_controls(*values)
        number = self.runs.announce(visitor)
        waiting = [Column(name) for name in wanted.models]
        return [self.lay_out(wanted.models, wanted.steps), show_run(number, wanted, waiting, "In line …"), str(number)]

    def write(self, visitor: str, number: str, *values: Any) -> Iterator[Any]:
        """A run that was prepared, as it grows; at the end with everything as JSON."""
        wanted = WritingRequest.of_controls(*values)
        run = int(number) if str(number).isdecimal() else 0
        if not self.runs.is_latest(visitor, run):
            yield gr.skip()
            return
        with self.runs.begin(visitor) as stop:
            for columns in write_in_turns(self.shelf, self.measured, wanted, stop.is_set):
                shown = show_run(run, wanted, columns, progress_in_words(columns))
                if is_over(columns):  # the speeds are known now
                    for text in shown["texts"]:
                        text["head"] = show_head(self.shelf, self.measured, text["name"], wanted.steps)
                yield shown

    def write_plainly(self, visitor: str, wanted: WritingRequest) -> Iterator[dict[str, Any]]:
        """The texts as plain data as they grow; the last update has the probabilities of every byte."""
        with self.runs.begin(visitor) as stop:
            for columns in write_in_turns(self.shelf, self.measured, wanted, stop.is_set):
                yield summarise(wanted, columns, with_bytes=is_over(columns))

    def stop(self, visitor: str) -> Any:
        """End the visitor's run, which then shows what it has; a run in the queue has nothing to show."""
        number = self.runs.stop(visitor)
        return gr.skip() if number is None else {"run": number, "line": "Stopped.", "texts": [], "result": None}

    def clear(self, visitor: str) -> dict[str, Any]:
        """No text in any card, and none to come."""
        return {"run": self.runs.announce(visitor, is_to_come=False), "line": "", "texts": [], "result": None}

    def lay_out(self, models: Sequence[str], steps: int, note: str = "") -> dict[str, Any]:
        return lay_out(self.shelf, self.measured, models[:MOST_MODELS], steps, note)


def show_run(number: int, wanted: WritingRequest, columns: list[Column], line: str) -> dict[str, Any]:
    """A run as the cards show it; everything as JSON once it is over."""
    result = summarise(wanted, columns) if is_over(columns) else None
    return {"run": number, "line": line, "texts": show_texts(wanted.prompt, columns), "result": result}


def summarise(wanted: WritingRequest, columns: list[Column], *, with_bytes: bool = True) -> dict[str, Any]:
    """A run as plain data, for downloads and other programs."""
    return {"request": wanted.as_json(), "texts": [column.as_json(with_bytes=with_bytes) for column in columns]}


def is_over(columns: list[Column]) -> bool:
    return all(column.state in ("finished", "stopped") for column in columns)


def progress_in_words(columns: list[Column]) -> str:
    """The status line of a run."""
    states = [column.state for column in columns]
    written = sum(len(column.infos) for column in columns)
    if "compiling" in states:
        return "Compiling what is new to this server, which takes some seconds …"
    if "loading" in states or "waiting" in states:
        return "Loading …"
    if "writing" in states:
        return f"Writing … {written:,} bytes"
    return f"{'Stopped after' if 'stopped' in states else 'Finished:'} {written:,} bytes."
