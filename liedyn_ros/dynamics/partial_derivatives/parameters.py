# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The parameters of a model as one vector, and Jacobians by those of its geometry (13.26)."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from liedyn_ros.common.checks import Array, as_array
from liedyn_ros.common.errors import LiedynError, ShapeError
from liedyn_ros.common.on_demand import weak_cache
from liedyn_ros.dynamics.partial_derivatives.kernels import parameters as columns
from liedyn_ros.model import Model

Shapes = tuple[tuple[int, int], ...]
BODY_SHAPES = 2  # the part of shapes_of


class Parameters:
    """
    A number for each parameter of a model with B bodies, as many joints and C closures.

    Calls named product take it as the change of all parameters, calls named gradient write the
    derivatives by them into it. All parts are views of vector (P,), zero at first. So the change
    of y . tau is gradient.vector @ change.vector. No other argument of a gradient may be such a
    view: it would be written over.

    gravity (3,) is that in the ground, m/s^2. external (B, 6) are the wrenches on bodies in their
    frames. inertia (B, 10) is mass, first moments and moments of inertia of each body in its
    frame, as Regressor has them. damping, friction and rotor_inertia are (nv,); the last are the
    armatures of the model. placement (B, 6), axis (B, 3) and pitch
    (B,) are those of model.joint_list, as in KinematicJacobians. frame_a, frame_b (C, 6),
    closure_pitch and length (C,) are those of model.closures, as in LoopKinematicJacobians.

    Raises LiedynError or ShapeError for a vector of another size.

    >>> change = Parameters(model)
    >>> change.damping[2] = 1.0
    >>> robot.inverse.partial_derivatives.product(
    ...     q, v, a, 0.0 * v, 0.0 * v, 0.0 * v, parameters=change).round(9)
    array([0. , 0. , 0.1, 0. , 0. , 0. ])
    """

    def __init__(self, model: Model, vector: ArrayLike | None = None) -> None:
        """
        Take a copy of a vector, or zeros.

        Args:
            model: a Model.
            vector: (P,), which is copied; zeros by default.

        Raises:
            LiedynError, ShapeError: for a vector of another size.
        """
        shapes = shapes_of(model)
        size = (sum(rows * width for rows, width in shapes),)
        self.__setstate__((shapes, np.zeros(size) if vector is None else np.array(
            as_array('vector', vector, size))))

    def __getstate__(self) -> tuple[Shapes, Array]:
        """Return the state of a copy or a pickle."""
        return self.shapes, self.vector

    def __setstate__(self, state: tuple[Shapes, Array]) -> None:
        """Lay the parts out on a vector, so that they are its views in a copy too."""
        self.shapes, self._vector = state
        ends = np.cumsum([rows * width for rows, width in self.shapes])
        self.ground, self.of_coordinates, self.of_bodies, self.of_closures = (
            part.reshape(shape)
            for part, shape in zip(np.split(self._vector, ends[:-1]), self.shapes))

    @property
    def vector(self) -> Array:
        """Return all of it (P,), of which the parts are views."""
        return self._vector

    @property
    def gravity(self) -> Array:
        """Return the part (3,) of the acceleration of gravity."""
        return self.ground[0]

    @property
    def damping(self) -> Array:
        """Return the part (nv,) of damping."""
        return self.of_coordinates[:, columns.DAMPING]

    @property
    def friction(self) -> Array:
        """Return the part (nv,) of Coulomb friction."""
        return self.of_coordinates[:, columns.FRICTION]

    @property
    def rotor_inertia(self) -> Array:
        """Return the part (nv,) of the inertia of motors at the joints."""
        return self.of_coordinates[:, columns.ROTOR_INERTIA]

    @property
    def external(self) -> Array:
        """Return the part (B, 6) of the wrenches on bodies."""
        return self.of_bodies[:, columns.BODY_WRENCH:columns.BODY_WRENCH + 6]

    @property
    def inertia(self) -> Array:
        """Return the part (B, 10) of the inertias of bodies."""
        return self.of_bodies[:, columns.BODY_INERTIA:columns.BODY_INERTIA + 10]

    @property
    def placement(self) -> Array:
        """Return the part (B, 6) of the placements of joints."""
        return self.of_bodies[:, columns.JOINT_PLACEMENT:columns.JOINT_PLACEMENT + 6]

    @property
    def axis(self) -> Array:
        """Return the part (B, 3) of the axes of joints."""
        return self.of_bodies[:, columns.JOINT_AXIS:columns.JOINT_AXIS + 3]

    @property
    def pitch(self) -> Array:
        """Return the part (B,) of the pitches of joints."""
        return self.of_bodies[:, columns.JOINT_PITCH]

    @property
    def frame_a(self) -> Array:
        """Return the part (C, 6) of the frames of closures on their bodies a."""
        return self.of_closures[:, columns.FRAME_A:columns.FRAME_A + 6]

    @property
    def frame_b(self) -> Array:
        """Return the part (C, 6) of the frames of closures on their bodies b."""
        return self.of_closures[:, columns.FRAME_B:columns.FRAME_B + 6]

    @property
    def closure_pitch(self) -> Array:
        """Return the part (C,) of the pitches of closures."""
        return self.of_closures[:, columns.CLOSURE_PITCH]

    @property
    def length(self) -> Array:
        """Return the part (C,) of the lengths of rods."""
        return self.of_closures[:, columns.CLOSURE_LENGTH]


@weak_cache
def shapes_of(model: Model) -> Shapes:
    """Return the shapes of the parts of gravity, coordinates, bodies and closures."""
    return ((1, 3), (model.nv, columns.COORDINATE_WIDTH),
            (len(model.bodies), columns.BODY_WIDTH), (len(model.closures), columns.CLOSURE_WIDTH))


def vector_of(parameters: Parameters, model: Model, shapes: Shapes) -> Array:
    """Return all parameters; raise LiedynError or ShapeError unless they are of these shapes."""
    if not isinstance(parameters, Parameters):
        raise LiedynError(f'parameters: expected Parameters, got {type(parameters).__name__}')
    if parameters.shapes is not shapes and parameters.shapes != shapes:
        raise ShapeError(f'parameters: expected those of {model.name}, got ones with other '
                         f'numbers of bodies, coordinates or closures')
    return parameters._vector


class KinematicJacobians(NamedTuple):
    """
    The partial derivatives of tau, or of a, by the geometry of the J joints of model.joint_list.

    by_placement (nv, J, 6): by a twist xi, angular first, in the joint frame, which replaces
    placement by placement exp(xi); rad and m. by_axis (nv, J, 3): by a rotation w in the joint
    frame, which turns axis and second_axis by exp([w]), rad. by_pitch (nv, J): of helical joints,
    m/rad, zero for the others. At the zero of its coordinates a joint leaves its child where it
    was, whatever axis and pitch are. q, v and a, or tau, stay the same numbers.

    >>> robot.inverse.partial_derivatives.by_kinematics(q, v, a).by_placement.shape
    (6, 8, 6)
    """

    by_placement: Array
    by_axis: Array
    by_pitch: Array


def kinematic_jacobians(model: Model, rows: Callable[[Array, Array, int, Array], object]
                        ) -> KinematicJacobians:
    """Return the Jacobians of x (nv,); rows is that of ParameterProducts at a state."""
    shapes = shapes_of(model)
    sizes = [rows * width for rows, width in shapes]
    out = np.empty((model.nv, len(model.bodies), 10))
    rows(np.zeros(model.nv), np.zeros(sum(sizes)), sum(sizes[:BODY_SHAPES]), out)
    return KinematicJacobians(out[..., :6], out[..., 6:9], out[..., 9])
