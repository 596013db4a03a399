"""The Train tab: a visitor trains a small model, watches it, and keeps it."""
