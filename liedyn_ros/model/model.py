# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.
"""The immutable tree of bodies and joints that all algorithms work on."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from liedyn_ros.common.checks import Array, as_array, as_number, named_values, unknown_name
from liedyn_ros.common.errors import ModelError, spelled
from liedyn_ros.common.other_names import missing, MODEL_NAMES
from liedyn_ros.jit.bound_kernel import Direct, direct
from liedyn_ros.model import configuration
from liedyn_ros.model.configuration import (
    difference_derivatives, DifferenceDerivatives, retraction_derivatives, RetractionDerivatives)
from liedyn_ros.model.expansion import digest_of, LinkTable
from liedyn_ros.model.parts.body import Body, Frame
from liedyn_ros.model.parts.constraints import Closure, Coupling
from liedyn_ros.model.parts.geometry import IDENTITY
from liedyn_ros.model.parts.joints import concatenate, Joint, JOINT_TYPES, Limits
from liedyn_ros.model.parts.rotors import Rotor


@dataclass(frozen=True, eq=False, repr=False)
class Model(Direct):
    """
    A tree of rigid bodies; made by a loader or by a ModelBuilder, never changed.

    name is the robot's. joint_list[i] moves body_list[i]; parents come before their children.
    link_table has all in arrays. Configurations q are (nq,) and velocities v (nv,), in the order
    of the joints: docs/conventions.md. rotors are the propellers. closures close loops of the
    tree; couplings relate two coordinates, as of mimic joints. Dynamics works on the tree alone,
    ConstrainedDynamics on both. frame_list has the frames added to the bodies' own. warnings are a
    reader's remarks on the description, each with the names concerned and what was done.
    configurations (nq,) are named by the file, such as the keyframes of an MJCF.

    >>> model = ld.load_model(config_file('arm.urdf'))
    >>> model.nq, model.nv, model.bodies[-1]
    (6, 6, 'tool')
    """

    name: str
    body_list: tuple[Body, ...]
    joint_list: tuple[Joint, ...]
    link_table: LinkTable
    rotors: tuple[Rotor, ...] = ()
    couplings: tuple[Coupling, ...] = ()
    closures: tuple[Closure, ...] = ()
    warnings: tuple[str, ...] = ()
    frame_list: tuple[Frame, ...] = ()
    configurations: Mapping[str, Array] = field(default_factory=dict)

    if not TYPE_CHECKING:
        def __getattr__(self, name):
            """Raise AttributeError, which leads from a name of another library to ours."""
            raise missing(self, f'{type(self).__name__!r} object', name, MODEL_NAMES)

    def __repr__(self) -> str:
        """Return the name, the sizes, and whether the base is fixed or floats."""
        floats = bool(self.joint_list) and self.joint_list[0].type_name == 'free'
        return (f'<Model {spelled(self.name)}: {len(self.body_list)} bodies on a '
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
    def digest(self) -> str:
        """Return 16 hexadecimal digits that identify the mechanics and names of this model."""
        return digest_of((self.name, self.body_list, self.joint_list, self.gravity, self.rotors,
                          self.couplings, self.closures))

    @cached_property
    def frames(self) -> tuple[str, ...]:
        """Return the names of the frames: of the bodies, then of added frames."""
        return (*self.bodies, *(frame.name for frame in self.frame_list))

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
        """Return a mask (nv,) of velocity coordinates of actuated joints."""
        return np.array([joint.actuated for joint in self.joint_list
                         for _ in range(JOINT_TYPES[joint.type_name].nv)], dtype=bool)

    @cached_property
    def leading(self) -> NDArray[np.bool_]:
        """Return a mask (nv,): actuated coordinates, and free joints that no closure holds."""
        mask, ground = self.actuated.copy(), set[str | None]([None])
        bases = {joint.child: joint for joint in self.joint_list if joint.type_name == 'free'}
        links = [(joint.parent, joint.child) for joint in self.joint_list
                 if joint.child not in bases] + [
                     (closure.body_a, closure.body_b) for closure in self.closures]
        for base in (None, *bases):
            if base is not None and base not in ground:
                mask[bases[base].v_slice] = True
                ground.add(base)
            before = 0
            while before < len(ground):  # what is joined to the ground, or to a base before
                before = len(ground)
                for ends in (each for each in links if not ground.isdisjoint(each)):
                    ground.update(ends)
        return mask

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
        """Return the mass of all bodies, kg, bodies fixed to the ground included."""
        return sum(body.inertia.mass for body in self.body_list if body.inertia is not None)

    def neutral(self) -> Array:
        """
        Return the configuration of zeros and unit quaternions.

        Returns:
            q (nq,); rad and m.

        >>> model.neutral().shape
        (6,)
        """
        return configuration.neutral(self.link_table)

    def rough_configuration(self, text: str) -> Array:
        """
        Return the neutral configuration, but for positions that a text names.

        Args:
            text: such as 'knee:=0.5 ankle:=-1.2', of joints of one coordinate; rad or m.

        Returns:
            q (nq,).

        Raises:
            ModelError: for other joints, DescriptionError for another form.

        >>> model.rough_configuration('elbow:=0.5')
        array([0. , 0. , 0.5, 0. , 0. , 0. ])
        """
        q = self.neutral()
        for name, value in named_values('start', text).items():
            joint = self.joint(name)
            if JOINT_TYPES[joint.type_name].nv != 1:
                raise ModelError('start: expected joints of one coordinate, got '
                                 f'{name} ({joint.type_name})')
            try:
                q[joint.qi] = as_number(f'start: {name}', float(value))
            except ValueError as error:
                raise ModelError(f'start: expected a number for {name}, got {value!r}') from error
        return q

    def random(self, rng: np.random.Generator) -> Array:
        """
        Return a random configuration within the limits of position.

        Args:
            rng: as numpy.random.default_rng(seed) returns.

        Returns:
            q (nq,); rad and m.

        Raises:
            LiedynError: if rng is no generator.

        >>> model.random(np.random.default_rng(1)).shape
        (6,)
        """
        return configuration.random(self.link_table, self.limits, rng)

    @direct
    def integrate(self, q: ArrayLike, dv: ArrayLike, out: Array | None = None) -> Array:
        """
        Return the configuration after a unit time of a constant velocity, q (+) dv.

        Spherical and free joints follow the exponential of SO(3) and SE(3).

        Args:
            q: configuration (nq,); rad and m.
            dv: velocity times time (nv,); rad and m.
            out: array that takes the result; by default a new one.

        Returns:
            q (nq,).

        Raises:
            NotInGroupError: for a quaternion whose norm is off 1 by over 1e-4.
            LimitError: for too large a dv.
            LiedynError: for other shapes, or numbers that are not finite.

        >>> model.integrate(q, 0.01 * v).shape
        (6,)
        """
        return self._retraction.integrate.answer(q, dv, out)

    def integrate_batch(self, q: ArrayLike, dv: ArrayLike) -> Array:
        """
        Return the configurations after displacements of K configurations, on one core.

        Args:
            q: configurations (K, nq); rad and m.
            dv: displacements (K, nv); rad and m.

        Returns:
            q (K, nq).

        Raises:
            LiedynError: for another shape, or a number that is not finite.

        >>> model.integrate_batch([q, q], np.ones((2, 6))).shape
        (2, 6)
        """
        return self._retraction.integrate_states(q, dv)

    @direct
    def difference(self, q0: ArrayLike, q1: ArrayLike, out: Array | None = None) -> Array:
        """
        Return the dv with q0 (+) dv = q1, rotations by at most pi.

        Args:
            q0: configuration (nq,).
            q1: configuration (nq,).
            out: array that takes the result; by default a new one.

        Returns:
            dv (nv,); rad and m.

        Raises:
            LiedynError: as integrate.

        >>> np.allclose(model.difference(q, model.integrate(q, 0.01 * v)), 0.01 * v)
        True
        """
        return self._retraction.difference.answer(q0, q1, out)

    def interpolate(self, q0: ArrayLike, q1: ArrayLike, fraction: float) -> Array:
        """
        Return the configuration at a fraction of the way between two.

        Args:
            q0: configuration (nq,) at fraction 0.
            q1: configuration (nq,) at fraction 1.
            fraction: of the way.

        Returns:
            q (nq,).

        Raises:
            LiedynError: as integrate.

        >>> np.allclose(model.interpolate(q, q, 0.5), q)
        True
        """
        return self.integrate(q0, as_number('fraction', fraction) * self.difference(q0, q1))

    def integrate_derivatives(self, q: ArrayLike, dv: ArrayLike) -> RetractionDerivatives:
        """
        Return the derivatives of integrate, q (+) dv.

        Args:
            q: configuration (nq,); rad and m.
            dv: displacement (nv,); rad and m.

        Returns:
            by_q and by_dv (nv, nv), in tangents at the result.

        Raises:
            LiedynError: for another shape, or a number that is not finite.

        >>> model.integrate_derivatives(q, np.ones(6)).by_q.shape
        (6, 6)
        """
        self.check_configuration(q)
        return retraction_derivatives(self.link_table, as_array('dv', dv, (self.nv,)))

    def difference_derivatives(self, q0: ArrayLike, q1: ArrayLike) -> DifferenceDerivatives:
        """
        Return the derivatives of difference.

        Args:
            q0: configuration (nq,); rad and m.
            q1: configuration (nq,); rad and m.

        Returns:
            by_q0 and by_q1 (nv, nv), along the tangents at q0 and at q1.

        Raises:
            LiedynError: for another shape, or a number that is not finite.

        >>> np.array_equal(model.difference_derivatives(q, q).by_q1, np.eye(6))
        True
        """
        return difference_derivatives(self.link_table, self.difference(q0, q1))

    def check_configuration(self, q: ArrayLike) -> Array:
        """
        Return a configuration as float64, or raise the error of a wrong one.

        Args:
            q: configuration (nq,); rad and m.

        Returns:
            q (nq,), quaternions of norm 1.

        Raises:
            NotInGroupError: for a quaternion whose norm is off 1 by more than 1e-4.
            LiedynError: for another shape, or a number that is not finite.

        >>> model.check_configuration([0, 0, 0, 0, 0, 0]).dtype
        dtype('float64')
        """
        return configuration.check('q', self.link_table, q)

    def body(self, name: str) -> Body:
        """
        Return a body by name.

        Args:
            name: one of model.bodies.

        Returns:
            the body.

        Raises:
            ModelError: naming the bodies there are.

        >>> model.body('tool').name
        'tool'
        """
        return self.body_list[self.body_index(name)]

    def body_index(self, name: str) -> int:
        """
        Return the place of a body in model.bodies.

        Args:
            name: one of model.bodies.

        Returns:
            the place, from 0.

        Raises:
            ModelError: naming the bodies there are.

        >>> model.body_index(model.bodies[2])
        2
        """
        return _index('body', self._body_index, name)

    def joint(self, name: str) -> Joint:
        """
        Return a joint by name.

        Args:
            name: one of model.joints.

        Returns:
            the joint.

        Raises:
            ModelError: naming the joints there are.

        >>> model.joint('elbow').type_name
        'revolute'
        """
        return self.joint_list[_index('joint', self._joint_index, name)]

    def frame_index(self, name: str) -> int:
        """
        Return the place of a frame in frames.

        Args:
            name: of a frame, or of a joint for the frame of its child body.

        Returns:
            the place, from 0.

        Raises:
            ModelError: for another name.

        >>> model.frames[model.frame_index('tool')]
        'tool'
        """
        return _index('frame', self._frame_index, name)

    def place(self, frame: str) -> tuple[str | None, Array]:
        """
        Return where a frame is fixed.

        Args:
            frame: name of a frame or body.

        Returns:
            the body that carries it, None for the ground, and its pose (4, 4) there, m.

        Raises:
            ModelError: for an unknown frame.

        >>> model.place('tool')[0]
        'tool'
        """
        at = self.frame_index(frame)
        if at < len(self.bodies):
            return self.bodies[at], IDENTITY
        other = self.frame_list[at - len(self.bodies)]
        return other.body, other.placement

    def with_frame(self, name: str, body: str | None, placement: ArrayLike | None = None
                   ) -> Model:
        """
        Return the model with one more frame.

        Args:
            name: of the frame.
            body: that carries it, or another frame, or None for the ground.
            placement: pose (4, 4) in the frame of the body, m; by default the identity.

        Returns:
            another Model.

        Raises:
            ModelError: for a name in use, or a body that is not there.
            LiedynError: for no pose.

        >>> 'camera' in model.with_frame('camera', 'tool', ld.pose([0.05, 0.0, 0.1])).frames
        True
        """
        if name in self._frame_index:
            raise ModelError(f'frame {name}: expected a name not yet used, got it twice')
        frame = Frame(name, body, placement)
        if body is not None:
            carrier, placement = self.place(body)
            frame = Frame(name, carrier, placement @ frame.placement)
        return replace(self, frame_list=(*self.frame_list, frame))

    def _direct_calls(self) -> dict[str, Any]:
        return {'integrate': self._retraction.integrate.direct('q dv out', None),
                'difference': self._retraction.difference.direct('q0 q1 out', None)}

    @cached_property
    def _retraction(self) -> configuration.Retraction:
        return configuration.Retraction(self.link_table)

    @cached_property
    def _frame_index(self) -> dict[str, int]:
        frames = {name: i for i, name in enumerate(self.frames)}
        return frames | self._joint_index | frames  # frames come first, in the list and by name

    @cached_property
    def _body_index(self) -> dict[str, int]:
        return {name: i for i, name in enumerate(self.bodies)}

    @cached_property
    def _joint_index(self) -> dict[str, int]:
        return {name: i for i, name in enumerate(self.joints)}


def _index(what: str, table: dict[str, int], name: str) -> int:
    if isinstance(name, str) and name in table:
        return table[name]
    raise unknown_name(ModelError, what, table, name)
