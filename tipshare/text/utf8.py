"""UTF-8 as a small automaton: which bytes may follow, and how many a character still needs.

State 0 is the start of a character; the others are named by the continuation bytes they wait for. After four lead
bytes the next byte has a narrower range, which rules out overlong forms, surrogates and code points above U+10FFFF.
"""

from collections.abc import Sequence

import numpy as np

# Bytes each state waits for.
_WAITING = (0, 1, 2, 3, 2, 2, 3, 3)
# First byte, last byte, state it leads to; by state.
_RULES = (
    (
        (0x00, 0x7F, 0),
        (0xC2, 0xDF, 1),
        (0xE0, 0xE0, 4),
        (0xE1, 0xEC, 2),
        (0xED, 0xED, 5),
        (0xEE, 0xEF, 2),
        (0xF0, 0xF0, 6),
        (0xF1, 0xF3, 3),
        (0xF4, 0xF4, 7),
    ),
    ((0x80, 0xBF, 0),),
    ((0x80, 0xBF, 1),),
    ((0x80, 0xBF, 2),),
    ((0xA0, 0xBF, 1),),
    ((0x80, 0x9F, 1),),
    ((0x90, 0xBF, 2),),
    ((0x80, 0x8F, 2),),
)
# More than any character needs: no number of bytes left makes a forbidden byte fit.
FORBIDDEN = 2**30


def _byte_tables() -> tuple[np.ndarray, np.ndarray]:
    next_state = np.zeros((len(_RULES), 256), np.int32)
    to_come = np.full((len(_RULES), 256), FORBIDDEN, np.int32)
    for state, rules in enumerate(_RULES):
        for first, last, follower in rules:
            next_state[state, first : last + 1] = follower
            to_come[state, first : last + 1] = _WAITING[follower]
    return next_state, to_come


# [state, byte]: the state after the byte, and how many bytes its character then still needs.
NEXT_STATE, BYTES_TO_COME = _byte_tables()


def token_tables(pieces: Sequence[bytes]) -> tuple[np.ndarray, np.ndarray]:
    """The same two tables for tokens of any bytes, as {state, token}."""
    next_state = np.zeros((len(_RULES), len(pieces)), np.int32)
    to_come = np.zeros_like(next_state)
    for token, piece in enumerate(pieces):
        state, forbidden = np.arange(len(_RULES)), np.zeros(len(_RULES), bool)
        for byte in piece:
            forbidden |= BYTES_TO_COME[state, byte] == FORBIDDEN
            state = NEXT_STATE[state, byte]
        next_state[:, token] = state
        to_come[:, token] = np.where(forbidden, FORBIDDEN, np.take(_WAITING, state))
    return next_state, to_come


def complete_length(data: bytes) -> int:
    """How many bytes of `data` come before an unfinished character at its end."""
    for back in range(1, min(3, len(data)) + 1):
        lead = data[-back]
        if lead & 0xC0 == 0x80:
            continue
        needed = 2 if lead >> 5 == 0b110 else 3 if lead >> 4 == 0b1110 else 4 if lead >> 3 == 0b11110 else 1
        return len(data) - back if needed > back else len(data)
    return len(data)
