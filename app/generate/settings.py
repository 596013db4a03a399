"""The settings of the Generate tab: validated, and as a link."""

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self
from urllib.parse import urlencode

from app.controls import text, texts, whole_number
from app.shelf.limits import LONGEST_WRITING, MOST_DEPTH_STEPS
from tipshare.generation.sampling import Sampling
from tipshare.text.tokenizer import BYTES
from tipshare.validation import check_whole

MOST_MODELS = 4
MOST_SEED = 2**31 - 1
# A prompt longer than a model's context is cut, with a note; this only limits the size of a request.
MOST_PROMPT = 1_000_000
# Browsers and proxies take longer addresses, but they are awkward to paste.
MOST_LINK = 4_000

# Those that are under "Settings", and all in the order of the page's controls.
SAMPLING = ("temperature", "top_k", "top_p", "min_p", "penalty", "length", "seed")
PARAMETERS = ("prompt", "models", *SAMPLING, "steps")


@dataclass(frozen=True, kw_only=True)
class WritingRequest:
    """A prompt for some models, with the sampling settings.

    Attributes:
        top_k: 0 for no limit.
        length: Bytes that each model writes.
        steps: Depth steps of the kinds whose weights are defined at every t; 0 for the trained number.
    """

    prompt: str = ""
    models: tuple[str, ...] = ()
    temperature: float = Sampling.temperature
    top_k: int = Sampling.top_k or 0
    top_p: float = Sampling.top_p
    min_p: float = Sampling.min_p
    penalty: float = Sampling.repetition_penalty
    length: int = Sampling.max_bytes
    seed: int = Sampling.seed
    steps: int = 0

    def __post_init__(self) -> None:
        if not 1 <= len(self.models) <= MOST_MODELS:
            raise ValueError(f"{len(self.models)} models are chosen: choose one to {MOST_MODELS}")
        if len(set(self.models)) < len(self.models):
            raise ValueError(f"a model is chosen twice: {', '.join(self.models)[:200]}")
        if len(self.prompt) > MOST_PROMPT:
            raise ValueError(f"the prompt has {len(self.prompt):,} characters: give at most {MOST_PROMPT:,}")
        check_whole("length", self.length, 1, LONGEST_WRITING)
        check_whole("depth steps", self.steps, 0, MOST_DEPTH_STEPS)
        check_whole("seed", self.seed, 0, MOST_SEED)
        check_whole("top-k", self.top_k, 0, BYTES.size)
        self.sampling()

    @classmethod
    def of_controls(cls, *values: Any) -> Self:
        """The request from the values of the page's controls, in the order of PARAMETERS."""
        fields = dict(zip(PARAMETERS, values, strict=True))
        whole = {name: whole_number(name, fields[name]) for name in ("top_k", "length", "seed", "steps")}
        models = tuple(texts("models", fields["models"]))
        return cls(**{**fields, **whole, "prompt": text("prompt", fields["prompt"]), "models": models})

    def sampling(self) -> Sampling:
        """The sampling settings of the library."""
        return Sampling(
            max_bytes=self.length,
            temperature=self.temperature,
            top_k=self.top_k or None,
            top_p=self.top_p,
            min_p=self.min_p,
            repetition_penalty=self.penalty,
            seed=self.seed,
        )

    def to_query(self) -> str:
        """The query of a link to these settings; defaults are left out."""
        default = type(self)(models=self.models)
        fields = {name: getattr(self, name) for name in PARAMETERS if name != "models"}
        changed = {name: value for name, value in fields.items() if value != getattr(default, name)}
        query = "?" + urlencode({"tab": "generate", **changed, "models": ",".join(self.models)})
        if len(query) > MOST_LINK:
            raise ValueError(
                f"the link would have {len(query):,} characters, more than {MOST_LINK:,}: shorten the prompt"
            )
        return query

    def as_json(self) -> dict[str, Any]:
        return {**dataclasses.asdict(self), "models": list(self.models)}

    def as_values(self) -> list[Any]:
        """The values of the page's controls, in the order of PARAMETERS."""
        return [self.as_json()[name] for name in PARAMETERS]


# What a request is that says nothing of sampling.
DEFAULT = WritingRequest(models=("any",))


def read_query(query: Mapping[str, str], known_models: list[str]) -> WritingRequest | None:
    """The request in the query of a link, or None if it has none of the parameters.

    Models that are not on the shelf are left out. A value that is not a number raises ValueError.
    """
    if not set(query) & set(PARAMETERS):
        return None
    fields: dict[str, Any] = {}
    for name in PARAMETERS:
        if name in ("prompt", "models") or name not in query:
            continue
        kind = int if isinstance(getattr(WritingRequest, name), int) else float
        try:
            fields[name] = kind(query[name])
        except ValueError:
            raise ValueError(f"the link says {name}={query[name][:40]!r}, which is not a number") from None
    wanted = [name for name in query.get("models", "").split(",") if name in known_models]
    models = tuple(wanted or known_models)[:MOST_MODELS]
    return WritingRequest(prompt=query.get("prompt", ""), models=models, **fields)
