"""Spectra of the weights in use at depth t: what a block's matrix products stretch, turn and forget.

Tong et al. (Neural ODE Transformers, ICLR 2025) look at the magnitude of these eigenvalues along depth. Theirs are
computed from weights at t = i/L while training used (i + 1)/L, and imaginary parts are thrown away; here the weights
come from `model.at(t)`, as in the forward pass, and eigenvalues stay complex.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from haliax import NamedArray
from jaxtyping import Array

from tipshare.analysis.texts import along_path, finite, in_float32, ratio
from tipshare.model.block import Block, Mlp
from tipshare.model.depth import depths
from tipshare.model.language_model import LanguageModel

# The products whose spectra are computed, with the names that readers see.
PRODUCTS = {
    "query-key": "query-key, per head",
    "value-output": "value-output, per head",
    "up-down": "up-down of the MLP",
}


@dataclass(frozen=True)
class Spectrum:
    """Eigenvalues and singular values of one product of weights along depth.

    Attributes:
        t: Depths.
        eigenvalues: Complex, {depth, head, value}, the largest magnitude first. Of a product that has a lower rank than
            rows, those that are zero for that reason are left out.
        singular_values: {depth, head, value}, the largest first. One head for products that have none.
    """

    t: np.ndarray
    eigenvalues: np.ndarray
    singular_values: np.ndarray

    @property
    def radius(self) -> np.ndarray:
        """Spectral radius: the largest magnitude of an eigenvalue, {depth, head}."""
        return np.abs(self.eigenvalues).max(axis=-1)

    @property
    def largest_real(self) -> np.ndarray:
        """The largest real part of an eigenvalue, {depth, head}: above 0, the linear flow dx/dt = W x grows."""
        return np.real(self.eigenvalues).max(axis=-1)

    @property
    def magnitude(self) -> np.ndarray:
        """Mean magnitude of the eigenvalues, {depth, head}."""
        return np.abs(self.eigenvalues).mean(axis=-1)

    @property
    def rank(self) -> np.ndarray:
        """Effective rank, {depth, head}."""
        return effective_rank(self.singular_values)


def effective_rank(singular_values: np.ndarray) -> np.ndarray:
    """exp(-sum p log p) with p = s / sum(s), along the last axis: how many directions carry a matrix.

    From 1 for a matrix of rank one to n for n equal singular values; 0 for a matrix of zeros (Roy & Vetterli, "The
    effective rank", 2007). Cost: nothing beside the singular values.

    Example:
        effective_rank(np.array([1.0, 1.0, 0.0]))  # 2.0
    """
    total = singular_values.sum(axis=-1, keepdims=True)
    share = ratio(singular_values, total)
    logs = np.log(share, out=np.zeros_like(share), where=share > 0)
    return np.where(total[..., 0] > 0, np.exp(-(share * logs).sum(axis=-1)), 0.0)


def spectra(model: LanguageModel, t: Sequence[float] | None = None) -> dict[str, Spectrum]:
    """Spectra of a block's products of weights at some depths, from `model.at(t)`, gates included.

    With h' = h W for rows h: `query-key` is W_Q W_K^T of every head (with rotary positions, that of a byte and itself),
    `value-output` is W_V W_O of every head, and `up-down` is W_up W_down of an MLP, its linear part. A product A B has
    the nonzero eigenvalues of the smaller B A, which is what is decomposed.

    Cost: per depth, for width d and H heads, d^3 operations times a factor near 25 for an MLP, less for heads; about
    0.2 s per depth for d = 256 on one core.

    Args:
        t: Depths in (0, 1]; those of the model's depth steps if None. Kinds with weights per layer have no others.

    Example:
        found = spectra(model)["value-output"]
        print(found.t, found.radius.mean(axis=1))
    """
    at = depths(model.steps) if t is None else np.asarray(t, np.float64)
    if at.ndim != 1 or not at.size:
        raise ValueError(f"t={t!r} must be a list of depths in (0, 1]")
    model = in_float32(model)
    blocks = [_spectra_of(model.at(float(each))) for each in at]
    return {
        name: Spectrum(at, *(np.stack([block[name][part] for block in blocks]) for part in (0, 1)))
        for name in blocks[0]
    }


def spectrum(model: LanguageModel, name: str, t: Sequence[float] | None = None) -> Spectrum:
    """One of `spectra` by name; ValueError for a product that the model does not have. Cost: that of `spectra`.

    Example:
        spectrum(model, "query-key", [0.5, 1.0])
    """
    found = spectra(model, t)
    if name not in found:
        raise ValueError(f"this model has no product {name!r}; it has {', '.join(found)}")
    return found[name]


def _spectra_of(block: Block) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """Eigenvalues and singular values of each product of a block of plain layers, {head, value}."""
    weight, output = block.attention.qkv.effective_weight, block.attention.output.effective_weight
    query, key, value = (_matrices(weight["qkv", part], ("heads", "embed", "head_size")) for part in range(3))
    pairs = {
        "query-key": (query, key.swapaxes(1, 2)),
        "value-output": (value, _matrices(output, ("heads", "head_size", "embed"))),
    }
    if isinstance(block.mixer, Mlp):
        up, down = block.mixer.up.effective_weight, block.mixer.down.effective_weight
        pairs["up-down"] = _matrices(up, ("embed", "mlp"))[None], _matrices(down, ("mlp", "embed"))[None]
    return {name: _decompose(*pair) for name, pair in pairs.items()}


def _matrices(weight: NamedArray, order: tuple[str, ...]) -> np.ndarray:
    return finite("weights", np.asarray(weight.rearrange(order).array, np.float64))


def _decompose(left: np.ndarray, right: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Eigenvalues and singular values of left @ right, matrix by matrix, without those that its shape makes zero."""
    if left.shape[-1] < left.shape[-2]:
        eigenvalues = np.linalg.eigvals(right @ left)
        # left = Q1 R1 and right^T = Q2 R2, so that left @ right and R1 R2^T have the same singular values.
        first: Any = np.linalg.qr(left, mode="r")
        second: Any = np.linalg.qr(right.swapaxes(-1, -2), mode="r")
        product = first @ second.swapaxes(-1, -2)
    else:
        product = left @ right
        eigenvalues = np.linalg.eigvals(product)
    order = np.argsort(-np.abs(eigenvalues), axis=-1, kind="stable")
    return np.take_along_axis(eigenvalues, order, axis=-1).astype(complex), np.linalg.svd(product, compute_uv=False)


@dataclass(frozen=True)
class Poles:
    """How the states of a state-space layer decay at a given text.

    Attributes:
        t: The depth of every step.
        log_poles: delta A, {depth, position, state}; all below 0.
    """

    t: np.ndarray
    log_poles: np.ndarray

    @property
    def poles(self) -> np.ndarray:
        """exp(delta A), {depth, position, state}: what is left of a state after one more byte."""
        return np.exp(self.log_poles)

    @property
    def time_constants(self) -> np.ndarray:
        """-1 / mean over positions of delta A, {depth, state}: after so many bytes a state has fallen to 1/e."""
        return -1.0 / np.minimum(self.exponents, -np.finfo(np.float64).tiny)

    @property
    def exponents(self) -> np.ndarray:
        """Lyapunov exponents of the state along positions, per byte, {depth, state}: the mean of delta A.

        For a given input the recurrence h_p = exp(delta_p A) h_(p-1) + ... is linear and diagonal, so that a
        disturbance of the state grows or falls by the product of its poles, whatever the state is.
        """
        return self.log_poles.mean(axis=1)


def ssm_poles(model: LanguageModel, text: str | bytes, steps: int | None = None) -> Poles:
    """The poles exp(delta A) of every state at every depth and byte of a text.

    delta depends on the input (Mamba; Gu & Dao, 2023), so poles do too. Cost: two forward passes.

    Example:
        print(np.median(ssm_poles(model, "The history of").time_constants, axis=1))
    """
    if model.config.mixer != "ssm":
        raise ValueError("this model has no state space: its mixer is an MLP, whose products `spectra` gives")
    found = along_path(model, text, steps, _log_poles, "poles").swapaxes(1, 2)
    return Poles(depths(len(found)), found)


def _log_poles(block: Block, x: NamedArray, step_size: float) -> Array:
    mixer: Any = block.mixer
    attended, _ = block.attention.run(block.attention_norm(x))
    entering = block.mixer_norm(x if block.parallel else x + step_size * attended)
    return mixer.log_poles(entering).rearrange(("state", "position")).array
