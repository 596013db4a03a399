"""Files are old or new and never half written; the lock holds between processes and goes with its holder."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tipshare import files
from tipshare.files import BusyError, locked, replacing, write_bytes, write_text

ROOT = Path(__file__).parent.parent
HOLD = """
import sys
from pathlib import Path
from tipshare.files import locked
with locked(Path(sys.argv[1])):
    print("held", flush=True)
    sys.stdin.read()
"""


def test_a_file_is_written_as_a_whole(tmp_path):
    path = tmp_path / "deep" / "file.txt"
    write_text(path, "naïve\n")
    assert path.read_bytes() == "naïve\n".encode()
    write_bytes(path, b"\x00\xff")
    assert path.read_bytes() == b"\x00\xff"
    assert os.listdir(path.parent) == ["file.txt"]


@pytest.mark.parametrize("error", [OSError(28, "No space left on device"), KeyboardInterrupt()])
def test_a_write_that_fails_leaves_the_old_file(tmp_path, error):
    path = tmp_path / "file.txt"
    write_text(path, "old")

    def fail():
        with replacing(path) as temporary:
            temporary.write_text("half")
            assert path.read_text() == "old"
            raise error

    with pytest.raises(type(error)):
        fail()
    assert path.read_text() == "old"
    assert os.listdir(tmp_path) == ["file.txt"]


def test_content_is_on_disk_before_it_gets_its_name(tmp_path, monkeypatch):
    path, synced = tmp_path / "file.txt", []
    monkeypatch.setattr(files, "sync", lambda each: synced.append((each.name, path.exists())))
    write_text(path, "new")
    assert [(name.endswith(".tmp"), named) for name, named in synced] == [(True, False), (False, True)]


def test_a_lock_is_held_by_one_process_and_freed_when_it_is_killed(tmp_path):
    path = tmp_path / "run" / "lock"
    with subprocess.Popen(
        [sys.executable, "-c", HOLD, path], cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as holder:
        assert holder.stdout.readline() == "held\n"
        with pytest.raises(BusyError, match=r"another process holds .*lock"), locked(path):
            pass
        holder.kill()
    with locked(path), pytest.raises(BusyError), locked(path):
        pass
    with locked(path, wait=True):
        pass
