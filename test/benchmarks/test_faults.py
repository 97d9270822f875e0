# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""How the faults judge what a node did, and that the table of faults fits the nodes."""

from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus, KeyValue
import pytest
from support.bench.command_lines import NODES

from benchmarks.faults.__main__ import of, QUICK_FAULTS, QUICK_NODES
from benchmarks.faults.faults import FAULTS
from benchmarks.faults.figures import Record
from benchmarks.faults.subjects import SUBJECTS

pytestmark = pytest.mark.full


def record(good, wrong=(), stale=(), answered=range(100)):
    """Return what is heard of a node with an input each 0.1 s, from outputs and requests."""
    outputs = [(0.1 * k, k, k not in wrong, k not in stale) for k in good]
    return Record([(0.1 * k, k) for k in range(100)], outputs,
                  [(0.1 * k, 0.1 * k + 0.05, k in answered) for k in range(100)])


def test_a_node_that_was_away_is_back_after_its_first_good_output():
    away = record([*range(20), *range(50, 100)], answered=[*range(20), *range(60, 100)])
    outcome = away.outcome(2.0, 4.0, True)
    assert outcome == pytest.approx((30, 30, 0, 3.0, 1.0, 2.05, 40))


def test_nothing_is_lost_of_a_node_that_went_on():
    outcome = record(range(100)).outcome(2.0, 4.0, True)
    assert outcome == pytest.approx((20, 0, 0, 0.1, 0.0, 0.05, 0), abs=1e-9)


def test_outputs_that_answer_no_input_are_not_lost():
    assert record(range(100)).outcome(2.0, 4.0, False).lost is None


def test_outputs_that_answer_no_input_are_awaited_from_the_end_of_the_fault():
    away = record([*range(20), *range(70, 100)])
    away.inputs = away.inputs[60:]
    assert away.outcome(2.0, 4.0, False).back == pytest.approx(3.0)
    assert away.outcome(2.0, 4.0, True).back == pytest.approx(1.0)


def test_a_node_that_is_fed_works_once_its_input_is_heard():
    silent = record(range(100))
    silent.inputs = silent.inputs[:20]
    assert silent.works(4.0) and not silent.works(4.0, fed=True)
    assert record(range(100)).works(4.0, fed=True)
    late = record(range(100))
    late.inputs = late.inputs[95:]  # good outputs have to follow it
    assert late.works(4.0) and not late.works(4.0, fed=True)


@pytest.mark.parametrize('spoilt', ['wrong', 'stale'])
def test_an_output_that_is_wrong_or_stale_is_no_sign_of_life(spoilt):
    one = record(range(100), **{spoilt: {45}})
    assert one.back_at(4.0) == pytest.approx(4.6)
    assert one.outcome(2.0, 4.0, True).wrong == (spoilt == 'wrong')


def test_a_node_that_does_not_come_back_is_told():
    assert not record(range(45)).works(4.0)
    assert not record(range(100), answered=range(40)).works(4.0)
    with pytest.raises(ValueError, match='does not'):
        record(range(45)).outcome(2.0, 4.0, True)


def test_single_outputs_are_no_sign_of_life():
    assert record([*range(20), 45, 60, 75]).back_at(4.0) is None


def test_every_node_of_the_package_has_its_faults():
    assert {name: subject.module for name, subject in SUBJECTS.items()} == {
        **{name: module.removesuffix('.node') for name, module in NODES.items()},
        'view': 'liedyn_ros.view'}
    for subject in SUBJECTS.values():
        assert subject.output[1] not in dict(subject.inputs())
        assert len(of(subject, ())) >= len(FAULTS) - 4


def test_a_node_that_reports_once_a_second_works_after_two_reports():
    reports = Record([], [(float(k), k, k > 3, True) for k in range(7)],
                     [(float(k), k + 0.1, True) for k in range(7)], steady=2, max_gap=3.0)
    assert reports.back_at(1.0) == 4.0
    assert reports.works(4.0)
    assert not reports.works(5.5)


def test_the_pictures_of_a_view_are_its_sign_of_life():
    def report(**values):
        return DiagnosticArray(status=[DiagnosticStatus(
            name='view: page',
            values=[KeyValue(key=key, value=str(value)) for key, value in values.items()])])

    view = SUBJECTS['view']
    assert view.counts(report(taken=100, pictures=30))
    assert not view.counts(report(taken=0, pictures=30))
    assert not view.counts(report(taken=100, pictures=0))
    assert not view.counts(DiagnosticArray())
    assert view.good(report(address='http://127.0.0.1:8080'))
    assert not view.good(report(address='http://10.0.0.1:8080'))


def test_the_short_run_is_a_part_of_the_table():
    for node in QUICK_NODES:
        for word in QUICK_FAULTS:
            assert of(SUBJECTS[node], [word]), (node, word)
