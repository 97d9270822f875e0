# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Formulas of the documents are such as GitHub renders: its rules, and what it refuses."""

from pathlib import Path
import re

import pytest

pytestmark = pytest.mark.full

ROOT = Path(__file__).parents[2]
PAGES = sorted(str(page.relative_to(ROOT))
               for page in [*ROOT.glob('*.md'), *(ROOT / 'docs').rglob('*.md')])
FENCE = re.compile(r'^ *(```+|~~~+).*?^ *\1', re.DOTALL | re.MULTILINE)
FORMULA = re.compile(r'\$`([^`]*)`\$')
CODE = re.compile(r'(`+)(?!`).*?(?<!`)\1(?!`)', re.DOTALL)
MACRO = re.compile(r'\\([A-Za-z]+|.)')
# "The following macros are not allowed": GitHub answers so to those that define others or hide.
REFUSED = {'DeclareMathOperator', 'class', 'cssId', 'def', 'hphantom', 'href', 'let', 'mathchoice',
           'mbox', 'mmlToken', 'newcommand', 'newenvironment', 'operatorname', 'phantom',
           'renewcommand', 'require', 'style', 'unicode', 'vphantom'}
# What its MathJax has no package for, and shows as red letters.
UNKNOWN = {'bm', 'coloneqq', 'dv', 'pdv', 'qty', 'si', 'SI', 'norm', 'abs', 'mathds', 'ensuremath'}


def faults(text):
    """Return what GitHub would not render in a page, each with its line."""
    def line(position):
        return text.count('\n', 0, position) + 1

    blank = FENCE.sub(lambda match: re.sub(r'[^\n]', ' ', match[0]), text)
    found = []
    for match in FORMULA.finditer(blank):
        formula, macros = match[1], MACRO.findall(match[1])
        before, after = blank[:match.start()][-1:], blank[match.end():][:1]
        found += [(line(match.start()), fault) for fault, holds in {
            'a letter or digit touches it': before.isalnum() or after.isalnum(),
            'it is empty, or runs over lines': not formula.strip() or '\n' in formula,
            'braces do not close': balance(formula) != 0,
            'left without right, or begin without end': any(
                macros.count(one) != macros.count(other)
                for one, other in (('left', 'right'), ('begin', 'end'))),
            'a dollar': '$' in formula,
            'a bare bar, which a table splits': '|' in formula,
        }.items() if holds]
        found += [(line(match.start()), f'\\{name}')
                  for name in sorted({*macros} & (REFUSED | UNKNOWN))]
    rest = FORMULA.sub(lambda match: ' ' * len(match[0]), blank)
    rest = CODE.sub(lambda match: re.sub(r'[^\n]', ' ', match[0]), rest)
    return found + [(line(match.start()), 'mathematics outside of $`...`$')
                    for match in re.finditer(r'\$|\\begin\b|\\frac\b', rest)]


def balance(formula):
    """Return by how many braces more are opened than closed; escaped ones do not count."""
    plain = re.sub(r'\\.', '', formula)
    return plain.count('{') - plain.count('}')


@pytest.mark.parametrize('page', PAGES)
def test_each_formula_renders(page):
    assert faults((ROOT / page).read_text()) == []


def test_pages_have_formulas():
    assert sum(len(FORMULA.findall((ROOT / page).read_text())) for page in PAGES) > 1500


@pytest.mark.parametrize('text, fault', [
    (r'a $`\operatorname{tr} A`$', r'\operatorname'),
    (r'a $`\bm{A}`$', r'\bm'),
    ('the n$`x`$', 'a letter or digit touches it'),
    ('$`x`$th', 'a letter or digit touches it'),
    ('$`x +\ny`$', 'it is empty, or runs over lines'),
    (r'$`\frac{a}{b`$', 'braces do not close'),
    (r'$`\left( a`$', 'left without right, or begin without end'),
    ('| $`|a|`$ |', 'a bare bar, which a table splits'),
    ('costs $x_1$ and', 'mathematics outside of $`...`$'),
    ('$$\nx\n$$', 'mathematics outside of $`...`$'),
    (r'\begin{matrix} a', 'mathematics outside of $`...`$')])
def test_what_does_not_render_is_found(text, fault):
    assert fault in {name for _, name in faults(text)}


def test_code_may_have_dollars():
    assert faults('`$HOME` and\n```sh\necho $PWD `date`\n```\n``a`$b`` $`x_{1}`$, $`y`$') == []
