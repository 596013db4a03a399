"""A Hub on 127.0.0.1 that the real `huggingface_hub` client and the real `hf` command can talk to."""

import base64
import hashlib
import json
import re
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import ThreadingHTTPServer
from typing import Any
from urllib.parse import unquote, urlsplit

from tests.hub.connection import Connection, HangUpError, RefusalError
from tests.hub.faults import Faults
from tests.hub.store import Blob, Repository, Store

SLOW_SECONDS = 0.3
TOKEN = "hf_" + "loopbackonly" * 2

API = r"/api/(?P<kind>model|space)s/(?P<name>[^/]+/[^/]+)"
FILE = r"/(?P<kind>spaces/)?(?P<name>[^/]+/[^/]+)"
ROUTES: list[tuple[str, str, str]] = [
    ("POST", r"/api/repos/create", "create_repository"),
    ("POST", r"/api/validate-yaml", "validate_card"),
    ("GET", r"/api/whoami-v2", "who_am_i"),
    ("POST", r"/api/collections", "create_collection"),
    ("GET", r"/api/collections/(?P<slug>.+)", "show_collection"),
    ("POST", r"/api/collections/(?P<slug>.+)/items", "add_to_collection"),
    ("GET", API + r"(/revision/(?P<revision>[^/]+))?", "show_repository"),
    ("GET", API + r"/refs", "show_refs"),
    ("GET", API + r"/tree/(?P<revision>[^/]+)", "list_tree"),
    ("POST", API + r"/preupload/(?P<revision>[^/]+)", "prepare_upload"),
    ("POST", API + r"/commit/(?P<revision>[^/]+)", "commit"),
    ("POST", API + r"/tag/(?P<revision>[^/]+)", "create_tag"),
    ("POST", API + r"/branch/(?P<revision>[^/]+)", "create_branch"),
    ("POST", FILE + r"\.git/info/lfs/objects/batch", "batch"),
    ("PUT", r"/large/(?P<oid>[0-9a-f]{64})", "store_large"),
    ("POST", r"/large/verify", "verify_large"),
    ("HEAD", FILE + r"/resolve/(?P<revision>[^/]+)/(?P<path>.+)", "send_file"),
    ("GET", FILE + r"/resolve/(?P<revision>[^/]+)/(?P<path>.+)", "send_file"),
]


class LoopbackHub(ThreadingHTTPServer):
    """The server; `store` is what it holds, `faults` what goes wrong."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.store, self.faults = Store(TOKEN), Faults()
        self.requests: list[str] = []

    @property
    def endpoint(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"

    def repository(self, name: str, kind: str = "model") -> Repository:
        return self.store.repositories[kind, name]

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Connections that clients drop are part of the tests."""


@contextmanager
def running_hub() -> Iterator[LoopbackHub]:
    """A server that answers until the block ends."""
    hub = LoopbackHub()
    thread = threading.Thread(target=hub.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
    thread.start()
    try:
        yield hub
    finally:
        hub.shutdown()
        hub.server_close()
        thread.join()


class _Handler(Connection):
    server: LoopbackHub

    def answer(self) -> None:
        path = unquote(urlsplit(self.path).path)
        self.server.requests.append(f"{self.command} {path}")
        self.trouble = self.server.faults.take(self.command, path)
        try:
            body = self.read_body()
            if self.trouble == "slow":
                time.sleep(SLOW_SECONDS)
            if self.trouble == "error":
                raise RefusalError(500, "something broke")
            if self.trouble == "full":
                raise RefusalError(403, "Storage quota exceeded: upgrade your plan")
            for method, pattern, name in ROUTES:
                found = re.fullmatch(pattern, path)
                if method == self.command and found:
                    with self.server.store.lock:
                        getattr(self, name)(body, **found.groupdict())
                    return
            raise RefusalError(404, f"no such route: {path}")
        except RefusalError as refusal:
            self.send_json({"error": str(refusal), **refusal.extra}, refusal.status, code=refusal.code)
        except HangUpError:
            self.close_connection = True
            self.connection.shutdown(socket.SHUT_RDWR)

    do_GET = do_HEAD = do_POST = do_PUT = do_DELETE = answer

    # Repositories

    def create_repository(self, body: bytes) -> None:
        self.require_token()
        wanted = json.loads(body)
        kind, name = wanted.get("type") or "model", f"{wanted.get('organization') or 'me'}/{wanted['name']}"
        existing = self.server.store.repositories.get((kind, name))
        if existing is not None:
            raise RefusalError(409, "You already created this repo", url=self.address(existing))
        repository = self.server.store.create(kind, name, wanted.get("visibility") == "private")
        self.send_json({"url": self.address(repository), "name": name, "id": name})

    def show_repository(self, body: bytes, kind: str, name: str, revision: str | None) -> None:
        repository = self.find(kind, name)
        commit = self.find_commit(repository, revision or "main")
        blobs = repository.commits[commit]
        files: list[dict[str, Any]] = [{"rfilename": path} for path in sorted(blobs)]
        if "blobs=" in self.path:
            files = [{**each, "size": len(blobs[each["rfilename"]].content)} for each in files]
        shown = {"_id": name, "id": name, "modelId": name, "sha": commit, "private": repository.private}
        self.send_json({**shown, "siblings": files, "tags": [], "downloads": 0, "likes": 0})

    def show_refs(self, body: bytes, kind: str, name: str) -> None:
        repository = self.find(kind, name)

        def describe(names: dict[str, str], prefix: str) -> list[dict[str, str]]:
            return [{"name": key, "ref": f"refs/{prefix}/{key}", "targetCommit": value} for key, value in names.items()]

        branches, tags = describe(repository.branches, "heads"), describe(repository.tags, "tags")
        self.send_json({"branches": branches, "converts": [], "tags": tags})

    def list_tree(self, body: bytes, kind: str, name: str, revision: str) -> None:
        repository = self.find(kind, name)
        entries = []
        for path, blob in sorted(repository.commits[self.find_commit(repository, revision)].items()):
            entry: dict[str, Any] = {"type": "file", "path": path, "size": len(blob.content), "oid": blob.git_oid}
            if blob.large:
                entry["lfs"] = {"oid": blob.sha256, "size": len(blob.content), "pointerSize": 134}
            entries.append(entry)
        self.send_json(entries)

    def create_tag(self, body: bytes, kind: str, name: str, revision: str) -> None:
        repository = self.find(kind, name, write=True)
        tag = json.loads(body)["tag"]
        if tag in repository.tags:
            raise RefusalError(409, f"Tag {tag} already exists")
        repository.tags[tag] = self.find_commit(repository, revision)
        self.send_json({})

    def create_branch(self, body: bytes, kind: str, name: str, revision: str) -> None:
        repository = self.find(kind, name, write=True)
        if revision in repository.branches:
            raise RefusalError(409, f"Branch {revision} already exists")
        start = json.loads(body or b"{}").get("startingPoint", "main")
        repository.branches[revision] = self.find_commit(repository, start)
        self.send_json({})

    # Uploads

    def validate_card(self, body: bytes) -> None:
        self.send_json({"errors": [], "warnings": []})

    def who_am_i(self, body: bytes) -> None:
        self.require_token()
        self.send_json({"type": "user", "name": "me", "orgs": [{"name": "org"}], "auth": {"type": "access_token"}})

    def prepare_upload(self, body: bytes, kind: str, name: str, revision: str) -> None:
        repository = self.find(kind, name, write=True)
        files = repository.commits[self.find_commit(repository, revision)]
        answers = []
        for each in json.loads(body)["files"]:
            large = self.server.store.is_large(each["path"], each["size"])
            answer = {"path": each["path"], "uploadMode": "lfs" if large else "regular", "shouldIgnore": False}
            if each["path"] in files:
                answer["oid"] = files[each["path"]].oid
            answers.append(answer)
        self.send_json({"files": answers})

    def batch(self, body: bytes, kind: str | None, name: str) -> None:
        self.find(kind, name, write=True)
        store, objects = self.server.store, []
        for each in json.loads(body)["objects"]:
            known = {"oid": each["oid"], "size": each["size"]}
            if store.quota is not None and each["size"] + sum(map(len, store.large_files.values())) > store.quota:
                objects.append({**known, "error": {"code": 403, "message": "Storage quota exceeded"}})
            elif each["oid"] in store.large_files:
                objects.append(known)
            else:
                upload = {"href": f"{self.server.endpoint}/large/{each['oid']}"}
                verify = {"href": f"{self.server.endpoint}/large/verify"}
                objects.append({**known, "actions": {"upload": upload, "verify": verify}})
        self.send_json({"transfer": "basic", "objects": objects})

    def store_large(self, body: bytes, oid: str) -> None:
        if hashlib.sha256(body).hexdigest() != oid:
            raise RefusalError(400, "the content does not have the announced sha256")
        self.server.store.large_files[oid] = body
        self.send_json({})

    def verify_large(self, body: bytes) -> None:
        wanted = json.loads(body)
        content = self.server.store.large_files.get(wanted["oid"])
        if content is None or len(content) != wanted["size"]:
            raise RefusalError(404, "no such object")
        self.send_json({})

    def commit(self, body: bytes, kind: str, name: str, revision: str) -> None:
        repository = self.find(kind, name, write=True)
        parent = self.find_commit(repository, revision)
        files = dict(repository.commits[parent])
        for line in body.splitlines():
            entry = json.loads(line)
            key, value = entry["key"], entry["value"]
            if key == "header" and value.get("parentCommit") not in (None, parent):
                raise RefusalError(412, "A commit has happened since. Please refresh and try again.")
            if key == "file":
                files[value["path"]] = Blob(base64.b64decode(value["content"]), large=False)
            elif key == "lfsFile":
                content = self.server.store.large_files.get(value["oid"])
                if content is None:
                    raise RefusalError(400, f"{value['path']} was never uploaded")
                files[value["path"]] = Blob(content, large=True)
            elif key == "deletedFile":
                if value["path"] not in files:
                    raise RefusalError(404, "A file with this name doesn't exist", "EntryNotFound")
                del files[value["path"]]
        commit = repository.commit(revision, files)
        self.send_json(
            {"success": True, "commitOid": commit, "commitUrl": f"{self.address(repository)}/commit/{commit}"}
        )

    # Downloads

    def send_file(self, body: bytes, kind: str | None, name: str, revision: str, path: str) -> None:
        repository = self.find(kind, name)
        commit = self.find_commit(repository, revision)
        blob = repository.commits[commit].get(path)
        if blob is None:
            raise RefusalError(404, "Entry not found", "EntryNotFound")
        content, start = blob.content, 0
        if self.trouble == "wrong-content":
            content = content[:-1] + bytes([content[-1] ^ 1])
        asked = re.fullmatch(r"bytes=(\d+)-", self.headers.get("Range") or "")
        if asked:
            start = int(asked[1])
        self.send_response(206 if asked else 200)
        self.send_header("X-Repo-Commit", commit)
        self.send_header("ETag", f'"{blob.oid}"')
        self.send_header("Accept-Ranges", "bytes")
        if asked:
            self.send_header("Content-Range", f"bytes {start}-{len(content) - 1}/{len(content)}")
        if blob.large:
            self.send_header("X-Linked-Etag", f'"{blob.sha256}"')
            self.send_header("X-Linked-Size", str(len(content)))
        self.send_header("Content-Length", str(len(content) - start))
        self.end_headers()
        if self.command == "HEAD":
            return
        if self.trouble == "cut-reply":
            self.wfile.write(content[start : start + (len(content) - start) // 2])
            self.wfile.flush()
            raise HangUpError
        self.wfile.write(content[start:])

    # Collections

    def create_collection(self, body: bytes) -> None:
        self.require_token()
        wanted = json.loads(body)
        slug = f"{wanted['namespace']}/{re.sub(r'[^a-z0-9]+', '-', wanted['title'].lower())}-0123456789abcdef01234567"
        collections = self.server.store.collections
        if slug in collections:
            raise RefusalError(409, "This collection exists", slug=slug)
        collections[slug] = self.describe_collection(slug, wanted["title"])
        self.send_json(collections[slug])

    def describe_collection(self, slug: str, title: str) -> dict[str, Any]:
        owner = {"name": slug.split("/")[0], "type": "org"}
        shown = {"slug": slug, "title": title, "owner": owner, "items": [], "position": 0, "private": False}
        return {**shown, "theme": "orange", "upvotes": 0, "lastUpdated": "2026-01-01T00:00:00.000Z"}

    def show_collection(self, body: bytes, slug: str) -> None:
        self.send_json(self.server.store.collections[slug])

    def add_to_collection(self, body: bytes, slug: str) -> None:
        self.require_token()
        item, collection = json.loads(body)["item"], self.server.store.collections[slug]
        if any(each["id"] == item["id"] for each in collection["items"]):
            raise RefusalError(409, "This item is in the collection")
        position = len(collection["items"])
        collection["items"].append({"_id": str(position), "id": item["id"], "type": item["type"], "position": position})
        self.send_json(collection)
