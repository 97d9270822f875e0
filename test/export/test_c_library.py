# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The C library beside Python: the same digits, and what its header promises."""

import pytest
from support.c_library.c_answers import (
    answers_of_c, answers_of_python, differences, random_states)
from support.c_library.c_library import built, HOST, require_tools, run, SANITIZERS, V2
from support.machines.example_robots import example_robot
from support.machines.model_variants import sprung
from support.machines.random_models import random_model

from liedyn_ros.export import write_model
from liedyn_ros.model import load_model, ModelBuilder

ORDER = 5
STATES = 50  # of each of 20 models: 1000


def tolerance(name: str) -> float:
    """
    Return what a result may differ by, relative to its largest entry.

    Products are fused in other places. Forward and hybrid dynamics multiply that by the condition
    of the mass matrix, of 1e3 and more here; their partial derivatives do so twice.
    """
    if name.startswith('forward '):
        return 1e-12
    if name.startswith('inverse gradient product'):  # second derivatives, of sums that cancel
        return 1e-13
    if 'derivatives' in name:
        return 1e-12
    return 1e-13 if name in ('forward', 'hybrid a', 'hybrid tau') else 1e-14


@pytest.fixture(scope='module')
def folder(tmp_path_factory):
    """Return a folder of programs."""
    return tmp_path_factory.mktemp('programs')


def model_of(seed):
    """
    Return a random tree of ten joints, every second one on a floating base.

    Those of odd halves have springs and armatures.
    """
    loaded = seed // 2 % 2
    return sprung(random_model(seed, 10, floating=seed % 2 == 1), seed, 30.0 * loaded,
                  3.0 * loaded)


def require_digits(program, tmp_path, model, states):
    """Require the answers of a program to be those of Python."""
    worst = differences(answers_of_c(program, tmp_path, model, states),
                        answers_of_python(model, states))
    assert {name: error for name, error in worst.items() if not error <= tolerance(name)} == {}


@HOST
@pytest.mark.parametrize('flags', [(), V2], ids=['best', 'v2'])
@pytest.mark.parametrize('seed', range(20))
def test_random_trees_have_the_digits_of_python(folder, tmp_path, seed, flags):
    program = folder / f'answers{"_v2" if flags else ""}'
    if not program.exists():
        built(program, ['test/answers.c'], *flags)
    model = model_of(seed)
    require_digits([program], tmp_path, model, random_states(model, ORDER, STATES, seed))


@HOST
@pytest.mark.parametrize('robot, floating', [
    ('ur_description/urdf/ur5_robot.urdf', False), ('panda_description/urdf/panda.urdf', False),
    ('go2_description/urdf/go2.urdf', True)])
def test_robots_have_the_digits_of_python(folder, tmp_path, robot, floating):
    program = built(folder / 'answers_of_robots', ['test/answers.c'])
    path = example_robot(robot)
    model = load_model(path, floating=floating)
    require_digits([program], tmp_path, model, random_states(model, ORDER, STATES, 1))


@HOST
def test_a_model_without_joints_has_answers(folder, tmp_path):
    builder = ModelBuilder('still')
    builder.add_body('floor', None)
    builder.add_joint('hold', 'fixed', None, 'floor')
    model = builder.build()
    assert model.nv == 0
    write_model(tmp_path / 'still.liedyn', model)
    assert 'done' in run(built(folder / 'damaged_still', ['test/damaged.c']),
                         tmp_path / 'still.liedyn', 2000, 1)


@pytest.mark.parametrize('seed', range(2))
def test_aarch64_has_the_digits_of_python(folder, tmp_path, seed):
    require_tools('aarch64-linux-gnu-gcc', 'qemu-aarch64-static')
    program = built(folder / 'answers_aarch64', ['test/answers.c'], '-static',
                    processor='aarch64', compiler='aarch64-linux-gnu-gcc')
    model = model_of(seed)
    require_digits(['qemu-aarch64-static', program], tmp_path, model,
                   random_states(model, ORDER, STATES, seed))


@HOST
@pytest.mark.parametrize('seed', range(2))
def test_nothing_is_allocated_and_threads_agree(folder, tmp_path, seed):
    wrapped = ','.join(f'--wrap={name}' for name in ('malloc', 'calloc', 'realloc'))
    program = built(folder / 'promises', ['test/promises.c'], '-DCOUNT_ALLOCATIONS',
                    f'-Wl,{wrapped}')
    write_model(tmp_path / 'model.liedyn', model_of(seed))
    printed = run(program, tmp_path / 'model.liedyn', 20000)
    assert '20000 rounds of 5 calls, 0 allocations' in printed and printed.endswith('kept\n')


@HOST
@pytest.mark.parametrize('name', ['promises', 'damaged'])
def test_sanitizers_find_nothing(folder, tmp_path, name):
    program = built(folder / f'{name}_sanitized', [f'test/{name}.c'], *SANITIZERS)
    write_model(tmp_path / 'model.liedyn', model_of(1))
    arguments = {'promises': [100], 'damaged': [5000, 7]}[name]
    assert run(program, tmp_path / 'model.liedyn', *arguments)


@HOST
def test_valgrind_finds_nothing(folder, tmp_path):
    require_tools('valgrind')
    program = built(folder / 'promises_plain', ['test/promises.c'], '-g')
    write_model(tmp_path / 'model.liedyn', model_of(1))
    run('valgrind', '-q', '--error-exitcode=9', '--leak-check=full', program,
        tmp_path / 'model.liedyn', 20)
