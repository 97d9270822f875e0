# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The objects of kernels: made for every processor, and refused where they need more."""

import os
import subprocess
import sys

from llvmlite import binding
import pytest
from support.c_library.c_library import object_folder, require_tools, run
from support.refusals import refused

from liedyn_ros.build.c_command import main
from liedyn_ros.build.c_entries import entries
from liedyn_ros.build.c_library import build_objects, HEADER
from liedyn_ros.build.lowering import lowered, PREFIX
from liedyn_ros.build.objects import ALLOWED, emitted, PROCESSORS, require_portable
from liedyn_ros.common.errors import LiedynError

pytestmark = pytest.mark.full

EVERY = sorted(PROCESSORS)
MACHINES = {'x86_64_v2': 62, 'x86_64_v3': 62, 'aarch64': 183}  # of the ELF header


@pytest.mark.parametrize('name', EVERY)
def test_an_object_is_relocatable_code_of_its_processor(name):
    code = (object_folder() / f'{name}.o').read_bytes()
    assert code[:4] == b'\x7fELF' and code[16:20] == bytes((1, 0, MACHINES[name], 0))


@pytest.mark.parametrize('name', EVERY)
def test_an_object_needs_libm_and_memory_functions_alone(name):
    require_tools('nm')
    lines = run('nm', object_folder() / f'{name}.o').splitlines()
    wanted = {line.split()[-1] for line in lines if ' U ' in line}
    assert wanted <= ALLOWED
    defined = {line.split()[-1] for line in lines if ' T ' in line}
    assert defined == {PROCESSORS[name].prefix + entry.name for entry in entries()}


def test_the_header_declares_every_entry():
    text = (object_folder() / HEADER).read_text()
    for processor in PROCESSORS.values():
        for entry in entries():
            assert f'int64_t {processor.prefix}{entry.name}(' in text


@pytest.mark.parametrize('text, name', [
    ('declare void @PyErr_SetNone(ptr)', 'PyErr_SetNone'),
    ('declare void @NRT_decref(ptr)', 'NRT_decref'),
    ('@numba.dynamic.globals.0 = global i64 140000000000', 'numba.dynamic.globals.0'),
    ('@_ZN08NumbaEnv = external global ptr', '_ZN08NumbaEnv')])
def test_a_module_that_needs_python_is_refused(text, name):
    module = binding.parse_assembly(text)
    with pytest.raises(LiedynError, match=f'libm.*got .*{name}'):
        require_portable(module, PROCESSORS['aarch64'])


def test_a_function_that_calls_python_is_not_written():
    binding.initialize_all_targets()
    binding.initialize_all_asmprinters()
    module = binding.parse_assembly(f"""
        declare i64 @PyGILState_Ensure()
        define i64 @{PREFIX}taken() {{ %1 = call i64 @PyGILState_Ensure()
        ret i64 %1 }}""")
    with refused(LiedynError, 'x86_64_v3'):
        emitted(module.as_bitcode(), PROCESSORS['x86_64_v3'])


def test_numba_of_another_environment_is_refused():
    with refused(LiedynError, 'NUMBA_OPT'):
        lowered([])


def test_unknown_processors_are_refused(tmp_path, capsys):
    with refused(LiedynError, 'pdp11', got='pdp11'):
        build_objects(tmp_path, ['pdp11'])
    with pytest.raises(SystemExit):
        main([str(tmp_path), '--processors', 'pdp11'])
    assert 'pdp11' in capsys.readouterr().err


def test_the_process_of_the_compiler_tells_what_is_wrong(tmp_path):
    done = subprocess.run(
        [sys.executable, '-m', 'liedyn_ros.build.c_library', str(tmp_path), 'aarch64'],
        env=os.environ | {'NUMBA_OPT': '3'}, capture_output=True, text=True, check=False)
    assert done.returncode != 0 and 'NUMBA_OPT: expected' in done.stderr
