"""Limits on the command line."""

import json

from anymetric.__main__ import main
from anymetric.cli.outcome import lines
from anymetric.report import Run

ASK = ["fit", "rows.csv", "-t", "income", "-m", "precision", "--drop", "id", "--model", "linear"]


def test_a_limit_is_trained_for_and_reported(rows, capsys):
    assert main([*ASK, "--subject-to", "recall>=0.7", "--json"]) == 0
    (limit,) = json.loads(capsys.readouterr().out)["limits"]
    assert limit["limit"] == "recall >= 0.7"
    assert limit["out_of_fold"] >= 0.7
    assert limit["kept"] is (limit["value"] >= 0.7)


def test_baselines_keep_the_limit_or_are_marked_and_never_win_by_breaking_it(rows, capsys):
    assert main([*ASK, "--subject-to", "recall>=0.7", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert [one["limit"] for one in found["limits"]] == ["recall >= 0.7"]
    kept = {row["name"]: row["limits"][0]["kept"] for row in found["table"]}
    saved = found["recommendation"]["saved"]
    assert saved == "anymetric" or kept[saved]
    broken = [{"limit": "recall >= 0.7", "kept": False}]
    marked = lines(Run({}, {}, [{**row, "limits": broken} for row in found["table"]]))
    assert all("(breaks recall >= 0.7)" in row[0] for row in marked)


def test_what_is_no_limit_is_refused(rows, capsys):
    assert main([*ASK, "--subject-to", "recall=0.7"]) == 2
    assert "A limit is written as 'recall>=0.8'" in capsys.readouterr().err
