# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The same MJCF in MuJoCo: the witness of another library."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from support.comparison import assert_same

from liedyn_ros.common.checks import Array
from liedyn_ros.dynamics import Dynamics, Layout, MUJOCO
from liedyn_ros.model import JOINT_TYPES, Model

mujoco = pytest.importorskip('mujoco')
mujoco.set_mju_user_warning(lambda message: None)  # else it writes a file where tests run


@dataclass(frozen=True)
class Twin:
    """A machine compiled by MuJoCo, and the layout of our numbers there."""

    there: Any
    layout: Layout

    def state(self, q: Array, v: Array, tau: Array) -> Any:
        """Return MuJoCo's data of a state, after its forward dynamics."""
        data = mujoco.MjData(self.there)
        data.qpos[:], data.qvel[:] = self.layout.configuration(q), self.layout.velocity(q, v)
        data.qfrc_applied[:] = self.layout.effort(q, tau)
        mujoco.mj_forward(self.there, data)
        return data

    def mass_matrix(self, q: Array) -> Array:
        """Return M (nv, nv) in our coordinates."""
        data = self.state(q, *np.zeros((2, self.there.nv)))
        theirs = np.zeros((self.there.nv, self.there.nv))
        mujoco.mj_fullM(self.there, data, theirs)
        change = np.array([self.layout.velocity(q, unit) for unit in np.eye(self.there.nv)])
        return change @ theirs @ change.T

    def equality_jacobian(self, q: Array) -> Array:
        """Return the rows (m, nv) of the equality constraints in our coordinates."""
        data = self.state(q, *np.zeros((2, self.there.nv)))
        rows = data.efc_J.reshape(-1, self.there.nv)[
            data.efc_type == mujoco.mjtConstraint.mjCNSTR_EQUALITY]
        change = np.array([self.layout.velocity(q, unit) for unit in np.eye(self.there.nv)])
        return rows @ change.T


def twin_of(text: str, model: Model, files: dict[str, bytes] | None = None) -> Twin:
    """Return the twin of a text; moving joints must stand in the same order."""
    there = mujoco.MjModel.from_xml_string(text, files or {})
    there.opt.jacobian = mujoco.mjtJacobian.mjJAC_DENSE
    there.opt.disableflags |= int(mujoco.mjtDisableBit.mjDSBL_CONTACT)
    named = [there.joint(i).name for i in range(there.njnt)]
    ours = [joint.name for joint in model.joint_list if JOINT_TYPES[joint.type_name].nv]
    assert all(theirs in ('', name) for theirs, name in zip(named, ours, strict=True))
    return Twin(there, Layout(model, MUJOCO))


def assert_twin(text: str, model: Model, files: dict[str, bytes] | None = None,
                tolerance: float = 1e-12) -> None:
    """Require poses, masses, gravity and accelerations of MuJoCo, in three random states."""
    twin, rng = twin_of(text, model, files), np.random.default_rng(7)
    dynamics = Dynamics(model, dissipation=False)
    assert (twin.there.nq, twin.there.nv) == (model.nq, model.nv)
    for _ in range(3):
        q, (v, tau) = model.random(rng), rng.normal(size=(2, model.nv))
        data = twin.state(q, v, tau)
        for i in range(1, twin.there.nbody):
            pose = dynamics.frames.pose(q, twin.there.body(i).name or f'body_{i}')
            assert_same(pose[:3, 3], data.xpos[i], tolerance, 1.0)
            assert_same(pose[:3, :3], data.xmat[i].reshape(3, 3), tolerance)
        assert_same(dynamics.mass_matrix(q), twin.mass_matrix(q), tolerance)
        assert_same(twin.layout.acceleration(q, v, dynamics.forward(q, v, tau)), data.qacc,
                    1e3 * tolerance)
