"""The one error that a bad checkpoint raises."""


class CheckpointError(ValueError):
    """A checkpoint that cannot be trusted or found; the message names the file, the reason and the way out."""
