"""One connection to the loopback Hub: reading requests, sending answers, knowing who asks."""

import json
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler
from typing import Any

from tests.hub.faults import Trouble
from tests.hub.store import Repository


class HangUpError(Exception):
    """End the connection at once, without a word."""


class RefusalError(Exception):
    """Answer with an error."""

    def __init__(self, status: int, message: str, code: str = "", **extra: Any) -> None:
        super().__init__(message)
        self.status, self.code, self.extra = status, code, extra


class Connection(BaseHTTPRequestHandler):
    """What every route needs; `trouble` is what goes wrong with the present request."""

    protocol_version = "HTTP/1.1"
    # Answers go out in two pieces: without this, the second waits 40 ms for the client to acknowledge the first.
    disable_nagle_algorithm = True
    server: Any
    trouble: Trouble | None = None

    def log_message(self, format: str, *args: Any) -> None:
        """Keep the test's output clean."""

    def read_body(self) -> bytes:
        if self.headers.get("Transfer-Encoding") == "chunked":
            return b"".join(self.read_chunks())
        length = int(self.headers.get("Content-Length") or 0)
        if self.trouble == "cut-request":
            self.rfile.read(length // 2)
            raise HangUpError
        return self.rfile.read(length)

    def read_chunks(self) -> Iterator[bytes]:
        while size := int(self.rfile.readline(), 16):
            if self.trouble == "cut-request":
                raise HangUpError
            yield self.rfile.read(size)
            self.rfile.readline()
        self.rfile.readline()

    def send_json(self, fields: Any, status: int = 200, *, code: str = "") -> None:
        if self.trouble == "lost-reply":
            raise HangUpError
        content = json.dumps(fields).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(content)))
        if code:
            self.send_header("X-Error-Code", code)
        if status >= 400:
            self.send_header("X-Error-Message", str(fields["error"]))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(content)

    @property
    def signed_in(self) -> bool:
        return self.headers.get("Authorization") == f"Bearer {self.server.store.token}"

    def find(self, kind: str | None, name: str, *, write: bool = False) -> Repository:
        repository = self.server.store.repositories.get(("space" if kind and "space" in kind else "model", name))
        if repository is None or (repository.private and not self.signed_in):
            raise RefusalError(404 if self.signed_in else 401, "Repository not found", "RepoNotFound")
        if write:
            self.require_token()
        return repository

    def require_token(self) -> None:
        if not self.signed_in:
            raise RefusalError(401, "Invalid credentials in Authorization header")

    def find_commit(self, repository: Repository, revision: str) -> str:
        commit = repository.find(revision)
        if commit is None:
            raise RefusalError(404, f"Invalid rev id: {revision}", "RevisionNotFound")
        return commit

    def address(self, repository: Repository) -> str:
        prefix = "spaces/" if repository.kind == "space" else ""
        return f"{self.server.endpoint}/{prefix}{repository.name}"
