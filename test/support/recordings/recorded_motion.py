# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Smooth motions of machines, and what sensors record of them, of an arm too."""

from __future__ import annotations

import numpy as np
from scipy.signal import lfilter
from support.recordings.bag_files import as_messages, START_NS, write_bag

from liedyn_ros.common.checks import Array
from liedyn_ros.dynamics import Dynamics
from liedyn_ros.dynamics.constrained import ConstrainedDynamics, LoopTracker
from liedyn_ros.model import Model, ModelBuilder, SpatialInertia, to_urdf, with_inertias

PERIOD = 10.0  # s
H = 2e-3  # s, of differences


def angles(rng: np.random.Generator, count: int, size: float = 0.8, harmonics: int = 4):
    """Return a function from times (n,) to coordinates, rates and accelerations (n, count)."""
    k = 2.0 * np.pi / PERIOD * np.arange(1, harmonics + 1)
    sine, cosine = rng.normal(size=(2, harmonics, count)) * size / np.sqrt(harmonics)

    def at(time: Array) -> tuple[Array, Array, Array]:
        s, c = np.sin(np.outer(time, k)), np.cos(np.outer(time, k))
        q = s @ sine + c @ cosine
        v = (c * k) @ sine - (s * k) @ cosine
        return q, v, -(s * k**2) @ sine - (c * k**2) @ cosine

    return at


def arm_motion(model: Model, seed: int, seconds: float, rate: float):
    """Return time, q, v, a, tau of a tree whose joints have one coordinate each."""
    time = np.arange(int(seconds * rate)) / rate
    q, v, a = angles(np.random.default_rng(seed), model.nv)(time)
    return time, q, v, a, Dynamics(model).inverse.batch(q, v, a)


def group_motion(model: Model, seed: int, seconds: float, rate: float):
    """Return time, q, v, a, tau of any tree; v and a are differences of its configurations."""
    time = np.arange(int(seconds * rate)) / rate
    path, start = angles(np.random.default_rng(seed), model.nv), model.neutral()

    def configurations(shift: float) -> Array:
        return np.array([model.integrate(start, each) for each in path(time + shift)[0]])

    def difference(before: Array, after: Array) -> Array:
        return np.array([model.difference(x, y) for x, y in zip(before, after)])

    q = [configurations(i * H) for i in range(-4, 5)]

    def velocity(i: int) -> Array:
        near, far = (difference(q[i - k], q[i]) + difference(q[i], q[i + k]) for k in (1, 2))
        return (8.0 * near - far) / (12.0 * H)

    v = [velocity(i) for i in range(2, 7)]
    a = (8.0 * (v[3] - v[1]) - (v[4] - v[0])) / (12.0 * H)
    return time, q[4], v[2], a, Dynamics(model).inverse.batch(q[4], v[2], a)


def loop_motion(model: Model, seed: int, seconds: float, rate: float, start=None):
    """Return time, q, v, a, tau of a machine with loops; only actuated joints bear forces."""
    time = np.arange(int(seconds * rate)) / rate
    dynamics = ConstrainedDynamics(model)
    tracker = LoopTracker(dynamics, start=start)
    first = tracker.update(tracker_start(tracker, model, start)).q
    at = [model.joint(name).qi for name in tracker.measured]
    q, v, a = angles(np.random.default_rng(seed), len(at), size=0.15)(time)
    q = q - q[0] + first[at]
    states = [tracker.update(*each, ahead=False) for each in zip(q, v, a)]
    tau = [dynamics.inverse(each.q, each.v, each.a).tau for each in states]
    return time, *(np.array([getattr(each, name) for each in states]) for name in 'qva'), np.array(
        tau)


def tracker_start(tracker: LoopTracker, model: Model, start: Array | None) -> Array:
    """Return the measured joints of a start."""
    q = model.neutral() if start is None else start
    return np.array([q[model.joint(name).qi] for name in tracker.measured])


def coloured(rng: np.random.Generator, shape: tuple[int, int], memory: float) -> Array:
    """Return noise (n, f) of deviation 1, each sample memory times the last, plus white noise."""
    white = rng.normal(size=(shape[0] + 500, shape[1]))
    return lfilter([np.sqrt(1.0 - memory**2)], [1.0, -memory], white, axis=0)[500:]


JOINTS = 'base_joint', 'shoulder', 'elbow'
RATE, SECONDS = 100.0, 24.0


def true_arm():
    """Return an arm of three turning joints with friction."""
    builder = ModelBuilder('arm')
    for name, joint, parent, axis in zip(('base', 'upper', 'fore'), JOINTS,
                                         (None, 'base', 'upper'), ('z', 'y', 'y')):
        builder.add_body(name, SpatialInertia(
            2.0, [0.02, 0.01, 0.15], np.diag([0.02, 0.03, 0.01])))
        place = np.eye(4)
        place[2, 3] = 0.3 if parent else 0.0
        builder.add_joint(joint, 'revolute', parent, name, axis=[0, axis == 'y', axis == 'z'],
                          placement=place, damping=0.3, friction=0.2,
                          limits={'lower': -3.0, 'upper': 3.0})
    return builder.build()


def wrong_urdf(path, factor=1.3):
    """Write the URDF with wrong masses, and with a mesh and a comment; return its path."""
    model = true_arm()
    wrong = with_inertias(model, {
        body.name: factor * body.inertia.parameters() for body in model.body_list})
    text = to_urdf(wrong).replace(
        '<link name="fore">', '<link name="fore"><!-- the workshop built it --><visual><geometry>'
        '<mesh filename="package://arm/fore.stl"/></geometry></visual>')
    path.write_text(text)
    return path


def arm_recording(seed=1, noise=0.02):
    """Return stamps (n,) ns, and position, velocity and effort (n, 3)."""
    model = true_arm()
    rng = np.random.default_rng(seed)
    time, q, v, _, tau = arm_motion(model, seed, SECONDS, RATE)
    return (START_NS + np.round(1e9 * time).astype(np.int64), q + 1e-5 * rng.normal(size=q.shape),
            v, tau + noise * rng.normal(size=q.shape))


def arm_bag(path):
    """Write a bag of the arm."""
    return write_bag(path, as_messages(JOINTS, *arm_recording()))


def forces_error(model, seed=7):
    """Return the rms error (3,) of the joint forces of a model on another motion, N m."""
    _, q, v, a, tau = arm_motion(true_arm(), seed, 10.0, 50.0)
    return np.sqrt(np.mean((Dynamics(model).inverse.batch(q, v, a) - tau)**2, axis=0))
