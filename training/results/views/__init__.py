"""The data of every table and figure, computed once; what draws or writes it computes nothing."""

from collections.abc import Callable
from typing import Any

from training.results.selection import Selection
from training.results.views.ablations import grid_view
from training.results.views.comparisons import significance_view
from training.results.views.curves import curves_view
from training.results.views.depths import depth_view
from training.results.views.figure import FigureView
from training.results.views.losses import loss_view, parameters_view, step_time_view

# The figures of a report and of the page, by name.
FIGURES: dict[str, Callable[[Selection], FigureView[Any]]] = {
    "loss": loss_view,
    "loss_against_parameters": parameters_view,
    "learning_curves": curves_view,
    "step_time": step_time_view,
    "significance": significance_view,
    "ablation_grid": grid_view,
    "depth_steps": depth_view,
}
