# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.
"""The same states for Python and for the program `loops` of the C library."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import scipy.linalg
from support.c_library.comparison import answers
from support.machines.looped_machines import Looped

from liedyn_ros.common.checks import Array
from liedyn_ros.common.errors import LiedynError
from liedyn_ros.dynamics.constrained import (
    assemble, complete_acceleration, complete_velocity, ConstrainedDynamics, ConstrainedSolution,
    ConstraintStatus, LoopTracker, project)
from liedyn_ros.dynamics.constrained.configurations.closing import close
from liedyn_ros.export import write_loops

STATUS = list(ConstraintStatus)


class State(NamedTuple):
    """What the program reads of one state."""

    q: Array
    v: Array
    a: Array
    tau: Array
    external: Array
    known: Array
    prescribed: Array


def random_states(dynamics: ConstrainedDynamics, q: Array, order: int, count: int, seed: int
                  ) -> list[State]:
    """
    Return states on the constraints near a configuration, with motions that they allow.

    They are closed to the last digits. Time derivatives take rows of a closed machine. These
    differ from rows of a residual by how far loops are open.
    """
    rng, model = np.random.default_rng(seed), dynamics.model
    nv, rows, states = model.nv, order + 1, []
    for _ in range(count):
        here, v = project(dynamics, model.integrate(q, 0.05 * rng.normal(size=nv)),
                          rng.normal(size=nv))
        for _ in range(2):
            inverse = np.linalg.pinv(dynamics.jacobian(here))
            here = model.integrate(here, -inverse @ dynamics.residual(here))
            v = v - inverse @ (dynamics.jacobian(here) @ v)
        passive = scipy.linalg.qr(dynamics.jacobian(here), pivoting=True)[2][
            :dynamics.mobility.rank]
        known = np.ones(nv, dtype=bool)
        known[passive] = False
        prescribed = known & (rng.random(nv) < 0.5)
        a, tau = rng.normal(size=(2, rows, nv))
        states.append(State(
            here, v, complete_acceleration(dynamics, here, v, a, known), tau,
            rng.normal(size=(rows, len(model.bodies), 6)), known, prescribed))
    return states


def answers_of_c(program: list[object], folder: Path, looped: Looped, order: int,
                 states: list[State]) -> Array:
    """Return what the program answers, a state a row."""
    write_loops(folder / 'model.liedyn', looped.model, order=order)
    return answers(program, folder, states)


def answers_of_python(dynamics: ConstrainedDynamics, states: list[State]
                      ) -> list[dict[str, Array]]:
    """Return the same by name, in the order of the program."""
    return [dict(_answers(dynamics, state)) for state in states]


def _answers(dynamics: ConstrainedDynamics, state: State) -> Iterator[tuple[str, Array]]:
    q, v, a, tau, external, known, prescribed = state
    free = {'max_error': np.inf}
    yield from zip(('residual', 'jacobian'), dynamics.residual_and_jacobian(q))
    yield 'velocity', complete_velocity(dynamics, q, v, known)
    full = complete_acceleration(dynamics, q, v, a, known)
    yield 'derivatives of acceleration', full
    found = dynamics.inverse(q, v, full, external)
    yield 'inverse derivatives', found.tau
    yield 'inverse report', _report(found)
    yield 'inverse', dynamics.inverse(q, v, a[0]).tau
    found = dynamics.forward(q, v, tau, external, **free)
    yield 'forward derivatives', found.a
    yield 'forward report', _report(found)
    yield 'derivatives of multipliers', found.multipliers
    yield 'derivatives of wrenches', found.wrenches
    yield from _tracked(dynamics, q, v)
    yield 'assembled', close(dynamics, dynamics.model.integrate(q, 0.05 * v),
                             np.ones(dynamics.model.nv, dtype=np.bool_))[0]
    yield from _partials(dynamics, state, full[0])
    found = dynamics.hybrid(q, v, prescribed, a, tau, external, **free)
    yield 'hybrid derivatives of a', found.a
    yield 'hybrid derivatives of tau', found.tau


def _tracked(dynamics: ConstrainedDynamics, q: Array, v: Array) -> Iterator[tuple[str, Array]]:
    """Return the state that the measured joints give: itself, where they decide it."""
    try:
        tracker = LoopTracker(dynamics)
        tracker.update([assemble(dynamics)[dynamics.model.joint(name).qi]
                        for name in tracker.measured])
    except LiedynError:
        return  # the file has no measured joints either
    yield 'tracked configuration', q
    yield 'tracked velocity', v


def _partials(dynamics: ConstrainedDynamics, state: State, full: Array
              ) -> Iterator[tuple[str, Array]]:
    """Return partial derivatives; directions and weights are those of the program."""
    q, v, a, tau, external, _, prescribed = state
    inverse, forward, hybrid = (each.partial_derivatives for each in (
        dynamics.inverse, dynamics.forward, dynamics.hybrid))
    force, wrenches, direction = tau[0], external[0], (v, full, tau[0])
    for name, of, given, last in (
            ('inverse', inverse, (q, v, full), 'by_a'),
            ('forward', forward, (q, v, force), 'by_tau'),
            ('hybrid', hybrid, (q, v, prescribed, a[0], force), 'by_given')):
        yield from _jacobians(name, of, given, wrenches, last, prescribed)
        product = of.product(*given, *direction, wrenches)
        if name != 'inverse':
            yield f'partial {name} product of a', product.a
        if name != 'forward':
            yield f'partial {name} product of tau', product.tau
        gradient = of.gradient(*given, force if name == 'inverse' else full, wrenches)
        yield f'partial {name} gradient', _rows_of(gradient, last)


def _jacobians(name: str, of: Any, given: tuple[Array, ...], wrenches: Array, last: str,
               prescribed: Array) -> Iterator[tuple[str, Array]]:
    """Return the Jacobians of the unknowns."""
    found = of(*given, wrenches)
    if name != 'hybrid':
        yield f'partial {name} solution', found.tau if name == 'inverse' else found.a
        yield f'partial {name} jacobians', _rows_of(found, last)
    else:
        yield 'partial hybrid jacobians', np.stack([np.where(
            prescribed[:, None], getattr(found, f'tau_{by}'), getattr(found, f'a_{by}'))
            for by in ('by_q', 'by_v', last)])


def _rows_of(found: Any, last: str) -> Array:
    return np.stack([getattr(found, by) for by in ('by_q', 'by_v', last)])


def _report(found: ConstrainedSolution) -> Array:
    """Return rank, status and inverse condition numbers; without actuators 1, as in C."""
    actuation = found.actuation_inverse_condition_number
    return np.array([found.rank, STATUS.index(found.status), found.inverse_condition_number,
                     1.0 if actuation is None else actuation])
