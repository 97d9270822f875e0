# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.


"""
Tracking errors in our physics and in MuJoCo's, of each machine under control: a table.

    python -m benchmarks.outages.physics [--write]

The largest errors from 2 s on. The vehicle and the platform fly by their controllers as beside
outages, without any. An arm and closed loops are under computed torque at 1 kHz, a quadruped sways
on its feet. --write renews docs/tables/physics.csv.
"""

from argparse import ArgumentParser
from collections.abc import Callable, Sequence
import sys

import numpy as np

from benchmarks.document import linked, renew
from benchmarks.outages import flights, legs, platforms
from benchmarks.outages.outage import Outage
from benchmarks.outages.table import PAGE
from benchmarks.record import keep
from liedyn_ros.aerial import AerialManipulator, Reference
from liedyn_ros.common.checks import Array
from liedyn_ros.common.markup import print_table
from liedyn_ros.common.resources import config_file
from liedyn_ros.control.robot_simulation import RobotSimulation
from liedyn_ros.dynamics import Dynamics, runge_kutta_munthe_kaas
from liedyn_ros.dynamics.constrained import (
    assemble, complete_velocity, ConstrainedDynamics, projected_runge_kutta)
from liedyn_ros.model import load_model, Model, ModelBuilder, SpatialInertia

SETTLED, DURATION, STEP = 2.0, 5.0, 1e-3  # s
STIFFNESS, DAMPING = 400.0, 40.0  # 1/s^2, 1/s
NONE, STILL = Outage('none'), (0.0, 0.0)
COLUMNS = 'machine', 'error', 'own', 'MuJoCo', 'reason for the difference'
PAYLOAD = 0.1  # kg


def with_payload(model: Model) -> Model:
    """Return the vehicle with a mass in a hand that no controller knows."""
    builder = ModelBuilder.of(model)
    builder.add_payload('payload', model.bodies[-1], SpatialInertia(
        PAYLOAD, np.zeros(3), np.zeros((3, 3))))
    return builder.build()


def flight(mujoco: bool, mass: float = 1.0, wind: tuple[float, float] = STILL,
           loaded: bool = False) -> tuple[float, float]:
    """Return the largest errors (deg, m) of the vehicle."""
    true = flights.vehicle()
    one = flights.Flight(AerialManipulator(with_payload(true.model)) if loaded else true,
                         Reference(), NONE, 1, mass, wind, mujoco,
                         known=true if loaded else None)
    errors = []
    while one.simulation.time < DURATION:
        one.step()
        if one.simulation.time > SETTLED:
            errors.append(one.errors())
    return tuple(np.max(errors, axis=0))


def platform(mujoco: bool, push: tuple[float, float] = STILL) -> tuple[float, float]:
    """Return the largest errors (deg, m) of the platform."""
    one, errors, k = platforms.Motion(NONE, np.random.default_rng(1), 1.0, push, mujoco), [], 0
    while one.simulation.time < DURATION:
        one.step(k % platforms.PERIOD == 0)
        k += 1
        if one.simulation.time > SETTLED:
            errors.append(one.errors())
    return tuple(np.max(errors, axis=0))


def computed_torque(model: Model, start: Array, joints: Sequence[str], sweep: float,
                    mujoco: bool) -> float:
    """Return the largest error (rad) of joints that swing about a start, by computed torque."""
    looped = bool(model.closures)
    robot = ConstrainedDynamics(model) if looped else Dynamics(model)
    at_q = [model.joint(name).qi for name in joints]
    at_v = [model.joint(name).vi for name in joints]
    known = np.zeros(model.nv, dtype=bool)
    known[at_v] = True
    q, v = start.copy(), np.zeros(model.nv)
    simulation = RobotSimulation(model, q, STEP) if mujoco else None
    errors, home = [], start[at_q]
    for k in range(round(DURATION / STEP)):
        wave, w = 1.0 - np.cos(2.0 * STEP * k), 2.0
        late = 2.0 * STEP * k
        goal, rate, a = (home + sweep * wave, sweep * w * np.sin(late),
                         sweep * w**2 * np.cos(late))
        if k * STEP > SETTLED:
            errors.append(np.abs(goal - q[at_q]).max())
        wanted = np.zeros(model.nv)
        wanted[at_v] = a + DAMPING * (rate - v[at_v]) + STIFFNESS * (goal - q[at_q])
        if isinstance(robot, ConstrainedDynamics):
            moved = robot.hybrid(q, v, known, wanted, np.zeros(model.nv))
            tau = moved.tau
        else:
            tau = robot.inverse(q, v, wanted)
        if simulation is not None:
            simulation.command([tau[model.joint(name).vi] for name in simulation.driven])
            simulation.step()
            q, v = simulation.q.copy(), simulation.v.copy()
            if isinstance(robot, ConstrainedDynamics):  # as loop_state_publisher completes them
                q = assemble(robot, q, held=dict(zip(joints, q[at_q].tolist())))
                v = complete_velocity(robot, q, v, known)
        elif isinstance(robot, ConstrainedDynamics):
            q, v = projected_runge_kutta.step(robot, q, v, STEP, tau)
        else:
            q, v = runge_kutta_munthe_kaas.step(robot, q, v, STEP, tau)
    return float(np.max(errors))


def rows() -> list[tuple[str, ...]]:
    """Return the rows of the table."""
    found = list[tuple[str, ...]]()

    def add(machine: str, reason: str, run: Callable[[bool], tuple[float, float]]) -> None:
        own, theirs = run(False), run(True)
        for name, unit, k, scale in (('attitude', 'deg', 0, 1.0), ('position', 'mm', 1, 1e3)):
            found.append((machine, f'{name}, {unit}', f'{scale * own[k]:.3g}',
                          f'{scale * theirs[k]:.3g}', reason))

    add('vehicle', 'the integrator: semi-implicit Euler of 4 ms', flight)
    add('vehicle, masses 20 % too small', 'as above', lambda twin: flight(twin, 0.8))
    add(f'vehicle, {PAYLOAD:g} kg in a hand', 'as above', lambda twin: flight(twin, loaded=True))
    add('vehicle, wind 3 N, gusts 1.5 N', 'as above', lambda twin: flight(twin, wind=flights.WIND))
    add('platform', 'friction of 0.5 N in each drive, which ours lacks', platform)
    add('platform, push 10 N, gusts 3 N', 'as above', lambda twin: platform(twin, platforms.PUSH))
    add('quadruped, stands and sways', 'ground that gives way by 13 mm under round feet',
        lambda twin: legs.sway(twin, DURATION, SETTLED))
    arm = load_model(config_file('arm.urdf'))
    five_bar = load_model(config_file('five_bar.yaml'))
    for name, model, sweep, reason in (
            ('arm', arm, 0.3, 'the integrator: semi-implicit Euler of 1 ms'),
            ('five-bar', five_bar, 0.1, 'the same, and constraints that give way')):
        joints = [joint.name for joint in model.joint_list
                  if joint.actuated and joint.type_name != 'fixed']
        start = assemble(ConstrainedDynamics(model), model.neutral()) if model.closures else (
            np.full(model.nq, 0.3))
        own, theirs = (1e3 * computed_torque(model, start, joints, sweep, twin)
                       for twin in (False, True))
        found.append((name, 'joints, mrad', f'{own:.3g}', f'{theirs:.3g}', reason))
    return found


def main(arguments: Sequence[str] | None = None) -> int:
    """Print and keep the table."""
    parser = ArgumentParser(description=__doc__)
    parser.add_argument('--write', action='store_true', help=f'renew {PAGE.name}')
    table = rows()
    print_table(COLUMNS, table)
    print(keep('physics', {'rows': [dict(zip(COLUMNS, row)) for row in table]}))
    if parser.parse_args(arguments).write:
        renew(PAGE, 'physics', linked('physics', COLUMNS, table))
    return 0


if __name__ == '__main__':
    sys.exit(main())
