# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Last step of every reader: it names what is implausible, and the file in all warnings."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from pathlib import Path
import warnings

import numpy as np

from liedyn_ros.common.checks import Array
from liedyn_ros.common.errors import DescriptionError, DescriptionWarning, LiedynError, spelled
from liedyn_ros.common.meshes import surfaces
from liedyn_ros.common.packages import candidates
from liedyn_ros.common.xml_reader import Element
from liedyn_ros.model.model import Model
from liedyn_ros.model.plausibility import implausible, Shape


def model_of_file(name: str, read: Callable[[], Model],
                  shapes: Callable[[str], Iterable[Shape]] = lambda body: ()) -> Model:
    """
    Return the model that a reader reads; its errors and warnings name the file.

    shapes returns those of a body, as shapes_of does.

    Numbers that overflow are for the reader to refuse; those that are hardly in kg and m have a
    warning. The warnings are those of the caller's caller. Raises DescriptionError.
    """
    try:
        with np.errstate(over='ignore', invalid='ignore'):
            model = read()
    except DescriptionError:
        raise
    except LiedynError as error:
        raise DescriptionError(f'{name}: {error}') from error
    model = replace(model, warnings=tuple(map(
        spelled, (*model.warnings, *implausible(model, shapes)))))
    for warning in model.warnings:
        warnings.warn(f'{name}: {warning}', DescriptionWarning, stacklevel=3)
    return model


def shapes_of(link: Element, folder: Path | None, place: Callable[[Element], Array]
              ) -> Iterator[Shape]:
    """
    Yield the shapes of a link of URDF or SDF as far as they are known.

    folder is that of the file, for meshes, which trimesh reads where it is installed. place
    returns the pose (4, 4) of an element.
    """
    for each in (*link.each('collision'), *link.each('visual')):
        for xml in each.value.findall('geometry/*'):
            try:
                yield place(each)[:3, 3], _reach(Element(xml, f'/{xml.tag}', each), folder)
            except DescriptionError:  # what is drawn is no part of the model
                continue


def _reach(shape: Element, folder: Path | None) -> float:
    """Return how far a shape is from its frame, 0 where that is not known."""
    if shape.value.tag == 'mesh':
        uri = shape.value.get('filename', shape.value.get('uri', ''))
        path = next((path for path in candidates(uri, folder) if path.is_file()), None)
        return 0.0 if path is None else mesh_reach(
            path, shape.numbers('scale', 3, (1.0, 1.0, 1.0)))
    return float(np.linalg.norm([
        *(0.5 * np.array(shape.numbers('size', 3, (0.0, 0.0, 0.0)))),
        shape.number('radius', 0.0), 0.5 * shape.number('length', 0.0)]))


def mesh_reach(path: Path, scale: Iterable[float]) -> float:
    """Return how far the points of a mesh are from its frame; raises DescriptionError."""
    return max(float(np.linalg.norm(each.corners * np.array(scale), axis=1).max())
               for each in surfaces(path))
