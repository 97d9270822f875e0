# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Partial derivatives by kinematic parameters: placements, axes and pitches of joints (13.26)."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from liedyn_ros.common.checks import Array
from liedyn_ros.dynamics.partial_derivatives.parameters import BODIES, shapes_of
from liedyn_ros.model import Model


class KinematicJacobians(NamedTuple):
    """
    The partial derivatives of tau, or of a, by the geometry of the J joints of model.joint_list.

    by_placement (nv, J, 6): by a twist xi, angular first, in the joint frame, which replaces
    placement by placement exp(xi); rad and m. by_axis (nv, J, 3): by a rotation w in the joint
    frame, which turns axis and second_axis by exp([w]), rad. by_pitch (nv, J): of helical joints,
    m/rad, zero for the others. At the zero of its coordinates a joint leaves its child where it
    was, whatever axis and pitch are. q, v and a, or tau, stay the same numbers.
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
    rows(np.zeros(model.nv), np.zeros(sum(sizes)), sum(sizes[:BODIES]), out)
    return KinematicJacobians(out[..., :6], out[..., 6:9], out[..., 9])
