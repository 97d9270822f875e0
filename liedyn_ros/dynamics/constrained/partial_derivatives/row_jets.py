# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""
The wrench of a row of a closure, between two frames, with its rate and its changes (12.9).

A row of A is a wrench between two frames. It varies with time, with a change of q or v, and with
both. Jets follow this by the product rule: vectors with these three parts besides their value.
"""

from typing import NamedTuple

import numpy as np

from liedyn_ros.common.checks import Array
from liedyn_ros.common.errors import ModelError
from liedyn_ros.model import Closure
from liedyn_ros.model.kernels import closure_kinds as kinds


class Jet(NamedTuple):
    """A vector (3,), its rate (3,), its changes (c, 3) by what varies, and those of its rate."""

    value: Array
    rate: Array
    change: Array
    both: Array


class Changes(NamedTuple):
    """What columns (c) change of a body (c, 6), spatially: displacement, twist, acceleration."""

    moved: Array
    turned: Array
    driven: Array


class Side(NamedTuple):
    """
    A frame on a link: origin and axes, and what changes of the body that carries it.

    moved (c, 6) is the displacement of the frame, which may have parameters of its own.
    """

    origin: Jet
    axes: tuple[Jet, Jet, Jet]
    link: int
    body: Changes
    moved: Array


def row_wrench(a: Side, b: Side, closure: Closure, kind: int) -> Jet:
    """Return the wrench of a row on body b about the origin of the ground, (6,) (12.9)."""
    zero = Jet(*(np.zeros_like(part) for part in b.origin))
    if kind in (kinds.MOMENT_X, kinds.MOMENT_Y, kinds.MOMENT_Z):
        return _joined(b.axes[kind - kinds.MOMENT_X], zero)
    if kind == kinds.MOMENT_CROSS:
        return _joined(_cross(a.axes[0], b.axes[1]), zero)
    if kind == kinds.ALONG_ROD:
        rod = _sum((1.0 / closure.length, b.origin), (-1.0 / closure.length, a.origin))
        return _joined(_cross(b.origin, rod), rod)
    if kind in (kinds.ACROSS_X, kinds.ACROSS_Y, kinds.ACROSS_Z):
        axis = a.axes[kind - kinds.ACROSS_X]
        return _joined(_cross(b.origin, axis), axis)
    if kind == kinds.SCREW:
        axis = b.axes[2]
        return _joined(_sum((1.0, _cross(b.origin, axis)), (-closure.pitch, axis)), axis)
    if kind in (kinds.FORCE_X, kinds.FORCE_Y, kinds.FORCE_Z):
        axis = b.axes[kind - kinds.FORCE_X]
        return _joined(_cross(b.origin, axis), axis)
    raise ModelError(f'row of closure {closure.name}: expected a kind from {kinds.MOMENT_X} to '
                     f'{kinds.ALONG_ROD}, got {kind}')


def _joined(moment: Jet, force: Jet) -> Jet:
    return Jet(*(np.concatenate([m, f], axis=-1) for m, f in zip(moment, force)))


def _sum(*terms: tuple[float, Jet]) -> Jet:
    scaled = [[scale * part for part in jet] for scale, jet in terms]
    return Jet(*(np.sum(parts, axis=0) for parts in zip(*scaled)))


def _cross(x: Jet, y: Jet) -> Jet:
    return Jet(
        np.asarray(np.cross(x.value, y.value), dtype=np.float64),
        np.cross(x.rate, y.value) + np.cross(x.value, y.rate),
        np.cross(x.change, y.value) + np.cross(x.value, y.change),
        np.cross(x.both, y.value) + np.cross(x.change, y.rate)
        + np.cross(x.rate, y.change) + np.cross(x.value, y.both))
