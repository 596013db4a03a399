"""Checkpoints and the demo for others: the Hub, the Space, the bundle."""
