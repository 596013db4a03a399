"""The web demo: checkpoints and records in, pixels out."""

from app.page import build_demo

__all__ = ["build_demo"]
