# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The same numbers as Pinocchio on random trees and on every example robot, to 1e-10."""

from functools import cache
from pathlib import Path

import numpy as np
import pytest
from support.comparison import assert_same
from support.machines.dynamics_cases import Case
from support.machines.example_robots import example_robot, example_urdfs
from support.refusals import ANY, refused
from tools import example_robots

from liedyn_ros.common.errors import DescriptionError, DescriptionWarning, SingularError
from liedyn_ros.dynamics import (
    Dynamics, Layout, LOCAL, LOCAL_WORLD_ALIGNED, PINOCCHIO, WORLD)
from liedyn_ros.model import load_urdf, Model

pin = pytest.importorskip('pinocchio')
pinocchio_twin = pytest.importorskip('support.witnesses.pinocchio_twin')

pytestmark = pytest.mark.filterwarnings(  # of mimic joints and inertias; tested by themselves
    'ignore::liedyn_ros.common.errors.DescriptionWarning')

TOLERANCE = 1e-10  # of the largest entry
ANGULAR_FIRST = [3, 4, 5, 0, 1, 2]
FAMILIES = example_urdfs()
# Files, as docs/model_format.md tells of them: with impossible inertias, with a joint whose force
# moves no inertia, without a robot.
IMPOSSIBLE = (
    'alex_psyonic_hands', 'allegro_left_hand', 'allegro_right_hand', 'anymal', 'anymal-kinova',
    'b1', 'b1-z1', 'bolt', 'finger_edu', 'go1', 'hyq_no_sensors', 'icub', 'icub_reduced', 'pr2',
    'romeo_laas_small', 'romeo_small', 'tiago', 'tiago_dual', 'tiago_no_hand')
MASSLESS = {'romeo': 'RThumb3', 'romeo_laas_small': 'r_gripper_joint'}
FAULTY = {'ur3': 'an attribute name'}
RIGID = {'quadrotor_base', 'iris_simple'}  # nothing moves unless the base is free


def test_random_trees(case: Case) -> None:  # (Kim Table 2, 3, 4, Park 24 to 27)
    twin = pinocchio_twin.to_pinocchio(case.model)
    assert_same_dynamics(case.model, twin, case.rng)
    assert_same_forward_dynamics(case.model, twin, case.rng)
    assert_same_kinematics(case.model, twin, case.rng)


@pytest.mark.parametrize('floating', [False, True])
@pytest.mark.parametrize('paths', FAMILIES.values(), ids=list(FAMILIES))
def test_example_robots(paths: list[str], floating: bool) -> None:
    """Pinocchio reads the files itself."""
    rng = np.random.default_rng(7)
    for file in map(example_robot, paths):
        if file.stem in FAULTY:
            with refused(DescriptionError, ANY, expected=FAULTY[file.stem]):
                load_urdf(file, floating=floating)
            continue
        model = load(file, floating)
        assert (model.nv == 0) == (file.stem in RIGID and not floating)
        if model.nv == 0:
            continue  # Pinocchio has no state of no coordinate
        twin = pinocchio_twin.parsed_by_pinocchio(file, model)
        assert_same_dynamics(model, twin, rng)
        assert_same_kinematics(model, twin, rng)
        assert_same_layout(model, twin, rng)
        if file.stem in MASSLESS:
            with refused(SingularError, MASSLESS[file.stem]):
                assert_same_forward_dynamics(model, twin, rng)
        else:
            assert_same_forward_dynamics(model, twin, rng)


@pytest.mark.full
def test_the_table_in_the_documents_is_that_of_the_reader() -> None:
    if not FAMILIES:
        pytest.skip('needs the example-robot-data wheel')
    text = example_robots.DOCUMENT.read_text(encoding='utf-8')
    assert f'{example_robots.BEGIN}\n{example_robots.table()}\n{example_robots.END}' in text
    for name in MASSLESS:
        assert f'`{name}`' in text


def load(file: Path, floating: bool) -> Model:
    if file.stem not in IMPOSSIBLE:
        return load_urdf(file, floating=floating)
    require_refused(file)
    with pytest.warns(DescriptionWarning, match='which no rigid body has, are used as they are'):
        return load_urdf(file, floating=floating)


@cache
def require_refused(file: Path) -> None:
    """Require, once for both bases, that a strict reader refuses a file."""
    with refused(DescriptionError, ANY):
        load_urdf(file, strict=True)


def assert_same_layout(
        model: Model, twin: pinocchio_twin.Twin, rng: np.random.Generator) -> None:
    """Compare the order of a foreign robot with the places that Pinocchio says itself."""
    q, v = model.random(rng), rng.normal(size=model.nv)
    layout = Layout(model, PINOCCHIO)
    assert_same(layout.configuration(q), twin.to_configuration(q), TOLERANCE)
    assert_same(layout.velocity(q, v), twin.to_velocity(v), TOLERANCE)
    again = model.difference(q, layout.from_configuration(twin.to_configuration(q)))
    assert_same(np.sin(0.5 * again), np.zeros(model.nv), TOLERANCE, floor=1.0)  # whole turns


def assert_same_dynamics(
        model: Model, twin: pinocchio_twin.Twin, rng: np.random.Generator) -> None:
    d, other, data = Dynamics(model, dissipation=False), twin.model, twin.model.createData()
    q, v, a = model.random(rng), rng.normal(size=model.nv), rng.normal(size=model.nv)
    pq, pv, pa = twin.to_configuration(q), twin.to_velocity(v), twin.to_velocity(a)
    assert_same(twin.to_velocity(d.inverse(q, v, a)), pin.rnea(other, data, pq, pv, pa), TOLERANCE)
    assert_same(
        twin.to_velocity(d.bias(q, v)), pin.nonLinearEffects(other, data, pq, pv), TOLERANCE)
    assert_same(twin.to_velocity(d.gravity_vector(q)),
                pin.computeGeneralizedGravity(other, data, pq), TOLERANCE)
    upper = np.triu(pin.crba(other, data, pq))
    order = twin.velocity_order
    assert_same(np.triu(d.mass_matrix(q)[np.ix_(order, order)]), upper, TOLERANCE)


def assert_same_forward_dynamics(
        model: Model, twin: pinocchio_twin.Twin, rng: np.random.Generator) -> None:
    """Compare under the forces of a motion; no solver is nearer than rounding and condition."""
    d, data = Dynamics(model, dissipation=False), twin.model.createData()
    q, v, a = model.random(rng), rng.normal(size=model.nv), rng.normal(size=model.nv)
    tau = d.inverse(q, v, a)
    assert_same(twin.to_velocity(d.forward(q, v, tau)),
                pin.aba(twin.model, data, twin.to_configuration(q), twin.to_velocity(v),
                        twin.to_velocity(tau)),
                max(TOLERANCE, np.finfo(float).eps * np.linalg.cond(d.mass_matrix(q))))


def assert_same_kinematics(
        model: Model, twin: pinocchio_twin.Twin, rng: np.random.Generator) -> None:
    d, other, data = Dynamics(model), twin.model, twin.model.createData()
    q, v, a = model.random(rng), rng.normal(size=model.nv), rng.normal(size=model.nv)
    pq, pv = twin.to_configuration(q), twin.to_velocity(v)
    assert_same(d.kinetic_energy(q, v), pin.computeKineticEnergy(other, data, pq, pv), TOLERANCE)
    assert_same(d.potential_energy(q), pin.computePotentialEnergy(other, data, pq), TOLERANCE)
    assert_same(d.center_of_mass(q), pin.centerOfMass(other, data, pq), TOLERANCE)
    pin.computeJointJacobians(other, data, pq)
    pin.forwardKinematics(other, data, pq, pv, twin.to_velocity(a))
    pin.updateFramePlacements(other, data)
    motion = d.kinematics(q, v, a)
    for b, body in enumerate(model.bodies):
        frame = other.getFrameId(body, pin.FrameType.BODY)
        assert_same(motion.poses[b], data.oMf[frame].homogeneous, TOLERANCE)
        twist, rate = (f(other, data, frame).vector[ANGULAR_FIRST]
                       for f in (pin.getFrameVelocity, pin.getFrameAcceleration))
        assert_same(motion.twists[b], twist, TOLERANCE)
        assert_same(motion.accelerations[b], rate, TOLERANCE)
        for axes, reference in ((LOCAL, pin.LOCAL), (WORLD, pin.WORLD),
                                (LOCAL_WORLD_ALIGNED, pin.LOCAL_WORLD_ALIGNED)):
            wanted = pin.getFrameJacobian(other, data, frame, reference)[ANGULAR_FIRST]
            assert_same(
                d.frames.jacobian(q, body, axes)[:, twin.velocity_order], wanted, TOLERANCE)
    assert_same(d.frames.poses(q), motion.poses, TOLERANCE)
    pin.computeCentroidalMap(other, data, pq)
    wanted = data.Ag[ANGULAR_FIRST]
    assert_same(twin.to_velocity(d.centroidal_map(q)), wanted, TOLERANCE)
