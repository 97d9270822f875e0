# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The constants of a model, as kernels read them, and the arguments of a kernel on it."""

from typing import Any, NoReturn

import numpy as np

from liedyn_ros.common.checks import Array, output, require_own_memory
from liedyn_ros.common.errors import LiedynError, ShapeError
from liedyn_ros.dynamics.algorithms.kernels.aba import DONE, REFUSED
from liedyn_ros.dynamics.tree.inputs import kernel_array, known, raise_refusal, time_derivatives_of
from liedyn_ros.dynamics.tree.kernels.kinematics import LOCAL, LOCAL_WORLD_ALIGNED, WORLD
from liedyn_ros.dynamics.tree.kernels.tables import Body, Coordinate, FAR, Link, Tree
from liedyn_ros.model import Frame, Model
from liedyn_ros.model.configuration import with_unit_quaternions


class Constants:
    """
    The constants of a model in one table (kernels.tables) that nothing changes.

    Threads, and any number of Data, share it. Without dissipation, damping and Coulomb friction
    are zero. All that has a mass in it is mass_unit times the number in SI units. view is
    read-only; kernels are given table itself, the same memory, as numba takes longer to call with
    an array that is marked as read-only.
    """

    table: Array
    view: Array

    def __init__(self, model: Model, dissipation: bool = True, mass_unit: float = 1.0) -> None:
        """Lay out the table of a model."""
        self.model, self.dissipation, self._mass_unit = model, dissipation, mass_unit
        links, bodies_count = model.link_table, len(model.bodies)
        self.links, self.rows = links.N + 1, links.N + 1 + links.nv  # rows of data
        self.table = Link.table(self.rows + len(model.frames))
        ground, rows = self.table[0], self.table[1:self.links]
        coordinates, bodies = self.table[self.links:self.rows], self.table[self.rows:]
        for name, number in ('links', self.links), ('nq', links.nq), ('nv', links.nv), (
                'bodies', bodies_count), ('loaded_joints', (
                    links.stiffness.any() or links.armature.any() or links.stops.any())):
            Tree.of(ground, name)[...] = number
        Tree.of(ground, 'gravity')[:] = links.gravity
        for name, values in (
                ('kind', links.kind), ('parent', links.parent + 1), ('qi', links.qi),
                ('vi', links.vi), ('pitch', links.pitch), ('placement', links.placement),
                ('inertia', mass_unit * links.inertia)):
            Link.of(rows, name)[:] = values
        stops = np.clip(links.stops, -FAR, FAR)
        stops[:, 0] *= mass_unit
        for name, values in (
                ('stiffness', mass_unit * links.stiffness), ('rest', links.rest),
                ('armature', mass_unit * links.armature), ('stop', stops),
                ('position_at', links.position_at)):
            Coordinate.of(coordinates, name)[:] = values
        if dissipation:
            Coordinate.of(coordinates, 'damping')[:] = mass_unit * links.damping
            Coordinate.of(coordinates, 'friction')[:] = mass_unit * links.friction
        Body.of(bodies, 'carrier')[:bodies_count] = links.body_link + 1
        Body.of(bodies, 'placement')[:bodies_count] = links.body_placement
        for row, frame in zip(bodies[bodies_count:], model.frame_list):
            self._place_frame(row, frame)
        self.view = self.table.view()
        self.view.setflags(write=False)

    def _place_frame(self, row: Array, frame: Frame) -> None:
        """Write the row of a frame that is not a body's."""
        placement, to = frame.placement, Body.of(row, 'placement')
        if frame.body is not None:
            body = self.table[self.rows + self.model.body_index(frame.body)]
            Body.of(row, 'carrier')[...] = Body.of(body, 'carrier')
            placement = homogeneous(Body.of(body, 'placement')) @ placement
        to[:9], to[9:] = placement[:3, :3].ravel(), placement[:3, 3]

    def __reduce__(self) -> tuple[type['Constants'], tuple[Model, bool, float]]:
        """Copy, or pickle, by laying them out again."""
        return Constants, (self.model, self.dissipation, self._mass_unit)

    @property
    def damping(self) -> Array:
        """Return the damping of the velocity coordinates (nv,), N m s/rad or N s/m."""
        return Coordinate.of(self.view[self.links:self.rows], 'damping')

    @property
    def friction(self) -> Array:
        """Return the Coulomb friction of the velocity coordinates (nv,), N m or N."""
        return Coordinate.of(self.view[self.links:self.rows], 'friction')


def homogeneous(numbers: Array) -> Array:
    """Return the pose (4, 4) of twelve numbers: rotation row by row, translation."""
    pose = np.eye(4)
    pose[:3, :3], pose[:3, 3] = numbers[:9].reshape(3, 3), numbers[9:]
    return pose


NO_WRENCHES, NO_WRENCH_ROWS = np.empty((0, 6)), np.empty((0, 0, 6))
_AS_IT_IS = 'out', 'prescribed', 'parameters', 'frame', 'frames'
_NO_STATE = 'out', 'frame', 'frames', 'axes', 'classical'


class Arguments:
    """
    The check of a CheckedKernel that works on a model.

    names lists the arguments, separated by spaces; further arguments are new arrays. The kernel
    writes those named 'out': of these shapes, or checked by the call. A call checks 'prescribed',
    'parameters', 'frame' and 'frames' too. With series, a, tau and external have a first axis of
    orders, as many as the first 'out' has, or else a. done is the kernel's code of success.
    """

    def __init__(self, model: Model, names: str, *, done: int = DONE, series: bool = False,
                 shapes: tuple[tuple[int, ...], ...] = ()) -> None:
        """Take the names and shapes of a kernel's arguments."""
        self.done, self._model, self._names = done, model, names.split()
        self._series, self._shapes = series, shapes
        self._outputs = [i for i, name in enumerate(self._names) if name == 'out']
        self._rows_of = self._names.index('out' if self._outputs else 'a') if series else 0

    def prepare(self, *given: Any) -> tuple[Any, ...]:
        """Return arrays that the kernel can read, or raise LiedynError or ShapeError."""
        rows = given[self._rows_of].shape[:1] if self._series else ()
        taken = [self._taken(name, value, rows) for name, value in zip(self._names, given)]
        outputs = [taken[i] for i in self._outputs]
        for array, shape in zip(outputs, self._shapes):
            output(array, shape)
        for k, array in enumerate(outputs):
            require_own_memory(array, **self._inputs(taken))
            if any(np.may_share_memory(array, other) for other in outputs[:k]):
                raise ShapeError(
                    'out: expected arrays with their own memory, got two that share it')
        return (*taken, *given[len(taken):])

    def refuse(self, code: int, *arguments: Any) -> NoReturn:
        """Raise the error of refused numbers, or of a coordinate that moves no inertia."""
        inputs = self._inputs(arguments)
        if 'prescribed' in inputs:
            which, tau = inputs.pop('prescribed'), inputs['tau']
            inputs |= known(which, inputs.get('a', tau), tau)
        raise_refusal(self._model, code if self.done == DONE else REFUSED, '', **inputs)

    def _inputs(self, arguments: Any) -> dict[str, Any]:
        return {name: value for name, value in zip(self._names, arguments)
                if name not in _NO_STATE and (name != 'external' or len(value))}

    def _taken(self, name: str, value: Any, rows: tuple[int, ...]) -> Any:
        model = self._model
        if name in _AS_IT_IS or value is NO_WRENCHES or value is NO_WRENCH_ROWS:
            return value
        if name == 'axes':
            return require_axes(value)
        if name == 'classical':
            return bool(value)
        if name == 'q':
            return with_unit_quaternions(model.link_table, kernel_array('q', value, (model.nq,)))
        core = (len(model.bodies), 6) if name == 'external' else (model.nv,)
        if rows and name in ('a', 'tau', 'external'):
            return time_derivatives_of(name, value, (*rows, *core))
        return kernel_array(name, value, core)


def require_axes(value: Any) -> int:
    """Return the number of axes, or raise LiedynError."""
    if isinstance(value, int | np.integer) and value in (LOCAL, WORLD, LOCAL_WORLD_ALIGNED):
        return int(value)
    raise LiedynError(f'axes: expected LOCAL, WORLD or LOCAL_WORLD_ALIGNED, got {value!r}',
                      names=('axes',), got=value)
