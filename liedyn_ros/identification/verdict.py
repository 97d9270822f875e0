# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Whether identified parameters are offered, and what a recording does not tell."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy.special import fdtri

from liedyn_ros.common.checks import Array
from liedyn_ros.dynamics import Dynamics
from liedyn_ros.identification.effort_checks import REST_DISTANCE
from liedyn_ros.identification.equations import Equations
from liedyn_ros.identification.estimate import Estimate, given_unknowns
from liedyn_ros.identification.held_out import FIRST_RECORDING, HeldOutForces
from liedyn_ros.identification.joints import MORE_TERMS
from liedyn_ros.identification.lumps import lumps_of
from liedyn_ros.identification.motion import Motion
from liedyn_ros.identification.motion.spectrum import spectrum_of
from liedyn_ros.identification.robust_fit import reduced, RobustFit
from liedyn_ros.model import Model

# Rules of thumb (16.33).
MIN_RANGE_SHARE = 1.0 / 3.0  # of the range of a joint that a motion should cover
MIN_SAMPLES_PER_UNKNOWN = 3.0  # independent samples for each unknown
# Times the error of least squares, from which consistency costs accuracy
MAX_CONSISTENCY_COST = 1.1
MISSING_TERM_RATIO = 5.0  # times what the noise of an effort leaves, from which a term is missing
ASSUMED_RANGE = np.pi  # rad or m, of joints without limits
SAMPLES_OF_EFFECT = 10
IDENTIFIABLE_SHARE = 1.0 - 1e-6  # of a parameter that motions tell by itself
CONSISTENCY_LEVEL = 0.999  # share of recordings of right bodies that say no others
ZERO_DEVIATIONS = 2.0  # standard deviations, below which an unknown may be zero


@dataclass(frozen=True)
class Verdict:
    """
    offered: whether the parameters are clearly better on held-out parts, over all joints.

    reasons say why. worse names the joints that are no better by themselves, remarks are doubts
    and what to do. unknown names the sums of parameters that the recording does not distinguish
    from zero, and advice the motions that would determine more. unit says why the unit of all
    efforts is in doubt, or is empty.

    >>> identify(rod.model, recording).verdict.offered
    False
    """

    offered: bool
    reasons: tuple[str, ...]
    worse: tuple[str, ...]
    remarks: tuple[str, ...]
    unknown: tuple[str, ...]
    advice: tuple[str, ...]
    unit: str = ''


def judge(model: Model, motion: Motion, equations: Equations, estimate: Estimate,
          unseen: HeldOutForces, missing: Sequence[str] = (),
          doubts: tuple[str, tuple[str, ...]] = ('', ())) -> Verdict:
    """Return the verdict on an estimate (16.33); doubts are of the unit of efforts, and others."""
    fit = estimate.plain
    held_out, times = unseen.errors(), unseen.ratio()
    better = times < 1.0 and unseen.is_better()
    offered = better and _is_told(model, equations, fit)
    unit, remarks = doubts[0], [*missing, *doubts[1]]
    reasons = [f'error on held-out parts {times:.3g} times that of the given model, its friction '
               'fitted' + ('' if offered else ': the given model stays' if not times < 1.0 else
                           ', which is not clearly better: the given model stays' if not better
                           else ', and the given bodies are as likely as others: they stay')]
    ratio = ratios(held_out)
    worse = tuple(name for name, each in zip(equations.joints, ratio) if each >= 1.0)
    reasons.append(f'better at {len(ratio) - len(worse)} of {len(ratio)} joints' + (
        f', no better at {", ".join(worse)}' if worse else ''))
    little = little_moved(model, motion.q)
    if little:
        shares = ', '.join(f'{name} {100.0 * share:.0f} %' for name, share in little.items())
        reasons.append(f'ranges that motions covered: {shares}. Gravity beyond is extrapolated')
    if FIRST_RECORDING in unseen.predicted:
        reasons.append(f'and {unseen.ratio(other=FIRST_RECORDING):.3g} times that of a fit of '
                       'the first recording alone')
    enough = float(fit.samples.sum()) / len(fit.x)
    # Held-out parts decide still: a missing term's errors are alike, too
    if enough < MIN_SAMPLES_PER_UNKNOWN:
        remarks.append(f'errors are alike over so long that {enough:.3g} independent samples are '
                       f'left for each unknown, expected at least {MIN_SAMPLES_PER_UNKNOWN:g}: '
                       'deviations are rough. Record longer, or add the missing term')
    deviations = fit.deviations
    unknown = tuple(name for name, x, s in zip(
        equations.names[:equations.at_friction.stop], fit.x, deviations)
        if not abs(x) > ZERO_DEVIATIONS * s)
    remarks += _remarks(model, motion, equations, fit, estimate.consistent, held_out)
    return Verdict(offered, (unit, *reasons) if unit else tuple(reasons), worse, tuple(remarks),
                   unknown,
                   tuple(f'move {name} further: it covered {100.0 * share:.0f} % of its range'
                         for name, share in little.items()), unit)


def _is_told(model: Model, equations: Equations, fit: RobustFit) -> bool:
    """Return whether noise alone does not make the given bodies fit so much worse than others."""
    triangle, target = reduced(equations.rows, equations.forces, fit)
    at = equations.base.rank
    rest = target - triangle[:, :at] @ given_unknowns(model, equations)[:at]
    by_friction = np.linalg.lstsq(triangle[:, at:], rest, rcond=None)[0]
    worse = np.sum((rest - triangle[:, at:] @ by_friction)**2) - np.sum(
        (target - triangle @ fit.x)**2)
    freedom = max(at - fit.unseen.shape[1], 1)
    return float(worse) > freedom * float(fdtri(freedom, fit.freedom, CONSISTENCY_LEVEL))


def with_held(verdict: Verdict, held: Sequence[str], whole: Model, model: Model, motion: Motion,
              equations: Equations, held_out: dict[str, Array], sure: bool = False) -> Verdict:
    """
    Return a verdict that names the joints of the whole model which nobody measured, as held.

    They are suspected of having moved where efforts are known to less than their own noise, and
    such a motion can have that effect, and more than what was gained. Nothing is offered then,
    unless somebody is sure.
    """
    if not held:
        return verdict
    reasons = [f'held, as the options say: {", ".join(held)}. Parameters are wrong if one of '
               f'them did move: identify them only where it stood still']
    times = _over_noise(model, motion, equations, held_out)
    effect = _effect(held, whole, model, motion, equations)
    before = np.minimum(held_out['given'], held_out['refitted friction'])
    suspect = [f'{name} {each:.3g}' for name, each, most, error, old in zip(
        equations.joints, times, effect, held_out['consistent'], before)
        if each > MISSING_TERM_RATIO and most > max(error, old - error)]
    if suspect:
        terms = [each[each.index('--friction'):] for each in verdict.remarks
                 if '--friction' in each][:1]
        advice = '' if sure else (
            f'. The given model stays: {"".join(f"add the term ({each}), " for each in terms)}'
            'record the held joints too, or confirm that they stood still (--sure)')
        reasons.append('errors are far above the noise of the efforts (times it: '
                       f'{", ".join(suspect)}): a held joint may have moved, or a term is '
                       f'missing{advice}')
    return replace(verdict, reasons=(*reasons[1:], *verdict.reasons, *reasons[:1]),
                   offered=verdict.offered and (sure or not suspect))


def _effect(held: Sequence[str], whole: Model, model: Model, motion: Motion,
            equations: Equations) -> Array:
    """Return by how much efforts (f,) change where held joints move through their ranges."""
    dynamics, at = Dynamics(whole), [whole.joint(name) for name in model.coordinate_names]
    rows = [whole.joint(name).vi for name in equations.joints]
    size = float(np.sqrt(np.mean(motion.a**2)))
    nothing: Array = np.zeros(whole.nv)
    result: Array = np.zeros(len(rows))
    for k in np.linspace(0, len(motion.q) - 1, SAMPLES_OF_EFFECT).astype(int):
        q = whole.neutral()
        q[[each.qi for each in at]] = motion.q[k]
        for name in held:
            joint = whole.joint(name)
            ends = np.array([joint.limits.lower[0], joint.limits.upper[0]])
            ends = np.where(np.isfinite(ends), ends, [-ASSUMED_RANGE, ASSUMED_RANGE])
            forces = []
            for end in ends:
                q[joint.qi] = end
                forces.append(dynamics.inverse(q, nothing, nothing))
            q[joint.qi] = 0.0
            result = np.maximum(result, np.abs(forces[1] - forces[0])[rows] + size * np.abs(
                dynamics.mass_matrix(q)[rows, joint.vi]))
    return result


def _over_noise(model: Model, motion: Motion, equations: Equations, held_out: dict[str, Array]
                ) -> Array:
    """Return the errors (f,) over what white noise of each effort leaves below the cut-off."""
    at = [model.coordinate_names.index(name) for name in equations.joints]
    share = np.sqrt(min(1.0, 2.0 * equations.cutoff / motion.rate))
    noise = share * np.array([spectrum_of(motion.tau[:, i], motion.rate).noise for i in at])
    return held_out['consistent'] / np.maximum(noise, 1e-300)


def ratios(held_out: dict[str, Array]) -> Array:
    """Return the error of each joint (f,) over that of the given model, 1 where both are zero."""
    before = np.minimum(held_out['given'], held_out['refitted friction'])
    after = held_out['consistent']
    return np.where(before > 0.0, after / np.maximum(before, 1e-300), 1.0 + after)


def masses_in_sums(model: Model, equations: Equations) -> tuple[str, ...]:
    """Return the bodies whose mass a motion determines only in sums with other parameters."""
    full = equations.full_map()
    determined = np.linalg.pinv(full) @ full
    alone = {lump.bodies[0] for lump in lumps_of(model) if len(lump.bodies) == 1}
    alone &= {int(b) for k, b in enumerate(equations.regressor.bodies)
              if determined[10 * k, 10 * k] >= IDENTIFIABLE_SHARE}
    return tuple(name for b, name in enumerate(model.bodies) if b not in alone)


def _remarks(model: Model, motion: Motion, equations: Equations, fit: RobustFit,
             consistent: Array, held_out: dict[str, Array]) -> tuple[str, ...]:
    remarks = []
    if any(each.kind in MORE_TERMS for each in equations.extra):
        remarks.append('parameters.json has further friction, springs and a tilt of the base: '
                       'the new model has damping and friction only, on a level base')
    for name, new, ratio in zip(equations.joints, held_out['consistent'], ratios(held_out)):
        if ratio >= 1.0:
            q = motion.q[:, model.joint(name).qi] if name in model.joints else motion.q
            remarks.append(
                f'{name}: not better on held-out parts, {new:.4g} against {new / ratio:.4g}. ' + (
                    f'It hardly moved: --hold {name}={0.5 * float(q.min() + q.max()):.4g} holds it'
                    if np.ptp(q) <= 2.0 * REST_DISTANCE else
                    'Record it faster and further; check the scale and sign of its effort'))
    if fit.unseen.size:
        remarks.append(f'{fit.unseen.shape[1]} sums of the unknowns have no effect on the '
                       'recording at all: the given model decides them')
    errors = [np.sqrt(np.mean((equations.forces - equations.rows @ x)**2, axis=0))
              for x in (consistent, fit.x)]
    for name, bound, free in zip(equations.joints, *errors):
        if bound > MAX_CONSISTENCY_COST * free and bound > 1e-6:
            remarks.append(f'{name}: bodies that exist fit {bound / free:.3g} times worse than '
                           'any numbers do; a term is missing')
    return tuple(remarks)


def little_moved(model: Model, q: Array) -> dict[str, float]:
    """Return the shares of their ranges that joints covered by q (n, nq), of those that little."""
    found = {}
    for joint in model.joint_list:
        if joint.type_name not in ('revolute', 'prismatic') or not joint.actuated:
            continue
        size = float(joint.limits.upper[0] - joint.limits.lower[0])
        moved = float(np.ptp(q[:, joint.qi]))
        if np.isfinite(size) and moved < MIN_RANGE_SHARE * size:
            found[joint.name] = moved / size
    return found
