# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.
"""
Random robot files from the schemas of MJCF, URDF and SDF beside the library of each format.

    python -m benchmarks.algorithms.random_files mjcf|urdf|sdf [COUNT [SEED [FOLDER]]]

MJCF stands beside MuJoCo, URDF beside Pinocchio, SDF beside Drake (where it is installed). Each
file is equal in all that is compared: masses, accelerations or mass matrix and bias forces at a
random state, places of links, limits, damping and friction. What a warning names is turned off in
the other library, and only that, so that a drop without a word differs; so does a word that nobody
knows and no warning names. Files that differ are written into the folder.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from functools import partial
from pathlib import Path
import re
import sys
from typing import Any
import warnings

import numpy as np
from tools.random_robots import ODD, Robots

from benchmarks.algorithms.robot_witnesses import moving, refused
from liedyn_ros.common.checks import Array
from liedyn_ros.common.errors import LiedynError
from liedyn_ros.dynamics import Dynamics, Layout, MUJOCO
from liedyn_ros.model import JOINT_TYPES, load_mjcf, load_model, Model

SAME = 1e-6  # of the largest number; files have four digits, meshes single precision
_FLAG = 'mjDSBL_'
_CLEARED = {  # rows of MuJoCo's model by the warning that names them
    r'bodies (\[[^]]*\]): gravcomp': 'body_gravcomp',
    r'tendons (\[[^]]*\]): spring': 'tendon_stiffness tendon_stiffnesspoly',
    r'tendons (\[[^]]*\]): damper': 'tendon_damping tendon_dampingpoly',
    r'tendons (\[[^]]*\]): friction': 'tendon_frictionloss',
    r'tendons (\[[^]]*\]): inertia': 'tendon_armature',
    r'tendons (\[[^]]*\]): range': 'tendon_limited',
    r'actuators (\[[^]]*\]): armature and damping': 'actuator_armature actuator_damping',
    r'actuators (\[[^]]*\]): damping beyond': 'actuator_dampingpoly',
    r'joints (\[[^]]*\]): damping beyond': 'dof_dampingpoly',
    r'joints (\[[^]]*\]): stiffness beyond': 'jnt_stiffnesspoly',
    r'joints (\[[^]]*\]): armature': 'dof_armature',
    r'joints (\[[^]]*\]): stiffness of': 'jnt_stiffness jnt_stiffnesspoly',
    r'joints (\[[^]]*\]): the range': 'jnt_limited'}
_OFF = {'contacts': 'CONTACT', 'laws of actuators': 'ACTUATION', 'softness of': 'EQUALITY',
        'equality': 'EQUALITY'}


def of_mjcf(text: str, path: Path) -> str:
    """Return the outcome of an MJCF beside MuJoCo."""
    import mujoco

    mujoco.set_mju_user_warning(lambda message: None)  # else it writes a file here
    try:
        spec = mujoco.MjSpec.from_string(text)
        spec.compiler.fusestatic = False  # it takes bodies away, with their masses
        there, why = spec.compile(), ''
    except ValueError as error:
        there, why = None, str(error)
    try:
        model = load_mjcf(text)
    except LiedynError:
        return 'refused by both' if why else 'refused here alone'
    if why:
        return 'read here alone'
    said = ' '.join(model.warnings)
    if there.nv != model.nv or abs(there.body_mass.sum() - model.mass) > SAME * model.mass:
        return 'differs: degrees of freedom or mass'
    if not model.nv:
        return 'equal, without motion'
    if limits_apart(there, model):
        return 'differs: limits'
    _silence(mujoco, there, said)
    rng, layout, dynamics = np.random.default_rng(1), Layout(model, MUJOCO), Dynamics(model)
    q, v, data = model.random(rng), 0.5 * rng.normal(size=model.nv), mujoco.MjData(there)
    data.qpos[:], data.qvel[:] = layout.configuration(q), layout.velocity(q, v)
    friction = model.link_table.friction
    if off(np.sort(friction), np.sort(_of_dof(mujoco, there))) > SAME:
        return 'differs: friction'
    there.dof_frictionloss[:] = 0.0  # a soft constraint there
    mujoco.mj_forward(there, data)
    for i in range(1, there.nbody):
        pose = dynamics.frames.pose(q, there.body(i).name or f'body_{i}')
        if off(pose[:3, 3], data.xpos[i], 1.0) > SAME:
            return 'differs: places'
    for i in range(there.nsite):
        if off(dynamics.frames.pose(q, there.site(i).name)[:3, 3], data.site_xpos[i], 1.0) > SAME:
            return 'differs: sites'
    a = rng.normal(size=model.nv)
    data.qacc[:] = layout.acceleration(q, v, a)
    mujoco.mj_inverse(there, data)  # which needs no inverse of a mass matrix
    theirs = layout.from_effort(q, data.qfrc_inverse - data.qfrc_actuator)
    apart = off(dynamics.inverse(q, v, a) - friction * np.sign(v), theirs, 1.0)
    return 'equal' if apart < SAME else 'differs: efforts'


def limits_apart(there: Any, model: Model) -> bool:
    """Return whether a joint of one axis has other bounds than in MuJoCo's model."""
    for i in range(there.njnt):
        bounds = model.joint(there.joint(i).name or f'joint_{i}').limits
        if there.jnt_type[i] >= 2:
            low, high = there.jnt_range[i] if there.jnt_limited[i] else (-np.inf, np.inf)
            if (bounds.lower[0], bounds.upper[0]) != (low, high):
                return True
    return False


def _of_dof(mujoco: Any, there: Any) -> Array:
    """Return the friction of each degree of freedom, none where it is turned off."""
    flags = mujoco.mjtDisableBit
    still = int(flags.mjDSBL_FRICTIONLOSS | flags.mjDSBL_CONSTRAINT)
    return np.array(there.dof_frictionloss) * (not there.opt.disableflags & still)


def _silence(mujoco: Any, there: Any, said: str) -> None:
    """Turn off what is named, and limits of joints, which are those of the model here."""
    flags = mujoco.mjtDisableBit
    there.jnt_limited[there.jnt_type >= 2] = 0
    there.opt.enableflags &= ~int(mujoco.mjtEnableBit.mjENBL_INVDISCRETE)  # of steps, not forces
    there.opt.disableflags |= int(sum({  # each flag once
        int(getattr(flags, _FLAG + flag)) & ~there.opt.disableflags
        for word, flag in _OFF.items() if word in said}))
    there.body_simple[:] = there.dof_simplenum[:] = 0  # whose inertia is not computed anew
    for key in ('density', 'viscosity'):
        if re.search(rf'option [^:]*{key}', said):
            setattr(there.opt, key, 0.0)
    for words, rows in _CLEARED.items():
        named = ' '.join(re.findall(words, said))
        for row in rows.split() if named else ():
            kind = row.partition('_')[0].replace('jnt', 'joint').replace('dof', 'joint')
            of = range(len(getattr(there, row))) if not row.startswith('dof') else there.dof_jntid
            for i, part in enumerate(of):
                if repr(getattr(there, kind)(part).name or f'{kind}_{part}') in named:
                    getattr(there, row)[i] = 0


def of_library(form: str, text: str, path: Path) -> str:
    """Return the outcome of a URDF beside Pinocchio, or of an SDF beside Drake."""
    path.write_text(re.sub(ODD, '', text), encoding='utf-8')
    try:
        model = load_model(text)
    except LiedynError:
        return 'refused by both' if refused(path) else 'refused here alone'
    said = ' '.join(model.warnings)
    if bool(re.search(ODD, text)) != ('odd' in said):
        return 'differs: an odd word without a warning'
    if not model.nv:
        return 'read here alone' if refused(path) else 'equal, without motion'
    try:
        q, v, mass, bias, _ = moving(path, model)
    except (ValueError, RuntimeError, ImportError) as error:
        return 'read here alone' if refused(path) else f'differs: {error}'
    dynamics = Dynamics(model, dissipation=False)
    apart = max(off(dynamics.mass_matrix(q), mass),
                off(dynamics.inverse(q, v, np.zeros(model.nv)), bias, np.abs(mass).max()))
    if apart > SAME:
        return 'differs: mass matrix or bias'
    return 'equal' if form == 'sdf' or not _pinocchio_apart(path, model) else 'differs: limits'


def _pinocchio_apart(path: Path, model: Model) -> bool:
    """Return whether limits, damping or friction are others than Pinocchio's."""
    import pinocchio as pin

    there = pin.buildModelFromUrdf(str(path))
    for joint in (each for each in model.joint_list if JOINT_TYPES[each.type_name].nv == 1):
        i = there.joints[there.getJointId(joint.name)]
        pairs = [(joint.damping[0], there.damping[i.idx_v]),
                 (joint.friction[0], there.friction[i.idx_v]),
                 (joint.limits.velocity[0], there.velocityLimit[i.idx_v]),
                 (joint.limits.effort[0], there.effortLimit[i.idx_v])]
        if joint.type_name != 'continuous':
            pairs += [(joint.limits.lower[0], there.lowerPositionLimit[i.idx_q]),
                      (joint.limits.upper[0], there.upperPositionLimit[i.idx_q])]
        if any(min(abs(a), 1e9) != min(abs(b), 1e9) for a, b in pairs):
            return True
    return False


def off(mine: Array, theirs: Array, least: float = 0.0) -> float:
    """Return the largest difference, relative to the largest entry, or to what is least."""
    return float(np.abs(mine - theirs).max(initial=0.0)
                 / (max(least, np.abs(theirs).max(initial=0.0)) or 1.0))


OUTCOMES: dict[str, tuple[str, Callable[[str, Path], str]]] = {
    'mjcf': ('.xml', of_mjcf), 'urdf': ('.urdf', partial(of_library, 'urdf')),
    'sdf': ('.sdf', partial(of_library, 'sdf'))}


def outcomes(form: str, count: int, seed: int, folder: Path) -> Counter[str]:
    """Return how many random files of a format have each outcome; keep those that differ."""
    robots, found = Robots(seed), Counter[str]()
    suffix, outcome = OUTCOMES[form]
    with warnings.catch_warnings():
        warnings.simplefilter('ignore')
        for i in range(count):
            text = getattr(robots, form)()
            result = outcome(text, folder / f'robot{suffix}')
            found[result] += 1
            if result.startswith('differs') or 'alone' in result:
                (folder / f'{seed}-{i}{suffix}').write_text(text, encoding='utf-8')
    return found


def main() -> None:
    """Print the outcomes of random files."""
    form, count, seed, folder = (*sys.argv[1:], *('mjcf', '100', '1', '.')[len(sys.argv) - 1:])
    Path(folder).mkdir(parents=True, exist_ok=True)
    for result, number in outcomes(form, int(count), int(seed), Path(folder)).most_common():
        print(f'{number:6} {result}')


if __name__ == '__main__':
    main()
