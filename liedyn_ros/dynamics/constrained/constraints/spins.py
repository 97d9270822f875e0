# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""
Rods between ball joints spin about themselves, and nothing else of the machine moves.

No motor decides such a spin, and none needs to. It is one coordinate of the rod's own joint, or of
hinges that meet in a point, as a ball joint has them in URDF: inverse dynamics holds it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from liedyn_ros.common.checks import Array
from liedyn_ros.common.on_demand import weak_cache
from liedyn_ros.dynamics.constrained.constraints.constraints import Constraints
from liedyn_ros.model import Model
from liedyn_ros.model.parts.joints import Joint

# Of a rod's length: how far off its line its mass is at most. The moment that holds the spin,
# which the real rod lacks, is then at most this part of its weight times its length.
MAX_MASS_OFFSET = 0.1
LINE_TOLERANCE = 1e-8  # of a rod's length: what rounding leaves between its line and its ends
_HINGES = {'revolute': 1, 'continuous': 1, 'universal': 2}
_TURNING_TYPES = 'spherical', 'revolute', 'continuous', 'free'
_SLIDING_TYPES = 'prismatic', 'fixed'
_POINT_CLOSURES = ('spherical', 'rod')  # closures that a turn about their point leaves as they are
_POINT_OF_B_CLOSURES = ('point_on_line', 'point_on_plane')  # with the point on body b


def idle_spins(constraints: Constraints, driven: NDArray[np.bool_] | None = None
               ) -> NDArray[np.bool_]:
    """
    Return a mask (nv,) of one coordinate for each rod that spins freely about itself.

    A rod is one body, or several that slide in each other along its line. Its ends are ball
    joints of the tree or closures at points, which no motor turns: none of those that are driven
    (nv,) in a call, or none of the model. Functions of a user may hold anything: there is none.
    """
    model = constraints.model
    at, ends = _rods(model)
    spins = np.zeros(model.nv, dtype=np.bool_)
    if len(at) and not constraints.functions:
        motors = model.actuated if driven is None else model.actuated & driven
        spins[at[~(ends & motors).any(axis=1)]] = True
    return spins


@weak_cache
def _rods(model: Model) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """Return of each rod the coordinate that is its spin, and a mask (nv,) of its ball joints."""
    at, ends = list[int](), list[NDArray[np.bool_]]()
    geared = {name for each in model.couplings for name in (
        each.joint, *(leader for leader, _ in each.terms))}

    def add(coordinate: int, turning: Sequence[int]) -> None:
        at.append(coordinate)
        ends.append(np.isin(np.arange(model.nv), turning))

    for joint in model.joint_list:
        balls = [*range(joint.v_slice.start, joint.v_slice.stop)]
        if joint.type_name in _TURNING_TYPES and joint.name not in geared:
            axis = _axis(model, joint, balls)
            if axis is not None:
                single = joint.type_name in ('revolute', 'continuous')
                add(joint.vi + (0 if single else int(np.argmax(np.abs(axis)))), balls)
        if joint.type_name in _HINGES:
            hinges = _ball(model, joint, geared)
            balls = [each for _, each in hinges]
            axis = _axis(model, replace(joint, type_name='spherical'), balls) if hinges else None
            if axis is not None:  # the hinge that turns most where all are at zero
                turns = np.linalg.solve(np.column_stack([each for each, _ in hinges]), axis)
                add(hinges[int(np.argmax(np.abs(turns)))][1], balls)
    return np.array(at, dtype=np.int64), np.array(ends, dtype=np.bool_).reshape(len(at), model.nv)


def _ball(model: Model, joint: Joint, geared: set[str]) -> list[tuple[Array, int]]:
    """
    Return the axes (3,) of three hinges that meet in a point and end with a joint.

    Each axis is in the frame of the joint's child at zero, with its coordinate. None: [].
    """
    found: list[tuple[Array, int]] = []
    turn, each = np.eye(3), joint
    while each.type_name in _HINGES and each.name not in geared:
        axes = [each.axis, each.second_axis][:_HINGES[each.type_name]]
        found += [(turn.T @ np.asarray(axis), each.vi + k) for k, axis in enumerate(axes)]
        before = [other for other in model.joint_list if other.child == each.parent]
        if len(found) > 2 or not before or (
                np.abs(each.placement[:3, 3]).max() > LINE_TOLERANCE) or any(
                each.parent in (closed.body_a, closed.body_b) for closed in model.closures) or [
                other for other in model.joint_list if other.parent == each.parent] != [each]:
            break
        turn, each = each.placement[:3, :3] @ turn, before[0]
    apart = len(found) == 3 and np.linalg.matrix_rank([axis for axis, _ in found]) == 3
    return found if apart else []


def _axis(model: Model, joint: Joint, balls: list[int]) -> Array | None:
    """
    Return the unit axis (3,) of a rod in the frame of the child of its joint, or None.

    Coordinates of its other ball joints are added to balls.
    """
    bodies = {joint.child: np.eye(4)}  # and their poses in that frame
    slides: list[Array] = []
    points: list[Array] = [] if joint.type_name == 'free' else [np.zeros(3)]
    for each in model.joint_list:  # parents come before their children
        if each.parent not in bodies:
            continue
        at = bodies[each.parent] @ each.placement
        if each.type_name == 'spherical':
            points.append(at[:3, 3])
            balls += range(each.v_slice.start, each.v_slice.stop)
        elif each.type_name in _SLIDING_TYPES:
            bodies[each.child] = at
            if each.type_name == 'prismatic':
                slides.append(at[:3, :3] @ each.axis)
        else:
            return None
    for closed in model.closures:
        sides = [(closed.body_a, closed.frame_a), (closed.body_b, closed.frame_b)]
        own = [k for k, (body, _) in enumerate(sides) if body in bodies]
        if len(own) == 2 or not own:
            continue
        if closed.type_name not in _POINT_CLOSURES and not (
                closed.type_name in _POINT_OF_B_CLOSURES and own == [1]):
            return None
        body, frame = sides[own[0]]
        points.append((bodies[str(body)] @ frame)[:3, 3])
    return _line(joint, points, slides, list(_masses(model, bodies)))


def _line(joint: Joint, points: list[Array], slides: list[Array],
          masses: list[tuple[float, Array]]) -> Array | None:
    """Return the unit axis of points that lie on one, with masses near it; None if none is."""
    if len(points) < 2:
        return None
    away = np.array(points) - points[0]
    length = float(np.linalg.norm(away, axis=1).max())
    if joint.type_name in ('revolute', 'continuous'):
        axis = np.asarray(joint.axis)
    elif length > 0.0:
        axis = away[np.argmax(np.linalg.norm(away, axis=1))] / length
    else:
        return None
    total = sum(mass for mass, _ in masses)
    off = [mass * np.cross(axis, center - points[0]) for mass, center in masses]
    on_line = (np.linalg.norm(np.cross(axis, away), axis=1).max() <= LINE_TOLERANCE * length
               and all(np.linalg.norm(np.cross(axis, each)) <= LINE_TOLERANCE for each in slides)
               and np.linalg.norm(sum(off, np.zeros(3))) <= MAX_MASS_OFFSET * length * total)
    return axis if length > 0.0 and on_line else None


def _masses(model: Model, bodies: dict[str, Array]) -> Iterator[tuple[float, Array]]:
    """Return mass and centre (3,) of each body, in the frame of the first."""
    for name, pose in bodies.items():
        inertia = model.body(name).inertia
        if inertia is None:
            continue
        yield inertia.mass, pose[:3, :3] @ inertia.center_of_mass + pose[:3, 3]
