# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The product of exponentials of a model (Park 31, Ali 8), and the model of one."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from liedyn_ros.common.checks import Array, as_array
from liedyn_ros.common.errors import ModelError
from liedyn_ros.dynamics.tree.screw_tree import ScrewTree, unpacked
from liedyn_ros.lie import se3
from liedyn_ros.model import Body, JOINT_TYPES, Limits, Model, ModelBuilder
from liedyn_ros.model.kernels import kinds

_ROUNDING = 1e-9  # of a screw


@dataclass(frozen=True, eq=False)
class Factor:
    """
    One factor exp(A x) of the product, by the name of the joint that it stands for.

    screws A are the home screws in the ground at zero. They are (1, 6) for one degree of freedom,
    (3, 6) for a spherical joint and (6, 6) for a free joint. For the last two x is the logarithm
    of the motion. parent is the place of the factor before it on its path, -1 for none. limits,
    damping, friction, stiffness and rest of springs, stops and armature are of its coordinates.

    >>> product_of_exponentials(model).factors[0].screws.shape
    (1, 6)
    """

    name: str
    parent: int
    screws: Array
    limits: Limits
    damping: Array
    friction: Array
    stiffness: Array
    rest: Array
    armature: Array
    stops: Array


@dataclass(frozen=True, eq=False)
class ProductOfExponentials:
    """
    A tree as T_b = exp(A_i x_i) ... exp(A_j x_j) M_b, over the factors on the path to each body b.

    name and bodies are those of the model, gravity (3,), m/s^2. carriers (B,) is the last factor
    on the path to each body, -1 for a body fixed to the ground. homes (B, 4, 4) are the poses M_b
    at zero. A joint of several degrees of freedom has several factors, unless it is spherical or
    free. Rotors and couplings are not a part of it.

    >>> product = product_of_exponentials(model)
    >>> np.allclose(product.poses(q)[-1], robot.frames.pose(q, model.bodies[-1]))
    True
    """

    name: str
    gravity: Array
    factors: tuple[Factor, ...]
    bodies: tuple[Body, ...]
    carriers: tuple[int, ...]
    homes: Array

    def poses(self, x: ArrayLike) -> Array:
        """
        Return the poses of the bodies.

        Args:
            x: exponential coordinates (nv,): model.difference(model.neutral(), q); rad and m.

        Returns:
            (B, 4, 4) in the ground; m.

        Raises:
            LiedynError: for another shape, or a number that is not finite.

        >>> product_of_exponentials(model).poses(np.zeros(6)).shape
        (8, 4, 4)
        """
        x = as_array('x', x, (sum(len(factor.screws) for factor in self.factors),))
        products, at = [np.eye(4)], 0  # the ground's stands first
        for factor in self.factors:
            size = len(factor.screws)
            products.append(products[factor.parent + 1]
                            @ se3.exp(x[at:at + size] @ factor.screws))
            at += size
        return np.array([products[carrier + 1] for carrier in self.carriers]) @ self.homes

    def to_model(self) -> Model:
        """
        Return a model with these coordinates and bodies.

        Each factor becomes a joint of its name between massless frames, named after it; the bodies
        are fixed to those.

        Returns:
            the model.

        Raises:
            ModelError: for screws that belong to no joint.

        >>> product_of_exponentials(model).to_model().nv
        6
        """
        builder = ModelBuilder(self.name, self.gravity)
        frames: list[tuple[str | None, Array]] = [(None, np.eye(4))]
        for factor in self.factors:
            parent, pose = frames[factor.parent + 1]
            joint = _joint(factor)
            frames.append((f'{factor.name}_frame', joint.frame))
            builder.add_body(f'{factor.name}_frame', None)
            bounds = dict(vars(factor.limits))
            if not JOINT_TYPES[joint.type_name].has_bounds:
                del bounds['lower'], bounds['upper']
            builder.add_joint(
                factor.name, joint.type_name, parent, f'{factor.name}_frame',
                placement=se3.inverse(pose) @ joint.frame, axis=joint.axis, pitch=joint.pitch,
                limits=bounds, damping=factor.damping, friction=factor.friction,
                stiffness=factor.stiffness, rest=factor.rest, armature=factor.armature,
                stop_stiffness=factor.stops[:, 0], stop_width=factor.stops[:, 1])
        for body, carrier, home in zip(self.bodies, self.carriers, self.homes):
            parent, pose = frames[carrier + 1]
            builder.add_body(body.name, body.inertia, body.visuals)
            builder.add_joint(f'{body.name}_mount', 'fixed', parent, body.name,
                              placement=se3.inverse(pose) @ home)
        return builder.build()


def product_of_exponentials(model: Model) -> ProductOfExponentials:
    """
    Return the product of exponentials of a model, home at its neutral configuration.

    Args:
        model: a Model.

    Returns:
        the product.

    >>> len(product_of_exponentials(model).factors)
    6
    """
    table, home = model.link_table, ScrewTree(model, model.neutral())
    groups = {joint.vi: joint.name for joint in model.joint_list
              if joint.type_name in ('spherical', 'free')}
    factors = []
    for i in range(table.N):
        vi = int(table.vi[i])
        own = slice(vi, vi + kinds.NV_OF_KIND[table.kind[i]])
        limits = model.limits
        factors.append(Factor(
            groups[vi] if own.stop - vi > 1 else model.coordinate_names[vi],
            int(table.parent[i]), home.screws[own],
            Limits(**{name: values[own] for name, values in vars(limits).items()},
                   nv=own.stop - vi),
            table.damping[own], table.friction[own], table.stiffness[own], table.rest[own],
            table.armature[own], table.stops[own]))
    poses = [np.eye(4), *home.poses]
    homes = [poses[link + 1] @ unpacked(placement)
             for link, placement in zip(table.body_link, table.body_placement)]
    return ProductOfExponentials(
        model.name, model.gravity, tuple(factors), model.body_list,
        tuple(int(link) for link in table.body_link), np.array(homes).reshape(-1, 4, 4))


@dataclass(frozen=True, eq=False)
class _Joint:
    """A factor as a joint: its type, its frame at zero in the ground, axis and pitch."""

    type_name: str
    frame: Array
    axis: Array | None = None
    pitch: float = 0.0


def _joint(factor: Factor) -> _Joint:
    """Return the joint of a factor, or raise ModelError."""
    w, v, frame = factor.screws[:, :3], factor.screws[:, 3:], np.eye(4)
    if len(w) == 1:
        turn, travel = float(np.linalg.norm(w)), float(np.linalg.norm(v))
        pitch, frame[:3, 3] = float(w[0] @ v[0]), np.cross(w[0], v[0])
        if abs(turn - 1.0) <= _ROUNDING:
            if abs(pitch) <= _ROUNDING * max(1.0, travel):
                return _Joint('revolute', frame, w[0])
            return _Joint('helical', frame, w[0], pitch)
        if turn <= _ROUNDING and abs(travel - 1.0) <= _ROUNDING:
            return _Joint('prismatic', frame, v[0])
        raise ModelError(f'factor {factor.name}: expected a screw with a unit axis, '
                         f'got {factor.screws[0].tolist()}')
    # Turns about the axes of a frame through its origin: p = sum of w x v, halved.
    frame[:3, :3], frame[:3, 3] = w[:3].T, 0.5 * np.cross(w[:3], v[:3]).sum(axis=0)
    if len(w) in (3, 6) and np.abs(w[:3] @ w[:3].T - np.eye(3)).max() <= _ROUNDING:
        wanted = se3.adjoint(frame).T[:len(w)]
        if np.abs(factor.screws - wanted).max() <= _ROUNDING * np.abs(wanted).max():
            return _Joint('spherical' if len(w) == 3 else 'free', frame)
    raise ModelError(f'factor {factor.name}: expected the screws of a spherical or a free joint, '
                     f'got {factor.screws.tolist()}')
