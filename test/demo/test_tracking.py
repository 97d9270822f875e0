# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The evaluation of a recording by the demo of the Stewart platform."""

import re

from geometry_msgs.msg import Pose, PoseStamped, PoseWithCovarianceStamped
from liedyn_interfaces.msg import StewartStatus
import numpy as np
import pytest

from liedyn_ros.demo.stewart import demo
from liedyn_ros.demo.stewart.demo import judge, report
from liedyn_ros.demo.stewart.tracking import Tracking
from liedyn_ros.ros.messages.conversions import stamp_of

pytestmark = pytest.mark.ros
BEGIN, STEP, SAMPLES = 1_000_000_000_000, 1_000_000, 1000  # ns


def pose_at(stamp, x=0.0):
    message = PoseStamped(pose=Pose())
    message.header.stamp = stamp_of(stamp)
    message.pose.position.x = x
    return message


def status_at(stamp, status, **values):
    message = StewartStatus(status=status, **values)
    message.header.stamp = stamp_of(stamp)
    return message


def recorded(*, keep=lambda k: True, known=lambda k: True, age=0.001, wrong=None, failed=None,
             refused=lambda k: False, iterations=2, sigma=None):
    """
    Return what is made of a motion of SAMPLES steps.

    keep: which samples have a pose, and known: a status. Those without a pose but with a later
    one are passed over, as many as the status of the next pose tells. wrong: a sample whose
    pose is off by 1 mm. failed: a sample whose solve failed. refused: which samples were refused
    as two seconds old. iterations: of each solve. sigma: m and rad, passed with each pose.
    """
    truths, poses, statuses, covariances, passed_over = [], [], [], [], 0
    for k in range(SAMPLES):
        stamp = BEGIN + k * STEP
        truths.append((stamp, pose_at(stamp)))
        if refused(k):
            statuses.append((stamp, status_at(stamp, StewartStatus.REJECTED, age=2.0)))
            continue
        if not keep(k):
            passed_over += known(k)
            continue
        arrived = stamp + round(1e9 * age)
        if k != failed:
            poses.append((arrived, pose_at(stamp, 0.001 if k == wrong else 0.0)))
        if sigma is not None:
            message = PoseWithCovarianceStamped(header=pose_at(stamp).header)
            message.pose.covariance = (sigma ** 2 * np.eye(6)).ravel()
            covariances.append((arrived, message))
        statuses.append((arrived, status_at(
            stamp, StewartStatus.CONVERGED + (k == failed), iterations=iterations,
            solve_time=1e-5, age=age, passed_over=passed_over)))
        passed_over = 0
    return Tracking.of(truths, poses, statuses, covariances)


def told(tracking, capsys):
    """Return what is judged of a recording, and what is printed with it."""
    report(tracking)
    capsys.readouterr()
    good = judge(tracking)
    return good, capsys.readouterr().out


def test_a_quiet_machine_is_told_nothing(capsys):
    tracking = recorded(keep=lambda k: k % 50 != 49 or k == SAMPLES - 1)
    assert (tracking.passed_over, tracking.lost) == (19, 0)
    assert told(tracking, capsys) == (True, '')


def test_a_node_that_falls_silent_has_not_tracked(capsys, monkeypatch):
    monkeypatch.setattr(demo, 'MAX_GAP', 0.5)
    assert recorded(keep=lambda k: k < 45).longest_gap == pytest.approx(0.955)
    good, text = told(recorded(keep=lambda k: k < 45), capsys)
    assert not good and 'no pose came for 0.96 s' in text
    assert told(recorded(keep=lambda k: k % 400 == 0), capsys)[0]


def test_a_busy_machine_is_told_so_and_tracks_all_the_same(capsys):
    tracking = recorded(keep=lambda k: k % 4 == 3)
    good, text = told(tracking, capsys)
    assert good
    assert 'too busy for 1000 Hz: 750 samples were passed over' in text
    assert '1 ms old at the median' in text


def test_what_no_status_tells_of_is_lost(capsys):
    tracking = recorded(keep=lambda k: k % 4 == 3, known=lambda k: k % 4 == 2)
    assert (tracking.connecting, tracking.passed_over, tracking.lost) == (3, 250, 497)
    assert '497 lost on the way' in told(tracking, capsys)[1]


@pytest.mark.parametrize('fault, reason', [
    ({'wrong': 7}, 'a pose was wrong by 0.001 rad or m'),
    ({'failed': 7}, '1 solves failed'),
    ({'age': 0.2}, 'poses were stale: 200 ms old')])
def test_a_wrong_or_stale_pose_fails(capsys, fault, reason):
    good, text = told(recorded(**fault), capsys)
    assert not good
    assert reason in text


def test_a_refused_sample_is_told_apart_and_no_failure(capsys):
    """Neither a failed solve nor lost, and its age is not that of a pose."""
    tracking = recorded(refused=lambda k: 20 <= k < 50)
    assert (tracking.refused, tracking.failed, tracking.lost) == (30, 0, 0)
    assert tracking.ages.max() == 0.001
    report(tracking)
    assert re.search(r'refused +30\b', capsys.readouterr().out)
    assert told(tracking, capsys) == (True, '  Samples refused, as stale or out of order: 30.\n')


def test_a_failed_solve_is_not_lost_as_well():
    assert recorded(failed=7).lost == 0


def test_errors_are_judged_by_the_reported_deviations(capsys):
    """One pose of a thousand is off by 1 mm along x, one number of 6000."""
    tracking = recorded(wrong=7, sigma=1e-4)
    assert tracking.within == pytest.approx(1.0 - 1.0 / (6 * SAMPLES), abs=1e-12)
    assert tracking.judged_errors[7] == pytest.approx([1e-3, 0, 0, 0, 0, 0], abs=1e-15)
    assert tracking.deviations == pytest.approx(np.full((SAMPLES, 6), 1e-4))
    report(tracking)
    assert '99.98 %' in capsys.readouterr().out


def test_deviations_that_are_too_small_fail(capsys):
    """One number of 18 is off by far more than reported."""
    tracking = recorded(keep=lambda k: 5 < k < 9, wrong=7, sigma=1e-9)
    good, text = told(tracking, capsys)
    assert not good
    assert '94.4 % of the errors lie within the predicted three sigma' in text


def test_many_iterations_are_a_remark_and_no_failure(capsys):
    good, text = told(recorded(iterations=9), capsys)
    assert good
    assert text == '  A solve took 9 iterations; 3 are usual.\n'


@pytest.mark.parametrize('recording', [
    {'keep': lambda k: False}, {'refused': lambda k: True}], ids=['nothing', 'refusals alone'])
def test_no_pose_at_all_fails_with_a_reason_and_no_nan(capsys, recording):
    tracking = recorded(**recording)
    report(tracking)
    assert 'nan' not in capsys.readouterr().out
    assert not judge(tracking)
    assert 'No pose came' in capsys.readouterr().out


def test_latencies_and_errors_are_those_of_the_recording():
    tracking = recorded(age=0.003, wrong=7)
    rotation, position = tracking.errors
    np.testing.assert_allclose(tracking.latencies, 0.003, atol=1e-9)
    np.testing.assert_allclose(rotation, 0.0, atol=1e-15)
    assert np.flatnonzero(position > 1e-12).tolist() == [7]
