"""The residual stream of a prompt along depth: how far each depth step moves it, and what it predicts if read early."""

from dataclasses import dataclass

import numpy as np

from tipshare.analysis.lens import ALTERNATIVES, predictions
from tipshare.analysis.texts import in_float32, read_text, states_of
from tipshare.model.depth import depths
from tipshare.model.language_model import LanguageModel


@dataclass(frozen=True)
class HiddenPath:
    """The residual stream at the last byte of a prompt, from the embedding (t = 0) to the last depth step.

    Attributes:
        t: Depths: 0, 1/L, 2/L, ..., 1.
        norms: Euclidean norm of the stream at every depth.
        step_sizes: Distance between a depth and the one before it, {depth - 1}.
        bytes: The most probable next bytes if the model stopped at that depth, best first, {depth, alternative}.
        probabilities: Of these bytes, {depth, alternative}.
        entropies: Of the whole prediction at every depth, in bits.
        final_probabilities: At every depth, the probability of the byte that is most probable at the last one.
        unread: How many bytes at the start of the prompt did not fit into the context.
    """

    t: np.ndarray
    norms: np.ndarray
    step_sizes: np.ndarray
    bytes: np.ndarray
    probabilities: np.ndarray
    entropies: np.ndarray
    final_probabilities: np.ndarray
    unread: int


def hidden_path(model: LanguageModel, prompt: str | bytes, steps: int | None = None) -> HiddenPath:
    """Follow the last byte of a prompt through depth; as in generation, a text starts after a line end.

    Predictions are softmax(head(norm(x_l))) of the stream x_l after l depth steps (the logit lens; nostalgebraist,
    2020). Cost: one forward pass, and the head at every depth.

    Args:
        prompt: Text or bytes, may be empty; if it is longer than the context, only its end is read.

    Example:
        print(hidden_path(model, "The history of").step_sizes)
    """
    model, read = in_float32(model), read_text(model, prompt, may_be_empty=True)
    last = states_of(model, read, steps)[:, -1:]
    stream, log_probs = last[:, 0], predictions(model, last)[:, 0]
    probabilities = np.exp(log_probs)
    best = np.argsort(-probabilities, axis=1, kind="stable")[:, :ALTERNATIVES]
    return HiddenPath(
        t=np.concatenate([[0.0], depths(len(stream) - 1)]),
        norms=np.linalg.norm(stream, axis=1),
        step_sizes=np.linalg.norm(np.diff(stream, axis=0), axis=1),
        bytes=best,
        probabilities=np.take_along_axis(probabilities, best, axis=1),
        entropies=-(probabilities * log_probs).sum(axis=1) / np.log(2),
        final_probabilities=probabilities[:, best[-1, 0]],
        unread=read.unread,
    )
