# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The linters, ours and ROS's, over every source file."""

import ast
from hashlib import sha256
from importlib.metadata import distributions
from importlib.util import find_spec
from pathlib import Path
import subprocess
import sys
from xml.etree import ElementTree

from catkin_pkg.package import parse_package
import pytest
from tools.source_text import lacks, nameless, public_definitions

pytestmark = pytest.mark.full

ROOT = Path(__file__).parents[1]
SOURCES = [name for name in (
    'liedyn_ros', 'test', 'launch', 'benchmarks', 'examples', 'fuzz', 'tools', 'setup.py')
    if (ROOT / name).exists()]
HEADER = (ROOT / 'setup.py').read_text().partition('\n\n')[0]


def files(*patterns: str) -> list[Path]:
    """Return our files of the given patterns, without those that were made or installed."""
    places = [ROOT / name for name in SOURCES] + [ROOT / 'liedyn_interfaces', ROOT / 'config']
    found = [path for place in places if place.is_dir()
             for pattern in patterns for path in place.rglob(pattern)]
    return sorted(found + [path for pattern in patterns for path in ROOT.glob(pattern)])


def assert_clean(module: str, *arguments: str) -> None:
    """Run a linter from the repository's root; its findings are the failure's message."""
    package = module.partition('.')[0]
    if find_spec(package) is None:
        pytest.skip(f'{package} is not installed here')
    result = subprocess.run(
        [sys.executable, '-m', module, *arguments], cwd=ROOT, capture_output=True, text=True)
    if result.returncode != 0:
        lines = (result.stdout + result.stderr).splitlines()
        pytest.fail('\n'.join(line for line in lines if not line.startswith(('* ', 'checking '))),
                    pytrace=False)


def assert_files_clean(cache: pytest.Cache, module: str, *options: str) -> None:
    """
    Run a linter of single files on each file that has changed since it was clean.

    ruff and mypy keep such a cache themselves. Other settings, and another version of any package
    of the environment, make all files new.
    """
    packages = sorted(f'{each.name} {each.version}' for each in distributions())
    settings = '\n'.join([module, *options, (ROOT / 'setup.cfg').read_text(), *packages])
    known, key = cache.get(f'linters/{module}', {}), sha256(settings.encode()).hexdigest()
    found = {str(path.relative_to(ROOT)): sha256(key.encode() + path.read_bytes()).hexdigest()
             for path in files('*.py')}
    if changed := [name for name, digest in found.items() if known.get(name) != digest]:
        assert_clean(module, *options, *changed)
    cache.set(f'linters/{module}', found)


def test_ruff():
    assert_clean('ruff', 'check', '.')


def test_mypy():
    # Types of the numpy for Python 3.14 are for newer Pythons than our oldest.
    assert_clean('mypy', *(['--python-version=3.14'] if sys.version_info >= (3, 14) else []))


def test_spelling():
    pages = [str(path.relative_to(ROOT)) for path in (
        *ROOT.glob('*.md'), *ROOT.glob('*.rst'), *(ROOT / 'docs').rglob('*.md'))]
    assert_clean('codespell_lib', *SOURCES, *pages)


def test_flake8(cache):
    assert_files_clean(cache, 'ament_flake8.main', '--config', 'setup.cfg')


def test_pep257(cache):
    # Sections are Google's: no line under their names.
    assert_files_clean(cache, 'ament_pep257.main', '--add-ignore', 'D406', 'D407', 'D413', '--')


def test_copyright():
    """The header in ament's own words; only a sourced ROS 2 has this linter."""
    assert_clean('ament_copyright.main', *SOURCES)


def test_xmllint():
    """The manifests against their schema; only a sourced ROS 2 has this linter."""
    assert_clean('ament_xmllint.main', 'package.xml', 'liedyn_interfaces')


def test_headers():
    sources = files('*.py', '*.sh', '*.cmake', 'CMakeLists.txt', 'Makefile')
    missing = [str(path.relative_to(ROOT)) for path in sources
               if path.stat().st_size and HEADER not in path.read_text()[:800]]
    assert missing == []


def test_manifests():
    versions = set()
    for folder in (ROOT, ROOT / 'liedyn_interfaces', ROOT / 'liedyn_controllers'):
        package = parse_package(str(folder))
        package.validate()
        assert package.package_format == 3
        assert all((folder / each.file).is_file() for each in package.licenses if each.file)
        versions.add(package.version)
    assert len(versions) == 1


def test_xml_is_well_formed():
    roots = {ElementTree.parse(path).getroot().tag
             for path in files('*.xml', '*.urdf', '*.xacro')}
    assert roots == {'package', 'policy', 'robot'}


def test_docstrings_name_their_noun():
    found = [f'{path.relative_to(ROOT)}:{line}: {name}: {text}' for path in files('*.py')
             if path.is_relative_to(ROOT / 'liedyn_ros') for line, name, text in nameless(path)]
    assert found == []


def test_public_names_have_args_returns_raises_and_an_example():
    found = public_definitions(ROOT / 'liedyn_ros')
    assert len(found) > 300 and [
        f'{path.relative_to(ROOT)}: {name}: {", ".join(lacks(node))}'
        for (path, name), node in found.items() if lacks(node)] == []


@pytest.mark.parametrize(('docstring', 'found'), [
    ('Return a.', ['Args', 'Returns', 'Raises', 'b', 'example']),
    ('Args:\n    b: m.\n\nReturns:\n    m.\n\nRaises:\n    E.\n\n>>> f(1)', []),
    ('Args:\n    c: m.\n\nReturns:\n    m.\n\nRaises:\n    E.', ['b', 'example'])])
def test_what_a_docstring_lacks_is_found(docstring, found):
    node = ast.parse('def f(b) -> int:\n    raise E').body[0]
    node.body.insert(0, ast.Expr(ast.Constant(docstring)))
    assert lacks(node) == found
