"""Network: a torch module as a model, its parameters one flat vector."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from copy import deepcopy
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from anymetric.data import Floats, Matrix, Sparse
from anymetric.errors import Deferred
from anymetric.models.products import row_block

if TYPE_CHECKING:
    import torch
    from torch import Tensor, nn
else:
    torch = Deferred("torch", needed_by="TorchModel", extra="torch")

Floats64 = NDArray[np.float64]
# Rows that go through the module at once where nothing else says so.
ROWS = 4096


@dataclass(frozen=True, eq=False)
class Network:
    """A module with its parameters: scores of its own, or of any parameter vector.

    The parameters are those of the module that ask for a gradient, in the order of
    ``torch.nn.utils.parameters_to_vector``, and behind them what is added to the scores: an
    intercept for each. Dropout is off, and batch-norm uses the statistics that it has learned.

    Parameters
    ----------
    module : nn.Module
        In evaluation mode.
    outputs : int
        Scores of a row: 1, or one for each of many classes.
    offset : array of shape (outputs,)
    shift, scale : arrays of shape (d,), optional
        The module sees ``(x - shift) / scale``.
    unit : float
        The change of a score by one unit of the module's output.
    device : str
    chunk : int
        Parameter vectors that are evaluated together.

    Examples
    --------
    >>> import numpy as np
    >>> from torch import nn
    >>> network = Network(nn.Linear(2, 1, bias=False).eval(), 1, np.zeros(1))
    >>> X = np.array([[1.0, 2.0], [3.0, 4.0]])
    >>> network.scores(X, np.array([1.0, 0.0, 0.5])).tolist()
    [1.5, 3.5]
    >>> network.pullback(X, np.zeros(3), np.array([1.0, 1.0])).tolist()
    [4.0, 6.0, 2.0]
    """

    linear_in_parameters: ClassVar[bool] = False
    # The last parameter is added to every score.
    intercept: ClassVar[bool] = True

    module: nn.Module = field(repr=False)
    outputs: int
    offset: Floats64 = field(repr=False)
    shift: Floats64 | None = field(default=None, repr=False)
    scale: Floats64 | None = field(default=None, repr=False)
    unit: float = 1.0
    device: str = "cpu"
    chunk: int = 16

    def __getstate__(self) -> dict[str, Any]:
        # What was trained on another device can be read where there is none.
        return {**self.__dict__, "module": deepcopy(self.module).cpu()}

    def __setstate__(self, state: dict[str, Any]) -> None:
        device = state["device"] if usable(state["device"]) else "cpu"
        state = {**state, "module": state["module"].to(device), "device": device}
        for name, value in state.items():
            object.__setattr__(self, name, value)

    @property
    def theta(self) -> Floats64:
        """The module's own parameters and offset, as one vector."""
        own = [parameter.detach().cpu().double().ravel() for _, parameter in self._trainable]
        return np.concatenate([*(part.numpy() for part in own), self.offset])

    def at(self, theta: NDArray[Any]) -> Network:
        """Return the network with these parameters."""
        module = deepcopy(self.module)
        places = [p for p in module.parameters() if p.requires_grad]
        with torch.no_grad():
            parts = torch.split(self._flat(theta), [*(p.numel() for p in places), self.outputs])
            for place, part in zip(places, parts, strict=False):
                place.copy_(part.view_as(place))
        offset = np.array(theta[len(theta) - self.outputs :], dtype=np.float64)
        return replace(self, module=module, offset=offset)

    def size(self, X: Matrix) -> int:
        """Return the number of parameters, those added to the scores among them."""
        return sum(parameter.numel() for _, parameter in self._trainable) + self.outputs

    def scores(self, X: Matrix, theta: NDArray[Any] | None = None) -> Floats64:
        """Return the network's own scores, ``(n,)`` or ``(n, C)``, or those of other parameters.

        For one parameter vector ``(n,)``, for ``(m, p)`` of them ``(n, m)``; those of C classes
        follow each other, row after row, so that n becomes ``n C``.
        """
        flat = self._flat(self.theta if theta is None else theta)
        with torch.no_grad():
            parts = [self._looked(flat, x) for _, x in self.batches(X)]
        found = np.concatenate(parts)
        return found if theta is None or self.outputs == 1 else in_line(found, flat.ndim)

    def pullback(self, X: Matrix, theta: NDArray[Any], slopes: Floats | Sparse) -> Floats64:
        """Turn gradients by scores, ``(n,)`` or ``(K, n)``, into gradients by parameters."""
        flat = self._flat(theta)
        if sparse.issparse(slopes):
            by_slice = sparse.csr_array(slopes)
            return np.stack([self._sliced(X, flat, by_slice, k) for k in range(slopes.shape[0])])
        total = np.zeros((*slopes.shape[:-1], len(flat)))
        for rows, x in self.batches(X):
            part = slice(rows.start * self.outputs, rows.stop * self.outputs)
            total += self._pulled(flat, x, slopes[..., part])
        return total

    def batches(self, X: Matrix, rows: int = ROWS) -> Iterator[tuple[slice, Tensor]]:
        """Yield the rows of X as the module sees them, and which they are."""
        for start in range(0, X.shape[0], rows):
            stop = min(start + rows, X.shape[0])
            yield slice(start, stop), self.seen(row_block(X, start, stop))

    def seen(self, X: Matrix) -> Tensor:
        """Return rows as the module sees them."""
        dense = X.toarray() if sparse.issparse(X) else np.asarray(X)
        if self.shift is not None:
            dense = dense - self.shift
        if self.scale is not None:
            dense = dense / self.scale
        return torch.as_tensor(dense, dtype=self.dtype, device=self.device)

    def shaped(self, out: Tensor, rows: int) -> Tensor:
        """Return what the module gave as ``(b,)`` or ``(b, C)`` scores, or say what is wrong."""
        if out.shape == (rows, *self._shape):
            return out
        if self.outputs == 1 and out.shape == (rows, 1):
            return out[:, 0]
        if self.outputs == 1 and out.shape == (rows, 2):
            return out[:, 1] - out[:, 0]
        wanted = f"({rows},) or ({rows}, 1)" if self.outputs == 1 else f"({rows}, {self.outputs})"
        raise ValueError(
            f"The module must map a batch of {rows} rows to scores of shape {wanted}; it gave "
            f"{tuple(out.shape)}. Give its last layer {self.outputs} output(s)."
        )

    @property
    def _shape(self) -> tuple[int, ...]:
        return () if self.outputs == 1 else (self.outputs,)

    @property
    def _trainable(self) -> list[tuple[str, nn.Parameter]]:
        return [(name, p) for name, p in self.module.named_parameters() if p.requires_grad]

    @property
    def dtype(self) -> torch.dtype:
        """The precision of the module."""
        kinds = [p.dtype for p in self.module.parameters() if p.is_floating_point()]
        return kinds[0] if kinds else torch.float32

    def _flat(self, theta: NDArray[Any]) -> Tensor:
        return torch.as_tensor(theta, dtype=self.dtype, device=self.device)

    def _forward(self, flat: Tensor, x: Tensor) -> Tensor:
        """Return the scores of rows for one parameter vector, differentiable by it."""
        named = self._trainable
        *parts, offset = torch.split(flat, [*(p.numel() for _, p in named), self.outputs])
        given = {name: part.view(p.shape) for (name, p), part in zip(named, parts, strict=True)}
        out = torch.func.functional_call(self.module, given, (x,))
        return self.shaped(out, len(x)) * self.unit + offset.view(self._shape)

    def _looked(self, flat: Tensor, x: Tensor) -> Floats64:
        if flat.ndim == 1:
            return np.asarray(self._forward(flat, x).double().cpu().numpy())
        many = torch.func.vmap(self._forward, (0, None), 1, chunk_size=self.chunk)
        try:
            out = many(flat, x)
        except (RuntimeError, NotImplementedError):
            # Some layers cannot be mapped over: one after the other, then, or their own error.
            out = torch.stack([self._forward(one, x) for one in flat], dim=1)
        return np.asarray(out.double().cpu().numpy())

    def _pulled(self, flat: Tensor, x: Tensor, slopes: Floats) -> Floats64:
        """Return the vector-Jacobian products of one batch."""
        pull: Any = torch.func.vjp(lambda at: self._forward(at, x), flat)[1]
        given = torch.as_tensor(np.ascontiguousarray(slopes), dtype=flat.dtype, device=self.device)
        given = given.reshape(*slopes.shape[:-1], len(x), *self._shape)
        if slopes.ndim == 1:
            return np.asarray(pull(given)[0].double().cpu().numpy())
        found = torch.func.vmap(lambda one: pull(one)[0], chunk_size=self.chunk)(given)
        return np.asarray(found.double().cpu().numpy())

    def _sliced(self, X: Matrix, flat: Tensor, slopes: sparse.csr_array, k: int) -> Floats64:
        """Return the gradient of one slice: no other row has a part in it."""
        places = slice(slopes.indptr[k], slopes.indptr[k + 1])
        rows, inside = np.unique(slopes.indices[places] // self.outputs, return_inverse=True)
        given = np.zeros((len(rows), self.outputs))
        given[inside, slopes.indices[places] % self.outputs] = slopes.data[places]
        return self.pullback(X[rows], flat.double().cpu().numpy(), given.reshape(-1))


def in_line(scores: Floats64, ndim: int) -> Floats64:
    """Put the scores ``(n, C)`` or ``(n, m, C)`` of classes into lines of length ``n C``.

    Examples
    --------
    >>> in_line(np.array([[1.0, 2.0], [3.0, 4.0]]), 1).tolist()
    [1.0, 2.0, 3.0, 4.0]
    """
    if ndim == 1:
        return scores.reshape(-1)
    n, m, C = scores.shape
    return np.ascontiguousarray(scores.transpose(0, 2, 1)).reshape(n * C, m)


def usable(device: str) -> bool:
    """Return whether a device is there.

    Examples
    --------
    >>> usable("cpu"), usable("no such thing")
    (True, False)
    """
    try:
        torch.zeros(1, device=device)
    except (RuntimeError, AssertionError):
        return False
    return True


@contextmanager
def secluded(device: str, seed: int) -> Iterator[None]:
    """Let torch draw from this seed on one thread, and leave both as they were found."""
    there = torch.device(device)
    several = list(range(torch.cuda.device_count())) if there.type == "cuda" else []
    threads = torch.get_num_threads()
    with torch.random.fork_rng(several):
        torch.default_generator.manual_seed(seed)
        if several:
            torch.cuda.manual_seed_all(seed)
        torch.set_num_threads(1)
        try:
            yield
        finally:
            torch.set_num_threads(threads)
