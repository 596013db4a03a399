"""What each method trains, by name and number, without training anything."""

import equinox as eqx
import jax
import pytest

import tipshare
from tipshare import adapters
from tipshare.checkpoint import name_tensors
from training.finetune.methods import Method, trained_by


def shapes_of(kind: str) -> tipshare.LanguageModel:
    return eqx.filter_eval_shape(tipshare.KINDS[kind]().build, key=jax.random.key(0))


def trained_names(method: Method, model: tipshare.LanguageModel) -> dict[str, int]:
    """Sizes of the arrays that a method trains, by name."""
    sizes, chosen = name_tensors(model), name_tensors(trained_by(method, model))
    assert sizes.keys() == chosen.keys()
    return {name: sizes[name].size for name in sizes if chosen[name]}


@pytest.mark.parametrize("kind", tipshare.KINDS)
def test_methods_choose_arrays_by_what_they_are(kind):
    model = shapes_of(kind)
    everything, norms = trained_names("full", model), trained_names("norms", model)
    assert sum(everything.values()) == tipshare.count_parameters(model).total
    assert norms.keys() == {name for name in everything if "norm" in name}
    adapted = eqx.filter_eval_shape(lambda: adapters.apply(model_of(kind), key=jax.random.key(0), rank=4))
    lora = trained_names("lora", adapted)
    assert sum(lora.values()) == tipshare.count_parameters(adapted).adapters > 0
    assert all(name.startswith("adapters.") for name in lora)


def model_of(kind: str) -> tipshare.LanguageModel:
    return tipshare.KINDS[kind]().build(key=jax.random.key(0))


@pytest.mark.parametrize("kind", ["neural-ode", "time-indexed-mlp", "time-indexed-ssm"])
def test_gates_are_few(kind):
    model = shapes_of(kind)
    gates = trained_names("gates", model)
    assert 0 < sum(gates.values()) < 80_000
    if model.config.weights == "gated":
        assert sum(gates.values()) == tipshare.count_parameters(model).gates
    assert not any("projection" in name or name.endswith("layer.weight") for name in gates)


def test_a_kind_without_gates_says_so():
    with pytest.raises(ValueError, match="standard with weights='own' has no gates to train"):
        trained_by("gates", shapes_of("standard"))
