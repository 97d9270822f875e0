# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""A sample of the outages: the same flights and motions as those of the page."""

import pytest

from benchmarks.outages import flights, platforms
from benchmarks.outages.outage import Outage
from liedyn_ros.aerial import Phase, Reference


@pytest.mark.parametrize('outage', [
    Outage('server', 'server', 2.0, begin=1.0), Outage('late', latency=0.1),
    Outage('states', 'states', 0.5, begin=1.0)], ids=lambda outage: outage.name)
@pytest.mark.parametrize('mass', [0.8, 1.2])
def test_a_flight_survives_in_wind(outage, mass):
    passed = flights.fly(flights.vehicle(), Reference(), outage, 1, mass=mass, duration=5.0)
    assert not passed.crashed
    assert passed.phase in (Phase.FLYING.value, Phase.WAITING.value)
    assert passed.end < 0.1


def test_poses_that_pause_end_in_the_motion_again():
    passed, force = platforms.move(Outage('poses', 'states', 0.3, begin=1.0), 1, duration=4.0)
    assert not passed.crashed and passed.end < 0.03 and force <= 1.0


def test_a_pose_near_a_singularity_takes_no_great_force():
    import numpy as np

    from liedyn_ros.common.resources import config_file
    from liedyn_ros.lie import SE3, SO3
    from liedyn_ros.stewart import load_geometry, PlatformController, StewartDynamics
    control = PlatformController(
        StewartDynamics(load_geometry(config_file('stewart_geometry.yaml'))), platforms.motion())
    most = np.abs(control.limits).max()
    for turn in (0.3, 1.0, 1.5, 1.569, 1.5707, 1.57079):
        pose = SE3.from_rotation_translation(SO3.from_rpy(0.0, 0.0, turn), [0.0, 0.0, 0.5]).matrix
        command = control.command(0.0, 0.0, pose, np.zeros(6))
        assert np.abs(command.forces).max() <= most * command.share * (1.0 + 1e-12)
    assert command.share < 0.01 and most < 1e3
