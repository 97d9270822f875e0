# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""A model put together in Python; the loaders use it too."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike

from liedyn_ros.common.checks import (
    as_array, as_number, as_numbers, listed, require_kind, require_known, unknown_name)
from liedyn_ros.common.errors import ModelError
from liedyn_ros.model.builder_checks import (
    Attachment, axis_names, check_names, depth_first, joint_axes, joint_limits, require_new,
    unlimited, X_AXIS, Z_AXIS)
from liedyn_ros.model.expansion import expand, numbered
from liedyn_ros.model.model import Model
from liedyn_ros.model.parts.body import Body, Frame, SpatialInertia, Visual
from liedyn_ros.model.parts.constraints import Closure, Coupling, make_closure
from liedyn_ros.model.parts.geometry import checked_pose, IDENTITY
from liedyn_ros.model.parts.joints import Joint, joint_forces, JOINT_TYPES, no_forces
from liedyn_ros.model.parts.rotors import Rotor

STANDARD_GRAVITY = (0.0, 0.0, -9.81)
LOOPS_BESIDE = ('leave out a joint that closes a loop, and write it as a closure into a file '
                'beside the model: `loops` of liedyn_ros.load, loops_file of a node')
_COUPLED = 1e-6  # rad or m, by which locked joints may miss their coupling


class ModelBuilder:
    """
    Collects bodies and joints in any order, then builds the model.

    Every body needs exactly one joint that holds or moves it. In the model the joints stand
    depth first, branch after branch, in the order in which they were added.

    >>> builder = ld.ModelBuilder('pendulum')
    >>> builder.add_body('rod', ld.SpatialInertia(1.0, [0.0, 0.0, -0.5], np.zeros((3, 3))))
    >>> builder.add_joint('pivot', 'revolute', None, 'rod', axis=[0.0, 1.0, 0.0])
    >>> ld.Dynamics(builder.build()).gravity_vector([np.pi / 2]).round(3)
    array([4.905])
    """

    def __init__(self, name: str, gravity: ArrayLike = STANDARD_GRAVITY) -> None:
        """
        Start an empty model; gravity (3,) is an acceleration, m/s^2.

        Args:
            name: of the model.
            gravity: (3,), m/s^2, in the ground.
        """
        self._name = name
        self._gravity = as_array('gravity', gravity, (3,))
        self._bodies: dict[str, Body] = {}
        self._joints: dict[str, Joint] = {}  # by the name of the child body
        self._children: dict[str, str] = {}  # by the name of the joint
        self._rotors: list[Rotor] = []
        self._couplings: list[Coupling] = []
        self._warnings: list[str] = []
        self._closures: list[Closure] = []
        self._frames: list[Frame] = []
        self._locked: dict[str, float] = {}

    def __repr__(self) -> str:
        """Return the name, and how much there is."""
        return f'<ModelBuilder {self._name}: {len(self._bodies)} bodies>'

    @classmethod
    def of(cls, model: Model) -> ModelBuilder:
        """
        Return a builder that begins with a model, to add to it.

        Args:
            model: a Model.

        Returns:
            the builder.

        Raises:
            LiedynError: for anything but a Model.

        >>> ModelBuilder.of(model).build().nv
        6
        """
        require_kind('model', model, Model, 'as load_model returns')
        builder = cls(model.name, model.gravity)
        builder._bodies = {body.name: body for body in model.body_list}
        builder._joints = {joint.child: joint for joint in model.joint_list}
        builder._children = {joint.name: joint.child for joint in model.joint_list}
        builder._rotors, builder._couplings = list(model.rotors), list(model.couplings)
        builder._warnings, builder._closures = list(model.warnings), list(model.closures)
        builder._frames = list(model.frame_list)
        return builder

    @property
    def closures(self) -> tuple[Closure, ...]:
        """Return the closures added so far."""
        return tuple(self._closures)

    def make_passive(self, *joints: str) -> None:
        """
        Note that no actuator drives some joints.

        Args:
            joints: their names.

        Raises:
            ModelError: for a missing joint.

        >>> builder = ModelBuilder.of(model)
        >>> builder.make_passive('wrist_3')
        >>> builder.build().actuated.tolist()
        [True, True, True, True, True, False]
        """
        require_known(ModelError, 'passive', sorted(self._children), joints)
        for child in (self._children[name] for name in joints):
            self._joints[child] = replace(self._joints[child], actuated=False)

    def replace_joint(self, joint: str, type_name: str, *, axis: ArrayLike | None = None,
                      second_axis: ArrayLike | None = None) -> None:
        """
        Make a joint one of another type at its place, without limits and forces of its own.

        Args:
            joint: its name.
            type_name: a key of JOINT_TYPES.
            axis: unit vector (3,) in the joint frame, for types that have one.
            second_axis: as in Joint.

        Raises:
            ModelError: for a missing joint, and the errors of add_joint.

        >>> builder = ModelBuilder.of(model)
        >>> builder.replace_joint('wrist_3', 'fixed')
        >>> builder.build().nv
        5
        """
        each = self._joints.pop(self._child(joint))
        del self._children[joint]
        self.add_joint(joint, type_name, each.parent, each.child, placement=each.placement,
                       axis=axis, second_axis=second_axis, actuated=each.actuated)

    def lock_joint(self, joint: str, position: ArrayLike) -> None:
        """
        Make a joint a fixed one, at a position of it.

        Its limits, damping, friction, spring and armature go, and couplings between locked joints.
        Joints that couplings then hold, such as its mimic joints, are locked with it.

        Args:
            joint: its name.
            position: (nq,) of the joint, or a number; rad or m.

        Raises:
            ModelError: for a missing joint, or positions that contradict a coupling.

        >>> builder = ld.ModelBuilder.of(model)
        >>> builder.lock_joint('elbow', 0.5)
        >>> builder.build().nv
        5
        """
        each = self._joints[self._child(joint)]
        if each.type_name == 'fixed' and joint in self._locked:
            self._require_held(joint, self._locked[joint], position)
            return
        placement = each.placement @ each.motion(position)
        locked = {**self._locked, **dict(zip(
            axis_names(each), np.atleast_1d(as_numbers('position', position)).tolist()))}
        self._couplings, self._locked = self._not_locked(locked), locked
        self._joints[each.child] = replace(
            each, type_name='fixed', placement=checked_pose(f'joint {joint}', placement),
            axis=Z_AXIS, second_axis=X_AXIS, pitch=0.0, limits=unlimited(0), **no_forces())
        self._lock_followers()

    def _child(self, joint: str) -> str:
        """Return the body that a joint moves."""
        if joint not in self._children:
            raise unknown_name(ModelError, 'joint', sorted(self._children), joint)
        return self._children[joint]

    def _lock_followers(self) -> None:
        """Lock a joint that is the only one of a coupling which moves, then others."""
        axes = {each.name for each in self._joints.values() if axis_names(each) == (each.name,)}
        for each in self._couplings:
            factors = {each.joint: -1.0, **dict(each.terms)}
            left = factors.keys() - self._locked.keys()
            if len(left) == 1 and left <= axes and factors[name := left.pop()]:
                known = each.offset + sum(
                    factors[other] * self._locked[other] for other in factors if other != name)
                self.lock_joint(name, -known / factors[name])
                return  # which has locked the others

    def _require_held(self, joint: str, held: float, given: ArrayLike) -> None:
        """Raise ModelError for another position of a joint than couplings hold."""
        if (np.abs(as_numbers('position', given) - held) > _COUPLED).any():
            raise ModelError(f'joint {joint}: expected a position of {held:.6g}, which its '
                             f'coupling gives with the locked joints, got {given!r}',
                             names=[f'joint {joint}'], expected=held, got=given)

    def _not_locked(self, locked: Mapping[str, float]) -> list[Coupling]:
        """Return the couplings of joints that move; raise ModelError where one is contradicted."""
        kept = []
        for each in self._couplings:
            if not locked.keys() >= {each.joint, *(name for name, _ in each.terms)}:
                kept.append(each)
                continue
            wanted = each.offset + sum(
                factor * locked[name] for name, factor in each.terms)
            self._require_held(each.joint, wanted, locked[each.joint])
        return kept

    def add_model(self, model: Model, body: str | None, *, placement: ArrayLike | None = None,
                  prefix: str = '') -> None:
        """
        Add all of a model whose base is fixed, on a body, as a tool on an arm.

        Gravity stays as in this builder.

        Args:
            model: to add.
            body: that carries it, or None for the ground.
            placement: pose (4, 4) of the model's ground in the body, m; by default the identity.
            prefix: of each of its names.

        Raises:
            ModelError: for a name that is used, and for a base that moves freely.

        >>> builder = ld.ModelBuilder.of(model)
        >>> builder.add_model(model, 'tool', prefix='second_')
        >>> builder.build().nv
        12
        """
        to = Attachment(prefix, body, IDENTITY if placement is None else checked_pose(
            'placement', placement))
        joints = [to.joint(joint) for joint in model.joint_list]  # which may refuse it
        known = {closure.name for closure in self._closures}
        again = [prefix + each.name for each in model.closures if prefix + each.name in known]
        if again:
            raise ModelError(f'closures {listed(again)}: expected names not yet used')
        for each in model.body_list:
            self.add_body(prefix + each.name, each.inertia, each.visuals)
        for joint in joints:
            self._check_new_joint(joint.name, joint.type_name, joint.child)
            self._joints[joint.child], self._children[joint.name] = joint, joint.child
        for rotor in map(to.rotor, model.rotors):
            self.add_rotor(rotor)
        self._couplings += map(to.coupling, model.couplings)
        self._closures += map(to.closure, model.closures)
        self._frames += map(to.frame, model.frame_list)
        self._warnings += model.warnings

    def add_payload(self, name: str, frame: str, inertia: SpatialInertia | None,
                    placement: ArrayLike | None = None) -> None:
        """
        Add a body on a fixed joint: what an arm has picked up.

        Args:
            name: of the body.
            frame: a body or an added frame that holds it.
            inertia: mass (kg), centre (m) and inertia (kg m^2) of the body; None for none.
            placement: pose (4, 4) of the body in the frame, m; by default the identity.

        Raises:
            ModelError: for a name that is used or missing.

        >>> builder = ld.ModelBuilder.of(model)
        >>> box = ld.SpatialInertia(2, np.zeros(3), 0.01 * np.eye(3))
        >>> builder.add_payload('box', 'tool', box)
        >>> round(builder.build().mass - model.mass, 6)
        2.0
        """
        names = [*self._bodies, *(each.name for each in self._frames)]
        if frame not in names:
            raise unknown_name(ModelError, f'payload {name}: frame', names, frame)
        require_new('payload', name, names)
        body, pose = frame, IDENTITY if placement is None else checked_pose(
            'placement', placement)
        for each in self._frames:
            if each.name == frame:
                if each.body is None:
                    raise ModelError(f'payload {name}: expected a frame on a body, got {frame}')
                body, pose = each.body, each.placement @ pose
        self.add_body(name, inertia)
        self.add_joint(f'{name}_grip', 'fixed', body, name, placement=pose)

    def add_body(self, name: str, inertia: SpatialInertia | None,
                 visuals: Sequence[Visual] = ()) -> None:
        """
        Add a body.

        Args:
            name: of the body.
            inertia: a SpatialInertia, or None for a massless body.
            visuals: shapes that views draw.

        Raises:
            ModelError: for a name that is used.

        >>> ld.ModelBuilder('leg').add_body('shin', None)
        """
        require_new('body', name, self._bodies)
        self._bodies[name] = Body(name, inertia, tuple(visuals))

    def add_joint(
            self, name: str, type_name: str, parent: str | None, child: str, *,
            placement: ArrayLike | None = None, axis: ArrayLike | None = None,
            second_axis: ArrayLike | None = None, pitch: float = 0.0,
            limits: Mapping[str, ArrayLike] | None = None,
            damping: ArrayLike = 0.0, friction: ArrayLike = 0.0, stiffness: ArrayLike = 0.0,
            rest: ArrayLike = 0.0, armature: ArrayLike = 0.0, stop_stiffness: ArrayLike = 0.0,
            stop_width: ArrayLike = 0.0, actuated: bool | None = None) -> None:
        """
        Add a joint, see Joint.

        Args:
            name: a new name.
            type_name: a key of JOINT_TYPES.
            parent: name of the body that holds it, None for the ground.
            child: name of the body that it moves.
            placement: pose (4, 4) of the joint frame in the parent body, m; by default the
                identity.
            axis: (3,) in the joint frame, for types that have one.
            second_axis: (3,) in the joint frame: needed by universal joints, planar ones may have
                one.
            pitch: of helical joints; m/rad.
            limits: any of lower, upper, velocity and effort, as for Limits.
            damping: one number, or one for each degree of freedom, as what follows; N m s/rad or N
                s/m.
            friction: N m or N.
            stiffness: of springs; N m/rad or N/m.
            rest: position where a spring is free; rad or m.
            armature: inertia of motors, reduced to the joint; kg m^2 or kg.
            stop_stiffness: of end stops; N m/rad or N/m.
            stop_width: how softly end stops begin; rad or m.
            actuated: whether the joint has a motor; by default all have but free ones.

        Raises:
            ModelError: for a wrong type, name or axis.
            LiedynError: for a number out of its range, another shape, or a wrong pose.

        >>> builder = ModelBuilder('pendulum')
        >>> builder.add_body('rod', ld.SpatialInertia(1.0, [0.0, 0.0, -0.5], np.zeros((3, 3))))
        >>> builder.add_joint('pivot', 'revolute', None, 'rod', axis=[0.0, 1.0, 0.0])
        >>> builder.build().nv
        1
        """
        self._check_new_joint(name, type_name, child)
        z, x = joint_axes(name, type_name, axis, second_axis)
        if pitch != 0.0 and type_name != 'helical':
            raise ModelError(f'joint {name}: expected no pitch for type {type_name}, got {pitch}')
        bounds = joint_limits(name, type_name, limits or {})
        self._joints[child] = Joint(
            name, type_name, parent, child,
            placement=IDENTITY if placement is None else checked_pose(
                f'joint {name}: placement', placement),
            axis=z, second_axis=x, pitch=as_number(f'joint {name}: pitch', pitch),
            limits=bounds, actuated=type_name != 'free' if actuated is None else actuated,
            **joint_forces(name, type_name, bounds, {
                'damping': damping, 'friction': friction, 'stiffness': stiffness, 'rest': rest,
                'armature': armature, 'stop_stiffness': stop_stiffness,
                'stop_width': stop_width}))
        self._children[name] = child

    def _check_new_joint(self, name: str, type_name: str, child: str) -> None:
        if type_name not in JOINT_TYPES:
            raise unknown_name(ModelError, f'joint {name}', JOINT_TYPES, type_name, 'a type')
        require_new('joint', name, self._children)
        if child in self._joints:
            raise ModelError(f'joint {name}: expected a child body that no joint moves yet, got '
                             f'{child}, which joint {self._joints[child].name} moves; '
                             f'{LOOPS_BESIDE}')

    def add_rotor(self, rotor: Rotor) -> None:
        """
        Add a propeller.

        Args:
            rotor: a Rotor with a new name, on a body of the model.

        Raises:
            ModelError: for a name that is used.

        >>> builder = ModelBuilder.of(model)
        >>> builder.add_rotor(Rotor('fan', 'tool', np.eye(4), force_coefficient=1e-5,
        ...                         moment_coefficient=1e-7, spin=1, max_speed=800.0))
        >>> len(builder.build().rotors)
        1
        """
        require_new('rotor', rotor.name, [each.name for each in self._rotors])
        self._rotors.append(rotor)

    def add_coupling(self, joint: str, leader: str, multiplier: float, offset: float,
                     further: Mapping[str, float] | None = None) -> None:
        """
        Note that q_joint = multiplier * q_leader + offset.

        Args:
            joint: one of Model.coordinate_names, about or along one axis: of a joint of one
                coordinate, or as 'slide/angle'.
            leader: another one.
            multiplier: rad or m by rad or m.
            offset: rad or m.
            further: other leaders with their multipliers, whose products are added.

        >>> builder = ModelBuilder.of(model)
        >>> builder.add_coupling('wrist_3', 'wrist_2', -1.0, 0.0)
        >>> len(builder.build().couplings)
        1
        """
        self._couplings.append(Coupling(
            joint, leader, multiplier, offset, tuple((further or {}).items())))

    def add_warning(self, *texts: str) -> None:
        """
        Keep remarks on the description, for users of the model.

        Args:
            texts: sentences.

        >>> builder = ModelBuilder.of(model)
        >>> builder.add_warning('the tool has no mass')
        >>> builder.build().warnings[-1]
        'the tool has no mass'
        """
        self._warnings.extend(texts)

    def add_closure(
            self, name: str, type_name: str, body_a: str | None, body_b: str | None, *,
            placement_a: ArrayLike | None = None, placement_b: ArrayLike | None = None,
            axis: ArrayLike | None = None, second_axis: ArrayLike | None = None,
            pitch: float = 0.0, length: float = 0.0, tolerance: float = 0.0) -> None:
        """
        Close a loop by a joint between two bodies, see Closure.

        Args:
            name: a new name.
            type_name: a key of CLOSURE_TYPES.
            body_a: name of a body, None for the ground.
            body_b: name of another one, None for the ground.
            placement_a: pose (4, 4) of the closure frame in body a, m; by default the identity.
            placement_b: pose (4, 4) of the closure frame in body b, m.
            axis: (3,) in the closure frame, by default z; of a universal closure that of body a,
                by default x.
            second_axis: of a universal closure, the axis in body b, by default y.
            pitch: of a helical closure; m/rad.
            length: of a rod; m.
            tolerance: gap accepted where rounded numbers contradict each other, by default none;
                m.

        Raises:
            ModelError: for a wrong type, name or axis.
            LiedynError: for another shape or a wrong pose.

        >>> builder = ModelBuilder.of(model)
        >>> builder.add_closure('grip', 'spherical', None, 'tool')
        >>> len(builder.build().closures)
        1
        """
        require_new('closure', name, [each.name for each in self._closures])
        self._closures.append(make_closure(
            name, type_name, body_a, body_b, placement_a=placement_a, placement_b=placement_b,
            axis=axis, second_axis=second_axis, pitch=pitch, length=length, tolerance=tolerance))

    def build(self) -> Model:
        """
        Return the model of the parts.

        Returns:
            the Model.

        Raises:
            ModelError: if the parts are not a tree.

        >>> ld.ModelBuilder.of(model).build().nv
        6
        """
        if not self._bodies:
            raise ModelError(f'model {self._name}: expected at least one body, got none')
        check_names(
            self._bodies, self._joints, self._rotors, self._closures, self._couplings)
        joints = numbered(depth_first(self._joints))
        bodies = tuple(self._bodies[joint.child] for joint in joints)
        model = Model(self._name, bodies, joints, expand(bodies, joints, self._gravity),
                      tuple(self._rotors), tuple(self._couplings), tuple(self._closures),
                      warnings=tuple(self._warnings))
        for frame in self._frames:
            model = model.with_frame(frame.name, frame.body, frame.placement)
        return model
