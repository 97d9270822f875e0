# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""A machine whose parameters follow a vector of numbers, in microseconds and with gradients."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from liedyn_ros.common.checks import Array, as_array, require_known
from liedyn_ros.common.errors import InertiaError, LimitError, ModelError, NotFiniteError
from liedyn_ros.dynamics import Dynamics
from liedyn_ros.dynamics.constrained import ConstrainedDynamics
from liedyn_ros.dynamics.partial_derivatives import Parameters
from liedyn_ros.dynamics.partial_derivatives.kernels import parameters as columns
from liedyn_ros.dynamics.tree.kernels import tables
from liedyn_ros.identification.charts.inertia import INERTIA_CHARTS
from liedyn_ros.lie import se3
from liedyn_ros.model import inertia_of, Model
from liedyn_ros.model.expansion import expand
from liedyn_ros.model.parts.body import stacked_parameters

CHART_PARTS = 'inertia', 'damping', 'friction', 'rotor_inertia', 'placement'
_FIELDS = {'damping': 'damping', 'friction': 'friction', 'rotor_inertia': 'armature'}
_ENTRIES = {'damping': 'damping', 'friction': 'friction', 'rotor_inertia': 'armature'}


class ParameterChart:
    """
    Numbers x (P,) in which a model's parameters vary, and its dynamics at them.

    x has the parts in this order: inertia, damping, friction, rotor_inertia, placement. inertia
    has ten numbers for each body with mass in the model, in a chart of INERTIA_CHARTS. The next
    three are (nv,). placement (J, 6) of the joints that move is the logarithm of the change of
    their frames, in the axes of the model's. start is x of the model. dynamics is at the x of the
    last call of at; it is this object's own, and its attribute model stays the first one. Models
    with closures or couplings have a ConstrainedDynamics, without placement among the parts.
    Gradients at any x are those by x: partial derivatives give Parameters, and pull takes them
    back.

    Raises ModelError for an unknown part or chart, or placement beside closures; InertiaError for
    bodies that the chart of inertias lacks.

    >>> chart = ParameterChart(model, ['inertia', 'damping'])
    >>> np.allclose(chart.at(chart.start).inverse(q, v, a), robot.inverse(q, v, a))
    True
    """

    def __init__(self, model: Model, parts: Sequence[str] = ('inertia',), *,
                 inertia: str = 'log_cholesky', dissipation: bool = True) -> None:
        """
        Lay the numbers out, and start at the model's.

        Args:
            model: a Model.
            parts: of inertia, damping, friction, rotor_inertia, placement.
            inertia: a key of INERTIA_CHARTS.
            dissipation: whether damping and friction of the joints act.

        Raises:
            ModelError: for a part or chart that does not fit; InertiaError: a body outside it.
        """
        require_known(ModelError, 'parts', CHART_PARTS, parts, 'parts')
        require_known(ModelError, 'inertia', INERTIA_CHARTS, [inertia], 'charts')
        if 'placement' in parts and model.closures:
            raise ModelError('parts: expected no placement for a model with closures, got it')
        self.model, self.parts = model, tuple(part for part in CHART_PARTS if part in parts)
        self.dynamics: Dynamics | ConstrainedDynamics
        if model.closures or model.couplings:
            loops = ConstrainedDynamics(model, dissipation=dissipation)
            self.dynamics, self._tree = loops, loops.tree
            self._require_inertia()
        else:
            self.dynamics = self._tree = Dynamics(model, dissipation=dissipation)
        self._chart = INERTIA_CHARTS[inertia]
        self._bodies = [b for b, body in enumerate(model.body_list) if body.inertia is not None]
        self._joints = [b for b, joint in enumerate(model.joint_list)
                        if joint.v_slice.start != joint.v_slice.stop]
        sizes = {'inertia': 10 * len(self._bodies), 'placement': 6 * len(self._joints)}
        ends = np.cumsum([sizes.get(part, model.nv) for part in self.parts]).tolist()
        self._places = {part: slice(start, end) for part, start, end in zip(
            self.parts, [0, *ends], ends)}
        self.size = ends[-1] if ends else 0
        algorithms = self._tree.inverse, self._tree.forward, self._tree.hybrid
        self._tables = [each.partial_derivatives.parameter_kernels.bodies for each in algorithms]
        if isinstance(self.dynamics, ConstrainedDynamics):
            self._tables.append(self.dynamics.parameter_bodies)
        self._lay_out()
        self._x: Array = np.empty(0)
        self.start = np.zeros(self.size)
        self.start = self.numbers(model)
        self.at(self.start)

    def _lay_out(self) -> None:
        """Note how bodies lie in their links, and joints in theirs."""
        links, poses = self.model.link_table, np.tile(np.eye(4), (len(self.model.bodies), 1, 1))
        poses[:, :3, :3] = links.body_placement[:, :9].reshape(-1, 3, 3)
        poses[:, :3, 3] = links.body_placement[:, 9:]
        self._links = links.body_link[self._bodies]
        self._into = np.array([_transport(poses[b]) for b in self._bodies]).reshape(-1, 10, 10)
        table = self._tables[0]
        first = table.view(np.int64)[columns.FIRST_LINK, self._joints]
        self._first, at = first, columns.JOINT_POSE
        self._frames = np.tile(np.eye(4), (len(first), 1, 1))
        self._frames[:, :3, :3] = table[at:at + 9, self._joints].T.reshape(-1, 3, 3)
        self._frames[:, :3, 3] = table[at + 9:at + 12, self._joints].T
        placed = links.placement[first - 1, :9].reshape(-1, 3, 3)
        self._axes = self._frames[:, :3, :3].swapaxes(1, 2) @ placed

    def _require_inertia(self) -> None:
        """Raise InertiaError for a link of loops that starts without any: tables leave it out."""
        links = self.model.link_table
        for name, body, at in zip(self.model.bodies, self.model.body_list, links.body_link):
            if body.inertia is not None and at >= 0 and not links.inertia[at].any():
                raise InertiaError(f'{name}: expected an inertia above zero in a machine with '
                                   'closed loops, got zero; leave it out of the model')

    def numbers(self, model: Model) -> Array:
        """
        Return the numbers of a model that differs from the first one in these parts alone.

        Args:
            model: a Model.

        Returns:
            x (P,).

        Raises:
            ModelError: for one of other bodies or joints.
            InertiaError: for bodies that the chart lacks.

        >>> chart = ParameterChart(model)
        >>> np.allclose(chart.numbers(model), chart.start)
        True
        """
        mine = self.model
        if model.bodies != mine.bodies or model.coordinate_names != mine.coordinate_names:
            raise ModelError(f'model: expected the bodies and coordinates of {mine.name}, got '
                             f'others in {model.name}')
        x = np.zeros(self.size)
        for part, place in self._places.items():
            if part == 'inertia':
                own = [model.body_list[b].inertia for b in self._bodies]
                if any(each is None for each in own):
                    raise ModelError('model: expected mass where the first one has it, got none')
                x[place] = self._chart.numbers(stacked_parameters(
                    [each for each in own if each is not None],
                    np.tile(np.eye(4), (len(own), 1, 1)))).ravel()
            elif part == 'placement':
                x[place] = np.array([se3.log(
                    se3.inverse(mine.joint_list[b].placement) @ model.joint_list[b].placement)
                    for b in self._joints]).ravel()
            else:
                x[place] = getattr(model.link_table, _FIELDS[part])
        return x

    def at(self, x: ArrayLike) -> Dynamics | ConstrainedDynamics:
        """
        Return dynamics with the parameters of some numbers.

        Results of earlier calls stay as they are.

        Args:
            x: (P,).

        Returns:
            the same object at each call.

        Raises:
            LimitError: where x is so large that a parameter overflows.
            LiedynError: for another shape, or a number that is not finite.

        >>> chart = ParameterChart(model)
        >>> np.allclose(chart.at(chart.start).inverse(q, v, a), robot.inverse(q, v, a))
        True
        """
        x = as_array('x', x, (self.size,))
        table, links = self._tree.constants.table, self._tree.constants.links
        with np.errstate(over='ignore', invalid='ignore'):
            for part, place in self._places.items():
                if part == 'inertia':
                    self._set_inertias(x[place].reshape(-1, 10))
                elif part == 'placement':
                    self._set_placements(x[place].reshape(-1, 6))
                elif part == 'rotor_inertia' or self._tree.dissipation:
                    coordinates = table[links:links + self.model.nv]
                    tables.Coordinate.of(coordinates, _ENTRIES[part])[:] = x[place]
        if 'rotor_inertia' in self._places:
            tables.Tree.of(table, 'loaded_joints')[0] = 1
        if isinstance(self.dynamics, ConstrainedDynamics):
            self.dynamics.follow_tree()
        self._x = np.array(x)
        return self.dynamics

    def _set_inertias(self, x: Array) -> None:
        try:
            self._point = self._chart.point(x)
        except NotFiniteError as error:
            raise LimitError(
                'x: expected numbers whose inertias are finite, got larger ones') from error
        table = self._tree.constants.table
        own = (self._into @ self._point.parameters[:, :, None])[:, :, 0]
        sums = np.zeros((self._tree.constants.links, 10))
        np.add.at(sums, self._links + 1, own)
        tables.Link.of(table, 'inertia')[1:len(sums)] = sums[1:]
        at = columns.OWN_INERTIA
        for bodies in self._tables:
            bodies[at:at + 10, self._bodies] = own.T

    def _set_placements(self, x: Array) -> None:
        moved = self._frames @ se3.exp(x)
        placements = tables.Link.of(self._tree.constants.table, 'placement')
        placements[self._first, :9] = (moved[:, :3, :3] @ self._axes).reshape(-1, 9)
        placements[self._first, 9:] = moved[:, :3, 3]
        at = columns.JOINT_POSE
        for bodies in self._tables:
            bodies[at:at + 9, self._joints] = moved[:, :3, :3].reshape(-1, 9).T
            bodies[at + 9:at + 12, self._joints] = moved[:, :3, 3].T

    def pull(self, gradient: Parameters) -> Array:
        """
        Return the gradient by the numbers of a gradient by parameters, at the last call of at.

        Args:
            gradient: of a cost, as partial derivatives write it.

        Returns:
            (P,).

        >>> chart = ParameterChart(model)
        >>> chart.pull(Parameters(model)).any().item()
        False
        """
        result = np.empty(self.size)
        for part, place in self._places.items():
            if part == 'inertia':
                weights = gradient.inertia[self._bodies]
                result[place] = np.einsum('bij,bi->bj', self._point.by_x, weights).ravel()
            elif part == 'placement':
                weights = gradient.placement[self._joints]
                jacobian = se3.right_jacobian(self._x[place].reshape(-1, 6))
                result[place] = np.einsum('bij,bi->bj', jacobian, weights).ravel()
            else:
                result[place] = getattr(gradient, part)
        return result

    def push(self, dx: ArrayLike) -> Parameters:
        """
        Return the change of parameters along a change of the numbers, at the last call of at.

        Args:
            dx: (P,).

        Returns:
            the change of each parameter.

        Raises:
            LiedynError: for another shape, or a number that is not finite.

        >>> chart = ParameterChart(model)
        >>> chart.push(np.zeros(chart.size)).vector.any().item()
        False
        """
        dx, result = as_array('dx', dx, (self.size,)), Parameters(self.model)
        for part, place in self._places.items():
            if part == 'inertia':
                result.inertia[self._bodies] = np.einsum(
                    'bij,bj->bi', self._point.by_x, dx[place].reshape(-1, 10))
            elif part == 'placement':
                jacobian = se3.right_jacobian(self._x[place].reshape(-1, 6))
                result.placement[self._joints] = np.einsum(
                    'bij,bj->bi', jacobian, dx[place].reshape(-1, 6))
            else:
                getattr(result, part)[:] = dx[place]
        return result

    def to_model(self) -> Model:
        """
        Return a model with the parameters of the last call of at; this takes milliseconds.

        Returns:
            the model.

        Raises:
            InertiaError: for bodies that cannot be.
            LimitError: for numbers below zero.

        >>> ParameterChart(model).to_model().bodies == model.bodies
        True
        """
        bodies, joints = list(self.model.body_list), list(self.model.joint_list)
        for part, place in self._places.items():
            values = self._x[place]
            if part == 'inertia':
                for b, numbers in zip(self._bodies, self._point.parameters):
                    bodies[b] = replace(bodies[b], inertia=inertia_of(numbers))
            elif part == 'placement':
                for b, change in zip(self._joints, se3.exp(values.reshape(-1, 6))):
                    joints[b] = replace(joints[b], placement=joints[b].placement @ change)
            else:
                if not (values >= 0.0).all():
                    raise LimitError(f'{part}: expected at least 0, got {values.min():.3g}')
                fields: list[dict[str, Any]] = [
                    {_FIELDS[part]: values[joint.v_slice]} for joint in joints]
                joints = [replace(joint, **field) for joint, field in zip(joints, fields)]
        return replace(self.model, body_list=tuple(bodies), joint_list=tuple(joints),
                       link_table=expand(bodies, joints, self.model.gravity))


def _transport(pose: Array) -> Array:
    """Return the matrix (10, 10) of parameters in a frame from those in one at a pose there."""
    r, p = pose[:3, :3], pose[:3, 3]
    result = np.empty((10, 10))
    for k, (mass, hx, hy, hz, xx, xy, xz, yy, yz, zz) in enumerate(np.eye(10)):
        h = r @ (hx, hy, hz)
        turned = r @ np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]) @ r.T
        # About the origin: J + 2 (h . p) - h p^T - p h^T + m (p . p - p p^T) (1.5)
        moved = turned + (2.0 * h @ p + mass * p @ p) * np.eye(3) - np.outer(h, p) - np.outer(
            p, h) - mass * np.outer(p, p)
        result[:, k] = [mass, *(h + mass * p), *moved[np.triu_indices(3)]]
    return result
