# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The command that compiles kernels ahead, in processes of their own."""

from contextlib import ExitStack
from importlib import import_module
import os
import platform
import subprocess
import sys
from types import SimpleNamespace

import pytest
from support import forked
from support.bench.executables import node_class, NODES

from liedyn_ros import warm_up
from liedyn_ros.jit import beside
from liedyn_ros.jit.beside import name_of
from liedyn_ros.jit.cache import shipped

pytestmark = pytest.mark.full

QUICK = 'liedyn_ros.jit.cache.folder:cache_root'  # which imports little and calls no kernel


@pytest.mark.ros
def test_it_knows_every_node_with_all_that_its_node_calls():
    for name in NODES:
        node, known = node_class(name), warm_up.WARM_UPS[name]
        assert {name_of(call) for call in (node.warm_up, *node.behind)} <= {*known}
    assert warm_up.WARM_UPS.keys() == {*NODES, warm_up.CORE, warm_up.PLATFORM}


@pytest.mark.ros
@pytest.mark.parametrize('name', [each for names in warm_up.WARM_UPS.values() for each in names])
def test_each_name_is_that_of_a_function(name):
    module, _, function = name.partition(':')
    assert name_of(getattr(import_module(module), function)) == name


@pytest.fixture
def parts(monkeypatch, tmp_path):
    """Return the parts, of which a test says what they call; the cache is empty."""
    parts = {}
    monkeypatch.setenv('NUMBA_CACHE_DIR', str(tmp_path / 'kernels'))
    monkeypatch.setattr(warm_up, 'WARM_UPS', parts)
    return parts


@pytest.fixture
def forks(monkeypatch):
    """Let the processes that compile be forked where numba is imported."""
    with ExitStack() as processes:
        def started(words, env, **streams):
            assert words[0] == sys.executable
            return processes.enter_context(forked.start(*words[1:], env=env))

        monkeypatch.setattr(beside, 'subprocess', SimpleNamespace(
            Popen=started, DEVNULL=subprocess.DEVNULL))
        yield


@pytest.mark.usefixtures('forks')
def test_it_tells_what_it_did(parts, capsys):
    parts.update(one=(QUICK,), another=(QUICK, QUICK))
    assert warm_up.main(['--processes', '2', 'one', 'another']) == 0
    output = capsys.readouterr().out
    assert 'one: ready; 0 kernels compiled' in output and 'another: ready; ' in output
    assert warm_up.main(['another']) == 0
    assert 'one: ' not in capsys.readouterr().out


@pytest.mark.usefixtures('forks')
def test_it_keeps_what_it_compiled_and_fails_where_it_cannot(parts, capsys, monkeypatch, tmp_path):
    (tmp_path / 'few_kernels.py').write_text(
        'from liedyn_ros.lie.kernels.vec3 import dot\n\n\ndef warm_up():\n'
        '    dot((1.0, 2.0, 3.0), (4.0, 5.0, 6.0))\n')
    monkeypatch.setenv('PYTHONPATH', str(tmp_path), prepend=os.pathsep)
    parts['frame'] = ('few_kernels:warm_up',)
    assert warm_up.main(['frame']) == 0
    assert ' 0 kernels compiled' not in capsys.readouterr().out
    assert warm_up.main(['frame']) == 0
    assert ' 0 kernels compiled' in capsys.readouterr().out
    (tmp_path / 'others').mkdir(mode=0o777)
    (tmp_path / 'others').chmod(0o777)
    monkeypatch.setenv('NUMBA_CACHE_DIR', str(tmp_path / 'others'))
    assert warm_up.main(['frame']) == 1
    errors = capsys.readouterr().err
    assert 'each start compiles them again' in errors and 'others must not' in errors


@pytest.mark.usefixtures('forks')
def test_kernels_for_others_go_into_a_folder(parts, capsys, tmp_path, monkeypatch):
    parts['frame'] = (QUICK,)
    monkeypatch.chdir(tmp_path)
    assert warm_up.main(['frame', '--into', 'kernels']) == 0
    assert f'{tmp_path / "kernels"} holds 0 kernels' in capsys.readouterr().out
    variables = shipped.environment(tmp_path)
    assert variables['NUMBA_CACHE_DIR'] == str(tmp_path)
    assert variables['NUMBA_CPU_NAME'] == shipped.KINDS[platform.machine()][0]


def test_a_function_that_fails_is_told_with_its_reason(parts, capsys):
    parts.update(good=(QUICK,), bad=('liedyn_ros.jit.cache.folder:no_such_call',))
    assert warm_up.main(['bad', 'good']) == 1
    printed = capsys.readouterr()
    assert "bad: AttributeError: module 'liedyn_ros.jit.cache.folder' has no" in printed.err
    assert 'good: ready' in printed.out


def test_without_ros_the_core_is_compiled(monkeypatch, capsys):
    monkeypatch.setattr(warm_up, 'find_spec', lambda name: None)
    assert warm_up.default_parts() == [warm_up.CORE, warm_up.PLATFORM]
    assert 'without ROS' in capsys.readouterr().out


def test_an_unknown_part_is_refused(capsys):
    with pytest.raises(SystemExit, match='2'):
        warm_up.main(['stewart_pos'])
    assert 'stewart_pose' in capsys.readouterr().err


def test_a_process_that_compiles_ends_with_the_one_that_asked(tmp_path, monkeypatch):
    monkeypatch.setenv('PYTHONPATH', str(tmp_path), prepend=os.pathsep)
    (tmp_path / 'endless.py').write_text(
        'import os, time\n\n\ndef warm_up():\n    print(os.getpid(), flush=True)\n'
        '    time.sleep(3600.0)\n')
    script = ('import sys\nfrom liedyn_ros.jit.beside import compile_beside\n'
              'compile_beside(["endless:warm_up"], sys.stdout.fileno()).wait()')
    with subprocess.Popen(
            [sys.executable, '-c', script], stdout=subprocess.PIPE, text=True) as asked:
        assert int(asked.stdout.readline()) != asked.pid
        asked.kill()
        assert asked.stdout.read() == ''  # which both had open
