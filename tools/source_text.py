# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""
Statements, docstrings and comments of a module; docstrings that do not say what they should.

``python -m tools.source_text [path ...]`` lists docstrings that do not name their noun, of the
package by default, and public functions and classes without Args, Returns, Raises or an example.
"""

from argparse import ArgumentParser
import ast
from collections.abc import Iterator
from pathlib import Path
import re

ROOT = Path(__file__).parents[1]
TOKEN = re.compile(
    r"""(?P<quotes>'{3}|"{3})(?:\\.|(?!(?P=quotes)).)*(?P=quotes)"""
    r"""|'(?:\\.|[^'\\\n])*'|"(?:\\.|[^"\\\n])*"|(?P<comment>\#[^\n]*)""", re.DOTALL)
EXAMPLE = re.compile(r'^ *>>> .*(?:\n(?! *$).*)*', re.MULTILINE)  # with its results
# A reader who sees this docstring alone, in an editor, does not know what it is about.
NAMELESS = re.compile(
    r'(\w+e?s? )?(what|those|that of|the same|the others?|which|it|them|these)\b', re.IGNORECASE)


def statements(tree: ast.AST) -> Iterator[ast.AST]:
    """Yield a module and its statements, without expressions, which are ten times as many."""
    waiting = [tree]
    for node in waiting:
        yield node
        for block in ('body', 'orelse', 'finalbody', 'handlers', 'cases'):
            inner = getattr(node, block, None)
            waiting += inner if isinstance(inner, list) else []


def strings_and_comments(source: str) -> Iterator[tuple[int, re.Match[str]]]:
    """Yield line and match of each string and comment of a module, a tenth of tokenize's time."""
    line, at = 1, 0
    for token in TOKEN.finditer(source):
        line, at = line + source.count('\n', at, token.start()), token.start()
        yield line, token


def docstrings(tree: ast.AST) -> Iterator[tuple[int, str, str]]:
    """Yield line, name and text of the docstrings of a module, its classes and functions."""
    for node in statements(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            text = ast.get_docstring(node)
            if text:
                yield node.body[0].lineno, getattr(node, 'name', 'the module'), text


def prose(path: Path) -> str:
    """Return the docstrings and comments of a module, as one text without examples."""
    source = path.read_text(encoding='utf-8')
    comments = (token['comment'] for _, token in strings_and_comments(source))
    return '\n'.join([*(EXAMPLE.sub('', text) for *_, text in docstrings(ast.parse(source))),
                      *(each for each in comments if each)])


def nameless(path: Path) -> list[tuple[int, str, str]]:
    """Return line, name and first line of the docstrings of a module that name no noun."""
    found = docstrings(ast.parse(path.read_text(encoding='utf-8')))
    return [(line, name, text.splitlines()[0]) for line, name, text in found
            if NAMELESS.match(text)]


def public_definitions(root: Path) -> dict[tuple[Path, str], ast.ClassDef | ast.FunctionDef]:
    """Return by file and name the functions and classes that packages of root list in __all__."""
    trees: dict[Path, ast.Module] = {}
    found: dict[tuple[Path, str], ast.ClassDef | ast.FunctionDef] = {}

    def look(path: Path, name: str, seen: frozenset[Path] = frozenset()) -> None:
        if path not in trees:
            trees[path] = ast.parse(path.read_text(encoding='utf-8'))
        for node in statements(trees[path]):
            if isinstance(node, ast.ClassDef | ast.FunctionDef) and node.name == name:
                found[path, name] = node
                return
            if isinstance(node, ast.ImportFrom) and node.module:
                base = root.parent / node.module.replace('.', '/')
                source = next(filter(Path.is_file, (
                    base.with_suffix('.py'), base / '__init__.py')), None)
                for each in node.names:
                    if source and source not in seen and name == (each.asname or each.name):
                        look(source, each.name, seen | {path, source})

    for package in sorted(root.rglob('__init__.py')):
        for node in ast.parse(package.read_text(encoding='utf-8')).body:
            if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == '__all__':
                for name in ast.literal_eval(node.value):
                    look(package, name)
    return found


def lacks(node: ast.ClassDef | ast.FunctionDef) -> list[str]:
    """Return the sections that the docstring of a public function or class does not have."""
    text, function = ast.get_docstring(node) or '', node
    if isinstance(node, ast.ClassDef):
        makers = [each for each in node.body
                  if isinstance(each, ast.FunctionDef) and each.name == '__init__']
        if not makers:
            return [] if '>>>' in text else ['example']
        function = makers[0]
        text += '\n' + (ast.get_docstring(function) or '')
    arguments = [each.arg for each in function.args.args + function.args.kwonlyargs
                 if each.arg not in ('self', 'cls')]
    result = isinstance(node, ast.FunctionDef) and ast.unparse(
        node.returns or ast.Constant(None)) != 'None'
    raised = any(isinstance(each, ast.Raise) for each in ast.walk(function))
    found = [section for section, wanted in (
        ('Args', bool(arguments)), ('Returns', result), ('Raises', raised))
        if wanted and not re.search(rf'^ *{section}:$', text, re.MULTILINE)]
    found += [name for name in arguments if not re.search(rf'\b{name}\b', text)]
    return found + ([] if '>>>' in text else ['example'])


def main() -> None:
    """Print the docstrings that do not name their noun, and what those of public names lack."""
    parser = ArgumentParser(description=__doc__)
    parser.add_argument('paths', nargs='*', type=Path, metavar='PATH', help='files, folders')
    for path in parser.parse_args().paths or [ROOT / 'liedyn_ros']:
        for file in sorted(path.rglob('*.py')) if path.is_dir() else [path]:
            for line, name, text in nameless(file):
                print(f'{file}:{line}: {name}: {text}')
    for (file, name), node in public_definitions(ROOT / 'liedyn_ros').items():
        if lacks(node):
            print(f'{file}:{node.lineno}: {name}: without {", ".join(lacks(node))}')


if __name__ == '__main__':
    main()
