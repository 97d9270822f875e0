# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""A pose node that is behind: the newest is published, what was passed over is counted."""

from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus
import numpy as np
import pytest
from support.bench.pose_bench import NEAR, ns, PERIOD_NS

pytestmark = pytest.mark.ros


def behind(node, count, send=None):
    """Send samples while the node is held in the first of them; return the last stamp."""
    send = send or (lambda _: node.send_pose(NEAR, wait=False))
    stream = node.node._stream
    with node.node.lock:
        taken = stream.taken
        node.send_pose(NEAR, wait=False)
        node.bench.until(lambda: stream.taken > taken, 'the first')
        for k in range(1, count):
            last = send(k)
    return last


def test_the_newest_of_all_that_wait_is_published_and_the_rest_counted(tracking):
    node = tracking()
    last = behind(node, 6)
    np.testing.assert_allclose(node.pose_at(last), NEAR, atol=1e-9)
    assert node.status_at(last).passed_over == 4
    assert [ns(pose) for pose in node.poses] == [last - 5 * PERIOD_NS, last]


def test_each_sample_that_is_passed_over_is_tracked(tracking):
    """An event of one of them, here a clock that was set back, is reported with the newest."""
    node = tracking()
    before, node.stamp_ns = node.stamp_ns, 100_000_000_000
    last = behind(node, 4, lambda k: node.send_pose(
        NEAR, stamp_ns=before + k * PERIOD_NS, wait=False))
    status = node.status_at(last)
    assert status.flags & status.FLAG_RESTARTED and status.passed_over == 1


def test_a_refused_sample_among_them_is_told_beside_the_newest(tracking):
    node = tracking()
    stamps = [
        lambda: node.send([0.5, 0.5], ['a', 'b'], wait=False),
        lambda: node.send_pose(NEAR, wait=False)]
    last = behind(node, 3, lambda k: stamps[k - 1]())
    refused = last - PERIOD_NS
    np.testing.assert_allclose(node.pose_at(last), NEAR, atol=1e-9)
    assert node.status_at(refused).status == node.status_at(refused).REJECTED


def test_diagnostics_warn_of_samples_that_are_passed_over(tracking):
    node = tracking(diagnostics_rate=0.0)
    reports = node.bench.collect(DiagnosticArray, '/diagnostics')
    node.node._diagnostics.clear()
    behind(node, 6)
    node.bench.set_parameters(node.node, diagnostics_rate=100.0)
    status = node.bench.until(lambda: next((
        status for report in reports for status in report.status
        if status.name == node.node.status_name('input') and 'passed over' in status.message),
        None), 'a warning')
    values = {entry.key: entry.value for entry in status.values}
    assert status.level == DiagnosticStatus.WARN and values['passed over'] == '4'
    assert status.message == 'too slow: of 6 samples 4 were passed over and 0 lost'


def test_nobody_is_warned_of_few(tracking):
    node = tracking(diagnostics_rate=0.0, missed_warning=0.7)
    reports = node.bench.collect(DiagnosticArray, '/diagnostics')
    node.node._diagnostics.clear()
    last = behind(node, 6)
    node.status_at(last)
    node.bench.set_parameters(node.node, diagnostics_rate=100.0)
    status = node.bench.until(lambda: next((
        status for report in reports for status in report.status
        if status.name == node.node.status_name('input') and status.values[3].value == '4'),
        None), 'a report')
    assert (status.level, status.message) == (DiagnosticStatus.OK, 'tracking')


def test_a_stale_pose_is_told_however_many_fresh_ones_came_before(tracking):
    node = tracking(diagnostics_rate=0.0)
    reports = node.bench.collect(DiagnosticArray, '/diagnostics')
    with node.node.lock:
        node.node._diagnostics.clear()
        for age in (*[0.001] * 10_000, 2.0):
            node.node._diagnostics.published(age, 0)
        node.node._health._now.solved = 10_001
    node.bench.set_parameters(node.node, max_age=1.0, diagnostics_rate=100.0)
    status = node.bench.until(lambda: next((
        status for report in reports for status in report.status
        if status.name == node.node.status_name('input') and status.values[0].value == '10001'),
        None), 'a report')
    values = {entry.key: entry.value for entry in status.values}
    assert status.level == DiagnosticStatus.WARN
    assert 'too slow: a pose was published 2000 ms after its lengths' in status.message
    assert (values['age median, ms'], values['age greatest, ms']) == ('1.00', '2000.00')
