"""The weights in use at every depth step: how large they are, and how similar."""

import dataclasses
from dataclasses import dataclass

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from haliax import NamedArray
from jaxtyping import Array

from tipshare.analysis.texts import cosines, finite
from tipshare.model.block import Block
from tipshare.model.depth import depths
from tipshare.model.language_model import LanguageModel
from tipshare.model.layers import Layer, LayerNorm


@dataclass(frozen=True)
class WeightProducts:
    """Inner products of a model's effective weights between its depth steps.

    Attributes:
        t: The depth of every step.
        products: By the weight's name: {step, step}, the sum over all entries of W(t) * W(t').
    """

    t: np.ndarray
    products: dict[str, np.ndarray]

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(self.products)

    def similarity(self, name: str | None = None) -> np.ndarray:
        """Cosine similarity between depth steps, {step, step}, of one weight or of all as one long vector.

        A weight of zeros has no direction: its similarity to any other is 0.
        """
        return cosines(self._product(name))

    def norms(self, name: str | None = None) -> np.ndarray:
        """Euclidean norm at every depth step, {step}, of one weight or of all together."""
        return np.sqrt(np.diag(self._product(name)))

    def _product(self, name: str | None) -> np.ndarray:
        if name is None:
            return np.sum(list(self.products.values()), axis=0)
        if name not in self.products:
            raise ValueError(f"no weight is called {name!r}; this model has {', '.join(self.products)}")
        return self.products[name]


def effective_weights(block: Block) -> dict[str, NamedArray]:
    """The weights of a block of plain layers by name, gates included; norms and biases are left out.

    A gated layer has the name of its gate (`attention_in`, `up`, `A`, ...), others that of their field in the block.
    Weights that depend on t have the `depth` axis of the block. Cost: that of multiplying gates into weights.

    Example:
        print(effective_weights(model.at(0.5)).keys())
    """
    weights = {}
    for part in (block.mixer, block.attention):
        gate_names = {place.slot: name for name, place in part.gated.items()}
        for field in dataclasses.fields(part):
            layer = getattr(part, field.name)
            if isinstance(layer, Layer) and not isinstance(layer, LayerNorm):
                name = gate_names.get(field.name, field.name)
                # Both attention and the state-space layer may have a short convolution.
                weights[f"attention_{name}" if name in weights else name] = layer.effective_weight
    return weights


def weight_products(model: LanguageModel, steps: int | None = None) -> WeightProducts:
    """Inner products <W(t), W(t')> of the effective weights between all depth steps of a pass.

    Cost: the weights of every depth step, and for L of them L^2 products of each.

    Example:
        print(1 - weight_products(model).similarity())  # how far apart, by the cosine
    """
    steps = model._check_steps(steps)
    found = {name: np.asarray(each, np.float64) for name, each in _products(model, steps).items()}
    return WeightProducts(depths(steps), {name: finite(f"weights of {name}", each) for name, each in found.items()})


# Compiled as one: operation by operation there would be a compilation for every shape of every weight.
@eqx.filter_jit
def _products(model: LanguageModel, steps: int) -> dict[str, Array]:
    products = {}
    for name, weight in effective_weights(model.blocks(steps)).items():
        rows = along_depth(weight)
        # A shared weight is one row: its product with itself holds for every pair of steps.
        products[name] = jnp.broadcast_to(rows @ rows.T, (steps, steps))
    return products


def along_depth(weight: NamedArray) -> Array:
    """A weight as {step, entry}, in float32; a single row if it is the same at every depth."""
    if not weight.has_axis("depth"):
        return weight.array.astype(jnp.float32).reshape(1, -1)
    others = [axis for axis in weight.axes if axis.name != "depth"]
    rows = weight.rearrange(("depth", *others)).array.astype(jnp.float32)
    return rows.reshape(rows.shape[0], -1)
