# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""
Joint forces and their derivatives without recursions, body frames or formulas for derivatives.

The poses of all bodies in the ground are computed at a few instants 1e-12 s apart with 200 digits.
Differences give their Taylor coefficients. The rest is mechanics in the ground frame: force and
moment are the rates of momentum and angular momentum. A joint transmits the sum for the bodies it
carries. Poses have sines and roots, so they are found in mpmath; the rest is in decimals, a tenth
of the time.
"""

from decimal import Context, localcontext
from functools import cache
from math import factorial
from typing import Any, NamedTuple

from mpmath import mp
import numpy as np
from support.witnesses.high_precision import cross_matrix, decimals

from liedyn_ros.common.checks import Array
from liedyn_ros.model import Joint, JOINT_TYPES, Model
from liedyn_ros.model.kernels import kinds

DIGITS = 200
STEP = 1e-12  # s
SPARE = 5  # instants more than coefficients: the error is about STEP ** SPARE
Exact = Any  # an array of mpf or Decimal; a series has its coefficients along the first axis


class Forces(NamedTuple):
    """
    Derivatives of v (order + 2, nv) and of tau (order + 1, nv).

    poses are coefficients (order + 3, B, 4, 4), decimals, of the poses of all bodies in the
    ground.
    """

    motion: Array
    tau: Array
    poses: Exact


class Step(NamedTuple):
    """A part of a joint: from a pose it moves by n twists (n, 6), the coordinates from vi on."""

    start: Exact
    twists: Exact
    vi: int


def witness(model: Model, q: Array, paths: Array, external: Array,
            closures: Array | None = None) -> Forces:
    """
    Return a motion and the forces it needs.

    From q on each coordinate follows the polynomial with coefficients paths (n, nv) of t, t^2 and
    so on. Those of a spherical or free link are exponential coordinates of its pose. external
    (order + 1, B, 6) has the derivatives of wrenches in body frames, closures (order + 1, C, 6)
    those that closures put on their bodies b, in frames b.
    """
    with mp.workdps(DIGITS), localcontext(Context(prec=DIGITS)):
        order = len(external) - 1
        chains = [steps(joint, exact(q)) for joint in model.joint_list]
        placements = exact([joint.placement for joint in model.joint_list])
        instants = [mp.mpf(STEP) * i for i in range(order + 3 + SPARE)]
        shots = [snapshot(model, placements, chains, exact(paths), t) for t in instants]
        moved, after, bodies = (fit(decimals(np.array(part)), order + 3) for part in zip(*shots))
        wrenches = [net_wrench(model, i, bodies[:, i], coefficients(decimals(external[:, i])))
                    for i in range(len(chains))]
        if closures is not None:
            load_closures(model, wrenches, bodies, coefficients(decimals(closures)))
        motion, tau = np.zeros((2, order + 2, model.nv), dtype=object)
        places = [(i, step) for i, chain in enumerate(chains) for step in chain]
        for n, (i, step) in enumerate(places):
            load = sum(wrenches[j] for j in carried(model, i))
            twist = vee(product(inverse(moved[:, n]), rate(moved[:, n])))
            for k, screw in enumerate(decimals(step.twists)):
                at = step.vi + k
                motion[:, at] = twist @ screw / (screw @ screw)
                tau[:order + 1, at] = product(seen(after[:, n], screw), load)[:order + 1]
        return Forces(derivatives(motion), derivatives(tau[:order + 1]), bodies)


def steps(joint: Joint, q: Exact) -> list[Step]:
    """Return the parts of a joint, which start as q has them."""
    z, x = exact(joint.axis), exact(joint.second_axis)
    axes, zero = {'z': z, 'x': x, 'y': np.cross(z, x)}, z * 0
    result, qi, vi = [], joint.qi, joint.vi
    for kind, name in JOINT_TYPES[joint.type_name].links:
        axis = axes[name]
        twists = {
            kinds.REVOLUTE: [[*axis, *zero]], kinds.PRISMATIC: [[*zero, *axis]],
            kinds.HELICAL: [[*axis, *(axis * exact(joint.pitch))]],
            kinds.SPHERICAL: np.eye(6)[:3], kinds.FREE: np.eye(6)}[kind]
        twists = np.array(exact(twists))
        result.append(Step(start(kind, twists, q[qi:]), twists, vi))
        qi, vi = qi + kinds.NQ_OF_KIND[kind], vi + kinds.NV_OF_KIND[kind]
    return result


def start(kind: int, twists: Exact, q: Exact) -> Exact:
    """Return the pose of a part of a joint."""
    if kind < kinds.SPHERICAL:
        return exp(twists[0] * q[0])
    pose = exact(np.eye(4))
    if kind == kinds.FREE:
        pose[:3, 3], q = q[:3], q[3:]
    u, s = cross_matrix(q[:3]), q[3]
    norm = sum(x * x for x in q[:4])
    pose[:3, :3] += (2 * s * u + 2 * u @ u) / norm
    return pose


def snapshot(model: Model, placements: Exact, chains: list[list[Step]], paths: Exact, t: Exact
             ) -> Exact:
    """Return all poses of parts alone, of parts in the ground, and of bodies in the ground."""
    alone, after, bodies = [], [], {None: exact(np.eye(4))}
    travel = sum(path * t**(k + 1) for k, path in enumerate(paths))
    for joint, placement, chain in zip(model.joint_list, placements, chains):
        pose = bodies[joint.parent] @ placement
        for step in chain:
            moved = step.start @ exp(travel[step.vi:step.vi + len(step.twists)] @ step.twists)
            pose = pose @ moved
            alone.append(moved)
            after.append(pose)
        bodies[joint.child] = pose
    return alone, after, [bodies[name] for name in model.bodies]


def net_wrench(model: Model, i: int, pose: Exact, external: Exact) -> Exact:
    """Return the moment about the origin of the ground, then the force, that a body needs."""
    r, p, inertia = pose[:, :3, :3], pose[:, :3, 3], model.body_list[i].inertia
    force = -product(r, external[:, 3:])
    moment = -product(r, external[:, :3]) + cross(p, force)
    if inertia is not None:
        m, gravity = decimals(inertia.mass), decimals(model.gravity)
        c = p + r @ decimals(inertia.center_of_mass)
        spin = product(rate(r), np.swapaxes(r, 1, 2))
        w = np.stack([spin[:, 2, 1], spin[:, 0, 2], spin[:, 1, 0]], axis=1)
        inertia_about_com = product(r @ decimals(inertia.inertia_about_com), np.swapaxes(r, 1, 2))
        about_com = product(inertia_about_com, w)
        force = force + rate(rate(c)) * m
        force[0] -= gravity * m
        moment = moment + rate(about_com) + cross(c, rate(rate(c))) * m
        moment = moment - np.array([np.cross(x, gravity) for x in c[:len(moment)]]) * m
    return np.concatenate([moment, force], axis=1)


def load_closures(model: Model, wrenches: list[Exact], bodies: Exact, closures: Exact) -> None:
    """Take what closures put on bodies b, and on bodies a against it, from what bodies need."""
    for c, closure in enumerate(model.closures):
        r, p = axes_and_origin(model, closure.body_b, closure.frame_b, bodies)
        force = product(r, closures[:, c, 3:])
        moment = product(r, closures[:, c, :3]) + cross(p, force)
        load = np.concatenate([moment, force], axis=1)
        for body, sign in ((closure.body_b, -1), (closure.body_a, 1)):
            if body is not None:
                i = model.body_index(body)
                wrenches[i] = wrenches[i][:len(load)] + sign * load


def axes_and_origin(model: Model, body: str | None, frame: Array, bodies: Exact
                    ) -> tuple[Exact, Exact]:
    """Return the axes and the origin of a frame on a body, in the ground, as series."""
    if body is None:
        pose = np.zeros((len(bodies), 4, 4), dtype=object)
        pose[0] = decimals(frame)
    else:
        pose = bodies[:, model.body_index(body)] @ decimals(frame)
    return pose[:, :3, :3], pose[:, :3, 3]


def carried(model: Model, i: int) -> list[int]:
    """Return the bodies that a joint carries."""
    names = {model.joint_list[i].child}
    for joint in model.joint_list[i:]:
        if joint.parent in names:
            names.add(joint.child)
    return [j for j, joint in enumerate(model.joint_list) if joint.child in names]


def seen(pose: Exact, screw: Exact) -> Exact:
    """Return a screw of a moving frame in the ground."""
    w, v = pose[:, :3, :3] @ screw[:3], pose[:, :3, :3] @ screw[3:]
    return np.concatenate([w, v + cross(pose[:, :3, 3], w)], axis=1)


def exp(twist: Exact) -> Exact:
    """Return the exponential of a twist by its closed form."""
    w, angle = cross_matrix(twist[:3]), mp.sqrt(sum(x * x for x in twist[:3]))
    a, b, c = mp.mpf(1), mp.mpf(1) / 2, mp.mpf(1) / 6
    if angle:
        a, b = mp.sin(angle) / angle, (1 - mp.cos(angle)) / angle**2
        c = (angle - mp.sin(angle)) / angle**3
    pose = exact(np.eye(4))
    pose[:3, 3] = (pose[:3, :3] + w * b + w * c @ w) @ twist[3:]
    pose[:3, :3] += w * a + w * b @ w
    return pose


def fit(samples: Exact, count: int) -> Exact:
    """Return the first coefficients of the polynomial through samples STEP apart, from 0 on."""
    return np.tensordot(weights_of_fit(len(samples))[:count], samples, axes=1)


@cache
def weights_of_fit(n: int) -> Exact:
    """Return the matrix from n samples STEP apart to the coefficients of their polynomial."""
    powers = mp.matrix([[mp.mpf(i)**k for k in range(n)] for i in range(n)])
    scales = np.array([mp.mpf(STEP)**-k for k in range(n)])
    return decimals(np.array(mp.inverse(powers).tolist()) * scales[:, None])


def product(a: Exact, b: Exact) -> Exact:
    """Return the product of two series of matrices or vectors."""
    return np.array([sum(np.matmul(a[j], b[k - j]) for j in range(k + 1))
                     for k in range(min(len(a), len(b)))])


def cross(a: Exact, b: Exact) -> Exact:
    """Return the cross product of two series of vectors."""
    return product(np.array([cross_matrix(x) for x in a]), b)


def rate(x: Exact) -> Exact:
    """Return the derivative of a series, shorter by one."""
    return np.array([k * x[k] for k in range(1, len(x))])


def inverse(pose: Exact) -> Exact:
    """Return a series of inverse poses."""
    result = pose.copy()
    r = np.swapaxes(pose[:, :3, :3], 1, 2)
    result[:, :3, :3], result[:, :3, 3] = r, -product(r, pose[:, :3, 3])
    return result


def vee(x: Exact) -> Exact:
    """Return the twists of matrices [[w] v; 0 0]."""
    return np.stack([x[:, 2, 1], x[:, 0, 2], x[:, 1, 0], x[:, 0, 3], x[:, 1, 3], x[:, 2, 3]], 1)


def exact(x: Any) -> Exact:
    """Return numbers as mpf, whose value is that of the doubles."""
    return np.vectorize(mp.mpf, otypes=[object])(x)


def coefficients(x: Exact) -> Exact:
    """Return Taylor coefficients of derivatives."""
    return np.array([each / factorial(k) for k, each in enumerate(x)])


def derivatives(x: Exact) -> Array:
    """Return derivatives, in doubles, from Taylor coefficients."""
    return np.array([each * factorial(k) for k, each in enumerate(x)]).astype(np.float64)
