"""Explanation: what a metric values, to print, to tabulate and to predict with."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from anymetric.errors import import_extra
from anymetric.explaining.prices import Price
from anymetric.explaining.study import Finding

Floats64 = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Explanation:
    """What a metric values, in words and numbers; print it.

    Attributes
    ----------
    metric : str
    understood : bool
        Whether the values of unseen decisions can be predicted.
    formula : str or None
        The known formula that fits within noise, with its parameters.
    headline : str
    sentences : tuple of str
        What mistakes cost, compared with each other.
    limits : tuple of str
        Bounds, caps, floors and steps.
    unread : tuple of str
        What the metric does not read.
    prices : tuple of Price
        The local price of each kind of mistake, at the model's own decisions.
    noise : float
        The standard deviation of one answer to the same question.
    calls : int
        Calls that were made for it.
    answers : int
        All answers that it rests on, those of the fit included.
    evidence : str
        The same in words.

    Examples
    --------
    >>> from sklearn.datasets import make_classification
    >>> from sklearn.metrics import fbeta_score
    >>> from anymetric import MetricClassifier
    >>> def my_score(y_true, y_pred):
    ...     return fbeta_score(y_true, y_pred, beta=2)
    >>> X, y = make_classification(400, weights=[0.8], random_state=0)
    >>> clf = MetricClassifier(my_score, model="linear", random_state=0).fit(X, y)
    >>> found = clf.metric_.explain()
    >>> found.formula, found.calls <= 60
    ('F-beta with beta 2', True)
    """

    metric: str
    understood: bool
    formula: str | None
    headline: str
    sentences: tuple[str, ...] = ()
    limits: tuple[str, ...] = ()
    unread: tuple[str, ...] = ()
    prices: tuple[Price, ...] = ()
    noise: float = 0.0
    calls: int = 0
    answers: int = 0
    evidence: str = ""
    finding: Finding | None = field(default=None, repr=False)
    labels: tuple[Any, ...] = field(default=(), repr=False)

    def predict(self, decisions: Any) -> Floats64:
        """Return the predicted value of decisions about the validation rows.

        Parameters
        ----------
        decisions : array of shape (n,) or (n, m)
            Labels, as `predict` returns them.

        Returns
        -------
        array of shape () or (m,)
            NaN where the metric is not understood.
        """
        given = np.asarray(decisions)
        columns = given if given.ndim == 2 else given[:, np.newaxis]
        found = self.finding
        if found is None or found.form is None:
            return np.full(given.shape[1:], np.nan)
        codes = coded(columns, self.labels)
        values = found.form.values(found.sample.cells.counts(codes))
        return values.reshape(given.shape[1:])[()]

    def to_dict(self) -> dict[str, Any]:
        """Return everything but the rows as plain values."""
        plain = ("metric", "understood", "formula", "headline", "noise", "calls", "answers")
        told = {name: getattr(self, name) for name in (*plain, "evidence")}
        lists = {name: list(getattr(self, name)) for name in ("sentences", "limits", "unread")}
        return {**told, **lists, "prices": [asdict(one) for one in self.prices]}

    def to_frame(self) -> Any:
        """Return the prices as a pandas data frame."""
        pandas = import_extra("pandas", needed_by="explain().to_frame()", extra="cli")
        return pandas.DataFrame([asdict(one) for one in self.prices])

    def __str__(self) -> str:
        lines = [self.headline, *self.sentences, *self.limits]
        if self.unread:
            lines.append(f"It does not read: {'; '.join(self.unread)}.")
        lines.append(self.evidence)
        if self.prices:
            lines += ["", *table(self.prices)]
        return "\n".join(line for line in lines if line is not None)


def coded(decisions: NDArray[Any], labels: Sequence[Any]) -> NDArray[np.intp]:
    """Return labels as places among the classes.

    Examples
    --------
    >>> coded(np.array([["no"], ["yes"]]), ("yes", "no")).ravel().tolist()
    [1, 0]
    """
    codes = np.full(decisions.shape, -1, dtype=np.intp)
    for place, name in enumerate(labels):
        codes[decisions == name] = place
    if np.any(codes < 0):
        strange = decisions[codes < 0].flat[0]
        raise ValueError(f"{strange!r} is none of the labels {list(labels)}: give decisions.")
    return codes


def table(prices: Sequence[Price], most: int = 20) -> list[str]:
    """Return the prices as lines of text, the dearest first where there are many."""
    shown = list(prices)
    if len(shown) > most:
        shown = sorted(shown, key=lambda one: -abs(one.price))[:most]
    rows = [("one more mistake", "rows", "costs", "in units")]
    rows += [
        (one.mistake, str(one.rows), f"{one.price:.4g}", f"{one.ratio:.3g}".replace("nan", "–"))
        for one in shown
    ]
    wide = [max(len(row[k]) for row in rows) for k in range(4)]
    return [
        "  ".join([row[0].ljust(wide[0]), *(row[k].rjust(wide[k]) for k in (1, 2, 3))])
        for row in rows
    ]
