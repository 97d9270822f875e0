# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""MJCF documents with all that they include, compiled by MuJoCo, which says what they mean."""

from collections.abc import Iterable
from importlib.util import find_spec
import math
import os
from pathlib import Path, PurePath
from typing import Any, NamedTuple
import warnings
from xml.etree import ElementTree

import numpy as np

from liedyn_ros.common.checks import Array, listed
from liedyn_ros.common.description import parse_number, Place
from liedyn_ros.common.errors import DescriptionError
from liedyn_ros.common.extras import remedy_of
from liedyn_ros.common.untrusted_files import read_file
from liedyn_ros.common.xml_reader import Element, is_document, MAX_NODES, read
from liedyn_ros.model.io.xml_parts import unused
from liedyn_ros.model.parts.geometry import quaternion_pose

MAX_MJCF_FILES = 1000  # that a document includes or names
MAX_TOTAL = 2**29  # bytes of all files
MAX_MJCF_DEPTH = 200  # of elements in each other, which MuJoCo reads by recursion
_COUNT_ATTRIBUTES = 'count', 'params', 'cellcount'  # of elements that make others
_UNUSED_ELEMENTS = 'size', 'custom', 'sensor', 'visual', 'statistic'  # of root; some take memory
_SIZE_ATTRIBUTES = 'actdim', 'nsample'  # of an actuator
_SMALLEST_ASSETS = {'texture': {'type': '2d', 'builtin': 'flat', 'width': '1', 'height': '1'},
                    'hfield': {'nrow': '2', 'ncol': '2'}, 'skin': {}}


class Document:
    """
    An MJCF document: one element mujoco, in which elements include are replaced.

    MuJoCo opens no file by itself: includes, attached models and meshes come through here. They
    must be in the folder of the file or in the one that holds it. Pictures are left out.
    """

    def __init__(self, source: str | os.PathLike[str]) -> None:
        """Read the files of XML. Raises DescriptionError."""
        self.root = read(source, 'MJCF', 'mujoco')
        self.name = self.root.path.removesuffix(': mujoco')
        self._folders = [] if is_document(source) else [Path(source).absolute().parent]
        self._files = self._bytes = self._nodes = 0
        self.models: dict[str, bytes] = {}  # files of models that are attached
        self._prepare(self.root, self._folders, 0)

    def path(self, name: str, folder: str = '') -> Path:
        """Return the path of a file that the document names; folder is that of its kind."""
        return self._find(self.root, os.path.join(folder, name), name, self._folders)

    def _prepare(self, element: Element, folders: list[Path], depth: int, copies: int = 1) -> None:
        """Include files, refuse what grows beyond bounds, and leave out what is for the screen."""
        if depth > MAX_MJCF_DEPTH:
            element.fail(f'at most {MAX_MJCF_DEPTH} elements in each other', 'more')
        self._nodes += 1
        if self._nodes > MAX_NODES:
            self.root.fail(f'at most {MAX_NODES} elements', 'more')
        content = []
        for xml in list(element.value):
            inner = Element(xml, f'/{xml.tag}', element)
            if xml.tag == 'include':
                path = self._find(inner, inner.text('file'), '', folders)
                content += list(self._opened(path, folders[:1], depth, copies).value)
                continue
            counts = [max(1.0, parse_number(text) or 1.0) for key in _COUNT_ATTRIBUTES
                      for text in xml.get(key, '').split()]
            made = copies * int(min(math.prod(counts), MAX_NODES + 1.0))
            if made > MAX_NODES:
                inner.fail(f'at most {MAX_NODES} elements made', 'more')
            if xml.tag == 'model' and 'file' in xml.attrib:
                name = inner.text('file')
                path = self._find(inner, name, '', folders)
                if name not in self.models:  # of MJCF or URDF, which another attaches
                    self.models[name] = ElementTree.tostring(self._opened(path, [], depth).value)
            elif xml.tag == 'flexcomp' and 'file' in xml.attrib:
                inner.fail('a flexcomp without a file', repr(xml.get('file')))
            elif any((parse_number(xml.get(key, '0')) or 0.0) > MAX_MJCF_FILES
                     for key in _SIZE_ATTRIBUTES):
                inner.fail(f'at most {MAX_MJCF_FILES} as {" and ".join(_SIZE_ATTRIBUTES)}', 'more')
            elif xml.tag in _UNUSED_ELEMENTS and element.value.tag == 'mujoco':
                continue
            elif xml.tag in _SMALLEST_ASSETS and element.value.tag in ('asset', 'deformable'):
                # The least in place of what is for the screen and for contacts, which need files.
                name = xml.get('name') or Path(xml.get('file', '')).stem
                size = {'size': xml.get('size', '1 1 1 1')} if xml.tag == 'hfield' else {}
                if xml.tag != 'skin' and name:
                    content.append(ElementTree.Element(
                        xml.tag, _SMALLEST_ASSETS[xml.tag] | size | {'name': name}))
                continue
            self._prepare(inner, folders, depth + 1, made)
            content.append(xml)
        element.value[:] = content

    def _opened(self, path: Path, folders: list[Path], depth: int, copies: int = 1) -> Element:
        root = read(path, 'MJCF')
        self._folders += [path.parent]
        self._prepare(root, [*folders, path.parent], depth + 1, copies)
        return root

    def _find(self, element: Element, name: str, beside: str, folders: list[Path]) -> Path:
        """Return the path of a file in the document's folder, or beside the one that names it."""
        if not folders:
            element.fail('an MJCF file, not a text, where it names another', name)
        tried = [Path(os.path.normpath(each)) for each in (
            folders[0] / name, *(place / (beside or name) for place in folders[1:]))]
        path = next((each for each in tried if each.exists()), tried[0])
        allowed = self._folders[0].parent
        if not path.is_relative_to(allowed):
            element.fail(f'a file in {allowed} or below (copy it there)', str(path))
        self._files += 1  # one that is included again counts again
        self._bytes += path.stat().st_size if path.exists() else 0
        if self._files > MAX_MJCF_FILES or self._bytes > MAX_TOTAL:
            element.fail(f'at most {MAX_MJCF_FILES} files of {MAX_TOTAL} bytes in all', 'more')
        return path


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
    unread: dict[str, tuple[str, str]]  # meshes that give no mass: file and its folder

    def name(self, kind: str, number: int) -> str:
        """Return the name of a part, by MuJoCo's kind of it, '' for none."""
        return self.lib.mj_id2name(self.model, getattr(self.lib.mjtObj, f'mjOBJ_{kind}'),
                                   number) or ''

    def site(self, number: int) -> tuple[str | None, Array]:
        """Return the body of a site and its pose (4, 4) there."""
        there = self.model
        return (self.bodies[there.site_bodyid[number]],
                placed(there.site_pos[number], there.site_quat[number]))

    def sum_of(self, tendon: int) -> list[tuple[int, float]] | None:
        """Return the joints of a fixed tendon with their factors; None for another."""
        there, first = self.model, self.model.tendon_adr[tendon]
        part = slice(first, first + there.tendon_num[tendon])
        return None if (there.wrap_type[part] != self.lib.mjtWrap.mjWRAP_JOINT).any() else [
            *zip(there.wrap_objid[part].tolist(), there.wrap_prm[part].tolist())]

    def moved_by(self, actuator: int) -> list[tuple[int, float]]:
        """Return the joints that an actuator moves, with their gears; none for other kinds."""
        there, kinds = self.model, self.lib.mjtTrn
        kind, target = (int(each[actuator]) for each in (
            there.actuator_trntype, there.actuator_trnid[:, 0]))
        gear = float(there.actuator_gear[actuator, 0])
        if kind in (kinds.mjTRN_JOINT, kinds.mjTRN_JOINTINPARENT):
            return [(target, gear)]
        return [] if kind != kinds.mjTRN_TENDON else [
            (joint, gear * factor) for joint, factor in self.sum_of(target) or []]

    def named(self, kind: str, chosen: Iterable[Any]) -> str:
        """Return a list, for messages, of the parts of a kind that are chosen, one value each."""
        return listed([self.name(kind, i) or f'{kind.lower()}_{i}'
                       for i, each in enumerate(chosen) if np.any(each)])

    def is_off(self, *flags: str) -> bool:
        """Return whether one of the flags turns a part of the dynamics off."""
        bits = [int(getattr(self.lib.mjtDisableBit, f'mjDSBL_{flag}', 0)) for flag in flags]
        return any(self.model.opt.disableflags & bit for bit in bits)


def placed(position: Array, quaternion: Array) -> Array:
    """Return the pose (4, 4) of a position and a quaternion w, x, y, z."""
    return quaternion_pose(position, np.roll(quaternion, -1))


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
    before = mujoco.get_mju_user_warning()  # which would write to a file in the working folder
    mujoco.set_mju_user_warning(remarks.append)
    try:
        with warnings.catch_warnings(record=True) as others:
            warnings.simplefilter('always')
            spec = mujoco.MjSpec.from_string(
                ElementTree.tostring(document.root.value, encoding='unicode'),
                include=document.models)
            unread = _provide(spec, document)
            model = spec.compile()
    except DescriptionError:
        raise
    except Exception as error:  # of MuJoCo's own classes, ValueError too
        words = ' '.join(str(error).split()) or type(error).__name__
        raise DescriptionError(f'{document.name}: expected a file that MuJoCo '
                               f'{mujoco.__version__} compiles, got: {words}') from error
    finally:
        mujoco.set_mju_user_warning(before)
    remarks += [str(each.message) for each in others]
    found = Compiled(mujoco, model, [None], [], remarks, unread)
    for kind, names, count in (('BODY', found.bodies, model.nbody),
                               ('JOINT', found.joints, model.njnt)):
        given = [found.name(kind, i) for i in range(count)]
        names += [given[i] or unused(f'{kind.lower()}_{i}', given)
                  for i in range(len(names), count)]
    return found


def _provide(spec: Any, document: Document) -> dict[str, tuple[str, str]]:
    """Give a spec the meshes that masses come from; return the others, tetrahedra in its place."""
    import mujoco

    spec.compiler.fusestatic = False
    spec.compiler.LRopt.mode = int(mujoco.mjtLRMode.mjLRMODE_NONE)
    rule, (first, last) = int(spec.compiler.inertiafromgeom), spec.compiler.inertiagrouprange
    needed = {  # of shapes that the compiler takes masses from
        geom.meshname for geom in spec.geoms if geom.meshname
        and geom.parent.name != 'world' and rule != 0 and first <= geom.group <= last
        and (rule == 1 or not geom.parent.explicitinertial)
        and not (geom.mass == 0.0 or (np.isnan(geom.mass) and geom.density == 0.0))}
    assets, unread = {}, {}
    for i, mesh in enumerate(spec.meshes):
        if not mesh.file:
            continue
        file, mesh.name = mesh.file, mesh.name or PurePath(mesh.file).stem
        if mesh.name not in needed:
            mesh.file, mesh.uservert = '', _TETRAHEDRON
            unread[mesh.name] = file, spec.meshdir or ''
            continue
        name = PurePath(file).name if spec.strippath else file
        mesh.file = f'{i}{PurePath(name).suffix.lower()}'
        with Place(None, f'{document.name}: mesh {mesh.name}, {name}').context():
            assets[mesh.file] = read_file(document.path(name, spec.meshdir or ''))
    spec.assets = assets
    return unread
