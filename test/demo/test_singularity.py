# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The demo of a singularity: what it says of a plain solver and of the node."""

from geometry_msgs.msg import PoseStamped
from liedyn_interfaces.msg import StewartStatus
import numpy as np
import pytest
from sensor_msgs.msg import JointState

from liedyn_ros.common.resources import config_file
from liedyn_ros.demo.stewart import plots
from liedyn_ros.demo.stewart.crossing import Crossing, WRONG_DISTANCE
from liedyn_ros.demo.stewart.singularity import (
    CROSSING_FREQUENCY, CROSSING_NOISE, CROSSING_RATE, CROSSING_TIME, CROSSING_TURN, HOME_POSITION,
    HOME_TURN, judge, NOISE_SEED, report)
from liedyn_ros.demo.verdict import NotShownError, Outcome
from liedyn_ros.lie import se3, so3
from liedyn_ros.ros.messages.conversions import stamp_of, to_pose
from liedyn_ros.stewart import (
    Flag, LegSimulation, load_geometry, MonitorConfig, MonitoredTracker, SmoothTrajectory)
from liedyn_ros.stewart.reports.health import SINGULARITY

pytestmark = pytest.mark.ros
BEGIN, STEP = 1_000_000_000, round(1e9 / CROSSING_RATE)  # ns
GEOMETRY = load_geometry(config_file('stewart_geometry.yaml'))


def stamped(message_type, stamp, **values):
    message = message_type(**values)
    message.header.stamp = stamp_of(stamp)
    return message


def posed(stamp, pose):
    message = stamped(PoseStamped, stamp)
    to_pose(pose, message.pose)
    return stamp, message


@pytest.fixture(scope='module')
def recording():
    """Return what the nodes of the demo publish, computed here: truth, legs, poses, status."""
    home = se3.from_rotation_translation(so3.exp(HOME_TURN), HOME_POSITION)
    motion = SmoothTrajectory(home, np.array([0.0, 0.0, CROSSING_TURN, 0.0, 0.0, 0.0]),
                              np.full(6, CROSSING_FREQUENCY), np.zeros(6))
    simulation = LegSimulation(GEOMETRY, motion, CROSSING_RATE, length_noise=CROSSING_NOISE,
                               dropout_probability=0.0, seed=NOISE_SEED)
    tracker = MonitoredTracker(GEOMETRY, home, config=MonitorConfig(
        leg_noise=CROSSING_NOISE, hold_hypotheses=True))
    truths, legs, poses, statuses = [], [], [], []
    for k in range(round(CROSSING_TIME * CROSSING_RATE)):
        stamp, sample = BEGIN + k * STEP, simulation.take()
        found = tracker.track(stamp, sample.lengths)
        truths.append(posed(stamp, sample.pose))
        legs.append((stamp, stamped(JointState, stamp, position=sample.lengths.tolist())))
        poses.append(posed(stamp, found.pose))
        statuses.append((stamp, stamped(StewartStatus, stamp, flags=int(found.flags))))
    return truths, legs, poses, statuses


def test_a_plain_solver_goes_wrong_in_silence_and_ours_does_not(recording, capsys, tmp_path):
    crossing = Crossing.of(GEOMETRY, *recording)
    report(crossing)
    assert judge(crossing).outcome is Outcome.HELD
    assert crossing.plain_errors[-1] > 1.0
    assert crossing.our_errors[-1] < 1e-3
    wrong = crossing.times[crossing.plain_errors > WRONG_DISTANCE]  # from there on, all
    assert abs(wrong[0] - crossing.crossed_at) < 0.1
    assert (crossing.plain_errors[crossing.times >= wrong[0]] > WRONG_DISTANCE).all()
    text = capsys.readouterr().out
    for flag in (Flag.BRANCH_CROSSED, Flag.BRANCH_UNSURE):
        assert SINGULARITY[flag] in text
    plots.draw_crossing(crossing, tmp_path)
    assert {path.suffix for path in tmp_path.iterdir()} == {'.png', '.pdf', '.csv'}


def test_a_node_that_follows_the_wrong_branch_in_silence_fails(recording):
    truths, legs, _, statuses = recording
    plain = Crossing.of(GEOMETRY, *recording).plain
    wrong = [posed(stamp, pose) for (stamp, _), pose in zip(truths, plain)]
    verdict = judge(Crossing.of(GEOMETRY, truths, legs, wrong, statuses))
    assert verdict.outcome is Outcome.NOT_HELD
    assert len(verdict.faults) == 2


@pytest.mark.parametrize('kept', [
    slice(0, 1), slice(0, 400), slice(0, -5), slice(600, None), slice(0, None, 3)],
    ids=['one', 'before', 'no end', 'behind', 'every third'])
def test_part_of_a_passage_shows_nothing(recording, kept):
    """A recorder that stops, begins late or loses messages is no evidence of anything."""
    truths, legs, poses, statuses = recording
    for topics in ((truths[kept], legs[kept], poses[kept], statuses[kept]),
                   (truths, legs, poses[kept], statuses[kept])):
        verdict = judge(Crossing.of(GEOMETRY, *topics))
        assert verdict.outcome is Outcome.NOT_SHOWN
        assert verdict.missing


def test_a_motion_without_a_singularity_shows_nothing(recording):
    truths, legs, poses, statuses = recording
    still = [[(stamp, stamped(type(first), stamp, **{field: getattr(first, field)}))
              for stamp, _ in topic]
             for topic, field, (_, first) in ((truths, 'pose', truths[0]),
                                              (legs, 'position', legs[0]),
                                              (poses, 'pose', poses[0]))]
    verdict = judge(Crossing.of(GEOMETRY, *still, statuses))
    assert verdict.outcome is Outcome.NOT_SHOWN
    assert 'the passage through the singularity' in verdict.missing


@pytest.mark.parametrize('empty', range(4))
def test_a_topic_without_messages_shows_nothing(recording, empty):
    topics = [[] if k == empty else topic for k, topic in enumerate(recording)]
    with pytest.raises(NotShownError):
        Crossing.of(GEOMETRY, *topics)


def test_what_was_not_recorded_is_left_out(recording):
    truths, legs, poses, statuses = recording
    crossing = Crossing.of(GEOMETRY, truths[:100], legs[10:90], poses[5:50:5], statuses)
    assert len(crossing.times) == 80
    assert len(crossing.flags) == len(crossing.ours) == 9
    assert np.isnan(crossing.crossed_at)
    assert (crossing.plain_errors <= WRONG_DISTANCE).all()
