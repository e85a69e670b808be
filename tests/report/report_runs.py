"""Runs that the tests of the report share, each gathered once."""

from functools import cache

import numpy as np
from sklearn.datasets import load_wine, make_classification, make_regression
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from anymetric import MetricClassifier, MetricRanker, MetricRegressor
from anymetric.baselines import LogisticBaseline, TunedThreshold
from anymetric.report import gather

HOSTILE = "<script>alert(1)</script>"
QUOTED = "\"'><img src=x onerror=alert(2)>"
LONG = "a name that goes on and on " * 6


def rows(n=600, seed=0):
    """Rows of two classes with a group and an amount; the last half is for validation."""
    X, y = make_classification(n, 6, weights=[0.7], flip_y=0.1, random_state=seed)
    rng = np.random.default_rng(seed)
    return X, y, rng.choice(["F", "M"], n), rng.exponential(10.0, n)


def profit(y_true, y_pred, amount):
    """Money kept."""
    return float(np.sum(amount * (y_true == 1) * (y_pred == 1)) - 3.0 * np.sum(y_pred == 1))


def classifier(metric="group_mean_f1", **settings):
    """A fitted classifier, two baselines, and the rows that none of them saw."""
    X, y, groups, _ = rows()
    h = len(y) // 2
    fit = {"X": X[:h], "y": y[:h], "groups": groups[:h]}
    ours = MetricClassifier(metric, model="linear", random_state=0, **settings).fit(**fit)
    rivals = {
        "logistic": LogisticBaseline(metric, random_state=0).fit(**fit),
        "tuned threshold": TunedThreshold(metric, random_state=0).fit(**fit),
    }
    return ours, rivals, X[h:], y[h:], groups[h:]


def many_groups(n, count):
    return np.array([f"{HOSTILE} {k % count} {LONG if k % 7 == 0 else ''}" for k in range(n)])


@cache
def wines():
    """A classifier of three growers, two baselines, and the rows that none of them saw."""
    X, y = load_wine(return_X_y=True)
    y = np.array(["Ännchen", "bee & co", HOSTILE])[y]
    shop = np.where(np.arange(len(y)) % 3, "north", "south")
    train = np.arange(len(y)) % 2 == 0
    ours = MetricClassifier("macro_f1", random_state=0)
    ours.fit(X[train], y[train], groups=shop[train])
    plain = make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000))
    rivals = {"plain": plain.fit(X[train], y[train]), "bayes": GaussianNB().fit(X[train], y[train])}
    return ours, rivals, X[~train], y[~train], shop[~train]


def crowd(count):
    """A classifier of so many classes with hostile names, and rows that it did not see."""
    rng = np.random.default_rng(0)
    y = np.repeat(np.arange(count), 16)
    X = rng.normal(size=(count, 5))[y] + 0.5 * rng.normal(size=(len(y), 5))
    y = np.array([f"{HOSTILE} {k} {LONG if k % 5 == 0 else ''}" for k in range(count)])[y]
    train = np.arange(len(y)) % 2 == 0
    ours = MetricClassifier("accuracy", random_state=0, max_metric_calls=3).fit(X[train], y[train])
    return gather(ours, X[~train], y[~train], baselines={QUOTED: ours})


def seven():
    """A classifier of seven classes with names of several words."""
    rng = np.random.default_rng(0)
    y = np.repeat(np.arange(7), 40)
    X = rng.normal(size=(7, 4))[y] + rng.normal(size=(len(y), 4))
    causes = ("no incident", "slow response", "hardware failure", "software regression")
    y = np.array([*causes, "network outage", "security alert", "unknown cause"])[y]
    ours = MetricClassifier("macro_f1", model="linear", random_state=0, max_metric_calls=6)
    plain = LogisticRegression().fit(X[::2], y[::2])
    return gather(ours.fit(X[::2], y[::2]), X[1::2], y[1::2], baselines={"plain": plain})


def heavy():
    """A regression on a target whose largest values are a thousand times the typical one."""
    rng = np.random.default_rng(0)
    X, groups = rng.normal(size=(600, 3)), rng.choice(["north", "south"], 600)
    y = np.exp(10.0 + 1.2 * X[:, 0] + 0.9 * rng.standard_t(3, 600))
    ours = MetricRegressor("mean_absolute_error", model="linear", random_state=0)
    squares = LinearRegression().fit(X[:300], y[:300])
    ours.fit(X[:300], y[:300])
    return gather(ours, X[300:], y[300:], baselines={"squares": squares}, groups=groups[300:])


@cache
def made(kind):
    """Return the run of one kind."""
    if kind == "auto":
        ours, rivals, X, y, groups = classifier()
        asked = {"target": "income", "group": "sex", "command": "anymetric fit a.csv"}
        return gather(ours, X, y, baselines=rivals, groups=groups, asked=asked)
    if kind == "descent":
        ours, rivals, X, y, groups = classifier("gmean", method="descent", max_metric_calls=900)
        return gather(ours, X, y, baselines=rivals, groups=groups)
    if kind == "alone":
        ours, _, X, y, groups = classifier("f1")
        return gather(ours, X, y, groups=np.repeat("all", len(y)))
    if kind == "hostile":
        ours, rivals, X, y, _ = classifier("gmean")
        called = dict.fromkeys(("target", "groups", "source"), HOSTILE)
        return gather(
            ours,
            X,
            y,
            baselines={QUOTED + LONG: rivals["tuned threshold"], HOSTILE: rivals["logistic"]},
            groups=many_groups(len(y), 50),
            asked={HOSTILE: QUOTED, "command": ["anymetric", HOSTILE], "empty": float("nan")},
            rows=HOSTILE,
            feature_names=[HOSTILE + LONG, QUOTED, *"abcd"],
            names=called,
        )
    if kind == "profit":
        X, y, _, amount = rows()
        ours = MetricClassifier(profit, model="linear", greater_is_better=True, random_state=0)
        ours.fit(X[:300], y[:300], side={"amount": amount[:300]})
        return gather(ours, X[300:], y[300:], side={"amount": amount[300:]})
    if kind == "many":
        ours, rivals, X, y, shop = wines()
        asked = {"target": "grower", "group": "shop"}
        return gather(ours, X, y, baselines=rivals, groups=shop, asked=asked)
    if kind == "perfect":
        X = np.repeat([[-1.0], [1.0]], 50, axis=0)
        ours = MetricClassifier("accuracy", random_state=0).fit(X, X.ravel())
        return gather(ours, X, X.ravel(), baselines={"again": ours})
    if kind in ("dozen", "crowd"):
        return crowd(12 if kind == "dozen" else 24)
    if kind == "seven":
        return seven()
    if kind == "limit":
        ours, rivals, X, y, _ = classifier("precision", subject_to="recall>=0.7")
        return gather(ours, X, y, baselines={"logistic": rivals["logistic"]})
    if kind == "heavy":
        return heavy()
    if kind == "ranker":
        X, y, groups, _ = rows()
        ours = MetricRanker("average_precision", model="linear", random_state=0).fit(
            X[:300], y[:300]
        )
        return gather(ours, X[300:], y[300:], groups=groups[300:])
    X, y = make_regression(400, 5, noise=20.0, random_state=0)
    ours = MetricRegressor("median_absolute_error", random_state=0).fit(X[:200], y[:200])
    squares = LinearRegression().fit(X[:200], y[:200])
    return gather(ours, X[200:], y[200:], baselines={"least squares": squares})


KINDS = (
    *("auto", "descent", "alone", "hostile", "profit", "ranker", "regressor"),
    *("many", "seven", "dozen", "crowd", "perfect", "limit", "heavy"),
)
