# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Command lines of tools that take no argument, or names alone."""

from argparse import ArgumentParser, RawDescriptionHelpFormatter
from collections.abc import Iterable


def no_arguments(about: str | None) -> None:
    """Answer --help by a module's docstring; end the process at any other argument."""
    _parser(about).parse_args()


def names_or_all(about: str | None, known: Iterable[str]) -> list[str]:
    """Return the names of the command line, all known ones where it has none; see no_arguments."""
    parser, known = _parser(about), [*known]
    parser.add_argument('names', nargs='*', metavar='NAME',
                        help=f'some of {", ".join(known)}; all where none is named')
    names: list[str] = parser.parse_args().names
    if unknown := sorted(set(names) - set(known)):
        parser.error(f'expected some of {known}, got {unknown}')
    return names or known


def _parser(about: str | None) -> ArgumentParser:
    return ArgumentParser(description=(about or '').strip(),
                          formatter_class=RawDescriptionHelpFormatter)
