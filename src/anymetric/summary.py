"""Summary: what a run selected and measured, in one record for all methods."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from math import isnan, nan
from typing import Any


@dataclass(frozen=True)
class CandidateSummary:
    """A model that was trained: its name, its cost on the validation rows, its share of the answer.

    Examples
    --------
    >>> CandidateSummary("train, ridge 10", cost=0.3, share=0.25).share
    0.25
    """

    name: str
    cost: float
    share: float = 0.0


@dataclass(frozen=True)
class FamilySummary:
    """A family of models: its share of the answer, and the cost of its best above the best of all.

    Attributes
    ----------
    share : float
    behind, error : float
        In mean cost on bootstrap resamples, and the standard error of that.

    Examples
    --------
    >>> FamilySummary(share=1.0, behind=0.0, error=0.0).behind
    0.0
    """

    share: float
    behind: float
    error: float


@dataclass(frozen=True)
class Summary:
    """What a run selected and measured; the fields depend on the method.

    Attributes
    ----------
    candidates : tuple of CandidateSummary
        All models that were trained, in order; those with a share are averaged.
    families : dict of FamilySummary
        By name, where several families competed.
    training_weight : float
        The weight of training rows beside validation rows in threshold tuning.
    error : float
        Standard error of the model's cost, from bootstrap resamples of the validation rows.
    gain, gain_error : float
        How much less the model costs than the best plain model at its best threshold, and the
        standard error of that.
    optimism : float
        The selection bias of the best candidate's cost.
    metric_error : float
        The typical error of a learned metric.
    metric_noise : float
        The standard deviation of one call, where the metric varies from call to call.
    skipped : int
        Evaluations that failed after all retries.
    failure : str
        Why the last of them failed.
    offsets : dict
        The offset of the scores of each class or label.
    group_offsets : dict
        The offset of the scores of each group.
    link : str
        For a regression: "identity", or "log" for a model of the logarithm of the targets.
    link_costs : dict
        The cost with each link, where both were tried.
    chosen : dict
        The selected settings, where a method tries several.
    tried : tuple of dicts
        All settings that were tried, with their cost.
    earlier_seconds : float
        Processor time of an earlier run that was resumed.
    passes : int
        Where candidates were compared on a sample: how often all rows were read to fit the selected
        linear models to them.
    rows : dict
        Then, by family: how many rows its models were fitted to.

    What was not measured is NaN, or empty.

    Examples
    --------
    >>> from sklearn.datasets import make_classification
    >>> from anymetric import MetricClassifier
    >>> X, y = make_classification(300, weights=[0.9], random_state=0)
    >>> summary = MetricClassifier("f1", random_state=0).fit(X, y).summary_
    >>> sum(one.share for one in summary.candidates).__round__(6), summary.error > 0.0
    (1.0, True)
    >>> Summary(error=0.1, chosen={"C": 2.0}).told
    {'error': 0.1, 'C': 2.0}
    """

    candidates: tuple[CandidateSummary, ...] = ()
    families: Mapping[str, FamilySummary] = field(default_factory=dict)
    training_weight: float = 0.0
    error: float = nan
    gain: float = nan
    gain_error: float = nan
    optimism: float = nan
    metric_error: float = nan
    metric_noise: float = 0.0
    skipped: int = 0
    failure: str = ""
    offsets: Mapping[Any, float] = field(default_factory=dict)
    group_offsets: Mapping[Any, float] = field(default_factory=dict)
    link: str = "identity"
    link_costs: Mapping[str, float] = field(default_factory=dict)
    chosen: Mapping[str, Any] = field(default_factory=dict)
    tried: tuple[Mapping[str, Any], ...] = ()
    earlier_seconds: float = 0.0
    passes: int = 0
    rows: Mapping[str, int] = field(default_factory=dict)

    @property
    def told(self) -> dict[str, float | str]:
        """The numbers and words that differ from a run of which nothing is known."""
        found = {one.name: getattr(self, one.name) for one in fields(self)}
        usual = {one.name: one.default for one in fields(self)}
        told = {k: v for k, v in found.items() if isinstance(v, float | str) and v != usual[k]}
        known = {k: v for k, v in told.items() if not (isinstance(v, float) and isnan(v))}
        return {**known, **plain(self.chosen)}

    @property
    def family_table(self) -> dict[str, dict[str, float]]:
        """The families as plain values."""
        return {name: asdict(one) for name, one in self.families.items()}


def plain(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return the settings that are numbers or words.

    Examples
    --------
    >>> plain({"C": 1.0, "mixture": [1, 2]})
    {'C': 1.0}
    """
    return {name: value for name, value in settings.items() if isinstance(value, int | float | str)}
