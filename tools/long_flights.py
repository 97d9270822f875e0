# Copyright 2026 The liedyn_ros authors
#
# Licensed under the Apache License, Version 2.0 (the "License");
# you may not use this file except in compliance with the License.
# You may obtain a copy of the License at
#
#     http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
# See the License for the specific language governing permissions and
# limitations under the License.

"""
Write the table of long flights in docs/dynamics.md: what the variational integrator keeps.

    python -m tools.long_flights

The machine flies for ten minutes of simulated time in steps of 10 ms, three times, which takes
minutes. Momentum and energy are taken about the base, less the velocity of the centre of mass:
seen from the ground, the moment of the linear momentum has lost the digits of the position.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from liedyn_ros.common.checks import Array
from liedyn_ros.common.resources import config_file
from liedyn_ros.dynamics import Dynamics, stormer_verlet
from liedyn_ros.model import load_yaml

DOCUMENT = Path(__file__).parents[1] / 'docs/dynamics.md'
BEGIN, END = '<!-- long flights: begin -->', '<!-- long flights: end -->'
STEP = 1e-2  # s
TIMES = (60, 600)  # s, at which a row ends
SAMPLE = 50  # steps between two samples
SPIN = np.array((0.4, -0.3, 0.5, 0.2, 0.1, 0.6, 1.0, -0.8, 0.7, -1.0, 0.5, 0.9))
FLIGHTS = {'coasting': (False, 0.0), 'coasting at 300 m/s': (False, 300.0),
           'free fall': (True, 0.0)}


@dataclass(frozen=True)
class Kept:
    """What free flight keeps: linear and angular momentum about the centre of mass, energy."""

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


def fly(falls: bool, speed: float) -> Iterator[tuple[float, float, float]]:
    """Yield at TIMES the largest errors on the way: of both momenta and of the energy, relative."""
    model = load_yaml(config_file('aerial_manipulator.yaml'))
    if not falls:
        model = replace(model, link_table=replace(model.link_table, gravity=np.zeros(3)))
    d, q, v, free = Dynamics(model, dissipation=False), model.neutral(), SPIN.copy(), np.zeros(12)
    v[3] += speed
    start, errors = kept(d, q, v), np.zeros(3)
    for count in range(1, round(TIMES[-1] / STEP) + 1):
        q, v = stormer_verlet.step(d, q, v, STEP, free)
        if count % SAMPLE == 0:
            now = kept(d, q, v)
            linear = start.linear + model.mass * model.gravity * (count * STEP)
            errors = np.maximum(errors, (
                np.linalg.norm(now.linear - linear) / np.linalg.norm(linear),
                np.linalg.norm(now.angular - start.angular) / np.linalg.norm(start.angular),
                abs(now.energy / start.energy - 1.0)))
        if count * STEP in TIMES:
            yield tuple(errors.tolist())


def main() -> None:
    """Write the table."""
    rows = ['| | after | linear momentum | angular momentum | internal energy |',
            '| --- | --- | --- | --- | --- |']
    for name, flight in FLIGHTS.items():
        for time, errors in zip(TIMES, fly(*flight)):
            rows.append(f'| {name} | {time} s | {" | ".join(f"{each:.0e}" for each in errors)} |')
            print(rows[-1], flush=True)
    before, _, rest = DOCUMENT.read_text(encoding='utf-8').partition(BEGIN)
    table = '\n'.join(rows)
    DOCUMENT.write_text(f'{before}{BEGIN}\n{table}\n{END}{rest.partition(END)[2]}',
                        encoding='utf-8')


if __name__ == '__main__':
    main()
