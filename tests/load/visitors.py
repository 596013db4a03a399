"""What visitors do in one visit: those who mean well must succeed, the others must be refused in words."""

import itertools
import json
import tempfile
from collections.abc import Callable
from functools import cached_property
from pathlib import Path
from typing import Any

# Seconds until a request without an answer is a failure.
PATIENCE = 300.0


class RefusedError(Exception):
    """The page refused what should be refused."""


class Visitor:
    """One visitor, with an address and a session of their own.

    A page on this machine takes the word of the header for where a visitor comes from, as that of a proxy.
    """

    def __init__(self, address: str, number: int, length: int) -> None:
        self.address, self.number, self.length = address, number, length
        self.headers = {"X-Forwarded-For": f"10.1.{number // 250}.{number % 250 + 1}"}

    @cached_property
    def client(self) -> Any:
        from gradio_client import Client

        return Client(
            self.address,
            verbose=False,
            analytics_enabled=False,
            headers=self.headers,
            httpx_kwargs={"timeout": PATIENCE},
        )

    def models(self) -> list[str]:
        return [each["name"] for each in self.client.predict(api_name="/models")][:4]

    def leave(self) -> None:
        """Close the page; the next visit opens it anew."""
        client = self.__dict__.pop("client", None)
        if client is not None:
            client.close()

    def post(self, path: str, **content: Any) -> Any:
        import httpx

        return httpx.post(f"{self.address}/gradio_api/{path}", headers=self.headers, timeout=PATIENCE, **content)

    def upload(self, lines: list[str]) -> str:
        """Upload records; what the page says of them."""
        from gradio_client import handle_file

        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "runs.jsonl"
            path.write_text("\n".join(lines), encoding="utf-8")
            return str(self.client.predict(handle_file(path), api_name="/upload_records"))


Visit = Callable[[Visitor], None]


def write(visitor: Visitor) -> None:
    """Texts of all models, of the length that was asked for."""
    texts = visitor.client.predict(
        "The history of", visitor.models(), length=visitor.length, seed=visitor.number, api_name="/write"
    )["texts"]
    short = [text["model"] for text in texts if len(text["bytes"]) != visitor.length]
    if short:
        raise ValueError(f"the text of {short[0]} is short")


def score(visitor: Visitor) -> None:
    """Bits per byte of a text."""
    found = visitor.client.predict("The tower is 324 metres tall", visitor.models()[:2], api_name="/score")
    if not all(0 < each["bits_per_byte"] < 30 for each in found["models"]):
        raise ValueError("a score is out of bounds")


def browse(visitor: Visitor) -> None:
    """The page itself, results, and gates of a model."""
    import httpx

    httpx.get(visitor.address, headers=visitor.headers, timeout=PATIENCE).raise_for_status()
    visitor.client.predict(api_name="/results")
    visitor.client.predict(visitor.models()[-1], [0.5], api_name="/gates")


def bring_records(visitor: Visitor) -> None:
    """Upload records of one's own, and see them."""
    said = visitor.upload([json.dumps(record(visitor.number, seed)) for seed in range(3)])
    if "Runs read: 3" not in said:
        raise ValueError(f"the upload was not read: {said[:200]}")
    visitor.leave()


def load_model(visitor: Visitor) -> None:
    """Load a model by name; one that does not exist is refused."""
    visitor.client.predict(visitor.models()[0], api_name="/load_model")


def train(visitor: Visitor) -> None:
    """Train the smallest model for a few steps, waiting in the line, and leave with it."""
    run = visitor.client.submit("time-indexed-mlp", "", "builtin", "", 20, 32, visitor.number, api_name="/train")
    *_, last = run
    if "after 20 of 20 steps" not in str(last[0]):
        raise ValueError(f"the run did not end as it should: {last[0]!r:.200}")
    visitor.leave()


def leave_early(visitor: Visitor) -> None:
    """Ask for a text, and close the page while it is written."""
    job = visitor.client.submit("In 1912 , ", visitor.models(), length=2_000, api_name="/write")
    for _ in itertools.islice(job, 1):
        break
    visitor.leave()


def flood(visitor: Visitor) -> None:
    """More requests at once than anybody needs, whose answers are never read."""
    numbers = (each["id"] for each in visitor.client.config["dependencies"] if each["api_name"] == "write")
    body = {"data": ["", visitor.models(), 0.8, 40, 0.9, 0.0, 1.0, 2_000, 0, 0], "fn_index": next(numbers)}
    codes = [
        visitor.post("queue/join", json={**body, "session_hash": f"flood-{visitor.number}"}).status_code
        for _ in range(20)
    ]
    refused_by(max(codes), 429)


def send_too_much(visitor: Visitor) -> None:
    """A file, and a request, that are too large."""
    refused_by(visitor.post("upload", files={"files": ("a.jsonl", b"x" * 8_000_000)}).status_code, 413)


def send_odd_values(visitor: Visitor) -> None:
    """Values of wrong types and sizes, in every place of a request."""
    from gradio_client.exceptions import AppError

    for values in ((None, 3), ("text", ["no model"]), ({"a": []}, [["x"]]), ("x" * 100_000, ["standard"])):
        try:
            visitor.client.predict(*values, api_name="/score")
        except (AppError, ValueError):
            continue
        raise ValueError(f"{values!r:.80} was taken")
    raise RefusedError


def ask_for_much_work(visitor: Visitor) -> None:
    """A small upload of a hundred models with five seeds, whose pairs would take minutes to test."""
    lines = [
        json.dumps({**record(model, seed), "settings": {"corpus": "wikitext-2", "batch_size": model}})
        for model in range(100)
        for seed in range(5)
    ]
    if "cannot be used" not in visitor.upload(lines):
        raise ValueError("an upload of 4,950 pairs was taken")
    raise RefusedError


GOOD: dict[str, Visit] = {
    "writes": write,
    "scores": score,
    "browses": browse,
    "brings records": bring_records,
    "loads": load_model,
    "leaves early": leave_early,
}
# Those who come only where they are asked for: a page may be without what they use.
ON_REQUEST: dict[str, Visit] = {"trains": train}
HOSTILE: dict[str, Visit] = {
    "hostile: floods": flood,
    "hostile: asks for much work": ask_for_much_work,
    "hostile: sends odd values": send_odd_values,
    "hostile: sends too much": send_too_much,
}


def refused_by(code: int, expected: int) -> None:
    """RefusedError if a request was answered as it should be."""
    if code == expected:
        raise RefusedError
    raise ValueError(f"the page answered {code}, not {expected}")


def record(model: int, seed: int) -> dict[str, Any]:
    """A run record of a made-up model."""
    from tipshare.config import StandardConfig

    loss = 2 + 0.01 * model + 0.003 * ((7 * seed + model) % 5)
    return {
        "format": 1,
        "recipe": "published-1000",
        "kind": "standard",
        "model": f"standard {model}",
        "seed": seed,
        "config": StandardConfig().to_dict(),
        "settings": {"corpus": "wikitext-2"},
        "command": "",
        "data": {},
        "num_steps": 1_000,
        "tokens_seen": 1_024_000,
        "curve": [[500, loss + 0.5], [1_000, loss]],
        "train_curve": [],
        "final": {"valid_loss": loss},
        "parameters": {"total": 1_000, "effective": 1_000},
        "speed": {"step_ms": 20.0},
        "memory": {},
        "flops": {},
        "machine": {},
        "commit": "",
        "finished": "",
    }
