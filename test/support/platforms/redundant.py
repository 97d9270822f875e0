# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Platforms of seven legs and more, of all leg types, and their motions."""

import numpy as np

from liedyn_ros.stewart import (
    Crank, OffsetStrut, Rail, SmoothTrajectory, StewartGeometry, Strut, Wire)

NOISE = 1e-5  # m


def home():
    """Return the pose at which all of them are far from singular."""
    pose = np.eye(4)
    pose[2, 3] = 0.6
    return pose


def redundant(count, seed=0, noise=NOISE, leg_types=()):
    """Return a platform of irregular hexagons with more corners."""
    rng = np.random.default_rng(seed)
    angles = np.linspace(0.0, 2.0 * np.pi, count, endpoint=False)
    turned = angles + 0.5 * (-1.0) ** np.arange(count)
    base, platform = (radius * np.stack((np.cos(a), np.sin(a), 0.0 * a), 1)
                      for radius, a in ((0.6, angles), (0.3, turned)))
    base += 0.1 * rng.normal(size=base.shape)
    platform += 0.05 * rng.normal(size=platform.shape)
    limits = [[0.0 if not leg_types or leg_types[k].positive else -np.inf, np.inf]
              for k in range(count)]
    return StewartGeometry(
        tuple(f'leg_{k + 1}' for k in range(count)), base, platform, limits,
        leg_types=leg_types, leg_noise=np.full(count, noise))


def mixed():
    """Return a platform of nine legs: two struts and one or two of each other type."""
    return redundant(9, 3, leg_types=(
        Strut(), OffsetStrut((1.0, 0.2, 0.0), 0.02, (0.3, 1.0, 0.0), 0.015),
        Wire((0.0, 0.0, 1.0), 0.03), Rail((0.0, 0.1, 1.0), 0.9), Strut(),
        Crank((0.3, 1.0, 0.0), (1.0, -0.3, 0.2), 0.2, 0.7),
        OffsetStrut((1.0, 0.0, 0.1), 0.01, (0.0, 1.0, 0.0), 0.01, 0.005, 0.3),
        Rail((0.2, 0.0, 1.0), 0.95, False), Wire((0.1, 0.0, 1.0), 0.02)))


def motion(start, seconds, rate):
    """Return times (n,), s, and poses (n, 4, 4) of a motion in all coordinates, once it runs."""
    times = np.arange(round(seconds * rate)) / rate
    trajectory = SmoothTrajectory(
        start, np.array([0.15, 0.15, 0.2, 0.05, 0.05, 0.05]),
        np.array([0.4, 0.5, 0.3, 0.45, 0.35, 0.6]), np.arange(6.0), 0.1)
    return times, trajectory.pose(1.0 + times)
