# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The pose node and the command process_bag give the same numbers and words, bit for bit."""

from diagnostic_msgs.msg import DiagnosticArray
from geometry_msgs.msg import PoseWithCovarianceStamped
from liedyn_interfaces.msg import StewartStatus
import numpy as np
import pytest
from rosbags.rosbag2 import Reader
from support.bench.pose_bench import ns, PoseBench
from support.recordings.bag_files import write_bag
from support.recordings.leg_recordings import COUNT, messages, motion, numbers, rows_of

from liedyn_ros.commands.bags import process_bag
from liedyn_ros.commands.stewart.bag_processing.messages import STORE

pytestmark = pytest.mark.ros
LIVE_FIELDS = {'solve_time', 'age', 'passed_over'}
LIVE_VALUES = {'passed over', 'lost', 'rate, Hz', 'age median, ms', 'age greatest, ms'}
PARAMETERS = """
stewart_pose:
  ros__parameters: {diagnostics_rate: 4.0, length_bound: 0.0001, replace_outliers: false}
"""
REPORTED = 25, 50, COUNT - 1  # samples that end a period of 0.25 s


def test_live_and_offline_are_equal_bit_for_bit(bench, tmp_path):
    stamps, lengths = motion(start_ns=5_000_000_000)
    covariances = bench.collect(PoseWithCovarianceStamped, 'pose_with_covariance')
    live = PoseBench(bench, covariance_rate=0.0).settle()
    live.node._start_over()
    for stamp, row in zip(stamps, lengths):
        live.send(row, stamp_ns=stamp)
    live.pose_at(stamps[-1])
    live.twist_at(stamps[-1])
    bench.until(lambda: ns(covariances[-1]) == stamps[-1], 'the last covariance')
    poses, twists = ({ns(each): each for each in some} for some in (live.poses, live.twists))
    told = {ns(each): each.pose.covariance for each in covariances if ns(each) >= stamps[0]}
    bag = write_bag(tmp_path / 'bag', messages(stamps, lengths), topic='/leg_states')
    table = tmp_path / 'poses.csv'
    assert process_bag.main([str(bag), '--csv', str(table)]) == 0
    rows = rows_of(table)
    assert len(rows) == COUNT == len(poses)
    for stamp, row in zip(stamps, rows):
        p, q = poses[stamp].pose.position, poses[stamp].pose.orientation
        assert int(row['stamp [ns]']) == stamp
        assert numbers(row, 'position', 'orientation') == [p.x, p.y, p.z, q.x, q.y, q.z, q.w]
    for stamp, message in twists.items():
        row = rows[stamps.index(stamp)]
        w, v = message.twist.angular, message.twist.linear
        assert numbers(row, 'angular', 'linear') == [w.x, w.y, w.z, v.x, v.y, v.z]
    assert len(twists) >= COUNT - 1 and len(told) >= COUNT // 2
    for stamp, covariance in told.items():
        upper = np.asarray(covariance).reshape(6, 6)[np.triu_indices(6)]
        assert numbers(rows[stamps.index(stamp)], 'covariance') == upper.tolist()


def faulty_motion():
    """Return stamps and lengths with a leg that jumps, and with lengths of no pose."""
    stamps, lengths = motion(start_ns=5_000_000_000)
    lengths[30, 2] += 0.01
    lengths[40] = 5.0
    return stamps, lengths


def lived(bench, stamps, lengths):
    """Return the status of each sample, and the diagnostics after some, of a running node."""
    reports = bench.collect(DiagnosticArray, '/diagnostics')
    live = PoseBench(bench, diagnostics_rate=0.0, length_bound=1e-4,
                     replace_outliers=False).settle()
    live.node._start_over()
    for k, (stamp, row) in enumerate(zip(stamps, lengths)):
        live.send(row, stamp_ns=stamp)
        if k in REPORTED:
            known = len(reports)
            live.node._diagnostics.publish()
            bench.until(lambda known=known: len(reports) > known, 'a report')
    return {ns(each): each for each in live.statuses}, reports


def processed_bag(tmp_path, stamps, lengths):
    """Return the same of the command."""
    bag = write_bag(tmp_path / 'bag', messages(stamps, lengths), topic='/leg_states')
    (tmp_path / 'stewart.yaml').write_text(PARAMETERS)
    process_bag.main([str(bag), '--params', str(tmp_path / 'stewart.yaml'),
                      '--mcap', str(tmp_path / 'out')])
    found = {'/status': [], '/diagnostics': []}
    with Reader(tmp_path / 'out') as reader:
        for connection, _, data in reader.messages(
                [each for each in reader.connections if each.topic in found]):
            found[connection.topic].append(STORE.deserialize_cdr(data, connection.msgtype))
    return found['/status'], found['/diagnostics']


def test_status_and_diagnostics_are_those_of_the_node(bench, tmp_path):
    stamps, lengths = faulty_motion()
    live, reports = lived(bench, stamps, lengths)
    offline, told = processed_bag(tmp_path, stamps, lengths)
    assert [ns(each) for each in offline] == stamps
    names = set(StewartStatus.get_fields_and_field_types()) - LIVE_FIELDS - {'header'}
    for each in offline:
        one = live[ns(each)]
        assert one.header.frame_id == each.header.frame_id
        for name in names:
            assert np.array_equal(getattr(one, name), getattr(each, name)), name
        assert all(getattr(each, name) == 0 for name in LIVE_FIELDS)
    assert {each.status for each in offline} == {StewartStatus.CONVERGED, StewartStatus.REJECTED}
    assert any(each.suspected_legs for each in offline)
    assert any(each.certified for each in offline)
    assert [ns(each) for each in told] == [stamps[k] for k in REPORTED]
    assert [statuses(each) for each in told] == [statuses(each) for each in reports]
    levels = {level for each in told for level, *_ in statuses(each).values()}
    assert {0, 1} <= levels


def statuses(report):
    """Return level, words and values of each part, but for the values of a running node."""
    return {each.name.rpartition('stewart_pose: ')[2]: (
        each.level if isinstance(each.level, int) else each.level[0], each.message,
        each.hardware_id, [(value.key, value.value) for value in each.values
                           if value.key not in LIVE_VALUES]) for each in report.status}
