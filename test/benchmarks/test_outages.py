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
from liedyn_ros.aerial import Reference
from liedyn_ros.control import Drives
from liedyn_ros.control.follower import Phase


@pytest.mark.parametrize('outage', [
    Outage('server', 'server', 2.0, begin=1.0), Outage('late', latency=0.1),
    Outage('states', 'states', 0.5, begin=1.0)], ids=lambda outage: outage.name)
@pytest.mark.parametrize('mass', [0.8, 1.2])
@pytest.mark.full
def test_a_flight_survives_in_wind(outage, mass):
    passed = flights.fly(flights.vehicle(), Reference(), outage, 1, mass=mass, duration=5.0,
                         wind=(2.0, 1.0))
    assert not passed.crashed
    assert passed.phase in (Phase.FOLLOWING.value, Phase.WAITING.value)
    assert passed.end < 0.1


@pytest.mark.parametrize('mujoco', [False, pytest.param(True, marks=pytest.mark.full)])
def test_a_flight_without_commands_hovers_by_itself_and_goes_on(mujoco):
    """Rotors that held the last command turned it over within 2 s."""
    if mujoco:
        pytest.importorskip('mujoco')
    passed = flights.fly(flights.vehicle(), Reference(), Outage('lost', 'commands', 2.0), 1,
                         mass=0.8, duration=7.0, wind=(1.0, 0.5), mujoco=mujoco)
    assert not passed.crashed and passed.attitude < 30.0
    assert passed.phase in (Phase.FOLLOWING.value, Phase.WAITING.value)


@pytest.mark.full
@pytest.mark.parametrize('mujoco', [False, True])
def test_a_platform_without_commands_brakes_and_goes_on(mujoco):
    if mujoco:
        pytest.importorskip('mujoco')
    braked = platforms.move(Outage('lost', 'commands', 99.0), 1, duration=4.0, mujoco=mujoco)
    assert not braked.crashed and braked.phase == Drives.BRAKED.value
    assert braked.attitude < 30.0  # the reference waits; it went on to 36 degrees
    again = platforms.move(Outage('lost', 'commands', 2.0), 1, duration=7.0, mujoco=mujoco)
    assert not again.crashed and again.end < 0.03 and again.force <= 1.0


@pytest.mark.parametrize('seed', range(3))
@pytest.mark.full
def test_silence_in_strong_wind_ends_in_a_stop_that_was_told_before_it_turns_over(seed):
    passed = flights.fly(flights.vehicle(), Reference(), Outage('states', 'states', 2.0), seed,
                         mass=0.8, duration=8.0)
    assert passed.phase == Phase.STOPPED.value and passed.attitude < 60.0
    assert Phase.BLIND.value in passed.phases


def flight(outage, falsify=None, answer=None):
    """Fly 6 s; falsify gets time and velocity of each state, answer time and forces of each."""
    class Lied(flights.Flight):

        def _see(self, now, stamp, q, v):
            if falsify is not None:
                falsify(now, v)
            super()._see(now, stamp, q, v)

    one = Lied(flights.vehicle(), Reference(), outage, 1, 0.9, (1.5, 0.7), False)
    if answer is not None:
        honest = one.control.answer
        one.control.answer = lambda wanted, tau: honest(wanted, answer(wanted.time, tau))
    return one.run(6.0)


@pytest.mark.parametrize(('place', 'velocity'), [(0, 100.0), (4, 1e4), (8, 1e160)])
@pytest.mark.parametrize('time', [2.5, 2.996])
def test_a_stray_velocity_counts_as_none_also_before_a_silence(place, velocity, time):
    """It was taken for a push: rotors stopped at the next pause, or the vehicle turned over."""
    def falsify(now, v):
        if abs(now - time) < 1e-6:
            v[place] = velocity

    passed = flight(Outage('states', 'states', 0.3, begin=3.0), falsify)
    assert passed.attitude < 1.0 and passed.phase == Phase.FOLLOWING.value


@pytest.mark.parametrize(('place', 'force'), [(0, 1e3), (5, 1e200), (8, 1e6)])
def test_an_answer_that_no_actuator_gives_counts_as_none(place, force):
    """It was learnt, and where the server died then the vehicle turned over."""
    def answer(time, tau):
        if abs(time - 2.992) < 3e-3:
            tau[place] = force
        return tau

    passed = flight(Outage('server', 'server', 99.0, begin=3.0), answer=answer)
    assert passed.attitude < 1.0 and passed.phase == Phase.HOVERING.value


@pytest.mark.parametrize(('latency', 'most', 'end'), [
    (0.08, 4.0, Phase.FOLLOWING), (0.2, 45.0, Phase.STOPPED)])
def test_states_that_come_late_are_reckoned_on_or_count_as_none(latency, most, end):
    """A flight by states of 0.1 s turned over."""
    passed = flight(Outage('late', 'states', latency=latency))
    assert passed.attitude < most and passed.phase == end.value


@pytest.mark.full
@pytest.mark.parametrize(('latency', 'end'), [(0.08, Phase.FOLLOWING), (0.2, Phase.FEELING)])
def test_poses_that_come_late_are_reckoned_on_or_count_as_none(latency, end):
    passed = platforms.move(Outage('late', latency=latency), 1, duration=5.0, mass=1.2)
    assert not passed.crashed and passed.attitude < 6.0 and passed.phase == end.value


@pytest.mark.full
def test_a_gust_that_turns_after_the_last_state_is_in_the_bound_of_silence():
    """It turned to 90 degrees in MuJoCo, and 78 in ours."""
    pytest.importorskip('mujoco')
    passed = flights.fly(flights.vehicle(), Reference(), Outage('states', 'states', 99.0), 5,
                         mass=1.122, duration=7.0, mujoco=True)
    assert not passed.crashed and passed.attitude < 75.0 and passed.phase == Phase.STOPPED.value


@pytest.mark.full
def test_a_steady_wind_is_known_without_states():
    """What differs are masses that are 20 % off; 18.5 degrees were seen where it was not."""
    outage = Outage('states', 'states', 1.4, begin=4.0)
    passed = flights.fly(flights.vehicle(), Reference(), outage, 1, mass=0.8, duration=7.0,
                         wind=(3.0, 0.0))
    assert passed.attitude < 8.0 and passed.phase != Phase.STOPPED.value


@pytest.mark.full
def test_arms_that_are_swung_out_end_a_silence_earlier():
    """There errors grow by themselves: a flight of 1.4 s went on, and turned to 28 degrees."""
    outage = Outage('states', 'states', 2.0, begin=9.0)
    passed = flights.fly(flights.vehicle(), Reference(), outage, 0, mass=0.8, duration=12.0,
                         wind=(3.0, 0.0))
    assert passed.attitude < 28.0 and passed.phase == Phase.STOPPED.value


@pytest.mark.parametrize('what', ['poses', 'second'])
@pytest.mark.parametrize('mujoco', [False, True])
@pytest.mark.full
def test_without_poses_a_platform_rests_by_its_legs(what, mujoco):
    if mujoco:
        pytest.importorskip('mujoco')
    passed = platforms.move(Outage(what, what, 2.0, begin=1.0), 1, duration=5.0, mujoco=mujoco)
    assert not passed.crashed and passed.distance < 0.06 and passed.force <= 1.0
    assert Phase.FEELING.value in passed.phases and passed.phase == Phase.FOLLOWING.value


@pytest.mark.full
def test_poses_and_legs_that_pause_end_in_the_motion_again():
    passed = platforms.move(Outage('states', 'states', 0.3, begin=1.0), 1, duration=4.0)
    assert not passed.crashed and passed.end < 0.03 and passed.force <= 1.0


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
