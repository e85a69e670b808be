"""Columns of the same kind, such as the words of a text, share one scale."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.linear_model import LogisticRegressionCV
from sklearn.metrics import roc_auc_score

from anymetric import MetricClassifier
from anymetric.models import Linear
from anymetric.models.linear import filled, of_one_kind


def written(seed, documents=1500, words=800):
    """Return a table of words, rare and frequent, and labels that a fifth of the words tell."""
    rng = np.random.default_rng(seed)
    often = 1.0 / np.arange(1, words + 1)
    counts = rng.multinomial(60, often / often.sum(), size=documents)
    X = TfidfTransformer(sublinear_tf=True).fit_transform(sparse.csr_array(counts))
    told = X @ (rng.normal(size=words) * (rng.random(words) < 0.2))
    told = 2.0 * (told - told.mean()) / told.std()
    return sparse.csr_array(X), (told + rng.logistic(size=documents) > 0.0).astype(int)


def scales(X):
    return Linear.standardised(X).scale


def test_words_are_ranked_by_as_well_as_by_a_regression_of_raw_words():
    """By the spread of each, words of two documents weighed as much as any: 0.02 behind."""
    ours, theirs = [], []
    for seed in range(3):
        X, y = written(seed)
        clf = MetricClassifier("roc_auc", model="linear", random_state=0).fit(X[:500], y[:500])
        plain = LogisticRegressionCV(
            Cs=[0.1, 1.0, 10.0], l1_ratios=(0,), scoring="roc_auc", use_legacy_attributes=False
        )
        raw = plain.fit(X[:500], y[:500])
        for found, values in ((clf, ours), (raw, theirs)):
            values.append(roc_auc_score(y[500:], found.decision_function(X[500:])))
    assert np.mean(ours) > np.mean(theirs) - 0.01


def test_words_share_a_scale_dense_or_sparse():
    X, _ = written(0)
    own = scales(X)
    rare = filled(X) < 0.5 * X.shape[0]
    assert len(np.unique(own[rare].round(12))) < 0.1 * np.count_nonzero(rare)
    np.testing.assert_allclose(scales(X.toarray()), own)
    np.testing.assert_allclose(scales(1e6 * X), 1e6 * own)


@pytest.mark.parametrize("kind", ["numbers", "yes or no", "few", "of many sizes", "a minority"])
def test_other_columns_have_a_scale_each(kind, rng):
    X = written(0, documents=300, words=400)[0].toarray()
    X = {
        "numbers": lambda: rng.normal(size=X.shape),
        "yes or no": lambda: (X > 0.0).astype(float),
        "few": lambda: X[:, :60],
        "of many sizes": lambda: X * 10.0 ** rng.uniform(-6.0, 6.0, size=X.shape[1]),
        "a minority": lambda: np.hstack([X, rng.normal(size=(300, 900))]),
    }[kind]()
    assert not np.any(of_one_kind(X, X.mean(axis=0), X.var(axis=0)))
    spread = X.std(axis=0)
    np.testing.assert_allclose(scales(X), np.where(spread > 0.0, spread, 1.0))


def test_amounts_beside_words_keep_their_own_scale(rng):
    X = np.hstack([written(0, documents=300)[0].toarray(), 1e5 * rng.exponential(size=(300, 2))])
    np.testing.assert_allclose(scales(X)[-2:], X[:, -2:].std(axis=0))
