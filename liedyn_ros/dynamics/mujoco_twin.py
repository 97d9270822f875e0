# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""A model moved by MuJoCo: physics that nobody here wrote, for simulators and as a witness."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from liedyn_ros.common.checks import Array, as_array, as_positive
from liedyn_ros.common.errors import LiedynError, ModelError, NotFiniteError
from liedyn_ros.common.extras import remedy_of
from liedyn_ros.lie import so3
from liedyn_ros.model import Model, SpatialInertia, to_mjcf
from liedyn_ros.model.configuration import carriers
from liedyn_ros.model.replacement import inertia_of

# Steps, the time constant of MuJoCo's soft constraints: it advises two or more
SOFT_CONSTRAINT_STEPS = 5.0
HARDEST = 0.9999  # MuJoCo's largest impedance, mjMAXIMP
LEAST_EDGE = 1e-3  # m, of half a box: a body that is thinner has one side of that


class MujocoTwin:
    """
    The state q (nq,), v (nv,) of a model whose motion MuJoCo integrates by steps of dt (s).

    The document is `to_mjcf` of the model; closures are MuJoCo's soft constraints. With a ground
    (m, its height) or a box (6,) of its centre and its sizes (m), both in the world, bodies touch
    these by their visuals, those without by the box that has their mass and inertia. Free bases,
    joints of coordinates that are their own rates, and spherical joints are known.
    """

    def __init__(self, model: Model, dt: float, ground: float | None = None,
                 friction: Mapping[str, float] = {}, box: Sequence[float] = ()) -> None:
        """
        Compile the model; it is at its neutral configuration, at rest.

        friction: of joints by name, N or N m, beside that of the model.

        Raises LiedynError where mujoco is not installed, DescriptionError for what MJCF lacks, and
        ModelError for a joint that is not known.
        """
        if find_spec('mujoco') is None:
            raise LiedynError('simulator: expected the package mujoco, got none: '
                              f'{remedy_of("mujoco")}')
        import mujoco  # an extra, and slow to import
        self._step, self._forward = mujoco.mj_step, mujoco.mj_forward
        try:
            spec = mujoco.MjSpec.from_string(to_mjcf(model, nearest=True))
            spec.option.timestep = as_positive('dt', dt)
            if ground is not None or len(box):
                _add_surroundings(mujoco, spec, model, ground, box)
            self._model, self._mujoco = spec.compile(), mujoco
        except LiedynError:
            raise
        except ValueError as error:
            raise ModelError(
                f'{model.name}: expected one that MuJoCo takes, got: {error}') from error
        self._model.eq_solref[:] = self._model.dof_solref[:] = SOFT_CONSTRAINT_STEPS * dt, 1.0
        self._model.dof_solimp[:, :2] = HARDEST  # else brakes creep
        for name, force in friction.items():
            self._model.dof_frictionloss[self._find(name)[1]] += force
        self._data = mujoco.MjData(self._model)
        self.model = model
        self._free: list[tuple[int, int, int, int]] = []  # places of ours, and of MuJoCo's
        self._ball: list[tuple[int, int, int, int]] = []
        ours_q, ours_v, its_q, its_v = [], [], [], []
        for joint in model.joint_list:
            if joint.type_name == 'fixed':
                continue
            quaternion = {'free': self._free, 'spherical': self._ball}.get(joint.type_name)
            names = [joint.name] if quaternion is not None else joint.coordinate_names
            found = [self._find(name) for name in names]
            if quaternion is not None:
                quaternion.append((joint.qi, joint.vi, *found[0]))
                continue
            size = joint.v_slice.stop - joint.v_slice.start
            if joint.q_slice.stop - joint.q_slice.start != size:
                raise ModelError(f'joint {joint.name}: expected a type whose coordinates have '
                                 f'their own rates, got {joint.type_name}', names=(joint.name,))
            for k, (at_q, at_v) in enumerate(found):
                ours_q.append(joint.q_slice.start + k)
                ours_v.append(joint.v_slice.start + k)
                its_q.append(at_q)
                its_v.append(at_v)
        self._ours_q, self._ours_v, self._its_q, self._its_v = (
            np.array(each, np.intp) for each in (ours_q, ours_v, its_q, its_v))
        self.set_state(model.neutral(), np.zeros(model.nv))

    def set_state(self, q: ArrayLike, v: ArrayLike) -> None:
        """Set the state; raises the errors of Model.check_configuration."""
        q, v = self.model.check_configuration(q), as_array('v', v, (self.model.nv,))
        data = self._data
        data.qpos[self._its_q], data.qvel[self._its_v] = q[self._ours_q], v[self._ours_v]
        for i, k, at, to in self._free:
            data.qpos[at:at + 3], data.qpos[at + 3:at + 7] = q[i:i + 3], q[[i + 6, i + 3, i + 4,
                                                                            i + 5]]
            turn = so3.from_quaternion(q[i + 3:i + 7])
            data.qvel[to:to + 3], data.qvel[to + 3:to + 6] = turn @ v[k + 3:k + 6], v[k:k + 3]
        for i, k, at, to in self._ball:
            data.qpos[at:at + 4], data.qvel[to:to + 3] = q[[i + 3, i, i + 1, i + 2]], v[k:k + 3]
        self._forward(self._model, data)
        self.q, self.v = q, v

    def step(self, tau: Array) -> tuple[Array, Array]:
        """
        Go on by a step under forces tau (nv,), as those of Dynamics; return q and v.

        Raises NotFiniteError where the motion diverged.
        """
        data, applied = self._data, self._data.qfrc_applied
        applied[self._its_v] = tau[self._ours_v]
        for i, k, _, to in self._free:
            turn = so3.from_quaternion(self.q[i + 3:i + 7])
            applied[to:to + 3], applied[to + 3:to + 6] = turn @ tau[k + 3:k + 6], tau[k:k + 3]
        for _, k, _, to in self._ball:
            applied[to:to + 3] = tau[k:k + 3]
        self._step(self._model, data)
        q, v = np.empty(self.model.nq), np.empty(self.model.nv)
        q[self._ours_q], v[self._ours_v] = data.qpos[self._its_q], data.qvel[self._its_v]
        for i, k, at, to in self._free:
            q[i:i + 3], q[i + 3:i + 7] = data.qpos[at:at + 3], data.qpos[[at + 4, at + 5, at + 6,
                                                                          at + 3]]
            turn = so3.from_quaternion(q[i + 3:i + 7])
            v[k:k + 3], v[k + 3:k + 6] = data.qvel[to + 3:to + 6], turn.T @ data.qvel[to:to + 3]
        for i, k, at, to in self._ball:
            q[i:i + 4], v[k:k + 3] = data.qpos[[at + 1, at + 2, at + 3, at]], data.qvel[to:to + 3]
        if not (np.isfinite(q).all() and np.isfinite(v).all()):
            raise NotFiniteError('motion: expected finite numbers, got a motion that diverged')
        self.q, self.v = q, v
        return q, v

    def brake(self, friction: Mapping[str, float]) -> None:
        """Set the dry friction of joints by name, N or N m: that of brakes, or 0 again."""
        for name, force in friction.items():
            self._model.dof_frictionloss[self._find(name)[1]] = force

    def touches(self) -> dict[str, Array]:
        """
        Return the wrench (6,) of what touches each body, by its name, in its frame.

        Moment (N m) about the origin of the body, then force (N), of the last step.
        """
        data, found = self._data, dict[str, Array]()
        for k, contact in enumerate(data.contact[:data.ncon]):
            wrench = np.empty(6)  # of geom1 on geom2: force, then moment, in the contact's frame
            self._mujoco.mj_contactForce(self._model, data, k, wrench)
            along = contact.frame.reshape(3, 3)
            force, moment = wrench[:3] @ along, wrench[3:] @ along
            for geom, sign in zip(contact.geom, (-1.0, 1.0)):
                body = self._model.geom_bodyid[geom]
                if not body:
                    continue  # the world
                turn, arm = data.xmat[body].reshape(3, 3), contact.pos - data.xpos[body]
                on = found.setdefault(self._model.body(body).name, np.zeros(6))
                on[:3] += sign * ((moment + np.cross(arm, force)) @ turn)
                on[3:] += sign * (force @ turn)
        return found

    def lowest(self) -> float:
        """Return the height (m) of the lowest point of what touches, in the state that was set."""
        model, data = self._model, self._data
        heights = [np.inf]
        for geom in range(model.ngeom):
            size, up = model.geom_size[geom], np.abs(data.geom_xmat[geom].reshape(3, 3)[2])
            if model.geom_conaffinity[geom]:
                kind = self._mujoco.mjtGeom(model.geom_type[geom])
                reach = {'mjGEOM_BOX': up @ size, 'mjGEOM_SPHERE': size[0]}.get(
                    kind.name, up[2] * size[1] + np.hypot(*up[:2]) * size[0])
                heights.append(data.geom_xpos[geom, 2] - float(reach))
        return min(heights)

    def _find(self, name: str) -> tuple[int, int]:
        joint: Any = self._model.joint(name)
        return int(joint.qposadr[0]), int(joint.dofadr[0])


def _add_surroundings(mujoco: Any, spec: Any, model: Model, ground: float | None,
                      box: Sequence[float]) -> None:
    """Add a plane and a box to a document, and let the bodies that move touch them."""
    for name, inertia in _without_shapes(model).items():
        # Of a solid box with these moments: edge_x^2 = 6 (I_y + I_z - I_x) / m.
        moments, turn = np.linalg.eigh(inertia.inertia_about_com)
        edges = np.sqrt(np.maximum(
            6.0 * (moments.sum() - 2.0 * moments) / inertia.mass, (2.0 * LEAST_EDGE)**2))
        spec.body(name).add_geom(
            type=mujoco.mjtGeom.mjGEOM_BOX, pos=inertia.center_of_mass, size=0.5 * edges,
            quat=so3.to_quaternion(turn * np.linalg.det(turn))[[3, 0, 1, 2]], mass=0.0, contype=0)
    for geom in spec.geoms:
        geom.conaffinity = 1
    fixed = {'contype': 1, 'conaffinity': 0}
    if ground is not None:
        spec.worldbody.add_geom(type=mujoco.mjtGeom.mjGEOM_PLANE, size=[10.0, 10.0, 1.0],
                                pos=[0.0, 0.0, ground], **fixed)
    if len(box):
        spec.worldbody.add_geom(type=mujoco.mjtGeom.mjGEOM_BOX, pos=box[:3],
                                size=0.5 * np.array(box[3:]), **fixed)


def _without_shapes(model: Model) -> dict[str, SpatialInertia]:
    """Return the inertia of each body that moves, with all on it that is fixed, unless shown."""
    at, sums = carriers(model.joint_list), dict[str | None, Array]()
    shown = {None, *(at[body.name][0] for body in model.body_list if body.visuals),
             *(rotor.body for rotor in model.rotors)}
    for body in model.body_list:
        if body.inertia is not None:
            carrier, pose = at[body.name]
            sums[carrier] = sums.get(carrier, 0.0) + body.inertia.parameters(pose)
    return {name: inertia_of(each, physical=False) for name, each in sums.items()
            if name and name not in shown and each[0] > 0.0}
