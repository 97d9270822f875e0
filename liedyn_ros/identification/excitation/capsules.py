# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Distances between bodies of a machine, each wrapped in capsules."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from liedyn_ros.common.checks import Array
from liedyn_ros.dynamics import Dynamics
from liedyn_ros.model import Model

_POINT_SIZE = 1e-12  # m^2, below which a segment is a point


@dataclass(frozen=True, eq=False)
class Capsule:
    """
    All points within radius (m) of a segment from start (3,) to end (3,), m, in a body's frame.

    A sphere is one whose ends are equal. body None is the ground.
    """

    body: str | None
    start: Array
    end: Array
    radius: float


def capsules_of(model: Model) -> tuple[Capsule, ...]:
    """Return capsules around the visuals of a YAML model: spheres, cylinders and boxes."""
    found = []
    for body in model.body_list:
        for visual in body.visuals:
            size = visual.size
            if visual.shape == 'sphere':
                axis, half, radius = 2, 0.0, float(size[0])
            elif visual.shape == 'cylinder':
                axis, half, radius = 2, 0.5 * float(size[1]), float(size[0])
            elif visual.shape == 'box':
                axis = int(np.argmax(size))
                across = np.delete(size, axis)
                radius = 0.5 * float(np.linalg.norm(across))
                half = max(0.5 * float(size[axis]), 0.0)
            else:
                continue
            along = half * visual.placement[:3, axis]
            middle = visual.placement[:3, 3]
            found.append(Capsule(body.name, middle - along, middle + along, radius))
    return tuple(found)


class Clearance:
    """The least distance between capsules of bodies that no joint connects."""

    def __init__(self, model: Model, capsules: Sequence[Capsule]) -> None:
        """Take a model and its capsules. Raises KeyError for a body that is not there."""
        self._dynamics = Dynamics(model)
        places = {name: k for k, name in enumerate(model.bodies)}
        self._at = [-1 if each.body is None else places[each.body] for each in capsules]
        self._ends = np.array([[each.start, each.end] for each in capsules]).reshape(-1, 2, 3)
        self._radii = np.array([each.radius for each in capsules])
        near = {frozenset((joint.parent, joint.child)) for joint in model.joint_list}
        near |= {frozenset((each.body_a, each.body_b)) for each in model.closures}
        names = [each.body for each in capsules]
        self.pairs = [
            (i, j) for i in range(len(names)) for j in range(i)
            if names[i] != names[j] and frozenset((names[i], names[j])) not in near]

    def distances(self, q: Array) -> Array:
        """Return the least distance (n,), m, at configurations (n, nq); infinite without pairs."""
        if not self.pairs:
            return np.full(len(q), np.inf)
        ends = np.empty((len(q), *self._ends.shape))
        for k, each in enumerate(q):
            poses = self._dynamics.kinematics(each).poses
            for c, body in enumerate(self._at):
                ends[k, c] = self._ends[c] if body < 0 else (
                    self._ends[c] @ poses[body, :3, :3].T + poses[body, :3, 3])
        one, other = np.array(self.pairs).T
        gaps = segment_distances(ends[:, one], ends[:, other])
        return np.asarray((gaps - self._radii[one] - self._radii[other]).min(axis=1))


def segment_distances(one: Array, other: Array) -> Array:
    """Return the distances (...) of segments (..., 2, 3), by the nearest points within them."""
    p, u = one[..., 0, :], one[..., 1, :] - one[..., 0, :]
    q, v = other[..., 0, :], other[..., 1, :] - other[..., 0, :]
    w = p - q
    a, b, c = (u * u).sum(-1), (u * v).sum(-1), (v * v).sum(-1)
    d, e = (u * w).sum(-1), (v * w).sum(-1)
    flat = a * c - b * b
    s = np.where(flat > 1e-9 * a * c, (b * e - c * d) / np.where(flat > 0.0, flat, 1.0), 0.0)
    s = np.clip(s, 0.0, 1.0)
    t = np.where(c > _POINT_SIZE, (b * s + e) / np.where(c > _POINT_SIZE, c, 1.0), 0.0)
    t = np.clip(t, 0.0, 1.0)
    s = np.where(a > _POINT_SIZE, (b * t - d) / np.where(a > _POINT_SIZE, a, 1.0), 0.0)
    s = np.clip(s, 0.0, 1.0)
    return np.asarray(np.linalg.norm(w + s[..., None] * u - t[..., None] * v, axis=-1))
