# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""
Write the index of the papers' equations, docs/equations.md and its tables in docs/tables.

Run python -m tools.equations.

An equation has a tag in docs/theory.md, such as [Kim 58], beside a formula. The index adds the
functions and classes whose docstring or comments name one of both, and tests that name one.
Names stand in place of lines, which would be wrong after the next edit. The site has the lines.
"""

import ast
from collections import defaultdict
from collections.abc import Iterator
import csv
from functools import cache
import io
from itertools import groupby
from pathlib import Path
import re
from typing import NamedTuple

from tools.command_line import no_arguments
from tools.source_text import strings_and_comments

ROOT = Path(__file__).resolve().parents[1]
PACKAGE, TESTS, THEORY, PAGE = (
    ROOT / part for part in ('liedyn_ros', 'test', 'docs/theory.md', 'docs/equations.md'))
PAPERS = {'Kim': 'Kim 2012', 'Park': 'Park, Bobrow, Ploen 1995',
          'Ali': 'Ali, Gabellieri, Franchi 2026', 'Stewart': 'Xie, Dai, Liu 2021'}
NAME = '|'.join(PAPERS)
WHAT = '(?:Algorithm|Lemma|Table) '
TAG = re.compile(rf'\[((?:{NAME}) [^\]]*)\]')
ITEM = re.compile(rf'^(?P<paper>{NAME}),? (?P<what>{WHAT})?(?P<first>\d+)'
                  r'(?: to (?P<last>\d+))?')
REASON = re.compile(r'; ((?:a step|an example|numbers|replaced|solved)\b[^\]]*)')
MENTION = re.compile(rf'\b(?P<paper>{NAME})\s+(?P<what>{WHAT})?'
                     r'(?P<numbers>\d+(?:(?:, | to | and )\d+)*)')
EXAMPLES = 'test_equations.py'  # whose tags are input, not proofs
FUNCTIONS = 2  # of an equation that the page names
DEFINED = 12  # characters of a line, within which it numbers its formula
NUMBER = r'\d{1,2}\.\d{1,2}[a-z]?'
FORMULA = re.compile(rf'\((?P<numbers>{NUMBER}(?:(?:,| to| and) {NUMBER})*)(?=[),;])')
HEADING = re.compile(r'^#{2,3} (?P<number>\d+(?:\.\d+)?)\.? ')
TITLE = """# Index of equations

Where each equation of the papers is in the [theory](theory.md), in the code and in a test; written
by `python -m tools.equations`. `Kim 58` is equation 58 of Kim's paper, `Stewart 16` equation 16 of
Xie, Dai and Liu; search the repository for such a tag to see all places. In the column *theory*,
`(1.2)` is a formula and `7` a section. Where a paper has a misprint, code and theory follow the
[corrected formula](errata.md). Park, Kim, Jang, Hong 2018, a review, has no tags: see sections
1 to 3 and 6. dexp is (1.14), the left Jacobian of `lie.se3`. To try a formula, edit, then
`LIEDYN_JIT=1` or `python -m liedyn_ros.build`.
"""


class Equation(NamedTuple):
    """An equation, table, algorithm or lemma of a paper; sorted as in it."""

    paper: str
    what: str
    number: int

    def __str__(self) -> str:
        """Return its tag."""
        return f'{self.paper} {self.what}{self.number}'


class Place(NamedTuple):
    """A function or class, or a module where name is empty."""

    path: Path
    name: str

    def __str__(self) -> str:
        """Return the file within the package or the tests, and the name; the site links it."""
        _, _, short = self.path.relative_to(ROOT).as_posix().partition('/')
        return f'{short}{": " if self.name else ""}{self.name}'


def equations_of(tag: str) -> Iterator[Equation]:
    """Provide the equations of a tag of the theory."""
    for part in re.split('[;,] ', tag):
        if found := ITEM.match(part):
            first = int(found['first'])
            for number in range(first, int(found['last'] or first) + 1):
                yield Equation(found['paper'], found['what'] or '', number)


def numbers_of(text: str) -> Iterator[str]:
    """Provide the formulas that a text names."""
    for found in FORMULA.finditer(text):
        yield from re.findall(NUMBER, found['numbers'])


def of_theory() -> tuple[dict[Equation, list[str]], dict[str, list[str]], dict[Equation, str]]:
    """
    Return the formulas and sections of each equation, those of a section, and reasons.

    Formulas are in brackets. A reason says why no function names an equation, after it in its tag:
    [Kim 26; a step to (1.19)].
    """
    found: dict[Equation, list[str]] = defaultdict(list)
    reasons: dict[Equation, str] = {}
    sections: dict[str, list[str]] = defaultdict(list)
    section = ''
    for line in THEORY.read_text().splitlines():
        if heading := HEADING.match(line):
            section = heading['number']
        if defined := next(numbers_of(line[:DEFINED]), ''):
            sections[section].append(defined)
        for tag in TAG.finditer(line):
            before, after = (list(numbers_of(TAG.sub('', part)))
                             for part in (line[:tag.start()], line[tag.end():]))
            near = [*reversed(before), *after]
            place = f'({near[0]})' if near else section
            for equation in equations_of(tag[1]):
                if place not in found[equation]:
                    found[equation].append(place)
                if reason := REASON.search(tag[1]):
                    reasons[equation] = reason[1]
    return found, sections, reasons


def prose(source: str) -> list[str]:
    """Return the lines of a file with nothing but its comments, docstrings and other strings."""
    lines = [''] * (len(source.splitlines()) + 1)
    for first, token in strings_and_comments(source):
        for at, line in enumerate(token[0].splitlines(), first - 1):
            lines[at] += f'{line} '
    return lines


def definitions(tree: ast.Module) -> list[tuple[str, ast.FunctionDef | ast.ClassDef]]:
    """Return the functions of a module, outer ones first, then its classes, with their names."""
    found: list[tuple[str, ast.FunctionDef | ast.ClassDef]] = []
    waiting: list[tuple[str, ast.AST]] = [('', tree)]
    for name, node in waiting:
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            name = f'{name}.{node.name}'.removeprefix('.')
            found.append((name, node))
        for block in ('body', 'orelse', 'handlers', 'finalbody'):
            inner = getattr(node, block, ())
            waiting += [(name, each) for each in inner if not isinstance(each, ast.Expr)
                        ] if isinstance(inner, list) else []
    return sorted(found, key=lambda each: isinstance(each[1], ast.ClassDef))


def texts(path: Path) -> Iterator[tuple[Place, str]]:
    """Provide the prose of each definition of a file that names equations, and that outside."""
    source = path.read_text()
    if not names_an_equation(source):  # which is sooner found out than what is prose
        return
    lines, names = prose(source), set()
    if not names_an_equation('\n'.join(lines)):
        return
    for name, node in definitions(ast.parse(source)):
        names.add(name)
        yield Place(path, name), '\n'.join(lines[node.lineno - 1:node.end_lineno])
        for at in range(node.lineno - 1, node.end_lineno or node.lineno):
            lines[at] = ''
    yield Place(path, path.stem if path.stem in names else ''), '\n'.join(lines)


def names_an_equation(text: str) -> bool:
    """Return whether a text names an equation or a formula, or has numbers that look like one."""
    return bool(FORMULA.search(text) or MENTION.search(text))


@cache
def mentions(folder: Path) -> dict[str, list[Place]]:
    """Return the places below a folder that name each equation or formula."""
    found: dict[str, list[Place]] = defaultdict(list)
    for path in sorted(folder.rglob('*.py')):
        for place, text in texts(path):
            for name in sorted({*numbers_of(text), *tags_in(text)}):
                found[name].append(place)
    return dict(found)


def tags_in(text: str) -> Iterator[str]:
    """Provide the tags of equations that a text of the code names."""
    for found in MENTION.finditer(text):
        parts = re.split('(, | to | and )', found['numbers'])
        last = 0
        for separator, number in zip(['', *parts[1::2]], map(int, parts[::2])):
            for each in range(last + 1 if separator == ' to ' else number, number + 1):
                yield f'{found["paper"]} {found["what"] or ""}{each}'
            last = number


def proofs(name: str) -> list[Place]:
    """Return the functions of tests that name an equation or formula."""
    return [place for place in mentions(TESTS).get(name, ())
            if place.path.name.startswith('test_') and place.path.name != EXAMPLES
            and place.name.startswith('test_')]


def linked(places: list[Place], most: int) -> str:
    """Return the first places, and how many more there are."""
    more = f' and {len(places) - most} more' if len(places) > most else ''
    return '; '.join(map(str, places[:most])) + more


def rows(paper: str) -> Iterator[tuple[str, ...]]:
    """Provide the rows of a paper: equations, theory, functions, tests."""
    code, (theory, sections, reasons), found = mentions(PACKAGE), of_theory(), []
    for name in code:  # equations that the theory does not repeat
        for equation in equations_of(name):
            theory.setdefault(equation, ['-'])
    for equation, places in sorted(theory.items()):
        if equation.paper != paper:
            continue
        formulas = [each for each in places if each[0] == '(']
        names = [str(equation), *(each.strip('()') for each in formulas), *(
            name for each in places if not formulas and str(equation) not in code
            for name in sections[each])]
        functions, tests = (sorted({place for name in names for place in find(name)})
                            for find in (lambda name: code.get(name, ()), proofs))
        functions = [place for place in functions if place.name or not any(
            other.path == place.path for other in functions if other.name)]
        shown, tested = linked(functions, FUNCTIONS), linked(tests, 1)
        found.append((equation, (
            ', '.join(formulas or places), shown or reasons.get(equation, ''), tested)))
    for cells, group in groupby(found, lambda row: row[1]):
        alike = [equation for equation, _ in group]
        yield ', '.join(str(each) for each in alike), *cells


def pages() -> dict[Path, str]:
    """Return the texts of the page and of the tables that the site shows on it."""
    found = {PAGE: TITLE}
    for paper, title in PAPERS.items():
        table = io.StringIO(newline='')
        csv.writer(table, lineterminator='\n').writerows(
            [('equation', 'theory', 'functions', 'tests'), *rows(paper)])
        file = PAGE.parent / 'tables' / f'equations_{paper.lower()}.csv'
        found[file] = table.getvalue()
        found[PAGE] += f'\n## {title}\n\n[Equations of {paper}](tables/{file.name})\n'
    return found


if __name__ == '__main__':
    no_arguments(__doc__)
    for path, text in pages().items():
        path.write_text(text)
    print(f'in {PAGE}')
