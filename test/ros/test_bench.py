# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The bench itself: a request is sent again where its reply is lost, and a transition is not."""

from time import sleep

from lifecycle_msgs.msg import Transition
from lifecycle_msgs.srv import ChangeState
import pytest
from rclpy.client import Client
from rclpy.task import Future
from std_srvs.srv import Trigger
from support.bench import ros_bench

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
