# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The documentation site: each page has its place, each public name its description, it builds."""

from importlib import import_module
from importlib.util import find_spec, module_from_spec, spec_from_file_location
from pathlib import Path
import re
import subprocess
import sys

import pytest
from tools import badges

import liedyn_ros

pytestmark = pytest.mark.full

ROOT = Path(__file__).parents[2]
DOCS = ROOT / 'docs'
TOCTREE = re.compile(r'```\{toctree\}\n(.*?)```', re.DOTALL)
MODULES = set(re.findall(r'automodule:: (\S+)', '\n'.join(
    page.read_text() for page in (DOCS / 'api').glob('*.md'))))
PARTS = ('aerial', 'control', 'dynamics', 'identification', 'lie', 'model', 'recordings',
         'retiming', 'stewart')


def test_the_table_of_contents_has_each_page_once():
    listed = sorted(line for block in TOCTREE.findall((DOCS / 'index.md').read_text())
                    for line in block.splitlines() if line and not line.startswith(':'))
    pages = {str(page.relative_to(DOCS).with_suffix('')) for page in DOCS.rglob('*.md')}
    assert listed == sorted(pages - {'index'})


def described():
    """Return the identities of what pages describe, with what modules import on demand."""
    modules = [import_module(name) for name in MODULES]
    return {id(getattr(module, name)) for module in modules
            for name in getattr(module, '__all__', vars(module))}


@pytest.mark.parametrize('part', PARTS)
def test_what_each_package_exports_has_its_page(part):
    root = Path(liedyn_ros.__path__[0])
    modules = [import_module('.'.join(('liedyn_ros', *path.parent.relative_to(root).parts)))
               for path in (root / part).rglob('__init__.py')]
    exported = {id(getattr(module, name)): name
                for module in modules for name in getattr(module, '__all__', ())}
    assert [name for key, name in exported.items() if key not in described()] == []


def test_each_name_of_the_package_is_described_where_it_lives():
    values = described()
    assert [name for name in liedyn_ros.__all__
            if id(getattr(liedyn_ros, name)) not in values] == []


@pytest.mark.skipif(find_spec('sphinx') is None or find_spec('furo') is None,
                    reason='Sphinx is not installed here: make docs')
def test_the_site_builds_without_a_warning(tmp_path):
    done = subprocess.run(
        [sys.executable, '-m', 'sphinx', '-W', '--keep-going', '-q', '-b', 'html', str(DOCS),
         str(tmp_path)], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert 'payload' in (tmp_path / 'searchindex.js').read_text()


def test_the_badges_of_the_readme_say_what_the_files_say():
    assert set(badges.values()) == {'licence', 'Python', 'ROS 2'}
    readme = (ROOT / 'README.md').read_text(encoding='utf-8')
    for label, value in badges.values().items():
        file = badges.file_of(label)
        assert file.read_text(encoding='utf-8') == badges.badge(label, value)
        assert f'({file.relative_to(ROOT)})' in readme


def test_the_reference_has_each_message_service_and_action():
    page = (DOCS / 'api' / 'messages.md').read_text(encoding='utf-8')
    for kind in ('msg', 'srv', 'action'):
        for file in (ROOT / 'liedyn_interfaces' / kind).glob('*'):
            assert f'```{{literalinclude}} ../../liedyn_interfaces/{kind}/{file.name}\n' in page
    page = (DOCS / 'api' / 'c.md').read_text(encoding='utf-8')
    for file in (ROOT / 'libliedyn' / 'include').glob('*.in'):
        assert f'../../out/interface/include/{file.stem}\n' in page


def test_an_equation_leads_to_the_line_of_its_function():
    spec = spec_from_file_location('site_conf', DOCS / 'conf.py')
    pytest.importorskip('pygments', reason='Sphinx brings it')
    conf = module_from_spec(spec)
    spec.loader.exec_module(conf)
    file = ROOT / 'liedyn_ros' / 'lie' / 'se3.py'
    line = int(conf.line_of(file, 'lie/se3.py: inverse').removeprefix('#L-'))
    assert file.read_text(encoding='utf-8').splitlines()[line - 1].startswith('def inverse(')
    assert conf.line_of(file, 'lie/se3.py') == ''
