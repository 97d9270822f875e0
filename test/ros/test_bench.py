# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The bench itself: lost requests are sent again, transitions are not; NaN is seen in bytes."""

import math
from time import sleep

from geometry_msgs.msg import Point, Pose, PoseStamped
from lifecycle_msgs.msg import Transition
from lifecycle_msgs.srv import ChangeState
import numpy as np
import pytest
from rclpy.client import Client
from rclpy.task import Future
from sensor_msgs.msg import JointState
from std_msgs.msg import ColorRGBA, Float64MultiArray
from std_srvs.srv import Trigger
from support.bench import ros_bench
from visualization_msgs.msg import Marker, MarkerArray

pytestmark = pytest.mark.ros


@pytest.fixture(autouse=True)
def impatient(monkeypatch):
    """Let the bench wait for a reply for a moment only."""
    monkeypatch.setattr(ros_bench, 'REPLY_TIMEOUT', 0.05)


def test_a_request_without_a_reply_is_sent_again(bench, monkeypatch):
    lost, call_async = [Future()], Client.call_async
    monkeypatch.setattr(Client, 'call_async', lambda client, request: (
        lost.pop() if lost else call_async(client, request)))
    bench.partner.create_service(
        Trigger, 'service', lambda _, response: Trigger.Response(success=True))
    assert bench.call(Trigger, 'service').success
    assert lost == []


def test_a_transition_is_asked_for_once(bench):
    taken = []

    def take(request, response):
        taken.append(request.transition.label or request.transition.id)
        sleep(0.1)  # longer than the bench waits for replies
        return response

    bench.partner.create_service(ChangeState, 'service', take)
    for _ in range(2):
        bench.call(ChangeState, 'service', transition=Transition(
            id=Transition.TRANSITION_CONFIGURE))
    assert taken.count(Transition.TRANSITION_CONFIGURE) == 2
    assert taken[0] == 'none'


@pytest.mark.parametrize('message', [
    PoseStamped(pose=Pose(position=Point(z=math.nan))),
    MarkerArray(markers=[Marker(ns='a'), Marker(color=ColorRGBA(a=math.nan))]),
    JointState(name=['joint'], position=[0.0, math.nan])])
def test_nan_in_a_message_is_seen(bench, message):
    bench.collect(type(message), 'topic')
    publisher = bench.publisher(type(message), 'topic')
    with pytest.raises(AssertionError, match='got NaN in '):
        bench.until(lambda: False, 'NaN', act=lambda: publisher.publish(message))


def test_a_number_that_looks_like_nan_is_none(bench):
    """The halves of these look like NaN of single precision."""
    heard, publisher = bench.collect(Float64MultiArray, 'topic'), bench.publisher(
        Float64MultiArray, 'topic')
    data = [*np.array([0x3FF000007FC00000]).view(float).tolist(), math.inf]
    bench.until(lambda: heard, 'numbers', act=lambda: publisher.publish(
        Float64MultiArray(data=data)))
    assert list(heard[-1].data) == data and heard[:1][0].data == heard[0].data
