"""The page shows adapters as it shows models: from the folder of checkpoints, and from the Hub."""

import dataclasses
import shutil

import equinox as eqx
import jax
import pytest

import tipshare
from app.shelf import ModelShelf, limits
from tests.hub.conftest import hub  # noqa: F401
from tipshare import adapters
from tipshare.checkpoint import open_checkpoint

# The Hub client's own way of sending large files.
pytestmark = pytest.mark.filterwarnings("ignore:Use 'content=:DeprecationWarning")


@pytest.fixture
def adapted(checkpoints, tmp_path, monkeypatch):
    """A folder of checkpoints with an adapter among them."""
    folder = shutil.copytree(checkpoints, tmp_path / "checkpoints")
    monkeypatch.setenv("TIPSHARE_CHECKPOINTS", str(folder))
    model = adapters.apply(tipshare.load("time-indexed-mlp"), key=jax.random.key(0), rank=2, targets=("attention",))
    adapters.save(model, folder / "in-verse", "time-indexed-mlp")
    return folder


def test_an_adapter_in_the_folder_of_checkpoints_is_on_the_shelf(adapted):
    assert "in-verse" in tipshare.list_bundled()
    shelf = ModelShelf()
    assert shelf.names()[-1] == "in-verse"
    entry = shelf.get("in-verse")
    assert (entry.kind, entry.record) == ("time-indexed-mlp", None)
    assert entry.model.adapters is not None
    assert entry.model.score("abc").loss == pytest.approx(shelf.get("time-indexed-mlp").model.score("abc").loss)


def test_adapters_that_differ_along_depth_count_as_weights_of_every_depth(adapted, monkeypatch):
    monkeypatch.setattr(limits, "MOST_MEMORY", 350_000_000)

    def limit(along_depth):
        config, key = tipshare.KINDS["time-indexed-mlp"](hidden_dim=512, num_heads=4), jax.random.key(0)
        build = lambda: adapters.apply(config.build(key=key), key=key, along_depth=along_depth)  # noqa: E731
        shapes = eqx.filter_eval_shape(build)
        return dataclasses.replace(open_checkpoint("time-indexed-mlp"), config=config, shapes=shapes)

    limits.check_demand("shared", limit("shared"))
    with pytest.raises(ValueError, match=r"varied asks for [\d,]+ bytes of memory"):
        limits.check_demand("varied", limit("time-indexed"))


def test_visitors_fetch_adapters_from_the_hub(adapted, hub):  # noqa: F811
    adapters.push(adapted / "in-verse", "org/in-verse")
    shelf = ModelShelf()
    assert shelf.add("org/in-verse") == "org/in-verse"
    assert shelf.get("org/in-verse").model.adapters is not None
