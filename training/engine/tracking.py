"""Live tracking of a run with trackio, for those who installed it."""

from typing import Any

from training.engine.run import Run


class Tracker:
    """Sends metrics to a trackio dashboard."""

    def __init__(self, run: Run) -> None:
        try:
            import trackio  # pyright: ignore[reportMissingImports]
        except ImportError as error:
            raise ValueError("--track needs trackio: pip install 'tipshare[track]', or leave --track out") from error
        self._trackio = trackio
        name = f"{run.recipe.name}/{run.model}/seed-{run.seed}"
        trackio.init(project="tipshare", name=name, config=run.identity())

    def log(self, line: dict[str, Any]) -> None:
        metrics = {name: value for name, value in line.items() if name != "step"}
        self._trackio.log(metrics, step=line["step"])

    def finish(self) -> None:
        self._trackio.finish()
