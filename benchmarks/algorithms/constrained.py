# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""
Closed loops beside Pinocchio's constraintDynamics and lcaba.

Two machines: a Stewart platform, and a humanoid's legs whose ankles are driven by two rods each.
Forward dynamics is timed as a kernel and as the checked call (us), beside both peers in the same
run. So are order 5 beside order 0, a state of a batch beside a call, and leg forces of a platform.
Before a machine is measured, both libraries must agree on it.
"""

from dataclasses import replace
import math
import statistics
from typing import Any, NamedTuple

import numpy as np
import pinocchio as pin

from benchmarks.record import keep, verdict
from benchmarks.timing import Call, interleaved, median_ratio
from liedyn_ros.common.checks import Array
from liedyn_ros.common.resources import config_file
from liedyn_ros.dynamics.constrained import ConstrainedDynamics, project
from liedyn_ros.dynamics.constrained.constraints.tables import ConstrainedData
from liedyn_ros.dynamics.constrained.kernels.tables import REPORT_WIDTH
from liedyn_ros.dynamics.constrained.solver.inputs import hybrid_task
from liedyn_ros.dynamics.constrained.solver.kernels import solver
from liedyn_ros.model import Joint, Model, ModelBuilder, pose, SpatialInertia
from liedyn_ros.stewart import (
    LegMasses, LegPart, load_geometry, model_state, platform_model, PlatformMasses,
    StewartDynamics, StewartGeometry)

ORDER = 5
PEER_TARGET, ORDER_TARGET, INVERSE_TARGET = 0.6, 3.0, 10.0  # ratios, and us
DRIVEN_TARGET = 20.0  # us of a platform on rails or cranks
DRIVEN = {'hexaglide': 0.55, 'cranks': 0.24}  # m: heights
ACCURACY, PROXIMAL, ITERATIONS = 1e-12, 1e-12, 10  # of Pinocchio's solver
AGREEMENT = 1e-7  # Pinocchio's proximal solver is an iteration
BATCH = 512  # states
LOOSE = 1e-6  # the proximal parameter that lcaba is meant for
Row = dict[str, Any]


class Machine(NamedTuple):
    """A machine, a closed state and joint forces."""

    model: Model
    q: Array
    v: Array
    tau: Array


class Peer:
    """Pinocchio's model of a machine with spherical closures."""

    def __init__(self, machine: Machine) -> None:
        """Build it joint by joint."""
        model = machine.model
        self.model, self.order = pin.Model(), np.arange(model.nv)
        self.model.gravity.linear[:] = model.gravity
        place: dict[str | None, tuple[int, Any]] = {None: (0, pin.SE3.Identity())}
        for body, joint in zip(model.body_list, model.joint_list):
            parent, at = place[joint.parent]
            index = self.model.addJoint(
                parent, _joint(joint), at * pin.SE3(joint.placement), joint.name)
            if joint.type_name == 'free':
                self.order[joint.v_slice] = self.order[joint.v_slice][[3, 4, 5, 0, 1, 2]]
            if body.inertia is not None:
                self.model.appendBodyToJoint(index, pin.Inertia(
                    body.inertia.mass, body.inertia.center_of_mass,
                    body.inertia.inertia_about_com), pin.SE3.Identity())
            place[body.name] = index, pin.SE3.Identity()
        self.constraints = pin.StdVec_RigidConstraintModel()
        self.datas = pin.StdVec_RigidConstraintData()
        for closure in model.closures:
            sides = [side for body, frame in (
                (closure.body_b, closure.frame_b), (closure.body_a, closure.frame_a))
                for side in (place[body][0], pin.SE3(frame))]
            self.constraints.append(pin.RigidConstraintModel(
                pin.ContactType.CONTACT_3D, self.model, *sides, pin.LOCAL))
            self.datas.append(self.constraints[len(self.constraints) - 1].createData())
        self.data = self.model.createData()
        self.state = machine.q, machine.v[self.order], machine.tau[self.order]

    def constraint_dynamics(self) -> Call:
        """Return the call of constraintDynamics."""
        pin.initConstraintDynamics(self.model, self.data, self.constraints, self.datas)
        return Call(pin.constraintDynamics, self._arguments(PROXIMAL))

    def derivatives(self) -> Call:
        """Return the call of constraintDynamics and of its derivatives, with its own data."""
        self.data = self.model.createData()
        dynamics = self.constraint_dynamics()

        def call(*arguments: Any) -> None:
            pin.constraintDynamics(*arguments)
            pin.computeConstraintDynamicsDerivatives(
                self.model, self.data, self.constraints, self.datas)

        return Call(call, dynamics.arguments)

    def lcaba(self) -> Call:
        """Return the call of lcaba, with its own data."""
        self.data = self.model.createData()
        pin.computeJointMinimalOrdering(self.model, self.data, self.constraints)
        return Call(pin.lcaba, self._arguments(LOOSE))

    def _arguments(self, proximal: float) -> tuple[Any, ...]:
        return (self.model, self.data, *self.state, self.constraints, self.datas,
                pin.ProximalSettings(ACCURACY, proximal, ITERATIONS))

    def ours(self, a: Array) -> Array:
        """Return accelerations of Pinocchio in our order."""
        return a[np.argsort(self.order)]


def agree(wanted: Array, got: Array) -> None:
    """Stop unless two results are the same: times of different results mean nothing."""
    error = abs(wanted - got).max() / abs(wanted).max()
    if not error < AGREEMENT:
        raise SystemExit(f'expected the same to {AGREEMENT}, got {error:.3g}')


def _joint(joint: Joint) -> Any:
    """Return a joint of Pinocchio, of its specialised types where it has them."""
    if joint.type_name == 'free':
        return pin.JointModelFreeFlyer()
    if joint.type_name == 'universal':
        return pin.JointModelUniversal(joint.axis, joint.second_axis)
    kinds = {'revolute': (pin.JointModelRX, pin.JointModelRY, pin.JointModelRZ),
             'prismatic': (pin.JointModelPX, pin.JointModelPY, pin.JointModelPZ)}
    return kinds[joint.type_name][int(np.argmax(joint.axis))]()


def stewart(geometry: StewartGeometry) -> Machine:
    """Return the platform of the package's geometry file in motion."""
    rng, model = np.random.default_rng(0), platform_model(geometry)
    q, v = model_state(geometry, home(), rng.normal(size=6))
    return Machine(model, q, v, np.where(model.actuated, 20.0, 0.0))


def home() -> Array:
    """Return a pose of the platform."""
    return pose([0.02, -0.03, 0.5], [0.1, -0.05, 0.2])


def two_legs() -> Machine:
    """Return a trunk on two legs, whose ankles two cranks with rods move: 30 coordinates."""
    builder = ModelBuilder('two_legs')
    builder.add_body('trunk', SpatialInertia(20.0, [0.0, 0.0, 0.2], np.diag([0.8, 0.7, 0.4])))
    builder.add_joint('trunk_joint', 'free', None, 'trunk', actuated=False)
    for side, y in (('left', 0.1), ('right', -0.1)):
        add_leg(builder, side, y)
    model, rng = builder.build(), np.random.default_rng(1)
    dynamics = ConstrainedDynamics(model, dissipation=False)
    q, v = project(dynamics, model.integrate(model.neutral(), 0.05 * rng.normal(size=model.nv)),
                   rng.normal(size=model.nv))
    return Machine(model, q, v, np.where(model.actuated, rng.normal(size=model.nv) * 5.0, 0.0))


def add_leg(builder: ModelBuilder, side: str, y: float) -> None:
    """Add hip, knee and ankle, and two rods from cranks on the shank to the foot."""
    x, z = np.eye(3)[0], np.eye(3)[2]
    across = np.eye(3)[1]
    chain = (('hip_yaw', z, [0.0, y, 0.0], True), ('hip_roll', x, [0.0, 0.0, -0.05], True),
             ('thigh', across, [0.0, 0.0, -0.05], True),
             ('shank', across, [0.0, 0.0, -0.4], True),
             ('ankle', across, [0.0, 0.0, -0.4], False), ('foot', x, [0.0, 0.0, 0.0], False))
    parent = 'trunk'
    for name, axis, at, actuated in chain:
        body = f'{side}_{name}'
        builder.add_body(body, SpatialInertia(
            2.0, [0.0, 0.0, -0.1], np.diag([0.02, 0.02, 0.005])))
        builder.add_joint(f'{body}_joint', 'revolute', parent, body, axis=axis,
                          placement=pose(at), actuated=actuated)
        parent = body
    for rod, offset in (('inner', 0.04), ('outer', -0.04)):
        crank = f'{side}_{rod}_crank'
        builder.add_body(crank, SpatialInertia(0.3, [-0.02, 0.0, 0.0], 1e-3 * np.eye(3)))
        builder.add_joint(f'{crank}_joint', 'revolute', f'{side}_shank', crank, axis=across,
                          placement=pose([0.0, offset, -0.1]))
        body = f'{side}_{rod}_rod'
        builder.add_body(body, SpatialInertia(
            0.2, [0.0, 0.0, -0.15], np.diag([2e-3, 2e-3, 1e-4])))
        builder.add_joint(f'{body}_joint', 'universal', crank, body, axis=x, second_axis=across,
                          placement=pose([-0.05, 0.0, 0.0]), actuated=False)
        builder.add_closure(f'{body}_end', 'spherical', body, f'{side}_foot',
                            placement_a=pose([0.0, 0.0, -0.3]),
                            placement_b=pose([-0.05, offset, 0.0]))


def kernel(machine: Machine, order: int) -> Call:
    """Return the bare kernel of forward dynamics to an order."""
    nv, rows, data = machine.model.nv, order + 1, ConstrainedData(machine.model, False)
    data.reserve(order)
    tau = np.zeros((rows, nv))
    tau[0] = machine.tau
    given = tau.ravel()
    found = rows * (2 * nv + data.m + 6 * len(machine.model.closures)) + REPORT_WIDTH
    task = hybrid_task(np.ones(nv, dtype=np.bool_))
    return Call(solver.solve_constrained, (
        data.workspace, task.table, math.inf, np.zeros((0, rows, 6)), machine.q, machine.v, given,
        given, np.zeros(found)))


def batch(machine: Machine) -> tuple[Array, Array, Array]:
    """Return many states at one configuration, at rates and forces of their own."""
    factors = np.linspace(-1.0, 1.0, BATCH)[:, None]
    return np.tile(machine.q, (BATCH, 1)), factors * machine.v, factors * machine.tau


def measure(name: str, machine: Machine) -> Row:
    """Return the figures of forward dynamics, times in us."""
    dynamics, peer = ConstrainedDynamics(machine.model, dissipation=False), Peer(machine)
    state = machine.q, machine.v, machine.tau
    wanted = dynamics.forward(*state).a
    theirs, looped = peer.constraint_dynamics(), peer.lcaba()
    agree(wanted, peer.ours(theirs.function(*theirs.arguments)))
    agree(wanted, peer.ours(looped.function(*looped.arguments)))
    calls = [kernel(machine, 0), theirs, looped, Call(dynamics.forward, state),
             kernel(machine, ORDER), Call(dynamics.forward.batch, batch(machine))]
    times = interleaved(calls)
    bare, constraint, loop, checked, fifth, many = (
        1e6 * statistics.median(taken) for taken in times)
    faster = times[1] if constraint < loop else times[2]
    return {'machine': name, 'nv': machine.model.nv, 'constraints': dynamics.m, 'kernel': bare,
            'constraint_dynamics': constraint, 'lcaba': loop,
            'ratio': median_ratio(times[0], faster), 'call': checked,
            'call_ratio': median_ratio(times[3], faster), 'order_5': fifth,
            'order_ratio': median_ratio(times[4], times[0]), 'batch': many / BATCH,
            'batch_ratio': median_ratio(times[5], times[3]) / BATCH}


def measure_platform(geometry: StewartGeometry, peer: float) -> list[Row]:
    """Return the figures of the platform in closed form; peer is Pinocchio's time of forward."""
    dynamics, model = StewartDynamics(geometry), ConstrainedDynamics(platform_model(geometry))
    machine, at = stewart(geometry), home()
    twist = machine.v[:6]
    legs = [model.model.joint(name).vi for name in geometry.leg_names]
    forces = np.zeros((ORDER + 1, 6))
    forces[0] = 20.0
    motion = dynamics.forward(at, twist, forces)
    agree(model.forward(machine.q, machine.v, machine.tau).a[:6], motion.acceleration[0])
    agree(model.inverse(machine.q, machine.v, model.forward(
        machine.q, machine.v, machine.tau).a).tau[legs], forces[0])
    calls = []
    for method, given in ((dynamics.inverse, motion.acceleration), (dynamics.forward, forces)):
        calls += [Call(method, (at, twist, given[0])), Call(method, (at, twist, given))]
    inverse, inverse_5, forward, forward_5 = (
        1e6 * statistics.median(taken) for taken in interleaved(calls))
    return [{'algorithm': 'inverse', 'call': inverse, 'order_5': inverse_5, 'ratio': None,
             'target': INVERSE_TARGET},
            {'algorithm': 'forward', 'call': forward, 'order_5': forward_5,
             'ratio': forward / peer}, *measure_driven('hexaglide', 'rails'),
            *measure_driven('cranks', 'cranks')]


def measure_driven(form: str, drives: str) -> list[Row]:
    """Return the figures of a platform on rails or cranks, whose parts weigh as much."""
    geometry = load_geometry(config_file(f'stewart_{form}.yaml'))
    legs = tuple(LegMasses(LegPart(0.5, 0.0, 0.005), LegPart(0.6, 0.5 * leg.rod, 0.01))
                 for leg in geometry.leg_types)
    geometry = replace(geometry, masses=PlatformMasses(
        3.0, (0.05, 0.06, 0.08, 0.004, -0.002, 0.003), (0.02, -0.01, 0.05), legs))
    dynamics, rng = StewartDynamics(geometry), np.random.default_rng(0)
    at = pose([0.0, 0.0, DRIVEN[form]], [0.02, -0.03, 0.04])
    twist, rates = rng.normal(size=6), np.zeros((ORDER + 1, 6))
    rates[0] = rng.normal(size=6)
    forces = dynamics.inverse(at, twist, rates).forces
    agree(dynamics.inverse(at, twist, rates[0]).forces, forces[0])
    agree(dynamics.forward(at, twist, forces[0]).acceleration, rates[0])
    rows = []
    for method, given in ((dynamics.inverse, rates), (dynamics.forward, forces)):
        taken = interleaved([Call(method, (at, twist, each)) for each in (given[0], given)])
        call, order_5 = (1e6 * statistics.median(each) for each in taken)
        rows.append({'algorithm': f'{method.__name__}, {drives}', 'call': call, 'order_5': order_5,
                     'ratio': None, 'target': DRIVEN_TARGET})
    return rows


def main() -> None:
    """Measure the machines, print the tables and keep them as JSON."""
    geometry = load_geometry(config_file('stewart_geometry.yaml'))
    rows = [measure('Stewart platform', stewart(geometry)), measure('two legs', two_legs())]
    print(f'{"forward dynamics":20}{"kernel":>8}{"constraintDynamics":>20}{"lcaba":>8}'
          f'{"ratio":>7}{"":12}{"call":>8}{"order 5":>9}{"ratio":>7}{"":12}'
          f'{"batch":>8}{"ratio":>7}')
    for row in rows:
        print(f'{row["machine"]:20}{row["kernel"]:8.2f}{row["constraint_dynamics"]:20.2f}'
              f'{row["lcaba"]:8.2f}{row["ratio"]:7.2f}{verdict(row["ratio"], PEER_TARGET):>12}'
              f'{row["call"]:8.2f}{row["order_5"]:9.2f}{row["order_ratio"]:7.2f}'
              f'{verdict(row["order_ratio"], ORDER_TARGET):>12}'
              f'{row["batch"]:8.2f}{row["batch_ratio"]:7.2f}')
    closed = measure_platform(
        geometry, min(rows[0]['constraint_dynamics'], rows[0]['lcaba']))
    print(f'\n{"platform":22}{"call":>8}{"order 5":>9}')
    for row in closed:
        print(f'{row["algorithm"]:22}{row["call"]:8.2f}{row["order_5"]:9.2f}   '
              + verdict(row['call'], row.get('target')))
    keep('constrained', {'unit': 'us', 'pinocchio': pin.__version__, 'order': ORDER,
                         'targets': {'peer': PEER_TARGET, 'order': ORDER_TARGET,
                                     'inverse': INVERSE_TARGET},
                         'rows': rows, 'platform': closed})


if __name__ == '__main__':
    main()
