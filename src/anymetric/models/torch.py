"""TorchModel: any torch module that maps a row to a score, as a model to train."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from copy import deepcopy
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, clone

from anymetric.data import Data
from anymetric.errors import Deferred, import_extra
from anymetric.losses import Loss, as_loss
from anymetric.models._torch_network import Network, secluded, usable
from anymetric.models._torch_training import Goal, Softmax, Training
from anymetric.models.linear import Linear

if TYPE_CHECKING:
    import torch
    from torch import nn
else:
    torch = Deferred("torch", needed_by="TorchModel", extra="torch")

Floats64 = NDArray[np.float64]
OPTIMISERS = ("adam", "adagrad")


class TorchModel(BaseEstimator):  # type: ignore[misc]
    """A torch module as the model of an estimator; it needs ``pip install 'anymetric[torch]'``.

    The module is copied, never changed. Its layers are reinitialised for every training (those
    that have `reset_parameters`), from the estimator's `random_state`; with ``reset=False``
    training begins from its own weights. Parameters that ask for no gradient stay as they are.

    Parameters
    ----------
    module : nn.Module or function
        Maps a batch ``(b, d)`` to scores: ``(b,)`` or ``(b, 1)`` for two classes or a real
        target, or ``(b, C)`` for C classes. A function ``f(d)`` or ``f(d, outputs)`` makes the
        module when the width of X is known; a named one, if the estimator is to be pickled.
    loss : "auto", name or Loss, default="auto"
        ``auto``: logistic for two classes, squared for a real target. For more than two classes
        it is always the softmax cross-entropy.
    epochs : int, optional
        At most so many passes over the rows. By default 100, and less, down to 10, where rows
        times parameters are many.
    batch_size : int, optional
        A twentieth of the rows by default, but from 16 to 128.
    lr : float, default=0.005
    weight_decay : float, default=0.0001
    optimiser : {"adam", "adagrad"}, default="adam"
        Adam with decoupled weight decay (AdamW).
    patience : int, default=8
        Training ends after so many epochs without a lower loss on rows held out for that.
    held_out : float, default=0.15
        The share of the training rows held out; 0 takes all epochs.
    standardize : bool, default=True
        Let the module see columns of mean 0 and variance 1, and for a real target scores too.
    reset : bool, default=True
    device : str, default="cpu"
    chunk : int, default=16
        Perturbed parameter vectors that are evaluated together.
    dtype : str, default="float32"

    Examples
    --------
    >>> import numpy as np
    >>> from torch import nn
    >>> def net(d):
    ...     return nn.Sequential(nn.Linear(d, 8), nn.Tanh(), nn.Linear(8, 1))
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(300, 2))
    >>> data = Data(X, np.where(X[:, 0] * X[:, 1] > 0, 1.0, -1.0))
    >>> network = TorchModel(net, lr=0.03).learn(data, data.weights, rng)
    >>> bool(np.mean((network.scores(X) > 0) == (data.y > 0)) > 0.9)
    True
    """

    def __init__(
        self,
        module: nn.Module | Callable[..., nn.Module],
        *,
        loss: str | Loss = "auto",
        epochs: int | None = None,
        batch_size: int | None = None,
        lr: float = 5e-3,
        weight_decay: float = 1e-4,
        optimiser: Literal["adam", "adagrad"] = "adam",
        patience: int = 8,
        held_out: float = 0.15,
        standardize: bool = True,
        reset: bool = True,
        device: str = "cpu",
        chunk: int = 16,
        dtype: str = "float32",
    ) -> None:
        import_extra("torch", needed_by="TorchModel", extra="torch")
        self.module = module
        self.loss = loss
        self.epochs = epochs
        self.batch_size = batch_size
        self.lr = lr
        self.weight_decay = weight_decay
        self.optimiser = optimiser
        self.patience = patience
        self.held_out = held_out
        self.standardize = standardize
        self.reset = reset
        self.device = device
        self.chunk = chunk
        self.dtype = dtype

    @property
    def family(self) -> str:
        """One word for reports."""
        return "torch"

    def stiffer(self) -> TorchModel:
        """Return the family with weights held smaller, for few or noisy rows."""
        stiff: TorchModel = clone(self, safe=False)
        stiff.set_params(weight_decay=max(100.0 * self.weight_decay, 0.1))
        return stiff

    def with_loss(self, loss: Loss) -> TorchModel:
        """Return the family with another loss."""
        other: TorchModel = clone(self, safe=False)
        other.set_params(loss=loss)
        return other

    def learn(
        self,
        data: Data,
        rows: Floats64,
        rng: np.random.Generator,
        *,
        classes: int = 2,
        start: Any = None,
    ) -> Network:
        """Fit the module to the loss with these row weights.

        Parameters
        ----------
        data : Data
            y is -1 and +1 for two classes, codes 0 to C - 1 for more, real for ``classes=0``.
        rows : array of shape (n,)
            Weights of any scale, not negative.
        rng : numpy.random.Generator
        classes : int
        start : Network, optional
            Where training begins, if it is of the same shape.
        """
        self._check()
        network = self.begun(data, rows, rng, classes=classes, start=start)
        goal, real = self._goal(classes), classes == 0
        return self._training().fit(network, data, rows, goal, rng, classes=not real)

    def begun(
        self,
        data: Data,
        rows: Floats64,
        rng: np.random.Generator,
        *,
        classes: int = 2,
        start: Any = None,
    ) -> Network:
        """Return the network before its training: bound to the features, and initialised."""
        self._check()
        outputs = classes if classes > 2 else 1
        with secluded(self.device, int(rng.integers(2**31))):
            module = self._built(int(data.X.shape[1]), outputs)
        network = self._placed(module, data, rows, outputs, classes == 0)
        check_fits(network, data)
        return start if alike(start, network) else network

    def _built(self, d: int, outputs: int) -> nn.Module:
        """Return a module of our own, initialised with the seed of the moment."""
        if isinstance(self.module, torch.nn.Module):
            module = deepcopy(self.module)
            for layer in module.modules() if self.reset else ():
                reset: Any = getattr(layer, "reset_parameters", None)
                if callable(reset):
                    reset()
        else:
            several = len(required(self.module)) > 1
            module = self.module(d, outputs) if several else self.module(d)
            if not isinstance(module, torch.nn.Module):
                raise TypeError(
                    f"The function given as `module` must return an nn.Module; got {module!r}."
                )
        return module.to(device=self.device, dtype=getattr(torch, self.dtype)).eval()

    def _placed(
        self, module: nn.Module, data: Data, rows: Floats64, outputs: int, real: bool
    ) -> Network:
        """Return the network in the units of the features, and of a real target."""
        shift, scale, offset, unit = None, None, np.zeros(outputs), 1.0
        if self.standardize:
            # The same units for every weighting of the same rows: their networks can be compared.
            units = Linear.standardised(data.X, np.where(rows > 0.0, data.weights, 0.0))
            shift, scale = units.shift, units.scale
        if self.standardize and real:
            offset[:] = np.average(data.y, weights=rows)
            unit = float(np.sqrt(np.average((data.y - offset) ** 2, weights=rows))) or 1.0
        return Network(module, outputs, offset, shift, scale, unit, self.device, self.chunk)

    def _goal(self, classes: int) -> Goal:
        if classes > 2:
            return Softmax()
        if isinstance(self.loss, str) and self.loss == "auto":
            return as_loss("logistic" if classes == 2 else "squared")
        return as_loss(self.loss)

    def _training(self) -> Training:
        return Training(
            self.epochs,
            self.batch_size,
            self.lr,
            self.weight_decay,
            self.optimiser,
            self.patience,
            self.held_out,
        )

    def _check(self) -> None:
        """Refuse settings that cannot work, before any work."""
        if not callable(self.module):
            raise TypeError(
                "`module` must be an nn.Module, or a function of the number of features that "
                f"returns one; got {self.module!r}."
            )
        for name in ("epochs", "batch_size", "lr", "patience", "chunk"):
            given = getattr(self, name)
            if not (given is None and name in ("epochs", "batch_size")) and not given > 0:
                raise ValueError(f"{name} must be positive; got {given!r}.")
        if self.optimiser not in OPTIMISERS:
            raise ValueError(f"optimiser must be one of {OPTIMISERS}; got {self.optimiser!r}.")
        if not 0.0 <= self.held_out < 1.0:
            raise ValueError(f"held_out must be at least 0 and below 1; got {self.held_out!r}.")
        if not getattr(getattr(torch, self.dtype, None), "is_floating_point", False):
            raise ValueError(f"dtype must be a floating type of torch by name; got {self.dtype!r}.")
        if not usable(self.device):
            raise ValueError(f"The device {self.device!r} is not there; 'cpu' always is.")


def check_fits(network: Network, data: Data) -> None:
    """Refuse a module that cannot read rows as wide as these, or gives no scores for them."""
    try:
        with torch.no_grad():
            out = network.module(network.seen(data.X[:2]))
    except (RuntimeError, IndexError, ValueError) as error:
        raise ValueError(
            f"TorchModel's module was given rows of X, which has {data.X.shape[1]} columns, and "
            f"failed: {error}. Let its first layer take so many, or give a function f(d) that "
            "makes the module for d columns."
        ) from error
    network.shaped(out, min(len(data), 2))


def required(function: Callable[..., Any]) -> list[str]:
    """Return the names of the arguments that a function cannot do without.

    Examples
    --------
    >>> required(lambda d, outputs, width=8: None)
    ['d', 'outputs']
    """
    given = inspect.signature(function).parameters.values()
    placed = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    return [p.name for p in given if p.kind in placed and p.default is p.empty]


def alike(start: Any, network: Network) -> bool:
    """Return whether training can begin from another network: one of the same shape."""
    if not isinstance(start, Network) or start.outputs != network.outputs:
        return False
    ours, theirs = network.module.state_dict(), start.module.state_dict()
    return list(ours) == list(theirs) and all(ours[k].shape == theirs[k].shape for k in ours)
