"""Recipes: valid, described, and changed from the command line without being mistaken for themselves."""

import dataclasses
import json

import pytest

from tests.training.engine.tiny import TINY
from training.recipes.library import RECIPES, find_recipe
from training.recipes.recipe import slug


@pytest.mark.parametrize("name", RECIPES)
def test_every_model_of_a_recipe_has_a_config_and_settings_in_json(name):
    recipe = RECIPES[name]
    assert recipe.name == name
    labels = [recipe.configure(model) for model in recipe.models]
    assert len({slug(label) for label, _ in labels}) == len(recipe.models)
    for _, config in labels:
        assert config.max_position_embeddings == recipe.length
        settings = recipe.settings()
        assert json.loads(json.dumps(settings)) == settings


def test_the_models_of_an_ablation_differ():
    for name, recipe in RECIPES.items():
        if name.startswith("ablation-"):
            configs = [recipe.configure(model)[1] for model in recipe.models]
            assert len(set(configs)) == len(configs), name


def test_the_published_protocol():
    recipe = RECIPES["published-1000"]
    assert recipe.seeds == (42, 123, 456, 789, 1011)
    assert (recipe.num_steps, recipe.batch_size, recipe.length, recipe.learning_rate) == (1_000, 8, 128, 3e-4)
    assert (recipe.optimizer, recipe.schedule, recipe.precision) == ("adam", "constant", "float32")
    for model in recipe.models:
        config = recipe.configure(model)[1]
        assert (config.hidden_dim, config.num_heads, config.num_layers) == (256, 4, 6)
    label, config = recipe.configure("time-indexed-mlp", "published")
    assert (label, slug(label)) == ("time-indexed-mlp, published shape", "time-indexed-mlp-published-shape")
    assert config.positions == "none"


def test_changes_reach_recipe_and_model_and_show_in_the_name():
    changed = TINY.change(["num_steps=50", "model.hidden_dim=32", "betas=[0.8, 0.9]", "save_every=7"])
    assert (changed.num_steps, changed.betas, changed.save_every) == (50, (0.8, 0.9), 7)
    assert changed.configure("standard")[1].hidden_dim == 32
    assert changed.name == "tiny+betas=[0.8, 0.9]+model.hidden_dim=32+num_steps=50"
    assert TINY.change(["save_every=7"]).name == "tiny"  # it changes no number


def test_a_learning_rate_for_all_replaces_those_by_model():
    showcase = RECIPES["showcase"]
    assert showcase.for_model("standard").learning_rate < showcase.for_model("time-indexed-ssm").learning_rate
    assert showcase.change(["learning_rate=0.5"]).for_model("standard").learning_rate == 0.5
    assert showcase.change(["num_steps=500"]).for_model("standard").learning_rate == 3e-3


def test_what_a_recipe_sets_for_one_model_is_checked():
    with pytest.raises(ValueError, match="by_model names 'lstm'; its models are"):
        dataclasses.replace(TINY, by_model={"lstm": {"learning_rate": 1.0}})
    with pytest.raises(ValueError, match="unknown recipe field 'rate'"):
        dataclasses.replace(TINY, by_model={"standard": {"rate": 1.0}})
    with pytest.raises(ValueError, match="num_steps=0 must be a whole number"):
        dataclasses.replace(TINY, by_model={"standard": {"num_steps": 0}})


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ("num_steps", "'num_steps' is not a change: write field=value"),
        ("steps=5", "unknown recipe field 'steps'; there are corpus, num_steps"),
        ("num_steps=0", "num_steps=0 must be a whole number, at least 1"),
        ("num_steps=many", "num_steps='many' must be a whole number"),
        ("optimizer=sgd", "optimizer='sgd' is not one of adam, adamw"),
        ("learning_rate=-1", "learning_rate=-1 must be a finite number, at least 0"),
        ("learning_rate=0", "learning_rate=0.0 must be above 0"),
        ("betas=[0.9]", "must be two numbers"),
        ("warmup_steps=12", "leaves none of num_steps=12"),
        ("weight_decay=0.1", "adam has no weight decay"),
        ("final_learning_rate_share=2", "must be a finite number, at least 0 and at most 1"),
        ("depth_evaluation=[one]", "must be a list of int"),
        ("seeds=[3]", "unknown recipe field 'seeds'"),  # --seed and --seeds are arguments of their own
    ],
)
def test_bad_changes_are_refused(change, message):
    with pytest.raises(ValueError, match=message.replace("[", r"\[")):
        TINY.change([change])


def test_unknown_names_list_the_known_ones():
    with pytest.raises(ValueError, match="unknown recipe 'slow'; the recipes are quick, one-minute, published-1000"):
        find_recipe("slow")
    with pytest.raises(ValueError, match="unknown model 'lstm' for recipe tiny; it has standard"):
        TINY.configure("lstm")
    with pytest.raises(ValueError, match="windows of 16 bytes, but the model has max_position_embeddings=8"):
        dataclasses.replace(TINY, model={"max_position_embeddings": 8}).configure("standard")


def test_a_very_long_name_still_fits_a_file_system():
    names = ["x" * 300, "x" * 299 + "y"]
    assert len({slug(name) for name in names}) == 2
    assert all(len(slug(name)) < 200 for name in names)
