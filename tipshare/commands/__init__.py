"""The verbs of `python -m tipshare`, one file each."""
