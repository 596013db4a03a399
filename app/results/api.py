"""Results for other programs: table and tests of one recipe, as plain data."""

from typing import Any

from gradio.events import api

from app.controls import texts
from app.errors import shown_to_user
from app.results.data import all_groups, choose, default_group
from training.results.groups import Unit
from training.results.naming import in_sections, title_of_group
from training.results.rows import Source
from training.results.views.comparisons import significance_table
from training.results.views.losses import results_table
from training.results.wording import headline_of


def build_api() -> None:
    """The endpoint `/results`."""

    def results(
        recipe: str = "", models: list[str] | None = None, source: Source = "measured", unit: Unit = "nats"
    ) -> dict:
        """Losses, sizes and speeds of the models of a recipe over their seeds, with the tests of all pairs of models.

        Args:
            recipe: Name of a recipe, from `recipes` in the answer; empty for the one that the page opens with.
            models: Labels of models of the recipe; all if none is given.
            source: `measured` here, `published`, or `both`.
            unit: Of the losses, per byte: `nats` or `bits`.
        """
        return describe_results(recipe, texts("models", models) or None, source, unit)

    api(shown_to_user(results), api_name="results")


def describe_results(recipe: str, models: list[str] | None, source: Source, unit: Unit) -> dict[str, Any]:
    """A headline, rows as in the table's CSV, tests as in that of the pairs, and the recipes there are."""
    groups = all_groups()
    first = default_group(groups)
    selection = choose(groups, recipe or (first.name if first else None), models, unit=unit, source=source)
    return {
        "recipe": selection.group.name,
        "unit": unit,
        "headline": headline_of(selection.group, source=source),
        "rows": results_table(selection).to_rows(),
        "tests": significance_table(selection).to_rows() if source != "published" else [],
        "recipes": {each.name: title_of_group(each) for each in in_sections(groups)},
    }
