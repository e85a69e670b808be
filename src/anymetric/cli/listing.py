"""Listing: the metrics, each with its direction, what it needs and its formula."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from anymetric.cli.asked import find_metric, ranks
from anymetric.cli.faults import UserError
from anymetric.cli.voice import Voice
from anymetric.metrics import (
    Classes,
    FunctionMetric,
    LabelMetric,
    Metric,
    ScorerMetric,
    meant,
    metric_names,
)
from anymetric.metrics.groups import GroupMetric
from anymetric.metrics.regression import RegressionMetric

# Where a metric's own first line has no formula.
FORMULAS = {
    "penalised_demographic_parity": "Error + spread over groups of the share of rows flagged.",
    "penalised_equalised_odds": "Error + the wider of the spreads over groups of TPR and of FPR.",
    "group_mean_f1": "Mean over groups of the F-measure: 2 TP / (2 TP + FP + FN) in each.",
    "map": "Mean over queries of average precision: mean over relevant rows of (relevant so far "
    "/ place).",
    "mean_absolute_error": "Mean of the absolute errors: mean |f - y|.",
    "mean_absolute_percentage_error": "Mean of the relative errors: mean |f - y| / |y|.",
    "mean_squared_error": "Mean of the squared errors: mean (f - y)^2.",
    "median_absolute_error": "Median of the absolute errors: median |f - y|.",
    "mrr": "Mean over queries of 1 / place of the first relevant row.",
    "prbep": "Precision among as many rows as there are positives: TP / P at k = P.",
    "root_mean_squared_error": "Root of the mean squared error: sqrt(mean (f - y)^2).",
    "roc_auc": "Area under the ROC curve: P(score of a positive > score of a negative).",
    "worst_group_error": "The worst group's error: max over groups of (FP + FN) / total.",
}
# The same by family, for names with a number in them.
FAMILY_FORMULAS = (
    (r"f[\d.]+", "F-measure: (1 + b^2) TP / ((1 + b^2) TP + b^2 FN + FP), b the number."),
    (r"precision@\d+", "Share of positives among the k highest scores: TP / k."),
    (
        r"query_precision@\d+",
        "Mean over queries of TP / k among the first k rows of each; TP / rows for a query with "
        "fewer rows than k.",
    ),
    (r"ndcg@\d+", "Mean over queries of DCG / best DCG, DCG = sum (2^rel - 1) / log2(place + 1)."),
    (r"recall_at_precision_.*", "Highest recall with precision at least p: max TPR, PPV >= p."),
    (r"within_.*", "Share of rows with |f - y| at most t, or at most t |y|."),
)
# What metrics read, in the order of the list.
KINDS = {
    "decisions": "of decisions",
    "groups": "of decisions by group",
    "order": "of the order",
    "numbers": "of numbers",
    "labels": "of sets of labels",
}
# Families of names: what the number or the word in a name may be.
FAMILIES = (
    ("f0.5, f3, ...", "F-measure with any beta: (1 + b^2) TP / ((1 + b^2) TP + b^2 FN + FP)"),
    ("precision@100, precision@2.5%", "precision among the best 100 rows, or the best 2.5 %"),
    ("recall_at_precision_0.8", "the highest recall at a precision of 0.8 or more"),
    ("pinball_0.9", "pinball loss of the quantile 0.9"),
    ("within_2, within_5%", "share of predictions that are off by at most 2, or 5 %"),
    ("group_mean_RATE, worst_group_RATE", "the mean over groups, or the worst group, of any rate"),
    ("demographic_parity, equalized_odds", "the gap between groups alone; gap(RATE) of any rate"),
    ("neg_log_loss, ...", "every scorer of scikit-learn, by its name"),
    ("module:function", "a function of your own: f(y_true, y_pred, metadata by name)"),
)


@dataclass(frozen=True)
class Entry:
    """A metric as it is listed.

    Examples
    --------
    >>> Entry.of(find_metric("group_mean_f1")).needs
    '--group'
    """

    name: str
    kind: str
    greater: bool
    needs: str
    says: str
    many: bool = False

    @classmethod
    def of(cls, metric: Metric) -> Entry:
        """Describe a metric."""
        needs = ", ".join("--group" if n == "groups" else f"--side {n}" for n in metric.needs)
        kind, says = kind_of(metric), says_of(metric)
        return cls(metric.name, kind, metric.greater_is_better, needs, says, takes_many(metric))

    @property
    def words(self) -> str:
        """The formula, and what must be given for it."""
        return f"{self.says} Needs {self.needs}." if self.needs else self.says

    def document(self) -> dict[str, Any]:
        """Return the entry as plain values."""
        return {
            "name": self.name,
            "kind": self.kind,
            "greater_is_better": self.greater,
            "needs": self.needs,
            "many_classes": self.many,
            "formula": self.says,
        }


def says_of(metric: Metric) -> str:
    """Return what a metric is in one sentence, with its formula where it has one.

    Examples
    --------
    >>> says_of(find_metric("recall"))
    'Share of the positives that are flagged: TP / (TP + FN).'
    """
    if metric.name in FORMULAS:
        return FORMULAS[metric.name]
    if not isinstance(metric, FunctionMetric | ScorerMetric):
        for pattern, formula in FAMILY_FORMULAS:
            if re.fullmatch(pattern, metric.name):
                return formula
    own: Any = metric
    if isinstance(metric, FunctionMetric | ScorerMetric):
        scorer = getattr(metric, "scorer", None)
        own = getattr(metric, "function", None) or getattr(scorer, "_score_func", metric)
    text = (own.__doc__ or "").strip().partition("\n\n")[0]
    return " ".join(text.split()).replace("``", "") or "No description."


def takes_many(metric: Metric) -> bool:
    """Whether a metric means something where there are more than two classes.

    Examples
    --------
    >>> takes_many(find_metric("macro_f1")), takes_many(find_metric("f1"))
    (True, False)
    """
    try:
        return not isinstance(meant(metric, Classes(("a", "b", "c"))), LabelMetric)
    except ValueError:
        return False


def kind_of(metric: Metric) -> str:
    """Return what a metric reads, in a word.

    Examples
    --------
    >>> [kind_of(find_metric(name)) for name in ("f1", "group_mean_f1", "prbep", "r2")]
    ['decisions', 'groups', 'order', 'numbers']
    """
    if isinstance(metric, FunctionMetric | ScorerMetric):
        return "your own" if isinstance(metric, FunctionMetric) else "scorer"
    if isinstance(metric, RegressionMetric):
        return "numbers"
    if isinstance(metric, GroupMetric):
        return "groups"
    if isinstance(metric, LabelMetric):
        return "labels"
    return "order" if ranks(metric) else "decisions"


def describe(name: str, voice: Voice) -> None:
    """Describe one metric; of a function whose name does not tell, not which way is better."""
    greater: bool | None = None
    try:
        metric = find_metric(name)
        greater, better = metric.greater_is_better, "lower is better"
        better = "greater is better" if greater else better
    except UserError as error:
        if "--greater-is-better" not in str(error):
            raise
        metric = find_metric(name, True)
        better = "say --greater-is-better or --lower-is-better"
    found = Entry.of(metric)
    needs = f" Needs {found.needs}." if found.needs else ""
    voice.line(f"{found.name}: {better}.{needs}")
    voice.line(found.says)
    voice.document({**found.document(), "greater_is_better": greater})


def list_metrics(name: str | None, voice: Voice) -> None:
    """List all metrics, or describe one."""
    if name is not None:
        describe(name, voice)
        return
    entries = sorted(
        (Entry.of(find_metric(name)) for name in metric_names()), key=lambda e: (e.kind, e.name)
    )
    for kind, title in KINDS.items():
        rows = [
            [entry.name, "greater" if entry.greater else "lower", entry.words]
            for entry in entries
            if entry.kind == kind
        ]
        voice.prose([title, "better", "formula"], rows)
    voice.prose(["more names", "what they mean"], FAMILIES)
    many = ", ".join(entry.name for entry in entries if entry.many)
    voice.line(f"Of more than two classes: {many}; there macro_ means the mean over classes.")
    voice.document({"metrics": [entry.document() for entry in entries], "families": dict(FAMILIES)})
