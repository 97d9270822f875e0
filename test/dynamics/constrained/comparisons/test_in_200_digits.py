# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""
Constrained dynamics to order 3 beside a motion that is followed with 200 digits.

The accelerations make a polynomial of each coordinate. Along it the equations of the closure,
plain products of axes and positions, must keep zero derivatives. With the closure's wrenches,
mechanics in the ground frame must need the given joint forces.
"""

from decimal import Context, Decimal, localcontext
import math

import numpy as np
import pytest
from support.machines.looped_machines import Looped, random_looped
from support.witnesses.high_precision import decimals
from support.witnesses.motion_witness import (
    axes_and_origin, derivatives, DIGITS, Exact, product, witness)

from liedyn_ros.dynamics.constrained import ConstrainedDynamics, project
from liedyn_ros.model import Closure, CLOSURE_TYPES, Model

ORDER = 3
TYPES = ('revolute', 'prismatic', 'revolute', 'universal', 'helical')


@pytest.mark.parametrize('kind', CLOSURE_TYPES)
def test_a_closure_holds_and_the_forces_are_those_of_the_motion(kind: str) -> None:
    looped: Looped = random_looped(60, (kind,), 6, TYPES)
    model, rng = looped.model, np.random.default_rng(61)
    dynamics = ConstrainedDynamics(model, dissipation=False)
    q, v = project(dynamics, looped.q, rng.normal(size=model.nv))
    tau = rng.normal(size=(ORDER + 1, model.nv))
    solution = dynamics.forward(q, v, tau)
    motion = np.vstack((v, solution.a))
    paths = np.array([rate / math.factorial(k + 1) for k, rate in enumerate(motion)])
    found = witness(model, q, paths, np.zeros((ORDER + 1, len(model.bodies), 6)),
                    solution.wrenches)
    open_by = np.abs(derivatives(equations(model, model.closures[0], found.poses))).max(axis=1)
    for k in range(ORDER + 3):  # of position: one more than of velocity
        size = 1.0 + np.abs(derivatives(found.poses)[:k + 1]).max()
        assert open_by[k] < 1e-9 * size, k
    for k in range(ORDER + 1):
        size = 1.0 + np.abs(solution.wrenches[:k + 1]).max() + np.abs(solution.a[:k + 1]).max()
        assert np.abs(found.tau[k] - tau[k]).max() < 1e-9 * size, k


def equations(model: Model, closure: Closure, bodies: Exact) -> Exact:
    """Return the series of what a closure holds at a constant."""
    (ra, pa), (rb, pb) = (axes_and_origin(model, body, frame, bodies) for body, frame in (
        (closure.body_a, closure.frame_a), (closure.body_b, closure.frame_b)))
    with localcontext(Context(prec=DIGITS)):
        to_a = np.swapaxes(ra, 1, 2)
        r, p = product(to_a, rb), product(to_a, pb - pa)  # of frame b in frame a
        parallel = [r[:, 2, 0], r[:, 2, 1]]
        turned = [*parallel, r[:, 0, 1]]
        across = [p[:, 0], p[:, 1]]
        rows = {
            'weld': [*turned, *p.T], 'revolute': [*parallel, *p.T],
            'prismatic': [*turned, *across], 'helical': [*parallel, *across],
            'cylindrical': [*parallel, *across], 'planar': [*parallel, p[:, 2]],
            'universal': [r[:, 0, 1], *p.T], 'spherical': [*p.T], 'point_on_line': across,
            'point_on_plane': [p[:, 2]],
            'rod': [product(p[:, None, :], p)[:, 0] - constant(closure.length**2, len(p))],
        }[closure.type_name]
        if closure.type_name == 'helical':  # the rate of travel is pitch times that of the angle
            rows += [screw(closure.pitch, r, p)]
        return np.array(rows).T


def screw(pitch: float, r: Exact, p: Exact) -> Exact:
    """Return the series of z' - pitch (c s' - s c') of a turn about z, a zero before it."""
    count = np.arange(1, len(p))
    c, s = r[:, 0, 0], r[:, 1, 0]
    turn = convolve(c, s[1:] * count) - convolve(s, c[1:] * count)
    return np.concatenate(([0 * p[0, 2]], p[1:, 2] * count - Decimal(pitch) * turn))


def convolve(a: Exact, b: Exact) -> Exact:
    """Return the product of two series of numbers, as long as the shorter one."""
    return np.array([sum(a[j] * b[k - j] for j in range(k + 1))
                     for k in range(min(len(a), len(b)))])


def constant(value: float, count: int) -> Exact:
    """Return the series of a constant."""
    return decimals(np.concatenate(([value], np.zeros(count - 1))))
