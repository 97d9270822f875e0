# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Where machines with closed loops become singular, and what their constraints meet."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial

import numpy as np
import pytest
from support.machines.loop_states import assembled
from support.machines.looped_machines import four_bar, Looped, planar_linkage, random_looped

from liedyn_ros.common.checks import Array
from liedyn_ros.common.errors import ModelError, SingularError
from liedyn_ros.dynamics.constrained import (
    complete_velocity, ConstrainedDynamics, ConstrainedSolution, LoopTracker, mobility)
from liedyn_ros.dynamics.constrained.constraints.rank import solve_passive
from liedyn_ros.dynamics.constrained.kernels.tables import MACHINE, WORKSPACE
from liedyn_ros.dynamics.constrained.kernels.tolerances import RANK_TOLERANCE
from liedyn_ros.identification import LoopRegressor
from liedyn_ros.linear_algebra.kernels.gram_cholesky import WELL_CONDITIONED
from liedyn_ros.model import Model, ModelBuilder, SpatialInertia

# A parallelogram; flat at angle 0, where A and its passive columns lose a rank in proportion.
MODEL = planar_linkage((0.2, 0.45), (0.2,), 0.45, ('left_0',))
DYNAMICS, REGRESSOR, ZERO = ConstrainedDynamics(MODEL), LoopRegressor(MODEL), np.zeros(3)
KNOWN = MODEL.actuated


def refused(call):
    """Return whether a call refuses its configuration as singular."""
    try:
        call()
    except (ModelError, SingularError):
        return True
    return False


def loses(rank):
    """Return whether a rank is below that of the machine."""
    return rank < DYNAMICS.mobility.rank


DECISIONS = {
    'mobility': lambda q: loses(mobility(DYNAMICS, q).rank),
    'forward': lambda q: loses(DYNAMICS.forward(q, ZERO, ZERO).rank),
    'hybrid': lambda q: loses(DYNAMICS.hybrid(q, ZERO, KNOWN, ZERO, ZERO).rank),
    'inverse': lambda q: refused(lambda: DYNAMICS.inverse(q, ZERO, ZERO)),
    'inverse, least force': lambda q: refused(
        lambda: DYNAMICS.inverse(q, ZERO, ZERO, redundancy='least_force')),
    'partial derivatives of forward': lambda q: refused(
        lambda: DYNAMICS.forward.partial_derivatives(q, ZERO, ZERO)),
    'partial derivatives of hybrid': lambda q: refused(
        lambda: DYNAMICS.hybrid.partial_derivatives(q, ZERO, KNOWN, ZERO, ZERO)),
    'products of hybrid': lambda q: refused(
        lambda: DYNAMICS.hybrid.partial_derivatives.product(
            q, ZERO, KNOWN, ZERO, ZERO, ZERO, ZERO, ZERO)),
    'partial derivatives of inverse': lambda q: refused(
        lambda: DYNAMICS.inverse.partial_derivatives(q, ZERO, ZERO)),
    'complete_velocity': lambda q: refused(lambda: complete_velocity(DYNAMICS, q, ZERO)),
    'LoopTracker': lambda q: refused(lambda: LoopTracker(DYNAMICS, start=q).update(q[:1])),
    'LoopRegressor': lambda q: refused(lambda: REGRESSOR.motions(q))}


@pytest.mark.parametrize('pitch', (1e-6, 1.0, 1e4))
def test_a_helical_closure_counts_whatever_its_pitch(pitch: float) -> None:
    looped = random_looped(60, ('helical',))

    def found(model: Model) -> ConstrainedSolution:
        rest = np.zeros(model.nv)
        return ConstrainedDynamics(model).forward(looped.q, rest, rest, closed=False)

    screw = found(replace(looped.model, closures=tuple(
        replace(closure, pitch=pitch) for closure in looped.model.closures)))
    assert screw.rank == found(looped.model).rank and screw.inverse_condition_number > 1e-4


def decided(name, exponent):
    """Return the decision of a call at an angle of 10**-exponent times the tolerance."""
    angle = RANK_TOLERANCE * 10.0**-exponent
    return DECISIONS[name](np.array([angle, -angle, angle]))


@pytest.mark.parametrize('name', DECISIONS)
def test_calls_agree_on_the_way_to_a_singularity(name):
    assert [decided(name, exponent) for exponent in range(-8, 0)] == 8 * [False]
    assert [decided(name, exponent) for exponent in (*range(1, 7), 16)] == 7 * [True]


@pytest.mark.xfail(strict=True, reason='calls scale the constraints by inertias, by coordinates '
                   'or by rows, so units and inertias count at the tolerance itself')
def test_calls_agree_at_the_tolerance():
    assert len({decided(name, 0) for name in DECISIONS}) == 1


def test_passive_coordinates_follow_and_columns_of_rounding_are_free():
    rng = np.random.default_rng(1)
    rows, passive = rng.normal(size=(4, 6)), np.array([0, 1, 1, 0, 1, 1], dtype=bool)
    rows[:, passive] *= [1.0, 1e3, 1.0, 1e-13]
    inverse, free = solve_passive(rows, passive)
    assert free.shape == (1, 4)
    np.testing.assert_allclose(free / free[0, 3], [[0.0, 0.0, 0.0, 1.0]], atol=1e-9)
    np.testing.assert_allclose((inverse @ rows[:, passive])[:3], np.eye(4)[:3], atol=1e-9)


def two_four_bars() -> Model:
    """Return two loops that only the ground has in common, and a gear between further joints."""
    builder, single = ModelBuilder('two_loops'), four_bar()
    for side in ('first', 'second'):
        for body, joint in zip(single.body_list, single.joint_list):
            parent = None if joint.parent is None else f'{side}_{joint.parent}'
            builder.add_body(f'{side}_{body.name}', body.inertia)
            builder.add_joint(f'{side}_{joint.name}', joint.type_name, parent,
                              f'{side}_{body.name}', axis=joint.axis, placement=joint.placement)
        closure = single.closures[0]
        builder.add_closure(side, closure.type_name, f'{side}_{closure.body_a}',
                            f'{side}_{closure.body_b}', placement_a=closure.frame_a,
                            placement_b=closure.frame_b)
    for name in ('wheel', 'pinion'):
        builder.add_body(name, SpatialInertia(1.0, [0.1, 0.0, 0.0], 0.01 * np.eye(3)))
        builder.add_joint(f'{name}_joint', 'revolute', None, name, axis=[0.0, 0.0, 1.0])
    builder.add_coupling('pinion_joint', 'wheel_joint', -2.0, 0.0)
    return builder.build()


def spans_of(dynamics: ConstrainedDynamics) -> Array:
    """Return first and last constraint (m, 2) that the factor considers beside each."""
    machine = WORKSPACE.array(dynamics.data.workspace, 'machine')
    return np.array(MACHINE.array(machine, 'span')).reshape(-1, 2)


@pytest.mark.parametrize('build', [
    lambda: assembled(two_four_bars()),
    partial(random_looped, 20, ('spherical', 'point_on_plane'), joints=10),
    partial(random_looped, 22, ('revolute', 'rod'), 8, floating=True),
    partial(random_looped, 23, ('planar', 'universal'), 10, grounded=True)],
    ids=['two four bars', 'two loops', 'floating', 'grounded'])
def test_constraints_beyond_a_span_do_not_act_on_each_other(build: Callable[[], Looped]) -> None:
    model, q = build()
    dynamics = ConstrainedDynamics(model)
    jacobian = dynamics.jacobian(q)
    gram = jacobian @ np.linalg.solve(dynamics.tree.mass_matrix(q), jacobian.T)
    beyond = np.ones(gram.shape, dtype=bool)
    for row, (begin, end) in zip(beyond, spans_of(dynamics)):
        row[begin:end] = False
    assert np.abs(gram[beyond]).max(initial=0.0) < 1e-12 * np.abs(gram).max()


def test_loops_on_the_ground_are_factored_apart() -> None:
    dynamics = ConstrainedDynamics(two_four_bars())
    assert dynamics.m == 11
    assert spans_of(dynamics)[[0, 10]].tolist() == [[0, 8], [8, 16]]


def test_both_factors_of_the_constraints_are_the_dense_solution() -> None:
    # A parallelogram, flatter and flatter: the constraints, two, become one.
    model = planar_linkage((0.3, 0.5), (0.3,), 0.5, (), 'point_on_line')
    dynamics, qualities = ConstrainedDynamics(model), []
    for angle in (0.5, 0.1, 0.03, 0.02, 0.01, 3e-3, 1e-3):
        q, v = np.array([angle, -angle, angle]), np.zeros(3)
        tau = np.array([1.0, -0.5, 0.3])
        solution = dynamics.forward(q, v, tau)
        jacobian, mass = dynamics.jacobian(q), dynamics.tree.mass_matrix(q)
        matrix = np.block([[mass, -jacobian.T], [jacobian, np.zeros((2, 2))]])
        dense = np.linalg.solve(matrix, [*(tau - dynamics.tree.bias(q, v)), 0.0, 0.0])
        scale = 1e-11 * (1.0 + np.abs(dense).max())
        assert np.abs(np.append(solution.a, solution.multipliers) - dense).max() < scale, angle
        assert solution.rank == 2
        qualities.append(solution.inverse_condition_number)
    assert np.all(np.diff(qualities) < 0.0)
    assert qualities[0] > 5.0 * WELL_CONDITIONED > 5.0 * qualities[-1]
