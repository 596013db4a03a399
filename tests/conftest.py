"""Settings of all tests."""

import jax

# Tests compile hundreds of small programs and run each a few times: compile quickly rather than well.
jax.config.update("jax_disable_most_optimizations", True)
