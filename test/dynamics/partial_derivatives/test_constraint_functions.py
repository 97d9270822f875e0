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

"""Derivatives of closed loops with a user's functions: differences, time derivatives."""

import numpy as np
import pytest
from support.random_models import add_random_joint, random_inertia
from support.tangents import difference

from liedyn_ros.dynamics.constrained import (
    ConstrainedDynamics, ConstraintFunction, LEAST_FORCE, project, taylor_series)
from liedyn_ros.dynamics.partial_derivatives.constrained import constrained_partial_derivatives
from liedyn_ros.dynamics.partial_derivatives.constrained_hybrid import (
    constrained_hybrid_partial_derivatives)
from liedyn_ros.dynamics.partial_derivatives.constrained_inverse import (
    constrained_inverse_partial_derivatives)
from liedyn_ros.dynamics.partial_derivatives.constrained_kinematics import kinematic_gaps
from liedyn_ros.model import ModelBuilder

TOLERANCE = 1e-9


def assert_same(got, wanted, tolerance: float = TOLERANCE) -> None:
    """Compare with a tolerance of the largest entry, or of 1 where all are smaller."""
    np.testing.assert_allclose(
        got, wanted, rtol=0.0, atol=tolerance * max(1.0, np.abs(wanted).max(initial=0.0)))


@pytest.fixture(scope='module')
def machine():
    """Return a chain with a ball joint, held by two cubic functions of its q, and a motion."""
    rng = np.random.default_rng(2)
    builder, parent = ModelBuilder('cam', gravity=(0.3, -9.0, 1.0)), None
    for name, kind in (('ball', 'spherical'), ('slide', 'prismatic'), ('hinge', 'revolute')):
        builder.add_body(f'{name}_body', random_inertia(rng))
        add_random_joint(rng, builder, name, kind, parent, f'{name}_body')
        parent = f'{name}_body'
    model = builder.build()
    start, c, s = model.random(rng), *rng.normal(size=(2, 2, 6))

    def level(q):
        return c @ q + (s @ q)**3

    def jacobian(q):
        x, y, z, w = q[:4]  # x' = x (w, 0) / 2
        rates = np.zeros((6, 5), dtype=q.dtype)
        rates[:4, :3] = 0.5 * np.array([[w, -z, y], [z, w, -x], [-y, x, w], [-x, -y, -z]])
        rates[4, 3] = rates[5, 4] = 1.0
        return (c + 3.0 * ((s @ q)**2)[:, None] * s) @ rates

    wanted = level(start)
    cam = ConstraintFunction('cam', 2, lambda q: level(q) - wanted, jacobian,
                             jacobian_series=taylor_series(jacobian))
    dynamics = ConstrainedDynamics(model, functions=[cam])
    q, v = project(dynamics, start, rng.normal(size=5))
    return dynamics, q, v, rng.normal(size=(2, 5)), rng


def test_forward_beside_differences(machine) -> None:
    """In directions that leave the constraints too."""
    dynamics, q, v, tau, rng = machine
    got, n = constrained_partial_derivatives(dynamics, q, v, tau[0]), 5

    def both(q, v):
        found = dynamics.forward(q, v, tau[0], closed=False)
        return np.concatenate([found.a, found.multipliers])

    for x in rng.normal(size=(2, n)):
        wanted = difference(lambda s, x=x: both(dynamics.model.integrate(q, s * x), v))
        assert_same(np.concatenate([got.by_q, got.multipliers_by_q]) @ x, wanted)
        wanted = difference(lambda s, x=x: both(q, v + s * x))
        assert_same(np.concatenate([got.by_v, got.multipliers_by_v]) @ x, wanted)


def test_along_the_motion_they_make_the_time_derivatives(machine) -> None:
    dynamics, q, v, tau, _ = machine
    motion = dynamics.forward(q, v, tau)
    a, known = motion.a, np.array([True, False, False, False, True])
    got = constrained_partial_derivatives(dynamics, q, v, tau[0])
    assert_same(got.by_q @ v + got.by_v @ a[0] + got.by_tau @ tau[1], a[1])
    mixed = constrained_hybrid_partial_derivatives(dynamics, q, v, known, a[0], tau[0])
    wanted, given = dynamics.hybrid(q, v, known, a, tau), np.where(known, a[1], tau[1])
    assert_same(mixed.tau_by_q @ v + mixed.tau_by_v @ a[0] + mixed.tau_by_given @ given,
                wanted.tau[1])
    for options in ({}, {'redundancy': LEAST_FORCE}):
        options['actuated'] = np.arange(5) != 3
        back = constrained_inverse_partial_derivatives(
            dynamics, q, v, a[0], tau=tau[0], **options)
        wanted = dynamics.inverse(q, v, a, tau=tau, **options)
        assert_same(back.by_q @ v + back.by_v @ a[0] + back.by_a @ a[1] + back.by_tau @ tau[1],
                    wanted.tau[1])


def test_they_do_not_vary_with_placements(machine) -> None:
    dynamics, q, v, _, _ = machine
    for gaps in kinematic_gaps(dynamics, q, v):
        assert gaps.by_placement.shape == (2, 3, 6) and not gaps.by_placement.any()
