# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The request for inverse kinematics, of a tree or with its loops closed."""

from collections.abc import Sequence
import time
from typing import Any

from geometry_msgs.msg import Pose
from liedyn_interfaces.msg import FrameTarget, TreeState
from liedyn_interfaces.srv import InverseKinematics as InverseKinematicsService
import numpy as np

from liedyn_ros.common.budget import Budget
from liedyn_ros.common.checks import Array, order_of
from liedyn_ros.common.errors import LiedynError, LimitError, ModelError, ShapeError
from liedyn_ros.dynamics import Dynamics
from liedyn_ros.dynamics.constrained import (
    InverseKinematics, ORIENTATION, POINT, POSE, ReachedMany, TOOL)
from liedyn_ros.model import JOINT_TYPES
from liedyn_ros.nodes.dynamics.inputs import explain, RequestInputs
from liedyn_ros.ros.messages import conversions
from liedyn_ros.ros.messages.tree_messages import doubles, TreeMessages

TARGET_KINDS = {FrameTarget.POSE: POSE, FrameTarget.POINT: POINT,
                FrameTarget.ORIENTATION: ORIENTATION, FrameTarget.TOOL: TOOL}
MAX_REACH_POSES, MAX_REACH_FRAMES, MAX_STARTS = 1000, 100, 1000
MAX_REACH_COORDINATES = 300  # of velocity
MAX_PRODUCTS = 10_000_000  # of a step; a start, which nothing ends, takes a few hundred steps
DEFAULT_STARTS = 50  # where the request has 0
MAX_SOLVERS = 16  # solvers


def number_of_poses(request: InverseKinematicsService.Request) -> float:
    """Return by what the work of a request grows: 1 to MAX_REACH_POSES."""
    most = max((len(each.poses) for each in request.targets), default=1)
    return float(min(max(1, most), MAX_REACH_POSES))


def handle_inverse_kinematics(
        dynamics: Dynamics, messages: TreeMessages, kept: dict[Any, InverseKinematics],
        request: InverseKinematicsService.Request, response: InverseKinematicsService.Response,
        budget: Budget) -> None:
    """
    Fill in the response, or raise LiedynError that names the wrong field and write nothing.

    kept has the solvers of earlier requests, as to lay one out takes longer than its use.
    """
    _require_sizes(request, messages.model.nv)
    kinds = _kinds(request.targets)
    in_ground = _ground_of(dynamics, request.header.frame_id)
    targets = {each.frame: in_ground @ _poses(f'targets[{i}].poses', each)
               for i, each in enumerate(request.targets)}
    start, rest = (_configuration(messages, name, getattr(request, name))
                   for name in ('start', 'rest'))
    weights = {each.frame: (each.angle_weight or 1.0, each.distance_weight or 1.0)
               for each in request.targets}
    begin, key = time.perf_counter(), (
        *kinds.items(), *weights.values(), *request.locked, request.ignore_limits)
    solver = kept.pop(key, None) or InverseKinematics(  # one thread works with it at a time
        dynamics, kinds, weights=weights, within_limits=not request.ignore_limits,
        locked=list(request.locked))
    found = solver.batch(targets, start, rest=rest, starts=request.starts or DEFAULT_STARTS,
                         budget=budget)
    if len(kept) >= MAX_SOLVERS:
        kept.clear()
    kept[key] = solver
    response.solve_time = time.perf_counter() - begin
    response.header.stamp = request.header.stamp
    response.header.frame_id = messages.names.base_body
    response.states = [_state(messages, q) for q in found.q]
    response.reached = found.reached.tolist()
    response.angles, response.distances = doubles(found.angles), doubles(found.distances)
    response.success = bool(found.reached.all())
    response.message = '' if response.success else _misfit(list(kinds), found)


def _require_sizes(request: InverseKinematicsService.Request, nv: int) -> None:
    """Raise LimitError or ShapeError for a request beyond the bounds."""
    if nv > MAX_REACH_COORDINATES:
        raise LimitError(f'model: expected at most {MAX_REACH_COORDINATES} velocity coordinates '
                         f'for '
                         f'inverse kinematics, got {nv}')
    if request.starts > MAX_STARTS:
        raise LimitError(f'starts: expected at most {MAX_STARTS}, got {request.starts}')
    most = min(MAX_REACH_FRAMES, MAX_PRODUCTS // max(6 * nv * nv, 1))
    if not 0 < len(request.targets) <= most:
        raise ShapeError(f'targets: expected 1 to {most}, got {len(request.targets)}')
    first = len(request.targets[0].poses)
    for i, each in enumerate(request.targets):
        count = len(each.poses)
        if not 0 < count <= MAX_REACH_POSES:
            raise ShapeError(f'targets[{i}].poses: expected 1 to {MAX_REACH_POSES}, got {count}')
        if count != first:
            raise ShapeError(f'targets[{i}].poses: expected {first} as of the first, got {count}')


def _kinds(targets: Sequence[FrameTarget]) -> dict[str, str]:
    """Return the kind of each frame by name, or raise NameSetError or LimitError."""
    names = [each.frame for each in targets]
    order_of('targets', tuple(dict.fromkeys(names)), names)  # none is given twice
    for i, each in enumerate(targets):
        if each.kind not in TARGET_KINDS:
            raise LimitError(f'targets[{i}].kind: expected POSE = {FrameTarget.POSE}, POINT = '
                             f'{FrameTarget.POINT}, ORIENTATION = {FrameTarget.ORIENTATION} or '
                             f'TOOL = {FrameTarget.TOOL}, got {each.kind}')
    return {each.frame: TARGET_KINDS[each.kind] for each in targets}


def _ground_of(dynamics: Dynamics, frame: str) -> Array:
    """Return the pose (4, 4) of a frame that does not move, the ground where it has no name."""
    model = dynamics.model
    if not frame:
        return np.eye(4)
    try:
        body = model.place(frame)[0]
    except ModelError as error:
        raise ModelError(f'header.frame_id: {error}; empty stands for the ground') from error
    carriers = {each.child: each for each in model.joint_list}
    while body is not None:
        if JOINT_TYPES[carriers[body].type_name].nv:
            raise ModelError('header.frame_id: expected a frame that does not move, or none for '
                             f'the ground, got {frame!r}', names=[frame])
        body = carriers[body].parent
    return dynamics.frames.pose(model.neutral(), frame)


def _poses(name: str, target: FrameTarget) -> Array:
    """Return the poses (K, 4, 4) of a target; what its kind leaves free is not read."""
    poses: Sequence[Pose] = target.poses
    if target.kind == FrameTarget.POINT:
        poses = [Pose(position=each.position) for each in poses]
    elif target.kind == FrameTarget.ORIENTATION:
        poses = [Pose(orientation=each.orientation) for each in poses]
    try:
        return conversions.from_poses(poses)
    except LiedynError as error:
        raise type(error)(f'{name}: {error}') from error


def _configuration(messages: TreeMessages, name: str, state: TreeState) -> Array | None:
    """Return the configuration (nq,) of a state, None of one that is not given."""
    if state == TreeState():
        return None
    try:
        q, zero = messages.read_state(state)[0], np.zeros(messages.model.nv)
        try:
            return messages.model.check_configuration(q)
        except LiedynError as error:
            raise explain(messages.names, RequestInputs(
                q, zero, zero, zero, zero == 0.0, None), error) from error
    except LiedynError as error:
        raise type(error)(f'{name}: {error}') from error


def _state(messages: TreeMessages, q: Array) -> TreeState:
    """Return a configuration (nq,) as a message without velocities."""
    state = TreeState()
    messages.to_state(q, np.zeros(messages.model.nv), state)
    state.velocities = []
    return state


def _misfit(frames: list[str], found: ReachedMany) -> str:
    """Return how far off the targets the nearest configurations are."""
    off = np.maximum(found.angles, found.distances)
    k, i = np.unravel_index(int(np.argmax(off)), off.shape)
    return (f'poses[{k}]: expected targets within reach, got {frames[i]} '
            f'{found.distances[k, i]:.3g} m and {found.angles[k, i]:.3g} rad off as the worst of '
            f'{int((~found.reached).sum())}; states have the nearest. Are positions in m, and '
            'quaternions x, y, z, w?')
