# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""
Forward and hybrid dynamics at every order with 60 digits, in the ground frame and densely.

Screws, twists and inertias are series whose rates are brackets (7.2), (7.4); what an order needs
is solved with the whole mass matrix. Nothing is eliminated joint by joint.
"""

from typing import Any, NamedTuple

from mpmath import mp
import numpy as np
from support.witnesses.high_precision import cross_matrix, DIGITS
from support.witnesses.motion_witness import exact, start

from liedyn_ros.common.checks import Array
from liedyn_ros.model import Joint, JOINT_TYPES, Model
from liedyn_ros.model.kernels import kinds

Exact = Any  # an array of mpf


class Tree(NamedTuple):
    """Spatial screws (nv, 6), the link of each, who moves whom (L, nv), inertias (L, 6, 6)."""

    screws: Exact
    link: Array
    moves: Array
    inertias: Exact


def forward(model: Model, q: Array, v: Array, tau: Array) -> Exact:
    """Return a and its derivatives (r + 1, nv) of tau and its derivatives, without dissipation."""
    return hybrid(model, q, v, np.zeros(model.nv, dtype=bool), np.zeros_like(tau), tau)[0]


def hybrid(model: Model, q: Array, v: Array, prescribed: Array, a: Array, tau: Array
           ) -> tuple[Exact, Exact]:
    """Return all of a and tau (r + 1, nv), of what is given of either."""
    with mp.workdps(DIGITS):
        tree, orders, sought = tree_of(model, exact(q)), len(a), np.flatnonzero(~prescribed)
        factorial = np.array([[mp.factorial(k)] for k in range(orders + 1)])
        rates = np.vstack([exact(v[None]), exact(np.where(prescribed, a, 0.0)) / factorial[1:]])
        efforts = exact(np.where(prescribed, 0.0, tau)) / factorial[:-1]
        lift, loads = np.concatenate([exact(np.zeros(3)), exact(model.gravity)]), []
        s, inertias = [tree.screws], [tree.inertias]
        twists = [tree.moves @ (rates[0][:, None] * s[0])]
        carried = np.array([tree.inertias[tree.moves[:, j]].sum(axis=0) @ tree.screws[j]
                            for j in range(model.nv)])
        deeper = tree.moves[tree.link].T  # i moves the link of j
        upper = np.where(deeper, tree.screws @ carried.T, mp.mpf(0))
        mass = np.where(deeper, upper, upper.T)
        for k in range(orders):
            ads = [ad(x) for x in twists]
            s.append(sum(np.einsum('jab,jb->ja', ads[i][tree.link], s[k - i])
                         for i in range(k + 1)) / (k + 1))
            inertias.append(-sum(inertias[k - i] @ ads[i]
                                 + np.swapaxes(ads[i], 1, 2) @ inertias[k - i]
                                 for i in range(k + 1)) / (k + 1))
            for again in (False, True):
                twist = tree.moves @ sum(rates[i][:, None] * s[k + 1 - i] for i in range(k + 2))
                load = (k + 1) * sum(np.einsum('lab,lb->la', inertias[k + 1 - i], x)
                                     for i, x in enumerate([*twists, twist]))  # (7.5)
                load = tree.moves.T @ (load - inertias[k] @ lift)  # (7.7)
                forces = sum((s[i] * x).sum(axis=1)
                             for i, x in enumerate([load, *loads[::-1]]))  # (7.8)
                if not again and len(sought):
                    y = mp.lu_solve(mp.matrix(mass[np.ix_(sought, sought)].tolist()),
                                    mp.matrix((efforts[k] - forces)[sought].tolist()))
                    rates[k + 1, sought] = [x / (k + 1) for x in y]
            twists.append(twist)
            loads.append(load)
            efforts[k, prescribed] = forces[prescribed]
        return rates[1:] * factorial[1:], efforts * factorial[:-1]


def tree_of(model: Model, q: Exact) -> Tree:
    """Return what there is at a configuration; axes are unit vectors and rotations orthogonal."""
    poses, lines = {None: exact(np.eye(4))}, {None: np.zeros(model.nv, dtype=bool)}
    screws, link, moves, inertias = exact(np.zeros((model.nv, 6))), [0] * model.nv, [], []
    for body, joint in zip(model.body_list, model.joint_list):
        pose = poses[joint.parent] @ orthogonal(exact(joint.placement))
        line, qi, vi = lines[joint.parent].copy(), joint.qi, joint.vi
        for kind, twists in elementary(joint):
            pose = pose @ start(kind, twists, q[qi:])
            n = len(twists)
            screws[vi:vi + n] = twists @ adjoint(pose).T
            line[vi:vi + n], link[vi:vi + n] = True, [len(moves)] * n
            qi, vi = qi + kinds.NQ[kind], vi + n
            if vi < joint.vi + JOINT_TYPES[joint.type_name].nv:
                moves.append(line.copy())
                inertias.append(exact(np.zeros((6, 6))))
        moves.append(line)
        back = adjoint(inverse(pose))
        inertias.append(back.T @ inertia_of(body.inertia) @ back)
        poses[joint.child], lines[joint.child] = pose, line
    return Tree(screws, np.array(link), np.array(moves), np.array(inertias))


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
        return exact(np.zeros((6, 6)))
    upper = np.triu(inertia.inertia_about_com)
    mass, c = exact(inertia.mass), cross_matrix(exact(inertia.center_of_mass))
    return np.block([[exact(upper + np.triu(upper, 1).T) - mass * c @ c, mass * c],
                     [-mass * c, mass * exact(np.eye(3))]])


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
