"""Notebook: the run below scikit-learn's diagram of a fitted estimator."""

from __future__ import annotations

from html import escape

import numpy as np
from sklearn.utils import estimator_html_repr

from anymetric.estimators._names import short_names
from anymetric.estimators._run import Run, cost_label

WIDTH, HEIGHT, MARGIN = 360, 90, 6
HEAD = "slice", "weight", "", "share of rows"


class ShowsRun:
    """An estimator whose notebook representation shows its run once there is one."""

    def _html_repr(self):
        diagram = estimator_html_repr(self)
        if not hasattr(self, "history_"):
            return diagram
        return f"{diagram.removesuffix('</body>')}{run_html(self)}</body>"


def run_html(estimator):
    """Return the run of a fitted estimator as HTML: numbers, a small picture, the weights.

    Examples
    --------
    >>> from sklearn.datasets import make_classification
    >>> from anymetric import MetricClassifier
    >>> X, y = make_classification(200, random_state=0)
    >>> shown = run_html(MetricClassifier("f1", random_state=0).fit(X, y))
    >>> "<svg" in shown, "best so far" in shown, "<script" in shown
    (True, True, False)
    """
    run = Run.of_estimator(estimator)
    parts = [table(facts(estimator)), curve(run, cost_label(estimator.metric_))]
    if getattr(estimator, "weights_", None):
        called = short_names(list(estimator.weights_), getattr(estimator, "classes_", None))
        parts.append(bars(estimator.weights_, estimator.row_shares_, called))
    style = "margin:0.6em 0;padding:0.6em;border:1px solid;border-radius:0.25em;max-width:45em"
    return (
        f'<div class="anymetric-run" style="{style}"><details open=""><summary>The run</summary>'
        f"{''.join(parts)}</details></div>"
    )


def facts(estimator):
    """Return pairs of name and value: best, calls, status."""
    run = estimator.summary_
    rows = [
        (estimator.metric_.name, f"{estimator.validation_score_:.4g} on the validation rows"),
        ("validation", estimator.validation_),
        ("metric calls", f"{estimator.n_metric_calls_:,}"),
        ("status", f"{estimator.status_.name}: {estimator.status_.value}"),
    ]
    if not np.isnan(run.gain):
        gain = f"{run.gain:.2g} ± {run.gain_error:.2g} in cost"
        rows.append(("gain over the plain model", gain))
    return rows


def table(rows):
    """Return pairs as a table.

    Examples
    --------
    >>> table([("<metric>", 1)]).count("&lt;metric&gt;")
    1
    """
    cells = "".join(
        f'<tr><th style="text-align:left;vertical-align:top">{escape(str(name))}</th>'
        f'<td style="text-align:left">{escape(str(value))}</td></tr>'
        for name, value in rows
    )
    return f'<table style="color:inherit;background:none">{cells}</table>'


def curve(run, label):
    """Return cost by iteration as a small SVG: points, the best so far, the one chosen."""
    seen = np.isfinite(run.costs)
    if not seen.any():
        return ""
    low, high = float(run.costs[seen].min()), float(run.costs[seen].max())
    across = np.linspace(MARGIN, WIDTH - MARGIN, len(run.costs))
    dots = [dot(x, y, 1.6) for x, y in zip(across, down(run.costs, low, high), strict=True)]
    best = zip(across, down(run.best_so_far, low, high), strict=False)
    line = " ".join(f"{x:.1f},{y:.1f}" for x, y in best if np.isfinite(y))
    chosen = dot(across[run.chosen], down(run.costs, low, high)[run.chosen], 4.0)
    caption = escape(
        f"{label} of {len(run.tried)} {'iterations' if run.sequential else 'candidates'}, from "
        f"{high:.4g} down to {low:.4g}; line: best so far; large dot: the model"
    )
    return (
        f'<svg role="img" aria-label="{caption}" viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}" '
        f'height="{HEIGHT}" style="max-width:100%;color:inherit">{"".join(dots)}'
        f'<polyline points="{line}" fill="none" stroke="#1f77b4" stroke-width="1.5"/>{chosen}'
        f"</svg><div><small>{caption}</small></div>"
    )


def down(costs, low, high):
    """Return how far below the upper edge each cost is drawn.

    Examples
    --------
    >>> down(np.array([0.0, 1.0]), 0.0, 1.0).tolist()
    [84.0, 6.0]
    """
    return MARGIN + (high - costs) / ((high - low) or 1.0) * (HEIGHT - 2 * MARGIN)


def dot(x, y, radius):
    """Return a point, a large one in orange; nothing where the cost is not known."""
    if not np.isfinite(y):
        return ""
    colour = "#ff7f0e" if radius > 2.0 else "currentColor"
    return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{radius}" fill="{colour}" opacity="0.8"/>'


def bars(weights, shares, called):
    """Return the weights as a table with bars, beside the shares of the rows where known."""
    head = "".join(f'<th style="text-align:left">{name}</th>' for name in HEAD)
    rows = []
    for name, weight in weights.items():
        share = f"{shares[name]:.3f}" if name in shares else ""
        wide = 100.0 * min(max(weight, 0.0), 1.0)
        bar = f'<div style="width:{wide:.1f}px;height:0.7em;background:#1f77b4"></div>'
        rows.append(
            f'<tr><td style="text-align:left">{escape(called[name])}</td><td>{weight:.3f}</td>'
            f'<td style="width:100px">{bar}</td><td>{share}</td></tr>'
        )
    return f'<table style="color:inherit;background:none"><tr>{head}</tr>{"".join(rows)}</table>'
