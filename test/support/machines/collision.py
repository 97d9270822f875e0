# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""An arm that falls onto a box, simulated by MuJoCo."""

import numpy as np
import pytest

STEP = 5e-4  # s
ARM = f"""<mujoco><option timestep="{STEP}" gravity="0 0 -9.81"/><worldbody>
<body name="upper"><joint name="shoulder" axis="0 1 0" damping=".3"/>
<geom type="capsule" fromto="0 0 0 .4 0 0" size=".04"/>
<body name="fore" pos=".4 0 0"><joint name="elbow" axis="0 1 0" damping=".2"/>
<geom type="capsule" fromto="0 0 0 .35 0 0" size=".03"/></body></body>
<body name="wall" pos=".62 0 -.42"><geom type="box" size=".2 .2 .05"/></body></worldbody>
</mujoco>"""


def collision():
    """Yield positions, velocities and efforts (2,) of 1 s, and whether the arm touches the box."""
    mujoco = pytest.importorskip('mujoco')
    twin = mujoco.MjModel.from_xml_string(ARM)
    data = mujoco.MjData(twin)
    for k in range(2000):
        tau = np.array([0.5, -0.3]) * np.sin(0.01 * k) - 2.0
        data.qfrc_applied[:] = tau
        yield data.qpos.copy(), data.qvel.copy(), tau, data.ncon > 0
        mujoco.mj_step(twin, data)
