# Copyright 2026 The liedyn_ros authors
#
# Licensed under the Apache License, Version 2.0 (the "License");
# you may not use this file except in compliance with the License.
# You may obtain a copy of the License at
#
#     http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
# See the License for the specific language governing permissions and
# limitations under the License.

"""The figures of the study of derivatives."""

from pathlib import Path

import matplotlib
from matplotlib import pyplot
from matplotlib.axes import Axes
import numpy as np

from liedyn_ros.common.checks import Array
from liedyn_ros.studies.time_derivatives.timing import Curve, FIXED_ORDER, Timing

matplotlib.use('Agg')

STYLES = ('-', '--', ':', '-.')


def draw_forces(times: Array, tau: Array, names: tuple[str, ...], path: Path) -> None:
    """Draw base wrench and joint torques (T, orders, nv) with their derivatives."""
    orders = tau.shape[1]
    figure, axes = pyplot.subplots(orders, 2, figsize=(11, 2.0 * orders), sharex=True)
    for k, (left, right) in enumerate(axes):
        for j, name in enumerate(names):
            (left if j < 6 else right).plot(
                times, tau[:, k, j], STYLES[j % 6 % len(STYLES)], linewidth=1.0, label=name)
        left.set_ylabel(f'derivative {k}' if k else 'N m, N', fontsize=8)
    axes[0, 0].set_title('wrench on the base, body frame', fontsize=9)
    axes[0, 1].set_title('joint torques', fontsize=9)
    for ax in axes.ravel():
        ax.tick_params(labelsize=7)
    for ax in axes[0]:
        ax.legend(fontsize=6, ncols=2, loc='upper right')
    for ax in axes[-1]:
        ax.set_xlabel('t, s', fontsize=8)
    figure.tight_layout()
    figure.savefig(path, dpi=120)
    pyplot.close(figure)


def draw_errors(times: Array, errors: Array, path: Path) -> None:
    """Draw the errors (T, orders) of the recovered reference."""
    figure, ax = pyplot.subplots(figsize=(8, 4.5))
    for k in range(errors.shape[1]):
        ax.semilogy(times, np.maximum(errors[:, k], 1e-17), STYLES[k % len(STYLES)],
                    linewidth=0.9, label=f'order {k}')
    ax.axhline(1e-8, color='0.5', linestyle='--', linewidth=0.9)
    ax.set_xlabel('t, s')
    ax.set_ylabel('error / max(1, largest force derivative)')
    ax.legend(fontsize=8, ncols=3)
    figure.tight_layout()
    figure.savefig(path, dpi=120)
    pyplot.close(figure)


def draw_timing(timing: Timing, path: Path) -> None:
    """Draw time against bodies and against order."""
    figure, (left, right) = pyplot.subplots(1, 2, figsize=(11, 4.5))
    _draw_curves(left, timing.by_bodies, f'bodies, to order {FIXED_ORDER}')
    _draw_curves(right, timing.by_order, 'order, 5 branches of 20 bodies')
    left.set_xscale('log')
    figure.tight_layout()
    figure.savefig(path, dpi=120)
    pyplot.close(figure)


def _draw_curves(ax: Axes, curves: Curve, label: str) -> None:
    for name, points in curves.items():
        style = '--' if 'CasADi' in name else '-'
        color = 'tab:blue' if name.startswith('inverse') else 'tab:orange'
        ax.plot(*zip(*points), style, marker='o', markersize=3, color=color, label=name)
    ax.set_yscale('log')
    ax.set_xlabel(label)
    ax.set_ylabel('us a call')
    ax.grid(True, which='both', linewidth=0.3)
    ax.legend(fontsize=8)
