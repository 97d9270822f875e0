# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The machines of docs/guides/stewart_machines.md do what its table says."""

import dataclasses
from pathlib import Path
import re
import warnings

import numpy as np
import pytest
from support.platforms.leg_types import reference_values

from liedyn_ros.common.errors import GeometryError
from liedyn_ros.common.resources import config_file
from liedyn_ros.lie import se3
from liedyn_ros.stewart import (
    AssemblyModeSolver, leg_lengths, leg_rates, LegMasses, LegPart, load_geometry,
    MonitoredTracker, PathProver, PlatformMasses, PoseCertifier, SmoothTrajectory, StewartDynamics)
from liedyn_ros.stewart.platform.state import PlatformMeter

PAGE = Path(__file__).parents[3] / 'docs/guides/stewart_machines.md'
ROW = re.compile(r'^\| [^|]+ \| `(stewart_\w+\.yaml)`, (-?[\d.]+) m \| ([^|]+) \|', re.MULTILINE)
MACHINES = ROW.findall(PAGE.read_text(encoding='utf-8'))
USES = 'certificate', 'proof of a path', 'dynamics'


@pytest.fixture(scope='module', params=MACHINES, ids=[row[0] for row in MACHINES])
def machine(request):
    """Return a geometry that loads without a warning, its home, and what its row says."""
    name, height, missing = request.param
    without = missing.split(', ')
    with warnings.catch_warnings():
        warnings.simplefilter('error')
        geometry = load_geometry(config_file(name))
    home = np.eye(4)
    home[2, 3] = float(height)
    return geometry, home, ['proof of all assembly modes' not in without or 'by search',
                            *(use not in without for use in USES)]


def motion(geometry, home):
    """Return 300 poses of a motion at 1 kHz, as large as the machine allows."""
    shift = 0.03 * min(1.0, geometry.characteristic_length)
    trajectory = SmoothTrajectory(
        home, np.array([0.05, 0.05, 0.08, shift, shift, shift]),
        np.array([0.8, 1.0, 0.6, 0.9, 0.7, 1.2]), np.arange(6.0), 0.1)
    return trajectory.pose(1e-3 * np.arange(300))


def works(use):
    """Return whether a use is offered, and not refused for its legs; or what it returns."""
    try:
        found = use()
    except GeometryError as error:
        assert re.search('expected (a strut|struts)', str(error))
        return False
    return True if found is None else found


def test_fourteen_machines_are_on_the_page():
    assert len(MACHINES) == 14


def test_it_is_within_its_limits_and_far_from_singular_at_home(machine):
    geometry, home, _ = machine
    state = PlatformMeter(geometry).measure(home)
    assert not state.flags and state.smallest_singular_value > 0.1


def test_it_is_tracked_at_1_khz_without_a_flag(machine):
    geometry, home, _ = machine
    tracker = MonitoredTracker(geometry, home)
    for k, pose in enumerate(motion(geometry, home)):
        tracked = tracker.track(1_000_000 * k, leg_lengths(geometry, pose))
        assert tracked.converged and not tracked.flags
        assert np.abs(tracked.pose - pose).max() < 1e-12


def test_its_values_are_those_of_root_finders(machine):
    geometry, home, _ = machine
    pose = motion(geometry, home)[-1]
    assert leg_lengths(geometry, pose) == pytest.approx(
        reference_values(geometry, pose), abs=1e-11)


def test_it_has_the_modes_and_proofs_of_its_row(machine):
    geometry, home, expected = machine
    pose = motion(geometry, home)[-1]
    values = leg_lengths(geometry, pose)

    def modes():
        found = AssemblyModeSolver(geometry).solve(values)
        assert min(np.abs(mode.pose - pose).max() for mode in found.modes) < 1e-12
        return None if found.complete else 'by search'

    def certificate():
        assert PoseCertifier(geometry, 1e-5).certify(pose, values).certified

    def path():
        assert PathProver(geometry).prove([home, pose]).proved

    def dynamics():
        part = LegPart(0.2, 0.01, 1e-3, 1e-4)
        massive = dataclasses.replace(geometry, masses=PlatformMasses(
            3.0, (0.02, 0.03, 0.04, 0.0, 0.0, 0.0), (0.01, 0.02, 0.03),
            (LegMasses(part, part),) * 6))
        model, step = StewartDynamics(massive), 1e-4
        twist = np.array([0.2, -0.1, 0.3, 0.02, 0.01, -0.03])
        ahead, behind = (model.energy(
            se3.compose(pose, se3.exp((sign + 0.25 * step) * step * twist)),
            (1.0 + 0.5 * sign * step) * twist) for sign in (1.0, -1.0))
        power = (sum(ahead) - sum(behind)) / (2.0 * step)
        forces = model.inverse(pose, twist, 0.5 * twist).forces
        assert forces @ leg_rates(geometry, pose, twist) == pytest.approx(power, abs=1e-6)
    assert [works(use) for use in (modes, certificate, path, dynamics)] == expected
