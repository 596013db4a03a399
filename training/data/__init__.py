"""Corpora and where they come from."""
