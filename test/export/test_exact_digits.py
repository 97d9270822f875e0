# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""
Why answers of the C library and of Python differ in their last digits.

LLVM fuses other products with sums, or none. Both answers are equally near to exact ones, in 60
digits. They differ by a few times what last digits of the input change.
"""

from collections.abc import Iterator
from pathlib import Path

from mpmath import mp
import numpy as np
import pytest
from support.c_library.c_answers import answers_of_c, answers_of_python, random_states, State
from support.c_library.c_library import built, HOST, V2
from support.c_library.comparison import by_name
from support.c_library.digits import machines
from support.machines.random_models import random_model
from support.witnesses.forward_witness import forward
from support.witnesses.motion_witness import DIGITS, Exact, exact

from liedyn_ros.model import Model

ORDER, STATES, STEP = 5, 1, mp.mpf(10) ** -20
RATIO = 50.0
TYPES = 'revolute', 'prismatic', 'helical'  # whose coordinates are numbers


@HOST
@pytest.mark.parametrize('seed', range(2))
def test_both_are_equally_near_to_the_exact_answers(tmp_path: Path, seed: int) -> None:
    model = random_model(seed, 7, False, TYPES)
    states = [state._replace(external=0.0 * state.external)
              for state in random_states(model, ORDER, STATES, seed)]
    of_python = answers_of_python(model, states, dissipation=False)
    of_c = [by_name(row, of_python[0]) for flags in ((), V2) for row in answers_of_c(
        [built(['test/answers.c'], *flags)], tmp_path, model, states, dissipation=False)]
    for k, state in enumerate(states):
        for name, wanted in exact_answers(model, state):
            python = error(of_python[k][name], wanted)
            for mine in (of_c[k][name], of_c[STATES + k][name]):
                c = error(mine, wanted)
                assert c < max(1e-14, 8.0 * python), name


@HOST
def test_differences_are_a_few_times_what_last_digits_of_the_input_change(tmp_path: Path) -> None:
    kinds = []
    for kind, by_processor in machines(['x86_64_v3', 'x86_64_v2'], tmp_path, 1):
        kinds.append(kind)
        for processor, results in by_processor.items():
            large = {name: error for name, error in results.items()
                     if error[1] > RATIO and 'slope' not in name}  # of differences
            assert not large, (kind, processor)
    assert len(kinds) == 20


def exact_answers(model: Model, state: State) -> Iterator[tuple[str, Exact]]:
    """Yield forward dynamics with its time derivatives, and its Jacobians by differences."""
    q, v, tau = exact(state.q), exact(state.v), exact(state.tau)
    yield 'forward derivatives', forward(model, q, v, tau)
    with mp.workdps(DIGITS):
        for name, x in (('by q', q), ('by v', v), ('by tau', tau[0])):
            columns = []
            for k in range(model.nv):
                at = x[k]
                x[k] = at + STEP
                after = forward(model, q, v, tau[:1])[0]
                x[k] = at - STEP
                columns.append((after - forward(model, q, v, tau[:1])[0]) / (2 * STEP))
                x[k] = at
            yield f'forward jacobian {name}', np.array(columns).T


def error(value: Exact, wanted: Exact) -> float:
    """Return the largest error, relative to the largest entry; of orders the largest one."""
    rows = zip(value, wanted) if value.shape[0] == ORDER + 1 else [(value, wanted)]
    return max(float(abs(each - other).max() / abs(other).max()) for each, other in rows)
