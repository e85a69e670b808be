"""Theory: the settings and the error bounds that the paper proves, as functions.

The constants are the paper's: ``L`` and ``beta``, the Lipschitz and smoothness constants of psi;
``G``, ``Phi`` and ``gamma``, the bound, Lipschitz and smoothness constants of the surrogates;
``slack``, the most by which the metric and psi differ; ``K`` surrogates, ``d`` parameters,
``m`` probes, ``T`` iterations. Theorems and lemmas share one count, as in the typeset paper:
Lemma 1 is the projection, Theorem 2 the convergence of Algorithm 1, Lemma 3 the finite difference
estimate, Lemma 4 the linear interpolation estimate, Lemma 11 the two-step estimate for a non-smooth
psi.

Every bound comes twice. ``stated`` is the statement in the paper with the constant of its O()
taken as one. ``error`` is the last display of its proof that still has constants, with only those
taken as one that are unnamed there too. They differ in more than constants: see each function.
"""

from anymetric.theory.descent import (
    Bound,
    DescentSettings,
    descent_settings,
    smoothed_settings,
    smoothness,
    stationarity_bound,
)
from anymetric.theory.estimates import (
    Settings,
    TwoStepSettings,
    balanced_sigma,
    balanced_sigma_2,
    finite_difference_error,
    finite_difference_settings,
    interpolation_error,
    interpolation_settings,
    truncated_error,
    truncation_radius,
    two_step_error,
    two_step_settings,
)

__all__ = [
    "Bound",
    "DescentSettings",
    "Settings",
    "TwoStepSettings",
    "balanced_sigma",
    "balanced_sigma_2",
    "descent_settings",
    "finite_difference_error",
    "finite_difference_settings",
    "interpolation_error",
    "interpolation_settings",
    "smoothed_settings",
    "smoothness",
    "stationarity_bound",
    "truncated_error",
    "truncation_radius",
    "two_step_error",
    "two_step_settings",
]
