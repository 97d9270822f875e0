# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""README and docs: snippets run and print what the page says; links and names lead somewhere."""

import ast
from pathlib import Path
import re

import numpy as np
from PIL import Image
import pytest

from liedyn_ros.common.other_names import DYNAMICS_NAMES

pytestmark = pytest.mark.full

ROOT = Path(__file__).parents[2]
SNIPPET = re.compile(
    r'^```python\n(?P<code>.*?)^```\n(\n```text\n(?P<printed>.*?)^```\n)?',
    re.DOTALL | re.MULTILINE)
BLOCK = re.compile(r'^ *```.*?^ *```$', re.DOTALL | re.MULTILINE)
TABLE = re.compile(r'^\|(?P<head>.*)\|\n\|[-| ]*\|\n(?P<rows>(\|.*\|\n)+)', re.MULTILINE)
LINK = re.compile(r'\]\((?!https?:)(?P<path>[^)#]*)(?:#(?P<anchor>[^)]*))?\)')
HEADING = re.compile(r'^#+ (.*)$', re.MULTILINE)

PAGES = [*sorted(ROOT.glob('*.md')), *sorted((ROOT / 'docs').rglob('*.md'))]
EXAMPLES = sorted((ROOT / 'examples').glob('*.py'))
COMPARED = {'pinocchio.md': 'coming_from_pinocchio'}  # the example with the calls of a page
FOLDERS = ('.', 'benchmarks', 'config', 'docs', 'examples', 'executables', 'fuzz', 'launch',
           'liedyn_interfaces', 'liedyn_ros', 'requirements', 'test', 'tools')
SOURCES = sorted(path for folder in FOLDERS[1:] for path in (ROOT / folder).rglob('*.py'))
FILE_IN_FOLDER = re.compile(r'(?<![\w/.>-])(\w+/)+\w+\.(py|md|sh|msg|srv)\b')
FILE = re.compile(r'(?<![\w/.>-])(\w+/)*\w+\.(py|md|sh|msg|srv)\b')
MODULE = re.compile(r'\bliedyn_ros(?:\.\w+)+')
# Modules that a user imports: errors, files of the package, nodes and their parts for composition.
MODULES = r'liedyn_ros\.(common\.(errors|resources)|(nodes|ros)\..*)'
WITH_SNIPPETS = [page for page in PAGES if SNIPPET.search(page.read_text())]


def name(page):
    """Return how a test names a page."""
    return str(page.relative_to(ROOT))


def anchors(page):
    """Return the anchors of a page's headings, as GitHub makes them."""
    headings = HEADING.findall(BLOCK.sub('', page.read_text()))
    return {re.sub(r'[^\w\- ]', '', heading.lower()).replace(' ', '-') for heading in headings}


def test_pages_with_snippets_are_found():
    assert {'README.md', 'docs/dynamics.md'} <= set(map(name, WITH_SNIPPETS))


@pytest.mark.parametrize('page', WITH_SNIPPETS, ids=name)
def test_snippets_run(page, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # whoever installed the package has no clone
    text, scope = page.read_text(), {}
    for optional in ('rclpy', 'pinocchio'):
        if f'import {optional}' in text:
            pytest.importorskip(optional)
    for snippet in SNIPPET.finditer(text):
        before = '\n' * text.count('\n', 0, snippet.start('code'))  # for lines in tracebacks
        exec(compile(before + snippet['code'], page, 'exec'), scope)
        printed = capsys.readouterr().out
        assert snippet['printed'] in (None, printed)


def test_the_readme_holds_an_arm_that_needs_efforts(capsys):
    code, scope = next(SNIPPET.finditer((ROOT / 'README.md').read_text()))['code'], {}
    exec(code, scope)
    said = re.search(r'# \[(.*)\] N m, (\w+)', code)
    assert [*map(float, said[1].split())] == scope['tau'].round(1).tolist() and scope['tau'].any()
    assert capsys.readouterr().out.endswith(f'] {said[2]}\n')


def code_of(page):
    """Return the code of all snippets of a page, and of an example that compares its calls."""
    text = page.read_text()
    return ''.join((*(snippet['code'] for snippet in SNIPPET.finditer(text)), *(
        path.read_text() for path in EXAMPLES if path.stem == COMPARED.get(page.name))))


def cells(row):
    """Return the cells of a row of a table."""
    return [cell.strip() for cell in row.strip().strip('|').split('|')]


def calls(page):
    """Return the cells of a page's tables that say which call to make."""
    tables = [(cells(table['head']), table['rows'].splitlines())
              for table in TABLE.finditer(BLOCK.sub('', page.read_text()))]
    return [cells(row)[head.index('call')] for head, rows in tables if 'call' in head
            for row in rows]


# Of Pinocchio, without a twin in the snippets: in C++ alone, random, or of a changed model.
NOT_COMPARED = {
    'ComputeRNEASecondOrderDerivatives', 'addFrame', 'appendModel', 'randomConfiguration',
    'rneaInParallel', 'abaInParallel', 'computeConstraintDynamicsDerivatives'}
WITH_CALLS = [page for page in WITH_SNIPPETS if calls(page) and page.name != 'figures.md']


def test_each_call_of_pinocchio_is_compared():
    """But for a few, and each row has a call; another test runs the comparisons."""
    page = ROOT / 'docs' / 'guides' / 'pinocchio.md'
    head, *rows = map(cells, TABLE.search(BLOCK.sub('', page.read_text()))[0].splitlines())
    assert head[:2] == ['Pinocchio', 'call']
    named = [name for row in rows[1:] for name in re.findall(r'`(?:model\.)?(\w+)', row[0])]
    assert all(row[1] for row in rows[1:])
    assert {name for name in named if name not in code_of(page)} == NOT_COMPARED


def test_names_of_pinocchio_lead_to_the_calls_of_its_table():
    page = ROOT / 'docs' / 'guides' / 'pinocchio.md'
    rows = map(cells, TABLE.search(BLOCK.sub('', page.read_text()))[0].splitlines()[2:])
    for first, call, *_ in rows:
        for name in re.findall(r'`(?:model\.)?(\w+)', first):
            ours = DYNAMICS_NAMES[name.lower()].partition(' of ')[0]
            assert re.findall(r'\w+', ours)[-1] in re.findall(r'\w+', call), (name, ours, call)


def test_pages_with_calls_are_found():
    assert {'docs/dynamics.md', 'docs/partial_derivatives.md'} <= set(map(name, WITH_CALLS))


@pytest.mark.parametrize('page', WITH_CALLS, ids=name)
def test_each_call_of_a_table_has_a_snippet(page):
    """On the page, or on one that its cell leads to; `....f(x)` is any object's method f."""
    missing = []
    for cell in calls(page):
        linked = [page.parent / link['path'] for link in LINK.finditer(cell) if link['path']]
        code = ''.join(map(code_of, [page, *linked]))
        for call in re.findall('`([^`]*)`', cell):
            for path in re.findall(r'([\w.]+)\(', call) or [call]:
                parts = path.strip('.').split('.')
                used = parts[-1] if parts[0] == 'liedyn_ros' else '.'.join(parts[-2:])
                if not re.search(rf'\b{re.escape(used)}\b', code):
                    missing.append(call)
    assert not missing


@pytest.mark.parametrize(('question', 'words', 'most'), [
    ('a leg judged frozen', 'def .*frozen(?!set)', 2), ('the KKT system', 'KKT', 7),
    ('the Jacobian of a loop by a link length', 'link length', 4), ('a stale stamp', 'stale', 16)])
def test_a_search_for_the_words_of_a_question_finds_the_place(question, words, most):
    """So a stranger finds it without the page, whose names are where it says."""
    row, = [line for line in (ROOT / 'docs/architecture.md').read_text().splitlines()
            if line.startswith(f'| Where is {question}')]
    place = ROOT / 'liedyn_ros' / re.search(r'`([\w/]+\.py)`', row)[1]
    for function in re.findall(r'`(?:\w+\.)?([a-z_]+)`', row.partition('`; ')[0]):
        assert f'def {function}(' in place.read_text()
    found = [path for path in SOURCES if path.is_relative_to(ROOT / 'liedyn_ros')
             and re.search(words, path.read_text(), re.IGNORECASE)]
    assert place in found and len(found) <= most


@pytest.mark.parametrize('page', PAGES, ids=name)
def test_links_lead_somewhere(page):
    dead = []
    for link in LINK.finditer(BLOCK.sub('', page.read_text())):
        target = (page.parent / link['path']).resolve() if link['path'] else page
        if not target.exists() or (link['anchor'] and link['anchor'] not in anchors(target)):
            dead.append(link[0])
    assert dead == []


@pytest.mark.parametrize('page', sorted((ROOT / 'docs').rglob('*.md')), ids=name)
def test_each_page_has_a_way_on(page):
    """A link to another page, beside what the site has at its edges."""
    linked = {(page.parent / link['path']).resolve()
              for link in LINK.finditer(BLOCK.sub('', page.read_text()))
              if link['path'].endswith('.md')}
    assert linked - {page}


def files():
    """Return the path of each file of the repository, from each of its folders on."""
    paths = [path.relative_to(ROOT).parts for folder in FOLDERS for path in
             (ROOT.glob('*') if folder == '.' else (ROOT / folder).rglob('*'))]
    return {'/'.join(parts[k:]) for parts in paths for k in range(len(parts))}


def test_named_files_exist():
    """In documents, and with a folder in comments and strings of code."""
    known, missing = files(), []
    for path in [*PAGES, *SOURCES]:
        text = path.read_text()
        for file in (FILE if path.suffix == '.md' else FILE_IN_FOLDER).finditer(text):
            if file[0] not in known:
                missing.append(f'{name(path)}: {file[0]}')
    assert missing == []


def module_of(dotted):
    """Return the file of a module or package, and the names after it."""
    parts = dotted.split('.')
    for k in range(len(parts), 0, -1):
        path = ROOT.joinpath(*parts[:k])
        for file in (path.with_suffix('.py'), path / '__init__.py', path / '__main__.py'):
            if file.is_file():
                return file, parts[k:]
    raise LookupError(dotted)


def test_named_modules_exist():
    """And what is named of one occurs in it."""
    missing = []
    for page in PAGES:
        for dotted in MODULE.findall(page.read_text()):
            file, names = module_of(dotted)
            if names and not re.search(rf'\b{names[0]}\b', file.read_text()):
                missing.append(f'{name(page)}: {dotted}')
    assert missing == []


def exported(package):
    """Return the names in the `__all__` of a package."""
    for node in ast.parse((package / '__init__.py').read_text()).body:
        if isinstance(node, ast.Assign) and node.targets[0].id == '__all__':
            return ast.literal_eval(node.value)
    return []


@pytest.mark.parametrize('page', [*WITH_SNIPPETS, *EXAMPLES], ids=name)
def test_imports_are_of_packages(page):
    """A user's code imports exported names; modules can move. MODULES are interfaces."""
    code = page.read_text() if page.suffix == '.py' else code_of(page)
    refused = []
    for node in ast.walk(ast.parse(code)):
        if isinstance(node, ast.ImportFrom) and node.module.startswith('liedyn_ros'):
            path = ROOT.joinpath(*node.module.split('.'))
            allowed = exported(path) if path.is_dir() else []
            if not re.fullmatch(MODULES, node.module):
                refused += [f'from {node.module} import {alias.name}' for alias in node.names
                            if alias.name not in allowed]
    assert refused == []


def test_every_page_is_on_the_map():
    linked = {(ROOT / 'docs' / link['path']).resolve()
              for link in LINK.finditer((ROOT / 'docs' / 'README.md').read_text())}
    of_site = {ROOT / 'docs' / 'index.md', *(ROOT / 'docs' / 'api').glob('*.md')}  # test_site.py
    assert {name(page) for page in {*(ROOT / 'docs').rglob('*.md')} - of_site} - set(
        map(name, linked - {ROOT / 'CONTRIBUTING.md'})) == {'docs/README.md'}


def test_versions_agree():
    """The newest in the changelog, and those of the manifests, setup.py and the citation."""
    versions = {path: re.search(pattern, (ROOT / path).read_text(), re.MULTILINE)[1]
                for path, pattern in (
                    ('CHANGELOG.rst', r'^(\d+\.\d+\.\d+) \('),
                    ('CITATION.cff', r'^version: (.*)$'),
                    ('setup.py', r"version='(.*)'"),
                    ('package.xml', '<version>(.*)</version>'),
                    ('liedyn_interfaces/package.xml', '<version>(.*)</version>'))}
    assert len(set(versions.values())) == 1, versions


def test_moving_picture(tmp_path):
    """It is drawn by its tool, small, and repeats forever."""
    pytest.importorskip('rclpy')  # the tool takes its motion from the demo
    from tools.pictures.readme import draw, PATH
    draw(tmp_path / 'demos.gif', np.array([0.0, 0.2]))
    with Image.open(tmp_path / 'demos.gif') as drawn, Image.open(PATH) as shown:
        assert drawn.size == shown.size
        assert (drawn.n_frames, shown.info['loop']) == (2, 0)
    assert PATH.stat().st_size < 1_000_000
