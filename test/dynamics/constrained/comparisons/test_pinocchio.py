# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The same numbers as Pinocchio's constraintDynamics, where it has the closure."""

import numpy as np
import pytest
from support.machines.looped_machines import four_bar, random_looped

from liedyn_ros.common.checks import Array
from liedyn_ros.common.errors import LiedynError
from liedyn_ros.common.resources import config_file
from liedyn_ros.dynamics.constrained import assemble, ConstrainedDynamics, project
from liedyn_ros.model import Model, pose
from liedyn_ros.stewart import load_geometry, model_state, platform_model

pin = pytest.importorskip('pinocchio')
pinocchio_twin = pytest.importorskip('support.witnesses.pinocchio_twin')

KINDS = ('revolute', 'prismatic', 'spherical')
ANGULAR_FIRST = [3, 4, 5, 0, 1, 2]


def constraint(twin, closure, reference):
    """Return a closure as Pinocchio has it: its frame one on body b, its frame two on body a."""
    sides = []
    for body, frame in ((closure.body_b, closure.frame_b), (closure.body_a, closure.frame_a)):
        if body is None:
            sides += [0, pin.SE3(frame)]
        else:
            place = twin.model.frames[twin.model.getFrameId(body)]
            sides += [place.parentJoint, place.placement * pin.SE3(frame)]
    types = {'weld': pin.ContactType.CONTACT_6D, 'spherical': pin.ContactType.CONTACT_3D}
    return pin.RigidConstraintModel(types[closure.type_name], twin.model, *sides, reference)


@pytest.mark.parametrize('closures', [('weld',), ('spherical',), ('spherical', 'spherical')])
@pytest.mark.parametrize('floating', [False, True])
@pytest.mark.parametrize('grounded', [False, True])
def test_accelerations_and_forces(closures: tuple[str, ...], floating: bool,
                                  grounded: bool) -> None:
    looped = random_looped(80, closures, 10, KINDS, floating=floating, grounded=grounded)
    model, rng = looped.model, np.random.default_rng(9)
    q, v = project(ConstrainedDynamics(model), looped.q, rng.normal(size=model.nv))
    assert_same_dynamics(model, q, v, rng.normal(size=model.nv))


@pytest.mark.parametrize(('form', 'height'), [('hexaglide', 0.55), ('cranks', 0.24)])
def test_platforms_on_rails_and_cranks(form: str, height: float) -> None:
    geometry = load_geometry(config_file(f'stewart_{form}.yaml'))
    model, rng = platform_model(geometry), np.random.default_rng(2)
    q, v = model_state(geometry, pose([0.01, 0.0, height]), rng.normal(size=6))
    assert_same_dynamics(model, q, v, np.where(model.actuated, rng.normal(size=model.nv), 0.0))


@pytest.mark.parametrize('floating', [False, True])
def test_velocities_off_the_constraints(floating: bool) -> None:
    looped = random_looped(81, ('weld',), 10, KINDS, floating=floating, grounded=True)
    model, rng = looped.model, np.random.default_rng(9)
    q, v, tau = looped.q, *rng.normal(size=(2, model.nv))
    assert_same_dynamics(model, q, v, tau, closed=False)
    dynamics = ConstrainedDynamics(model)
    with pytest.raises(LiedynError) as caught:
        dynamics.forward(q, v, tau)
    assert any(name.startswith(model.closures[0].name) for name in caught.value.names)
    after = project(dynamics, q, v)[1]  # as an impact would
    np.testing.assert_array_equal(
        dynamics.forward(q, v, tau, project=True).a, dynamics.forward(q, after, tau).a)


def assert_same_dynamics(model: Model, q: Array, v: Array, tau: Array, *, closed: bool = True
                         ) -> None:
    """Require the same accelerations of both, and closure forces where these are unique."""
    dynamics = ConstrainedDynamics(model, dissipation=False)
    solution = dynamics.forward(q, v, tau, closed=closed)
    twin = pinocchio_twin.to_pinocchio(model)
    data = twin.model.createData()
    constraints, datas = pin.StdVec_RigidConstraintModel(), pin.StdVec_RigidConstraintData()
    for each in model.closures:
        constraints.append(constraint(twin, each, pin.LOCAL))
        datas.append(constraints[len(constraints) - 1].createData())
    pin.initConstraintDynamics(twin.model, data, constraints, datas)
    settings = pin.ProximalSettings(1e-14, 1e-12, 30)
    theirs = pin.constraintDynamics(
        twin.model, data, twin.to_configuration(q), twin.to_velocity(v), twin.to_velocity(tau),
        constraints, datas, settings)
    scale = 1.0 + np.abs(solution.a).max()
    assert np.abs(twin.from_velocity(theirs) - solution.a).max() < 1e-8 * scale
    if solution.rank == len(solution.multipliers):
        forces = np.array([each.contact_force.vector[ANGULAR_FIRST] for each in datas])
        scale = 1.0 + np.abs(solution.wrenches).max()
        assert np.abs(forces - solution.wrenches).max() < 1e-8 * scale


def test_a_planar_four_bar_that_pinocchio_locks_moves_here() -> None:
    # With all six rows a planar loop has redundant ones (pinocchio#2729).
    model = four_bar()
    dynamics = ConstrainedDynamics(model, dissipation=False)
    q = assemble(dynamics)
    solution = dynamics.forward(q, np.zeros(3), [1.0, 0.0, 0.0])
    assert solution.rank == 2
    # Mobility 1: the acceleration of the crank is its force over the reduced inertia.
    null = np.linalg.svd(dynamics.jacobian(q))[2][2]
    mass = dynamics.tree.mass_matrix(q)
    need = np.array([1.0, 0.0, 0.0]) - dynamics.tree.gravity_vector(q)
    assert solution.a == pytest.approx(null * (null @ need) / (null @ mass @ null))
