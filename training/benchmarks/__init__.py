"""Measurements against other software, each run as `python -m training.benchmarks.<name>`."""
