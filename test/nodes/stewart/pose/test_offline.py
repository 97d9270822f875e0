# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The pose node and the command process_bag give the same numbers, bit for bit."""

from geometry_msgs.msg import PoseWithCovarianceStamped
import numpy as np
import pytest
from support.bench.pose_bench import ns, PoseBench
from support.recordings.bag_files import write_bag
from support.recordings.leg_recordings import COUNT, messages, motion, numbers, rows_of

from liedyn_ros.commands.bags import process_bag

pytestmark = pytest.mark.ros


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
