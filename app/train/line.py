"""One run at a time: who trains now, and who waits for their turn."""

import threading

# Runs that may wait; each takes up to a minute.
MOST_WAITING = 8
# The number of runs before one that is in the line no more.
LEFT = -1


class Place:
    """A visitor's place in the line; the first in it trains."""

    def __init__(self, line: "Line", visitor: str) -> None:
        self.visitor = visitor
        self._line = line

    @property
    def ahead(self) -> int:
        """How many runs come before this one; LEFT if it is not in the line."""
        return self._line.before(self)

    def wait(self, seconds: float) -> None:
        """Wait until the line has moved, at most so long."""
        self._line.wait(seconds)

    def leave(self) -> None:
        """Let the next one go; to leave twice does no harm."""
        self._line.remove(self)


class Line:
    """The places of all visitors; safe to share between threads."""

    def __init__(self, most_waiting: int = MOST_WAITING) -> None:
        self._most_waiting = most_waiting
        self._moved = threading.Condition()
        self._places: list[Place] = []

    def join(self, visitor: str) -> Place:
        """A place at the end; ValueError if the visitor has one already or too many wait."""
        with self._moved:
            if any(each.visitor == visitor for each in self._places):
                raise ValueError("a run of yours is under way: stop it first, or wait until it is over")
            if len(self._places) > self._most_waiting:
                raise ValueError(f"{self._most_waiting} runs are waiting already: try again in a few minutes")
            place = Place(self, visitor)
            self._places.append(place)
        return place

    def __len__(self) -> int:
        """Runs that train or wait."""
        return len(self._places)

    def before(self, place: Place) -> int:
        with self._moved:
            return self._places.index(place) if place in self._places else LEFT

    def leave(self, visitor: str) -> None:
        """Take a visitor who waits out of the line; one who trains leaves it when the run ends."""
        with self._moved:
            for place in self._places[1:]:
                if place.visitor == visitor:
                    place.leave()

    def wait(self, seconds: float) -> None:
        with self._moved:
            self._moved.wait(seconds)

    def remove(self, place: Place) -> None:
        with self._moved:
            if place in self._places:
                self._places.remove(place)
            self._moved.notify_all()
