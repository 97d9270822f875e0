# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Fixtures of several nodes: a server of each of some machines, forces of a platform."""

from contextlib import closing

import numpy as np
import pytest
from support.bench.dynamics_bench import AERIAL, random_file, ServerBench
from support.bench.pose_bench import GEOMETRY, HOME
from support.bench.ros_bench import Bench, unused_namespace

from liedyn_ros.stewart import StewartDynamics

MACHINES = ['aerial', *((seed, floating) for seed in range(2) for floating in (False, True))]


@pytest.fixture(scope='module', params=MACHINES, ids=str)
def path(request, tmp_path_factory):
    """Return the file of a machine whose dynamics are served."""
    if request.param == 'aerial':
        return AERIAL
    return random_file(tmp_path_factory.mktemp('machine'), *request.param)


@pytest.fixture(scope='module')
def server(context, path):
    """Return a dynamics server of the machine, which tests share: no query changes it."""
    with closing(Bench(context, unused_namespace())) as bench:
        yield ServerBench(bench, model_file=str(path))


@pytest.fixture(scope='session')
def held():
    """Return the forces (6,) of the legs that hold the example platform at home."""
    return StewartDynamics(GEOMETRY).inverse(HOME, np.zeros(6), np.zeros(6)).forces
