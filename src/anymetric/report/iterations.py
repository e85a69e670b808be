"""Iterations: the section on the training, and the path in surrogate space."""

from __future__ import annotations

from typing import Any

from anymetric.report.markup import Markup, coded, number, table, tag
from anymetric.report.parts import (
    EMPTY,
    chart,
    choices,
    folded,
    points_of,
    researchers,
    section,
    spoken,
    tuned,
)
from anymetric.report.run import Run
from anymetric.report.worth import percent

# Surrogates that have a column each in a table.
MOST_COLUMNS = 8
SOME = "Some of the numbers"


def course(run: Run) -> Markup:
    """Return the training: the metric by candidate or iteration; the rest is for researchers."""
    iterations = run.course.get("iterations")
    if not iterations:
        return EMPTY
    candidates = run.course["kind"] == "candidates"
    each = "candidate" if candidates else "iteration"
    said = spoken(f"{run.metric['name']} by {each}", ends_of(run))
    parts: list[Markup] = [chart("course", said, course_caption(candidates, tuned(run)))]
    parts.append(all_candidates(iterations) if candidates else folded(SOME, by_iteration(run)))
    parts.append(researchers(*surrogate_space(run), *learned_weights(run)))
    calls = coded(f"{run.course['calls']:,} metric calls. {run.course['says']}")
    return section("run", "Training", *parts, lead=calls)


def surrogate_space(run: Run) -> list[Markup]:
    """Return the losses of every candidate or iteration, two surrogates at a time."""
    names, iterations = run.course["surrogates"], run.course["iterations"]
    if len(names) < 2:
        return []
    options = [(str(k), name) for k, name in enumerate(names)]
    pair = furthest(iterations, len(names))
    picks = tag(
        "div",
        choices("across", "Across", options, pair[0]),
        choices("up", "Up", options, pair[1]),
        class_="choices",
    )
    model = iterations[run.course["chosen"]]
    losses = [f"{names[k]} {number(model['profile'][k])}" for k in pair]
    said = spoken("Profiles in surrogate space, the model's losses", losses)
    space = chart("space", said, space_caption(run.course["kind"] == "candidates"))
    return [tag("h3", "Surrogate space"), picks, space, folded(SOME, profiles(run))]


def learned_weights(run: Run) -> list[Markup]:
    """Return the learned weights of the surrogates, iteration by iteration."""
    names = run.course["surrogates"]
    weighed = [one for one in run.course["iterations"] if one.get("weights")]
    if not weighed:
        return []
    held = zip(names, weighed[-1]["weights"], strict=True)
    said = spoken("Learned weights at the last iteration", [f"{n} {percent(w)}" for n, w in held])
    caption = "The weight of each surrogate by iteration, in the start that led to the model."
    picture = chart("weights", said, caption)
    return [tag("h3", "Learned weights"), picture, folded(SOME, shares_by_iteration(run))]


def ends_of(run: Run) -> list[str]:
    """Return where the run began and where it ended."""
    iterations = run.course["iterations"]
    model = iterations[run.course["chosen"]]
    return [
        f"the first of {len(iterations)} {number(iterations[0]['value'])}",
        f"the model {number(model['value'])}",
    ]


def shown_iterations(run: Run, *, weighed: bool = False) -> list[dict[str, Any]]:
    """Return some iterations for a table, the model's among them; only weighted ones if asked."""
    iterations, model = run.course["iterations"], run.course["chosen"]
    places = [k for k, one in enumerate(iterations) if not weighed or one.get("weights")]
    kept = places.index(model) if model in places else None
    return [iterations[places[k]] for k in points_of(len(places), kept)]


def iteration_name(run: Run, one: dict[str, Any]) -> str:
    """Return the name of an iteration: its candidate's, or its place in its start."""
    if one.get("name"):
        return str(one["name"])
    several = len({one["start"] for one in run.course["iterations"]}) > 1
    return f"iteration {one['iteration']}" + (f" of start {one['start'] + 1}" if several else "")


def by_iteration(run: Run) -> Markup:
    """Return the metric at some iterations."""
    rows = [
        [iteration_name(run, one), number(one["value"]), f"{one['calls']:,}"]
        for one in shown_iterations(run)
    ]
    return table(["iteration", run.metric["name"], "calls so far"], rows)


def profiles(run: Run) -> Markup:
    """Return the losses of some iterations; where there are too many, those that moved most."""
    names, iterations = run.course["surrogates"], run.course["iterations"]
    shown = sorted(by_way(iterations, len(names))[:MOST_COLUMNS])
    rows = [
        [
            iteration_name(run, one),
            number(one["value"]),
            *(number(one["profile"][k]) for k in shown),
        ]
        for one in shown_iterations(run)
    ]
    head = [f"loss: {names[k]}" for k in shown]
    each = "candidate" if iterations[0].get("name") else "iteration"
    return table([each, run.metric["name"], *head], rows)


def shares_by_iteration(run: Run) -> Markup:
    """Return the learned weights of some iterations; where there are too many, the heaviest."""
    names, iterations = run.course["surrogates"], shown_iterations(run, weighed=True)
    total = [sum(one["weights"][k] for one in iterations) for k in range(len(names))]
    shown = sorted(sorted(range(len(names)), key=lambda k: -total[k])[:MOST_COLUMNS])
    rows = [
        [iteration_name(run, t), *(percent(t["weights"][k]) for k in shown)] for t in iterations
    ]
    return table(["iteration", *(names[k] for k in shown)], rows)


def course_caption(candidates: bool, tuned: str) -> str:
    """Say what the chart of the run shows."""
    if candidates:
        return (
            f"Each dot is a candidate model{tuned}, on the validation rows; the larger, the larger "
            "its share of the final model, which is the blue dot. The grey line is the best so far."
        )
    return "Each dot is an iteration, on the validation rows; the line is the best so far."


def space_caption(candidates: bool) -> str:
    """Say what the chart of surrogate space shows."""
    each = "a candidate" if candidates else "an iteration"
    return (
        f"Each dot is the profile of {each}, stronger in colour where the metric is better; the "
        "ring is the model."
    )


def furthest(iterations: list[dict[str, Any]], K: int) -> tuple[int, int]:
    """Return the two surrogates that moved most over the run.

    Examples
    --------
    >>> furthest([{"profile": [0.0, 1.0, 5.0]}, {"profile": [0.1, 3.0, 1.0]}], 3)
    (1, 2)
    """
    first, second = sorted(by_way(iterations, K)[:2])
    return first, second


def by_way(iterations: list[dict[str, Any]], K: int) -> list[int]:
    """Return the surrogates by how far they moved over the run, the furthest first."""
    columns = [[one["profile"][k] for one in iterations] for k in range(K)]
    known = [[v for v in column if v is not None] or [0.0] for column in columns]
    return sorted(range(K), key=lambda k: min(known[k]) - max(known[k]))


def all_candidates(iterations: list[dict[str, Any]]) -> Markup:
    """Return all candidates with their shares, the largest first."""
    # The model itself, which has no share, comes first.
    listed = sorted(iterations, key=lambda t: -float(2.0 if t.get("share") is None else t["share"]))
    rows = [
        [
            one["name"],
            number(one["value"]),
            number(None) if one.get("share") is None else percent(one["share"]),
        ]
        for one in listed
    ]
    return folded(f"All {len(rows)} candidates", table(["candidate", "value", "share"], rows))
