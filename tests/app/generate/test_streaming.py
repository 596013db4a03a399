"""Writing in turns: the texts of the library, growing side by side, stopped when asked."""

import threading
import warnings

import gradio as gr

import tipshare
from app.generate.actions import GenerateActions
from app.generate.active_runs import Runs
from app.generate.cards import show_foot
from app.generate.measured import Measured
from app.generate.settings import WritingRequest
from app.generate.streaming import write_in_turns
from app.generate.tinted import bits_of, tint_text
from tests.app.generate.test_tinted import shown_text

ALL = ("standard", "neural-ode", "time-indexed-mlp", "time-indexed-ssm")


def last_of(shelf, **fields):
    *_, columns = write_in_turns(shelf, Measured(), WritingRequest(**{"models": ALL, "length": 40, **fields}))
    return columns


def test_each_text_is_what_the_library_writes(shelf):
    columns = last_of(shelf, prompt="The history of", seed=5, top_k=40)
    for column in columns:
        model = shelf.get(column.name).model
        alone = tipshare.generate(model, "The history of", max_bytes=40, temperature=0.8, seed=5, top_k=40)
        assert column.text == alone.text
        assert column.state == "finished"
        assert column.shown == tint_text(alone.text, alone.trace)
        mean = sum(bits_of(info.probability) for info in alone.trace) / 40
        assert f"{mean:.2f} bits/byte" in show_foot(column)
        assert shown_text(column.shown).replace("\n", "") != ""


def test_texts_grow_at_the_same_time(shelf, monkeypatch):
    monkeypatch.setattr("app.generate.streaming.UPDATE_EVERY", 0.0)
    lengths = [
        [len(column.infos) for column in columns]
        for columns in write_in_turns(shelf, Measured(), WritingRequest(models=ALL, length=100))
    ]
    assert lengths[-1] == [100] * 4
    # When the first model is half done, no other lags by more than a few turns.
    halfway = next(each for each in lengths if each[0] >= 50)
    assert min(halfway) >= 20


def test_shown_text_only_grows(shelf, monkeypatch):
    monkeypatch.setattr("app.generate.streaming.UPDATE_EVERY", 0.0)
    shown = ""
    for columns in write_in_turns(shelf, Measured(), WritingRequest(models=("standard",), length=60)):
        assert columns[0].shown.startswith(shown)
        shown = columns[0].shown
    assert shown


def test_a_new_seed_is_another_text_and_the_same_seed_the_same(shelf):
    first, again, other = (last_of(shelf, seed=seed, models=("standard",))[0].text for seed in (1, 1, 2))
    assert first == again != other


def test_an_empty_prompt_begins_a_text(shelf):
    (column,) = last_of(shelf, models=("time-indexed-ssm",), prompt="")
    assert len(column.infos) == 40
    assert column.unread == 0


def test_of_a_long_prompt_the_end_is_read_and_the_card_says_so(shelf):
    context = shelf.get("standard").config.max_position_embeddings
    prompt = "é" * 50_000
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        (column,) = last_of(shelf, models=("standard",), prompt=prompt)
    assert column.unread == 100_000 - context
    assert f"only its last {context} bytes are read" in show_foot(column)
    (tail,) = last_of(shelf, models=("standard",), prompt=prompt[-context // 2 :])
    assert column.text == tail.text


def test_depth_steps_reach_the_models_that_take_them(shelf):
    deep = {column.name: column.text for column in last_of(shelf, steps=5)}
    plain = {column.name: column.text for column in last_of(shelf)}
    assert deep["standard"] == plain["standard"]
    assert deep["time-indexed-mlp"] != plain["time-indexed-mlp"]


def test_a_stopped_run_keeps_what_it_has(shelf):
    asked = iter([False] * 12 + [True] * 100)
    *_, columns = write_in_turns(shelf, Measured(), WritingRequest(models=ALL, length=500), lambda: next(asked))
    assert [column.state for column in columns] == ["stopped"] * 4
    assert all(0 < len(column.infos) < 500 for column in columns)


def test_a_run_stops_while_models_are_loaded(shelf):
    *_, columns = write_in_turns(shelf, Measured(), WritingRequest(models=ALL), lambda: True)
    assert [column.state for column in columns] == ["stopped"] * 4
    assert not any(column.infos for column in columns)


def test_only_the_visitor_s_own_run_is_stopped():
    runs = Runs()
    with runs.begin("me") as mine, runs.begin("you") as yours:
        assert runs.count() == 2
        ended = threading.Thread(target=runs.stop, args=("me",))
        ended.start()
        assert mine.wait()
        assert not yours.is_set()
        assert runs.stop("nobody") is None
    ended.join()
    assert runs.count() == 0


def test_a_second_run_of_a_visitor_ends_the_first():
    runs = Runs()
    with runs.begin("me") as first, runs.begin("me") as second:
        assert first.is_set()
        assert not second.is_set()
    assert runs.count() == 0


def test_a_run_that_was_asked_for_later_ends_the_one_before_at_once_and_keeps_those_in_line_from_starting():
    runs = Runs()
    first = runs.announce("me")
    with runs.begin("me") as stop:
        waiting, last = runs.announce("me"), runs.announce("me")
        assert stop.is_set()
    other = runs.announce("you")
    assert first < waiting < last < other
    assert [runs.is_latest("me", number) for number in (first, waiting, last)] == [False, False, True]
    assert runs.is_latest("you", other)


def test_a_run_in_line_that_is_stopped_never_begins_and_the_page_is_told():
    runs = Runs()
    waiting = runs.announce("me")
    number = runs.stop("me")
    assert number is not None
    assert number > waiting
    assert not runs.is_latest("me", waiting)
    assert runs.stop("me") is None  # nothing is left to stop


def test_nothing_is_kept_of_a_program_whose_run_is_over():
    runs = Runs()
    with runs.begin("program"):
        pass
    assert not runs._latest


def test_an_empty_page_has_nothing_to_stop(shelf):
    actions = GenerateActions(shelf, Runs())
    actions.clear("me")
    assert actions.stop("me") == gr.skip()


def test_compiling_is_no_part_of_the_speed(shelf, monkeypatch):
    """A clock that only compiling moves by much: the speed is that of writing."""
    clock, compiled = [0.0], []

    def compile_slowly(self, model, prompt, steps) -> None:
        compiled.append(steps)
        clock[0] += 1000.0

    def tick() -> float:
        clock[0] += 0.001
        return clock[0]

    monkeypatch.setattr(Measured, "compile", compile_slowly)
    monkeypatch.setattr("app.generate.streaming.time.perf_counter", tick)
    states = []
    for columns in write_in_turns(shelf, Measured(), WritingRequest(models=("time-indexed-mlp",), length=40, steps=3)):
        states.append(columns[0].state)
    assert compiled == [3]
    assert states[:2] == ["loading", "compiling"]
    assert columns[0].speed > 1000


def test_what_was_compiled_is_known_by_model_depth_and_length_of_the_prompt(shelf, monkeypatch):
    asked: list[int | None] = []
    stream = tipshare.stream
    monkeypatch.setattr(
        tipshare, "stream", lambda *given, **named: asked.append(named["steps"]) or stream(*given, **named)
    )
    measured, model = Measured(), shelf.get("time-indexed-ssm").model
    for prompt, steps in ((b"", 2), (b"", 2), (b"abc", 3), (b"abd", 3), (b"a" * 40, 3)):
        measured.compile(model, prompt, steps)
        assert measured.is_compiled(model, prompt, steps)
    assert asked == [2, 3, 3]
    assert not measured.is_compiled(model, b"", 4)
    assert not measured.is_compiled(shelf.get("standard").model, b"", 2)


def test_the_speed_at_a_depth_is_known_after_a_run_at_that_depth(shelf):
    measured = Measured()
    for steps in (2, 3):
        list(write_in_turns(shelf, measured, WritingRequest(models=ALL, length=40, steps=steps)))
    assert measured.speed("time-indexed-mlp", 3) > 0
    assert measured.speed("time-indexed-mlp", 3) != measured.speed("time-indexed-mlp", 2)
    assert measured.speed("time-indexed-mlp", 4) is None
    assert measured.speed("standard", 3) is None  # its depth is fixed
    assert measured.speed("standard", 2) > 0
