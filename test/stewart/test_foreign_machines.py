# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""
Machines of others, written down as a stranger would, beside their own inverse kinematics.

Numbers are those of public repositories; formulas are theirs in our words, in their units.
"""

from dataclasses import replace

import numpy as np
import pytest
from scipy.spatial.transform import Rotation
from support.refusals import refused
import yaml

from liedyn_ros.common.errors import GeometryError, NameSetError
from liedyn_ros.lie import se3
from liedyn_ros.stewart import (
    Flag, leg_lengths, load_geometry, MonitoredTracker, PoseSolver, updated_geometry)
from liedyn_ros.stewart.input.actuators import LegActuators

INCH, SECOND, PERIOD = 0.0254, 1_000_000_000, 5_000_000


def on_circle(radius, degrees):
    """Return points (6, 3) at angles on a circle."""
    angles = np.radians(degrees)
    return radius * np.stack((np.cos(angles), np.sin(angles), np.zeros(6)), axis=1)


def servos(base, top, horn, rod, height, beta):
    """Return a file of servos with horns at angles beta (degrees) from x, all numbers in m."""
    legs = {}
    for k, (a, b, angle) in enumerate(zip(base, top, np.radians(beta))):
        legs[f'servo_{k + 1}'] = {'base': a.tolist(), 'platform': b.tolist(), 'crank': {
            'axis': 'raises', 'zero': [float(np.cos(angle)), float(np.sin(angle)), 0.0],
            'radius': horn, 'rod': rod, 'travel': [-1.48, 1.48]}}

    def values(position, rotation):
        """Servo angles, by R. Eisele: asin(l / hypot(m, n)) - atan2(n, m)."""
        rods = position + top @ rotation.T - base
        side = np.cos(np.radians(beta)) * rods[:, 0] + np.sin(np.radians(beta)) * rods[:, 1]
        m, n = 2.0 * horn * rods[:, 2], 2.0 * horn * side
        square = (rods ** 2).sum(axis=1) - rod ** 2 + horn ** 2
        return np.arcsin(square / np.hypot(m, n)) - np.arctan2(n, m)

    return {'home': {'position': [0.0, 0.0, height]}, 'legs': legs}, values


def struts(base, top, home, low, high):
    """Return a file of struts, all numbers in m, and their lengths."""
    limits = np.broadcast_to(np.stack((low, high), axis=-1), (6, 2))
    return {'home': {'position': home}, 'legs': {
        f'strut_{k}': {'base': a.tolist(), 'platform': b.tolist(), 'length': each.tolist()}
        for k, (a, b, each) in enumerate(zip(base, top, limits))}}, lambda position, rotation: (
            np.linalg.norm(position + top @ rotation.T - base, axis=1))


def linuxcnc():
    """genhexkins.h of LinuxCNC: inches."""
    base = INCH * np.array([
        [-22.95, 13.25, 0.0], [22.95, 13.25, 0.0], [22.95, 13.25, 0.0], [0.0, -26.5, 0.0],
        [0.0, -26.5, 0.0], [-22.95, 13.25, 0.0]])
    top = INCH * np.array([
        [-1.0, 11.5, 0.0], [1.0, 11.5, 0.0], [10.459, -4.884, 0.0], [9.459, -6.616, 0.0],
        [-9.459, -6.616, 0.0], [-10.459, -4.884, 0.0]])
    return struts(base, top, [0.0, 0.0, 20.0 * INCH], 0.3, 1.5)


def rubin(mirror, base, pivot):
    """constants.py of lsst-ts/ts_mthexapod: um; their base moves, about a pivot."""
    mirror, base, pivot = (1e-6 * np.array(each) for each in (mirror, base, pivot))
    neutral = np.linalg.norm(base - mirror, axis=1)
    return struts(mirror, base - pivot, pivot.tolist(), neutral - 0.0141, neutral + 0.0141)


def rubin_camera():
    return rubin(
        [[472800, 512200, -121400], [-472800, 512200, -121400], [-680000, 153300, -121400],
         [-207200, -665500, -121400], [207200, -665500, -121400], [680000, 153300, -121400]],
        [[227600, 653800, -525000], [-227600, 653800, -525000], [-680000, -129700, -525000],
         [-452300, -524000, -525000], [452300, -524000, -525000], [680000, -129700, -525000]],
        [0, 0, -2758400])


def rubin_m2():
    """Three struts along the axis of the telescope, three across it."""
    return rubin(
        [[0, 1701800, 607300], [-1542350, -719210, 607300], [1542350, -719210, 607300],
         [493790, 1460490, 228600], [-1256870, -419290, 228600], [1256870, -419290, 228600]],
        [[0, 1701800, 114300], [-1542350, -719210, 114300], [1542350, -719210, 114300],
         [790, 1460490, 228600], [-1503370, 7660, 228600], [1503370, 7660, 228600]],
        [0, 0, -703000])


def simscape():
    """generateGeneralConfiguration.m of tdehaeze's stewart-simscape, its defaults."""
    low, high = np.array([[0.0, 0.0, 0.015], [0.0, 0.0, -0.015]])
    return struts(on_circle(0.09, [-10, 10, 110, 130, 230, 250]) + low,
                  on_circle(0.07, [-50, 50, 70, 170, 190, -70]) + high,
                  [0.0, 0.0, 0.09], 0.03, 0.15)


def chair():
    """Platform config of a chair that hangs on six muscles, mm."""
    base = 1e-3 * np.array([[379.8, -515.1, 0.0], [258.7, -585.4, 0.0], [-636.0, -71.4, 0.0]])
    top = 1e-3 * np.array([[617.0, -170.0, 0.0], [-256.2, -586.5, 0.0], [-377.6, -516.7, 0.0]])
    base, top = (np.concatenate((each, each[::-1] * [1, -1, 1])) for each in (base, top))
    return struts(base, top, [0.0, 0.0, -1.025], 0.95, 1.2)


def paradex():
    """modparakins.h of machinekit: rods of 2.953 in on six upright slides."""
    base = INCH * np.array([
        [1.85, 0.0, 0.0], [1.102, 0.0, 0.0], [-0.925, 1.602, 0.0], [-0.551, 0.954, 0.0],
        [-0.925, -1.602, 0.0], [-0.551, -0.954, 0.0]])
    top = INCH * np.array([
        [1.207, 1.012, 0.0], [0.123, -0.698, 0.0], [-1.48, 0.539, 0.0], [0.543, 0.456, 0.0],
        [0.274, -1.551, 0.0], [-0.666, 0.243, 0.0]])
    rod = 2.953 * INCH

    def values(position, rotation):
        tips = position + top @ rotation.T
        across = ((tips - base)[:, :2] ** 2).sum(axis=1)
        return tips[:, 2] - np.sqrt(rod ** 2 - across)

    return {'home': {'position': [0.0, 0.0, 4.0 * INCH]}, 'legs': {
        f'slide_{k}': {'base': a.tolist(), 'platform': b.tolist(), 'rail': {
            'direction': [0.0, 0.0, 1.0], 'rod': rod, 'travel': [-0.05, 0.15]}}
        for k, (a, b) in enumerate(zip(base, top))}}, values


def ipf():
    """Stewart_Plattform_IPF.cpp of NilsTo/HA_IPF: servos, mm and degrees."""
    base = on_circle(0.086687, [176.9176, 123.0772, 56.9228, 3.0772, 296.9228, 243.0772])
    top = on_circle(0.0641185, [156.2695, 143.7305, 36.2695, 23.7305, 276.2694, 263.7305])
    return servos(base, top, 0.04, 0.138, 0.145, [240.0, 60.0, 120.0, -60.0, 0.0, 180.0])


def nichub():
    """Hexapod_Config_1.py of NicHub/stewart-platform-esp32, its third algorithm."""
    turns = np.array([-60.0, 120.0, 180.0, 0.0, 60.0, -120.0])

    def joints(radius, offset):
        axes = np.array([30.0, 30.0, -90.0, -90.0, 30.0, 30.0])
        points = on_circle(radius, axes + offset * np.array([1, -1, 1, 1, -1, 1]))
        return points * np.array([1, 1, 1, -1, -1, -1])[:, None] ** [1, 0, 0]

    base, top, h, d = joints(76.995, 22.9492), joints(49.805, 48.4099), 15.0, 140.0

    def values(position, rotation):
        v = 1e3 * position + top @ rotation.T - base
        cosine, sine = np.cos(np.radians(turns)), np.sin(np.radians(turns))
        a, c = cosine * v[:, 0] + sine * v[:, 1], v[:, 2]
        b2, c2 = (cosine * v[:, 1] - sine * v[:, 0]) ** 2, c * c
        root = 2.0 * (h * h * (d * d + a * a - b2 + c2) + d * d * (a * a + b2 + c2)
                      - a * a * (b2 + c2) - b2 * c2) - h**4 - d**4 - a**4 - b2 * b2 - c2 * c2
        return 2.0 * np.arctan((2.0 * h * c - np.sqrt(root)) / (
            h * h + 2.0 * h * a - d * d + a * a + b2 + c2))

    content, _ = servos(1e-3 * base, 1e-3 * top, 0.015, 0.14, 0.132943591247488, turns)
    return content, values


def marble():
    """stewartPlatform.cpp of a marble maze with arms of 18.5 and 27 mm."""
    pairs = np.repeat([0.0, 120.0, 240.0], 2)
    base, top = (on_circle(radius, pairs + np.degrees(offset) * (-1.0) ** np.arange(1, 7))
                 for radius, offset in ((0.0327015, 0.1581), (0.033023, 0.2877)))
    return servos(base, top, 0.0185, 0.027, 0.0274248, [270, 90, 30, 210, 150, 330])


def korgo():
    """T. Korgo's Arduino platform of 2014: inches; servos at 37.5, joints at 8 degrees."""
    half = (60.0 - 37.5) / 2.0
    base = on_circle(2.99 * INCH, [210 - half, 150 + half, 90 - half, 30 + half, -30 - half,
                                   half - 90])
    top = on_circle(2.42 * INCH, [236, 124, 116, 4, -4, 244])
    return servos(base, top, 0.79 * INCH, 4.66 * INCH, 4.05 * INCH, [90, -90, -30, 150, -150, 30])


def js_hexagonal():
    """Defaults of initHexagonal in rawify/Stewart.js: within 0.05 of singular at home."""
    sides = np.array([60.0, 60.0, 180.0, 180.0, 300.0, 300.0])
    along = np.cross([0.0, 0.0, 1.0], on_circle(1.0, sides))
    signs = np.array([1.0, -1.0] * 3)[:, None]
    base, plates = on_circle(0.08, sides) + 0.02 * signs * along, on_circle(0.05, sides + 180.0)
    top = (plates + 0.02 * signs * along)[[4, 3, 0, 5, 2, 1]]
    turns = np.degrees(np.arctan2(along[:, 1], along[:, 0])) + 90.0 * (1.0 - signs[:, 0])
    apart = np.linalg.norm(top[0] - base[0])
    return servos(base, top, 0.05, 0.13, float(np.sqrt(0.13**2 + 0.05**2 - apart**2)), turns)


@pytest.mark.parametrize('machine', [
    linuxcnc, rubin_camera, rubin_m2, simscape, chair, paradex, ipf, nichub, marble, korgo,
    js_hexagonal])
def test_a_machine_of_others_has_its_own_values_and_is_tracked(tmp_path, machine):
    content, values = machine()
    (tmp_path / 'own.yaml').write_text(yaml.safe_dump(content, sort_keys=False))
    geometry = load_geometry(tmp_path / 'own.yaml')
    tracker, home = MonitoredTracker(geometry, geometry.home), geometry.home[:3, 3]
    size, flagged = geometry.characteristic_length, 0
    share = 0.02 if machine in (rubin_camera, rubin_m2) else 1.0  # of the others' motion
    for k in range(400):
        t = 0.005 * k
        position = home + 0.05 * share * size * np.sin(2.0 * np.pi * t * np.array([0.5, 0.7, 0.3]))
        turns = 0.04 * share * np.sin(2.0 * np.pi * t * np.array([0.4, 0.6, 0.8]))
        rotation = Rotation.from_euler('xyz', turns).as_matrix()
        theirs = values(position, rotation)
        pose = np.eye(4)
        pose[:3, :3], pose[:3, 3] = rotation, position
        assert np.abs(leg_lengths(geometry, pose) - theirs).max() < 1e-10 / size
        tracked = tracker.track(SECOND + k * PERIOD, theirs)
        assert tracked.converged and np.abs(tracked.pose - pose).max() < 1e-7
        flagged += bool(tracked.flags & ~Flag.NEAR_SINGULARITY)
    assert not flagged


def changed(tmp_path, change):
    """Return the geometry of a changed file of the IPF's servos."""
    content, _ = ipf()
    change(content)
    (tmp_path / 'changed.yaml').write_text(yaml.safe_dump(content))
    return load_geometry(tmp_path / 'changed.yaml')


@pytest.mark.parametrize(('axes', 'turns'), [
    ('XYZ', ('x', 'y', 'z')), ('zyx', ('x', 'y', 'z')), ('ZXY', ('z', 'x', 'y'))])
def test_a_rotation_has_the_order_that_is_named(tmp_path, axes, turns):
    angles = {'x': 0.06, 'y': -0.04, 'z': 0.1}
    geometry = changed(tmp_path, lambda content: content['home'].update(euler={
        'axes': axes, 'angles': [angles[axis.lower()] for axis in axes]}))
    wanted = np.eye(3)
    for axis in turns:
        wanted = wanted @ Rotation.from_euler(axis, angles[axis]).as_matrix()
    assert np.abs(geometry.home[:3, :3] - wanted).max() < 1e-14


@pytest.mark.parametrize(('where', 'change'), [
    ('home/euler', lambda content: content['home'].update(
        euler={'axes': 'xYz', 'angles': [0.0, 0.0, 0.0]})),
    ('home/euler', lambda content: content['home'].update(
        euler={'axes': 'xxz', 'angles': [0.0, 0.0, 0.0]})),
    ('legs/servo_2/crank/axis',
     lambda content: content['legs']['servo_2']['crank'].update(axis='up')),
    ('legs/servo_2/crank/axis',
     lambda content: content['legs']['servo_2']['crank'].update(zero=[0.0, 0.0, 1.0])),
    ('legs/servo_2', lambda content: content['legs']['servo_2'].update(fixed=0.3))])
def test_what_is_unclear_is_refused(tmp_path, where, change):
    with refused(GeometryError, f'geometry/{where}'):
        changed(tmp_path, change)


def test_a_leg_of_fixed_length_has_no_reading(tmp_path):
    content, _ = linuxcnc()
    del content['legs']['strut_2']['length']
    content['legs']['strut_2']['fixed'] = 0.6
    (tmp_path / 'fixed.yaml').write_text(yaml.safe_dump(content, sort_keys=False))
    geometry = load_geometry(tmp_path / 'fixed.yaml')
    at_home = leg_lengths(geometry, geometry.home)
    at_home[2] = 0.6
    actuators = LegActuators(
        geometry.leg_names, np.ones(6), np.zeros(6), fixed=geometry.fixed_lengths)
    names = [f'strut_{k}' for k in (5, 0, 1, 3, 4)]
    assert actuators.driven_names == tuple(f'strut_{k}' for k in (0, 1, 3, 4, 5))
    solver, tracker, pose = PoseSolver(geometry), MonitoredTracker(geometry, geometry.home), (
        geometry.home)
    for k in range(400):
        lengths = at_home + 0.02 * np.sin(0.02 * k * np.arange(1.0, 7.0)) * (np.arange(6) != 2)
        pose = solver.solve(lengths, pose).pose
        read = lengths[[5, 0, 1, 3, 4]]
        assert np.array_equal(actuators.lengths(names, read), lengths)
        tracked = tracker.track(SECOND + k * PERIOD, actuators.lengths(names, read))
        assert not tracked.legs and np.abs(tracked.pose - pose).max() < 1e-9
    assert actuators.rates(names, read, lengths)[2] == 0.0
    assert np.array_equal(actuators.lengths([*names, 'strut_2'], [*read, 9.0]), lengths)


def test_encoders_beside_the_drives_have_joints_of_their_own(tmp_path):
    """Gauges beside the pistons of a mirror cell, as in SDSS's mirrorCtrl."""
    content, values = linuxcnc()
    gauges = {'strut_1': ([0.5, 0.4, 0.0], [0.1, 0.25, 0.02]),
              'strut_4': ([-0.1, -0.7, 0.0], [-0.2, -0.2, 0.0])}
    for name, (base, platform) in gauges.items():
        content['legs'][name]['encoder'] = {
            'base': base, 'platform': platform, 'length': [0.2, 1.4]}
    (tmp_path / 'gauges.yaml').write_text(yaml.safe_dump(content, sort_keys=False))
    geometry = load_geometry(tmp_path / 'gauges.yaml')
    tracker = MonitoredTracker(geometry, geometry.home)
    assert tracker.geometry.length_limits[:, 0].tolist() == [0.3, 0.2, 0.3, 0.3, 0.2, 0.3]
    for k in range(200):
        pose = geometry.home @ se3.exp(0.1 * np.sin(0.02 * k * np.arange(1.0, 7.0)))
        read = values(pose[:3, 3], pose[:3, :3])
        assert np.abs(leg_lengths(geometry, pose) - read).max() < 1e-12  # those of the drives
        for leg, (base, platform) in zip((1, 4), gauges.values()):
            read[leg] = np.linalg.norm(pose[:3, :3] @ platform + pose[:3, 3] - base)
        tracked = tracker.track(SECOND + k * PERIOD, read)
        assert tracked.converged and np.abs(tracked.pose - pose).max() < 1e-9
    moved = geometry.readings.base_joints + 1e-3
    text = updated_geometry(tmp_path / 'gauges.yaml', replace(
        geometry.readings, base_joints=moved))
    (tmp_path / 'calibrated.yaml').write_text(text)
    calibrated = load_geometry(tmp_path / 'calibrated.yaml')
    assert np.array_equal(calibrated.readings.base_joints, moved)
    assert np.array_equal(calibrated.base_joints[[1, 4]], geometry.base_joints[[1, 4]])
    with pytest.raises(NameSetError):
        replace(geometry, encoders=replace(geometry.readings, leg_names=tuple('abcdef')))
