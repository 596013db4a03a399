"""`python -m tipshare generate CHECKPOINT "prompt"`: write on after a prompt, on the terminal as it comes."""

import argparse
import json
import sys
import time
import warnings
from dataclasses import fields
from typing import TYPE_CHECKING, Any, TextIO

from tipshare.generation.sampling import Sampling

if TYPE_CHECKING:
    from tipshare.model.language_model import LanguageModel


def add_command(commands: Any) -> None:
    """Add the verb to an argparse parser."""
    default = Sampling()
    parser = commands.add_parser("generate", help="write on after a prompt")
    parser.add_argument("checkpoint", help="a checkpoint folder, a bundled name or a Hub repository")
    parser.add_argument("prompt", nargs="?", help="the text to continue; read from standard input if left out")
    parser.add_argument("--max-bytes", type=int, default=default.max_bytes, help="(default %(default)s)")
    parser.add_argument("--temperature", type=float, default=default.temperature, help="0 is greedy (%(default)s)")
    parser.add_argument("--top-k", type=int, help="choose among the k most probable bytes")
    parser.add_argument("--top-p", type=float, default=default.top_p, help="... that reach this probability")
    parser.add_argument("--min-p", type=float, default=default.min_p, help="drop bytes below this share of the best")
    parser.add_argument("--repetition-penalty", type=float, default=default.repetition_penalty)
    parser.add_argument("--seed", type=int, default=default.seed, help="(default %(default)s)")
    parser.add_argument("--stop", action="append", default=[], help="end at this text; may be given again")
    parser.add_argument("--steps", type=int, help="depth steps, for kinds whose weights are defined at every depth")
    parser.add_argument("--json", action="store_true", help="one JSON object with the text and every byte's odds")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    from tipshare.checkpoint import load  # pyright: ignore[reportMissingImports]

    settings = read_settings(args)
    model = load(args.checkpoint, dtype="float32")
    # As bytes: what comes from a pipe need not be UTF-8.
    prompt = sys.stdin.buffer.read() if args.prompt is None else args.prompt.encode("utf-8", "surrogateescape")
    write_text(model, prompt, settings, steps=args.steps, as_json=args.json, out=sys.stdout, notes=sys.stderr)
    return 0


def read_settings(args: argparse.Namespace) -> Sampling:
    """The settings that parsed arguments name; those without an option keep their defaults."""
    given = {each.name: getattr(args, each.name) for each in fields(Sampling) if each.name in args}
    return Sampling(**{**given, "stop": tuple(args.stop)})


def write_text(
    model: "LanguageModel",
    prompt: bytes,
    settings: Sampling,
    *,
    steps: int | None,
    as_json: bool,
    out: TextIO,
    notes: TextIO,
) -> None:
    """Write what the model makes of a prompt to `out`, and warnings and speed to `notes`."""
    from tipshare.generation.streaming import stream

    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        pieces = stream(model, prompt, settings, steps=steps)
    for each in caught:
        print(f"note: {each.message}", file=notes)
    began, first, kept = time.perf_counter(), None, []
    for piece in pieces:
        first = first or time.perf_counter() - began
        kept.append(piece)
        if not as_json:
            out.write(piece.text)
            out.flush()
    if as_json:
        bytes_written = [
            {"byte": info.byte, "probability": info.probability, "rank": info.rank, "alternatives": info.alternatives}
            for piece in kept
            for info in piece.trace
        ]
        text = "".join(piece.text for piece in kept)
        json.dump({"text": text, "finish": kept[-1].finish, "bytes": bytes_written}, out)
    out.write("\n")
    count, seconds = sum(len(piece.trace) for piece in kept), time.perf_counter() - began
    print(f"{count} bytes, first after {first or 0:.2f} s, {count / seconds:.0f} bytes/s", file=notes)
