"""Tensor names are a promise: files written today must load tomorrow."""

import json
from pathlib import Path

import equinox as eqx
import jax
import jax.random as jr
import pytest
from jax.tree_util import FlattenedIndexKey

from tests.checkpoint.configs import TINY
from tipshare.checkpoint import name_tensors
from tipshare.checkpoint.names import tensor_name

GOLDEN = Path(__file__).with_name("tensor_names.json")


@pytest.mark.parametrize("kind", TINY)
def test_names_and_shapes_have_not_changed(kind):
    """After a wanted change: raise FORMAT_VERSION, and write this list anew."""
    shapes = eqx.filter_eval_shape(TINY[kind].build, key=jr.key(0))
    found = {name: list(leaf.shape) for name, leaf in name_tensors(shapes).items()}
    assert found == json.loads(GOLDEN.read_text())[kind]


def test_a_name_follows_attributes_and_keys():
    tree = {"mixer": {"up": 1.0}}
    (path, _), *_ = jax.tree_util.tree_flatten_with_path(tree)[0]
    assert tensor_name((*path, FlattenedIndexKey(0))) == "mixer.up"


def test_what_has_no_stable_name_is_refused():
    (path, _), *_ = jax.tree_util.tree_flatten_with_path([1.0])[0]
    with pytest.raises(ValueError, match="no stable name"):
        tensor_name(path)
    (path, _), *_ = jax.tree_util.tree_flatten_with_path({"a.b": 1.0})[0]
    with pytest.raises(ValueError, match="no stable name"):
        tensor_name(path)
