# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Warnings of a compiled MJCF's unread forces and motions, each named."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from liedyn_ros.common.checks import listed
from liedyn_ros.model.io.mjcf.compiler import Compiled

_AXIAL = 2  # joints from this number on have one axis: slide, hinge
_TENDON = {'stiffness': 'spring', 'damping': 'damper', 'frictionloss': 'friction',
           'armature': 'inertia'}


def driven_joints(compiled: Compiled) -> set[str] | None:
    """Return the joints that actuators drive; None where a file has no actuator."""
    there = compiled.model
    if not there.nu:
        return None
    return {compiled.joints[joint] for i in range(len(there.actuator_trntype))
            for joint, _ in _transmission(compiled, i)}


def motors(compiled: Compiled) -> tuple[dict[int, float], dict[int, float]]:
    """Return armature and damping that actuators add to joints of one axis, by gear squared."""
    armature, damping = dict[int, float](), dict[int, float]()
    for i in range(len(compiled.model.actuator_trntype)):
        ways = _transmission(compiled, i)
        if len(ways) == 1 and compiled.model.jnt_type[ways[0][0]] >= _AXIAL:
            (joint, gear), = ways
            for key, found in (('armature', armature), ('damping', damping)):
                found[joint] = found.get(joint, 0.0) + gear**2 * _of_motor(compiled, key, i)
    return armature, damping


def _of_motor(compiled: Compiled, key: str, actuator: int) -> float:
    """Return a number of an actuator, which older releases of MuJoCo lack."""
    values = getattr(compiled.model, f'actuator_{key}', None)
    return 0.0 if values is None else float(values[actuator])


def _transmission(compiled: Compiled, actuator: int) -> list[tuple[int, float]]:
    """Return the joints that an actuator moves, with their gears; none for other kinds."""
    there, kinds = compiled.model, compiled.lib.mjtTrn
    kind, target = int(there.actuator_trntype[actuator]), int(there.actuator_trnid[actuator, 0])
    gear = float(there.actuator_gear[actuator, 0])
    if kind in (kinds.mjTRN_JOINT, kinds.mjTRN_JOINTINPARENT):
        return [(target, gear)]
    if kind == kinds.mjTRN_TENDON:
        return [(joint, gear * factor) for joint, factor in sum_of(compiled, target) or []]
    return []


def sum_of(compiled: Compiled, tendon: int) -> list[tuple[int, float]] | None:
    """Return the joints of a fixed tendon with their factors; None for another."""
    there = compiled.model
    first = there.tendon_adr[tendon]
    wraps = range(first, first + there.tendon_num[tendon])
    if any(int(there.wrap_type[i]) != compiled.lib.mjtWrap.mjWRAP_JOINT for i in wraps):
        return None
    return [(int(there.wrap_objid[i]), float(there.wrap_prm[i])) for i in wraps]


def unread(compiled: Compiled) -> Iterator[str]:
    """Yield a warning for each unread part that would change the dynamics, with a remedy."""
    there = compiled.model
    yield from (f'MuJoCo: {" ".join(each.split())}' for each in compiled.remarks)
    yield from _of_joints(compiled)
    for value in sorted(set(there.body_gravcomp) - {0.0}):
        names = [str(name) for name, each in zip(compiled.bodies, there.body_gravcomp)
                 if each == value]
        yield f'bodies {listed(names)}: gravcomp {value:g} not read: gravity acts on them'
    names = [str(name) for name, each in zip(compiled.bodies, there.body_mocapid) if each >= 0]
    if names:
        yield f'bodies {listed(names)}: mocap not read: they stay where they are'
    fluid = [key for key in ('density', 'viscosity', 'wind') if np.any(getattr(there.opt, key))]
    if fluid:
        yield f'option {listed(fluid)} not read: no medium resists the motion'
    if there.nplugin:
        yield 'plugins not read: their forces are missing'
    if there.nflex:
        yield 'flexes not read: the forces between their bodies are missing'
    if not compiled.is_off('PASSIVE', 'SPRING', 'DAMPER'):
        yield from _of_tendons(compiled)
    actuators = [compiled.name('ACTUATOR', i) or f'actuator_{i}'
                 for i in range(len(there.actuator_trntype))]
    added = [name for i, name in enumerate(actuators) if any(
        _of_motor(compiled, key, i) for key in ('armature', 'damping')) and not (
            len(ways := _transmission(compiled, i)) == 1 and there.jnt_type[ways[0][0]] >= _AXIAL)]
    if added:
        yield (f'actuators {listed(added)}: armature and damping not read: add them to the mass '
               'matrix and to the efforts')
    laws = [name for name, kind in zip(actuators, there.actuator_biastype) if kind]
    left = [f'laws of actuators {listed(laws)} (add their efforts to tau)'] if laws else []
    if not compiled.is_off('CONTACT', 'CONSTRAINT') and _touch(there):
        left.append('contacts (see docs/guides/contacts.md)')
    if there.neq and not compiled.is_off('EQUALITY', 'CONSTRAINT'):
        left.append('softness of equality constraints, which are exact here')
    if left:
        yield f'not read: {"; ".join(left)}'


def _of_joints(compiled: Compiled) -> Iterator[str]:
    there = compiled.model

    def named(values: ArrayLike, dofs: bool = False) -> list[str]:
        """Return the joints for which numbers, one a joint or a coordinate, are not zero."""
        rows = np.asarray(values)
        which = [bool(np.any(row)) for row in rows]
        at: Sequence[Any] = there.jnt_dofadr if dofs else range(there.njnt)
        return [name for name, i in zip(compiled.joints, at) if which[i]]

    turning = np.repeat(there.jnt_type < _AXIAL, [(6, 3, 1, 1)[kind] for kind in there.jnt_type])
    several = there.jnt_type < _AXIAL
    limited = several & (there.jnt_limited != 0)
    for names, text in (
            (named(turning * there.dof_armature, True),
             'armature of a ball or free joint not read: add it to the mass matrix'),
            (named(several * there.jnt_stiffness),
             'stiffness of a ball or free joint not read: add the spring to the efforts'),
            (named(getattr(there, 'dof_dampingpoly', np.zeros(there.nv)), True),
             'damping beyond its first number not read'),
            (named(getattr(there, 'jnt_stiffnesspoly', np.zeros(there.njnt))),
             'stiffness beyond its first number not read'),
            (named(limited), 'the range of a ball joint is not read')):
        if names:
            yield f'joints {listed(names)}: {text}'


def _of_tendons(compiled: Compiled) -> Iterator[str]:
    """Name the forces of tendons; lengths that equality constraints hold are read by these."""
    there = compiled.model
    for key, force in _TENDON.items():
        values = getattr(there, f'tendon_{key}', np.zeros(there.ntendon))
        names = [compiled.name('TENDON', i) or f'tendon_{i}'
                 for i in range(there.ntendon) if values[i]]
        if names:
            yield f'tendons {listed(names)}: {force} not read: add it to the efforts'


def _touch(there: Any) -> bool:
    """Return whether two shapes of different bodies may touch."""
    kinds = {(int(a), int(b)) for a, b in zip(there.geom_contype, there.geom_conaffinity)}
    return len(set(there.geom_bodyid)) > 1 and any(
        a[0] & b[1] or b[0] & a[1] for a in kinds for b in kinds)
