"""Training: a network fitted to a weighted loss by batches, stopped early."""

from __future__ import annotations

from collections.abc import Iterator
from copy import deepcopy
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from anymetric.data import Data, Floats
from anymetric.errors import Deferred
from anymetric.models._torch_network import Network, secluded

if TYPE_CHECKING:
    import torch
    from torch import nn
else:
    torch = Deferred("torch", needed_by="TorchModel", extra="torch")

Floats64 = NDArray[np.float64]
GOLDEN = (np.sqrt(5.0) - 1.0) / 2.0
# With fewer rows none are held out for early stopping.
FEWEST = 50
# Entries of X up to which all that the module will see is made at once.
WHOLE = 1 << 27
# Rows times parameters, over all epochs, that a training may take; and how many those may be.
WORK, EPOCHS = 5 * 10**10, (10, 100)
# A lower loss by less than this share of it is no news.
NEWS = 1e-4


class Goal(Protocol):
    """What training minimises: the losses of scores, and their derivatives by them."""

    def with_slopes(self, scores: Floats, y: Floats) -> tuple[Floats, Floats]:
        """Return ``(n,)`` losses, and slopes in the shape of the scores."""
        ...


@dataclass(frozen=True)
class Softmax:
    """The cross-entropy of many classes, for ``(n, C)`` scores and codes 0 to C - 1.

    Examples
    --------
    >>> losses, slopes = Softmax().with_slopes(np.zeros((1, 2)), np.array([1.0]))
    >>> losses.round(6).tolist(), slopes.tolist()
    ([0.693147], [[0.5, -0.5]])
    """

    def with_slopes(self, scores: Floats, y: Floats) -> tuple[Floats, Floats]:
        """Return the losses, and probabilities less one for the row's own class."""
        own = np.arange(len(scores)), y.astype(np.intp)
        above = scores - scores.max(axis=1, keepdims=True)
        parts = np.exp(above)
        total = parts.sum(axis=1)
        losses = np.log(total) - above[own]
        slopes = parts / total[:, np.newaxis]
        slopes[own] -= 1.0
        return losses, slopes


@dataclass(frozen=True)
class Training:
    """How a network is fitted.

    Parameters
    ----------
    epochs : int, optional
        At most so many passes over the rows. By default 100, and less, down to 10, where rows
        times parameters are many.
    batch_size : int, optional
        A twentieth of the rows by default, but from 16 to 128.
    lr, weight_decay : float
    optimiser : {"adam", "adagrad"}
    patience : int
        Epochs without a lower loss on the rows held out before the end.
    held_out : float
        Their share, the same of every class.

    Examples
    --------
    >>> Training().optimiser
    'adam'
    """

    epochs: int | None = None
    batch_size: int | None = None
    lr: float = 5e-3
    weight_decay: float = 1e-4
    optimiser: str = "adam"
    patience: int = 8
    held_out: float = 0.15

    def fit(
        self,
        network: Network,
        data: Data,
        rows: Floats64,
        goal: Goal,
        rng: np.random.Generator,
        *,
        classes: bool = True,
    ) -> Network:
        """Return the network after the epoch that was best for the rows held out.

        Parameters
        ----------
        classes : bool
            Whether y holds classes; a real target has none to hold out evenly.
        """
        share = rows / rows.sum()
        used = np.flatnonzero(share > 0.0)
        fitted, held = self.parted(data.y, used, classes)
        course = Course(network, data, goal)
        epochs, patience = self.afforded(len(fitted) * network.size(data.X))
        best, waited = course.kept(np.inf), 0
        with secluded(network.device, int(rng.integers(2**31))):
            steps = self.steps(course)
            for _ in range(epochs):
                course.epoch(steps, share, self.dealt(fitted, rng))
                value = course.value(share, held) if len(held) else -np.inf
                waited = 0 if value < best.value * (1.0 - NEWS) else waited + 1
                if value < best.value:
                    best = course.kept(value)
                if len(held) == 0:
                    best = course.kept(value)
                elif waited >= patience:
                    break
        return best.network

    def afforded(self, work: int) -> tuple[int, int]:
        """Return the epochs and the patience that rows times parameters allow.

        Examples
        --------
        >>> Training().afforded(1000 * 1000), Training().afforded(10**10)
        ((100, 8), (10, 3))
        """
        if self.epochs is not None:
            return self.epochs, self.patience
        epochs = int(np.clip(WORK // max(work, 1), *EPOCHS))
        return epochs, min(self.patience, max(epochs // 3, 1))

    def parted(
        self, y: Floats64, used: NDArray[np.intp], classes: bool
    ) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """Return the rows that are fitted, and those held out, evenly over the classes.

        The same rows for every weighting of them: a network that begins where another ended must
        not be held against rows that the other has fitted.
        """
        kind = np.unique(y, return_inverse=True)[1] if classes else np.zeros(len(y), dtype=np.intp)
        order = np.argsort(kind, kind="stable")
        first = np.searchsorted(kind[order], np.arange(kind.max() + 1))
        place = np.empty(len(y))
        place[order] = np.arange(len(y)) - first[kind[order]]
        # Multiples of the golden ratio fall evenly on the unit interval, however many there are.
        held = (GOLDEN * (place + 1.0)) % 1.0 < self.held_out
        if len(used) < FEWEST or not np.any(held[used]):
            return used, used[:0]
        return used[~held[used]], used[held[used]]

    def dealt(self, rows: NDArray[np.intp], rng: np.random.Generator) -> list[NDArray[np.intp]]:
        """Return the rows in random batches of sizes as even as can be."""
        size = self.batch_size or int(np.clip(len(rows) // 20, 16, 128))
        count = max(len(rows) // size, 1)
        return np.array_split(rng.permutation(rows), count)

    def steps(self, course: Course) -> torch.optim.Optimizer:
        """Return torch's own optimiser for the parameters of a course."""
        if self.optimiser == "adagrad":
            return torch.optim.Adagrad(
                course.parameters, lr=self.lr, weight_decay=self.weight_decay
            )
        return torch.optim.AdamW(
            course.parameters, lr=self.lr, weight_decay=self.weight_decay, fused=True
        )


@dataclass(frozen=True, eq=False)
class Kept:
    """A network as it was after an epoch, and its loss on the rows held out."""

    value: float
    network: Network


class Course:
    """A network in training: a module and an offset that change, on fixed rows."""

    def __init__(self, network: Network, data: Data, goal: Goal) -> None:
        self.network = network
        self.module = deepcopy(network.module)
        self.offset = torch.nn.Parameter(
            torch.as_tensor(network.offset, dtype=network.dtype, device=network.device)
        )
        self.data = data
        self.goal = goal
        dense = not sparse.issparse(data.X) and data.X.size <= WHOLE
        self.table = network.seen(data.X) if dense else None

    @property
    def parameters(self) -> list[nn.Parameter]:
        """What the optimiser changes."""
        return [*(p for p in self.module.parameters() if p.requires_grad), self.offset]

    def epoch(
        self,
        steps: torch.optim.Optimizer,
        share: Floats64,
        batches: list[NDArray[np.intp]],
    ) -> None:
        """Take one step a batch, with dropout and batch-norm as in training.

        A row counts by its share of the whole set, so the last batch may be of any size.
        """
        self.module.train()
        for rows in batches:
            steps.zero_grad(set_to_none=True)
            scores = self.scores(rows)
            _, slopes = self.goal.with_slopes(as_array(scores), self.data.y[rows])
            weight = (len(batches) * share[rows]).reshape(-1, *[1] * (slopes.ndim - 1))
            given = torch.as_tensor(weight * slopes).to(scores)
            torch.autograd.backward([scores], [given])
            steps.step()

    def value(self, share: Floats64, rows: NDArray[np.intp]) -> float:
        """Return the weighted mean loss of rows, in evaluation mode."""
        self.module.eval()
        with torch.no_grad():
            parts = [as_array(self.scores(part)) for part in pieces(rows)]
        losses, _ = self.goal.with_slopes(np.concatenate(parts), self.data.y[rows])
        return float(share[rows] @ losses / share[rows].sum())

    def scores(self, rows: NDArray[np.intp]) -> torch.Tensor:
        """Return the scores of rows, in whichever mode the module is."""
        table = self.table
        x = self.network.seen(self.data.X[rows]) if table is None else table[torch.as_tensor(rows)]
        out = self.module(x)
        shaped = self.network.shaped(out, len(rows))
        return shaped * self.network.unit + self.offset.view(shaped.shape[1:])

    def kept(self, value: float) -> Kept:
        """Return the network as it is now."""
        offset = self.offset.detach().cpu().double().numpy().copy()
        module = deepcopy(self.module).eval()
        return Kept(value, replace(self.network, module=module, offset=offset))


def as_array(scores: torch.Tensor) -> Floats64:
    """Return scores as doubles."""
    return np.asarray(scores.detach().double().cpu().numpy())


def pieces(rows: NDArray[np.intp], size: int = 4096) -> Iterator[NDArray[Any]]:
    """Yield the rows in parts of this size."""
    yield from (rows[start : start + size] for start in range(0, len(rows), size))
