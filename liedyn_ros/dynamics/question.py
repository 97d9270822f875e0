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

"""What is asked of the dynamics of a model, and which number of it was refused."""

from collections.abc import Iterator
from math import hypot, isfinite
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from liedyn_ros.checks import Array
from liedyn_ros.errors import LiedynError, LimitError, NotFiniteError, NotInGroupError
from liedyn_ros.lie.arrays import TOLERANCE
from liedyn_ros.model import Model


class Question(NamedTuple):
    """
    A state and what is known of the motion; arrays as Dynamics takes them.

    prescribed (nv,) tells for which coordinates a is known; for the others tau is. With their time
    derivatives a, tau and external have a row for each order.
    """

    q: Array
    v: Array
    a: Array
    tau: Array
    prescribed: NDArray[np.bool_]
    external: Array | None


def explain(model: Model, question: Question, error: LiedynError) -> LiedynError:
    """Return an error of Dynamics in the names of the model, which callers know better than q."""
    numbers = list(_labelled(model, question))
    for label, number in numbers:
        if not isfinite(number):
            return NotFiniteError(f'{label}: expected a finite number, got {number}')
    if isinstance(error, NotInGroupError):
        return _quaternion_error(model, question.q)
    if isinstance(error, (LimitError, NotFiniteError)):  # on the way to the result
        label, number = max(numbers, key=lambda entry: abs(entry[1]))
        return LimitError(f'{label}: expected numbers whose results are finite, got {number:g} as '
                          'the largest')
    return error


def _labelled(model: Model, question: Question) -> Iterator[tuple[str, float]]:
    """Return every number that is read, and what it is."""
    for joint in model.joint_list:
        for number in question.q[joint.q_slice]:
            yield f'position of {joint.name}', float(number)
    for name, v in zip(model.coordinate_names, question.v):
        yield f'velocity of {name}', float(v)
    for k, (a, tau) in enumerate(zip(np.atleast_2d(question.a), np.atleast_2d(question.tau))):
        for i, name in enumerate(model.coordinate_names):
            if question.prescribed[i]:
                yield _derivative(k, f'acceleration of {name}'), float(a[i])
            else:
                yield _derivative(k, f'effort of {name}'), float(tau[i])
    if question.external is not None:
        for k, wrenches in enumerate(question.external.reshape(-1, len(model.bodies), 6)):
            for body, wrench in zip(model.bodies, wrenches):
                for number in wrench:
                    yield _derivative(k, f'external wrench on {body}'), float(number)


def _derivative(order: int, label: str) -> str:
    return f'derivative {order} of the {label}' if order else label


def _quaternion_error(model: Model, q: Array) -> NotInGroupError:
    norms = {joint.name: hypot(*q[joint.q_slice][-4:]) for joint in model.joint_list
             if joint.type_name in ('spherical', 'free')}
    worst = max(norms, key=lambda name: abs(norms[name] - 1.0))
    return NotInGroupError(f'position of {worst}: expected a quaternion x, y, z, w of norm 1 '
                           f'within {TOLERANCE}, got norm {norms[worst]:.9g}')
