# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""
Forward and hybrid dynamics at every order with 60 digits, in the ground frame and densely.

Screws, twists and inertias are series whose rates are brackets (7.2), (7.4). Each order is solved
with the whole mass matrix; nothing is eliminated joint by joint. Joints have sines and roots, so
they are found in mpmath. All else is in decimals, a tenth of the time.
"""

from decimal import Context, Decimal, localcontext
from math import factorial
from typing import Any, NamedTuple

from mpmath import mp
import numpy as np
from support.witnesses.high_precision import (
    cross_matrix, decimals, DIGITS, inverse as inverse_of)
from support.witnesses.motion_witness import exact, start

from liedyn_ros.common.checks import Array
from liedyn_ros.model import Joint, JOINT_TYPES, Model
from liedyn_ros.model.kernels import kinds

Exact = Any  # an array of Decimal, or of mpf in a joint


class Tree(NamedTuple):
    """
    A model at a configuration.

    Spatial screws (nv, 6), the link of each, who moves whom (L, nv), inertias (L, 6, 6), gravity.
    """

    screws: Exact
    link: Array
    moves: Array
    inertias: Exact
    gravity: Array


def forward(tree: Tree, v: Array, tau: Array) -> Exact:
    """Return a and its derivatives (r + 1, nv) of tau and its derivatives, without dissipation."""
    return hybrid(tree, v, np.zeros(len(v), dtype=bool), np.zeros_like(tau), tau)[0]


def hybrid(tree: Tree, v: Array, prescribed: Array, a: Array, tau: Array) -> tuple[Exact, Exact]:
    """Return all of a and tau (r + 1, nv), of what is given of either."""
    with mp.workdps(DIGITS), localcontext(Context(prec=DIGITS)):
        return tuple(np.vectorize(lambda x: mp.mpf(str(x)), otypes=[object])(each)
                     for each in orders(tree, v, prescribed, a, tau))


def orders(tree: Tree, v: Array, prescribed: Array, a: Array, tau: Array
           ) -> tuple[Exact, Exact]:
    """Return a and tau of hybrid, in decimals."""
    count, free = len(a), np.flatnonzero(~prescribed)
    factorials = np.array([[factorial(k)] for k in range(count + 1)], dtype=object)
    rates = np.vstack([decimals(v[None]), decimals(np.where(prescribed, a, 0.0)) / factorials[1:]])
    efforts = decimals(np.where(prescribed, 0.0, tau)) / factorials[:-1]
    lift, loads = decimals(np.concatenate([np.zeros(3), tree.gravity])), []
    s, inertias, twists = [tree.screws], [tree.inertias], [tree.moves @ (
        rates[0][:, None] * tree.screws)]
    ads: list[Exact] = []
    inverse_mass = inverse_of(mass_matrix(tree)[np.ix_(free, free)])
    for k in range(count):
        ads.append(ad(twists[k]))
        s.append(sum(np.einsum('jab,jb->ja', ads[i][tree.link], s[k - i])
                     for i in range(k + 1)) / (k + 1))
        half = sum(inertias[k - i] @ ads[i] for i in range(k + 1))
        inertias.append(-(half + np.swapaxes(half, 1, 2)) / (k + 1))
        held = sum(np.einsum('lab,lb->la', inertias[k + 1 - i], x)
                   for i, x in enumerate(twists))
        for again in (False, True):
            twist = tree.moves @ sum(rates[i][:, None] * s[k + 1 - i] for i in range(k + 2))
            load = (k + 1) * (held + np.einsum('lab,lb->la', inertias[0], twist))  # (7.5)
            load = tree.moves.T @ (load - inertias[k] @ lift)  # (7.7)
            forces = sum((s[i] * x).sum(axis=1)
                         for i, x in enumerate([load, *loads[::-1]]))  # (7.8)
            if not again and len(free):
                rates[k + 1, free] = inverse_mass @ (efforts[k] - forces)[free] / (k + 1)
        twists.append(twist)
        loads.append(load)
        efforts[k, prescribed] = forces[prescribed]
    return rates[1:] * factorials[1:], efforts * factorials[:-1]


def mass_matrix(tree: Tree) -> Exact:
    """Return M, of the inertias that each coordinate carries."""
    carried = np.array([tree.inertias[moved].sum(axis=0) @ screw
                        for moved, screw in zip(tree.moves.T, tree.screws)])
    deeper = tree.moves[tree.link].T  # i moves the link of j
    upper = np.where(deeper, tree.screws @ carried.T, Decimal(0))
    return np.where(deeper, upper, upper.T)


def tree_of(model: Model, q: Array) -> Tree:
    """Return what there is at a configuration; axes are unit vectors and rotations orthogonal."""
    with mp.workdps(DIGITS), localcontext(Context(prec=DIGITS)):
        return _tree_of(model, exact(q))


def _tree_of(model: Model, q: Exact) -> Tree:
    poses, lines = {None: decimals(np.eye(4))}, {None: np.zeros(model.nv, dtype=bool)}
    screws, link, moves, inertias = decimals(np.zeros((model.nv, 6))), [0] * model.nv, [], []
    for body, joint in zip(model.body_list, model.joint_list):
        pose = poses[joint.parent] @ orthogonal(decimals(joint.placement))
        line, qi, vi = lines[joint.parent].copy(), joint.qi, joint.vi
        for kind, twists in elementary(joint):
            pose = pose @ decimals(start(kind, twists, q[qi:]))
            n = len(twists)
            screws[vi:vi + n] = decimals(twists) @ adjoint(pose).T
            line[vi:vi + n], link[vi:vi + n] = True, [len(moves)] * n
            qi, vi = qi + kinds.NQ_OF_KIND[kind], vi + n
            if vi < joint.vi + JOINT_TYPES[joint.type_name].nv:
                moves.append(line.copy())
                inertias.append(decimals(np.zeros((6, 6))))
        moves.append(line)
        back = adjoint(inverse(pose))
        inertias.append(back.T @ inertia_of(body.inertia) @ back)
        poses[joint.child], lines[joint.child] = pose, line
    return Tree(screws, np.array(link), np.array(moves), np.array(inertias), model.gravity)


def elementary(joint: Joint) -> list[tuple[int, Exact]]:
    """Return kinds and twists (n, 6) of the elementary links of a joint."""
    z, x = exact(joint.axis), exact(joint.second_axis)
    z = z / mp.sqrt(z @ z)
    x = x - (x @ z) * z
    x, zero = x / mp.sqrt(x @ x), 0 * z
    axes = {'z': z, 'x': x, 'y': np.cross(z, x)}
    result = []
    for kind, name in JOINT_TYPES[joint.type_name].links:
        axis = axes[name]
        result.append((kind, np.array({
            kinds.REVOLUTE: [[*axis, *zero]], kinds.PRISMATIC: [[*zero, *axis]],
            kinds.HELICAL: [[*axis, *(axis * exact(joint.pitch))]],
            kinds.SPHERICAL: exact(np.eye(6)[:3]), kinds.FREE: exact(np.eye(6))}[kind])))
    return result


def orthogonal(pose: Exact) -> Exact:
    """Return a pose with the rotation next to its own."""
    pose = pose.copy()
    for _ in range(4):  # from 16 digits to 256
        r = pose[:3, :3]
        pose[:3, :3] = r @ (3 * np.eye(3, dtype=int) - r.T @ r) / 2
    return pose


def inertia_of(inertia: Any) -> Exact:
    """Return the spatial inertia (6, 6) of a body."""
    if inertia is None:
        return decimals(np.zeros((6, 6)))
    upper = np.triu(inertia.inertia_about_com)
    mass, c = decimals(inertia.mass), cross_matrix(decimals(inertia.center_of_mass))
    return np.block([[decimals(upper + np.triu(upper, 1).T) - mass * c @ c, mass * c],
                     [-mass * c, mass * decimals(np.eye(3))]])


def inverse(pose: Exact) -> Exact:
    """Return the inverse of a pose."""
    result = pose.copy()
    result[:3, :3], result[:3, 3] = pose[:3, :3].T, -pose[:3, :3].T @ pose[:3, 3]
    return result


def adjoint(pose: Exact) -> Exact:
    """Return Ad_T (6, 6)."""
    r = pose[:3, :3]
    return np.block([[r, 0 * r], [cross_matrix(pose[:3, 3]) @ r, r]])


def ad(twists: Exact) -> Exact:
    """Return ad_V (L, 6, 6) of twists (L, 6)."""
    return np.array([np.block([[cross_matrix(x[:3]), 0 * cross_matrix(x[:3])],
                               [cross_matrix(x[3:]), cross_matrix(x[:3])]]) for x in twists])
