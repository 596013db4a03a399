"""From a trained checkpoint to another text, another depth, or weights of its own in every layer."""
