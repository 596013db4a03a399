"""The actions of the Train tab: runs of visitors one after the other, and what each visitor keeps."""

import secrets
import shutil
import tempfile
import threading
import weakref
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from app.shelf import ModelShelf
from app.train.line import LEFT, Line, Place
from app.train.session import Session, Snapshot
from app.train.settings import CHECKPOINT, TrainingRequest

# Seconds between two looks at a run or at the line. Closing the page is noticed at the next one.
LOOK_EVERY = 0.5
# Models that a visitor keeps, and bytes of the archives of all visitors; the oldest go first.
MOST_KEPT = 4
MOST_ARCHIVED = 150_000_000
# In a run's folder, but no part of its checkpoint.
LEFT_OUT = ("lock",)


@dataclass(frozen=True)
class Trained:
    """A finished run of a visitor.

    Attributes:
        name: Its name on the shelf.
        label: What its visitor sees in lists.
        folder: Its checkpoint.
        archive: The same as a zip file.
        size: Bytes of the archive.
    """

    visitor: str
    name: str
    label: str
    run: Snapshot
    folder: Path
    archive: Path
    size: int


@dataclass(frozen=True)
class View:
    """What a visitor sees at one moment: their place in the line, or their run; at last the model that it made.

    Attributes:
        ahead: Runs that come before theirs; LEFT if they left the line.
    """

    ahead: int = 0
    now: Snapshot | None = None
    before: Snapshot | None = None
    trained: Trained | None = None


class TrainActions:
    """Trains for all visitors of a page, one run at a time; safe to share between threads."""

    def __init__(self, shelf: ModelShelf, archives: Path, line: Line | None = None) -> None:
        """Nothing is trained yet.

        Args:
            shelf: Where a visitor's models are put, for their eyes alone.
            archives: Where the page serves files from; their folders there have names that cannot be guessed.
        """
        self.line = line or Line()
        self._shelf = shelf
        self._archives = archives
        self._guard = threading.Lock()
        self._sessions: dict[str, Session] = {}
        # By the name on the shelf, oldest first.
        self._trained: dict[str, Trained] = {}
        self._count: dict[str, int] = {}
        self._root = Path(tempfile.mkdtemp(prefix="tipshare-train-"))
        weakref.finalize(self, shutil.rmtree, self._root, ignore_errors=True)

    def train(self, visitor: str, request: TrainingRequest) -> Iterator[View]:
        """Wait for a turn, then train; closing the generator ends the run and keeps nothing of it."""
        newest = self.newest(visitor)
        before = newest.run if newest else None
        place = self.line.join(visitor)
        try:
            while (ahead := place.ahead) > 0:
                yield View(ahead, before=before)
                place.wait(LOOK_EVERY)
            if ahead == LEFT:
                yield View(LEFT, before=before)
                return
            folder = Path(tempfile.mkdtemp(dir=self._root))
            session = Session(request, folder, lambda over: self._end(place, session, over))
        except BaseException:
            place.leave()
            raise
        # From here on the run's own thread leaves the line when it ends: a generator is closed by the server's only
        # event loop, which must not wait.
        with self._guard:
            self._sessions[visitor] = session
        session.start()
        try:
            now = session.now
            while not now.is_over:
                yield View(0, now, before)
                now = session.wait(now, LOOK_EVERY)
            yield View(0, now, before, self.newest(visitor) if now.record else None)
        finally:
            session.abandon()

    def stop(self, visitor: str) -> None:
        """End the visitor's run, which keeps what there is; or leave the line."""
        with self._guard:
            session = self._sessions.get(visitor)
        if session is not None:
            session.end()
        else:
            self.line.leave(visitor)

    def leave(self, visitor: str) -> None:
        """A visitor is gone: end their run and delete what they trained."""
        self.line.leave(visitor)
        with self._guard:
            session = self._sessions.get(visitor)
            trained = [self._trained.pop(each.name) for each in self._of(visitor)]
            self._count.pop(visitor, None)
        if session is not None:
            session.abandon()
        for each in trained:
            self._delete(each)

    def newest(self, visitor: str) -> Trained | None:
        """What the visitor trained last."""
        with self._guard:
            return next(reversed(self._of(visitor)), None)

    def running(self) -> int:
        """Runs whose threads have not ended."""
        with self._guard:
            return len(self._sessions)

    def _end(self, place: Place, session: Session, over: Snapshot) -> None:
        """A run's thread is done: keep what it made, if anybody is still there, and let the next one go."""
        try:
            if over.record is not None and not session.is_abandoned:
                self._keep(place.visitor, session.folder, over)
                if session.is_abandoned:  # they left in the meantime
                    self.leave(place.visitor)
            else:
                shutil.rmtree(session.folder, ignore_errors=True)
        finally:
            with self._guard:
                self._sessions.pop(place.visitor, None)
            place.leave()

    def _keep(self, visitor: str, folder: Path, run: Snapshot) -> None:
        with self._guard:
            number = self._count[visitor] = self._count.get(visitor, 0) + 1
        archive = self._archives / secrets.token_hex(16) / f"tipshare-{run.request.kind}-{number}.zip"
        write_archive(folder / CHECKPOINT, archive)
        shelf = self._shelf.of(visitor)
        name = shelf.put(folder / CHECKPOINT, f"mine-{number}")
        label, size = shelf.label(name), archive.stat().st_size
        with self._guard:
            self._trained[name] = Trained(visitor, name, label, run, folder / CHECKPOINT, archive, size)
            dropped = [self._trained.pop(each.name) for each in self._of(visitor)[:-MOST_KEPT]]
            while len(self._trained) > 1 and sum(each.size for each in self._trained.values()) > MOST_ARCHIVED:
                dropped.append(self._trained.pop(next(iter(self._trained))))
        for each in dropped:
            self._delete(each)

    def _of(self, visitor: str) -> list[Trained]:
        return [each for each in self._trained.values() if each.visitor == visitor]

    def _delete(self, trained: Trained) -> None:
        self._shelf.of(trained.visitor).remove(trained.name)
        shutil.rmtree(trained.folder.parent, ignore_errors=True)
        shutil.rmtree(trained.archive.parent, ignore_errors=True)


def write_archive(folder: Path, archive: Path) -> None:
    """A checkpoint folder as a zip file with one folder in it, named as the file."""
    archive.parent.mkdir(parents=True)
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as file:
        for path in sorted(folder.rglob("*")):
            if path.is_file() and path.name not in LEFT_OUT:
                file.write(path, Path(archive.stem) / path.relative_to(folder))
