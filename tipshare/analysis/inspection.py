"""Everything this package says about a model and a text, in one place: the arrays, the main numbers, and sentences.

The command `inspect`, the page and the documents all take their numbers and words from here.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from tipshare.analysis.lens import Lens, TunedLens, lens
from tipshare.analysis.lyapunov import Exponents, lyapunov_exponents
from tipshare.analysis.sensitivity import Sensitivity, sensitivity
from tipshare.analysis.similarity import AttentionUse, StreamChange, attention_use, stream_change
from tipshare.analysis.spectra import Poles, Spectrum, spectra, ssm_poles
from tipshare.model.depth_change import with_depth_steps
from tipshare.model.language_model import LanguageModel

# From which rank correlation with depth on, and from which ratio of last to first, magnitudes count as growing.
STEADY, RATIO = 0.5, 1.05
NAMED_BYTES = {0x20: "space", 0x0A: "newline", 0x09: "tab", 0x0D: "return"}


@dataclass(frozen=True)
class Inspection:
    """What was found of one model at one text."""

    model: LanguageModel
    depth_steps: int
    spectra: dict[str, Spectrum]
    poles: Poles | None
    exponents: Exponents
    sensitivity: Sensitivity
    lens: Lens
    stream: StreamChange
    attention: AttentionUse


@dataclass(frozen=True)
class Growth:
    """Whether a number grows with depth.

    Attributes:
        first: At the first depth step.
        last: At the last.
        correlation: Kendall's rank correlation with depth: 1 if it grows at every step, -1 if it falls at every step.
    """

    first: float
    last: float
    correlation: float

    @property
    def ratio(self) -> float:
        return self.last / self.first if self.first else float("inf")

    @property
    def verdict(self) -> str:
        """ "grows", "falls", "is the same" or "rises and falls"."""
        if self.first == self.last and self.correlation == 0:
            return "is the same"
        if self.ratio >= RATIO and self.correlation >= STEADY:
            return "grows"
        if self.ratio <= 1 / RATIO and self.correlation <= -STEADY:
            return "falls"
        return "rises and falls"


def inspect_text(
    model: LanguageModel,
    text: str | bytes,
    steps: int | None = None,
    *,
    place: int = -1,
    tuned: TunedLens | None = None,
) -> Inspection:
    """Every analysis of this package for one text.

    Cost: the sum of its parts; about 20 s for 64 bytes of a model 256 wide, most of it for the Lyapunov exponents.

    Args:
        place: The position whose prediction is traced back to the bytes before it.
        tuned: A tuned lens; the logit lens if None.

    Example:
        main_numbers(inspect_text(model, "The history of"))
    """
    model = with_depth_steps(model, steps)
    return Inspection(
        model=model,
        depth_steps=model.steps,
        # First, because it refuses a place that the text does not have.
        sensitivity=sensitivity(model, text, place),
        spectra=spectra(model),
        poles=ssm_poles(model, text) if model.config.mixer == "ssm" else None,
        exponents=lyapunov_exponents(model, text),
        lens=lens(model, text, tuned=tuned),
        stream=stream_change(model, text),
        attention=attention_use(model, text),
    )


def growth_of(values: np.ndarray) -> Growth:
    """How a number changes along depth, given at every depth step. Cost: none.

    Example:
        growth_of(spectra(model)["up-down"].magnitude.mean(axis=1)).verdict
    """
    signs = np.sign(values[None, :] - values[:, None])
    above = np.triu_indices(len(values), 1)
    correlation = float(signs[above].mean()) if len(values) > 1 else 0.0
    return Growth(float(values[0]), float(values[-1]), correlation)


def main_numbers(found: Inspection) -> dict[str, Any]:
    """The main numbers as JSON fields: means over heads and positions, by depth. Cost: none.

    Example:
        main_numbers(inspect_text(model, "The history of")).get("lyapunov")
    """
    spectrum_rows = {}
    for name, each in found.spectra.items():
        growth = growth_of(each.magnitude.mean(axis=1))
        spectrum_rows[name] = {
            "t": _list(each.t),
            "magnitude": _list(each.magnitude.mean(axis=1)),
            "radius": _list(each.radius.max(axis=1)),
            "largest_real": _list(each.largest_real.max(axis=1)),
            "effective_rank": _list(each.rank.mean(axis=1)),
            "last_over_first": growth.ratio,
            "rank_correlation_with_depth": growth.correlation,
            "verdict": growth.verdict,
        }
    numbers: dict[str, Any] = {
        "kind": found.model.config.kind,
        "depth_steps": found.depth_steps,
        "spectra": spectrum_rows,
        "lyapunov": {
            "largest": found.exponents.largest,
            "leading": _list(found.exponents.values[:4]),
            "exact": found.exponents.is_complete,
            "kaplan_yorke_dimension": found.exponents.dimension,
        },
        "sensitivity": {
            "place": found.sensitivity.place,
            "predicted": found.sensitivity.predicted,
            "largest_exponent": float(found.sensitivity.exponents.max()),
            "most_sensitive_to": int(found.sensitivity.shares.argmax()),
            "half_of_it_within": half_within(found.sensitivity),
        },
        "lens": {
            "t": _list(found.lens.t),
            "loss": _list(found.lens.losses[:, found.lens.targets >= 0].mean(axis=1)),
            "entropy": _list(found.lens.entropies.mean(axis=1)),
            "divergence": _list(found.lens.divergences.mean(axis=1)),
            "settled_at": float(found.lens.settled.mean()),
            "tuned": found.lens.is_tuned,
        },
        "stream": {
            "update_size": _list(found.stream.update_sizes.mean(axis=1)),
            "update_angle": _list(found.stream.update_angles.mean(axis=1)),
            "effective_rank": _list(found.stream.ranks),
            "alignment_of_embedding_and_last": float(found.stream.alignment[0, -1]),
        },
        "attention": {
            "entropy": _list(found.attention.entropies.mean(axis=(1, 2))),
            "look_back": _list(found.attention.distances.mean(axis=(1, 2))),
        },
        "state_space": None,
    }
    if found.poles is not None:
        numbers["state_space"] = {
            "median_time_constant": _list(np.median(found.poles.time_constants, axis=1)),
            "largest_exponent_per_byte": _list(found.poles.exponents.max(axis=1)),
        }
    return numbers


def half_within(sensed: Sensitivity) -> int:
    """How many of the last bytes carry half of the sensitivity."""
    return int(np.searchsorted(np.cumsum(sensed.shares[::-1]), 0.5)) + 1


def spectra_in_words(name: str, found: Spectrum) -> str:
    """Whether the eigenvalues of one product grow with depth."""
    growth = growth_of(found.magnitude.mean(axis=1))
    if len(found.t) < 2:
        return f"The eigenvalues of {name} have a mean magnitude of {growth.last:.2f} at the one depth step."
    return (
        f"The mean magnitude of the eigenvalues of {name} {growth.verdict} with depth: {growth.first:.2f} at "
        f"t = {found.t[0]:.2f}, {growth.last:.2f} at t = {found.t[-1]:.2f} (rank correlation "
        f"{growth.correlation:+.2f}); the largest is {found.radius.max():.2f}."
    )


def poles_in_words(found: Poles) -> str:
    """How long the states of a state space remember."""
    median = np.median(found.time_constants, axis=1)
    return (
        f"Half of the states forget within {median[0]:.0f} bytes at t = {found.t[0]:.2f} and within {median[-1]:.0f} "
        f"at t = {found.t[-1]:.2f}; the slowest keeps 1/e for {found.time_constants.max():,.0f} bytes."
    )


def sensitivity_in_words(found: Sensitivity) -> str:
    """What a prediction depended on most, and how far back half of it lies."""
    best = int(found.shares.argmax())
    back = found.place - best
    where = "the byte just read" if back == 0 else f"the byte {back} before the last one read"
    largest = found.exponents.max()
    bound = "at most" if found.is_exact else "or more"
    return (
        f"The prediction of {byte_name(found.predicted)} depends most on {byte_name(int(found.ids[best]))}, {where} "
        f"({found.shares[best]:.0%} of all sensitivity); half of it lies in the last {half_within(found)} of "
        f"{len(found.ids)} bytes. A disturbance of one byte can grow {np.exp(largest):.1f}-fold {bound} "
        f"(exponent {largest:.2f})."
    )


def lens_in_words(found: Lens) -> str:
    """When the predictions of a text settle, and how far from the last one they begin."""
    settled = found.settled
    halfway = float(np.mean(settled <= 0.5))
    which = "tuned" if found.is_tuned else "logit"
    divergence = found.divergences.mean(axis=1)
    return (
        f"Read through the {which} lens, {halfway:.0%} of the predictions are final by t = 0.5; the mean divergence "
        f"from the last depth falls from {divergence[0]:.2f} nats at the embedding to {divergence[-2]:.2f} before the "
        "last depth step."
    )


def stream_in_words(found: StreamChange) -> str:
    """Which depth step changes the stream most, and whether successive ones go the same way."""
    sizes = found.update_sizes.mean(axis=1)
    most, least = int(sizes.argmax()), int(sizes.argmin())
    words = (
        f"The step to t = {found.t[most + 1]:.2f} changes the residual stream most, by {sizes[most]:.2f} of its norm, "
        f"the step to t = {found.t[least + 1]:.2f} least, by {sizes[least]:.2f}; "
    )
    if found.update_angles.size:
        words += f"successive updates stand at {found.update_angles.mean():.0f} degrees on average; "
    return words + f"CKA between embedding and last depth is {found.alignment[0, -1]:.2f}."


def byte_name(byte: int) -> str:
    """A byte as a reader sees it: its character in quotation marks, a name for blanks, or hexadecimal digits."""
    if byte in NAMED_BYTES:
        return NAMED_BYTES[byte]
    return f"\u201c{chr(byte)}\u201d" if 0x20 < byte < 0x7F else f"0x{byte:02X}"


def _list(values: np.ndarray) -> list[float]:
    return [float(each) for each in values]
