"""The drill in short: kills, a crowd, a full disk, hostile input; `make drill` is the long one."""

import random
import sys
from dataclasses import replace
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks.drill import run
from benchmarks.drill.crowds import crowd
from benchmarks.drill.hostile import hostile, watched
from benchmarks.drill.kills import Outcome, Reference, broken
from benchmarks.drill.server import server, why_not
from benchmarks.drill.task import Task

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")


def test_the_short_drill_has_no_violations(tmp_path, monkeypatch):
    monkeypatch.setattr(run, "KILLED", run.KILLED[:2])
    monkeypatch.setattr(run, "CROWDS", run.CROWDS[:1])
    said = []
    short = ["--kills", "6", "--crowds", "1", "--disks", "1", "--damaged", "20", "--hostile", "0"]
    out = tmp_path / "drill.csv"
    code = run.main([*short, "--evaluation", "0.01", "--out", str(out)], said.append)
    assert code == 0, said
    rows = run.read(out)
    assert sum(int(row["kills"]) for row in rows if row["part"] == "kill -9") == 6
    assert run.wrong(rows) == 0
    assert "violations: 0" in out.with_suffix(".md").read_text()
    again = run.main([*short, "--out", str(out)], said.append)  # all of it is known
    assert again == 0
    assert run.read(out) == rows


@pytest.mark.skipif(bool(why_not()), reason=str(why_not()))
def test_evaluators_share_a_run_on_a_server(tmp_path):
    plain = Task("two classes", tmp_path / "one", str(tmp_path / "one.db"), 0.0)
    with server() as running:
        shared = Task("two classes", tmp_path / "shared", running.address(), 0.01)
        reference = Reference.of(replace(plain, seconds=0.01))
        found = crowd(shared, reference, 2, random.Random(0))
    assert found.violations == 0, found.said
    assert found.evaluations - found.unrecorded == len(reference.keys)


def test_hostile_input_has_a_clear_end():
    for kind, counts in hostile(70).items():
        assert sum(counts.values()) >= 70, kind
        assert counts["unclear"] == counts["written elsewhere"] == 0, kind


def test_the_drill_would_see_a_violation(tmp_path):
    """A ledger that loses an answer and a file beside it: both are counted."""
    home = tmp_path / "run"
    home.mkdir()
    task = Task("two classes", home, str(home / "run.db"), seconds=0.0, calls=12)
    reference = Reference.of(
        Task("two classes", tmp_path / "one", str(tmp_path / "one.db"), 0.0, 12)
    )
    keys = dict.fromkeys(reference.keys, "other")
    (home / "left.tmp").write_text("")
    found = broken(task, Reference("0", keys, 1.0), random.Random(0), 0)
    assert (found.lost, found.different, found.files) == (1, 1, 1)
    row = {**dict.fromkeys(run.HEADER, "0"), "lost": "1"}
    assert run.wrong([row]) == 1
    assert (Outcome(lost=1) + Outcome(orphans=2)).violations == 3


def test_writing_elsewhere_would_be_seen(tmp_path):
    with watched(tmp_path / "home") as found:
        (tmp_path / "elsewhere").write_text("x")
    assert str(tmp_path / "elsewhere") in found
