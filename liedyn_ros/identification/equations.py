# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The equations of a recording, tau = Z x: filtered rows, and the columns of what is unknown."""

from __future__ import annotations

from dataclasses import dataclass
import math

import numpy as np
from numpy.typing import NDArray

from liedyn_ros.common.checks import Array
from liedyn_ros.common.errors import LimitError, ShapeError
from liedyn_ros.dynamics import Dynamics
from liedyn_ros.identification.base_parameters import base_parameters, BaseParameters
from liedyn_ros.identification.loop_regressor import LoopRegressor
from liedyn_ros.identification.motion import Motion
from liedyn_ros.identification.regressor import Regressor
from liedyn_ros.identification.spectrum import NYQUIST, smoothed, spectrum_of
from liedyn_ros.model import JOINT_TYPES, Model

FRICTION = ('damping', 'friction', 'offset')
WIDER = 2.5  # times the band of the motion, to which the equations are filtered
CHUNK = 20000  # samples whose rows are in memory at a time
_SLOW = 3.0  # times the noise of a velocity, where the direction of friction is in doubt
_SEED = 20


@dataclass(frozen=True, eq=False)
class Equations:
    """
    Filtered and decimated equations: rows (K, f, p) times p unknowns are forces (K, f).

    The unknowns are base parameters, then the extra ones: damping, Coulomb friction and offset
    of joints. base maps the P inertial parameters of the regressor to the base parameters. names
    (p,) name the unknowns, joints (f,) the rows, time (K,) the samples; cutoff in Hz. inertia
    (nv,) is the diagonal of the given model's mass matrix at one sample.
    """

    rows: Array
    forces: Array
    time: Array
    joints: tuple[str, ...]
    names: tuple[str, ...]
    extra: tuple[tuple[str, int], ...]
    base: BaseParameters
    regressor: Regressor | LoopRegressor
    cutoff: float
    inertia: Array

    @property
    def at_extra(self) -> slice:
        """Return the places of the extra unknowns."""
        return slice(self.base.rank, len(self.names))

    def full_map(self) -> Array:
        """Return K (p, P + extra) from inertial parameters and extra unknowns to the unknowns."""
        count = len(self.base.kept) + len(self.base.dropped)
        result = np.zeros((len(self.names), count + len(self.extra)))
        at = np.arange(self.base.rank)
        result[at, self.base.kept] = 1.0
        result[np.ix_(at, self.base.dropped)] = self.base.grouping
        result[self.at_extra, count:] = np.eye(len(self.extra))
        return result


def equations_of(model: Model, motion: Motion, *, rotor_inertia: bool = True,
                 friction: tuple[str, ...] = FRICTION, cutoff: float | None = None) -> Equations:
    """
    Return the equations of a motion, whose columns are filtered as the forces are (16.5).

    cutoff (Hz) is by default WIDER times the band of the motion, or where the last force meets its
    noise, if that is lower. The rows are decimated to twice the cut-off (16.9). Raises LimitError
    for a cut-off outside (0, NYQUIST rate), and ShapeError for too short a recording.
    """
    regressor = _regressor(model, rotor_inertia)
    base = base_parameters(regressor, np.random.default_rng(_SEED))
    if cutoff is None:
        cutoff = _cutoff(motion)
    if not 0.0 < cutoff <= NYQUIST * motion.rate:
        raise LimitError('cutoff: expected more than 0 and at most '
                         f'{NYQUIST * motion.rate:.5g} Hz, got {cutoff}; without motion it is 0')
    extra = _extra(model, friction)
    step = max(1, int(motion.rate / (2.0 * cutoff)))
    margin = math.ceil(2.0 * motion.rate / cutoff)
    count = len(motion.time)
    if count < 4 * margin:
        raise ShapeError(f'recording: expected at least {4 * margin / motion.rate:.3g} s, got '
                         f'{count / motion.rate:.3g} s: motion up to {motion.band:.3g} Hz needs '
                         'times to swing in')
    wanted = np.arange(margin, count - margin, step)
    rows: list[Array] = []
    forces: list[Array] = []
    for begin in range(0, len(wanted), max(1, CHUNK // step)):
        part = wanted[begin:begin + max(1, CHUNK // step)]
        window = slice(part[0] - margin, part[-1] + margin + 1)
        some = _raw(model, regressor, base, extra, motion, window)
        for full, into in zip(some, (rows, forces)):
            into.append(smoothed(full, cutoff, motion.rate)[part - window.start])
    at = _independent(model, regressor)
    return Equations(
        np.concatenate(rows), np.concatenate(forces), motion.time[wanted],
        tuple(name for name, row in zip(model.coordinate_names, at) if row),
        (*base.names, *(f'{model.coordinate_names[i]}/{kind}' for kind, i in extra)),
        extra, base, regressor, cutoff, np.diag(Dynamics(model).mass_matrix(motion.q[count // 2])))


def _cutoff(motion: Motion) -> float:
    """Return the cut-off (Hz) above which forces are noise, or the motion is none."""
    wide = min(WIDER * motion.band, NYQUIST * motion.rate)
    told = max((spectrum_of(each, motion.rate).end for each in motion.tau.T), default=0.0)
    return min(max(motion.core, min(wide, told)), NYQUIST * motion.rate) if told > 0.0 else wide


def _regressor(model: Model, rotor_inertia: bool) -> Regressor | LoopRegressor:
    if model.closures or model.couplings:
        return LoopRegressor(model, rotor_inertia=rotor_inertia)
    return Regressor(model, rotor_inertia=rotor_inertia)


def _independent(model: Model, regressor: Regressor | LoopRegressor) -> NDArray[np.bool_]:
    if isinstance(regressor, LoopRegressor):
        return regressor.independent
    return np.ones(model.nv, dtype=bool)


def _extra(model: Model, friction: tuple[str, ...]) -> tuple[tuple[str, int], ...]:
    """Return the extra unknowns, each a kind and a coordinate: passive joints have no offset."""
    result = []
    for kind in friction:
        for joint in model.joint_list:
            spec = JOINT_TYPES[joint.type_name]
            if spec.nq == spec.nv and (joint.actuated or kind != 'offset'):
                result += [(kind, i) for i in range(joint.vi, joint.vi + spec.nv)]
    return tuple(result)


def _raw(model: Model, regressor: Regressor | LoopRegressor, base: BaseParameters,
         extra: tuple[tuple[str, int], ...], motion: Motion, window: slice) -> tuple[Array, Array]:
    """Return rows (n, f, p) and forces (n, f) of the samples in a window (16.10)."""
    q, v, a, tau = motion.q[window], motion.v[window], motion.a[window], motion.tau[window]
    tree = regressor.tree if isinstance(regressor, LoopRegressor) else regressor
    inertial = base.columns(tree.torque_batch(q, v, a))
    table = model.link_table  # springs are known, and armatures that are not fitted
    tau = tau - table.stiffness * (q[:, table.position_at] - table.rest)
    if not tree.rotor_inertia:
        tau -= table.armature * a
    slow = np.maximum(_SLOW * motion.noise[1], np.finfo(float).tiny)
    drag = np.zeros((len(q), model.nv, len(extra)))
    for column, (kind, i) in enumerate(extra):
        drag[:, i, column] = {'damping': v[:, i], 'friction': np.tanh(v[:, i] / slow[i]),
                              'offset': np.ones(len(q))}[kind]
    rows = np.concatenate([inertial, drag], axis=2)
    if isinstance(regressor, LoopRegressor):  # P^T tau = P^T Y pi + P^T Phi phi (16.37)
        back = np.array([regressor.motions(each).T for each in q])
        return back @ rows, (back @ tau[..., None])[..., 0]
    return rows, tau
