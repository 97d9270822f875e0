# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.


"""A plain least squares of an arm, as anybody writes it: Pinocchio's regressor and numpy."""

import numpy as np
from numpy.typing import NDArray
import pinocchio
from scipy.signal import butter, filtfilt

from benchmarks.identification.recordings import Case

Array = NDArray[np.float64]


def plain_forces(case: Case, urdf: str, masks: Array) -> Array:
    """Return the forces (n, joints) of each part, by a fit of the samples of its mask (m, n)."""
    model = pinocchio.buildModelFromXML(urdf)
    data = model.createData()
    clock = np.arange(case.time[0], case.time[-1], float(np.median(np.diff(case.time))))
    rate = 1.0 / (clock[1] - clock[0])
    b, a = butter(4, min(2.0 * case.cutoff / rate, 0.9))

    def smooth(x: Array) -> Array:
        return np.asarray(filtfilt(b, a, x, axis=0))

    q, tau = (np.column_stack([np.interp(clock, case.time, y) for y in x.T])
              for x in (case.q, case.tau))
    q = smooth(q)
    v = np.gradient(q, clock, axis=0)
    acc = np.gradient(v, clock, axis=0)
    order = [model.joints[model.getJointId(name)].idx_v for name in case.joints]
    back = np.argsort(order)
    rows = np.array([np.hstack([
        pinocchio.computeJointTorqueRegressor(model, data, x[back], y[back], z[back])[order],
        np.diag(z), np.diag(y), np.diag(np.sign(y)), np.eye(len(y))]) for x, y, z in zip(
            q, v, acc)])
    columns = smooth(rows.reshape(len(rows), -1)).reshape(rows.shape)
    result, target = np.full(tau.shape, np.nan), smooth(tau)
    for held, seen in masks:
        some = np.interp(clock, case.time, seen) > 0.5
        x = np.linalg.lstsq(columns[some].reshape(-1, columns.shape[2]), target[some].ravel(),
                            rcond=1e-6)[0]
        here = np.interp(clock, case.time, held) > 0.5
        result[here] = columns[here] @ x
    return np.column_stack([np.interp(case.time, clock, y) for y in result.T])
