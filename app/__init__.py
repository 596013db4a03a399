"""The web demo: checkpoints and records in, pixels out."""
