# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Input of the commands: options that not every input takes, and what goes with others."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from collections.abc import Iterator, Mapping, Sequence, Set
from contextlib import contextmanager
from pathlib import Path

from liedyn_ros.common.errors import bounded, LiedynError, LimitError, NameSetError


@contextmanager
def about(options: Namespace, paths: Sequence[Path]) -> Iterator[None]:
    """Put files before an error of work on them that names neither one nor an option."""
    try:
        yield
    except LiedynError as error:
        text = str(error)
        value = getattr(options, text.partition(':')[0], None)
        given = value is not None and not isinstance(value, (list, Path))
        named = text.startswith('--') or any(str(each) in text for each in paths)
        if not given and not named:
            error.args = (bounded(f'{", ".join(map(str, paths))}: {text}'),)
        raise


def require_taken(options: Namespace, parser: ArgumentParser, kinds: Set[str],
                  takers: Mapping[str, Sequence[str]]) -> None:
    """
    Raise NameSetError for an option that nothing takes.

    kinds are those of what is given, such as a table or a bag. takers has for each kind the
    options that it alone takes; those with the parser's defaults are not given.
    """
    for kind, names in takers.items():
        for name in names:
            if kind not in kinds and getattr(options, name) != parser.get_default(name):
                raise NameSetError(f'--{name}: expected a {kind}, which alone takes it, got a '
                                   f'{" and a ".join(sorted(kinds))}')


def noise_of(options: Namespace, needed: Mapping[str, bool]) -> dict[str, float] | None:
    """
    Return the deviation of each kind of measurement by its option, None where none is given.

    Of a kind that is not needed it is 1. Raises LimitError where a needed one is missing.
    """
    given = {kind: getattr(options, f'{kind}_noise') for kind in needed}
    if all(value is None for value in given.values()):
        return None
    missing = [kind for kind, needs in needed.items() if needs and given[kind] is None]
    if missing:
        raise LimitError('--' + ', --'.join(f'{kind}-noise' for kind in missing)
                         + ': expected with the noise of the others, got none')
    return {kind: 1.0 if value is None else value for kind, value in given.items()}
