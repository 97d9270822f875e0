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
from liedyn_ros.dynamics.tree.kernels import tables
from liedyn_ros.dynamics.tree.kernels.kinematics import LOCAL, LOCAL_WORLD_ALIGNED, WORLD
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
        links, bodies = model.link_table, len(model.bodies)
        self.links, self.rows = links.N + 1, links.N + 1 + links.nv  # rows of data
        self.table = np.zeros((self.rows + len(model.frames), tables.MODEL_WIDTH))
        whole = self.table.view(np.int64)
        whole[0, [tables.LINKS, tables.NQ, tables.NV, tables.BODIES]] = (
            self.links, links.nq, links.nv, bodies)
        self.table[0, tables.GRAVITY:tables.GRAVITY + 3] = links.gravity
        link, body = slice(1, self.links), slice(self.rows, self.rows + bodies)
        whole[link, tables.KIND] = links.kind
        whole[link, tables.PARENT] = links.parent + 1
        whole[link, tables.QI] = links.qi
        whole[link, tables.VI] = links.vi
        self.table[link, tables.PLACEMENT:tables.PLACEMENT + 12] = links.placement
        self.table[link, tables.INERTIA:tables.INERTIA + 10] = mass_unit * links.inertia
        self.table[link, tables.PITCH] = links.pitch
        if dissipation:
            self.table[self.links:self.rows, tables.DAMPING] = mass_unit * links.damping
            self.table[self.links:self.rows, tables.FRICTION] = mass_unit * links.friction
        coordinate = slice(self.links, self.rows)
        self.table[coordinate, tables.STIFFNESS] = mass_unit * links.stiffness
        self.table[coordinate, tables.REST] = links.rest
        self.table[coordinate, tables.ARMATURE] = mass_unit * links.armature
        stops = np.clip(links.stops, -tables.FAR, tables.FAR)
        stops[:, 0] *= mass_unit
        self.table[coordinate, tables.STOP_STIFFNESS:tables.STOP_UPPER + 1] = stops
        whole[coordinate, tables.POSITION_AT] = links.position_at
        whole[0, tables.LOADED_JOINTS] = (
            links.stiffness.any() or links.armature.any() or links.stops.any())
        whole[body, tables.CARRIER] = links.body_link + 1
        self.table[body, tables.PLACEMENT:tables.PLACEMENT + 12] = links.body_placement
        for row, frame in enumerate(model.frame_list, self.rows + bodies):
            self._place_frame(row, frame)
        self.view = self.table.view()
        self.view.setflags(write=False)

    def _place_frame(self, row: int, frame: Frame) -> None:
        """Write the row of a frame that is not a body's."""
        placement = frame.placement
        if frame.body is not None:
            whole, body = self.table.view(np.int64), self.rows + self.model.body_index(frame.body)
            whole[row, tables.CARRIER] = whole[body, tables.CARRIER]
            placement = homogeneous(self.table[body], tables.PLACEMENT) @ placement
        self.table[row, tables.PLACEMENT:tables.PLACEMENT + 9] = placement[:3, :3].ravel()
        self.table[row, tables.PLACEMENT + 9:tables.PLACEMENT + 12] = placement[:3, 3]

    def __reduce__(self) -> tuple[type['Constants'], tuple[Model, bool, float]]:
        """Copy, or pickle, by laying them out again."""
        return Constants, (self.model, self.dissipation, self._mass_unit)

    @property
    def damping(self) -> Array:
        """Return the damping of the velocity coordinates (nv,), N m s/rad or N s/m."""
        return self.view[self.links:self.rows, tables.DAMPING]

    @property
    def friction(self) -> Array:
        """Return the Coulomb friction of the velocity coordinates (nv,), N m or N."""
        return self.view[self.links:self.rows, tables.FRICTION]


def homogeneous(row: Array, column: int) -> Array:
    """Return the pose (4, 4) in twelve columns of a row: rotation row by row, translation."""
    pose = np.eye(4)
    pose[:3, :3] = row[column:column + 9].reshape(3, 3)
    pose[:3, 3] = row[column + 9:column + 12]
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
