# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""
The arguments of functions of the C library, each by what it is: annotations of functions.

A module's function whose result is a CODE is one of liedyn.h, where its name follows liedyn_. It
is compiled on arrays, as kernels of Python are, and called on words. From these annotations
liedyn_ros.build.c_interface writes the C function with its checks, the headers and the reference.
"""

from typing import Any, TYPE_CHECKING

from liedyn_ros.jit.pointers import COUNT

if TYPE_CHECKING:
    from typing import TypeAlias
    CODE: TypeAlias = Any
else:
    CODE = COUNT
ROWS = 'order + 1'  # of a motion with its time derivatives


class Argument(str):
    """
    The kind of an argument, and what it is: a number of C by its name, or an array by its shape.

    A shape has numbers, and sizes by their names in C. struct: what C has for a result of these
    numbers. optional: NULL is an array without rows. read: of an array that is completed in its
    place, whether entries are given where flags are set, or where they are not.
    """

    number: str
    shape: tuple[str | int, ...]
    struct: str
    optional: bool
    is_result: bool
    read: bool | None

    def __new__(cls, kind: str, shape: tuple[str | int, ...] = (), *, number: str = '',
                struct: str = '', optional: bool = False, is_result: bool = False,
                read: bool | None = None) -> Any:
        """Take the kind for the compiler, and the description."""
        made = super().__new__(cls, kind)
        made.shape, made.number, made.struct = shape, number, struct
        made.optional, made.is_result, made.read = optional, is_result, read
        return made

    @property
    def is_input(self) -> bool:
        """Return whether it is an array of numbers that are read."""
        return self[0] == 'd' and bool(self.shape) and (
            not self.is_result or self.read is not None)


class _Result:

    def __getitem__(self, of: Argument) -> Argument:
        return Argument(of, of.shape, optional=of.optional, is_result=True)


class _Completed:

    def __getitem__(self, given: tuple[Argument, bool]) -> Argument:
        of, read = given
        return Argument(of, of.shape, is_result=True, read=read)


def _array(*shape: str | int, optional: bool = False) -> Argument:
    return Argument(f'd{len(shape)}', shape, optional=optional)


RESULT, COMPLETED = _Result(), _Completed()
CONFIGURATION, RATES = _array('nq'), _array('nv')
CONFIGURATION_OR_NONE, RATES_OR_ZERO = _array('nq', optional=True), _array('nv', optional=True)
ORDERS, ONE_ORDER = _array(ROWS, 'nv'), _array(1, 'nv')
BODY_WRENCHES = _array('bodies', 6, optional=True)  # on bodies, in their frames
WRENCH_ORDERS = _array(ROWS, 'bodies', 6, optional=True)
WRENCHES_OF_ONE_ORDER = _array(1, 'bodies', 6, optional=True)
FLAG_OF_EACH, FLAGS_OR_NONE = (Argument('b1', ('nv',), optional=each) for each in (False, True))
ACTUATED_OR = FLAGS_OR_NONE  # none: those of the actuators
CONSTRAINTS, CONSTRAINTS_BY_RATES = _array('m'), _array('m', 'nv', optional=True)
REPORT = Argument('d1', (5,), struct='liedyn_constraint_report', is_result=True)
(ORDER_NUMBER, FRAME_NUMBER, AXES_NUMBER, TRUTH_NUMBER, CLOSURE_NUMBER, TASKS_NUMBER, HELD_NUMBER,
 SIZE_NUMBER) = (
    Argument(COUNT, number=kind) for kind in (
        'order', 'frame', 'axes', 'truth', 'closure', 'tasks', 'held', 'size'))
SQUARE, JACOBIAN, ONE_JACOBIAN = _array('nv', 'nv'), _array(6, 'nv'), _array(1, 6, 'nv')
POSE_MATRIX, TWIST_VECTOR = _array(1, 4, 4), _array(1, 6)
BODY_POSES, BODY_TWISTS = _array('bodies', 4, 4), _array('bodies', 6)
SQUARE_OF_TASKS, OF_TASKS, TASK_ROWS = (
    _array('tasks', 'tasks'), _array('tasks'), _array('tasks', 'nv'))
SCRATCH_MATRIX = _array('size', 'size')
OBSERVED, SETTINGS = _array(2, 'nv'), _array(2)
# Of the machine: its table, its work area, and kind, qi and vi of its links.
MODEL, WORK, LINK_TABLE = Argument('d2'), Argument('d1'), Argument('q2')
