# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Terms that a model lacks: those with which fits predict held-out parts better."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from liedyn_ros.common.errors import ConvergenceError, LimitError, ShapeError
from liedyn_ros.identification.held_out import HeldOutForces, Trial
from liedyn_ros.identification.joints import COUPLED, MORE_TERMS, SCALE_TERM, SPRING, TILT
from liedyn_ros.identification.joints.friction import with_friction
from liedyn_ros.identification.motion import Motion
from liedyn_ros.identification.verdict import MAX_CONSISTENCY_COST

WHAT = {TILT: 'a tilt of the base', SPRING: 'springs', COUPLED: 'friction of coupled motors'}


def missing_terms(motion: Motion, trial: Trial, friction: tuple[str, ...], weight: float,
                  unseen: HeldOutForces) -> tuple[dict[str, str], list[Trial]]:
    """Return the gains of terms that predict held-out parts better, and their trials, in order."""
    texts, misfits, trials = dict[str, str](), dict[str, float](), dict[str, Trial]()
    for kind in MORE_TERMS:
        if kind in friction or any(each.kind == SCALE_TERM for each in trial.equations.extra):
            continue
        try:
            wider = with_friction(trial.model, motion, trial.equations, (kind,), {})
            wide = trial.of(wider)
            found = wide.compared(weight, alone=True)
        except (LimitError, ShapeError, ConvergenceError):
            continue
        both = replace(unseen, predicted=unseen.predicted | {
            kind: found.predicted['consistent']})
        times = both.errors()[kind] / np.maximum(both.errors()['consistent'], 1e-300)
        helped = {name: float(each) for k, (name, each) in enumerate(zip(
            trial.equations.joints, times)) if both.is_better(kind, 'consistent', k)
            and f'{each:.2g}' != '1'}
        if helped and both.is_better(kind, 'consistent'):
            what = WHAT.get(kind, f'friction {kind!r}')
            gains = ', '.join(f'{name} {each:.2g}' for name, each in helped.items())
            texts[kind] = (f'a term is missing: with {what} errors on held-out parts are smaller, '
                           f'times {gains}' + (
                              f'. Add it: --friction {" ".join((*friction, kind))}'
                              if min(helped.values()) < 1.0 / MAX_CONSISTENCY_COST else
                              ', which is little'))
            misfits[kind], trials[kind] = both.misfit(kind), wide
    order = sorted(texts, key=misfits.__getitem__)
    return {kind: texts[kind] for kind in order}, [trials[kind] for kind in order]
