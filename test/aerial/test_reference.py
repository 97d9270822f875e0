# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The reference: against differences, the spatial formulas of theory 8, the paper's figures."""

import numpy as np
import pytest
from support.refusals import refused

from liedyn_ros.aerial import Reference
from liedyn_ros.common.errors import LiedynError
from liedyn_ros.dynamics import Dynamics
from liedyn_ros.lie import se3

TIMES = [0.0, 0.4, 1.0, 1.999, 2.0, 3.7, 11.0, 26.3]


@pytest.mark.parametrize('t', TIMES)
def test_velocity_acceleration_and_jerk_are_derivatives(machine, reference, t):
    h = 1e-4
    before, now, after = (reference.at(t + d) for d in (-h, 0.0, h))
    rate = machine.model.difference(before.q, after.q) / (2.0 * h)
    np.testing.assert_allclose(rate, now.v, atol=1e-7)
    np.testing.assert_allclose((after.v - before.v) / (2.0 * h), now.a, atol=1e-6)
    # Where the rise begins and ends, the jerk is continuous and its derivative is not.
    np.testing.assert_allclose((after.a - before.a) / (2.0 * h), now.jerk, atol=2e-4)


@pytest.mark.parametrize('t', TIMES[4:])
def test_at_full_rate_it_is_the_papers(machine, reference, t):
    """Position, yaw and joints of (8.4) and the spatial twist of (8.5), rise_time / 2 later."""
    s, w = t - 1.0, 0.2 * np.pi
    yaw, yaw_rate = np.pi / 6.0 * np.sin(w * s), np.pi / 6.0 * w * np.cos(w * s)
    p = np.array([np.cos(w * s), np.sin(w * s), 1.5])
    pose = np.eye(4)
    pose[:2, :2] = [[np.cos(yaw), -np.sin(yaw)], [np.sin(yaw), np.cos(yaw)]]
    pose[:3, 3] = p
    turn = np.array([0.0, 0.0, yaw_rate])
    spatial = np.concatenate((turn, [-w * p[1], w * p[0], 0.0] + np.cross(p, turn)))
    motion = reference.at(t)
    base = Dynamics(machine.model).kinematics(motion.q).poses[0]
    np.testing.assert_allclose(base, pose, atol=1e-12)
    np.testing.assert_allclose(se3.adjoint(pose) @ motion.v[:6], spatial, atol=1e-12)  # (0.1)
    sweep = np.radians([25.0, 40.0, 50.0, -25.0, 35.0, 45.0])
    start = np.radians([10.0, 20.0, -35.0, -10.0, 15.0, -30.0])
    np.testing.assert_allclose(
        motion.q[7:], start + sweep * (1.0 - np.cos(np.pi * s / 10.0)) / 2.0, atol=1e-12)


def test_begins_at_rest(reference):
    motion = reference.at(0.0)
    np.testing.assert_array_equal(motion.v, np.zeros(12))
    np.testing.assert_array_equal(motion.a, np.zeros(12))
    np.testing.assert_array_equal(motion.jerk, np.zeros(12))
    np.testing.assert_array_equal(reference.at(-1.0).q, motion.q)


def test_rotor_speeds_are_those_of_the_theory(machine, reference):
    """Section 8 names 603 to 994 rad/s along one turn."""
    dynamics = Dynamics(machine.model)
    commands = [machine.command(dynamics.inverse(*reference.at(t)[:3]), reference.at(t).q)
                for t in np.linspace(2.0, 11.0, 91)]
    speeds = np.array([command.rotors.speeds for command in commands])
    assert all(command.rotors.reached and not command.at_limit for command in commands)
    assert 602.0 < speeds.min() and speeds.max() < 995.0


@pytest.mark.parametrize(('part', 'name'), [
    ({'period': 0.0}, 'period'),
    ({'rise_time': np.inf}, 'rise_time'),
    ({'radius': np.nan}, 'radius, height, yaw_amplitude, yaw_frequency'),
    ({'joint_sweep': np.zeros(3)}, 'joint_sweep'),
])
def test_refuses(part, name):
    with refused(LiedynError, name):
        Reference(**part)
