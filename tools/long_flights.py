# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""
Write the table of long flights in docs/dynamics.md: what the variational integrator keeps.

    python -m tools.long_flights

The machine flies four times for ten minutes of simulated time in steps of 10 ms, which takes
minutes. In orbit, each body falls towards the Earth. In free flight, momentum and energy are taken
about the base, less the velocity of the centre of mass. Seen from the ground, the moment of the
linear momentum has lost the digits of the position.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from tools.command_line import no_arguments

from liedyn_ros.common.checks import Array
from liedyn_ros.common.resources import config_file
from liedyn_ros.dynamics import Dynamics, stormer_verlet
from liedyn_ros.model import load_yaml, Model

DOCUMENT = Path(__file__).parents[1] / 'docs/dynamics.md'
BEGIN, END = '<!-- long flights: begin -->', '<!-- long flights: end -->'
STEP = 1e-2  # s
TIMES = (60, 600)  # s, at which a row ends
SAMPLE = 50  # steps between two samples
SPIN = np.array((0.4, -0.3, 0.5, 0.2, 0.1, 0.6, 1.0, -0.8, 0.7, -1.0, 0.5, 0.9))
EARTH, RADIUS = 3.986004418e14, 6.778e6  # m^3/s^2, m: an orbit 400 km up
FLIGHTS = {'coasting': (False, 0.0), 'coasting at 300 m/s': (False, 300.0),
           'free fall': (True, 0.0)}


@dataclass(frozen=True)
class Kept:
    """Invariants of free flight: linear and angular momentum about the centre of mass, energy."""

    linear: Array
    angular: Array
    energy: float


def kept(dynamics: Dynamics, q: Array, v: Array) -> Kept:
    """Return momenta and the energy of the internal motion; the base floats."""
    q, v = q.copy(), v.copy()
    q[:3] = 0.0
    rotation, linear = dynamics.kinematics(q).poses[0, :3, :3], dynamics.momentum(q, v)[3:]
    v[3:6] -= rotation.T @ (linear / dynamics.model.mass)
    momentum = dynamics.momentum(q, v)
    angular = momentum[:3] - np.cross(dynamics.center_of_mass(q), momentum[3:])
    return Kept(linear, angular, dynamics.kinetic_energy(q, v))


def machine(falls: bool) -> Model:
    """Return the aerial manipulator, with gravity if it falls."""
    model = load_yaml(config_file('aerial_manipulator.yaml'))
    if falls:
        return model
    return replace(model, link_table=replace(model.link_table, gravity=np.zeros(3)))


def fly(falls: bool, speed: float) -> Iterator[list[float]]:
    """Yield at TIMES the largest relative errors on the way, of both momenta and of the energy."""
    model = machine(falls)
    d, q, v, free = Dynamics(model, dissipation=False), model.neutral(), SPIN.copy(), np.zeros(12)
    v[3] += speed
    start, errors = kept(d, q, v), [0.0, 0.0, 0.0]
    for count in range(1, round(TIMES[-1] / STEP) + 1):
        q, v = stormer_verlet.step(d, q, v, STEP, free)
        if count % SAMPLE == 0:
            now = kept(d, q, v)
            linear = start.linear + model.mass * model.gravity * (count * STEP)
            errors = [*map(max, errors, (
                difference(now.linear, linear), difference(now.angular, start.angular),
                abs(now.energy / start.energy - 1.0)))]
        if count * STEP in TIMES:
            yield errors


def difference(found: Array, wanted: Array) -> float:
    """Return the length of a difference over that of what was wanted."""
    return float(np.linalg.norm(found - wanted) / np.linalg.norm(wanted))


def orbit() -> Iterator[list[float]]:
    """Yield at TIMES the largest relative errors, of the moment about the Earth and of energy."""
    model = machine(False)
    d, q, v, free = Dynamics(model, dissipation=False), model.neutral(), SPIN.copy(), np.zeros(12)
    mass = np.array([body.inertia.mass if body.inertia else 0.0 for body in model.body_list])
    center = np.array([body.inertia.center_of_mass if body.inertia else np.zeros(3)
                       for body in model.body_list])
    q[0], v[4] = RADIUS, np.sqrt(EARTH / RADIUS)

    def attraction(q: Array) -> tuple[Array, float]:
        """Return the wrenches (B, 6) of the Earth and the potential energy."""
        poses = d.kinematics(q).poses
        at = (poses[:, :3, :3] @ center[:, :, None])[:, :, 0] + poses[:, :3, 3]
        distance = np.linalg.norm(at, axis=1)
        pull = -(EARTH * mass / distance**3)[:, None] * at
        force = (poses[:, :3, :3].transpose(0, 2, 1) @ pull[:, :, None])[:, :, 0]
        return np.hstack((np.cross(center, force), force)), -EARTH * float((mass / distance).sum())

    def half_kick(q: Array, v: Array) -> Array:
        return v + 0.5 * STEP * d.forward(q, free, free, attraction(q)[0])

    def sums() -> tuple[Array, float]:
        return d.momentum(q, v)[:3], d.kinetic_energy(q, v) + attraction(q)[1]

    (moment, energy), errors = sums(), [0.0, 0.0]
    for count in range(1, round(TIMES[-1] / STEP) + 1):
        q, v = stormer_verlet.step(d, q, half_kick(q, v), STEP, free)
        v = half_kick(q, v)
        if count % SAMPLE == 0:
            now, left = sums()
            errors = [*map(max, errors, (difference(now, moment), abs(left / energy - 1.0)))]
        if count * STEP in TIMES:
            yield errors


def row(name: str, time: int, errors: list[float]) -> str:
    """Return a row of the table and show it."""
    text = f'| {name} | {time} s | {" | ".join(f"{each:.0e}" for each in errors)} |'
    print(text, flush=True)
    return text


def main() -> None:
    """Write the table."""
    no_arguments(__doc__)
    rows = ['| | after | linear momentum | angular momentum | energy |',
            '| --- | --- | --- | --- | --- |']
    for name, flight in FLIGHTS.items():
        for time, errors in zip(TIMES, fly(*flight)):
            rows.append(row(name, time, errors))
    for time, errors in zip(TIMES, orbit()):
        rows.append(row('orbit, 400 km up', time, [np.nan, *errors]).replace('nan', '-'))
    before, _, rest = DOCUMENT.read_text(encoding='utf-8').partition(BEGIN)
    table = '\n'.join(rows)
    DOCUMENT.write_text(f'{before}{BEGIN}\n{table}\n{END}{rest.partition(END)[2]}',
                        encoding='utf-8')


if __name__ == '__main__':
    main()
