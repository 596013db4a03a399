"""Adapters: small low-rank additions to the weights of a trained model, which stays as it is.

model = tipshare.adapters.apply(tipshare.load("time-indexed-ssm"), rank=8, key=jax.random.key(0))
...                                                          # train model.adapters
tipshare.adapters.save(model, "my-adapter", base="time-indexed-ssm")
tipshare.load("my-adapter")                                  # base and adapter together
"""

from tipshare.adapters.apply import apply, find_targets, merge
from tipshare.adapters.folder import load
from tipshare.adapters.save import push, save

__all__ = ["apply", "find_targets", "load", "merge", "push", "save"]
