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


def test_a_partner_that_is_taken_after_the_next_message_is_found():
    pair, poses = StampedPair(PoseStamped, TwistStamped), [of(PoseStamped, k) for k in range(4)]
    twists = [of(TwistStamped, k) for k in range(4)]
    assert [pair.add(each) for each in poses[:3]] == [None] * 3
    assert pair.add(twists[0]) is None  # only the two newest wait
    assert pair.add(twists[1]) == (poses[1], twists[1])
    assert pair.add(twists[2]) == (poses[2], twists[2])


def test_what_came_before_a_pair_is_dropped():
    pair, late = StampedPair(PoseStamped, TwistStamped), of(TwistStamped, 1)
    newest = of(PoseStamped, 2), of(TwistStamped, 2)
    assert pair.add(of(PoseStamped, 1)) is None and pair.add(newest[0]) is None
    assert pair.add(newest[1]) == newest
    assert pair.add(late) is None


def test_cleared_it_waits_for_both():
    pair = StampedPair(PoseStamped, TwistStamped)
    pair.add(of(PoseStamped, 1))
    pair.clear()
    assert pair.add(of(TwistStamped, 1)) is None
