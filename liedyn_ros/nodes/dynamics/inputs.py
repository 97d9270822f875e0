# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The inputs of the algorithms that a query gives, and which of its numbers was refused."""

from collections.abc import Iterator
from math import hypot, isfinite
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from liedyn_ros.common.checks import Array
from liedyn_ros.common.errors import LiedynError, LimitError, NotFiniteError, NotInGroupError
from liedyn_ros.dynamics import Names
from liedyn_ros.dynamics.constrained import LEAST_TORQUE
from liedyn_ros.lie.so3 import PRINTED_NORM_TOLERANCE
from liedyn_ros.ros.messages.conversions import POSE_FIELDS

TWIST_FIELDS = tuple(f'{part}.{axis}' for part in ('angular', 'linear') for axis in 'xyz')
WRENCH_FIELDS = tuple(f'{part}.{axis}' for part in ('torque', 'force') for axis in 'xyz')


class RequestInputs(NamedTuple):
    """
    A state, and the known accelerations, efforts and wrenches; arrays as Dynamics takes them.

    prescribed (nv,) is true for coordinates with known a; the others have known tau. With their
    time derivatives a, tau and external have a row for each order. redundancy is the argument of
    ConstrainedDynamics.inverse. with_errors requests the error of each order.
    """

    q: Array
    v: Array
    a: Array
    tau: Array
    prescribed: NDArray[np.bool_]
    external: Array | None
    redundancy: str = LEAST_TORQUE
    with_errors: bool = False


def explain(names: Names, inputs: RequestInputs, error: LiedynError) -> LiedynError:
    """
    Return an error of Dynamics in terms of the fields of the query.

    The base is named by its fields of the messages, joints and bodies by their names.
    """
    numbers = list(_labelled(names, inputs))
    for label, number in numbers:
        if not isfinite(number):
            return NotFiniteError(f'{label}: expected a finite number, got {number}')
    if isinstance(error, NotInGroupError):
        return _quaternion_error(names, inputs.q)
    if isinstance(error, (LimitError, NotFiniteError)):  # on the way to the result
        label, number = max(numbers, key=lambda entry: abs(entry[1]))
        return LimitError(f'{label}: expected numbers whose results are finite, got {number:g} as '
                          'the largest')
    return error


def _labelled(names: Names, x: RequestInputs) -> Iterator[tuple[str, float]]:
    """Return every number that is read, with its label."""
    model = names.model
    for joint in model.joint_list:
        for i, number in enumerate(x.q[joint.q_slice]):
            yield (f'base_pose.{POSE_FIELDS[i]}' if joint is names.base
                   else f'position of {joint.name}'), float(number)
    yield from zip(_coordinates(names, 'base_twist', TWIST_FIELDS, 'velocity'), x.v.tolist())
    for k, (a, tau) in enumerate(zip(np.atleast_2d(x.a), np.atleast_2d(x.tau))):
        accelerations = _coordinates(
            names, f'accelerations[{k}].base', TWIST_FIELDS, _derivative(k, 'acceleration'))
        efforts = _coordinates(names, f'efforts[{k}].base', WRENCH_FIELDS,
                               _derivative(k, 'effort'))
        for i, prescribed in enumerate(x.prescribed):
            yield (accelerations[i], float(a[i])) if prescribed else (efforts[i], float(tau[i]))
    if x.external is not None:
        for k, wrenches in enumerate(x.external.reshape(-1, len(model.bodies), 6)):
            for body, wrench in zip(model.bodies, wrenches):
                for number in wrench.tolist():
                    yield f'{_derivative(k, "external wrench")} on {body}', number


def _coordinates(names: Names, base: str, parts: tuple[str, ...], quantity: str) -> list[str]:
    """Return labels of the velocity coordinates: fields of the base, then joints."""
    coordinates = names.model.coordinate_names
    own = [] if names.base is None else [f'{base}.{part}' for part in parts]
    return own + [f'{quantity} of {name}' for name in coordinates[len(own):]]


def _derivative(order: int, quantity: str) -> str:
    return f'derivative {order} of the {quantity}' if order else quantity


def _quaternion_error(names: Names, q: Array) -> NotInGroupError:
    norms = {joint: hypot(*q[joint.q_slice][-4:]) for joint in names.model.joint_list
             if joint.type_name in ('spherical', 'free')}
    worst = max(norms, key=lambda joint: abs(norms[joint] - 1.0))
    label = 'base_pose.orientation' if worst is names.base else f'position of {worst.name}'
    return NotInGroupError(f'{label}: expected a quaternion x, y, z, w of norm 1 within '
                           f'{PRINTED_NORM_TOLERANCE}, got norm {norms[worst]:.9g}')
