"""`tipshare info`: what a checkpoint is, how it was made and whether its files are sound."""

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

import tyro

from tipshare.commands.options import AsJson, CheckpointName, DepthSteps, Revision

if TYPE_CHECKING:
    from tipshare.checkpoint import Checkpoint

SETTINGS = ("corpus", "batch_size", "learning_rate", "precision")


@dataclass(frozen=True, kw_only=True)
class Info:
    """Show a checkpoint: kind, parameters, recipe, metrics, files; and check its files."""

    checkpoint: Annotated[CheckpointName, tyro.conf.Positional]
    """A folder, a bundled name, or a Hub id such as organisation/name."""
    revision: Revision = None
    """Branch, tag or commit on the Hub."""
    steps: DepthSteps = None
    """Depth steps to tell the cost of, for kinds whose weights are defined at every depth."""
    json: AsJson = False
    """Print one JSON object."""
    quick: Annotated[bool, tyro.conf.FlagCreatePairsOff] = False
    """Do not read the weights to compare their sha256."""

    def run(self) -> int:
        from tipshare.checkpoint import open_checkpoint

        checkpoint = open_checkpoint(self.checkpoint, revision=self.revision)
        if not self.quick:
            checkpoint.verify()
        shown = describe(checkpoint, self.steps)
        print(json.dumps(shown, indent=2) if self.json else "\n".join(_lines(shown)))
        return 0


def describe(checkpoint: "Checkpoint", steps: int | None = None) -> dict[str, Any]:
    """What the command shows, as JSON fields; sizes of one pass are those at `steps` depth steps."""
    from tipshare.analysis.demand import demand_of
    from tipshare.model.parameters import count_parameters

    counts, record = count_parameters(checkpoint.shapes), checkpoint.record
    demand = demand_of(checkpoint.config, steps=steps)
    return {
        "kind": checkpoint.config.kind,
        "depth": {
            "trained": checkpoint.config.steps,
            "is_fixed": not checkpoint.config.is_continuous,
            "drawn": record.settings.get("depth_steps", []) if record else [],
            "shown": demand.depth_steps,
            "effective_parameters": demand.effective,
            "operations_per_byte": demand.operations_per_byte,
        },
        "found": checkpoint.origin,
        "dtype": checkpoint.dtype.name,
        "parameters": {**counts.parts, "total": counts.total},
        "adapter": checkpoint.adapter,
        "recipe": record.recipe if record else None,
        "record": record.id if record else None,
        "record_problem": checkpoint.record_problem,
        "seed": record.seed if record else None,
        "num_steps": record.num_steps if record else None,
        "settings": record.settings if record else {},
        "metrics": record.final if record else {},
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
    depth = shown["depth"]
    kept = "fixed" if depth["is_fixed"] else "any other number by --steps"
    drawn = f" and trained at {', '.join(map(str, depth['drawn']))}" if depth["drawn"] else ""
    lines += [
        f"depth       {depth['trained']} steps{drawn}, {kept}",
        f"one pass    {depth['effective_parameters']:,} parameters at {depth['shown']} depth steps, "
        f"{depth['operations_per_byte'] / 1e6:.1f} million operations per byte",
    ]
    if shown["adapter"] is not None:
        adapter = dict(shown["adapter"])
        base = adapter.pop("base")
        lines.append(f"base        {base['name']}, digest {base['digest'][:16]}")
        lines.append(f"adapter     {', '.join(f'{name} {_words(value)}' for name, value in adapter.items())}")
    if shown["recipe"] is not None:
        settings = {name: shown["settings"][name] for name in SETTINGS if name in shown["settings"]}
        facts = [
            f"seed {shown['seed']}",
            f"{shown['num_steps']} steps",
            *(f"{k} {_words(v)}" for k, v in settings.items()),
        ]
        lines.append(f"recipe      {shown['recipe']} ({', '.join(facts)}), record {shown['record']}")
    if shown["record_problem"] is not None:
        lines.append(f"record      ignored, because it is not valid: {shown['record_problem']}")
    for name, value in shown["metrics"].items():
        lines.append(f"metric      {name} {value:.4f}" if isinstance(value, float) else f"metric      {name} {value}")
    for name, each in shown["files"].items():
        lines.append(f"file        {each['sha256'][:16]}  {each['size']:>12,}  {name}")
    return lines


def _words(value: Any) -> str:
    words = " ".join(map(str, value)) if isinstance(value, list) else str(value)
    # A record from the Hub may hold what a terminal takes for a command.
    return words if words.isprintable() else ascii(words)
