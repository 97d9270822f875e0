# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""A motion is none; a teleport is detected, though the twist after it explains it."""

from liedyn_ros.control.jump_detector import JumpDetector

PERIOD_NS = 10_000_000


def jumps(*states):
    """Return whether each of several (position, speed), PERIOD_NS apart, is a jump."""
    detector = JumpDetector(0.01)
    return [detector.jumped(k * PERIOD_NS, position, speed)
            for k, (position, speed) in enumerate(states)]


def test_a_motion_is_no_jump():
    assert not any(jumps(*(((0.03 * k, 0.04 * k), 5.0) for k in range(10))))


def test_a_teleport_is_a_jump_also_where_a_difference_of_poses_gives_its_speed():
    assert jumps(((0.0,) * 6, 0.0), ((0.1,) * 6, 0.0)) == [False, True]
    assert jumps(((0.0,) * 6, 0.0), ((0.1,) * 6, 25.0)) == [False, True]


def test_one_jump_alone_is_a_stray_and_the_next_confirms_it():
    """Beside a second publisher all places of the first stay a motion."""
    detector, told = JumpDetector(0.01), []
    for k, x in enumerate((0.0, 1.0, 0.0, 1.0, 1.0)):
        told.append((detector.jumped(k * PERIOD_NS, (x,), 0.0), detector.alone))
    assert told[1:4] == [(True, True), (False, True), (True, True)] and told[4] == (True, False)


def test_after_a_reset_any_position_is_the_first():
    detector = JumpDetector(0.01)
    assert not detector.jumped(0, (0.0,), 0.0)
    detector.reset()
    assert not detector.jumped(1, (9.0,), 0.0)
