"""What groups of runs are called where readers choose one, and in which order they stand there."""

import re
from collections.abc import Iterable

from training.recipes.library import RECIPES
from training.results.groups import RunGroup

# Sections, in their order, and what every name in them begins with.
SECTIONS = {"protocol": "", "ablation": "Ablation: ", "search": "Search: "}
ABLATION = "ablation-"
# Fields of recipes as words; others by their names.
WORDS = {
    "learning_rate": "learning rate {}",
    "num_steps": "{} steps",
    "warmup_steps": "{} warm-up steps",
    "weight_decay": "weight decay {}",
    "optimizer": "{}",
    "seed": "seed {}",
}


def section_of(group: RunGroup) -> str:
    """`ablation`, `search` for runs of a recipe with changed settings, or `protocol`."""
    if "+" in group.recipe:
        return "search"
    return "ablation" if group.recipe.startswith(ABLATION) else "protocol"


def title_of_group(group: RunGroup) -> str:
    """What the runs are about, and the name by which files and commands know them."""
    base, *changes = group.recipe.split("+")
    section = section_of(group)
    if changes:
        about = f"{base} with {', '.join(map(_in_words, changes))}"
        return f"{SECTIONS[section]}{about}" + ("" if group.name == group.recipe else f" ({group.name})")
    recipe = RECIPES.get(base)
    about = recipe.summary.removeprefix("ablation: ") if recipe else before_and_after(group) or "another recipe"
    about = f"{SECTIONS[section]}{about}"
    return f"{about[0].upper()}{about[1:]} ({group.name}, {group.num_steps:,} steps)"


def before_and_after(group: RunGroup) -> str:
    """The two texts of runs that began at a checkpoint; empty for others."""
    before, after = (group.settings.get(name) for name in ("base_corpus", "corpus"))
    return f"Fine-tuning from {before} to {after}" if before and after else ""


def in_sections(groups: Iterable[RunGroup]) -> list[RunGroup]:
    """Protocols first, then ablations, then searches; within each in the order of the recipes, then of the names."""
    known, sections = list(RECIPES), list(SECTIONS)

    def place(group: RunGroup) -> tuple[int, int, int, list[tuple[str, float, str]], str]:
        base = group.recipe.partition("+")[0]
        order = known.index(base) if base in known else len(known)
        return sections.index(section_of(group)), order, -group.num_steps, _in_order(group), group.name

    return sorted(groups, key=place)


def _in_order(group: RunGroup) -> list[tuple[str, float, str]]:
    """The changes of a recipe, by which numbers stand in the order of their values."""
    found = []
    for change in group.recipe.split("+")[1:]:
        name, _, value = change.partition("=")
        is_number = re.fullmatch(r"\d+(\.\d+)?(e-?\d+)?", value) is not None
        found.append((name, float(value) if is_number else 0.0, value))
    return found


def _in_words(change: str) -> str:
    name, _, value = change.partition("=")
    field = re.sub(r"^model\.", "", name)
    return WORDS[field].format(value) if field in WORDS else f"{field.replace('_', ' ')} {value}"
