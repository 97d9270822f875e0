# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""
List sentences that break the rules of CONTRIBUTING for English.

``python -m tools.english [path ...]`` reads documents, docstrings, comments and error messages, of
the whole repository by default. It prints file, line, reason and sentence.
"""

from argparse import ArgumentParser
import ast
from collections.abc import Iterable, Iterator
from pathlib import Path
import re
from typing import NamedTuple

ROOT = Path(__file__).parents[1]
LONGEST = 25  # words of a sentence
PRONOUNS = 2  # of WHICH in a sentence
WHICH = re.compile(r'\b(what|that|those|which)\b', re.IGNORECASE)

# Words of a private vocabulary, each with the standard term.
REFUSED = {
    r'rooms?': 'folder, package, scratch buffer',
    r'leans?': 'depends on, residual',
    r'press(es|ed)?': 'constraint force',
    r'sought': 'unknown, requested',
    r'told(?! apart)': 'given, reported, passed',
    r"belongs? to nobody|nobody's": 'undefined between calls',
    r'no more than': 'at most, only',
    r'(?<!degrees of )(?<!degree of )freedoms?': 'mobility, degrees of freedom',
    r'quality(?! of service| declaration| level)': 'inverse condition number',
    r'stretch(es|ed|ing)?': 'leg-length rates',
    r'(?<!made )(?<!consist )of(?=[.;:,])': 'a plain relation',
    r'makes? of': 'result, map',
    r'feels?': 'acts on, perturbs',
    r'(its|the) words(?= (of|are|live))|words and task|words of an': 'buffer, message',
    r'held wrench(es)?': 'world-fixed wrench',
}
HOUSEHOLD = {re.compile(rf'\b({pattern})(?!\w)', re.IGNORECASE): term
             for pattern, term in REFUSED.items()}

FENCE = re.compile(r'^ *```.*?^ *```$|^<!--.*?-->$', re.DOTALL | re.MULTILINE)
END = re.compile(r'(?<=[.!?])(?<!e\.g\.)(?<!i\.e\.)["\')*]*\s+')
TOKEN = re.compile(
    r"""(?P<quotes>'{3}|"{3})(?:\\.|(?!(?P=quotes)).)*(?P=quotes)"""
    r"""|'(?:\\.|[^'\\\n])*'|"(?:\\.|[^"\\\n])*"|(?P<comment>\#[^\n]*)""", re.DOTALL)
LICENCE = 'Copyright'


class Sentence(NamedTuple):
    """A sentence and where its text starts."""

    path: Path
    line: int
    text: str


def plain(text: str) -> str:
    """Return a text without markup; code, a formula and the target of a link are one word."""
    text = re.sub(r'!?\[([^\]]*)\]\([^)]*\)', r'\1', text)
    text = re.sub(r'``[^`]+``|\$?`[^`]+`\$?', '_', text)
    return text.replace('**', '')


def blocks(text: str, first: int = 1) -> Iterator[tuple[int, str]]:
    """Yield line and text of paragraphs, list items, headings and parts of a table's cells."""
    lines: list[str] = []
    start = first
    for number, line in enumerate([*text.splitlines(), ''], start=first):
        bare = line.strip()
        row = bare.startswith('|')
        item = re.match(r'([-*•]|\d+\.|#+) ', bare)
        if not bare or row or item or re.fullmatch(r'[-=~^|: ]+', bare):
            if lines:
                yield start, ' '.join(lines)
            lines = []
        if row:
            for cell in re.split(r' \| |; ', bare.strip('|')):
                yield number, cell.strip()
        elif bare and not re.fullmatch(r'[-=~^|: ]+', bare):
            if not lines:
                start = number
            lines.append(bare[item.end():] if item else bare)


def sentences(text: str, first: int, path: Path) -> Iterator[Sentence]:
    """Yield the sentences of a text."""
    for line, block in blocks(text, first):
        for sentence in END.split(plain(block)):
            yield Sentence(path, line, sentence.strip())


def prose(path: Path) -> Iterator[Sentence]:
    """Yield the sentences of a document; among formulas, semicolon and end of line end one too."""
    text = FENCE.sub(lambda block: '\n' * block[0].count('\n'), path.read_text())
    if 'theory' in str(path):
        text = text.replace('; ', '. ').replace('\\\n', '.\n')
    yield from sentences(text, 1, path)


def statements(tree: ast.AST) -> Iterator[ast.AST]:
    """Yield a module and its statements, without expressions, which are ten times as many."""
    waiting = [tree]
    for node in waiting:
        yield node
        for block in ('body', 'orelse', 'finalbody', 'handlers', 'cases'):
            inner = getattr(node, block, None)
            waiting += inner if isinstance(inner, list) else []


def messages(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """Yield line and text of what is raised; a placeholder is one word."""
    for node in statements(tree):
        if isinstance(node, ast.Raise) and isinstance(node.exc, ast.Call):
            for part in node.exc.args:
                if isinstance(part, ast.Constant) and isinstance(part.value, str):
                    yield part.lineno, part.value
                elif isinstance(part, ast.JoinedStr):
                    yield part.lineno, ''.join(
                        str(piece.value) if isinstance(piece, ast.Constant) else '_'
                        for piece in part.values)


def strings_and_comments(source: str) -> Iterator[tuple[int, re.Match[str]]]:
    """Yield line and match of each string and comment of a module, a tenth of tokenize's time."""
    line, at = 1, 0
    for token in TOKEN.finditer(source):
        line, at = line + source.count('\n', at, token.start()), token.start()
        yield line, token


def comments(source: str) -> Iterator[tuple[int, bool, str]]:
    """Yield line, whether the line holds nothing else, and text of each comment of a module."""
    for line, token in strings_and_comments(source):
        if (text := token['comment']) and not text.startswith(('# noqa', '# type')):
            start = source.rfind('\n', 0, token.start()) + 1
            yield line, not source[start:token.start()].strip(), text.lstrip('#: ')


def annotations(source: str) -> Iterator[tuple[int, bool, str]]:
    """Yield the same of a file that is neither Python nor a document."""
    for number, line in enumerate(source.splitlines(), start=1):
        comment = re.search(r'(^|\s)# ?(.*)$', line)
        if comment:
            yield number, not line[:comment.start()].strip(), comment[2]


def joined(found: Iterable[tuple[int, bool, str]]) -> Iterator[tuple[int, str]]:
    """Yield line and text of comments; lines that hold nothing else are one text."""
    start, last, lines = 0, 0, list[str]()
    for row, alone, text in found:
        if lines and not (alone and row == last + 1):
            yield start, '\n'.join(lines)
            lines = []
        if not lines:
            start = row
        lines.append(text)
        last = row if alone else 0
    if lines:
        yield start, '\n'.join(lines)


def code(path: Path) -> Iterator[Sentence]:
    """Yield the sentences of docstrings, comments and error messages of a module."""
    source = path.read_text()
    tree = ast.parse(source)
    found = list(messages(tree))
    for node in statements(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            text = ast.get_docstring(node, clean=False)
            if text:
                found.append((node.body[0].lineno, text))
    found += [comment for comment in joined(comments(source)) if LICENCE not in comment[1]]
    for line, text in sorted(found):
        yield from sentences(text, line, path)


def marked(path: Path) -> Iterator[Sentence]:
    """Yield the sentences of the comments of a file that is neither Python nor a document."""
    for line, text in joined(annotations(path.read_text())):
        yield from sentences(text, line, path)


def reason(text: str) -> str | None:
    """Return why a sentence is refused, None if it is not."""
    words = [word for word in re.sub(r'\([^()]*[,+*=][^()]*\)', '', text).split()
             if re.search('[A-Za-z]{2}|^a$', word) and '^' not in word]
    pronouns = len(WHICH.findall(text))
    for pattern, term in HOUSEHOLD.items():
        if match := pattern.search(text):
            return f'"{match[0]}", better: {term}'
    if pronouns > PRONOUNS:
        return f'{pronouns} of what, that, those, which'
    if len(words) > LONGEST:
        return f'{len(words)} words'
    return None


def files(paths: list[Path]) -> Iterator[Path]:
    """Yield the files with prose, of folders too."""
    for path in paths:
        for file in sorted(path.rglob('*')) if path.is_dir() else [path]:
            if file.suffix in READERS and not any(
                    part.startswith(('.', '__pycache__')) for part in file.parts):
                yield file


READERS = {'.md': prose, '.rst': prose, '.py': code, '.msg': marked, '.srv': marked,
           '.yaml': marked}


def offenders(paths: list[Path]) -> list[tuple[Sentence, str]]:
    """Return the refused sentences of files and folders, each with the reason."""
    return [(sentence, why) for path in files(paths) for sentence in READERS[path.suffix](path)
            if (why := reason(sentence.text))]


def main() -> None:
    """Print the refused sentences."""
    parser = ArgumentParser(description=__doc__)
    parser.add_argument('paths', nargs='*', type=Path, metavar='PATH', help='files, folders')
    for sentence, why in offenders(parser.parse_args().paths or [ROOT]):
        print(f'{sentence.path}:{sentence.line}: {why}: {sentence.text}')


if __name__ == '__main__':
    main()
