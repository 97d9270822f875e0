# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Errors of the package by their attributes, so that a better sentence breaks no test."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from liedyn_ros.common.errors import LiedynError

ANY = object()  # of what is not compared


@contextmanager
def refused(kind: type[LiedynError], *names: str, indices: Any = ANY, expected: Any = ANY,
            got: Any = ANY) -> Iterator[pytest.ExceptionInfo[LiedynError]]:
    """Require an error of a kind that names these, or ANY, and yield it; the others: its own."""
    with pytest.raises(kind) as caught:
        yield caught
    error = caught.value
    assert names in ((ANY,), error.names), str(error)
    for attribute, wanted in (
            ('indices', indices), ('expected', expected), ('got', got)):
        assert wanted is ANY or getattr(error, attribute) == wanted, str(error)
