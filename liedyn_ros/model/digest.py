# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""A digest of the parts of a model: what tells its mechanics from those of another."""

from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from hashlib import sha256
from typing import Any

import numpy as np

from liedyn_ros.model.parts.body import Visual

DIGEST_DIGITS = 16


def digest_of(parts: Any) -> str:
    """Return hexadecimal digits of nested parts: names and numbers, not what is only seen."""
    found = sha256()
    for piece in _pieces(parts):
        found.update(piece)
        found.update(b'\0')
    return found.hexdigest()[:DIGEST_DIGITS]


def _pieces(part: Any) -> Iterator[bytes]:
    if isinstance(part, Visual):
        return
    if is_dataclass(part):
        for field in fields(part):
            yield field.name.encode()
            yield from _pieces(getattr(part, field.name))
    elif isinstance(part, np.ndarray):
        yield repr(part.shape).encode()
        yield (part + 0).astype('<f8').tobytes()  # -0.0 is 0.0
    elif isinstance(part, (tuple, list)):
        yield str(len(part)).encode()
        for each in part:
            yield from _pieces(each)
    else:
        yield repr(part + 0.0 if isinstance(part, float) else part).encode()
