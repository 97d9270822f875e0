# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""How the soak of all nodes judges: causes of losses, and memory that grows."""

import os
from types import SimpleNamespace

from builtin_interfaces.msg import Time
from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus, KeyValue
import numpy as np
import pytest
from std_msgs.msg import Header

from benchmarks.neighbours import busy, processor_time
from benchmarks.nodes.accounts import Loss
from benchmarks.nodes.memory import growth
from benchmarks.recorder import Record
from benchmarks.together.causes import (
    CAUSES, causes, Count, MACHINE, NODE, NONE, OTHERS, RECORDER)
from benchmarks.together.flows import Flow, Reports

pytestmark = pytest.mark.full

MS = 1_000_000
NEVER = np.empty((0, 2), np.int64)


def losses(*some):
    return [Loss(MS * after, MS * before, samples) for after, before, samples in some]


def counts(*some):
    return [Count(MS * begin, MS * end, samples) for begin, end, samples in some]


def test_a_loss_that_nobody_counted_has_no_cause():
    lost = losses((5000, 5040, 3))
    found, without = causes(lost, [], [], NEVER, NEVER)
    assert (found, without) == ({**dict.fromkeys(CAUSES, 0), NONE: 3}, lost)


@pytest.mark.parametrize(('counted', 'unheard', 'expected'), [
    ([(4500, 5500, 3)], [], (3, 0, 0)), ([], [(5039, 5041, 3)], (0, 3, 0)),
    ([(4500, 5500, 2)], [], (2, 0, 1)), ([(4500, 5500, 2)], [(5039, 5041, 9)], (2, 1, 0)),
    ([(8000, 9000, 3)], [(1000, 2000, 3)], (0, 0, 3))], ids=str)
def test_a_count_explains_as_many_samples_in_its_time(counted, unheard, expected):
    found, _ = causes(losses((5000, 5040, 3)), counts(*counted), counts(*unheard), NEVER, NEVER)
    assert tuple(found[cause] for cause in (NODE, RECORDER, NONE)) == expected


def test_a_count_explains_no_sample_twice():
    found, without = causes(losses((5000, 5040, 3), (5100, 5140, 3)), counts((4500, 5500, 4)), [],
                            NEVER, NEVER)
    assert (found[NODE], found[NONE], without) == (4, 2, losses((5100, 5140, 2)))


def test_earlier_losses_leave_later_counts_to_later_losses():
    counted = counts((6000, 7000, 1), (5000, 6000, 1))
    found, _ = causes(losses((5500, 5540, 1), (6990, 7000, 1)), counted, [], NEVER, NEVER)
    assert (found[NODE], found[NONE]) == (2, 0)


def test_a_count_explains_nothing_again_in_the_next_minute():
    counted = counts((4500, 5500, 3))
    found = [causes(losses((5000, 5040, 2)), counted, [], NEVER, NEVER)[0] for _ in range(2)]
    assert [each[NONE] for each in found] == [0, 1]


def test_a_stall_of_the_machine_explains_what_was_lost_about_it():
    outages = MS * np.array([(5000, 5030)], np.int64)
    found, _ = causes(
        losses((4995, 5040, 3), (8000, 8040, 1)), [], [], outages, NEVER)
    assert (found[MACHINE], found[NONE]) == (3, 1)


def test_other_programs_explain_what_was_lost_beside_them():
    """From a second before the one in which they were seen to have much of a processor."""
    shares = (0.9, 0.9, 0.1, 0.2, 0.3)
    looks = np.array([(1e9 * (5 + i), 1e9 * (6 + i), x) for i, x in enumerate(shares)])
    np.testing.assert_array_equal(busy(looks), 1e9 * np.array([(4, 7), (8, 10)]))
    found, without = causes(
        losses((4300, 6900, 2), (5500, 5540, 3), (7500, 7540, 4)), [], [], NEVER, busy(looks))
    assert (found[OTHERS], without) == (5, losses((7500, 7540, 4)))
    assert not len(busy(looks[2:4]))


def test_the_time_of_a_run_is_not_that_of_other_programs(tmp_path):
    for pid, parent, ticks in ((1, 0, '0 1 2 3'), (7, 1, '10 0 0 0'), (8, 7, '20 0 0 0'),
                               (9, 8, '300 0 0 0'), (10, 1, '1000 0 0 0')):
        (tmp_path / str(pid)).mkdir()
        (tmp_path / str(pid) / 'stat').write_text(
            f'{pid} (a (b) c) S {parent} {"0 " * 9}{ticks} 20 0')
    (tmp_path / '11').mkdir()  # of a process that has ended meanwhile
    (tmp_path / 'self').mkdir()
    assert processor_time(7, tmp_path) * os.sysconf('SC_CLK_TCK') == pytest.approx(1306)


def test_reports_that_are_heard_late_explain_losses_of_their_time():
    """As while an answer is awaited for seconds: reports of four seconds are heard together."""
    reports = Reports()
    for second in range(5, 9):
        reports.hear(DiagnosticArray(
            header=Header(stamp=Time(sec=second)), status=[DiagnosticStatus(
                name='node: input', values=[KeyValue(key='lost', value='1')])]))
    lost = losses(*((1000 * second - 500, 1000 * second - 480, 1) for second in range(5, 9)))
    assert not causes(lost, reports.of(['node: input'], 0), [], NEVER, NEVER)[1]


@pytest.mark.parametrize(('held', 'more'), [
    ([9.0, 9.0, 9.0], 0.0), ([9.0, 9.0, 9.5], 0.5), ([9.0, 8.0, 8.0], 0.0),
    ([9.0, 12.0, *[12.0] * 13], 0.0), ([9.0, *[12.0] * 14, 12.25], 0.25)], ids=str)
def test_memory_may_grow_in_the_first_minutes_only(held, more):
    assert growth([{'node': each} for each in held]) == {'node': pytest.approx(more)}


def test_a_loss_across_two_minutes_is_told_once():
    sent = np.arange(900, 1100, 10) * MS
    heard = [stamp for stamp in sent.tolist() if stamp not in (990 * MS, 1000 * MS)]
    record = Record(heard, heard, [])
    output = SimpleNamespace(record=record, passed_over=lambda _: [], unheard=[])
    flow = Flow('joints', 100.0, lambda: sent, output, ('node: input',))
    found = [flow.figures(begin * MS, end * MS, Reports(), NEVER, NEVER).lost[NONE]
             for begin, end in ((900, 1000), (1000, 1090))]
    assert found == [2, 0]
