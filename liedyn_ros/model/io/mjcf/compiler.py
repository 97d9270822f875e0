# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""MJCF compiled by MuJoCo, whose own parser and compiler say what a file means."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import PurePath
from typing import Any, NamedTuple
import warnings

import numpy as np

from liedyn_ros.common.checks import Array
from liedyn_ros.common.errors import DescriptionError
from liedyn_ros.common.extras import remedy_of
from liedyn_ros.lie import se3, so3
from liedyn_ros.model.io.mjcf.document import Document

_TETRAHEDRON = [0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0]


class Compiled(NamedTuple):
    """
    A model of MuJoCo, with the names of its parts; `lib` is the package.

    bodies begins with None, the ground. remarks are the warnings of the compiler.
    """

    lib: Any
    model: Any
    bodies: list[str | None]
    joints: list[str]
    remarks: list[str]

    def name(self, kind: str, number: int) -> str:
        """Return the name of a part, by MuJoCo's kind of it, '' for none."""
        return self.lib.mj_id2name(self.model, getattr(self.lib.mjtObj, f'mjOBJ_{kind}'),
                                   number) or ''

    def site(self, number: int) -> tuple[str | None, Array]:
        """Return the body of a site and its pose (4, 4) there."""
        there = self.model
        return (self.bodies[there.site_bodyid[number]],
                placed(there.site_pos[number], there.site_quat[number]))

    def is_off(self, *flags: str) -> bool:
        """Return whether one of the flags turns a part of the dynamics off."""
        bits = [int(getattr(self.lib.mjtDisableBit, f'mjDSBL_{flag}', 0)) for flag in flags]
        return any(self.model.opt.disableflags & bit for bit in bits)


def placed(position: Array, quaternion: Array) -> Array:
    """Return the pose (4, 4) of a position and a quaternion w, x, y, z."""
    unit = np.roll(quaternion, -1) / np.linalg.norm(quaternion)
    return se3.from_rotation_translation(so3.from_quaternion(unit), np.array(position))


def compiled(document: Document) -> Compiled:
    """
    Return a document as a model of MuJoCo.

    Bodies that do not move stay bodies. Meshes that give no mass are not read. Raises
    DescriptionError, with MuJoCo's words, and where MuJoCo is not installed.
    """
    if find_spec('mujoco') is None:
        raise DescriptionError(f'{document.name}: expected the package mujoco, which compiles '
                               f'MJCF: {remedy_of("mujoco")}, got none')
    import mujoco

    remarks: list[str] = []
    with _listening(mujoco, remarks):
        try:
            spec = mujoco.MjSpec.from_string(document.text, include=document.models)
            _provide(spec, document)
            model = spec.compile()
        except DescriptionError:
            raise
        except Exception as error:  # of MuJoCo's own classes, ValueError too
            words = ' '.join(str(error).split()) or type(error).__name__
            raise DescriptionError(f'{document.name}: expected a file that MuJoCo '
                                   f'{mujoco.__version__} compiles, got: {words}') from error
    found = Compiled(mujoco, model, [None], [], remarks)
    for kind, names, count in (('BODY', found.bodies, model.nbody),
                               ('JOINT', found.joints, model.njnt)):
        given = {found.name(kind, i) for i in range(count)}
        for i in range(len(names), count):
            name = found.name(kind, i)
            otherwise = f'{kind.lower()}_{i}'
            while not name and otherwise in given:
                otherwise += '_'
            names.append(name or otherwise)
    return found


@contextmanager
def _listening(mujoco: Any, remarks: list[str]) -> Iterator[None]:
    """Collect MuJoCo's warnings, which it would write to a file in the working folder."""
    before = mujoco.get_mju_user_warning()
    mujoco.set_mju_user_warning(remarks.append)
    try:
        with warnings.catch_warnings(record=True) as others:
            warnings.simplefilter('always')
            yield
            remarks += [str(each.message) for each in others]
    finally:
        mujoco.set_mju_user_warning(before)


def _provide(spec: Any, document: Document) -> None:
    """Give a spec the meshes that masses come from, and a tetrahedron in place of all others."""
    import mujoco

    spec.compiler.fusestatic = False
    spec.compiler.LRopt.mode = int(mujoco.mjtLRMode.mjLRMODE_NONE)
    needed = _meshes_with_mass(spec)
    assets = {}
    for i, mesh in enumerate(spec.meshes):
        if not mesh.file:
            continue
        file, mesh.name = mesh.file, mesh.name or PurePath(mesh.file).stem
        if mesh.name not in needed:
            mesh.file, mesh.uservert = '', _TETRAHEDRON
            continue
        name = PurePath(file).name if spec.strippath else file
        mesh.file = f'{i}{PurePath(name).suffix.lower()}'
        try:
            assets[mesh.file] = document.read(name, spec.meshdir or '')
        except DescriptionError as error:
            raise DescriptionError(
                f'{document.name}: mesh {mesh.name}, {name}: {error}') from error
    spec.assets = assets


def _meshes_with_mass(spec: Any) -> set[str]:
    """Return the meshes of shapes that the compiler takes masses from."""
    rule, (first, last) = int(spec.compiler.inertiafromgeom), spec.compiler.inertiagrouprange
    return {geom.meshname for geom in spec.geoms if geom.meshname
            and geom.parent.name != 'world' and rule != 0 and first <= geom.group <= last
            and (rule == 1 or not geom.parent.explicitinertial)
            and not (geom.mass == 0.0 or (np.isnan(geom.mass) and geom.density == 0.0))}
