"""One run at a time: who trains now, and who waits for their turn."""

import threading

# Runs that may wait; each takes up to a minute.
MOST_WAITING = 8
# The number of runs before one that is in the line no more.
LEFT = -1


class Line:
    """The places of all visitors; safe to share between threads."""

    def __init__(self, most_waiting: int = MOST_WAITING) -> None:
        self.moved = threading.Condition()
        self.places: list[Place] = []
        self._most_waiting = most_waiting

    def join(self, visitor: str) -> "Place":
        """A place at the end; ValueError if the visitor has one already or too many wait."""
        with self.moved:
            if any(each.visitor == visitor for each in self.places):
                raise ValueError("a run of yours is under way: stop it first, or wait until it is over")
            if len(self.places) > self._most_waiting:
                raise ValueError(f"{self._most_waiting} runs are waiting already: try again in a few minutes")
            place = Place(self, visitor)
            self.places.append(place)
        return place

    def leave(self, visitor: str) -> None:
        """Take a visitor who waits out of the line; one who trains leaves it when the run ends."""
        with self.moved:
            for place in self.places[1:]:
                if place.visitor == visitor:
                    place.leave()

    def __len__(self) -> int:
        """Runs that train or wait."""
        return len(self.places)


class Place:
    """A visitor's place in the line; the first in it trains."""

    def __init__(self, line: Line, visitor: str) -> None:
        self.visitor = visitor
        self._line = line

    @property
    def ahead(self) -> int:
        """How many runs come before this one; LEFT if it is not in the line."""
        with self._line.moved:
            return self._line.places.index(self) if self in self._line.places else LEFT

    def wait(self, seconds: float) -> None:
        """Wait until the line has moved, at most so long."""
        with self._line.moved:
            self._line.moved.wait(seconds)

    def leave(self) -> None:
        """Let the next one go; to leave twice does no harm."""
        with self._line.moved:
            if self in self._line.places:
                self._line.places.remove(self)
            self._line.moved.notify_all()
