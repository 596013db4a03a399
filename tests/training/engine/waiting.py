"""`python -m training` whose run waits after one step until a signal asks it to stop: STEP, then the arguments."""

import sys
import time

from training.__main__ import main
from training.engine.loop import Training


def wait_after(step: int) -> None:
    """Let every run of this process wait after a step."""
    should_stop = Training._should_stop

    def wait(self: Training, number: int) -> bool:
        while number == step and not self.stop.is_set:
            time.sleep(0.01)
        return should_stop(self, number)

    Training._should_stop = wait


if __name__ == "__main__":
    wait_after(int(sys.argv[1]))
    sys.exit(main(sys.argv[2:]))
