"""`python -m training benchmark` for one kind and without its longest measurements; started by the scene."""

import functools
import sys
from pathlib import Path


def main() -> int:
    # The copy of the checkout in which the scene runs commands, not the folder of this file.
    sys.path[0] = str(Path.cwd())
    from training.__main__ import main as run
    from training.benchmarks import generation, training

    training.measure = functools.partial(training.measure, kinds=("time-indexed-mlp",))
    generation.measure = functools.partial(
        generation.measure, models=(("time-indexed-mlp", "default"),), depths=(3,), speed_only=True
    )
    training.measure_tuned = functools.partial(training.measure_tuned, models=("time-indexed-mlp",), batches=(2,))
    return run(sys.argv[1:])


if __name__ == "__main__":
    sys.exit(main())
