# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""
Machines with loops as others publish them, beside MuJoCo's and Pinocchio's own matrices.

    python -m benchmarks.algorithms.looped_files FOLDER...

Folders are searched for MJCF files with equality constraints (the MuJoCo menagerie) and for a
URDF beside robot.yaml (example-parallel-robots). Of each, as it comes: what was read and
what was not, degrees of freedom, and the largest relative difference at a closed configuration.
MuJoCo gives mass matrix, rows of its equality constraints and forces at rest; Pinocchio mass
matrix and Jacobians of the same closures. Accelerations are those of a dense solution of these.
Closures that do not meet, as lengths in a file are rounded, get a tolerance of 1e-7 m.
"""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
import sys
from typing import Any, NamedTuple

import numpy as np

from liedyn_ros.common.checks import Array
from liedyn_ros.common.errors import ConvergenceError, LiedynError
from liedyn_ros.dynamics.constrained import assemble, ConstrainedDynamics
from liedyn_ros.lie import so3
from liedyn_ros.model import annotate, JOINT_TYPES, load_mjcf, load_urdf, Model

_RANK = 1e-9  # of the largest singular value
_TOLERANCE, _RANK_WITHIN = 1e-7, 1e-6  # m, and the same for rows that meet only within it


class Witness(NamedTuple):
    """What another library has at rest, in this package's coordinates: M, forces, rows."""

    mass: Array
    bias: Array
    rows: Array


class Row(NamedTuple):
    """One machine of the list."""

    name: str
    coordinates: int
    constraints: str
    freedom: int
    differences: tuple[float, float, float]  # of mass matrix, rows, accelerations
    remarks: str


def files(folder: Path) -> Iterator[Path]:
    """Yield the files with loops below a folder."""
    for path in sorted(folder.rglob('*.xml')):
        text = path.read_text(errors='ignore')
        if '<equality>' in text and '<mujoco' in text:
            yield path
    for beside in sorted(folder.rglob('robot.yaml')):
        yield from sorted(beside.parent.glob('*.urdf'))


def compared(path: Path) -> Row:
    """Return the row of a file; raises LiedynError where this package refuses it."""
    name = '/'.join(path.parts[-2:])
    if path.suffix == '.xml':
        model = load_mjcf(path)
        witness_of = of_mujoco
    else:
        model = annotate(load_urdf(path, floating=False), path.parent / 'robot.yaml')
        witness_of = of_pinocchio
    dynamics, rank, remarks = ConstrainedDynamics(model, dissipation=False), _RANK, model.warnings
    try:
        q = assemble(dynamics)
    except ConvergenceError:
        dynamics = ConstrainedDynamics(replace(model, closures=tuple(
            replace(closure, tolerance=_TOLERANCE) for closure in model.closures)),
            dissipation=False)
        q, rank = assemble(dynamics), _RANK_WITHIN
        remarks = (*remarks, f'closures with a tolerance of {_TOLERANCE} m')
    rest = np.zeros(model.nv)
    tau = np.random.default_rng(1).normal(size=model.nv)
    mobility = dynamics.mobility
    found = dynamics.forward(q, rest, tau)
    theirs = witness_of(path, model, q)
    row = Row(name, model.nv, f'{mobility.rank} of {dynamics.m}', mobility.degrees_of_freedom,
              (_off(dynamics.tree.mass_matrix(q), theirs.mass),
               _apart(dynamics.jacobian(q), theirs.rows, rank),
               _off(found.a, accelerations(theirs, tau, rank))), '; '.join(remarks))
    return row


def accelerations(of: Witness, tau: Array, rank: float = _RANK) -> Array:
    """Return the accelerations at rest by a dense solution, rows of any rank."""
    free = null_space(of.rows, rank)
    return np.asarray(free @ np.linalg.solve(free.T @ of.mass @ free, free.T @ (tau - of.bias)))


def null_space(rows: Array, rank: float = _RANK) -> Array:
    """Return the motions that rows leave free, as columns."""
    if not len(rows):
        return np.eye(rows.shape[1])
    _, values, right = np.linalg.svd(rows)
    return np.asarray(right[int((values > rank * values[0]).sum()):].T)


def _off(mine: Array, theirs: Array) -> float:
    return float(np.abs(mine - theirs).max() / np.abs(theirs).max())


def _apart(mine: Array, theirs: Array, rank: float) -> float:
    """Return the sine of the largest angle between the motions that rows leave free."""
    a, b = null_space(mine, rank), null_space(theirs, rank)
    return 1.0 if a.shape != b.shape else float(np.linalg.norm(a - b @ (b.T @ a), 2))


def of_mujoco(path: Path, model: Model, q: Array) -> Witness:
    """Return what MuJoCo has; its free joints move along the axes of the world."""
    import mujoco
    machine = mujoco.MjModel.from_xml_path(str(path))
    machine.opt.jacobian, data = mujoco.mjtJacobian.mjJAC_DENSE, mujoco.MjData(machine)
    machine.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_CONTACT
    machine.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_LIMIT
    rates = np.zeros((machine.nv, model.nv))
    nameless = iter([i for i in range(machine.njnt) if not machine.joint(i).name])
    for joint in model.joint_list:
        if JOINT_TYPES[joint.type_name].nv == 0:
            continue
        at = mujoco.mj_name2id(machine, mujoco.mjtObj.mjOBJ_JOINT, joint.name)
        if at < 0:  # both files and models are read from the ground up
            at = next(nameless)
        qi, vi = machine.jnt_qposadr[at], machine.jnt_dofadr[at]
        values, size = q[joint.q_slice], JOINT_TYPES[joint.type_name].nv
        if joint.type_name == 'free':
            pose = joint.placement @ joint.motion(values)
            data.qpos[qi:qi + 3] = pose[:3, 3]
            data.qpos[qi + 3:qi + 7] = np.roll(so3.to_quaternion(pose[:3, :3]), 1)
            rates[vi:vi + 3, joint.vi + 3:joint.vi + 6] = pose[:3, :3]
            rates[vi + 3:vi + 6, joint.vi:joint.vi + 3] = np.eye(3)
            continue
        data.qpos[qi:qi + len(values)] = np.roll(values, 1) if size == 3 else values
        rates[vi:vi + size, joint.v_slice] = np.eye(size)
    mujoco.mj_forward(machine, data)
    mass = np.zeros((machine.nv, machine.nv))
    if hasattr(mujoco, 'mj_fullM'):
        _full_mass(mujoco, machine, data, mass)
    held = data.efc_type == mujoco.mjtConstraint.mjCNSTR_EQUALITY
    rows = data.efc_J.reshape(-1, machine.nv)[held]
    forces = data.qfrc_bias - data.qfrc_passive
    return Witness(rates.T @ mass @ rates, rates.T @ forces, rows @ rates)


def _full_mass(mujoco: Any, machine: Any, data: Any, mass: Array) -> None:
    """Write the mass matrix; its call has had other arguments since MuJoCo 3.4."""
    try:
        mujoco.mj_fullM(machine, mass, data.qM)
    except (AttributeError, TypeError):
        mujoco.mj_fullM(machine, data, mass)


def of_pinocchio(path: Path, model: Model, q: Array) -> Witness:
    """Return what Pinocchio has of the tree, with rigid constraints at the same frames."""
    import pinocchio as pin
    twin = _pinocchio_tree(pin, path, model)
    data, theirs, back = twin.createData(), pin.neutral(twin), np.empty(model.nv, dtype=int)
    for joint in model.joint_list:
        size = JOINT_TYPES[joint.type_name].nv
        if size:
            other = twin.joints[twin.getJointId(joint.name)]
            values = q[joint.q_slice]
            if other.nq == 2 and size == 1:
                values = np.array([np.cos(values[0]), np.sin(values[0])])
            theirs[other.idx_q:other.idx_q + other.nq] = values
            back[joint.v_slice] = np.arange(other.idx_v, other.idx_v + size)
    rows = [np.zeros((0, model.nv))]
    kinds = {'weld': pin.ContactType.CONTACT_6D, 'spherical': pin.ContactType.CONTACT_3D}
    pin.computeJointJacobians(twin, data, theirs)
    pin.updateFramePlacements(twin, data)
    for closure in model.closures:
        sides = []
        for body, frame in ((closure.body_a, closure.frame_a), (closure.body_b, closure.frame_b)):
            at = twin.frames[twin.getFrameId(body, pin.FrameType.BODY)]
            sides += [at.parentJoint, at.placement * pin.SE3(frame)]
        constraint = pin.RigidConstraintModel(kinds[closure.type_name], twin, *sides)
        place = constraint.createData()
        constraint.calc(twin, data, place)  # the Jacobian reads the frames from it
        rows.append(pin.getConstraintJacobian(twin, data, constraint, place)[:, back])
    for coupling in model.couplings:
        row = np.zeros((1, model.nv))
        row[0, model.joint(coupling.joint).vi] = 1.0
        for leader, factor in ((coupling.leader, coupling.multiplier), *coupling.further):
            row[0, model.joint(leader).vi] -= factor
        rows.append(row)
    mass = np.triu(pin.crba(twin, data, theirs))
    mass = mass + np.triu(mass, 1).T + np.diag(twin.armature)
    zero = np.zeros(twin.nv)
    return Witness(mass[np.ix_(back, back)], pin.rnea(twin, data, theirs, zero, zero)[back],
                   np.vstack(rows))


def _pinocchio_tree(pin: Any, path: Path, model: Model) -> Any:
    """Return the tree that Pinocchio reads, built here where robot.yaml changes joints."""
    read = pin.buildModelFromUrdf(str(path))
    if all(read.joints[read.getJointId(joint.name)].nv == JOINT_TYPES[joint.type_name].nv
           for joint in model.joint_list if joint.type_name != 'fixed'
           and read.existJointName(joint.name)) and read.nv == model.nv:
        return read
    twin, place = pin.Model(), {None: (0, pin.SE3.Identity())}
    for body, joint in zip(model.body_list, model.joint_list):
        index, pose = place[joint.parent]
        pose = pose * pin.SE3(joint.placement)
        if joint.type_name != 'fixed':
            own = {'revolute': pin.JointModelRevoluteUnaligned, 'universal': None,
                   'continuous': pin.JointModelRevoluteUnaligned,
                   'prismatic': pin.JointModelPrismaticUnaligned}.get(joint.type_name)
            kind = (pin.JointModelSpherical() if joint.type_name == 'spherical' else
                    own(joint.axis) if own else
                    pin.JointModelUniversal(joint.axis, joint.second_axis))
            index, pose = twin.addJoint(index, kind, pose, joint.name), pin.SE3.Identity()
        if body.inertia is not None:
            twin.appendBodyToJoint(index, pin.Inertia(
                body.inertia.mass, body.inertia.center_of_mass, body.inertia.inertia_about_com),
                pose)
        twin.addFrame(pin.Frame(body.name, index, 0, pose, pin.FrameType.BODY))
        place[body.name] = index, pose
    return twin


def main() -> None:
    """Print the list as a table of Markdown."""
    print('| file | coordinates | rank | freedom | mass matrix | motions left | accelerations | '
          'not read |\n| --- | --- | --- | --- | --- | --- | --- | --- |')
    for folder in map(Path, sys.argv[1:]):
        for path in files(folder):
            try:
                row = compared(path)
            except (LiedynError, RuntimeError, ValueError, KeyError) as error:
                print(f'| {"/".join(path.parts[-2:])} | | | | | | | '
                      f'{" ".join(str(error).split())[:200]} |', flush=True)
                continue
            print(f'| {row.name} | {row.coordinates} | {row.constraints} | {row.freedom} | '
                  + ' | '.join(f'{each:.0e}' for each in row.differences)
                  + f' | {row.remarks or "-"} |', flush=True)


if __name__ == '__main__':
    main()
