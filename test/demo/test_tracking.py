# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The evaluation of a recording by the demo of the Stewart platform."""

from geometry_msgs.msg import PoseStamped, PoseWithCovarianceStamped
from liedyn_interfaces.msg import StewartStatus
import numpy as np
import pytest

from liedyn_ros.demo.stewart.demo import judge, LEG_RATE, report, TRACKED_TIME
from liedyn_ros.demo.stewart.tracking import Tracking
from liedyn_ros.demo.verdict import Outcome
from liedyn_ros.ros.messages.conversions import stamp_of

pytestmark = pytest.mark.ros
# ns
BEGIN, STEP, SAMPLES = 1_000_000_000_000, round(1e9 / LEG_RATE), round(LEG_RATE * TRACKED_TIME)
SIGMA = 1e-4  # m and rad


def pose_at(stamp, x=0.0):
    message = PoseStamped()
    message.header.stamp = stamp_of(stamp)
    message.pose.position.x = x
    return message


def status_at(stamp, status, **values):
    message = StewartStatus(status=status, **values)
    message.header.stamp = stamp_of(stamp)
    return message


def recorded(*, samples=SAMPLES, keep=lambda k: True, wrong=None, failed=None, sigma=SIGMA,
             speed=1e-5):
    """
    Return what is made of a motion of so many samples, speed m each.

    keep: which samples have a pose. wrong: a sample whose pose is off by 1 mm. failed: a sample
    whose solve failed. sigma: m and rad, passed with each pose; None: with none.
    """
    truths, poses, statuses, covariances = [], [], [], []
    for k in range(samples):
        stamp, x = BEGIN + k * STEP, k * speed
        truths.append((stamp, pose_at(stamp, x)))
        if not keep(k):
            continue
        if k != failed:
            poses.append((stamp, pose_at(stamp, x + 0.001 * (k == wrong))))
        if sigma is not None:
            message = PoseWithCovarianceStamped(header=pose_at(stamp).header)
            message.pose.covariance = (sigma ** 2 * np.eye(6)).ravel()
            covariances.append((stamp, message))
        statuses.append((stamp, status_at(
            stamp, StewartStatus.CONVERGED + (k == failed), iterations=2, solve_time=1e-5)))
    return Tracking.of(truths, poses, statuses, covariances)


@pytest.mark.parametrize(('made', 'outcome', 'reason'), [
    ({}, Outcome.HELD, ''),
    ({'wrong': 7}, Outcome.NOT_HELD, 'wrong by 0.001'),
    ({'failed': 7}, Outcome.NOT_HELD, '1 solves failed'),
    ({'wrong': 7, 'samples': 50}, Outcome.NOT_HELD, 'wrong by 0.001'),
    ({'samples': 50}, Outcome.NOT_SHOWN, 'true poses: 50 of 3000'),
    ({'keep': lambda k: k < 45}, Outcome.NOT_SHOWN, 'their poses: 45 of 3000'),
    ({'keep': lambda k: k % 4 == 3}, Outcome.NOT_SHOWN, 'their poses: 750 of 3000'),
    ({'keep': lambda k: False}, Outcome.NOT_SHOWN, 'their poses: 0 of 3000'),
    ({'samples': 0}, Outcome.NOT_SHOWN, 'true poses: 0 of 3000'),
    ({'sigma': None}, Outcome.NOT_SHOWN, 'poses with a covariance'),
    ({'speed': 0.0}, Outcome.NOT_SHOWN, 'a motion of the platform')])
def test_a_recording_is_judged_by_what_it_holds(capsys, made, outcome, reason):
    tracking = recorded(**made)
    report(tracking)
    assert 'nan' not in capsys.readouterr().out
    verdict = judge(tracking)
    assert verdict.outcome is outcome
    assert reason in str(verdict)
    assert 'nan' not in str(verdict)


@pytest.mark.full
def test_errors_are_judged_by_the_reported_deviations():
    """One pose of all is off by 1 mm along x, one number of six times as many."""
    tracking = recorded(wrong=7)
    assert tracking.within == pytest.approx(1.0 - 1.0 / (6 * SAMPLES), abs=1e-12)
    assert tracking.judged_errors[7] == pytest.approx([1e-3, 0, 0, 0, 0, 0], abs=1e-15)
    assert tracking.deviations == pytest.approx(np.full((SAMPLES, 6), SIGMA))


def test_deviations_that_are_too_small_do_not_hold():
    """One number of 18 is off by far more than reported, though by less than the bound."""
    tracking = recorded(keep=lambda k: 5 < k < 9, wrong=7, sigma=1e-9)
    verdict = judge(tracking)
    assert verdict.outcome is Outcome.NOT_HELD
    assert any('94.4 %' in fault for fault in verdict.faults)


def test_errors_are_those_of_the_recording():
    rotation, position = recorded(wrong=7).errors
    np.testing.assert_allclose(rotation, 0.0, atol=1e-15)
    assert np.flatnonzero(position > 1e-12).tolist() == [7]
