# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""No search from other laws finds a run that is faster by more than 1 % on small cases."""

from functools import cache
import sys

import numpy as np
import pytest
from scipy.optimize import minimize

from liedyn_ros.common.checks import Array
from liedyn_ros.dynamics import Dynamics
from liedyn_ros.model import ModelBuilder, pose, SpatialInertia
from liedyn_ros.retiming import MotionLimits, retime, Retimed, SplinePath

TORQUE = np.array([25.0, 6.0])
STARTS = 6


@cache
def planned(joints: int, rate: float) -> Retimed:
    """Return a run of a pendulum or a double one by the program alone: limits hold on the grid."""
    builder, parent = ModelBuilder('arm'), None
    for name in ('shoulder', 'elbow')[:joints]:
        builder.add_body(name + '_link', SpatialInertia(1.5, [0, 0, 0.2], 0.02 * np.eye(3)))
        builder.add_joint(name, 'revolute', parent, name + '_link', axis=[0, 1, 0],
                          placement=pose([0.0, 0.0, 0.0 if parent is None else 0.4]))
        parent = name + '_link'
    arm = Dynamics(builder.build())
    points = np.array([[0.0, 0.2], [1.2, -0.9], [0.3, 0.8], [2.0, 0.1]])[:, :joints]
    torque = TORQUE[:joints]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys.modules[retime.__module__], 'within_intervals',
                      lambda _, found, z0, *further: z0 * found)
        return retime(arm, SplinePath(arm.model, points), MotionLimits(
            torque=torque, torque_rate=rate * torque), intervals=16)


def searched(run: Retimed, start: Array) -> float:
    """Return the time that a general search finds from a law, in parts of the run's."""
    grid, margins = run.grid, run.margins.at_grid()

    def time(logarithms: Array) -> float:
        return float(grid.weights @ grid.at_ends(np.exp(logarithms)).z**-0.5)

    def room(logarithms: Array) -> Array:
        unknowns = np.exp(logarithms)
        return 1.0 - np.concatenate([margins.within(rows, grid, unknowns).ravel()
                                     for rows in (margins.states, margins.rates)])

    best, scale = np.log(run.unknowns), time(np.log(run.unknowns))
    found = minimize(lambda x: time(x) / scale, best + start, method='SLSQP',
                     constraints={'type': 'ineq', 'fun': room},
                     options={'maxiter': 300, 'ftol': 1e-8})
    return float(found.fun) if room(found.x).min() > -1e-4 else np.inf


@pytest.mark.full
@pytest.mark.parametrize('joints', [1, 2])
@pytest.mark.parametrize('rate', [5.0, 20.0])
def test_a_general_search_from_random_laws_finds_no_faster_run(joints: int, rate: float) -> None:
    run, rng = planned(joints, rate), np.random.default_rng(33)
    times = [searched(run, np.convolve(rng.normal(scale=scale, size=run.grid.unknowns + 4),
                                       np.ones(5) / 2.0, mode='valid') - scale)
             for scale in np.linspace(0.1, 1.5, STARTS)]
    assert min(times) > 0.99
    assert min(times) < 1.02  # the search finds it too
