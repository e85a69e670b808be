"""Losses: what one score costs against one target, with slope and curvature."""

from __future__ import annotations

from anymetric.losses.base import Loss, MarginForm, MarginLoss, ResidualLoss
from anymetric.losses.margin import Exponential, Hinge, Logistic, Sigmoid, SquaredHinge
from anymetric.losses.residual import Absolute, Huber, Lp, Squared, Tilted

__all__ = [
    "Absolute",
    "Exponential",
    "Hinge",
    "Huber",
    "Logistic",
    "Loss",
    "Lp",
    "MarginForm",
    "MarginLoss",
    "ResidualLoss",
    "Sigmoid",
    "Squared",
    "SquaredHinge",
    "Tilted",
    "as_loss",
]

_RESIDUAL = (Squared(), Absolute(), Huber())
_MARGIN = (Hinge(), SquaredHinge(), Logistic(), Sigmoid(), Exponential())
_NAMED: dict[str, Loss] = {
    loss.name: loss for loss in (*_MARGIN, *_RESIDUAL, *(r.margin_form() for r in _RESIDUAL))
}


def as_loss(spec: Loss | str) -> Loss:
    """Return the loss itself, or the one of this name with its default settings.

    Parameters
    ----------
    spec : Loss or str

    Examples
    --------
    >>> as_loss("sigmoid")
    Sigmoid(scale=1.0)
    >>> as_loss("margin_squared")
    MarginForm(residual=Squared())
    >>> as_loss(Lp(1.5))
    Lp(p=1.5)
    """
    if isinstance(spec, Loss):
        return spec
    if isinstance(spec, str) and spec in _NAMED:
        return _NAMED[spec]
    raise ValueError(
        f"A loss is a Loss, such as Lp(1.5), or one of the names {sorted(_NAMED)}; got {spec!r}."
    )
