"""`python -m tipshare info CHECKPOINT`: what a checkpoint is, how it was made and whether its files are sound."""

import argparse
import json
from typing import Any

from tipshare.checkpoint import Checkpoint, open_checkpoint, record_id
from tipshare.model.parameters import count_parameters

SETTINGS = ("corpus", "batch_size", "learning_rate", "precision")


def add_command(subparsers: Any) -> None:
    parser = subparsers.add_parser("info", help="show a checkpoint: kind, parameters, recipe, metrics, files")
    parser.add_argument("checkpoint", help="a folder, a bundled name, or a Hub id such as organisation/name")
    parser.add_argument("--revision", help="branch, tag or commit on the Hub")
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.add_argument("--quick", action="store_true", help="do not read the weights to compare their sha256")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    checkpoint = open_checkpoint(args.checkpoint, revision=args.revision)
    if not args.quick:
        checkpoint.verify()
    shown = describe(checkpoint)
    print(json.dumps(shown, indent=2) if args.json else "\n".join(_lines(shown)))
    return 0


def describe(checkpoint: Checkpoint) -> dict[str, Any]:
    """What the command shows, as JSON fields."""
    counts, record = count_parameters(checkpoint.config), checkpoint.record or {}
    parts = {part: getattr(counts, part) for part in ("embedding", "block", "gates", "generators", "head")}
    return {
        "kind": checkpoint.config.kind,
        "found": checkpoint.origin,
        "dtype": checkpoint.dtype.name,
        "parameters": {**{part: count for part, count in parts.items() if count}, "total": counts.total},
        "recipe": record.get("recipe"),
        "record": record_id(record) or None,
        "seed": record.get("seed"),
        "num_steps": record.get("num_steps"),
        "settings": record.get("settings") or {},
        "metrics": record.get("final") or {},
        "files": {name: {"size": each.size, "sha256": each.sha256} for name, each in checkpoint.sums.items()},
    }


def _lines(shown: dict[str, Any]) -> list[str]:
    parameters = dict(shown["parameters"])
    total = parameters.pop("total")
    parts = ", ".join(f"{part} {count:,}" for part, count in parameters.items())
    lines = [
        f"kind        {shown['kind']} ({shown['dtype']}), found by {shown['found']}",
        f"parameters  {total:,} ({parts})",
    ]
    if shown["recipe"] is not None:
        settings = {name: shown["settings"][name] for name in SETTINGS if name in shown["settings"]}
        facts = [f"seed {shown['seed']}", f"{shown['num_steps']} steps", *(f"{k} {v}" for k, v in settings.items())]
        lines.append(f"recipe      {shown['recipe']} ({', '.join(facts)}), record {shown['record']}")
    for name, value in shown["metrics"].items():
        lines.append(f"metric      {name} {value:.4f}" if isinstance(value, float) else f"metric      {name} {value}")
    for name, each in shown["files"].items():
        lines.append(f"file        {each['sha256'][:16]}  {each['size']:>12,}  {name}")
    return lines
