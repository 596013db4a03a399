"""The tutorials run from their first line to their last."""

import itertools

import pytest

from tests.docs.pages import blocks, tutorials
from tests.docs.scene import build_scene
from tests.hub.server import running_hub


@pytest.mark.slow
@pytest.mark.parametrize("page", tutorials())
def test_a_tutorial_runs(page, tmp_path):
    """All blocks in order in a fresh checkout, as a reader would type them."""
    with running_hub() as hub:
        scene = build_scene(tmp_path / "checkout", hub)
        python = ""
        for language, group in itertools.groupby(blocks(page), lambda block: block.language):
            if language == "sh":
                for command in (command for block in group for command in block.commands):
                    scene.run(command)
            elif language == "python":
                # A session in Python stays open while commands are typed elsewhere: what came before is there again.
                python += "".join(block.code for block in group)
                scene.run_python(python)
