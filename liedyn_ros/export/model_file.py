# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""
The files `.liedyn`: what `libliedyn` needs of a machine, written without compiling anything.

All numbers are of eight bytes, little endian. The header is HEADER_NUMBERS of them. First are the
bytes 'LIEDYN' CR LF, the version of the format, the digest of the layout, and the length of the
file. Then come the CRC-32 of all bytes after the header, the kind of machine (TREE_KIND,
PLATFORM_KIND or LOOPS_KIND), the number of sections, and zero.

Then follow four numbers for each section: its first byte, its length in bytes, its rows, zero.
Sections begin at multiples of 64 bytes. A section of names has texts in UTF-8, each ended by a
zero byte.

The sections of a tree are the constants (`Constants`), and of each link the kind, the place in q
and the place in v. Then come the names of joints, of velocity coordinates and of frames. The last
has of each joint where its coordinates begin in q, how many they are, and the same in v. Those of
a platform are constants, in the order of `kernels/platform.py`, and the names of the legs.
"""

from __future__ import annotations

from collections.abc import Sequence
import os
from pathlib import Path
import struct
import zlib

import numpy as np
from numpy.typing import ArrayLike

from liedyn_ros.common.checks import Array, require_kind
from liedyn_ros.common.errors import LiedynError, ModelError
from liedyn_ros.common.whole_files import write_whole
from liedyn_ros.dynamics.tree.constants import Constants
from liedyn_ros.export.functions import layout
from liedyn_ros.export.kernels import platform as kernels
from liedyn_ros.model import Model
from liedyn_ros.stewart import LevenbergMarquardt, StewartGeometry
from liedyn_ros.stewart.certificate.kernels.pose import CENTRED_TABLE
from liedyn_ros.stewart.certificate.pose import constants_of as constants_of_proofs, unproved
from liedyn_ros.stewart.dynamics.dynamics import constants_of as constants_of_dynamics
from liedyn_ros.stewart.platform.limits import limits_of

MODEL_MAGIC, TREE_KIND, PLATFORM_KIND, LOOPS_KIND, HEADER_NUMBERS = b'LIEDYN\r\n', 1, 2, 3, 8
Section = tuple[bytes, int]  # its bytes and its number of rows
_ALIGNMENT = 64  # bytes


def file_bytes(kind: int, sections: Sequence[Section]) -> bytes:
    """Return the header and the sections of a kind of machine."""
    index, body, start = [], b'', 8 * (HEADER_NUMBERS + 4 * len(sections))
    for content, rows in sections:
        body += bytes(-(start + len(body)) % _ALIGNMENT)
        index.append(struct.pack('<4q', start + len(body), len(content), rows, 0))
        body += content
    rest = b''.join(index) + body
    rest += bytes(-len(rest) % _ALIGNMENT)
    return MODEL_MAGIC + struct.pack(
        '<7q', layout.VERSION, layout.DIGESTS[kind - 1], 8 * HEADER_NUMBERS + len(rest),
        zlib.crc32(rest), kind, len(sections), 0) + rest


def texts(names: Sequence[str]) -> Section:
    """Return a section of names; raise ModelError for one with a zero byte."""
    for name in names:
        if '\0' in name:
            raise ModelError(f'{name!r}: expected a name without a zero byte')
    return b''.join(name.encode() + b'\0' for name in names), len(names)


def model_bytes(model: Model, *, dissipation: bool = True, tree: bool = False) -> bytes:
    """
    Return the content of a model file of a tree, for `liedyn_open`.

    Args:
        model: a Model.
        dissipation: whether damping and friction count.
        tree: leave out closed loops and couplings, such as mimic joints, as Dynamics does.

    Returns:
        bytes.

    Raises:
        ModelError: for closures or couplings otherwise: loops_bytes writes them.
        LiedynError: for anything but a Model.

    >>> len(model_bytes(model)) > 1000
    True
    """
    require_kind('model', model, Model, 'as load_model returns')
    if not tree and (model.closures or model.couplings):
        raise ModelError('model: expected a tree, got one with closures or couplings, '
                         'which loops_bytes writes (tree leaves them out)')
    return file_bytes(TREE_KIND, tree_sections(model, dissipation))


def tree_sections(model: Model, dissipation: bool) -> list[Section]:
    """Return the sections of a tree, and of the spanning tree of a machine with closed loops."""
    constants, links = Constants(model, dissipation), model.link_table
    places = [(joint.q_slice.start, joint.q_slice.stop - joint.q_slice.start,
               joint.v_slice.start, joint.v_slice.stop - joint.v_slice.start)
              for joint in model.joint_list]
    return [
        (constants.table.tobytes(), len(constants.table)),
        (np.array((links.kind, links.qi, links.vi), dtype='<i8').tobytes(), 3),
        *(texts(names) for names in (model.joints, model.coordinate_names, model.frames)),
        (np.array(places, dtype='<i8').tobytes(), len(places))]


def write_model(path: str | os.PathLike[str], model: Model, *, dissipation: bool = True,
                tree: bool = False) -> None:
    """
    Write the model file of a tree.

    Args:
        path: of the file.
        model: a Model.
        dissipation: whether damping and friction count.
        tree: leave out closed loops and couplings.

    Raises:
        OSError: where the file cannot be written.
        ModelError: as model_bytes does.

    >>> write_model(folder / 'arm.lied', model)
    """
    write_whole(Path(path), model_bytes(model, dissipation=dissipation, tree=tree))


def platform_bytes(geometry: StewartGeometry, *, length_bound: ArrayLike = 0.0,
                   joint_bound: float = 0.0) -> bytes:
    """
    Return the content of a model file of a platform, for `liedyn_platform_open`.

    Where encoders have joints of their own it is their geometry, without dynamics.

    Args:
        geometry: a StewartGeometry.
        length_bound: greatest error of each leg's value or of all, for the certificates; m, of
            cranks rad.
        joint_bound: greatest error of a joint's centre; m.

    Returns:
        bytes.

    Raises:
        GeometryError: for more legs than six, and bounds of a platform whose poses cannot be
            proved.
        LimitError: for a negative bound.

    >>> len(platform_bytes(geometry)) > 1000
    True
    """
    if not isinstance(geometry, StewartGeometry):
        raise LiedynError('geometry: expected a StewartGeometry, as load_geometry returns, '
                          f'got {geometry!r}')
    geometry = geometry.readings
    geometry.require_six('model file')
    provable, unit = not unproved(geometry), geometry.characteristic_length
    tables = geometry.table(unit), geometry.table()
    proofs: Array = np.zeros(CENTRED_TABLE + len(tables[0]))
    if provable or np.any(length_bound) or joint_bound:
        proofs = constants_of_proofs(geometry, length_bound, joint_bound)
    dynamics: Array = np.zeros(kernels.NUMBER_OF_CONSTANTS + kernels.LEG_MASS_NUMBERS)
    moved = geometry.masses is not None and geometry.plain
    if moved:
        dynamics = np.concatenate([np.ravel(part) for part in constants_of_dynamics(geometry)])
    head = np.zeros(kernels.LIMITS)
    head[:4] = unit, len(tables[0]), provable, moved
    head[kernels.SOLVER_DAMPING:kernels.SINGULAR_VALUE + 1] = LevenbergMarquardt().as_tuple()
    head[kernels.SCALES:kernels.DRIVE_UNITS], head[kernels.DRIVE_UNITS] = (
        geometry.drive_scales, geometry.reading_unit[0])
    head[kernels.LATENCY:kernels.LATENCY + 6] = geometry.leg_latency
    numbers = np.concatenate((head, limits_of(geometry), *tables, proofs, dynamics))
    return file_bytes(PLATFORM_KIND, [
        (numbers.astype('<f8').tobytes(), len(numbers)), texts(geometry.leg_names)])


def write_platform(path: str | os.PathLike[str], geometry: StewartGeometry, *,
                   length_bound: ArrayLike = 0.0, joint_bound: float = 0.0) -> None:
    """
    Write the model file of a platform.

    Args:
        path: of the file.
        geometry: a StewartGeometry.
        length_bound: as for platform_bytes; m, of cranks rad.
        joint_bound: greatest error of a joint's centre; m.

    Raises:
        OSError: where the file cannot be written.
        GeometryError: as platform_bytes does.

    >>> write_platform(folder / 'platform.lied', geometry)
    """
    write_whole(Path(path), platform_bytes(
        geometry, length_bound=length_bound, joint_bound=joint_bound))
