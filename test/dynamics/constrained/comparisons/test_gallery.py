# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The machines of the gallery: what is free, what their drawings say, and their power."""

from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import numpy as np
from numpy.testing import assert_allclose
import pytest

from liedyn_ros.common.resources import config_file
from liedyn_ros.dynamics.constrained import statics
from liedyn_ros.lie import so3
from liedyn_ros.stewart import leg_lengths, load_geometry

ROOT = Path(__file__).parents[4]
SPEC = spec_from_file_location('gallery', ROOT / 'examples' / 'gallery.py')
gallery = module_from_spec(SPEC)
SPEC.loader.exec_module(gallery)
# Counted by hand on the drawings: degrees of freedom, redundant constraints.
FREE = {'delta': (3, 0), 'excavator': (4, 0), 'cassie_leg': (5, 0), 'five_bar': (2, 3),
        'gripper': (1, 0), 'scissor_lift': (1, 0), 'servo_hexapod': (6, 0), 'quick_return': (1, 0),
        'humanoid_ankle': (2, 0), 'dual_arm': (6, 0)}


@pytest.fixture(scope='module')
def moved():
    """Return each machine and its motion, made once."""
    made = {}

    def of(name):
        if name not in made:
            machine = gallery.machine(name)
            made[name] = machine, gallery.motion(machine, name)
        return made[name]
    return of


def test_every_file_is_in_the_gallery_and_on_its_page():
    page = (ROOT / 'docs' / 'guides' / 'gallery.md').read_text()
    files = {file for file, _ in gallery.MACHINES.values()}
    assert {f'gallery/{path.name}' for path in (ROOT / 'config' / 'gallery').iterdir()} < files
    assert all(f'config/{file}' in page for file in files)
    assert set(gallery.MACHINES) == set(FREE)


@pytest.mark.parametrize('name', FREE)
def test_what_is_free(moved, name):
    machine, motion = moved(name)
    assert (machine.mobility.degrees_of_freedom, len(machine.mobility.redundant)) == FREE[name]
    assert max(np.abs(machine.residual(q)).max() for q in motion.q) < 1e-9


@pytest.mark.parametrize('name', FREE)
def test_motors_and_springs_bring_the_energy(moved, name):
    """Of the swing: the work of all joint forces is the energy of the bodies, by Simpson."""
    machine, motion = moved(name)
    model, tree = machine.model, machine.tree
    driven = [joint.name for joint in model.joint_list
              if joint.actuated or joint.name in gallery.MACHINES[name][1]]
    damping = np.zeros(model.nv)
    for joint in model.joint_list:
        damping[joint.v_slice] = joint.damping
    power, energy = [], []
    for q, v, a in zip(motion.q, motion.v, motion.a):
        tau = machine.inverse(q, v, a, actuated=driven).tau
        power.append(tau @ v - damping @ v**2)
        energy.append(tree.kinetic_energy(q, v) + tree.potential_energy(q))
    step = gallery.TIMES[1]
    work = (power[0:-2:2] + 4.0 * np.array(power[1::2]) + power[2::2]) * step / 3.0
    assert_allclose(np.cumsum(work), np.array(energy[2::2]) - energy[0],
                    rtol=1e-3, atol=1e-3 * np.ptp(energy))


def poses(machine, motion, body):
    """Return poses of a body, (T, 4, 4)."""
    return np.array([machine.frames.pose(q, body) for q in motion.q])


@pytest.mark.parametrize('name, body', [
    ('delta', 'platform'), ('gripper', 'left_jaw'), ('gripper', 'right_jaw'),
    ('scissor_lift', 'platform')])
def test_what_stays_level_does(moved, name, body):
    found = poses(*moved(name), body)[:, :3, :3]
    assert_allclose(found, np.broadcast_to(np.eye(3), found.shape), atol=1e-9)


def test_jaws_close_together(moved):
    left, right = (poses(*moved('gripper'), f'{side}_jaw')[:, :3, 3] for side in ('left', 'right'))
    assert_allclose(left, right * [-1.0, 1.0, 1.0], atol=1e-12)
    assert np.ptp(left[:, 0]) > 0.02


def test_servos_turn_as_those_of_the_pose_node(moved):
    machine, motion = moved('servo_hexapod')
    geometry = load_geometry(config_file('stewart_servos.yaml'))
    for q, pose in zip(motion.q[::10], poses(machine, motion, 'platform')[::10]):
        # Twelve coordinates to half a micrometre, over cranks of 25 mm.
        assert_allclose(leg_lengths(geometry, pose), q[:6], atol=2.4e-4)


def test_a_boom_has_the_angle_of_its_triangle(moved):
    """The law of cosines: foot of the boom, foot of the cylinder, head of the cylinder."""
    machine, motion = moved('excavator')
    column = machine.model.joint('boom_cylinder').qi
    feet, arm = np.hypot(0.5, 0.4), np.hypot(2.0, 0.1)
    angle = np.arccos((feet**2 + arm**2 - (1.947 + motion.q[:, column])**2) / (2.0 * feet * arm))
    boom = angle - np.arctan2(0.4, 0.5) + np.arctan2(0.1, 2.0)
    column = machine.model.joint('boom_pin').qi
    assert_allclose(np.radians(40.0) + motion.q[:, column], boom, atol=1e-9)


def test_a_shaper_returns_faster_than_it_cuts(moved):
    """The rocker's ends of travel are where the crank stands across it: 180 degrees + 2 alpha."""
    machine, motion = moved('quick_return')
    crank, rocker = (motion.q[:, machine.model.joint(name).qi] for name in ('motor', 'rocker_pin'))
    angle = np.arctan2(0.3 + 0.1 * np.sin(crank), 0.1 * np.cos(crank))
    assert_allclose(np.radians(71.6) + rocker, angle, atol=1e-9)
    assert crank[np.argmin(angle)] == pytest.approx(  # as far as samples tell
        -np.arcsin(0.1 / 0.3), abs=np.abs(np.diff(crank)).max())


def test_a_leg_without_bent_springs_is_a_parallelogram(moved):
    machine, motion = moved('cassie_leg')
    q = dict(zip(machine.model.coordinate_names, motion.q.T))
    bent = q['shin_spring'] == 0.0
    assert_allclose((q['ankle'] + q['knee_motor'])[bent], 0.0, atol=1e-9)
    assert np.abs(q['ankle'] + q['knee_motor']).max() > 1e-3


def test_equal_cranks_pitch_the_foot_and_do_not_roll_it(moved):
    machine, _ = moved('humanoid_ankle')
    cranks = np.linspace(0.0, 0.5, 6)
    foot = gallery.complete_trajectory(machine, np.column_stack((cranks, cranks))).q
    assert_allclose(foot[:, 3], 0.0, atol=1e-12)
    assert np.abs(foot[-1, 2]) > 0.3


def test_two_grasps_carry_the_box(moved):
    machine, motion = moved('dual_arm')
    q = motion.q[50]
    held = statics(machine, q).solution.wrenches
    grasps = np.array([so3.act(machine.frames.pose(q, 'box')[:3, :3], each[3:]) for each in held])
    assert_allclose(grasps.sum(axis=0), [0.0, 0.0, 4.0 * 9.81], atol=1e-3)
