"""The benchmark of black boxes: what disturbs them, and what its tables say."""

import sys
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from benchmarks import blackbox, boxes

from anymetric.metrics import FunctionMetric


def test_a_fifth_fail_and_a_twentieth_hang(monkeypatch):
    slept = []
    monkeypatch.setattr(boxes.time, "sleep", slept.append)
    disturb, failed = boxes.failing(np.random.default_rng(0)), 0
    for call in range(2000):
        try:
            disturb(call, 0.5)
        except OSError:
            failed += 1
    assert failed / 2000 == pytest.approx(0.2, abs=0.03)
    assert len(slept) / 2000 == pytest.approx(0.05, abs=0.015)


def test_a_box_counts_what_it_is_asked():
    share = FunctionMetric(lambda y, p: float(np.mean(p)), True, "decisions", name="share")
    box = boxes.Box(share, boxes.once(2))
    said = [box(np.ones(2), np.array([0, 1])) for _ in range(3)]
    assert np.isnan(said[1])
    assert (said[0], said[2], box.calls) == (0.5, 0.5, 3)


def test_one_failure_costs_no_more_than_five_calls():
    whole, cut = blackbox.failed_once(0), blackbox.failed_once(7)
    assert whole.calls < cut.calls <= whole.calls + 5
    assert cut.value == whole.value


def test_shares_are_of_the_whole_gain():
    values = {"threshold tuning": 0.5, "anymetric": 0.7, "anymetric, 20 calls": 0.65}
    rows = [
        blackbox.Row("compas_f3", name, seed, value, 9)
        for name, value in values.items()
        for seed in (0, 1)
    ]
    table = blackbox.gains(rows, ["anymetric", "anymetric, 20 calls"]).splitlines()
    line = next(one for one in table if "whole gain, other functions" in one)
    assert [cell.strip() for cell in line.split("|")[2:4]] == ["100 %", "75 %"]
