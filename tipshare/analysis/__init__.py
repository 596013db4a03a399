"""Arrays behind the plots: what gates, weights and hidden states do along depth.

Everything here goes through `model.blocks` and `model.at`, as the forward pass does, so plots show what is computed.
"""

from tipshare.analysis.demand import Cost, Demand, demand_of
from tipshare.analysis.path import HiddenPath, hidden_path
from tipshare.analysis.units import UnitValues, continuous_units, unit_values, units_at
from tipshare.analysis.weights import WeightProducts, effective_weights, weight_products

__all__ = [
    "Cost",
    "Demand",
    "HiddenPath",
    "UnitValues",
    "WeightProducts",
    "continuous_units",
    "demand_of",
    "effective_weights",
    "hidden_path",
    "unit_values",
    "units_at",
    "weight_products",
]
