"""Train, compare, report and publish."""

import ctypes
import errno
import os
import sys

# Parameter numbers of glibc's mallopt.
M_TRIM_THRESHOLD = -1
M_MMAP_MAX = -4
M_ARENA_MAX = -8
# mallopt takes an int: this is "never trim" for any model that fits a machine without accelerators.
LARGEST_INT = 2**31 - 1
# Exit codes of runs that SIGINT or SIGTERM stopped.
STOPPED = (130, 143)


def main(arguments: list[str] | None = None) -> int:
    """Parse the arguments and run the verb; wrong input is one line on stderr and exit code 2."""
    keep_freed_memory()

    import tyro

    from training.commands.benchmark import Benchmark
    from training.commands.bundle import Bundle
    from training.commands.depth import Depth
    from training.commands.dynamics import Dynamics
    from training.commands.evaluate import Evaluate
    from training.commands.finetune import Finetune
    from training.commands.finetune_grid import FinetuneGrid
    from training.commands.lens import Lens
    from training.commands.push import Push, PushAll, PushSpace
    from training.commands.recipes import Recipes
    from training.commands.report import Report
    from training.commands.sweep import Sweep
    from training.commands.train import Train

    verbs = {
        "recipes": Recipes,
        "train": Train,
        "sweep": Sweep,
        "finetune": Finetune,
        "finetune-grid": FinetuneGrid,
        "evaluate": Evaluate,
        "depth": Depth,
        "report": Report,
        "lens": Lens,
        "dynamics": Dynamics,
        "benchmark": Benchmark,
        "bundle": Bundle,
        "push": Push,
        "push-all": PushAll,
        "push-space": PushSpace,
    }
    command = tyro.extras.subcommand_cli_from_dict(
        verbs,
        prog="python -m training",
        description=__doc__,
        args=arguments,
        config=(tyro.conf.FlagCreatePairsOff,),
    )
    try:
        return command.run()
    except (ValueError, OSError) as error:
        print(f"error: {in_words(error)}", file=sys.stderr)
        return 2


def in_words(error: ValueError | OSError) -> str:
    """What was wrong; for the system's own errors, with the file and what can be done."""
    if not isinstance(error, OSError) or not error.strerror:
        return str(error)
    advice = {
        errno.ENOSPC: "make room on the disk, or choose another --out; what was saved before is whole",
        errno.EDQUOT: "make room within your quota, or choose another --out; what was saved before is whole",
        errno.EACCES: "choose a folder that you may read and write",
        errno.EPERM: "choose a folder that you may read and write",
        errno.EROFS: "that disk is read-only; choose another --out",
        errno.ENOTDIR: "a file stands where a folder is needed; choose another --out",
        errno.EEXIST: "a file stands where a folder is needed; choose another --out",
    }.get(error.errno or 0, "check the path, then repeat the command")
    return f"{error.filename or 'a file'}: {error.strerror}; {advice}"


def keep_freed_memory() -> bool:
    """Ask the C library to keep freed memory; call before JAX starts. Returns whether it had an effect.

    XLA on the CPU allocates its temporary buffers anew in every step. glibc serves blocks of that size with mmap and
    returns them to the system when they are freed: for a 256-wide, 6-layer model about 300 MB, or 76,000 page faults,
    per step, a fifth of its time. Served from one heap that is never trimmed, the same pages stay mapped.
    """
    if not sys.platform.startswith("linux") or "cpu" not in os.environ.get("JAX_PLATFORMS", "cpu"):
        return False
    library = ctypes.CDLL(None)
    if not hasattr(library, "mallopt") or not hasattr(library, "gnu_get_libc_version"):
        return False
    settings = ((M_MMAP_MAX, 0), (M_TRIM_THRESHOLD, LARGEST_INT), (M_ARENA_MAX, 1))
    return all([library.mallopt(parameter, value) == 1 for parameter, value in settings])


def leave(code: int) -> None:
    """End the process with this exit code, whatever a stopped run has left half way.

    XLA compiles in threads of its own. A run that a signal stops meanwhile would crash in them while Python shuts down,
    and end with the exit code of the crash.
    """
    if code in STOPPED:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)
    sys.exit(code)


if __name__ == "__main__":
    leave(main())
