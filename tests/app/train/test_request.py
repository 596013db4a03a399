"""What a visitor may ask to be trained: every choice that is offered, and limits in words."""

import pytest

import tipshare
from app.page import TRAIN_TAB, tab_names
from app.train import settings
from app.train.choices import DRAWN, NOTHING, RECIPE, options_of
from app.train.settings import BUILTIN, MOST_STEPS, MOST_TEXT, PASTED, TrainingRequest
from training.recipes.library import find_recipe

TEXT = "A text of a visitor's own, said again and again. " * 120


@pytest.mark.parametrize("kind", tipshare.KINDS)
def test_every_choice_of_every_kind_changes_one_thing_and_makes_a_model(kind):
    plain = TrainingRequest(kind=kind)
    assert plain.label == kind
    labels = {kind}
    for value, option in options_of(kind).items():
        asked = TrainingRequest(kind=kind, choice=value)
        labels.add(asked.label)
        same = asked.config == plain.config and asked.recipe.settings() == plain.recipe.settings()
        assert same == (value == NOTHING), option.title
    assert len(labels) == len(options_of(kind))  # no two runs go by one name
    groups = {value.partition("=")[0] for value in options_of(kind)} - {NOTHING}
    assert groups >= {"weights", "mixer", "depth", "optimizer", "rate"}
    assert ("features" in groups) == (kind != "standard")
    assert ("depth=drawn" in options_of(kind)) == (kind != "standard")


def test_depth_is_drawn_where_weights_are_defined_at_every_t():
    assert TrainingRequest(kind="time-indexed-ssm", choice="depth=drawn").recipe.depth_steps == DRAWN
    with pytest.raises(ValueError, match="'depth=drawn' cannot be changed in standard; what can is weights="):
        TrainingRequest(kind="standard", choice="depth=drawn")


def test_the_command_repeats_the_run():
    asked = TrainingRequest(kind="time-indexed-mlp", choice="rate=0.01", steps=40, width=32, seed=3)
    words = asked.command.split()
    assert words[:7] == ["python", "-m", "training", "train", RECIPE.name, "--model", "time-indexed-mlp"]
    changes = words[words.index("--set") + 1 :]
    assert find_recipe(RECIPE.name).change(changes) == asked.recipe
    assert asked.recipe.num_steps == 40
    assert asked.recipe.warmup_steps < 40
    assert asked.config.hidden_dim == 32


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"kind": "magic"}, "magic"),
        ({"choice": "weights=own"}, "'weights=own' cannot be changed in standard"),
        ({"steps": MOST_STEPS + 1}, f"training steps={MOST_STEPS + 1} must"),
        ({"steps": 0}, "training steps=0 must"),
        ({"seed": -1}, "seed=-1 must"),
        ({"width": 1000}, "width=1000 must be one of 32, 64, 96, 128"),
        ({"source": "/etc/passwd"}, "no text is called '/etc/passwd'"),
        ({"source": PASTED}, "the text has 0 bytes: paste 5,000 to"),
        ({"source": PASTED, "text": "a" * (MOST_TEXT + 1)}, "bytes: paste 5,000 to 200,000"),
    ],
)
def test_what_is_beyond_the_limits_is_refused_in_words(changes, message):
    with pytest.raises(ValueError, match=message):
        TrainingRequest(**{"kind": "standard", **changes})


def test_a_model_too_large_for_the_page_is_refused(monkeypatch):
    monkeypatch.setattr(settings, "MOST_PARAMETERS", 1000)
    with pytest.raises(ValueError, match="parameters: choose a smaller width for at most 1,000"):
        TrainingRequest(kind="standard")


def test_a_pasted_text_is_the_corpus_and_its_name_is_in_the_record(tmp_path):
    run = TrainingRequest(kind="standard", source=PASTED, text=TEXT).describe_run(tmp_path)
    assert bytes(run.corpus.split("train")[:30]).decode() == TEXT[:30]
    assert run.identity()["settings"]["corpus"] == PASTED
    assert run.command.endswith("--data-dir DIR")
    assert TrainingRequest(kind="standard").describe_run(tmp_path).corpus.name == BUILTIN


def test_values_of_the_controls_are_checked_as_they_come():
    asked = TrainingRequest.of_controls("time-indexed-ssm", None, BUILTIN, None, 100.0, 64, 0)
    assert asked == TrainingRequest(kind="time-indexed-ssm", steps=100, width=64)
    with pytest.raises(ValueError, match="seed='x' must be a whole number"):
        TrainingRequest.of_controls("standard", "", BUILTIN, "", 100, 64, "x")


def test_the_tab_can_be_left_out():
    assert "train" in tab_names({})
    assert "train" in tab_names({TRAIN_TAB: "1"})
    assert "train" not in tab_names({TRAIN_TAB: "0"})
