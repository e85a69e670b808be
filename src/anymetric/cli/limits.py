"""Limits: what `--subject-to` says, and what the saved model makes of it."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

from anymetric.cli.asked import check_columns, imported
from anymetric.cli.faults import UserError
from anymetric.metrics import Constraint, at_least, at_most


def find_limits(texts: Sequence[str], groups: bool, side: Collection[str]) -> list[Constraint]:
    """Return the limits that were written, of names or of functions ``module:function``.

    Examples
    --------
    >>> find_limits(["recall>=0.8"], False, ())
    [recall >= 0.8]
    >>> find_limits(["recall=0.8"], False, ())
    Traceback (most recent call last):
    anymetric.cli.faults.UserError: --subject-to: A limit is written as 'recall>=0.8', ...
    """
    found = [one_limit(text) for text in texts]
    for limit in found:
        check_columns(limit.metric, groups, side)
    return found


def one_limit(text: str) -> Constraint:
    """Return one limit, of a name or of a function's address."""
    address, sign, bound = text.partition(">=" if ">=" in text else "<=")
    try:
        if ":" not in address or not sign:
            return Constraint.parse(text)
        frame = Constraint.parse(f"error{sign}{bound}")
    except ValueError as error:
        raise UserError(f"--subject-to: {error}") from error
    make = at_least if sign == ">=" else at_most
    return make(imported(address.strip()), frame.bound, confidence=frame.confidence)


def limits_of_saved(row: dict[str, Any], model: Any) -> list[dict[str, Any]]:
    """Return every limit of a model, out of fold and on the rows of its table.

    Examples
    --------
    >>> row = {"limits": [{"limit": "recall >= 0.8", "value": 0.79, "kept": False}]}
    >>> limits_of_saved(row, None)[0]["out_of_fold"] is None
    True
    """
    before = {str(one.limit): one.value for one in getattr(model, "constraints_", ())}
    certified = getattr(model, "certificates_", ())
    promises = {one.claim.metric.name: str(one) for one in certified}
    return [
        {
            "limit": one["limit"],
            "out_of_fold": before.get(one["limit"]),
            "value": one["value"],
            "kept": one["kept"],
            "certificate": promises.get(one["limit"].split(" ")[0], ""),
        }
        for one in row.get("limits", ())
    ]


def limit_line(row: dict[str, Any]) -> str:
    """Return one limit as a line.

    Examples
    --------
    >>> limit_line({"limit": "recall >= 0.8", "out_of_fold": 0.81, "value": 0.79, "kept": False})
    'The limit recall >= 0.8: 0.8100 out of fold; 0.7900 on these rows, not kept'
    """
    end = "kept" if row["kept"] else "not kept"
    before = "" if row["out_of_fold"] is None else f"{row['out_of_fold']:.4f} out of fold; "
    return f"The limit {row['limit']}: {before}{row['value']:.4f} on these rows, {end}"
