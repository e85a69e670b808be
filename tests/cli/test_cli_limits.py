"""Limits on the command line."""

import json

from anymetric.__main__ import main

ASK = ["fit", "rows.csv", "-t", "income", "-m", "precision", "--drop", "id", "--model", "linear"]


def test_a_limit_is_trained_for_and_reported(rows, capsys):
    assert main([*ASK, "--subject-to", "recall>=0.7", "--json"]) == 0
    (limit,) = json.loads(capsys.readouterr().out)["limits"]
    assert limit["limit"] == "recall >= 0.7"
    assert limit["out_of_fold"] >= 0.7
    assert limit["kept"] is (limit["value"] >= 0.7)


def test_the_baselines_are_said_to_keep_no_limit(rows, capsys):
    assert main([*ASK, "--subject-to", "recall>=0.7"]) == 0
    said = "".join(capsys.readouterr())
    assert "The limit recall >= 0.7" in said
    assert "The other methods were not asked to keep a limit." in said


def test_what_is_no_limit_is_refused(rows, capsys):
    assert main([*ASK, "--subject-to", "recall=0.7"]) == 2
    assert "A limit is written as 'recall>=0.8'" in capsys.readouterr().err
