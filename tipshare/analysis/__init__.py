"""Arrays behind the plots: what gates, weights, hidden states and predictions do along depth.

Everything here goes through `model.blocks` and `model.at`, as the forward pass does, so plots show what is computed.
`steps` is always the number of depth steps, for the kinds whose weights are defined at every t; None is the model's
own number.
"""

from tipshare.analysis.demand import Cost, Demand, demand_of
from tipshare.analysis.inspection import Growth, Inspection, growth_of, inspect_text, main_numbers
from tipshare.analysis.lens import Lens, TunedLens, lens
from tipshare.analysis.lyapunov import Exponents, exponents_of, kaplan_yorke, lyapunov_exponents
from tipshare.analysis.path import HiddenPath, hidden_path
from tipshare.analysis.sensitivity import Sensitivity, sensitivity
from tipshare.analysis.similarity import (
    AttentionUse,
    StreamChange,
    alignment,
    attention_use,
    attention_weights,
    stream_change,
    update_angles,
    update_sizes,
)
from tipshare.analysis.spectra import Poles, Spectrum, effective_rank, spectra, spectrum, ssm_poles
from tipshare.analysis.texts import hidden_states
from tipshare.analysis.units import UnitValues, continuous_units, unit_values, units_at
from tipshare.analysis.weights import WeightProducts, effective_weights, weight_products

__all__ = [
    "AttentionUse",
    "Cost",
    "Demand",
    "Exponents",
    "Growth",
    "HiddenPath",
    "Inspection",
    "Lens",
    "Poles",
    "Sensitivity",
    "Spectrum",
    "StreamChange",
    "TunedLens",
    "UnitValues",
    "WeightProducts",
    "alignment",
    "attention_use",
    "attention_weights",
    "continuous_units",
    "demand_of",
    "effective_rank",
    "effective_weights",
    "exponents_of",
    "growth_of",
    "hidden_path",
    "hidden_states",
    "inspect_text",
    "kaplan_yorke",
    "lens",
    "lyapunov_exponents",
    "main_numbers",
    "sensitivity",
    "spectra",
    "spectrum",
    "ssm_poles",
    "stream_change",
    "unit_values",
    "units_at",
    "update_angles",
    "update_sizes",
    "weight_products",
]
