"""`python app.py`, but whoever has come as far as the file HOLD says waits until it says more.

That is after so many bytes of a text, and so many training steps of a run that is not asked to end. So a test in a
browser sees every stage, however fast or busy the machine is.
"""

import os
import time
from pathlib import Path

from app.serve import QUIET, serve

os.environ.update(QUIET)

from app.generate import streaming
from app.train.session import Session

HOLD = Path(os.environ["HOLD"])
take_turn, stepped = streaming._take_turn, Session.stepped


def is_held(reached: int) -> bool:
    return HOLD.exists() and reached >= int(HOLD.read_text() or 0)


def take_turn_unless_held(stream, column) -> None:
    if is_held(len(column.infos)):
        time.sleep(0.01)
    else:
        take_turn(stream, column)


def stepped_unless_held(session, step, loss, seconds) -> None:
    stepped(session, step, loss, seconds)
    while is_held(step) and not (session.now.ended_early or session.is_abandoned):
        time.sleep(0.01)


if __name__ == "__main__":
    Session.stepped = stepped_unless_held
    streaming._take_turn = take_turn_unless_held
    serve()
