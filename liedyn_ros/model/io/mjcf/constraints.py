# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Equality constraints of MJCF: closures between bodies, couplings of joints and of tendons."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from liedyn_ros.common.checks import Array
from liedyn_ros.model.builder import ModelBuilder
from liedyn_ros.model.io.mjcf.compiler import Compiled, placed
from liedyn_ros.model.parts.geometry import axis_frame, perpendicular

_UNREAD = 'not read: write it as a closure or a coupling with annotate'
_ITSELF = 'between two points of one body, left out'
_AS_FUNCTION = 'give ConstrainedDynamics the functions of mjcf_functions'
_SAME = 1e-9  # m: what numbers written in full may differ by
_Sum = tuple[dict[str, float], float]  # factors of joints, and the value where the file has them
_NONE: _Sum = {}, 0.0


class Polynomial(NamedTuple):
    """
    A relation of joints that is no coupling: y - y0 = a + b (x - x0) + ... + e (x - x0)^4.

    of and by are y and x, sums of joints by name, with y0 and x0. by is empty where y is held
    still. terms are a to e.
    """

    name: str
    of: _Sum
    by: _Sum
    terms: tuple[float, ...]


class Equalities:
    """
    The equality constraints of a compiled model.

    polynomials are relations of joints that no coupling describes.
    """

    def __init__(self, there: Compiled, builder: ModelBuilder) -> None:
        """Take a model, and what its closures and couplings are added to."""
        self._there, self._builder = there, builder
        self.polynomials: list[Polynomial] = []

    def add(self) -> None:
        """Add the equality constraints; unread ones have a warning."""
        there, kinds = self._there.model, self._there.lib.mjtEq
        if there.neq and self._there.is_off('EQUALITY', 'CONSTRAINT'):
            self._builder.add_warning('option flag equality: constraints are off, left out')
            return
        for i in range(there.neq):
            kind = kinds(there.eq_type[i]).name.removeprefix('mjEQ_').lower()
            name = self._there.name('EQUALITY', i) or f'{kind}_{i}'
            if not there.eq_active0[i]:
                self._builder.add_warning(f'equality {name}: not active, left out')
            elif kind in ('connect', 'weld'):
                self._add_closure(i, name, kind == 'weld')
            elif kind == 'joint':
                self._add_coupling(i, name, kind, *(self._joint(each) for each in self._pair(i)))
            elif kind == 'tendon':
                self._add_tendons(i, name)
            else:
                self._builder.add_warning(f'equality {name} of type {kind}: {_UNREAD}')

    def _pair(self, i: int) -> tuple[int, int]:
        return int(self._there.model.eq_obj1id[i]), int(self._there.model.eq_obj2id[i])

    def _add_closure(self, i: int, name: str, weld: bool) -> None:
        """Add a connect or a weld; a weld whose torquescale is zero holds its point alone."""
        there, data, pair = self._there.model, self._there.model.eq_data[i], self._pair(i)
        if int(there.eq_objtype[i]) == self._there.lib.mjtObj.mjOBJ_SITE:
            (body_a, frame_a), (body_b, frame_b) = map(self._there.site, pair)
        else:
            body_a, body_b = (self._there.bodies[each] for each in pair)
            frame_a, frame_b = np.eye(4), np.eye(4)
            frame_a[:3, 3], frame_b[:3, 3] = data[:3], data[3:6]
            if weld:  # the anchor is of body 2, the pose of body 2 is in body 1
                frame_a, frame_b = placed(data[3:6], data[6:10]), np.eye(4)
                frame_b[:3, 3] = data[:3]
        if body_a == body_b:
            self._builder.add_warning(f'equality {name}: {_ITSELF}')
            return
        turns = not weld or data[10] == 0.0
        self._builder.add_closure(name, 'spherical' if turns else 'weld', body_a, body_b,
                                  placement_a=frame_a, placement_b=frame_b)

    def _add_coupling(self, i: int, name: str, kind: str, of: _Sum, by: _Sum) -> None:
        """
        Add a relation of two sums of joints where it is linear.

        y - y0 = a + b (x - x0), where y0 and x0 are their values in the pose of the file.
        """
        terms = self._there.model.eq_data[i, :5].tolist()
        if any(terms[2:]):
            self.polynomials.append(Polynomial(name, of, by, tuple(terms)))
            self._builder.add_warning(f'equality {name} of type {kind}: not linear in joints, '
                                      f'not read: {_AS_FUNCTION}')
            return
        (first, y0), (second, x0) = of, by
        factors = {joint: -factor for joint, factor in first.items()}
        for joint, factor in second.items():
            factors[joint] = factors.get(joint, 0.0) + terms[1] * factor
        follower = next((joint for joint in first if factors[joint] != 0.0), None)
        leaders = {joint: factor for joint, factor in factors.items()
                   if joint != follower and factor != 0.0}
        if follower is None or not leaders:
            self.polynomials.append(Polynomial(name, of, by, tuple(terms)))
            self._builder.add_warning(f'equality {name}: it holds one joint still, not read: lock '
                                      f'the joint with ModelBuilder.lock_joint, or {_AS_FUNCTION}')
            return
        scale = -1.0 / factors[follower]
        (leader, factor), *further = leaders.items()
        self._builder.add_coupling(follower, leader, scale * factor,
                                   scale * (y0 + terms[0] - terms[1] * x0),
                                   {joint: scale * factor for joint, factor in further})

    def _joint(self, number: int) -> _Sum:
        there = self._there.model
        return _NONE if number < 0 else (
            {self._there.joints[number]: 1.0}, float(there.qpos0[there.jnt_qposadr[number]]))

    def _add_tendons(self, i: int, name: str) -> None:
        """Add a relation of tendons: sums of joints, or distances of sites (spatial tendons)."""
        sums = [self._tendon(each) for each in self._pair(i)]
        ends = [self._ends(each) for each in self._pair(i)]
        if all(each is not None for each in sums):
            self._add_coupling(i, name, 'tendon', *(each or _NONE for each in sums))
        elif not self._add_distance(i, name, ends):
            self._builder.add_warning(
                f'equality {name} of type tendon: no sum of joints and no distance of two '
                f'bodies, {_UNREAD}')

    def _tendon(self, number: int) -> _Sum | None:
        """Return the joints of a fixed tendon, or None for another."""
        if number < 0:
            return _NONE
        parts = self._there.sum_of(number)
        if parts is None:
            return None
        factors: dict[str, float] = {}
        for joint, factor in parts:
            name = self._there.joints[joint]
            factors[name] = factors.get(name, 0.0) + factor
        return factors, float(self._there.model.tendon_length0[number])

    def _ends(self, number: int) -> list[tuple[str | None, Array]] | None:
        """Return the two sites of a tendon between two, or None for another."""
        there = self._there.model
        if number < 0 or there.tendon_num[number] != 2:
            return None
        wraps = range(there.tendon_adr[number], there.tendon_adr[number] + 2)
        if any(int(there.wrap_type[i]) != self._there.lib.mjtWrap.mjWRAP_SITE for i in wraps):
            return None
        return [self._there.site(there.wrap_objid[i]) for i in wraps]

    def _add_distance(self, i: int, name: str,
                      ends: list[list[tuple[str | None, Array]] | None]) -> bool:
        """Add a rod, or a point as far from one site as from another: a point on a plane."""
        there, (constant, slope, *more), (one, other) = (
            self._there.model, self._there.model.eq_data[i, :5], self._pair(i))
        if ends[0] is None or any(more):
            return False
        (body_a, frame_a), (body_b, frame_b) = ends[0]
        length = float(there.tendon_length0[one] + constant)
        if not length > 0.0 or body_a == body_b:
            return False
        if other < 0:
            self._builder.add_closure(name, 'rod', body_a, body_b, placement_a=frame_a,
                                      placement_b=frame_b, length=length)
            return True
        if ends[1] is None or slope != 1.0 or abs(length - there.tendon_length0[other]) > _SAME:
            return False
        (again_a, image), (again_b, same) = ends[1]
        if (body_a, body_b) != (again_a, again_b) or abs((same - frame_b)[:3, 3]).max() > _SAME:
            return False
        normal = frame_a[:3, 3] - image[:3, 3]
        normal = normal / np.linalg.norm(normal)
        plane, point = np.eye(4), np.eye(4)
        plane[:3, :3] = axis_frame(normal, perpendicular(normal))
        plane[:3, 3] = 0.5 * (frame_a[:3, 3] + image[:3, 3])
        point[:3, 3] = frame_b[:3, 3]
        self._builder.add_closure(name, 'point_on_plane', body_a, body_b, placement_a=plane,
                                  placement_b=point)
        return True
