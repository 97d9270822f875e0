# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""MuJoCo as the physics of our simulators: the same state, another integrator, a ground."""

import numpy as np
import pytest

from liedyn_ros.aerial.flight import FlightControl
from liedyn_ros.aerial.simulation import MujocoSimulation
from liedyn_ros.common.errors import LimitError
from liedyn_ros.control import Drives
from liedyn_ros.control.follower import Phase
from liedyn_ros.dynamics import Dynamics
from liedyn_ros.dynamics.integrators import runge_kutta_munthe_kaas
from liedyn_ros.dynamics.mujoco_twin import MujocoTwin

pytest.importorskip('mujoco')


@pytest.mark.parametrize('floating', [False, True])
def test_it_moves_as_our_dynamics_do(machine, reference, floating):
    """
    After 20 ms. Its integrator is of first order: half the step leaves half the error.

    Of the extrapolation's error the order is the second: that of the first times step and rate of
    the motion, some 100 rad/s, which five times are a twentieth of it.
    """
    model = machine.model
    rng = np.random.default_rng(7)
    q = model.integrate(reference.at(0.0).q, 0.2 * rng.normal(size=12))
    v, tau, dt = rng.normal(size=12), rng.normal(size=12), 1e-4
    if not floating:
        v[:6], tau[:6] = 0.0, Dynamics(model).inverse(q, 0 * v, 0 * v)[:6]
    twins = [MujocoTwin(model, dt), MujocoTwin(model, 0.5 * dt)]
    for count, twin in zip((200, 400), twins):
        twin.set_state(q, v)
        for _ in range(count):
            twin.step(tau)
    dynamics = Dynamics(model, dissipation=False)
    for _ in range(200):
        q, v = runge_kutta_munthe_kaas.step(dynamics, q, v, dt, tau)
    coarse, fine = (np.concatenate((model.difference(q, twin.q), twin.v - v)) for twin in twins)
    np.testing.assert_allclose(fine, coarse - fine, atol=0.05 * np.abs(fine).max())


@pytest.mark.full
def test_a_flight_in_it_follows_the_reference_and_the_ground_holds(machine, reference):
    simulation = MujocoSimulation(machine, reference.at(0.0).q, 0.002)
    control = FlightControl(machine, reference)
    for k in range(1500):
        if k % 2 == 0:
            wanted = control.see(simulation.time, simulation.q, simulation.v)
            command = control.answer(wanted, machine.dynamics.inverse(
                wanted.q, wanted.v, wanted.acceleration))
            simulation.command_rotors(command.rotors.speeds)
            simulation.command_torques(command.torques)
        simulation.step()
    assert control.phase is Phase.FOLLOWING
    assert np.linalg.norm(wanted.error.error[3:6]) < 1e-3
    for _ in range(6000):  # without commands it hovers, descends, and stands on its arms
        simulation.step()
        if simulation.drives is Drives.LANDED:
            break
    assert simulation.drives is Drives.LANDED and 0.0 < simulation.q[2] < 0.8
    with pytest.raises(LimitError) as caught:
        simulation.command_rotors(command.rotors.speeds)
    assert caught.value.got == Drives.LANDED.value
    for _ in range(1000):
        simulation.step()
    assert -0.1 < simulation.q[2] < 0.8  # it lies on the ground, and does not fall through it
