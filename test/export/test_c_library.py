# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The C library beside Python: the same bits, and what its header promises."""

from functools import cache

import pytest
from support.c_library.c_answers import (
    answers_of_c, answers_of_python, random_states, random_tree)
from support.c_library.c_library import built, HOST, require_tools, run, SANITIZERS, V2
from support.c_library.comparison import assert_same
from support.c_library.digits import PROCESSORS, program
from support.machines.example_robots import example_robot

from liedyn_ros.export import write_model
from liedyn_ros.model import load_model, ModelBuilder

pytestmark = pytest.mark.full

ORDER = 5
STATES = 50  # of each of 20 models: 1000


@cache
def tree(seed):
    """Return a random tree, states, and the answers of Python, which all processors must give."""
    model = random_tree(seed)
    states = random_states(model, ORDER, STATES, seed)
    return model, states, answers_of_python(model, states)


@HOST
@pytest.mark.parametrize('processor', PROCESSORS)
@pytest.mark.parametrize('seed', range(20))
def test_random_trees_have_the_bits_of_python(tmp_path, seed, processor):
    model, states, wanted = tree(seed)
    assert_same(answers_of_c(program('answers', processor), tmp_path, model, states), wanted)


@HOST
@pytest.mark.parametrize('robot, floating', [
    ('ur_description/urdf/ur5_robot.urdf', False), ('panda_description/urdf/panda.urdf', False),
    ('go2_description/urdf/go2.urdf', True)])
def test_robots_have_the_bits_of_python(tmp_path, robot, floating):
    model = load_model(example_robot(robot), floating=floating)
    states = random_states(model, ORDER, STATES, 1)
    assert_same(answers_of_c(program('answers', 'x86_64_v3'), tmp_path, model, states),
                answers_of_python(model, states))


@HOST
def test_a_model_without_joints_has_answers(tmp_path):
    builder = ModelBuilder('still')
    builder.add_body('floor', None)
    builder.add_joint('hold', 'fixed', None, 'floor')
    model = builder.build()
    assert model.nv == 0
    write_model(tmp_path / 'still.liedyn', model)
    assert 'done' in run(built(['test/damaged.c']), tmp_path / 'still.liedyn', 2000, 1)


@HOST
@pytest.mark.parametrize('seed', range(2))
def test_nothing_is_allocated_and_threads_agree(tmp_path, seed):
    wrapped = ','.join(f'--wrap={name}' for name in ('malloc', 'calloc', 'realloc'))
    program = built(['test/promises.c'], '-DCOUNT_ALLOCATIONS', f'-Wl,{wrapped}')
    write_model(tmp_path / 'model.liedyn', random_tree(seed))
    printed = run(program, tmp_path / 'model.liedyn', 40000)
    assert '40000 rounds of 5 calls, 0 allocations' in printed and printed.endswith('kept\n')


@HOST
@pytest.mark.parametrize('name', ['promises', 'damaged'])
def test_sanitizers_find_nothing(tmp_path, name):
    program = built([f'test/{name}.c'], *SANITIZERS)
    write_model(tmp_path / 'model.liedyn', random_tree(1))
    arguments = {'promises': [100], 'damaged': [5000, 7]}[name]
    assert run(program, tmp_path / 'model.liedyn', *arguments)


@HOST
@pytest.mark.full
def test_valgrind_finds_nothing(tmp_path):
    require_tools('valgrind')
    program = built(['test/promises.c'], '-g', *V2)
    write_model(tmp_path / 'model.liedyn', random_tree(1))
    run('valgrind', '-q', '--error-exitcode=9', '--leak-check=full', program,
        tmp_path / 'model.liedyn', 20)
