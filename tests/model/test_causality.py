"""No logit may depend on a later byte: the published models failed this, all four of them."""

import haliax as hax
import numpy as np
import pytest

import tipshare.model.attention
from tests.factories import GRID, TARGETS, TOKENS, build, each_config, frozen, logits_of


def largest_changes(model) -> tuple[float, float]:
    """How far logits move when a later byte changes, at the most, and when an earlier or their own does, at the least.

    The four rows are the same text: as it is, and with byte 1, 5 or 9 changed.
    """
    positions = (1, 5, 9)
    tokens = np.repeat(TOKENS[:1], 4, axis=0)
    for row, position in enumerate(positions, start=1):
        tokens[row, position] = (tokens[row, position] + 1) % 256
    logits = logits_of(model, tokens)
    change = np.abs(logits[1:] - logits[:1]).max(axis=-1)
    earlier = [change[row, :position].max() for row, position in enumerate(positions)]
    later = [change[row, position:].min() for row, position in enumerate(positions)]
    return max(earlier), min(later)


@pytest.mark.parametrize("make", [build, frozen], ids=["live", "frozen"])
@each_config
def test_earlier_logits_ignore_later_bytes(config, make):
    earlier, later = largest_changes(make(config))
    assert earlier <= 1e-5
    assert later > 1e-4  # the probe bites: every later logit does move


def test_causality_holds_at_another_number_of_depth_steps():
    earlier, later = largest_changes(build(GRID["time-indexed-ssm"]).freeze(7))
    assert earlier <= 1e-5
    assert later > 1e-4


@each_config
def test_output_does_not_depend_on_batch_neighbours(config):
    together = logits_of(build(config), TOKENS)
    others_changed = np.concatenate([TOKENS[:1], TARGETS[1:]])
    np.testing.assert_allclose(logits_of(build(config), others_changed)[0], together[0], atol=1e-5)
    assert not np.allclose(together[0], together[1], atol=1e-3)


def test_the_probe_catches_the_published_attention(monkeypatch):
    """The published mask used one axis name for queries and keys; it is all True and every position sees the future."""

    attend = tipshare.model.attention.attend

    def attend_with_one_axis_name(query, keys, values, visible, *dropout):
        Position = query.resolve_axis("position")
        visible = hax.arange(Position) >= hax.arange(Position)  # compares each position with itself only
        return attend(query, keys, values, visible, *dropout)

    config = GRID["time-indexed-mlp"].replace(hidden_dim=24)  # sizes that no other test has compiled code for
    monkeypatch.setattr(tipshare.model.attention, "attend", attend_with_one_axis_name)
    earlier, _ = largest_changes(build(config))
    assert earlier > 1e-3
