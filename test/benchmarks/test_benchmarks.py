# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Losses that benchmarks count, their load on the machine, and the tables they write."""

import argparse
import json

import pytest

from benchmarks import document
from benchmarks.algorithms import independent_loops
from benchmarks.nodes.accounts import account, joined, Loss
from benchmarks.record import origin
from benchmarks.stewart import calibration
from benchmarks.stewart.document import with_tables
from liedyn_ros.commands.work import LOCAL_WORK

MS = 1_000_000


def accounts(lost, over, begin=0, end=990):
    """Return the accounts, in ms, of a sample a millisecond; over: what each status tells."""
    unanswered = set(lost).union(*(range(at - n, at) for at, n in over.items()))
    answered = [k for k in range(1, 1001) if k not in unanswered]
    sent, passed, losses = account(
        [MS * k for k in range(1, 1001)], [MS * k for k in answered],
        [(MS * k, over.get(k, 0)) for k in answered], MS * begin, MS * end)
    return sent, passed, [(x.after // MS, x.before // MS, x.samples) for x in losses]


def test_nothing_is_lost_that_was_answered_or_passed_over():
    assert accounts([], {100: 3, 200: 7}) == (989, 10, [])


def test_what_is_missing_between_two_answers_is_lost():
    assert accounts([*range(300, 320), 98], {}) == (989, 0, [(97, 99, 1), (299, 320, 20)])


def test_lost_and_passed_over_in_one_gap():
    assert accounts([95, 96], {100: 3}) == (989, 3, [(94, 100, 2)])


def test_the_last_gap_reaches_to_the_next_answer():
    assert accounts(range(985, 995), {}) == (989, 0, [(984, 995, 10)])


def test_a_node_that_is_silent_loses_everything():
    assert accounts(range(1, 1001), {}) == (989, 0, [(0, 990, 989)])


def test_a_status_counts_where_its_pose_was_lost():
    sent, reported = [MS * k for k in range(1, 11)], [(MS * 6, 3), (MS * 7, 0)]
    losses = account(sent, [2 * MS, 7 * MS], reported, 2 * MS, 7 * MS)[2]
    assert losses == [Loss(2 * MS, 7 * MS, 1)]


def test_a_loss_in_one_turn_is_a_loss_of_all():
    assert joined([
        {'lost %': lost, 'age median': age, 'longest gap': gap, 'out of order': 1}
        for lost, age, gap in ((0.0, 1.0, 3.0), (3.0, 9.0, 2.0), (0.0, 2.0, 1.0))
    ]) == {'lost %': 1.0, 'age median': 2.0, 'longest gap': 3.0, 'out of order': 3.0}


def test_a_table_of_the_tracker_is_written_beside_its_page(tmp_path, monkeypatch):
    """Twice the same; a table without figures stays as it is."""
    monkeypatch.setattr(document, 'TABLES', tmp_path)
    text = 'before\n<!-- figures: bounds -->\nold\n<!-- end -->\nafter\n'
    assert with_tables(text, tmp_path) == text
    rows = [{'kind': 'step', 'size': 1e-3, 'acceleration': 1.0, 'rate': rate, 'runs': 24,
             'named': named, 'bound': [0.5], 'smoothed': 24}
            for rate, named in ((500, 24), (100, 6))]
    (tmp_path / 'stewart_bounds.json').write_text(json.dumps(
        {'measured': origin(), 'bounds': rows}))
    written = with_tables(text, tmp_path)
    assert (tmp_path / 'leg_faults.csv').read_text() == (
        'fault,leg_acceleration,100 Hz,500 Hz\n'
        '"step, 1 mm",1 m/s^2,25 / 50 / 100,100 / 50 / 100\n')
    assert 'old' not in written and with_tables(written, tmp_path) == written


@pytest.mark.full
def test_calibrations_of_a_few_platforms():
    """Errors fall to a few per cent, and are as large as the covariance says."""
    found = calibration.summary([calibration.random_platform(k) for k in range(3)])
    assert found['offered'] == 1.0
    assert found['position after, rms, um'] < 0.05 * found['position before, median, um']
    assert 2.0 < found['pose NEES of 6, mean'] < 12.0
    assert 0.4 < found['squared errors over those of the bound, mean'] < 2.0
    row = calibration.trials('full, frames unknown', argparse.Namespace(
        trials=2, **vars(LOCAL_WORK)))
    assert (row['numbers'], row['offered']) == (36, 1.0)
    assert 0.4 < row['NEES over numbers'] < 2.0


def test_linkages_that_are_timed_move_as_one():
    for closure in independent_loops.CLOSURES:
        calls = independent_loops.calls(2, closure, independent_loops.moving(closure))
        assert {call.function(*call.arguments) is None for call in calls.values()} == {False}
