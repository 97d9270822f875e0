# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""How the soak of all nodes judges: causes of losses, and memory that grows."""

from contextlib import ExitStack
from multiprocessing import active_children
import os
import signal
import time
from types import SimpleNamespace

from builtin_interfaces.msg import Time
from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus, KeyValue
import numpy as np
import pytest
import rclpy
from std_msgs.msg import Header
from std_srvs.srv import Trigger

from benchmarks.nodes.accounts import Loss
from benchmarks.nodes.caller import Caller, Question
from benchmarks.nodes.heartbeat import explains, Heartbeat, lateness, merge
from benchmarks.nodes.memory import grows, growth, shows
from benchmarks.recorder import Record
from benchmarks.together.causes import CAUSES, causes, Count, MACHINE, NODE, NONE, RECORDER
from benchmarks.together.flows import Flow, Reports
from benchmarks.together.soak import Soak, verdicts
from liedyn_ros.demo.verdict import Outcome
from liedyn_ros.ros.qos import SERVICES
from liedyn_ros.ros.streams.stream import UnservedCallbackGroup

pytestmark = pytest.mark.full

MS = 1_000_000
NEVER = np.empty((0, 2), np.int64)
RATE = 100.0  # Hz


def losses(*some):
    return [Loss(MS * after, MS * before, samples) for after, before, samples in some]


def counts(*some):
    return [Count(MS * begin, MS * end, samples) for begin, end, samples in some]


def test_a_loss_that_nobody_counted_has_no_cause():
    lost = losses((5000, 5040, 3))
    found, without = causes(lost, [], [], NEVER, RATE)
    assert (found, without) == ({**dict.fromkeys(CAUSES, 0), NONE: 3}, lost)


@pytest.mark.parametrize(('counted', 'unheard', 'expected'), [
    ([(4500, 5500, 3)], [], (3, 0, 0)), ([], [(5039, 5041, 3)], (0, 3, 0)),
    ([(4500, 5500, 2)], [], (2, 0, 1)), ([(4500, 5500, 2)], [(5039, 5041, 9)], (2, 1, 0)),
    ([(8000, 9000, 3)], [(1000, 2000, 3)], (0, 0, 3))], ids=str)
def test_a_count_explains_as_many_samples_in_its_time(counted, unheard, expected):
    found, _ = causes(losses((5000, 5040, 3)), counts(*counted), counts(*unheard), NEVER, RATE)
    assert tuple(found[cause] for cause in (NODE, RECORDER, NONE)) == expected


def test_a_count_explains_no_sample_twice():
    found, without = causes(losses((5000, 5040, 3), (5100, 5140, 3)), counts((4500, 5500, 4)), [],
                            NEVER, RATE)
    assert (found[NODE], found[NONE], without) == (4, 2, losses((5100, 5140, 2)))


def test_earlier_losses_leave_later_counts_to_later_losses():
    counted = counts((6000, 7000, 1), (5000, 6000, 1))
    found, _ = causes(losses((5500, 5540, 1), (6990, 7000, 1)), counted, [], NEVER, RATE)
    assert (found[NODE], found[NONE]) == (2, 0)


def test_a_count_explains_nothing_again_in_the_next_minute():
    counted = counts((4500, 5500, 3))
    found = [causes(losses((5000, 5040, 2)), counted, [], NEVER, RATE)[0] for _ in range(2)]
    assert [each[NONE] for each in found] == [0, 1]


def times(*pairs):
    return MS * np.array(pairs, np.int64).reshape(-1, 2)


@pytest.mark.parametrize(('late', 'loss', 'explained'), [
    ([(4990, 5120)], (5000, 5130, 2), True), ([(4900, 4930), (5000, 5040)], (5000, 5040, 3), True),
    ([(5000, 5050)], (5000, 5040, 3), False), ([(5000, 5120)], (5000, 5500, 40), False),
    ([(4000, 4800), (5300, 6000)], (5000, 5040, 3), False), ([], (5000, 5020, 1), False)], ids=str)
def test_a_late_machine_explains_what_its_queue_could_not_hold(late, loss, explained):
    """At 100 Hz a queue holds 100 ms; half of that, and of the lost samples, must be late."""
    found, without = causes(losses(loss), [], [], times(*late), RATE)
    assert (found[MACHINE], found[NONE]) == ((loss[2], 0) if explained else (0, loss[2]))
    assert bool(without) is not explained


def test_lateness_counts_once_and_within_its_window():
    late = merge(times((150, 160), (100, 120), (110, 130)))
    np.testing.assert_array_equal(late, times((100, 130), (150, 160)))
    assert lateness(late, 0, 1e9) == 40 * MS
    assert lateness(late, 120 * MS, 155 * MS) == 15 * MS
    assert explains(late, 0, 1e9, 80 * MS) and not explains(late, 0, 1e9, 81 * MS)


def test_a_machine_that_stands_still_is_late():
    with ExitStack() as stack:
        heartbeat = Heartbeat(stack)
        process = active_children()[0]
        begin = time.time_ns()
        os.kill(process.pid, signal.SIGSTOP)
        time.sleep(0.3)
        os.kill(process.pid, signal.SIGCONT)
        end, found = time.time_ns(), NEVER
        limit = time.monotonic() + 60.0
        while time.monotonic() < limit and lateness(found, begin, end) < 200 * MS:
            found = merge(np.concatenate([found, heartbeat.take()]))
    assert lateness(found, begin, end) >= 200 * MS


def test_reports_that_are_heard_late_explain_losses_of_their_time():
    """As while an answer is awaited for seconds: reports of four seconds are heard together."""
    reports = Reports()
    for second in range(5, 9):
        reports.hear(DiagnosticArray(
            header=Header(stamp=Time(sec=second)), status=[DiagnosticStatus(
                name='node: input', values=[KeyValue(key='lost', value='1')])]))
    lost = losses(*((1000 * second - 500, 1000 * second - 480, 1) for second in range(5, 9)))
    assert not causes(lost, reports.of(['node: input'], 0), [], NEVER, RATE)[1]


SCATTER = np.random.default_rng(53)


@pytest.mark.parametrize('held', [
    [90.0, 92.0, 93.2, *[93.2] * 57], list(150.0 + 6.0 * np.tanh(np.arange(60) / 5.0)),
    list(100.0 + SCATTER.normal(0.0, 0.5, 60)),
    list(100.0 + np.cumsum(0.4 * (SCATTER.random(60) < 0.1)))],
    ids=['14', 'warm', 'noise', 'now'])
def test_what_grows_once_or_now_and_then_does_not_grow_on(held):
    assert not grows(held)


@pytest.mark.parametrize('held', [
    list(100.0 + 0.05 * np.arange(60)), [40.0 + k // 2 for k in range(60)],
    list(100.0 + np.cumsum(SCATTER.exponential(0.1, 60)) + SCATTER.normal(0.0, 0.03, 60))],
    ids=['steady', 'files', 'scattered'])
def test_a_leak_grows_on(held):
    assert grows(held)
    assert growth(held)[0] == pytest.approx((held[-1] - held[20]) / 39)


def test_a_short_run_does_not_show_a_leak():
    assert [shows(minutes) for minutes in (1, 3, 30, 60)] == [False, False, False, True]


def rows(minutes=60, **changes):
    """Return figures of minutes in which all went well."""
    row = {'memory MB': {'node': 100.0}, 'bare node MB': 60.0, 'files and threads': {'node': 40},
           'log MB': {'node': 1.0},
           'attacks': 600, 'machine late %': 3.0,
           'flows': {'pose': {'rate': RATE, 'sent a second': 99.0, 'lost': {NONE: 0}}},
           'answers': {'answered': 3000, 'late': [], 'wrong': [], 'late without a cause': []}}
    return [{**row, **{name: value(minute) for name, value in changes.items()}}
            for minute in range(minutes)]


def answers(minute, kind, *found, **others):
    return {'answered': 3000, 'late': [], 'wrong': [], 'late without a cause': [], **others,
            kind: list(found) if minute == 7 else []}


@pytest.mark.parametrize(('changes', 'unanswered', 'expected'), [
    ({}, [], 'HELD HELD HELD'),
    ({'memory MB': lambda k: {'node': 100.0 + 0.1 * k}}, [], 'NOT_HELD HELD HELD'),
    ({'memory MB': lambda k: {'node': 100.0 + 0.1 * k}, 'bare node MB': lambda k: 60.0 + 0.1 * k},
     [], 'HELD HELD HELD'),
    ({'memory MB': lambda k: {'node': 100.0 + 0.2 * k}, 'bare node MB': lambda k: 60.0 + 0.1 * k},
     [], 'NOT_HELD HELD HELD'),
    ({'files and threads': lambda k: {'node': 40 + k // 2}}, [], 'NOT_HELD HELD HELD'),
    ({'log MB': lambda k: {'node': 0.2 * k}}, [], 'NOT_HELD HELD HELD'),
    ({'attacks': lambda _: 0}, [], 'NOT_SHOWN HELD HELD'),
    ({'flows': lambda k: {'pose': {'rate': RATE, 'sent a second': 99.0, 'lost': {NONE: k == 7}}}},
     [], 'HELD NOT_HELD HELD'),
    ({'flows': lambda k: {'pose': {'rate': RATE, 'sent a second': 9.0, 'lost': {NONE: k == 7}}},
      'machine late %': lambda _: 90.0}, [], 'HELD NOT_HELD HELD'),
    ({'flows': lambda _: {'pose': {'rate': RATE, 'sent a second': 9.0, 'lost': {NONE: 0}}}},
     [], 'HELD NOT_SHOWN HELD'),
    ({'machine late %': lambda _: 90.0}, [], 'HELD NOT_SHOWN HELD'),
    ({'answers': lambda k: answers(k, 'wrong', ('solve', 1))}, [], 'HELD HELD NOT_HELD'),
    ({'answers': lambda k: answers(k, 'late', ('solve', 1, 2))}, [], 'HELD HELD HELD'),
    ({'answers': lambda k: answers(k, 'late without a cause', ('solve', 1))}, [],
     'HELD HELD NOT_HELD'),
    ({'answers': lambda k: answers(k, 'wrong', ['run', 1], late=[['run', 1, 9]])}, [],
     'HELD HELD HELD'),
    ({'answers': lambda k: answers(k, 'wrong', ('run', 1), ('run', 2), late=[('run', 1, 9)])}, [],
     'HELD HELD NOT_HELD'),
    ({'machine late %': lambda _: 90.0}, [('solve', 1)], 'HELD NOT_SHOWN NOT_HELD')])
def test_what_is_wrong_is_found_and_a_busy_machine_is_no_fault(changes, unanswered, expected):
    found = verdicts(rows(**changes), unanswered, 60)
    assert [each.outcome for each in found.values()] == [Outcome[x] for x in expected.split()]


def test_a_run_that_ended_early_shows_nothing():
    assert {each.outcome for each in verdicts(rows(40), [], 60).values()} == {Outcome.NOT_SHOWN}


@pytest.fixture
def started():
    """Start ROS for what makes nodes of its own."""
    rclpy.init()
    yield
    rclpy.try_shutdown()


def test_answers_come_late_or_never_or_wrong(bench, started, monkeypatch):
    monkeypatch.setattr('benchmarks.nodes.caller.ANSWER', 0.05)

    def serve(name, success=True, pause=0.0, group=None):
        def answer(_, response):
            time.sleep(pause)
            response.success = success
            return response
        service = bench.partner.create_service(
            Trigger, name, answer, qos_profile=SERVICES, callback_group=group)
        return Question(Trigger, service.service_name, lambda _: Trigger.Request(),
                        lambda response: response.success)

    silent, wrong, slow = asked = [
        serve('silent', group=UnservedCallbackGroup()), serve('wrong', success=False),
        serve('slow', pause=0.1)]
    caller, late, told = Caller(50.0, asked, lambda _: None), set(), set()

    def heard():
        calls = caller.take()
        late.update(name for name, *_ in calls.late)
        told.update(name for name, *_ in calls.wrong)
        return slow.name in late and told
    try:
        bench.until(heard, 'answers')
        assert told == {wrong.name}
        assert silent.name in {name for name, _ in caller.finish(0.0)}
        assert silent.name not in late
    finally:
        caller.end()


def test_a_loss_across_two_minutes_is_told_once():
    sent = np.arange(900, 1100, 10) * MS
    heard = [stamp for stamp in sent.tolist() if stamp not in (990 * MS, 1000 * MS)]
    record = Record(heard, heard, [])
    output = SimpleNamespace(record=record, passed_over=lambda _: [], unheard=[])
    flow = Flow('joints', 100.0, lambda: sent, output, ('node: input',))
    found = [flow.figures(begin * MS, end * MS, Reports(), NEVER).lost[NONE]
             for begin, end in ((900, 1000), (1000, 1090))]
    assert found == [2, 0]


def test_what_a_machine_loses_while_it_is_put_back_is_no_loss(monkeypatch):
    monkeypatch.setattr('benchmarks.together.soak.SETTLED', 0.0)
    begin, asked = time.time_ns(), []
    flows = [Flow(place, RATE, None, None, (f'{place}/node: input',)) for place in ('a', 'b')]
    Soak._put_back(SimpleNamespace(
        _caller=SimpleNamespace(ask=asked.append), _resets={'a': ['calls of a']}, members=[],
        _flows=SimpleNamespace(flows=flows)), ['a'])
    assert asked == [['calls of a']]
    assert flows[0].counted >= begin and flows[1].counted == 0
