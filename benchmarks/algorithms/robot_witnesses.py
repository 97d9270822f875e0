# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""What MuJoCo, Pinocchio and Drake have of a robot file: mass matrix, forces, constraint rows."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
import logging
from pathlib import Path
from typing import Any, NamedTuple
from xml.etree import ElementTree

import numpy as np

from liedyn_ros.common.checks import Array
from liedyn_ros.dynamics import Layout, MUJOCO, PINOCCHIO
from liedyn_ros.dynamics.constrained import ConstrainedDynamics
from liedyn_ros.lie import so3
from liedyn_ros.model import Joint, JOINT_TYPES, Model

_SAME_TREE = 1e-6  # of the largest entry: beyond it Pinocchio reads other mass properties


def refused(path: Path, model: Model | None = None) -> str | None:
    """Return why the library of a format refuses a file, or its tree of a model, None if not."""
    try:
        if path.suffix == '.xml':
            import mujoco
            _machine(mujoco, path)
        elif path.suffix.lower() == '.urdf':
            import pinocchio as pin
            pin.buildModelFromUrdf(str(path))
        else:
            _plant(path, model)
    except (ValueError, RuntimeError, ImportError) as error:  # as all three raise
        return str(error) or type(error).__name__
    return None


def moving(path: Path, model: Model) -> tuple[Array, Array, Array, Array, tuple[str, ...]]:
    """Return a random q and v (nv,), and mass matrix and bias there, of the format's library."""
    rng = np.random.default_rng(1)
    q, v = model.random(rng), rng.normal(size=model.nv)
    q[np.abs(q) > 10.0] = 1.0  # where a limit says that there is none
    if path.suffix == '.sdf':
        for joint in model.joint_list:
            v[joint.v_slice] *= joint.type_name != 'free'
        return (q, v, *_of_drake(path, model, q, v), ())
    if path.suffix == '.xml':
        import mujoco
        machine, remarks = _machine(mujoco, path)
        off, data = mujoco.mjtDisableBit, mujoco.MjData(machine)
        for flag in (off.mjDSBL_CONTACT, off.mjDSBL_DAMPER, off.mjDSBL_LIMIT):
            machine.opt.disableflags |= flag
        machine.opt.density = machine.opt.viscosity = 0.0
        layout, mass = Layout(model, MUJOCO), np.zeros((machine.nv, machine.nv))
        data.qpos[:], data.qvel[:] = layout.configuration(q), layout.velocity(q, v)
        mujoco.mj_forward(machine, data)
        _full_mass(mujoco, machine, data, mass)
        bias = data.qfrc_bias - data.qfrc_passive
    else:
        import pinocchio as pin
        machine, remarks = pin.buildModelFromUrdf(str(path)), ()
        layout, data = Layout(model, PINOCCHIO), machine.createData()
        there, speed = layout.configuration(q), layout.velocity(q, v)
        mass = np.triu(pin.crba(machine, data, there))
        mass = mass + np.triu(mass, 1).T
        bias = pin.nonLinearEffects(machine, data, there, speed)
    moves = np.array([layout.velocity(q, unit) for unit in np.eye(model.nv)])
    # Bias at zero acceleration of theirs is moved to that of ours.
    own = layout.acceleration(q, v, np.zeros(model.nv))
    return q, v, moves @ mass @ moves.T, layout.from_effort(q, bias + mass @ own), remarks


def _plant(path: Path, model: Model | None = None) -> Any:
    """Return Drake's plant of the only model of an SDF file, its loops cut where it has some."""
    from pydrake.multibody.parsing import Parser
    from pydrake.multibody.plant import MultibodyPlant
    logging.getLogger('drake').setLevel(logging.ERROR)  # else it warns of each shape
    plant = MultibodyPlant(0.0)
    parser = Parser(plant)
    parser.package_map().PopulateFromFolder(path.parent.parent)
    if model is not None and (model.closures or model.couplings):
        parser.AddModelsFromString(_cut(path, model), 'sdf')
    else:
        parser.AddModels(path)
    plant.Finalize()
    return plant


def _cut(path: Path, model: Model) -> str:
    """
    Return an SDF in which each joint that closes a loop moves a link of its own, without mass.

    That link, named as the joint, stands where the joint's child does. Gearboxes are taken out, as
    Drake has none.
    """
    root, closed = ElementTree.parse(path).getroot(), {each.name for each in model.closures}
    whole = next(root.iter('model'))
    for link in whole.findall('link'):
        for tag in ('visual', 'collision', 'sensor'):
            for each in link.findall(tag):
                link.remove(each)
    for joint in whole.findall('joint'):
        if joint.get('type') == 'gearbox':
            whole.remove(joint)
        elif joint.get('name') in closed:
            child = next(joint.iter('child'))
            twin = ElementTree.SubElement(whole, 'link', name=f'{joint.get("name")}_twin')
            twin.extend(whole.findall(f"link[@name='{str(child.text).strip()}']/pose"))
            inertial, child.text = ElementTree.SubElement(twin, 'inertial'), twin.get('name')
            ElementTree.SubElement(inertial, 'mass').text = '0'
            moments = ElementTree.SubElement(inertial, 'inertia')
            for name in ('ixx', 'iyy', 'izz'):
                ElementTree.SubElement(moments, name).text = '0'
    return ElementTree.tostring(root, encoding='unicode')


def _at_drake(path: Path, model: Model, q: Array, v: Array) -> tuple[Any, Any, Array]:
    """Return Drake's plant and context at q and v, and its velocities by ours."""
    plant = _plant(path, model)
    context, rates = plant.CreateDefaultContext(), np.zeros((plant.num_velocities(), model.nv))
    there = plant.GetPositions(context)
    for joint in model.joint_list:
        kind = JOINT_TYPES[joint.type_name]
        if joint.type_name == 'free':
            body, pose = plant.GetBodyByName(joint.child), joint.placement @ joint.motion(
                q[joint.q_slice])
            if not body.is_floating_base_body():  # else the next call ends the process
                raise ValueError(f'Drake holds {joint.child}, which floats here')
            at, rate = body.floating_positions_start(), body.floating_velocities_start_in_v()
            there[at:at + 4] = np.roll(so3.to_quaternion(pose[:3, :3]), 1)
            there[at + 4:at + 7] = pose[:3, 3]
            for i in (0, 3):  # both along the axes of the world
                rates[rate + i:rate + i + 3, joint.vi + i:joint.vi + i + 3] = pose[:3, :3]
        elif kind.nv:
            scope, _, name = joint.name.rpartition('::')
            theirs = plant.GetJointByName(name, *(
                [plant.GetModelInstanceByName(f'{model.name}::{scope}')] if scope else []))
            at, rate = theirs.position_start(), theirs.velocity_start()
            ball = joint.motion(q[joint.q_slice])[:3, :3] if kind.nq > kind.nv else None
            there[at:at + kind.nv] = q[joint.q_slice] if ball is None else so3.to_rpy(ball)
            rates[rate:rate + kind.nv, joint.v_slice] = np.eye(kind.nv) if ball is None else ball
    plant.SetPositions(context, there)
    plant.SetVelocities(context, rates @ v)
    plant.mutable_gravity_field().set_gravity_vector(model.gravity)
    return plant, context, rates


def _of_drake(path: Path, model: Model, q: Array, v: Array) -> tuple[Array, Array]:
    """Return mass matrix and bias of Drake, whose floating bases are still in v."""
    plant, context, rates = _at_drake(path, model, q, v)
    bias = plant.CalcBiasTerm(context) - plant.CalcGravityGeneralizedForces(context)
    mass = plant.CalcMassMatrix(context)
    return rates.T @ mass @ rates, rates.T @ bias + springs(model, q)


def springs(model: Model, q: Array) -> Array:
    """Return the forces (nv,) of springs, which the bias of Drake and of Pinocchio lacks."""
    table, found = model.link_table, np.zeros(model.nv)
    for joint in model.joint_list:
        if JOINT_TYPES[joint.type_name].nq == JOINT_TYPES[joint.type_name].nv:
            found[joint.v_slice] = table.stiffness[joint.v_slice] * (
                q[joint.q_slice] - table.rest[joint.v_slice])
    return found


class Witness(NamedTuple):
    """What another library has at rest, in this package's coordinates; and what was changed."""

    mass: Array
    bias: Array
    rows: Array
    remarks: tuple[str, ...] = ()


def of_drake(path: Path, dynamics: ConstrainedDynamics, q: Array) -> Witness:
    """
    Return what Drake has of a machine whose loops are cut, with rows that close them.

    Each joint that closes a loop is read and moved by Drake too: its coordinates are found where
    the link that it moves is that of the loop, and leave the rows, as that link has no mass.
    """
    from pydrake.multibody.tree import JacobianWrtVariable
    model, still = dynamics.model, np.zeros(dynamics.model.nv)
    mass, bias = _of_drake(path, model, q, still)
    plant, context, rates = _at_drake(path, model, q, still)
    rows, remarks = [np.zeros((0, model.nv))], list[str]()
    for closure in model.closures:
        joint, twin = (of(f'{closure.name}{end}') for of, end in (
            (plant.GetJointByName, ''), (plant.GetBodyByName, '_twin')))
        body = plant.GetBodyByName(closure.body_b)
        place, rate = joint.position_start(), slice(
            joint.velocity_start(), joint.velocity_start() + joint.num_velocities())
        for _ in range(50):
            jacobian = plant.CalcJacobianSpatialVelocity(
                context, JacobianWrtVariable.kV, twin.body_frame(), np.zeros(3),
                body.body_frame(), body.body_frame())
            away = plant.CalcRelativeTransform(
                context, body.body_frame(), twin.body_frame()).GetAsMatrix4()
            gap = np.concatenate((so3.log(away[:3, :3]), away[:3, 3]))
            step = np.linalg.lstsq(jacobian[:, rate], -gap, rcond=None)[0]
            there = plant.GetPositions(context)
            there[place:place + len(step)] += step
            plant.SetPositions(context, there)
            if np.abs(step).max(initial=0.0) < 1e-14:
                break
        left, values, _ = np.linalg.svd(jacobian[:, rate])
        rows.append(left[:, len(values):].T @ jacobian @ rates)
        remarks.append(f'{closure.name} {np.abs(gap).max():.0e}')
    said = (f'gaps in Drake: {", ".join(remarks)}',) if remarks else ()
    return Witness(mass, bias, np.vstack([*rows, *coupled(model)]), said)


def coupled(model: Model) -> Iterator[Array]:
    """Yield the row (1, nv) of each coupling."""
    for coupling in model.couplings:
        row = np.zeros((1, model.nv))
        row[0, model.joint(coupling.joint).vi] = 1.0
        for leader, factor in ((coupling.leader, coupling.multiplier), *coupling.further):
            row[0, model.joint(leader).vi] -= factor
        yield row


def of_mujoco(path: Path, dynamics: ConstrainedDynamics, q: Array) -> Witness:
    """Return what MuJoCo has; its free joints move along the axes of the world."""
    import mujoco
    model = dynamics.model
    machine, remarks = _machine(mujoco, path)
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
    rows = data.efc_J[:data.nefc * machine.nv].reshape(-1, machine.nv)[held]
    forces = data.qfrc_bias - data.qfrc_passive
    return Witness(rates.T @ mass @ rates, rates.T @ forces, rows @ rates, remarks)


@lru_cache(maxsize=1)
def _machine(mujoco: Any, path: Path) -> tuple[Any, tuple[str, ...]]:
    """Return a machine without meshes whose files are missing, and without what is not read."""
    spec = mujoco.MjSpec.from_file(str(path))
    folder = path.parent / spec.meshdir
    missing = [mesh for mesh in spec.meshes if mesh.file and not any(
        (each / mesh.file).exists() for each in (folder, *path.parent.rglob('assets/*')))]
    names = {mesh.name or Path(mesh.file).stem for mesh in missing}
    for geom in spec.geoms:
        geom.contype = geom.conaffinity = 0  # no convex hulls, which take most of the time
        if geom.meshname in names:  # a point without mass in its place, as contacts name it
            geom.type, geom.meshname = mujoco.mjtGeom.mjGEOM_SPHERE, ''
            geom.size, geom.density = [1e-6, 0.0, 0.0], 0.0
    for mesh in missing:
        spec.delete(mesh)
    for texture in spec.textures:  # which is drawn alone
        texture.file, texture.builtin = '', mujoco.mjtBuiltin.mjBUILTIN_FLAT
        texture.cubefiles = 6 * ['']
        texture.width = texture.height = 1
    machine = spec.compile()
    remarks = [f'{len(names)} meshes missing'] if names else []
    several = np.isin(machine.jnt_type, (mujoco.mjtJoint.mjJNT_FREE, mujoco.mjtJoint.mjJNT_BALL))
    axes = np.isin(machine.dof_jntid, np.flatnonzero(several))
    for name, unread, of in (
            ('gravcomp', machine.body_gravcomp, slice(None)),
            ('springs of tendons', machine.tendon_stiffness, slice(None)),
            ('inertia of tendons', machine.tendon_armature, slice(None)),
            ('springs of free joints and balls', machine.jnt_stiffness, several),
            ('armature of free joints and balls', machine.dof_armature, axes)):
        if unread[of].any():
            remarks.append(f'{name} off in MuJoCo')
            unread[of] = 0.0
    machine.body_simple[:] = machine.dof_simplenum[:] = 0  # whose inertia is not computed anew
    return machine, tuple(remarks)


def _full_mass(mujoco: Any, machine: Any, data: Any, mass: Array) -> None:
    """Write the mass matrix; its call has had other arguments since MuJoCo 3.4."""
    try:
        mujoco.mj_fullM(machine, mass, data.qM)
    except (AttributeError, TypeError):
        mujoco.mj_fullM(machine, data, mass)


def of_pinocchio(path: Path, dynamics: ConstrainedDynamics, q: Array) -> Witness:
    """Return what Pinocchio has, by its own reader of the file where that reads all of it."""
    import pinocchio as pin
    model, remarks = dynamics.model, []
    read, own, why = _read(pin, path, model)
    if why is None:
        mass, bias, data, back = _tree_at(pin, read, model, q)
        off = abs(mass - dynamics.tree.mass_matrix(q)).max() / abs(mass).max()
        why = f'other mass properties ({off:.0e})' if off > _SAME_TREE else None
        body = next(each.name for each in model.body_list if each.inertia is not None)
        there = read.frames[read.getFrameId(body, pin.FrameType.BODY)]
        place = data.oMi[there.parentJoint] * there.placement
        if abs(place.homogeneous - dynamics.tree.frames.pose(q, body)).max() > _SAME_TREE:
            why = f'another place of the body {body}'
    if why is not None:
        remarks.append(f"Pinocchio's tree is built from ours, as it reads {why}")
        read, own = _built(pin, model), []
        mass, bias, data, back = _tree_at(pin, read, model, q)
    if model.closures and len(own) == len(model.closures):
        remarks.append(f'its reader has the {len(own)} closures')
    else:
        own = [_constraint(pin, read, closure) for closure in model.closures]
    rows: list[Array] = [np.zeros((0, model.nv))]
    for each in own:
        place = each.createData()
        each.calc(read, data, place)  # the Jacobian reads the frames from it
        jacobian = pin.getConstraintJacobian(read, data, each, place)  # its own has garbage
        rows.append(np.reshape(jacobian, (-1, model.nv))[:, back])
    rows += coupled(model)
    rows += [np.atleast_2d(function.jacobian(q)) for function in dynamics.functions]
    return Witness(mass, bias, np.vstack(rows), tuple(remarks))


def _read(pin: Any, path: Path, model: Model) -> tuple[Any, list[Any], str | None]:
    """Return what Pinocchio reads of a file, its closures, and why that is another machine."""
    if path.suffix != '.xml':
        read = pin.buildModelFromUrdf(str(path))
        same = read.nv == model.nv and all(
            read.joints[read.getJointId(joint.name)].nv == JOINT_TYPES[joint.type_name].nv
            for joint in model.joint_list
            if joint.type_name != 'fixed' and read.existJointName(joint.name))
        return read, [], None if same else 'no joints of robot.yaml'
    roots = sum(joint.parent is None for joint in model.joint_list)
    if roots > 1:  # closures of the others crash its reader
        return None, [], f'the first of {roots} trees'
    try:
        read, points, frames = pin.buildModelAndConstraintsFromMJCF(str(path))
    except (IndexError, ValueError, RuntimeError) as error:
        return None, [], f'nothing ({str(error).splitlines()[-1][:60]})'
    why = None if read.nv == model.nv else f'{read.nv} of {model.nv} coordinates'
    return read, [*points, *frames], why


def _constraint(pin: Any, twin: Any, closure: Any) -> Any:
    """Return a closure as a rigid constraint between the same frames."""
    kinds = {'weld': pin.ContactType.CONTACT_6D, 'spherical': pin.ContactType.CONTACT_3D}
    sides = []
    for body, frame in ((closure.body_a, closure.frame_a), (closure.body_b, closure.frame_b)):
        if body is None:
            sides += [0, pin.SE3(frame)]
            continue
        at = twin.frames[twin.getFrameId(body, pin.FrameType.BODY)]
        sides += [at.parentJoint, at.placement * pin.SE3(frame)]
    return pin.RigidConstraintModel(kinds[closure.type_name], twin, *sides)


def _tree_at(pin: Any, twin: Any, model: Model, q: Array) -> tuple[Array, Array, Any, Array]:
    """Return mass matrix and forces of a tree at rest, its data and the order of velocities."""
    data, theirs, back = twin.createData(), pin.neutral(twin), np.empty(model.nv, dtype=int)
    for joint, index, qi, vi, nq in _places(twin, model):
        values, size = q[joint.q_slice], JOINT_TYPES[joint.type_name].nv
        order = np.arange(vi, vi + size)
        if joint.type_name == 'free':
            pose = (pin.SE3(joint.placement @ joint.motion(values)))
            values = pin.SE3ToXYZQUAT(twin.jointPlacements[index].actInv(pose))
            order = np.roll(order, 3)  # theirs begin with the linear ones
        elif nq == 2 and size == 1:
            values = np.array([np.cos(values[0]), np.sin(values[0])])
        theirs[qi:qi + nq], back[joint.v_slice] = values, order
    armature, twin.armature = twin.armature.copy(), np.zeros(twin.nv)
    twin.gravity.linear = np.array(model.gravity)
    mass = np.triu(pin.crba(twin, data, theirs))
    mass = (mass + np.triu(mass, 1).T + np.diag(armature))[np.ix_(back, back)]
    zero = np.zeros(twin.nv)
    bias = pin.rnea(twin, data, theirs, zero, zero)[back]
    pin.computeJointJacobians(twin, data, theirs)
    pin.updateFramePlacements(twin, data)
    return mass, bias + springs(model, q), data, back


def _places(twin: Any, model: Model) -> Iterator[tuple[Joint, int, int, int, int]]:
    """Yield each moving joint with its number, first q and v and size of q in Pinocchio's."""
    moving = [joint for joint in model.joint_list if JOINT_TYPES[joint.type_name].nv]
    names = [joint.name for joint in moving]
    place: dict[str, tuple[int, int, int, int]] = {}

    def take(index: int, first: int) -> None:
        """Place our joints from the first on, as many as make up a joint of theirs."""
        joint = twin.joints[index]
        qi, vi = joint.idx_q, joint.idx_v
        for mine in moving[first:]:
            size = JOINT_TYPES[mine.type_name]
            if vi == joint.idx_v + joint.nv:
                return
            nq = joint.nq if size.nv == joint.nv else size.nq
            place[mine.name] = index, qi, vi, nq
            qi, vi = qi + nq, vi + size.nv

    nameless = []
    for index in range(1, twin.njoints):
        name = twin.names[index].removeprefix('Composite_')
        if name in names:
            take(index, names.index(name))
        else:
            nameless.append(index)
    for index in nameless:  # both files and models are read from the ground up
        take(index, next(i for i, name in enumerate(names) if name not in place))
    for joint in moving:
        yield (joint, *place[joint.name])


def _built(pin: Any, model: Model) -> Any:
    """Return Pinocchio's tree of the same joints, bodies and armatures."""
    twin = pin.Model()
    place: dict[str | None, tuple[int, Any]] = {None: (0, pin.SE3.Identity())}
    for body, joint in zip(model.body_list, model.joint_list):
        index, pose = place[joint.parent]
        pose = pose * pin.SE3(joint.placement)
        if joint.type_name != 'fixed':
            own = {'revolute': pin.JointModelRevoluteUnaligned, 'universal': None,
                   'continuous': pin.JointModelRevoluteUnaligned,
                   'prismatic': pin.JointModelPrismaticUnaligned}.get(joint.type_name)
            kind = (pin.JointModelSpherical() if joint.type_name == 'spherical' else
                    pin.JointModelFreeFlyer() if joint.type_name == 'free' else
                    own(joint.axis) if own else
                    pin.JointModelUniversal(joint.axis, joint.second_axis))
            index, pose = twin.addJoint(index, kind, pose, joint.name), pin.SE3.Identity()
        if body.inertia is not None:
            twin.appendBodyToJoint(index, pin.Inertia(
                body.inertia.mass, body.inertia.center_of_mass, body.inertia.inertia_about_com),
                pose)
        twin.addFrame(pin.Frame(body.name, index, 0, pose, pin.FrameType.BODY))
        place[body.name] = index, pose
    armature = np.zeros(twin.nv)
    for joint, _, _, vi, _ in _places(twin, model):
        armature[vi:vi + JOINT_TYPES[joint.type_name].nv] = joint.armature
    twin.armature = armature
    return twin
