# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Each kernel names its equations, and the theory has all formulas that the package names."""

from functools import cache
from pathlib import Path
import re

import pytest
from tools import equations
from tools.source_text import prose

pytestmark = pytest.mark.full

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / 'liedyn_ros'
THEORY = [ROOT / 'docs/theory.md', *sorted((ROOT / 'docs/theory').glob('*.md'))]
CHAPTER = re.compile(r'^##? (?P<number>\d+)\. ', re.MULTILINE)
HEADING = re.compile(r'^#{2,3} (?P<number>\d+\.\d+) ', re.MULTILINE)

NUMBER = r'\d{1,2}\.\d{1,2}[a-z]?'
FORMULA = re.compile(rf'\((?P<numbers>{NUMBER}(?:(?:,| to| and) {NUMBER})*)(?=[),;])')
SECTION = re.compile(r'\b[Tt]heory (?P<number>\d+\.\d+)')
LITERATURE = re.compile(
    r'\((Ali|Kim|Park|Stewart) \d+'
    r'|\b(Featherstone|Golub and Van Loan|Higham|Knuth), \d+\.\d+'
    r'|\bPark and Miller\b'
    r'|\b(Cody and Waite|Lawson and Hanson|Lumelsky|Sommese and Wampler|Stark and Parker|Wampler)'
    r',? \d{4}\b')

WITHOUT_EQUATION = {
    'dynamics/constrained/configurations/kernels/velocity.py':
        'one convex program: the docstring of each kernel is the formula',
    'export/kernels/buffers.py': 'sizes of buffers in a file',
    'export/kernels/arrays.py': 'where arrays lie, and whether indices are those of a tree',
    'export/kernels/interface.py': 'what each argument of the C library is',
    'export/kernels/loop_partials.py': 'calls of kernels with equations',
    'export/kernels/machine.py': 'whether indices in a file are those of closed loops',
    'export/kernels/platform.py': 'places of the parts of a platform in a work area',
    'export/kernels/work.py': 'sizes of the parts of a work area',
    'lie/kernels/mat3.py': 'sums and products of matrices: each docstring is the formula',
    'lie/kernels/vec3.py': 'sums and products of vectors: each docstring is the formula',
    'lie/kernels/words.py': 'where numbers stand in the bytes of a message',
    'stewart/reports/kernels/messages.py': 'numbers of messages in the order of their fields',
    'stewart/tracking/branch/kernels/guess.py': 'comparisons: each docstring is the formula',
    'stewart/tracking/kernels/examination.py': 'calls of kernels with equations',
}


@cache
def text_of(path):
    """Return the docstrings, comments and error messages of a module."""
    return prose(path)


def formulas_of(text):
    """Return the numbers of the formulas that a text names."""
    return [number for found in FORMULA.finditer(text)
            for number in re.findall(NUMBER, found['numbers'])]


def chapters():
    """Return the text of each chapter of the theory by its number."""
    found = {}
    for page in THEORY:
        text = page.read_text()
        starts = list(CHAPTER.finditer(text))
        ends = [start.start() for start in starts[1:]] + [len(text)]
        for start, end in zip(starts, ends):
            found[start['number']] = found.get(start['number'], '') + text[start.start():end]
    return found


def kernels():
    """Return the modules of kernels that have functions, by their paths in the package."""
    return {str(path.relative_to(PACKAGE)): path
            for path in sorted(PACKAGE.glob('**/kernels/*.py'))
            if re.search(r'^def ', path.read_text(), re.MULTILINE)}


def texts_with(pattern):
    """Return the modules of the package in whose prose a pattern may be, with that prose."""
    return [(str(path.relative_to(ROOT)), text_of(path)) for path in sorted(PACKAGE.rglob('*.py'))
            if re.search(pattern, path.read_text())]


def has_reference(text):
    """Return whether a text names a formula, a section of the theory or literature."""
    return any(pattern.search(text) for pattern in (FORMULA, SECTION, LITERATURE))


def test_kernels_name_their_equations():
    missing = [name for name, path in kernels().items() if not has_reference(text_of(path))]
    assert missing == sorted(WITHOUT_EQUATION)


def test_named_formulas_exist():
    """Each in the chapter of its number."""
    theory = {chapter: set(formulas_of(text)) for chapter, text in chapters().items()}
    missing = [f'{name}: ({number})' for name, text in texts_with(r'\(\d{1,2}\.\d')
               for number in formulas_of(text)
               if number not in theory.get(number.split('.')[0], ())]
    assert missing == []


def test_named_sections_exist():
    headings = {heading['number'] for page in THEORY
                for heading in HEADING.finditer(page.read_text())}
    missing = [f'{name}: theory {section["number"]}' for name, text in texts_with('[Tt]heory')
               for section in SECTION.finditer(text) if section['number'] not in headings]
    assert missing == []


@pytest.mark.parametrize(('text', 'formulas'), [
    ('Pivots (3.10), (4.4b).', ['3.10', '4.4b']),
    ('Recursions (7.29 to 7.37, 7.40).', ['7.29', '7.37', '7.40']),
    ('The matrix (7.17, Lemma 1).', ['7.17']),
    ('After 0.5 s (0.5 of them).', [])])
def test_formulas_are_found(text, formulas):
    assert formulas_of(text) == formulas


def test_the_index_is_up_to_date():
    for path, text in equations.pages().items():
        assert path.read_text() == text, 'run: python -m tools.equations'


def test_functions_have_tests_and_equations_without_any_a_reason():
    """The formulas of a reason are in the code."""
    for paper in equations.PAPERS:
        for names, _, functions, tests in equations.rows(paper):
            if '.py' in functions:
                assert '.py: ' in functions and '.py: test_' in tests, names
            else:
                assert functions, f'{names}: expected a reason in its tag of the theory'
                named = equations.mentions(PACKAGE)
                assert [n for n in formulas_of(functions) if n not in named] == [], names


@pytest.mark.parametrize(('tag', 'expected'), [
    ('Kim 7, Kim 8; Park 3', ['Kim 7', 'Kim 8', 'Park 3']),
    ('Kim 78 to 80 (!)', ['Kim 78', 'Kim 79', 'Kim 80']),
    ('Kim 26, Kim 28; a step to (1.19)', ['Kim 26', 'Kim 28']),
    ('Kim Table 3, Kim 43', ['Kim Table 3', 'Kim 43']), ('ours', [])])
def test_equations_of_a_tag_are_found(tag, expected):
    assert [str(each) for each in equations.equations_of(tag)] == expected


def test_equations_that_code_names_are_found():
    text = 'By (Kim 67 to 69), (Stewart 22, 24), Ali 8 and Ali ' 'Lemma 1; not Kim, version 2.'
    assert list(equations.tags_in(text)) == [
        'Kim 67', 'Kim 68', 'Kim 69', 'Stewart 22', 'Stewart 24', 'Ali 8', 'Ali ' 'Lemma 1']
