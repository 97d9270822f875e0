# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Nothing that is read is run: no pickle, no eval, no shell in the package and what starts it."""

import ast
from pathlib import Path

import pytest
from support.syntax import walk

ROOT = Path(__file__).parents[1]
PARTS = 'liedyn_ros', 'launch', 'examples', 'tools', 'benchmarks', 'fuzz', 'docs', 'setup.py'
SNIPPETS = 'tools/pictures/guides.py'  # runs those of the pages of this repository
MODULES = {'pickle', 'cPickle', 'dill', 'cloudpickle', 'joblib', 'marshal', 'shelve', 'jsonpickle'}
BUILT_IN = {'eval', 'exec', '__import__'}
CALLS = {'os.system', 'os.popen', 'yaml.unsafe_load', 'yaml.full_load', 'yaml.load_all',
         'subprocess.getoutput', 'subprocess.getstatusoutput', 'pandas.read_pickle', 'torch.load',
         'asyncio.create_subprocess_shell', 'pty.spawn', 'code.interact'}
# Files are read by untrusted_files alone; beside it these read what is of the package, of what is
# installed, of the system, or what they wrote themselves.
OPENERS = {'np.loadtxt', 'np.genfromtxt', 'np.fromfile', 'np.memmap',
           'ElementTree.parse', 'etree.parse', 'open', 'os.open', 'io.open', 'codecs.open',
           'mujoco.MjModel.from_xml_path', 'tomllib.load', 'configparser.ConfigParser'}
READERS = {
    'commands/liedyn.py',  # to the null device, after a pipe is closed
    'commands/operation/computer.py', 'commands/operation/environment.py', 'common/on_demand.py',
    'commands/operation/security_policy.py', 'bags/types.py',
    'commands/operation/shared_memory.py', 'commands/stewart/drawings/workspace.py',
    'ros/launch.py',
    'common/untrusted_files.py', 'demo/processes.py', 'demo/watching.py', 'model/io/xml_parts.py',
    'ros/process/scheduling.py'}
LOADERS = {'yaml.BaseLoader', 'yaml.CBaseLoader', 'yaml.SafeLoader', 'yaml.CSafeLoader'}


def files():
    """Return the files of Python of the package and of what starts it."""
    found = [each for part in PARTS for each in [ROOT / part, *(ROOT / part).rglob('*.py')]]
    return [each.relative_to(ROOT).as_posix() for each in found
            if each.suffix == '.py' and each != ROOT / SNIPPETS]


def findings(text):
    """Yield what of a source runs data."""
    for node in walk(ast.parse(text)):
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            names = [node.module or ''] if isinstance(node, ast.ImportFrom) else [
                each.name for each in node.names]
            yield from (name for name in names if name.split('.')[0] in MODULES)
        elif isinstance(node, ast.Call):
            name = ast.unparse(node.func)
            options = {each.arg: ast.unparse(each.value) for each in node.keywords}
            if name in BUILT_IN or name in CALLS:
                yield name
            if name == 'yaml.load' and options.get('Loader') not in LOADERS:
                yield name
            if options.get('shell', 'False') != 'False':
                yield f'{name}(shell=...)'
            if options.get('allow_pickle', 'False') != 'False':
                yield f'{name}(allow_pickle=...)'


@pytest.mark.full
def test_nothing_that_is_read_is_run():
    found = {file: list(findings((ROOT / file).read_text(encoding='utf-8'))) for file in files()}
    assert len(found) > 500
    assert {file: each for file, each in found.items() if each} == {}


@pytest.mark.full
def test_files_are_read_in_one_place():
    found = set()
    for path in (ROOT / 'liedyn_ros').rglob('*.py'):
        for node in walk(ast.parse(path.read_text(encoding='utf-8'))):
            name = ast.unparse(node.func) if isinstance(node, ast.Call) else ''
            writes = isinstance(node, ast.Call) and any(
                isinstance(each, ast.Constant) and str(each.value)[:1] in 'wax' and each.value
                for each in node.args)
            if (name in OPENERS or name.endswith(('.read_text', '.read_bytes'))) and not writes:
                found.add(path.relative_to(ROOT / 'liedyn_ros').as_posix())
    assert {each for each in found if not each.startswith(('build/', 'jit/'))} == READERS


@pytest.mark.parametrize('text', [
    'import pickle', 'from pickle import loads', 'import os.path, dill', 'eval(x)', 'exec(x)',
    'os.system(x)', 'subprocess.run(x, shell=True)', 'yaml.load(x)', 'yaml.unsafe_load(x)',
    'yaml.load(x, Loader=yaml.Loader)', 'np.load(x, allow_pickle=True)', 'def f():\n  eval("1")'])
def test_what_runs_data_is_found(text):
    assert list(findings(text))


@pytest.mark.parametrize('text', [
    'yaml.load(x, Loader=yaml.BaseLoader)', 'literal_eval(x)', 'subprocess.run([x], shell=False)',
    'np.load(x, allow_pickle=False)', 'model.eval(x)', 'import json'])
def test_what_only_reads_is_not(text):
    assert not list(findings(text))
