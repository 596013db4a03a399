"""`python -m training <verb>`: train, compare and report."""

import sys

from training.engine.memory import keep_freed_memory


def main(arguments: list[str] | None = None) -> int:
    """Parse the arguments and run the verb; wrong input is one line on stderr and exit code 2."""
    keep_freed_memory()

    import tyro

    from training.commands.benchmark import Benchmark
    from training.commands.bundle import Bundle
    from training.commands.evaluate import Evaluate
    from training.commands.push import Push, PushAll, PushSpace
    from training.commands.recipes import Recipes
    from training.commands.report import Report
    from training.commands.sweep import Sweep
    from training.commands.train import Train

    verbs = {
        "recipes": Recipes,
        "train": Train,
        "sweep": Sweep,
        "evaluate": Evaluate,
        "report": Report,
        "benchmark": Benchmark,
        "bundle": Bundle,
        "push": Push,
        "push-all": PushAll,
        "push-space": PushSpace,
    }
    command = tyro.extras.subcommand_cli_from_dict(
        verbs, prog="python -m training", description=__doc__, args=arguments
    )
    try:
        return command.run()
    except ValueError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(main())
