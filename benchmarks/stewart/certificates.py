# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""
Certificates of poses: whether they hold, how much more than needed they claim, what they cost.

    python -m benchmarks.stewart.certificates

prints the figures of docs/results.md and writes them to out/bench. It takes a minute.
"""

import itertools
import statistics
import sys
from typing import Any

import numpy as np

from benchmarks.record import keep
from benchmarks.timing import Call, interleaved, median_ratio
from liedyn_ros.common.checks import Array
from liedyn_ros.common.markup import print_table
from liedyn_ros.common.resources import config_file
from liedyn_ros.lie import se3
from liedyn_ros.stewart import (
    leg_lengths, load_geometry, PoseCertifier, PoseSolver, StewartGeometry)
from liedyn_ros.stewart.certificate.kernels import pose as kernels
from liedyn_ros.stewart.platform.state import PlatformMeter

HOMES = {'geometry': 0.5, '6_3': 0.45, 'octahedron': 0.45, 'hexaglide': 0.55, 'cranks': 0.24}  # m
COUNT = 20_000  # poses of each platform
BOUNDS = (1e-9, 1e-7, 1e-6, 1e-5, 1e-4)  # m or rad, of the values' errors, in turns
GOOD = 0.1  # smallest singular value of the good workspace
LEAST_RADII = 500  # poses whose least possible radius is computed
CORNERS = np.array(list(itertools.product((-1.0, 1.0), repeat=6)))
MAX_MICROSECONDS = 2.0
Figures = dict[str, Any]


def main() -> int:
    """Measure everything."""
    rows, figures = [], []
    for name, height in HOMES.items():
        geometry = load_geometry(config_file(f'stewart_{name}.yaml'))
        home = se3.exp([0.0, 0.0, 0.0, 0.0, 0.0, height])
        figure = {'platform': name, **hold(geometry, home), **tightness(geometry, home),
                  **cost(geometry, home)}
        figures.append(figure)
        rows.append([name, figure['poses'], f'{100.0 * figure["certified"]:.1f} %',
                     figure['outside'], figure['outside_box'],
                     f'{figure["ratio"]:.2f}, {figure["largest_ratio"]:.2f}',
                     f'{figure["microseconds"]:.2f}', f'{figure["over_solve"]:.2f}'])
        print(f'  {name} done', flush=True)
    print_table(['platform', 'poses', 'certified', 'outside the radius', 'outside the box',
                 'radius over the least possible: median, most',
                 f'kernel, us (wanted <= {MAX_MICROSECONDS:g})',
                 'of a solve'], rows)
    print(f'{sum(figure["outside"] + figure["outside_box"] for figure in figures)} of '
          f'{sum(figure["poses"] for figure in figures)} outside; figures in '
          f'{keep("stewart_certificates", {"certificates": figures})}')
    return 0


def random_poses(geometry: StewartGeometry, home: Array, count: int, seed: int) -> Array:
    """Return random poses (count, 4, 4), m, about home, that the rods reach."""
    rng = np.random.default_rng(seed)
    size = geometry.characteristic_length
    reached = np.empty((0, 4, 4))
    meter = PlatformMeter(geometry)
    while len(reached) < count:
        twists = rng.uniform(-1.0, 1.0, (count, 6)) * np.array([0.4] * 3 + [0.3 * size] * 3)
        poses = se3.compose(home, se3.exp(twists))
        reached = np.concatenate((reached, poses[meter.margins(poses).kept]))
    return reached[:count]


def hold(geometry: StewartGeometry, home: Array) -> Figures:
    """Count true poses outside the radius or the box that a certificate states."""
    rng, solver = np.random.default_rng(2), PoseSolver(geometry)
    certifiers = [PoseCertifier(geometry, bound) for bound in BOUNDS]
    poses = random_poses(geometry, home, COUNT, 1)
    bounds = np.resize(BOUNDS, COUNT)
    noise = np.where(rng.random((COUNT, 1)) < 0.5, rng.uniform(-1.0, 1.0, (COUNT, 6)),
                     rng.choice((-1.0, 1.0), (COUNT, 6)))  # half of them at the bounds
    values = leg_lengths(geometry, poses) + bounds[:, None] * noise
    solved = solver.solve_batch(values, poses).poses
    proofs = [certifiers[k % len(BOUNDS)].certify(solved[k], values[k]) for k in range(COUNT)]
    certified = np.array([proof.certified for proof in proofs])
    apart, errors = distances(geometry, solved, poses)
    radii = np.array([proof.error_radius for proof in proofs])
    boxes = np.array([proof.bounds for proof in proofs])
    return {'poses': COUNT, 'certified': float(certified.mean()),
            'outside': int(np.count_nonzero(certified & ~(apart <= radii))),
            'outside_box': int(np.count_nonzero(
                certified & ~(np.abs(errors) <= boxes).all(axis=1)))}


def tightness(geometry: StewartGeometry, home: Array, bound: float = 1e-5) -> Figures:
    """Compare radii with the least possible: the furthest of the poses at the bounds' corners."""
    solver, certifier = PoseSolver(geometry), PoseCertifier(geometry, bound)
    poses = random_poses(geometry, home, 4 * LEAST_RADII, 3)
    good = np.abs(PlatformMeter(geometry).signed_values(poses)) > GOOD
    ratios = []
    for pose in poses[good][:LEAST_RADII]:
        values = leg_lengths(geometry, pose)
        others = solver.solve_batch(values + bound * CORNERS, pose).poses
        apart, _ = distances(geometry, np.broadcast_to(pose, others.shape), others)
        ratios.append(certifier.certify(pose, values).error_radius / apart.max())
    return {'ratio': statistics.median(ratios), 'largest_ratio': max(ratios),
            'least_ratio': min(ratios)}


def cost(geometry: StewartGeometry, home: Array) -> Figures:
    """Time the kernel, what the tracking would call, and a solve from a pose nearby."""
    certifier, solver = PoseCertifier(geometry, 1e-5), PoseSolver(geometry)
    values = leg_lengths(geometry, home)
    near = se3.compose(home, se3.exp(np.full(6, 1e-4)))
    known, work, repeats = certifier._known, certifier._work, 100

    def prove() -> None:
        for _ in range(repeats):
            kernels.certify(known, values, home, work)
    times = interleaved([Call(prove, ()), Call(certifier.certify, (home, values)),
                         Call(solver.solve, (values, near))])
    kernel = statistics.median(times[0]) / repeats
    return {'microseconds': 1e6 * kernel, 'call': 1e6 * statistics.median(times[1]),
            'over_solve': median_ratio(times[0], times[2]) / repeats}


def distances(geometry: StewartGeometry, poses: Array, others: Array) -> tuple[Array, Array]:
    """Return how far poses (n, 4, 4) are apart, m, and by coordinate (n, 6), rad and m."""
    centre, rho = geometry.platform_joints.mean(axis=0), geometry.characteristic_length
    turn = se3.log(se3.compose(se3.inverse(poses), others))[:, :3]
    shift = (others - poses)[:, :3, :3] @ centre + (others - poses)[:, :3, 3]
    shift = np.einsum('nji,nj->ni', poses[:, :3, :3], shift)
    return np.sqrt(((rho * turn) ** 2 + shift ** 2).sum(axis=1)), np.hstack((turn, shift))


if __name__ == '__main__':
    sys.exit(main())
