"""Words: what a run comes to, in sentences."""

from __future__ import annotations

from anymetric.report.markup import number, with_error
from anymetric.report.parts import tuned
from anymetric.report.run import Run
from anymetric.report.worth import percent

# A difference of fewer standard errors than this is none.
CLEAR = 2.0


def headline(run: Run) -> str:
    """Return the recommendation.

    Examples
    --------
    >>> headline(Run({"name": "f1"}, {}, [], recommendation={"says": "Use this model."}))
    'Use this model.'
    >>> headline(Run({"name": "f1"}, {}, []))
    'Not compared with any baseline.'
    """
    return str(run.recommendation.get("says") or "Not compared with any baseline.")


def optimism(run: Run) -> list[str]:
    """Compare the validation value with that on these rows; empty if a method saw them.

    Examples
    --------
    >>> ours = {"name": "ours", "value": 0.6, "error": 0.01, "validation": 0.7, "optimism": 0.1}
    >>> optimism(Run({"name": "f1"}, {}, [ours]))[0]
    'On the validation rows it was 0.700, on these 0.600 ± 0.010: worse by 0.100.'
    """
    ours = run.methods[0]
    if ours.get("optimism") is None or not run.sample.get("held_out", True):
        return []
    before, error = number(ours["validation"], ours.get("error")), ours.get("error") or 0.0
    given = with_error(ours["value"], ours.get("error"))
    told = f"On the validation rows it was {before}, on these {given}: "
    if abs(ours["optimism"]) <= CLEAR * error:
        said = [told + "within noise."]
    elif ours["optimism"] > 0:
        said = [told + f"worse by {number(ours['optimism'], error or None)}."]
    else:
        said = [told + f"better by {number(-ours['optimism'], error or None)}."]
    bias = run.diagnosis.get("optimism")
    if bias is not None and bias > 0.0:
        said.append(
            "The cost of the best candidate is too low by about "
            f"{number(bias, error or None)} (selection bias); averaging candidates within "
            "noise keeps that small."
        )
    return said


def trust(run: Run) -> str:
    """Return the measurement behind the recommendation.

    Examples
    --------
    >>> found = {"gain": -0.0271, "gain_error": 0.0093}
    >>> trust(Run({"name": "r2", "decides": False}, {}, [], diagnosis=found))
    'On the validation rows, the cost rose by 0.0271 ± 0.0093 beside the plain model.'
    """
    found = run.diagnosis
    if found.get("gain") is None:
        return ""
    verb = "rose" if found["gain"] < 0.0 else "fell"
    change = with_error(abs(found["gain"]), found["gain_error"])
    return (
        f"On the validation rows, the cost {verb} by {change} beside the plain model{tuned(run)}."
    )


def families(run: Run) -> str:
    """Say which family of models won, and by how much; nothing where one was alone.

    Examples
    --------
    >>> linear = {"share": 0.25, "behind": 0.012, "error": 0.004}
    >>> found = {"boosted": {"share": 0.75, "behind": 0.0, "error": 0.0}, "linear": linear}
    >>> families(Run({}, {}, [], diagnosis={"families": found}))
    'Of 2 families, boosted won with 75 % of the weight; linear is 0.0120 ± 0.0040 behind (25 %).'
    """
    found = run.diagnosis.get("families") or {}
    if len(found) < 2:
        return ""
    first, *others = sorted(
        found, key=lambda name: (-float(found[name]["share"] or 0.0), found[name]["behind"] or 0.0)
    )
    shares = {name: percent(one["share"] or 0.0) for name, one in found.items()}
    said = [f"Of {len(found)} families, {first} won with {shares[first]} of the weight"]
    own = found[first]
    for name in others:
        other = found[name]
        ahead = (other["behind"] or 0.0) < (own["behind"] or 0.0)
        far = own if ahead else other
        where = "ahead, within noise" if ahead else "behind"
        said.append(f"{name} is {with_error(far['behind'], far['error'])} {where} ({shares[name]})")
    return "; ".join(said) + "."


def explained(run: Run) -> str:
    """Say how much of the metric the surrogates explain near the model.

    Examples
    --------
    >>> explained(Run({}, {}, [], diagnosis={"r_squared": float("nan")}))
    'Near the model no probe tells how far the surrogates explain the metric.'
    """
    part = run.diagnosis.get("r_squared")
    if part is None:
        return "Near the model no probe tells how far the surrogates explain the metric."
    share = percent(max(part, 0.0))
    return f"Near the model the surrogates explain {share} of the changes in the metric."
