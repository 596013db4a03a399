"""How a recipe is trained: the loop, the step, the optimizer, state on disk, evaluation, devices."""
