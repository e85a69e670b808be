"""Notebook: a fitted estimator shows its run below the diagram, and all text as text."""

import xml.etree.ElementTree as ET

import numpy as np
import pytest
from sklearn import config_context
from sklearn.datasets import make_classification, make_regression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from anymetric import MetricClassifier, MetricRanker, MetricRegressor
from anymetric.baselines import LogisticBaseline
from anymetric.estimators._notebook import run_html
from anymetric.metrics import MetricError

X, Y = make_classification(300, weights=[0.8], random_state=0)
SCRIPT = "<script>alert(1)</script>"
FITS = {
    "auto": (MetricClassifier("f1", random_state=0), (X, Y)),
    "descent": (MetricClassifier("f1", method="descent", random_state=0), (X, Y)),
    "ranker": (MetricRanker("prbep", random_state=0), (X, Y)),
    "regressor": (MetricRegressor(random_state=0), make_regression(80, 3, random_state=0)),
    "baseline": (LogisticBaseline("f1", random_state=0), (X, Y)),
}


@pytest.mark.parametrize("name", FITS)
def test_the_run_is_shown_once_fitted(name):
    model, rows = FITS[name]
    assert "anymetric-run" not in model._repr_html_()
    model.fit(*rows)
    shown = model._repr_html_()
    assert shown.count('class="anymetric-run"') == 1
    assert shown.endswith("</body>")
    assert shown.index("sk-container") < shown.index("anymetric-run")
    assert model._repr_mimebundle_()["text/html"].count("anymetric-run") == 1


@pytest.mark.parametrize("name", FITS)
def test_the_run_is_well_formed_and_names_its_numbers(name):
    model, rows = FITS[name]
    root = ET.fromstring(run_html(model.fit(*rows)))
    text = " ".join(root.itertext())
    for said in (f"{model.n_metric_calls_:,}", model.status_.name, model.metric_.name):
        assert said in text
    circles = root.findall(".//circle")
    assert len(circles) == len(model.history_) + 1
    for circle in circles:
        assert 0.0 <= float(circle.get("cx")) <= 360.0
        assert 0.0 <= float(circle.get("cy")) <= 90.0
    for weight in getattr(model, "weights_", {}).values():
        assert f"{weight:.3f}" in text


def test_hostile_names_show_as_text():
    groups = np.where(np.arange(300) % 2, SCRIPT, "b")
    model = MetricClassifier("group_mean_f1", random_state=0).fit(X, Y, groups=groups)
    shown = run_html(model)
    assert SCRIPT not in shown
    assert f"groups={SCRIPT}" in " ".join(ET.fromstring(shown).itertext())


def test_a_failed_run_is_shown_too():
    def broken_score(y_true, y_pred):
        raise RuntimeError(SCRIPT)

    with pytest.raises(MetricError) as caught:
        MetricClassifier(broken_score, random_state=0).fit(X, Y)
    shown = caught.value.best._repr_html_()
    assert "FAILED" in shown
    assert SCRIPT not in shown


def test_scikit_learn_decides_whether_and_where():
    model = MetricClassifier("f1", random_state=0).fit(X, Y)
    with config_context(display="text"):
        assert not hasattr(model, "_repr_html_")
    pipe = make_pipeline(StandardScaler(), model)
    assert "anymetric-run" not in pipe._repr_html_()
