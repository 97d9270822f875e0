# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Meshes, by their first byte as one of the formats; read here, not in a process of their own."""

from collections.abc import Iterator
from pathlib import Path
import tempfile

from fuzz.target import PropertyError, require_finite, Run, Target
import trimesh

from liedyn_ros.common import meshes

FORMATS = 'stl', 'obj', 'ply', 'glb', 'dae', 'off', 'stl_ascii'


def make() -> Run:
    """Return a function that reads a mesh."""
    folder = Path(tempfile.mkdtemp(prefix='liedyn_fuzz_'))

    def run(data: bytes) -> bool:
        if not data:
            return False
        path = folder / f'input.{FORMATS[data[0] % len(FORMATS)].partition("_")[0]}'
        path.write_bytes(data[1:])
        answer, = meshes.answers([path])
        for each in () if isinstance(answer, str) else answer:
            require_finite('corners', each.corners)
            if len(each.faces) and not 0 <= each.faces.min() <= each.faces.max() < len(
                    each.corners):
                raise PropertyError(f'expected faces of {len(each.corners)} corners')
        return not isinstance(answer, str)
    return run


def seeds() -> Iterator[bytes]:
    """Return a box in each format."""
    box = trimesh.creation.box()
    for k, name in enumerate(FORMATS):
        content = box.export(file_type=name)
        yield bytes((k,)) + (content.encode() if isinstance(content, str) else content)


TARGET = Target(make, seeds)
