# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Two messages make a state where their stamps are equal."""

from geometry_msgs.msg import PoseStamped, TwistStamped
import pytest

from liedyn_ros.ros.messages.conversions import stamp_of
from liedyn_ros.ros.messages.stamped_pair import StampedPair

pytestmark = pytest.mark.ros


def of(message_type, stamp_ns):
    """Return a message of a type with a stamp."""
    message = message_type()
    message.header.stamp = stamp_of(stamp_ns)
    return message


@pytest.mark.parametrize('order', [(0, 1), (1, 0)])
def test_messages_of_one_stamp_come_in_the_order_of_the_types(order):
    pair, both = StampedPair(PoseStamped, TwistStamped), (of(PoseStamped, 7), of(TwistStamped, 7))
    assert pair.add(both[order[0]]) is None
    assert pair.add(both[order[1]]) == both
    assert pair.add(of(PoseStamped, 7)) is None  # each is used once


def test_the_newest_of_each_type_waits():
    pair, newest = StampedPair(PoseStamped, TwistStamped), of(PoseStamped, 2)
    assert pair.add(of(PoseStamped, 1)) is None and pair.add(newest) is None
    assert pair.add(of(TwistStamped, 1)) is None
    twist = of(TwistStamped, 2)
    assert pair.add(twist) == (newest, twist)


def test_cleared_it_waits_for_both():
    pair = StampedPair(PoseStamped, TwistStamped)
    pair.add(of(PoseStamped, 1))
    pair.clear()
    assert pair.add(of(TwistStamped, 1)) is None
