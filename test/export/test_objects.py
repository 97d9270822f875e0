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

from liedyn_ros.build.c_library import build_objects, KERNELS_HEADER, main
from liedyn_ros.build.lowering import lowered
from liedyn_ros.build.objects import ALLOWED_SYMBOLS, emitted, PROCESSORS, require_portable
from liedyn_ros.build.parts import function_parts, linked, parts
from liedyn_ros.build.words import PREFIX
from liedyn_ros.common.errors import LiedynError

pytestmark = pytest.mark.full

EVERY = sorted(PROCESSORS)
MACHINES = {'x86_64_v2': 62, 'x86_64_v3': 62, 'aarch64': 183}  # of the ELF header


def objects_of(name):
    """Return the objects of the C library for a processor."""
    return sorted(object_folder(name.partition('_v')[0]).glob(f'{name}.*.o'))


@pytest.mark.parametrize('name', EVERY)
def test_objects_are_relocatable_code_of_their_processor(name):
    assert objects_of(name)
    for path in objects_of(name):
        code = path.read_bytes()
        assert code[:4] == b'\x7fELF' and code[16:20] == bytes((1, 0, MACHINES[name], 0))


@pytest.mark.parametrize('name', EVERY)
def test_objects_need_libm_memory_functions_and_each_other_alone(name):
    require_tools('nm')
    lines = [line.split() for line in run('nm', '-g', *objects_of(name)).splitlines()]
    defined = [line[-1] for line in lines if ' T ' in ' '.join(line)]
    wanted = {line[-1] for line in lines if line[:1] == ['U']}
    assert wanted <= ALLOWED_SYMBOLS | set(defined) and len(defined) == len(set(defined))
    assert {PROCESSORS[name].prefix + row[0] for part in function_parts() for row in part.rows()
            } <= set(defined)


def test_the_c_library_is_linked_from_the_objects_of_python():
    functions = function_parts()
    objects_of('x86_64_v3')  # are compiled
    kernels = {part.module: part for part in linked(functions)}
    for part in functions:
        del kernels[part.module]
    python = {part.module: part for part in parts()}
    assert kernels == {module: python[module] for module in kernels} and len(kernels) > 20
    assert all(part.called() for part in functions if part.path.stem not in ('layout', 'reading'))


def test_the_header_declares_every_function():
    text = (object_folder() / KERNELS_HEADER).read_text()
    for processor in PROCESSORS.values():
        for part in function_parts():
            for name, *_ in part.rows():
                assert f'int64_t {processor.prefix}{name}(' in text


@pytest.mark.parametrize('text, name', [
    ('declare void @PyErr_SetNone(ptr)', 'PyErr_SetNone'),
    ('declare void @NRT_decref(ptr)', 'NRT_decref'),
    ('@numba.dynamic.globals.0 = global i64 140000000000', 'numba.dynamic.globals.0'),
    ('@_ZN08NumbaEnv = external global ptr', '_ZN08NumbaEnv')])
def test_a_module_that_needs_python_is_refused(text, name):
    module = binding.parse_assembly(text)
    with refused(LiedynError, 'aarch64', got=str([name])):
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


def test_the_process_of_the_compiler_tells_what_is_wrong():
    done = subprocess.run(
        [sys.executable, '-m', 'liedyn_ros.build.parts', 'aarch64', '--',
         'linear_algebra/kernels/elimination.py'],
        env=os.environ | {'NUMBA_OPT': '3'}, capture_output=True, text=True, check=False)
    assert done.returncode != 0 and 'NUMBA_OPT: expected' in done.stderr
