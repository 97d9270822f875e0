# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The code of one robot: the digits of Python, and refused where Python refuses."""

import ctypes
from dataclasses import replace

import numpy as np
import pytest
from support.c_library.c_library import require_tools, run

from liedyn_ros.common.errors import LiedynError
from liedyn_ros.common.resources import config_file
from liedyn_ros.dynamics import Dynamics, LOCAL_WORLD_ALIGNED
from liedyn_ros.export.command import main
from liedyn_ros.model import load_model

pytestmark = pytest.mark.full

ROBOT = config_file('aerial_manipulator.yaml')
FRAME = load_model(ROBOT).bodies[-1]


@pytest.fixture(scope='module')
def library(tmp_path_factory):
    """Return the robot's code, as a shared library."""
    require_tools('cc')
    folder = tmp_path_factory.mktemp('own')
    assert main([str(ROBOT), '--own-code', '-o', str(folder / 'aerial.o'), '--frames', FRAME,
                 '--functions', 'inverse', 'forward', 'mass_matrix', 'inverse_derivatives']) == 0
    (folder / 'all.c').write_text('#include "aerial.h"\n')
    run('cc', '-std=c99', '-Wall', '-Werror', '-shared', '-fPIC', folder / 'all.c',
        folder / 'aerial.o', '-lm', '-o', folder / 'aerial.so')
    return ctypes.CDLL(str(folder / 'aerial.so'))


def call(function, *arguments):
    """Return the code of a function, whose arguments are arrays and whole numbers."""
    return function(*(ctypes.c_int64(each) if isinstance(each, int)
                      else ctypes.c_void_p(each.ctypes.data) for each in arguments))


def test_results_have_the_digits_of_python(library):
    dynamics, rng = Dynamics(load_model(ROBOT)), np.random.default_rng(7)
    nv = dynamics.model.nv
    for _ in range(20):
        q, (v, a, da) = dynamics.model.random(rng), rng.normal(size=(3, nv))
        wanted = {
            'aerial_inverse': ((q, v, a), dynamics.inverse(q, v, a)),
            'aerial_forward': ((q, v, a), dynamics.forward(q, v, a)),
            'aerial_mass_matrix': ((q,), dynamics.mass_matrix(q)),
            'aerial_inverse_derivatives': (
                (q, v, np.array([a, da])), dynamics.inverse.time_derivatives(q, v, [a, da])),
            f'aerial_{FRAME}_jacobian': (
                (q, LOCAL_WORLD_ALIGNED), dynamics.frames.jacobian(q, FRAME, LOCAL_WORLD_ALIGNED))}
        for name, (given, result) in wanted.items():
            out = np.full(result.shape, np.nan)
            assert call(getattr(library, name), *given, out) == 0
            np.testing.assert_array_equal(out, result)


def test_what_python_refuses_is_refused(library):
    dynamics, rng = Dynamics(load_model(ROBOT)), np.random.default_rng(8)
    codes, refused = [], []
    for k in range(300):
        q = dynamics.model.random(rng)
        v, a = rng.normal(size=(2, dynamics.model.nv)) * 10.0 ** rng.uniform(140, 308, (2, 1))
        if k % 3 == 0:
            v[k % len(v)] = (np.nan, np.inf, -np.inf)[k % 2]
        if k % 7 == 0:
            q[3:7] *= 2.0
        codes.append(call(library.aerial_inverse, q, v, a, np.empty_like(a)) != 0)
        try:
            dynamics.inverse(q, v, a)
            refused.append(False)
        except LiedynError:
            refused.append(True)
    assert codes == refused and any(refused)


@pytest.mark.parametrize('missing', ['numba', 'liedyn_ros.build'])
def test_without_the_build_the_cure_is_named(monkeypatch, capsys, missing):
    monkeypatch.setattr('liedyn_ros.export.command.find_spec',
                        lambda name: None if name == missing else name)
    assert main([str(ROBOT), '--own-code']) == 1
    assert 'clone' in capsys.readouterr().err


@pytest.mark.parametrize('processor, machine', [('x86_64_v2', 62), ('aarch64', 183)])
def test_code_is_of_the_processor_that_is_asked_for(tmp_path, processor, machine):
    assert main([str(ROBOT), '--own-code', '-o', str(tmp_path / 'aerial.o'), '--processor',
                 processor, '--functions', 'mass_matrix', 'forward']) == 0
    code = (tmp_path / 'aerial.o').read_bytes()
    assert code[:4] == b'\x7fELF' and code[16:20] == bytes((1, 0, machine, 0))


@pytest.mark.parametrize('given', [
    ['--functions', 'inverses'], ['-o', 'no name.o'], ['--frames', 'nowhere']])
def test_wrong_options_are_refused(tmp_path, monkeypatch, given):
    monkeypatch.chdir(tmp_path)
    assert main([str(ROBOT), '--own-code', '-o', 'aerial.o', '--functions', 'mass_matrix',
                 *given]) == 1
    assert list(tmp_path.iterdir()) == []


def test_no_name_of_others_is_code(monkeypatch):
    binding = pytest.importorskip('llvmlite.binding', reason='compiles, so it needs numba')
    from liedyn_ros.build import own_code
    binding.initialize_all_targets()
    binding.initialize_all_asmprinters()
    monkeypatch.setattr(own_code.OwnCode, '_work_size', 1)
    model = replace(load_model(ROBOT), name='x */ int evil(void); /*')
    code = own_code.OwnCode('own', model, own_code.processor_here())
    comment, _, rest = code.header().partition('*/')
    assert 'evil' in comment and 'evil' not in rest
    for frame in ('a(){evil();}', 'a b', '*/'):
        with pytest.raises(LiedynError) as caught:
            code.add(frame=frame)
        assert caught.value.names == ('frame',)
