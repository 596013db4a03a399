"""`python -m training recipes`: what there is to train."""

from dataclasses import dataclass

from training.recipes import RECIPES


@dataclass(frozen=True, kw_only=True)
class Recipes:
    """List the recipes with their cost and the score to expect."""

    def run(self) -> int:
        for recipe in RECIPES.values():
            tokens = recipe.batch_size * recipe.accumulate
            print(f"{recipe.name}\n    {recipe.summary}")
            print(f"    {recipe.corpus}, {recipe.num_steps:,} steps of {tokens} x {recipe.length} bytes")
            print(f"    cost: {recipe.cost}\n    expected: {recipe.expected}")
            if recipe.variants:
                print("    models: " + "; ".join(recipe.variants))
        return 0
