"""What a small Hub remembers: repositories, commits, branches, tags and large files."""

import hashlib
import threading
from dataclasses import dataclass, field

# Files that a new repository's .gitattributes would send to large-file storage.
LARGE_SUFFIXES = (".safetensors", ".bin", ".png")
LARGE_SIZE = 10 * 2**20


@dataclass(frozen=True)
class Blob:
    """The content of a file at some commit."""

    content: bytes
    large: bool

    @property
    def sha256(self) -> str:
        return hashlib.sha256(self.content).hexdigest()

    @property
    def git_oid(self) -> str:
        return hashlib.sha1(b"blob %d\0" % len(self.content) + self.content).hexdigest()

    @property
    def oid(self) -> str:
        """What the Hub compares an upload with: sha256 of a large file, the Git id of a small one."""
        return self.sha256 if self.large else self.git_oid


@dataclass
class Repository:
    """Commits by id, and the names that point at them."""

    kind: str
    name: str
    private: bool
    commits: dict[str, dict[str, Blob]] = field(default_factory=dict)
    branches: dict[str, str] = field(default_factory=dict)
    tags: dict[str, str] = field(default_factory=dict)
    history: list[str] = field(default_factory=list)

    def find(self, revision: str) -> str | None:
        """The commit a branch, a tag or an id names."""
        return (
            self.branches.get(revision) or self.tags.get(revision) or (revision if revision in self.commits else None)
        )

    def files(self, revision: str = "main") -> dict[str, Blob]:
        commit = self.find(revision)
        return self.commits[commit] if commit else {}

    def commit(self, branch: str, files: dict[str, Blob]) -> str:
        """A new commit at the head of a branch, in one step."""
        text = "\n".join(f"{path} {blob.oid}" for path, blob in sorted(files.items()))
        parent = self.branches.get(branch, "")
        commit = hashlib.sha1(f"{len(self.history)} {parent} {branch}\n{text}".encode()).hexdigest()
        self.commits[commit] = files
        self.history.append(commit)
        self.branches[branch] = commit
        return commit


@dataclass
class Store:
    """All that the server holds; `lock` guards it."""

    token: str
    quota: int | None = None
    repositories: dict[tuple[str, str], Repository] = field(default_factory=dict)
    large_files: dict[str, bytes] = field(default_factory=dict)
    collections: dict[str, dict] = field(default_factory=dict)
    lock: threading.RLock = field(default_factory=threading.RLock)

    def create(self, kind: str, name: str, private: bool) -> Repository:
        repository = Repository(kind, name, private)
        attributes = "".join(f"*{suffix} filter=lfs diff=lfs merge=lfs -text\n" for suffix in LARGE_SUFFIXES)
        repository.commit("main", {".gitattributes": Blob(attributes.encode(), large=False)})
        self.repositories[kind, name] = repository
        return repository

    @staticmethod
    def is_large(path: str, size: int) -> bool:
        return path.endswith(LARGE_SUFFIXES) or size > LARGE_SIZE
