"""Ledger: a fit that records the metric's answers, and resumes an interrupted one."""

from __future__ import annotations

import numbers
import platform
from contextlib import contextmanager
from dataclasses import replace
from importlib.metadata import version

import numpy as np
from sklearn.utils import check_random_state

from anymetric.errors import warn
from anymetric.metrics import MetricError
from anymetric.metrics.digests import PLAIN, digest
from anymetric.metrics.evaluations import Direct, answered_by, current, decided
from anymetric.metrics.faults import Conduct, as_policy
from anymetric.metrics.identity import identity, shown
from anymetric.recorded import Recorded
from anymetric.solution import Status
from anymetric.store import Store, open_store

# Settings that do not change what is found.
IDLE = ("ledger", "verbose", "n_jobs", "random_state", "metric", "on_error")


@contextmanager
def recording(estimator, given):
    """Answer evaluations from the estimator's ledger, if it has one.

    Parameters
    ----------
    estimator : MetricEstimator
    given : dict
        The arguments of `fit`.
    """
    ledger = getattr(estimator, "ledger", None)
    conduct = Conduct(
        as_policy(getattr(estimator, "on_error", "raise")), getattr(estimator, "n_repeats", 1)
    )
    if ledger is None:
        with answered_by(conducted(current(), conduct)):
            yield
        return
    store = ledger if isinstance(ledger, Store) else open_store(ledger)
    try:
        begin(store, fingerprint(estimator, given))
        with answered_by(Recorded(store, Direct(conduct))), ending(store, estimator):
            yield
    finally:
        if store is not ledger:
            store.close()


@contextmanager
def continuing(estimator):
    """Answer evaluations after the fit from the estimator's ledger."""
    ledger = getattr(estimator, "ledger", None)
    conduct = Conduct(as_policy(getattr(estimator, "on_error", "raise")))
    if ledger is None:
        with answered_by(conducted(current(), conduct)):
            yield
        return
    store = ledger if isinstance(ledger, Store) else open_store(ledger)
    try:
        with answered_by(Recorded(store, Direct(conduct))):
            yield
    finally:
        if store is not ledger:
            store.close()


def begin(store, settings):
    """Record the settings of a run; evaluations that failed before may be tried again."""
    if store.begin(settings):
        store.forgive("failed")
    now = versions()
    before = store.choose("versions", lambda: now)
    changed = [f"{name} {before.get(name)} is now {now[name]}" for name in now]
    changed = [
        text for name, text in zip(now, changed, strict=True) if before.get(name) != now[name]
    ]
    if changed:
        warn(
            f"The ledger {store.base!r} was begun with other versions ({', '.join(changed)}): its "
            "answers are used, and the run may need further ones."
        )


def conducted(evaluations, conduct):
    """Return the current evaluator, with fault handling of its own for this fit."""
    if hasattr(evaluations, "inner"):
        return replace(evaluations, inner=conducted(evaluations.inner, conduct))
    return replace(evaluations, conduct=conduct)


@contextmanager
def ending(store, estimator):
    """Record how the run ended; another fit may try again what failed."""
    try:
        yield
    except MetricError:
        store.end("failed")
        raise
    store.end("failed" if estimator.status_ is Status.FAULTS else "done")


def seeds(random_state):
    """Return the seeds of a fit, which a ledger keeps."""

    def draw():
        return check_random_state(random_state).randint(2**31, size=4).tolist()

    return draw() if isinstance(random_state, numbers.Integral) else decided("seed", draw)


def fingerprint(estimator, given):
    """Return what identifies a run, as plain values: settings and hashes of the data."""
    settings = {
        name: of_setting(value)
        for name, value in estimator.get_params(deep=False).items()
        if name not in IDLE
    }
    data = {name: hashed(value) for name, value in given.items() if value is not None}
    seed = estimator.random_state
    found = {
        "estimator": type(estimator).__name__,
        "metric": of_setting(estimator.metric),
        **settings,
    }
    if isinstance(seed, numbers.Integral):
        found["random_state"] = int(seed)
    return {**found, **data}


def versions():
    """Return the versions that a run's numbers may depend on."""
    from anymetric import __version__

    found = {name: version(name) for name in ("lightgbm", "numpy", "scikit-learn", "scipy")}
    return {"anymetric": __version__, "python": platform.python_version(), **found}


def of_setting(value):
    """Return a setting: plain ones as they are shown, others by all that they are."""
    return shown(value) if type(value) in PLAIN else identity(value)


def hashed(value):
    """Return an array, a table or a mapping of columns as its shape and a hash."""
    if isinstance(value, dict):
        return {str(name): hashed(column) for name, column in value.items()}
    value = value if hasattr(value, "shape") else np.asarray(value)
    size = " x ".join(str(n) for n in value.shape)
    return f"{size}, {digest(value)[:16]}"
