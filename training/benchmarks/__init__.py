"""Measurements of speed, depth and inner dynamics, also against other software; commands carry them out."""
