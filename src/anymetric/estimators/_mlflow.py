"""Mlflow: a fit is recorded as a run where ``mlflow.sklearn.autolog()`` is on.

That function patches scikit-learn's own classes alone: without this module it would record the
models that are fitted within ours, and not ours. Mlflow is read only where the user
has imported it.
"""

from __future__ import annotations

import sys
from contextlib import contextmanager

import numpy as np

from anymetric.errors import warn

INTEGRATION = "sklearn"
# The longest parameter that every tracking store takes.
LONGEST = 500


@contextmanager
def tracked(estimator):
    """Record a fit: parameters, the metric, calls, and the model unless autolog leaves it out.

    Within a pipeline or a search, which mlflow records itself, nothing is recorded.
    """
    mlflow = sys.modules.get("mlflow")
    if mlflow is None or not _on(mlflow):
        yield
        return
    from mlflow.utils.autologging_utils import disable_autologging

    begun = None
    with disable_autologging():
        with _harmless():
            begun = None if mlflow.active_run() else mlflow.start_run()
            mlflow.log_params(parameters(estimator))
            mlflow.set_tags(tags(estimator))
        status = "FAILED"
        try:
            yield
            status = "FINISHED"
            with _harmless():
                mlflow.log_metrics(metrics(estimator))
                _log_model(estimator)
        finally:
            if begun is not None:
                with _harmless():
                    mlflow.end_run(status)


@contextmanager
def _harmless():
    """Turn an error of mlflow into a warning: a fit is worth more than its record."""
    try:
        yield
    except Exception as error:  # whatever a tracking store raises
        warn(f"mlflow could not record all of this fit: {error}")


def _on(mlflow):
    """Return whether autolog is on for scikit-learn, and not at work around this fit already."""
    if "mlflow.sklearn" not in sys.modules:
        return False
    from mlflow.utils.autologging_utils import autologging_is_disabled, safety

    sessions = getattr(safety, "_AutologgingSessionManager", None)
    around = sessions is not None and sessions.active_session() is not None
    return not around and not autologging_is_disabled(INTEGRATION)


def parameters(estimator):
    """Return the parameters as text, as autolog records those of scikit-learn.

    Examples
    --------
    >>> from anymetric import MetricClassifier
    >>> parameters(MetricClassifier("f1"))["metric"]
    'f1'
    """
    return {name: str(value)[:LONGEST] for name, value in estimator.get_params().items()}


def tags(estimator):
    """Return the tags that autolog gives to a run.

    Examples
    --------
    >>> from anymetric import MetricClassifier
    >>> tags(MetricClassifier("f1"))["estimator_name"]
    'MetricClassifier'
    """
    kind = type(estimator)
    return {
        "estimator_name": kind.__name__,
        "estimator_class": f"{kind.__module__}.{kind.__name__}",
        "mlflow.autologging": INTEGRATION,
    }


def metrics(estimator):
    """Return the numbers of a fitted estimator: its metric, calls, limits."""
    name = "".join(c if c.isalnum() or c in "_-. /" else "_" for c in estimator.metric_.name)
    found = {
        f"validation_{name}": estimator.validation_score_,
        "n_metric_calls": estimator.n_metric_calls_,
    }
    return {key: float(value) for key, value in found.items() if np.isfinite(value)}


def _log_model(estimator):
    """Log the fitted model, unless autolog was told not to."""
    import mlflow.sklearn
    from mlflow.utils.autologging_utils import get_autologging_config

    if get_autologging_config(INTEGRATION, "log_models", True):
        form = get_autologging_config(INTEGRATION, "serialization_format", "cloudpickle")
        mlflow.sklearn.log_model(estimator, name="model", serialization_format=form)
