# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The immutable tree of bodies and joints that all algorithms work on."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray

from liedyn_ros.common.checks import Array
from liedyn_ros.common.errors import ModelError
from liedyn_ros.model import configuration
from liedyn_ros.model.body import Body
from liedyn_ros.model.constraints import Closure, Coupling
from liedyn_ros.model.joints import concatenate, Joint, JOINT_TYPES, Limits
from liedyn_ros.model.link_table import LinkTable
from liedyn_ros.model.rotors import Rotor


@dataclass(frozen=True, eq=False, repr=False)
class Model:
    """
    A tree of rigid bodies; made by a loader or by a ModelBuilder, never changed.

    joint_list[i] moves body_list[i]; parents come before their children. Configurations q are
    (nq,) and velocities v (nv,), in the order of the joints. docs/conventions.md says what a joint
    of each type puts into them. rotors are the propellers. closures are the joints that close
    loops of the tree; couplings are relations of two coordinates, such as mimic joints. Dynamics
    works on the tree alone, ConstrainedDynamics on the tree with both. warnings are a reader's
    remarks on the description, each with the names concerned and what was done.
    """

    name: str
    body_list: tuple[Body, ...]
    joint_list: tuple[Joint, ...]
    link_table: LinkTable
    rotors: tuple[Rotor, ...] = ()
    couplings: tuple[Coupling, ...] = ()
    closures: tuple[Closure, ...] = ()
    warnings: tuple[str, ...] = ()

    def __repr__(self) -> str:
        """Return the name, the sizes, and whether the base is fixed or floats."""
        floats = bool(self.joint_list) and self.joint_list[0].type_name == 'free'
        return (f'<Model {self.name}: {len(self.body_list)} bodies on a '
                f'{"floating" if floats else "fixed"} base, nq={self.nq}, nv={self.nv}>')

    @cached_property
    def bodies(self) -> tuple[str, ...]:
        """Return the names of the bodies, parents first."""
        return tuple(body.name for body in self.body_list)

    @cached_property
    def joints(self) -> tuple[str, ...]:
        """Return the names of the joints, the fixed ones too, in the order of their bodies."""
        return tuple(joint.name for joint in self.joint_list)

    @cached_property
    def coordinate_names(self) -> tuple[str, ...]:
        """Return one name per velocity coordinate, e.g. 'elbow' or 'base/wx'."""
        return tuple(name for joint in self.joint_list for name in joint.coordinate_names)

    @cached_property
    def limits(self) -> Limits:
        """Return the bounds of all velocity coordinates."""
        return concatenate([joint.limits for joint in self.joint_list])

    @cached_property
    def actuated(self) -> NDArray[np.bool_]:
        """Return which velocity coordinates (nv,) belong to actuated joints."""
        return np.array([joint.actuated for joint in self.joint_list
                         for _ in range(JOINT_TYPES[joint.type_name].nv)], dtype=bool)

    @property
    def nq(self) -> int:
        """Return the length of a configuration."""
        return self.link_table.nq

    @property
    def nv(self) -> int:
        """Return the number of degrees of freedom."""
        return self.link_table.nv

    @property
    def gravity(self) -> Array:
        """Return gravity, the acceleration (3,) in the ground frame, m/s^2."""
        return self.link_table.gravity

    @cached_property
    def mass(self) -> float:
        """Return the mass of all bodies, kg, those fixed to the ground included."""
        return sum(body.inertia.mass for body in self.body_list if body.inertia is not None)

    def neutral(self) -> Array:
        """Return the configuration (nq,) of zeros and unit quaternions."""
        return configuration.neutral(self.link_table)

    def random(self, rng: np.random.Generator) -> Array:
        """
        Return a random configuration (nq,) within the limits of position.

        Raises LiedynError where rng is no generator, as numpy.random.default_rng(seed) is.
        """
        return configuration.random(self.link_table, self.limits, rng)

    def integrate(self, q: ArrayLike, dv: ArrayLike) -> Array:
        """
        Return q (+) dv (nq,): the configuration after a unit time of the constant velocity dv.

        Spherical and free joints follow the exponential of SO(3) and SE(3). Raises ShapeError,
        NotFiniteError, NotInGroupError for a quaternion whose norm is off 1 by over 1e-4, or
        LimitError for too large a dv.
        """
        return configuration.integrate(self.link_table, q, dv)

    def difference(self, q0: ArrayLike, q1: ArrayLike) -> Array:
        """
        Return the dv (nv,) with q0 (+) dv = q1, rotations by at most pi.

        Raises the errors of integrate.
        """
        return configuration.difference(self.link_table, q0, q1)

    def check_configuration(self, q: ArrayLike) -> Array:
        """Return q as float64 (nq,), with the errors of integrate."""
        return configuration.check('q', self.link_table, q)

    def body(self, name: str) -> Body:
        """Return a body, or raise ModelError naming the bodies there are."""
        return self.body_list[self.body_index(name)]

    def body_index(self, name: str) -> int:
        """Return the place of a body in bodies, or raise ModelError."""
        return _index('body', self._body_index, name)

    def joint(self, name: str) -> Joint:
        """Return a joint, or raise ModelError naming the joints there are."""
        return self.joint_list[_index('joint', self._joint_index, name)]

    @cached_property
    def _body_index(self) -> dict[str, int]:
        return {name: i for i, name in enumerate(self.bodies)}

    @cached_property
    def _joint_index(self) -> dict[str, int]:
        return {name: i for i, name in enumerate(self.joints)}


def _index(what: str, table: dict[str, int], name: str) -> int:
    if name not in table:
        raise ModelError(f'{what}: expected one of {list(table)}, got {name!r}')
    return table[name]
