# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""
Repeat the experiment of Ali et al.: time derivatives of the aerial manipulator's dynamics.

`liedyn reproduce higher-order`.
Inverse dynamics to order 5 along the reference is fed to forward dynamics, which must return the
reference. Their cost is measured by benchmarks/algorithms/higher_order.py.
"""

from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
import sys

import numpy as np

from liedyn_ros.aerial.reference import Reference
from liedyn_ros.commands import outputs
from liedyn_ros.common.checks import Array
from liedyn_ros.common.markup import print_table
from liedyn_ros.common.resources import config_file
from liedyn_ros.dynamics import Dynamics
from liedyn_ros.lie import so3
from liedyn_ros.lie.time_derivatives import BODY, SPATIAL, Twists
from liedyn_ros.model import load_yaml
from liedyn_ros.studies.options import higher_order_parser, STUDY_ORDER
from liedyn_ros.studies.time_derivatives import figures
from liedyn_ros.view_state import seen_of


class SmoothReference:
    """
    The motion (8.4) at full rate: every coordinate is a sinusoid, so every derivative is known.

    Its circle, yaw and sweep are those of aerial.Reference.
    """

    def __init__(self, reference: Reference) -> None:
        """Take the numbers of a reference."""
        self.period = reference.period
        self._of = reference

    def configuration(self, t: float) -> Array:
        """Return q (nq,) at a time, s."""
        x = self._coordinates(t, 1)[0]
        return np.concatenate((x[:3], (0.0, 0.0, np.sin(0.5 * x[3]), np.cos(0.5 * x[3])), x[4:]))

    def motion(self, t: float, count: int) -> Array:
        """Return v and derivatives (count, nv), the base's a body twist, at a time, s."""
        x = self._coordinates(t, count + 1)
        pose = np.eye(4)
        pose[:3, :3], pose[:3, 3] = so3.exp([0.0, 0.0, x[0, 3]]), x[0, :3]
        turn = np.zeros((count, 3))
        turn[:, 2] = x[1:, 3]
        moved = np.array([sum(self._binomial[k, i] * np.cross(x[i, :3], turn[k - i])
                              for i in range(k + 1)) for k in range(count)])
        spatial = np.hstack([turn, x[1:, :3] + moved])  # (8.5)
        return np.hstack([Twists(pose, spatial, SPATIAL).to(BODY).time_derivatives, x[1:, 4:]])

    def _coordinates(self, t: float, count: int) -> Array:
        """Return x, y, z, yaw and joints with derivatives (count, 4 + n)."""
        offset, amplitude, omega, phase = self._waves
        k = np.arange(count)[:, None]
        x = amplitude * omega**k * np.sin(omega * t + phase + 0.5 * np.pi * k)
        x[0] += offset
        return np.asarray(x)

    @cached_property
    def _waves(self) -> tuple[Array, Array, Array, Array]:
        """Return offset, amplitude, omega and phase of offset + amplitude sin(omega t + phase)."""
        of = self._of
        circle, half = 2.0 * np.pi / of.period, 0.5 * of.joint_sweep
        one = np.ones_like(half)
        return (np.array([0.0, 0.0, of.height, 0.0, *(of.joint_start + half)]),
                np.array([of.radius, of.radius, 0.0, of.yaw_amplitude, *-half]),
                np.array([circle, circle, 0.0, 2.0 * np.pi * of.yaw_frequency,
                          *(0.5 * circle * one)]),
                np.array([0.5 * np.pi, 0.0, 0.0, 0.0, *(0.5 * np.pi * one)]))

    @cached_property
    def _binomial(self) -> Array:
        table = np.eye(40)
        table[:, 0] = 1.0
        for n in range(1, len(table)):
            table[n, 1:] = table[n - 1, 1:] + table[n - 1, :-1]
        return table


TIME_STEP = 0.01  # s
MAX_STUDY_ERROR = 1e-8  # of the largest force derivative, or of 1


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the study, draw its plots; return 0 if the reference was recovered."""
    folder = higher_order_parser().parse_args(arguments).folder
    good = fly(folder)
    print(f'Plots in {folder}/')
    return 0 if good else 1


def fly(folder: Path) -> bool:
    """Apply inverse, then forward dynamics; return whether the reference was recovered."""
    dynamics = Dynamics(load_yaml(config_file('aerial_manipulator.yaml')))
    reference = SmoothReference(Reference())
    count = round(reference.period / TIME_STEP) + 1
    times: Array = np.arange(count).astype(np.float64) * TIME_STEP
    print('The paper gives no parameters of its machine: masses, lengths and gains are our own')
    print(f'Reference: {len(times)} states with derivatives', flush=True)
    q = np.array([reference.configuration(t) for t in times.tolist()])
    motion = np.array([reference.motion(t, STUDY_ORDER + 2) for t in times.tolist()])
    print(f'Inverse dynamics to order {STUDY_ORDER}, then forward dynamics', flush=True)
    v, wanted = motion[:, 0].copy(), motion[:, 1:].copy()
    tau = dynamics.inverse.time_derivatives_batch(q, v, wanted)
    a = dynamics.forward.time_derivatives_batch(q, v, tau)
    errors = np.abs(a - wanted).max(axis=2)
    sizes = np.abs(tau).max(axis=2)
    scaled = errors / np.maximum(1.0, sizes)
    mixed = hybrid_errors(dynamics, q, v, wanted, tau) / np.maximum(1.0, sizes)
    print_table(['order', 'largest force', 'error', 'of max(1, force)', 'hybrid'], [
        [str(k), f'{sizes[:, k].max():.3g}', f'{errors[:, k].max():.1e}',
         f'{scaled[:, k].max():.1e}', f'{mixed[:, k].max():.1e}'] for k in range(STUDY_ORDER + 1)])
    good = bool(max(scaled.max(), mixed.max()) <= MAX_STUDY_ERROR)
    print('  The reference was recovered' if good else f'  NOT WITHIN {MAX_STUDY_ERROR:g}')
    figures.draw_reference(
        times, motion, a, dynamics.model.coordinate_names, folder / 'reference.png')
    figures.draw_forces(
        times, tau, dynamics.model.coordinate_names, folder / 'forces.png')
    figures.draw_errors(times, scaled, folder / 'errors.png')
    outputs.recording(folder / 'reference.html', dynamics.model, [
        (time, seen_of(dynamics.model, state)) for time, state in zip(times.tolist(), q)])
    return good


def hybrid_errors(dynamics: Dynamics, q: Array, v: Array, a: Array, tau: Array) -> Array:
    """Return errors (K, r + 1) of hybrid dynamics, given the arms' motion and the base wrench."""
    arm = np.arange(dynamics.model.nv) >= 6
    got = dynamics.hybrid.time_derivatives_batch(q, v, arm, a, tau)
    return np.asarray(np.maximum(*(np.abs(x - y).max(axis=2) for x, y in zip(got, (a, tau)))))


if __name__ == '__main__':
    sys.exit(main())
