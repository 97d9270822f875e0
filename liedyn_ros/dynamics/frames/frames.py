# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Poses, twists, accelerations and Jacobians of the frames of a model."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from liedyn_ros.common.checks import Array, as_array, as_trailing, output, require_kind
from liedyn_ros.common.errors import ModelError
from liedyn_ros.common.other_names import FRAMES_NAMES, missing
from liedyn_ros.dynamics.frames.kernels.jacobians import (
    frame_jacobian, frame_jacobian_rates, frame_jacobians, jacobians_of_states)
from liedyn_ros.dynamics.frames.kernels.motion import (
    all_poses, frame_accelerations, frame_poses, frame_twists, POSE_WIDTH, poses_of_states)
from liedyn_ros.dynamics.tree.constants import Arguments, Constants, require_axes
from liedyn_ros.dynamics.tree.inputs import refuse, states_of
from liedyn_ros.dynamics.tree.kernels.kinematics import LOCAL, LOCAL_WORLD_ALIGNED, WORLD
from liedyn_ros.jit.bound_kernel import CheckedKernel, Direct, direct
from liedyn_ros.lie import se3
from liedyn_ros.model import Model

MOST_LISTS = 100  # of frames that are kept, so that a call with one of them takes no search
FrameSelector = str | int | Sequence[str | int]


class Frames(Direct):
    """
    The frames of a model by name: each body's, and frames added by model.with_frame.

    frame is a name, or a place in model.frames; a joint's name stands for its child body. Where it
    is a sequence, results have a first axis of frames.

    axes are LOCAL (axes and origin of the frame), WORLD (those of the ground: spatial twists), or
    LOCAL_WORLD_ALIGNED (origin of the frame, axes of the ground). Twists, accelerations and rows
    of Jacobians are angular first, rad/s and m/s.

    Looped machines have the same calls, for complete q, v and a. All methods raise ModelError for
    an unknown frame, LiedynError for other axes, and what the methods of Dynamics raise.

    >>> robot.frames.jacobian(q, 'tool', ld.LOCAL_WORLD_ALIGNED).shape
    (6, 6)
    """

    def __init__(self, constants: Constants) -> None:
        """
        Bind the kernels to a model.

        Args:
            constants: of the model; a Dynamics has its frames as `frames`.
        """
        self._constants, model = constants, constants.model
        self._places: dict[Any, int] = {i: i for i in range(len(model.frames))}
        for name in (*model.joints, *model.frames):
            self._places[name] = model.frame_index(name)
        self._alone = np.arange(len(model.frames), dtype=np.int64)[:, None]
        self._lists: dict[tuple[str | int, ...], NDArray[np.int64]] = {}  # places
        self._jacobian_shape = 6, model.nv
        table = constants.table
        self._links = np.zeros((constants.links, POSE_WIDTH))
        self._poses_shape = len(model.frames), 4, 4
        self._all = self._bound('q out', all_poses, table, self._links,
                                shapes=(self._poses_shape,))
        self._poses = self._bound('q frames', frame_poses, table)
        self._twists = self._bound('q v frames axes', frame_twists, table)
        self._accelerations = self._bound(
            'q v a frames axes classical', frame_accelerations, table)
        self._jacobian = self._bound(
            'q frame axes out', frame_jacobian, table, shapes=(self._jacobian_shape,))
        self._jacobians = self._bound('q frames axes out', frame_jacobians, table)
        self._rates = self._bound(
            'q v frames axes', frame_jacobian_rates, table, np.empty(self._jacobian_shape))

    @property
    def model(self) -> Model:
        """Return the model, with its closures where they are now."""
        return self._constants.model

    def __repr__(self) -> str:
        """Return how many frames of which model."""
        return f'<Frames of {self.model!r}: {len(self.model.frames)}>'

    def _direct_calls(self) -> dict[str, Any]:
        alone = {frame: self._alone[place] for frame, place in self._places.items()}
        return {
            'poses': self._all.direct('q out', None),
            'pose': self._poses.direct('q frame', shape=(4, 4), known=alone),
            'twist': self._twists.direct('q v frame axes', LOCAL, shape=(6,), known=alone),
            'acceleration': self._accelerations.direct(
                'q v a frame axes classical', LOCAL, False, shape=(6,), known=alone),
            'jacobian': self._jacobian.direct(
                'q frame axes out', LOCAL, None, known=self._places),
            'jacobian_rate': self._rates.direct(
                'q v frame axes', LOCAL, shape=self._jacobian_shape, known=alone)}

    if not TYPE_CHECKING:
        def __getattr__(self, name):
            """Raise AttributeError, which leads from a name of another library to ours."""
            raise missing(self, f'{type(self).__name__!r} object', name, FRAMES_NAMES)

    @direct
    def poses(self, q: ArrayLike, out: Array | None = None) -> Array:
        """
        Return the poses of all frames.

        Args:
            q: configuration (nq,); rad and m.
            out: array that takes the result; by default a new one.

        Returns:
            poses (F, 4, 4) of model.frames in the ground, m.

        Raises:
            LiedynError: for a state of other shapes, or one that is not finite, see Dynamics.

        >>> robot.frames.poses(q).shape[1:]
        (4, 4)
        """
        return self._all.answer(q, out)

    @direct
    def pose(self, q: ArrayLike, frame: FrameSelector) -> Array:
        """
        Return the pose of a frame.

        Args:
            q: configuration (nq,); rad and m.
            frame: name of a frame, body or joint, or a place in model.frames; of several, a
                sequence.

        Returns:
            T_ground_frame (4, 4), m; of several (F, 4, 4).

        Raises:
            ModelError: for an unknown frame.
            LiedynError: for other axes or a wrong state.

        >>> robot.frames.pose(q, 'tool').shape
        (4, 4)
        """
        frames, alone = self._listed(frame)
        result = np.empty((len(frames), 4, 4))
        self._poses.call(q, frames, result)
        return result[0] if alone else result

    @direct
    def twist(self, q: ArrayLike, v: ArrayLike, frame: FrameSelector, axes: int = LOCAL) -> Array:
        """
        Return the twist of a frame against the ground.

        Args:
            q: configuration (nq,); rad and m.
            v: velocity (nv,); rad/s and m/s.
            frame: name of a frame, body or joint, or a place in model.frames; of several, a
                sequence.
            axes: LOCAL, WORLD or LOCAL_WORLD_ALIGNED.

        Returns:
            (6,), angular, then linear, rad/s and m/s; of several (F, 6).

        Raises:
            ModelError: for an unknown frame.
            LiedynError: for other axes or a wrong state.

        >>> robot.frames.twist(q, v, 'tool', ld.LOCAL_WORLD_ALIGNED).shape
        (6,)
        """
        frames, alone = self._listed(frame)
        result = np.empty((len(frames), 6))
        self._twists.call(q, v, frames, axes, result)
        return result[0] if alone else result

    @direct
    def acceleration(self, q: ArrayLike, v: ArrayLike, a: ArrayLike, frame: FrameSelector,
                     axes: int = LOCAL, classical: bool = False) -> Array:
        """
        Return the acceleration of a frame against the ground, without gravity.

        It is the spatial one: the derivative of the numbers of the body twist, expressed in the
        axes. The classical one has the acceleration of a point in its linear part. The point is
        the origin of the frame, or, for WORLD, the one that passes the origin of the ground.

        Args:
            q: configuration (nq,); rad and m.
            v: velocity (nv,); rad/s and m/s.
            a: acceleration (nv,); rad/s^2 and m/s^2.
            frame: name of a frame, body or joint, or a place in model.frames; of several, a
                sequence.
            axes: LOCAL, WORLD or LOCAL_WORLD_ALIGNED.
            classical: whether the linear part is the acceleration of a point.

        Returns:
            (6,), angular, then linear, rad/s^2 and m/s^2; of several (F, 6).

        Raises:
            ModelError: for an unknown frame.
            LiedynError: for other axes or a wrong state.

        >>> robot.frames.acceleration(q, v, a, 'tool', classical=True).shape
        (6,)
        """
        frames, alone = self._listed(frame)
        result = np.empty((len(frames), 6))
        self._accelerations.call(q, v, a, frames, axes, classical, result)
        return result[0] if alone else result

    @direct
    def jacobian(self, q: ArrayLike, frame: FrameSelector, axes: int = LOCAL,
                 out: Array | None = None) -> Array:
        """
        Return the Jacobian of a frame.

        Args:
            q: configuration (nq,); rad and m.
            frame: name of a frame, body or joint, or a place in model.frames; of several, a
                sequence.
            axes: LOCAL, WORLD or LOCAL_WORLD_ALIGNED.
            out: array that takes the result; by default a new one.

        Returns:
            J (6, nv), angular rows first; J v is the twist. Of several (F, 6, nv).

        Raises:
            ModelError: for an unknown frame.
            LiedynError: for other axes or a wrong state.

        >>> robot.frames.jacobian(q, 'tool', ld.LOCAL_WORLD_ALIGNED).shape
        (6, 6)
        """
        try:
            place = self._places[frame]
        except (KeyError, TypeError):  # an unknown name, or several frames
            frames, _ = self._listed(frame)
            out = output(out, (len(frames), *self._jacobian_shape))
            self._jacobians.call(q, frames, axes, out)
            return out
        return self._jacobian.answer(q, place, axes, out)

    @direct
    def jacobian_rate(
            self, q: ArrayLike, v: ArrayLike, frame: FrameSelector, axes: int = LOCAL) -> Array:
        """
        Return the time derivative of the numbers of jacobian.

        J a + dJ/dt v is the acceleration in LOCAL and WORLD, and the classical one in
        LOCAL_WORLD_ALIGNED.

        Args:
            q: configuration (nq,); rad and m.
            v: velocity (nv,); rad/s and m/s.
            frame: name of a frame, body or joint, or a place in model.frames; of several, a
                sequence.
            axes: LOCAL, WORLD or LOCAL_WORLD_ALIGNED.

        Returns:
            dJ/dt (6, nv), angular rows first; of several (F, 6, nv).

        Raises:
            ModelError: for an unknown frame.
            LiedynError: for other axes or a wrong state.

        >>> robot.frames.jacobian_rate(q, v, 'tool').shape
        (6, 6)
        """
        frames, alone = self._listed(frame)
        result = np.empty((len(frames), *self._jacobian_shape))
        self._rates.call(q, v, frames, axes, result)
        return result[0] if alone else result

    def poses_batch(self, q: ArrayLike) -> Array:
        """
        Return the poses of all frames of K states, on one core.

        Args:
            q: configurations (K, nq).

        Returns:
            poses (K, F, 4, 4) in the ground, m.

        Raises:
            LiedynError: for a state of other shapes, or one that is not finite, see Dynamics.

        >>> robot.frames.poses_batch([q, q]).shape[0]
        2
        """
        states = states_of(self.model, q)
        result = np.empty((len(states), *self._poses_shape))
        self._require_all(states, poses_of_states(
            self._constants.table, self._links.copy(), states, result))
        return result

    def jacobian_batch(self, q: ArrayLike, frame: str | int, axes: int = LOCAL) -> Array:
        """
        Return the Jacobian of a frame in K states, on one core.

        Args:
            q: configurations (K, nq).
            frame: name of a frame, or its place in model.frames.
            axes: LOCAL, WORLD or LOCAL_WORLD_ALIGNED.

        Returns:
            J (K, 6, nv), angular rows first.

        Raises:
            ModelError: for an unknown frame.
            LiedynError: for other axes or a wrong state.

        >>> robot.frames.jacobian_batch([q, q], 'tool').shape
        (2, 6, 6)
        """
        states, place, axes = states_of(self.model, q), self._place(frame), require_axes(axes)
        result = np.empty((len(states), *self._jacobian_shape))
        self._require_all(states, jacobians_of_states(
            self._constants.table, states, place, axes, result))
        return result

    def _require_all(self, states: Array, done: int) -> None:
        """Raise the error of the first state that a kernel has refused."""
        if done < len(states):
            refuse(self.model, f'[{done}]', states[done])

    def external(self, q: ArrayLike, wrenches: Mapping[str | int, ArrayLike], axes: int = LOCAL
                 ) -> Array:
        """
        Return wrenches on bodies, as Dynamics takes them, from wrenches at frames.

        Args:
            q: configuration (nq,); rad and m.
            wrenches: (6,) by frame: moment (N m), then force (N), about the origin of the axes: of
                the frame, or of the ground for WORLD.
            axes: LOCAL, WORLD or LOCAL_WORLD_ALIGNED.

        Returns:
            wrenches (B, 6), each in the frame of its body.

        Raises:
            ModelError: for a frame on the ground.
            LiedynError: for other axes or a wrong state.

        >>> push = {'tool': [0.0, 0.0, 0.0, 0.0, 0.0, -10.0]}
        >>> robot.frames.external(q, push, ld.LOCAL_WORLD_ALIGNED).shape[1]
        6
        """
        require_axes(axes)
        require_kind(
            'wrenches', wrenches, Mapping,  # type: ignore[type-abstract]
            'such as a dict of wrenches by frame')
        result = np.zeros((len(self.model.bodies), 6))
        for frame, wrench in wrenches.items():
            place = self._place(frame)
            body = self._body(place)
            at, pose_ground_body = self.pose(q, [place, body])
            if axes == WORLD:
                at = np.eye(4)
            elif axes == LOCAL_WORLD_ALIGNED:
                at = se3.from_rotation_translation(np.eye(3), at[:3, 3])
            to_body = se3.adjoint(se3.compose(se3.inverse(at), pose_ground_body))
            result[body] += to_body.T @ as_array(f'wrench at {frame}', wrench, (6,))  # (1.2)
        return result

    def closure_wrenches(self, q: ArrayLike, wrenches: ArrayLike,
                         axes: int = LOCAL_WORLD_ALIGNED) -> Array:
        """
        Return the wrenches of closures of a solution in other axes.

        Args:
            q: configuration (nq,); rad and m.
            wrenches: (..., C, 6), each on body_b, moment (N m) before force (N), LOCAL, as
                solutions have them.
            axes: LOCAL, WORLD or LOCAL_WORLD_ALIGNED.

        Returns:
            wrenches (..., C, 6), about the origin of frame_b, or of the ground for WORLD.

        Raises:
            LiedynError: for other axes, shapes, or a wrong state.

        >>> found = linkage.inverse(closed, rest, rest)
        >>> linkage.frames.closure_wrenches(closed, found.wrenches, ld.WORLD).shape
        (1, 6)
        """
        require_axes(axes)
        model = self.model
        wrenches = as_trailing('wrenches', wrenches, (len(model.closures), 6))
        result = wrenches.copy()
        for c, closure in enumerate(model.closures):
            at = closure.frame_b
            if closure.body_b is not None:
                at = se3.compose(self.pose(q, closure.body_b), at)
            if axes != LOCAL:
                there = np.eye(4)
                if axes == LOCAL_WORLD_ALIGNED:
                    there[:3, 3] = at[:3, 3]
                result[..., c, :] = wrenches[..., c, :] @ se3.adjoint(
                    se3.compose(se3.inverse(at), there))
        return result

    def _body(self, place: int) -> int:
        """Return the place of the body of a frame."""
        bodies = len(self.model.bodies)
        if place < bodies:
            return place
        frame = self.model.frame_list[place - bodies]
        if frame.body is None:
            raise ModelError(f'frame {frame.name}: expected one on a body, got one on the ground')
        return self.model.body_index(frame.body)

    def _place(self, frame: str | int) -> int:
        known = isinstance(frame, str | int | np.integer)
        place = self._places.get(frame) if known else None
        if place is None:
            return self.model.frame_index(frame)  # type: ignore[arg-type]  # which refuses it
        return place

    def _listed(self, frame: FrameSelector) -> tuple[NDArray[np.int64], bool]:
        """Return the places of frames, and whether one alone was asked for."""
        if isinstance(frame, str | int | np.integer):
            return self._alone[self._place(frame)], True
        names = tuple(frame) if isinstance(frame, Iterable) else (self._place(frame),)
        try:
            return self._lists[names], False
        except (KeyError, TypeError):  # new, or no names
            places = np.array([self._place(each) for each in names], dtype=np.int64)
        if len(self._lists) < MOST_LISTS:
            self._lists[names] = places
        return places, False

    def _bound(self, names: str, compiled: object, *tables: Array,
               shapes: tuple[tuple[int, ...], ...] = ()) -> CheckedKernel:
        return CheckedKernel(
            Arguments(self.model, names, done=True, shapes=shapes), compiled, *tables,
            shape=shapes[0] if len(shapes) == 1 else ())
