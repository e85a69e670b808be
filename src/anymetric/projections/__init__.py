"""Project: from a target profile back to model parameters (Algorithm 1, line 6)."""

from anymetric.projections.base import Projection, Projector
from anymetric.projections.exact import Exact
from anymetric.projections.first_order import LBFGS, Adagrad
from anymetric.projections.gauss_newton import GaussNewton
from anymetric.projections.minibatch import Minibatch

__all__ = ["LBFGS", "Adagrad", "Exact", "GaussNewton", "Minibatch", "Projection", "Projector"]
