# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""No answer that tells success holds a number that is not finite, and no message is endless."""

import math

from liedyn_interfaces.msg import DynamicsAnswer, LinearModel, TreeEffort
from liedyn_interfaces.srv import DescribeModel, Dynamics, Linearize, SolveStewartPose
import pytest
from support.refusals import refused

from liedyn_ros.common.errors import LimitError, MAX_MESSAGE_TEXT, NameSetError
from liedyn_ros.ros.node.services import not_finite, refuse, require_finite_numbers

HUGE = [1.7e308] * 3  # whose sum is infinite


def answer(effort):
    """Return an answer whose base has an effort."""
    message = DynamicsAnswer(success=True, request_id=7, efforts=[TreeEffort(), TreeEffort()])
    message.header.stamp.sec, message.efforts[1].base.force.y = 3, effort
    return Dynamics.Response(answer=message)


@pytest.mark.parametrize('bad', [math.nan, math.inf, -math.inf])
def test_numbers_that_are_not_finite_are_found(bad):
    assert not_finite(answer(bad)) == 'answer.efforts[1].base.force.y'
    models = [LinearModel(a_matrix=HUGE), LinearModel(b_matrix=[*HUGE, bad])]
    assert not_finite(Linearize.Response(models=models)) == 'models[1].b_matrix'
    response = SolveStewartPose.Response()
    response.status.length[2] = bad
    assert not_finite(response) == 'status.length'
    response.pose.pose.orientation.z = bad
    assert not_finite(response) == 'pose.pose.orientation.z'


def test_finite_numbers_pass_and_limits_may_be_infinite():
    assert not_finite(answer(1e308)) == ''
    assert not_finite(Linearize.Response(models=[LinearModel(a_matrix=HUGE)])) == ''
    assert not_finite(DescribeModel.Response(position_upper=[math.inf])) == ''
    assert not_finite(DescribeModel.Response(mass=math.inf)) == 'mass'


def test_an_answer_that_is_not_finite_is_emptied():
    response = answer(math.nan)
    with refused(LimitError, 'answer.efforts[1].base.force.y') as got:
        require_finite_numbers(response)
    refuse(response, str(got.value))
    assert response.answer == DynamicsAnswer(
        header=response.answer.header, request_id=7, message=str(got.value))
    assert response.answer.header.stamp.sec == 3


def test_messages_are_bounded_at_both_ends():
    text = f'prescribed: expected a joint, got {"x" * 10000}, the last'
    message = str(NameSetError(text))
    assert message.startswith('prescribed: expected a joint, got xxx')
    assert message.endswith('xxx, the last')
    assert len(message) == MAX_MESSAGE_TEXT + len(' ... ')
    assert str(NameSetError(text[:MAX_MESSAGE_TEXT])) == text[:MAX_MESSAGE_TEXT]
    response = Dynamics.Response()
    refuse(response, text)
    assert response.answer.message == message
