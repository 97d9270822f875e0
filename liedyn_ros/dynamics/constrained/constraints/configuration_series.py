# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The Taylor series of a configuration along a motion whose velocities are known."""

import numpy as np

from liedyn_ros.common.checks import Array
from liedyn_ros.model.kernels.kinds import FREE, SPHERICAL
from liedyn_ros.model.link_table import LinkTable


def configuration_series(table: LinkTable, q: Array, rate: Array) -> Array:
    """Return coefficients (K + 1, nq) of q, given those of v (K, nv)."""
    orders, q_series = len(rate), np.zeros((len(rate) + 1, table.nq))
    q_series[0] = q
    for kind, at, step in zip(table.kind, table.qi, table.vi):
        if kind not in (FREE, SPHERICAL):
            q_series[1:, at] = rate[:, step] / np.arange(1, orders + 1)
            continue
        turn = at + 3 if kind == FREE else at
        own = q_series[:, turn:turn + 4]
        for k in range(orders):  # x' = x (w, 0) / 2
            spin = np.zeros((k + 1, 4))
            spin[:, :3] = rate[k::-1, step:step + 3]
            own[k + 1] = _times(own[:k + 1], spin).sum(axis=0) / (2.0 * (k + 1))
        if kind == FREE:
            _travel(q_series[:, at:at + 3], own, rate[:, step + 3:step + 6])
    return q_series


def tangent_series(table: LinkTable, q_series: Array) -> Array:
    """Return coefficients (K, nv, nq) of the changes of q along each tangent, from those of q."""
    result = np.zeros((len(q_series), table.nv, table.nq))
    for kind, at, step in zip(table.kind, table.qi, table.vi):
        if kind not in (FREE, SPHERICAL):
            result[0, step, at] = 1.0
            continue
        turn = at + 3 if kind == FREE else at
        own = q_series[:, turn:turn + 4]
        back = own * [-1.0, -1.0, -1.0, 1.0]
        for c, axis in enumerate(np.eye(3, 4)):
            across = _times(own, axis[None])  # dx = x (e, 0) / 2, dp = x (e, 0) x*
            result[:, step + c, turn:turn + 4] = 0.5 * across
            if kind == FREE:
                for k in range(len(own)):
                    result[k, step + 3 + c, at:at + 3] = _times(
                        across[:k + 1], back[k::-1]).sum(axis=0)[:3]
    return result


def _travel(place: Array, turn: Array, speed: Array) -> None:
    """Write the coefficients of p' = x (v, 0) x* after the first, of a unit quaternion x."""
    orders = len(speed)
    across, back = np.zeros((orders, 4)), turn * [-1.0, -1.0, -1.0, 1.0]
    for k in range(orders):
        body = np.zeros((k + 1, 4))
        body[:, :3] = speed[k::-1]
        across[k] = _times(turn[:k + 1], body).sum(axis=0)
        place[k + 1] = _times(across[:k + 1], back[k::-1]).sum(axis=0)[:3] / (k + 1)


def _times(x: Array, y: Array) -> Array:
    """Return products (n, 4) of quaternions x, y, z, w."""
    vector = (x[:, 3:] * y[:, :3] + y[:, 3:] * x[:, :3] + np.cross(x[:, :3], y[:, :3]))
    scalar = x[:, 3] * y[:, 3] - (x[:, :3] * y[:, :3]).sum(axis=1)
    return np.column_stack((vector, scalar))
