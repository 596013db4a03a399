"""`python app.py`, but a model that has written as many bytes as the file HOLD says waits until it says more.

So a test in a browser sees every stage of a text, however fast or busy the machine is.
"""

import os
import time
from pathlib import Path

from app.serve import QUIET, serve

os.environ.update(QUIET)

from app.generate import streaming

HOLD = Path(os.environ["HOLD"])
take_turn = streaming._take_turn


def take_turn_unless_held(stream, column) -> None:
    if HOLD.exists() and len(column.infos) >= int(HOLD.read_text() or 0):
        time.sleep(0.01)
    else:
        take_turn(stream, column)


if __name__ == "__main__":
    streaming._take_turn = take_turn_unless_held
    serve()
