"""Turns: the section on the run: the metric by turn, and the path in surrogate space."""

from __future__ import annotations

from typing import Any

from anymetric.report.markup import Markup, coded, number, table, tag
from anymetric.report.parts import EMPTY, chart, choices, few, folded, section, spoken, tuned
from anymetric.report.run import Run
from anymetric.report.worth import percent

# Surrogates that have a column each in a table.
MOST_COLUMNS = 8
SOME = "Some of the numbers"


def course(run: Run) -> Markup:
    """Return the run: the metric by turn, and the profiles' path in surrogate space."""
    turns = run.course.get("turns")
    if not turns:
        return EMPTY
    names = run.course["surrogates"]
    candidates = run.course["kind"] == "candidates"
    model = turns[run.course["chosen"]]
    heard = spoken(f"{run.metric['name']} by turn", heard_of(run))
    parts: list[Markup] = [chart("course", heard, course_caption(candidates, tuned(run)))]
    if not candidates:
        parts.append(folded(SOME, by_turn(run)))
    if len(names) > 1:
        options = [(str(k), name) for k, name in enumerate(names)]
        pair = furthest(turns, len(names))
        picks = tag(
            "div",
            choices("across", "Across", options, pair[0]),
            choices("up", "Up", options, pair[1]),
            class_="choices",
        )
        losses = [f"{names[k]} {number(model['profile'][k])}" for k in pair]
        heard = spoken("Profiles in surrogate space, the model's losses", losses)
        space = chart("space", heard, space_caption(candidates))
        parts += [tag("h3", "In surrogate space"), picks, space, folded(SOME, profiles(run))]
    if any(turn.get("weights") for turn in turns):
        said = "What each surrogate counted for, turn by turn, on the way to the model."
        last = [turn for turn in turns if turn.get("weights")][-1]
        held = zip(names, last["weights"], strict=True)
        heard = spoken("Learned weights at the last turn", [f"{n} {percent(w)}" for n, w in held])
        parts += [tag("h3", "Learned weights"), chart("weights", heard, said)]
        parts.append(folded(SOME, shares_by_turn(run)))
    if candidates:
        parts.append(ballot(turns))
    calls = coded(f"{run.course['calls']:,} metric calls. {run.course['says']}")
    return section("run", "The run", *parts, lead=calls)


def heard_of(run: Run) -> list[str]:
    """Return where the run began and where it ended."""
    turns = run.course["turns"]
    model = turns[run.course["chosen"]]
    return [
        f"the first of {len(turns)} {number(turns[0]['value'])}",
        f"the model {number(model['value'])}",
    ]


def chosen_turns(run: Run, *, weighed: bool = False) -> list[dict[str, Any]]:
    """Return a few turns for a table, the model's among them; only those with weights if asked."""
    turns, model = run.course["turns"], run.course["chosen"]
    places = [k for k, turn in enumerate(turns) if not weighed or turn.get("weights")]
    kept = places.index(model) if model in places else None
    return [turns[places[k]] for k in few(len(places), kept)]


def turn_name(run: Run, turn: dict[str, Any]) -> str:
    """Return what a turn is called: by its candidate, or by its place in its start."""
    if turn.get("name"):
        return str(turn["name"])
    several = len({one["start"] for one in run.course["turns"]}) > 1
    return f"turn {turn['turn']}" + (f" of start {turn['start'] + 1}" if several else "")


def by_turn(run: Run) -> Markup:
    """Return the metric at a few turns."""
    rows = [
        [turn_name(run, turn), number(turn["value"]), f"{turn['calls']:,}"]
        for turn in chosen_turns(run)
    ]
    return table(["turn", run.metric["name"], "calls so far"], rows)


def profiles(run: Run) -> Markup:
    """Return the losses of a few turns; where there are too many, those that moved most."""
    names, turns = run.course["surrogates"], run.course["turns"]
    shown = sorted(by_way(turns, len(names))[:MOST_COLUMNS])
    rows = [
        [turn_name(run, turn), number(turn["value"]), *(number(turn["profile"][k]) for k in shown)]
        for turn in chosen_turns(run)
    ]
    head = [f"loss: {names[k]}" for k in shown]
    return table(["candidate" if turns[0].get("name") else "turn", run.metric["name"], *head], rows)


def shares_by_turn(run: Run) -> Markup:
    """Return the learned weights of a few turns; where there are too many, the heaviest."""
    names, turns = run.course["surrogates"], chosen_turns(run, weighed=True)
    total = [sum(turn["weights"][k] for turn in turns) for k in range(len(names))]
    shown = sorted(sorted(range(len(names)), key=lambda k: -total[k])[:MOST_COLUMNS])
    rows = [[turn_name(run, t), *(percent(t["weights"][k]) for k in shown)] for t in turns]
    return table(["turn", *(names[k] for k in shown)], rows)


def course_caption(candidates: bool, tuned: str) -> str:
    """Say what the chart of the run shows."""
    if candidates:
        return (
            f"Each dot is a candidate{tuned}, on the validation rows; the larger, the larger its "
            "share of the answer. The line is the best so far; the rule is the model."
        )
    return "Each dot is a turn, on the rows that judged; the line is the best so far."


def space_caption(candidates: bool) -> str:
    """Say what the chart of surrogate space shows."""
    each = "candidate" if candidates else "turn"
    return (
        f"Each dot is the profile of a {each}, stronger in colour where the metric is better; the "
        "ring is the model."
    )


def furthest(turns: list[dict[str, Any]], K: int) -> tuple[int, int]:
    """Return the two surrogates that moved most over the run.

    Examples
    --------
    >>> furthest([{"profile": [0.0, 1.0, 5.0]}, {"profile": [0.1, 3.0, 1.0]}], 3)
    (1, 2)
    """
    first, second = sorted(by_way(turns, K)[:2])
    return first, second


def by_way(turns: list[dict[str, Any]], K: int) -> list[int]:
    """Return the surrogates by how far they moved over the run, the furthest first."""
    columns = [[turn["profile"][k] for turn in turns] for k in range(K)]
    known = [[v for v in column if v is not None] or [0.0] for column in columns]
    return sorted(range(K), key=lambda k: min(known[k]) - max(known[k]))


def ballot(turns: list[dict[str, Any]]) -> Markup:
    """Return all candidates with their shares, the largest first."""
    # The model itself, which has no share, comes first.
    listed = sorted(turns, key=lambda t: -float(2.0 if t.get("share") is None else t["share"]))
    rows = [
        [
            turn["name"],
            number(turn["value"]),
            number(None) if turn.get("share") is None else percent(turn["share"]),
        ]
        for turn in listed
    ]
    return folded(f"All {len(rows)} candidates", table(["candidate", "value", "share"], rows))
