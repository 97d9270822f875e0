# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Kernels as Python calls them: the first calls of several threads, copies."""

import copy
import pickle

import numpy as np
import pytest
from support import forked
from support.machines.random_models import random_model

from liedyn_ros.dynamics import Dynamics

FIRST_CALLS = """
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
import numpy as np
from liedyn_ros.dynamics import Dynamics
from liedyn_ros.model import ModelBuilder, SpatialInertia

builder = ModelBuilder('slider')
builder.add_body('sled', SpatialInertia(2.0, np.zeros(3), np.eye(3)))
builder.add_joint('slide', 'prismatic', None, 'sled', axis=(1, 0, 0))
model, start, x = builder.build(), Barrier(4), np.zeros(1)

def first(_):
    dynamics = Dynamics(model)
    start.wait()
    return dynamics.forward(x, x, x + 4.0)

with ThreadPoolExecutor(4) as pool:
    for a in pool.map(first, range(4)):
        print(*a)
"""


def test_threads_call_a_kernel_for_the_first_time_at_once():
    """The first call alone compiles; a caller that has waited for it must not report its end."""
    result = forked.run('-c', FIRST_CALLS)
    assert result.returncode == 0, result.stderr
    assert result.stdout.split() == ['2.0'] * 4


@pytest.mark.parametrize('copied', [copy.deepcopy, lambda x: pickle.loads(pickle.dumps(x))])
def test_a_copy_has_tables_of_its_own(copied):
    dynamics, rng = Dynamics(random_model(3, 4, True)), np.random.default_rng(3)
    q, v, a = dynamics.model.random(rng), *rng.normal(size=(2, dynamics.model.nv))
    tau = dynamics.inverse(q, v, a)
    other, before = copied(dynamics), dynamics.data.table.copy()
    for _ in range(2):  # the first call goes the longer way
        np.testing.assert_array_equal(other.inverse(q, v, a), tau)
        assert not np.array_equal(other.inverse(q, v, 2.0 * a), tau)
    np.testing.assert_array_equal(dynamics.data.table, before)
