# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Stewart platforms in the C library: the bits of Python, and what is refused."""

import ctypes
from functools import cache

import numpy as np
import pytest
from support.c_library.c_library import built, HOST, run, SANITIZERS
from support.c_library.c_platform_answers import (
    answers_of_c, answers_of_python, EVERY, MASSIVE, platform, random_states)
from support.c_library.comparison import assert_same
from support.c_library.digits import PROCESSORS, program
from support.machines.random_models import random_model
from support.refusals import refused

from liedyn_ros.common.errors import GeometryError, LiedynError
from liedyn_ros.common.resources import config_file
from liedyn_ros.export import model_bytes, platform_bytes, write_model, write_platform
from liedyn_ros.export.command import main

pytestmark = pytest.mark.full

ORDER = 5
STATES = 50
FEW = 4
# Codes of liedyn.h.
NOT_FINITE, OVERLAP, NULL, RANGE, DAMAGED, KIND, NOT_POSE, NOT_REACHED, NOT_CONVERGED, ABSENT = (
    1, 5, 6, 7, 14, 16, 17, 18, 19, 21)


def assert_bits(command, tmp_path, name, count, seed):
    """Assert that the answers of a program are those of Python in every bit."""
    geometry, states, wanted = platform_states(name, count, seed)
    assert_same(answers_of_c(command, tmp_path, geometry, states), wanted)


@cache
def platform_states(name, count, seed):
    """Return a platform, states, and the answers of Python, which all processors must give."""
    geometry, home = platform(name)
    states = random_states(home, ORDER, count, seed)
    return geometry, states, answers_of_python(geometry, states)


@HOST
@pytest.mark.parametrize('processor', PROCESSORS)
@pytest.mark.parametrize('name', EVERY)
def test_platforms_have_the_bits_of_python(tmp_path, name, processor):
    assert_bits(program('platforms', processor), tmp_path, name, STATES, 1)


@HOST
@pytest.mark.parametrize('name', [MASSIVE, 'offset', 'wires'])
def test_damaged_files_are_refused_or_run(tmp_path, name):
    program = built(['test/damaged.c'], *SANITIZERS)
    write_platform(tmp_path / 'model.liedyn', platform(name)[0])
    assert 'done' in run(program, tmp_path / 'model.liedyn', 2000, 3)


@HOST
@pytest.mark.parametrize('name', [MASSIVE, 'cranks'])
def test_sanitizers_find_nothing(tmp_path, name):
    assert_bits([built(['test/platforms.c'], *SANITIZERS)], tmp_path, name, FEW, 3)


class Library:
    """The library by ctypes, with one platform."""

    def __init__(self, path, content):
        """Load the library and open the content of a file."""
        self.c = ctypes.CDLL(str(path))
        self.c.liedyn_platform_work.restype = ctypes.c_size_t
        self.c.liedyn_leg_name.restype = ctypes.c_char_p
        self.model = ctypes.c_void_p()
        self.content = aligned(len(content))
        self.content[:] = np.frombuffer(content, np.uint8)
        self.code = self.c.liedyn_platform_open(
            pointer(self.content), ctypes.c_size_t(len(content)), ctypes.byref(self.model))

    def prepare(self):
        """Make a work area."""
        size = self.c.liedyn_platform_work(self.model, 0)
        self.work = aligned(size)
        assert self.c.liedyn_platform_init(
            self.model, 0, pointer(self.work), ctypes.c_size_t(size)) == 0
        return self

    def call(self, name, *arrays):
        """Return the code of a call on arrays, and on whole numbers as they are."""
        return getattr(self.c, f'liedyn_platform_{name}')(self.model, pointer(self.work), *(
            pointer(x) if isinstance(x, np.ndarray) else x for x in arrays))

    def why(self):
        """Return what was refused last."""
        text = ctypes.create_string_buffer(200)
        self.c.liedyn_platform_explain(self.model, pointer(self.work), text, 200)
        return text.value.decode()


def aligned(size):
    """Return bytes at a multiple of 64."""
    raw = np.zeros(size + 64, np.uint8)
    start = -raw.ctypes.data % 64
    return raw[start:start + size]


def pointer(array):
    """Return the address of an array."""
    return ctypes.c_void_p(array.ctypes.data)


@pytest.fixture
def opened():
    """Return a function that opens the file of a platform in the library."""
    path = built([], '-shared', '-fPIC')

    def of(name):
        return Library(path, platform_bytes(platform(name)[0])).prepare()

    return of


@HOST
def test_refusals_name_what_is_wrong(opened):
    home, library = platform(MASSIVE)[1], opened(MASSIVE)
    lengths, out = np.empty(6), np.empty(16)
    solution = np.empty(6)
    assert library.call('lengths', home, lengths) == 0
    assert library.call('lengths', home, None) == NULL
    assert library.call('lengths', home, home[:1]) == OVERLAP
    assert library.call('lengths', np.ones((4, 4)), lengths) == NOT_POSE
    assert library.why() == 'pose: the matrix is no pose within 1e-6'
    assert library.call('jacobian', home, 2, np.empty(36)) == RANGE
    assert library.call('solve', lengths, home, out, solution) == 0
    assert library.call('solve', lengths, np.ones((4, 4)), out, solution) == NOT_POSE
    lengths[2] = -1.0
    assert library.call('solve', lengths, home, out, solution) == RANGE
    assert library.why().startswith('leg_3: ')
    lengths[2] = np.nan
    assert library.call('solve', lengths, home, out, solution) == NOT_FINITE
    assert library.why() == 'lengths[2]: an input has a NaN or an infinity, nan'
    assert library.call('solve', np.full(6, 1e-3), home, out, solution) == NOT_CONVERGED
    assert library.call('inverse', 1, home, *np.zeros((3, 12)), np.ones(12), np.ones(12)) == RANGE


@HOST
def test_what_a_platform_has_not_is_named(opened):
    stages, cranks = opened('stages'), opened('cranks')
    home = platform('stages')[1]
    assert stages.call('certify', home, np.ones(6), np.empty(9)) == ABSENT
    assert cranks.call('inverse', 0, home, *np.zeros((3, 6)), np.ones(6), np.ones(6)) == ABSENT
    far = np.eye(4)
    far[2, 3] = 9.0
    assert cranks.call('lengths', far, np.empty(6)) == NOT_REACHED


@HOST
def test_files_of_other_kinds_and_damaged_ones_are_refused(opened):
    path = opened(MASSIVE).c._name
    assert Library(path, model_bytes(random_model(1, 3, False))).code == KIND
    content = bytearray(platform_bytes(platform(MASSIVE)[0]))
    content[-100] ^= 1
    assert Library(path, bytes(content)).code == DAMAGED


def test_the_command_writes_the_file_that_python_writes(tmp_path, capsys):
    file, output = config_file('stewart_geometry.yaml'), tmp_path / 'stewart.liedyn'
    bounds = ['--length-bound', '1e-5', '--joint-bound', '2e-5']
    assert main([str(file), '-o', str(output), *bounds]) == 0
    write_platform(tmp_path / 'same', platform(MASSIVE)[0], length_bound=1e-5, joint_bound=2e-5)
    assert output.read_bytes() == (tmp_path / 'same').read_bytes()
    assert f"{output}: platform 'table_1'" in capsys.readouterr().out


@pytest.mark.parametrize('arguments, wanted', [
    (['stewart_geometry.yaml', '--floating'], 'expected no --floating'),
    (['five_bar.yaml', '--tree', '--joint-bound', '1e-5'], 'expected the geometry of a platform'),
    (['stewart_stages.yaml', '--joint-bound', '1e-5'], 'expected struts, rails, cranks or wires')])
def test_options_of_another_machine_are_refused(tmp_path, capsys, arguments, wanted):
    file, *options = arguments
    assert main([str(config_file(file)), *options, '-o', str(tmp_path / 'x')]) == 1
    assert wanted in capsys.readouterr().err


def test_other_objects_are_refused(tmp_path):
    with refused(LiedynError, 'geometry'):
        platform_bytes('stewart.yaml')
    with refused(LiedynError, 'model'):
        write_model(tmp_path / 'x', platform(MASSIVE)[0])
    with refused(GeometryError, 'certificate'):
        platform_bytes(platform('stages')[0], length_bound=1e-5)
