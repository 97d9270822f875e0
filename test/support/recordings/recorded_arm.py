# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""An arm whose URDF has wrong masses, and what it recorded."""

import numpy as np
from support.recordings.bag_files import as_messages, START_NS, write_bag
from support.recordings.recorded_motion import arm_motion

from liedyn_ros.dynamics import Dynamics
from liedyn_ros.model import ModelBuilder, SpatialInertia, to_urdf, with_inertias

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
