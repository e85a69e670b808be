"""The page of many classes: scikit-learn's numbers, no threshold, and names that are only text."""

import re
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import load_wine, make_multilabel_classification
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import (
    accuracy_score,
    confusion_matrix,
    f1_score,
    precision_recall_fscore_support,
)
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from anymetric import MetricClassifier
from anymetric.data import Data
from anymetric.metrics import Classes, as_metric, meant
from anymetric.report import gather, page
from anymetric.report.sample import Sample
from anymetric.report.worth import Slice
from anymetric.surrogates import ClassLoss

from .report_runs import HOSTILE, made, wines
from .test_report_page import Seen


def models():
    ours, rivals, X, y, shop = wines()
    return {"anymetric": ours, **rivals}, X, y, shop


def test_values_and_confusion_are_scikit_learns():
    every, X, y, _ = models()
    run = made("many")
    assert run.sample["labels"] == every["anymetric"].classes_.tolist()
    assert run.sample["counts"] == [np.sum(y == label) for label in run.sample["labels"]]
    for method, table in zip(run.methods, run.confusion, strict=True):
        said = every[method["name"]].predict(X)
        assert method["value"] == pytest.approx(f1_score(y, said, average="macro"))
        assert table["counts"] == confusion_matrix(y, said).tolist()


def test_recall_precision_and_f1_of_each_class_are_scikit_learns():
    every, X, y, _ = models()
    for name, model in every.items():
        rows = [row for row in made("many").classes if row["method"] == name]
        expected = precision_recall_fscore_support(y, model.predict(X))
        for key, values in zip(("precision", "recall", "f1", "n"), expected, strict=True):
            assert [row[key] for row in rows] == pytest.approx(values.tolist())


def test_the_metric_by_group_is_that_of_the_groups_rows():
    every, X, y, shop = models()
    for row in made("many").groups["rows"]:
        chosen = shop == row["group"]
        said = every[row["method"]].predict(X[chosen])
        assert row["value"] == pytest.approx(f1_score(y[chosen], said, average="macro"))
        assert row["right"] == pytest.approx(accuracy_score(y[chosen], said))


def test_effects_are_coefficients_beside_their_mean_over_one_deviation():
    every, X, *_ = models()
    coef = every["anymetric"].coef_
    effects = (coef - coef.mean(axis=0)) * X.std(axis=0)
    found = {one["name"]: one for one in made("many").coefficients}
    for j in range(X.shape[1]):
        assert found[f"x{j}"]["effects"] == pytest.approx(effects[:, j].tolist())
        assert found[f"x{j}"]["weights"] == pytest.approx(coef[:, j].tolist())
    order = [np.abs(one["effects"]).max() for one in made("many").coefficients]
    assert order == sorted(order, reverse=True)


def test_slices_are_called_as_the_user_calls_them():
    grower = load_wine(return_X_y=True)[1]
    slices = made("many").worth["slices"]
    assert sum(one["share"] for one in slices) == pytest.approx(1.0)
    rows = {one["label"]: one["rows"] for one in slices}
    trained, north = np.arange(len(grower)) % 2 == 0, np.arange(len(grower)) % 3 != 0
    share = np.mean(((grower == 1) & north)[trained])
    assert rows["grower = bee & co, shop = north"] == pytest.approx(share)


plain_text = st.text().filter(lambda text: ", groups=" not in text and ", source=" not in text)


@given(st.lists(plain_text, min_size=3, max_size=6, unique=True), plain_text, st.data())
def test_a_slice_is_read_back_whatever_the_labels_are(labels, group, data):
    k = data.draw(st.integers(0, len(labels) - 1))
    where = (("class", float(k)), ("groups", group))
    found = Slice.read(ClassLoss(Classes(tuple(labels)), where=where).name, 0.0, labels)
    assert (found.code, found.parts) == (k, {"groups": group})


def test_a_threshold_is_not_spoken_of():
    ids = set(re.findall(r'<section id="(\w+)"', page(made("many"))))
    assert {"result", "groups", "classes", "confusion", "run", "worth", "coefficients"} <= ids
    assert "curves" not in ids
    assert made("many").curves == {}
    body = page(made("many")).partition("<script")[0]
    assert "threshold" not in body.replace("group_thresholds", "")  # the name of a setting
    assert "best offsets" in body


def test_more_classes_than_a_matrix_holds_are_reported_by_their_mistakes():
    assert page(made("dozen")).count('<table class="matrix">') == 2
    assert '<table class="matrix">' not in page(made("crowd"))
    counts = np.array(made("crowd").confusion[0]["counts"])
    np.fill_diagonal(counts, 0)
    tables = page(made("crowd")).partition('<section id="confusion">')[2]
    first = re.search(r'data-label="rows">(\d+)<', tables)
    assert int(first[1]) == counts.max()


@pytest.mark.parametrize("called", [False, True], ids=["ready-made", "function"])
def test_the_standard_error_of_accuracy_is_the_binomial_one(called):
    rng = np.random.default_rng(0)
    n, three = 500, Classes(("a", "b", "c"))
    y = rng.integers(0, 3, n).astype(float)
    wrong = rng.random(n) > 0.8
    accuracy = as_metric(lambda y_true, y_pred: np.mean(y_true == y_pred), greater_is_better=True)
    metric = meant(accuracy if called else as_metric("accuracy"), three)
    scores = np.eye(3)[((y + wrong) % 3).astype(int)]
    sample = Sample(metric, Data(np.zeros((n, 1)), y), three, {"a": scores, "same": scores})
    replicates = sample.resamples(400, rng)
    exact = np.sqrt(np.mean(wrong) * (1 - np.mean(wrong)) / n)
    assert sample.values().tolist() == pytest.approx([1.0 - np.mean(wrong)] * 2)
    assert replicates[:, 0].std() == pytest.approx(exact, rel=0.2)
    assert np.ptp(replicates[:, 0] - replicates[:, 1]) == 0.0


def test_a_function_that_reads_features_has_error_bars():
    _, X, y, _ = models()
    X = X[:, :2]

    def far(y_true, y_pred, X):
        """Alcohol of the rows that are right."""
        return float(np.sum(X[y_true == y_pred, 0]) / len(X))

    ours = MetricClassifier(far, greater_is_better=True, random_state=0, max_metric_calls=40)
    run = gather(ours.fit(X[::2], y[::2]), X[1::2], y[1::2])
    right = ours.predict(X[1::2]) == y[1::2]
    assert run.methods[0]["value"] == pytest.approx(np.mean(right * X[1::2, 0]))
    assert run.methods[0]["error"] > 0.0
    assert run.metric["says"] == "Alcohol of the rows that are right."


def test_pipelines_and_numbers_for_labels_are_welcome():
    _, X, y, _ = models()
    y = np.unique(y, return_inverse=True)[1]
    pipe = make_pipeline(StandardScaler(), MetricClassifier("accuracy", random_state=0))
    run = gather(pipe.fit(X[::2], y[::2]), X[1::2], y[1::2])
    assert run.methods[0]["value"] == pytest.approx(np.mean(pipe.predict(X[1::2]) == y[1::2]))
    assert run.sample["labels"] == ["0", "1", "2"]


def test_a_baseline_of_other_classes_is_refused():
    every, X, y, _ = models()
    other = LogisticRegression(max_iter=1000).fit(X, np.where(y == HOSTILE, "bee & co", y))
    with pytest.raises(ValueError, match="rows of the same classes"):
        gather(every["anymetric"], X, y, baselines={"other": other})


def test_sets_of_labels_are_refused_with_a_reason():
    X, Y = make_multilabel_classification(60, n_classes=3, random_state=0)
    ours = MetricClassifier("micro_f1", random_state=0, max_metric_calls=2).fit(X, Y)
    with pytest.raises(ValueError, match="sets of 3 labels"):
        gather(ours, X, Y)


def called(text):
    """A run in which every class, feature and slice has this name."""
    run = made("many")
    return replace(
        run,
        sample={**run.sample, "labels": [text] * 3},
        classes=[{**row, "class": text} for row in run.classes],
        coefficients=[{**one, "name": text} for one in run.coefficients],
        worth={"slices": [{**s, "label": text} for s in run.worth["slices"]], "says": [text]},
        course={**run.course, "surrogates": [text] * len(run.course["surrogates"])},
    )


PLAIN = Seen(page(called("name"))).tags


@settings(max_examples=12, deadline=None)
@given(st.text(min_size=1) | st.sampled_from([HOSTILE, "</script>", "<!--<script>", "&lt;", "]]>"]))
def test_no_label_changes_the_markup(text):
    assert Seen(page(called(text))).tags == PLAIN
