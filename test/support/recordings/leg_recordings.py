# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Leg states of a swinging platform, as messages of a bag."""

import csv

import numpy as np
from support.platforms.stewart_motion import pose_of
from support.recordings.bag_files import joint_state, START_NS

from liedyn_ros.common.resources import config_file
from liedyn_ros.lie import se3
from liedyn_ros.stewart import leg_lengths, load_geometry

GEOMETRY = load_geometry(config_file('stewart_geometry.yaml'))
LEGS = list(GEOMETRY.leg_names)
PERIOD_NS, COUNT = 10_000_000, 60
HOME = pose_of((0.0, 0.0, 0.5), (0.0, 0.0, 0.0))


def motion(count=COUNT, start_ns=START_NS):
    """Return stamps and noisy lengths (count, 6) of a swinging platform."""
    rng, stamps = np.random.default_rng(4), start_ns + PERIOD_NS * np.arange(count)
    swing = np.array([0.05, -0.03, 0.08, 0.01, 0.02, 0.01])
    lengths = np.array([leg_lengths(GEOMETRY, HOME @ se3.exp(np.sin(0.1 * k) * swing))
                        for k in range(count)])
    return stamps.tolist(), lengths + 1e-6 * rng.normal(size=lengths.shape)


def messages(stamps, lengths, velocities=()):
    return [(stamp, joint_state(stamp, LEGS, row, velocities)) for stamp, row in zip(
        stamps, lengths)]


def rows_of(path):
    with path.open() as stream:
        return list(csv.DictReader(stream))


def numbers(row, *prefixes):
    return [float(value) for key, value in row.items() if key.startswith(prefixes)]
