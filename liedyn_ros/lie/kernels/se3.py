# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""
Poses, twists and wrenches: exponential, logarithm, adjoints and Jacobians.

A pose T = [R p; 0 1] is passed as its rotation r and translation p. A twist V is its angular part
w and linear part v; a wrench F is its moment m and force f.
"""

from liedyn_ros.jit.decorators import kernel
from liedyn_ros.lie.kernels import mat3, so3, vec3


@kernel
def exp(w, v):
    """Return the pose (r, p) reached by a unit time of the constant twist (w, v)."""
    a, b, c = so3.coefficients(vec3.dot(w, w))
    return so3.polynomial(w, a, b), so3.apply_polynomial(w, b, c, v)  # (1.10)


@kernel
def log(r, p):
    """Return the twist (w, v) with exp(w, v) = (r, p) and |w| <= pi."""
    w = so3.log(r)
    g, _ = so3.inverse_coefficients(vec3.dot(w, w))
    return w, so3.apply_polynomial(w, -0.5, g, p)  # (1.13)


@kernel
def compose(ra, pa, rb, pb):
    """Return the product of two poses."""
    return mat3.mul(ra, rb), vec3.add(mat3.apply(ra, pb), pa)


@kernel
def inverse(r, p):
    """Return the inverse of a pose."""
    return mat3.transpose(r), vec3.neg(mat3.apply_t(r, p))  # (1.1)


@kernel
def adjoint(r, p, w, v):
    """Return Ad_T V."""
    rw = mat3.apply(r, w)
    return rw, vec3.add(vec3.cross(p, rw), mat3.apply(r, v))  # (1.2)


@kernel
def adjoint_inverse(r, p, w, v):
    """Return Ad_{T^-1} V."""
    return mat3.apply_t(r, w), mat3.apply_t(r, vec3.sub(v, vec3.cross(p, w)))  # (1.2)


@kernel
def adjoint_dual(r, p, m, f):
    """Return Ad_T^T F."""
    return mat3.apply_t(r, vec3.sub(m, vec3.cross(p, f))), mat3.apply_t(r, f)  # (1.2)


@kernel
def adjoint_inverse_dual(r, p, m, f):
    """Return Ad_{T^-1}^T F."""
    rf = mat3.apply(r, f)
    return vec3.add(mat3.apply(r, m), vec3.cross(p, rf)), rf  # (1.2)


@kernel
def ad(w1, v1, w2, v2):
    """Return ad_V1 V2, the bracket of two twists."""
    return vec3.cross(w1, w2), vec3.add(vec3.cross(v1, w2), vec3.cross(w1, v2))  # (1.3)


@kernel
def ad_dual(w, v, m, f):
    """Return ad_V^T F."""
    return vec3.neg(vec3.add(vec3.cross(w, m), vec3.cross(v, f))), vec3.cross(f, w)  # (1.3)


@kernel
def left_jacobian(w, v):
    """Return the blocks (J, Q) of dexp6(w, v) = [J 0; Q J], J = dexp(w)."""
    # A matrix [A 0; B A] is the dual number A + eps B, and ad_V is [w] + eps [v]. A power series
    # in ad_V is hence that series at [w], and B its derivative at w along v. (1.14), (1.15)
    _, b, c, d, e, _ = so3.stumpff(vec3.dot(w, w))
    return (so3.polynomial(w, b, c),
            polynomial_derivative(w, v, b, c, 2.0 * d - c, 3.0 * e - d))


@kernel
def left_jacobian_inverse(w, v):
    """Return the blocks (J, Q) of dexp6(w, v)^-1 = [J 0; Q J]; singular at |w| = 2 pi."""
    g, g_slope = so3.inverse_coefficients(vec3.dot(w, w))
    return (so3.polynomial(w, -0.5, g),
            polynomial_derivative(w, v, -0.5, g, 0.0, g_slope))  # (1.16)


@kernel
def polynomial_derivative(w, v, alpha, beta, alpha_slope, beta_slope):
    """
    Return the derivative of 1 + alpha [w] + beta [w]^2 along v.

    The slopes are twice the derivatives of alpha and beta by x = w.w.
    """
    s = vec3.dot(w, v)
    y = vec3.axpy(s * alpha_slope, w, vec3.scale(alpha, v))
    u = vec3.axpy(0.5 * s * beta_slope, w, vec3.scale(beta, v))
    # [y] + [u][w] + [w][u], where [u][w] + [w][u] = w u^T + u w^T - 2 (u.w) 1.
    xx, yy, zz = 2.0 * u[0] * w[0], 2.0 * u[1] * w[1], 2.0 * u[2] * w[2]
    xy, xz = u[0] * w[1] + u[1] * w[0], u[0] * w[2] + u[2] * w[0]
    yz = u[1] * w[2] + u[2] * w[1]
    return (-(yy + zz), xy - y[2], xz + y[1],
            xy + y[2], -(xx + zz), yz - y[0],
            xz - y[1], yz + y[0], -(xx + yy))


@kernel
def load(array, at):
    """Return the pose (r, p) whose 4 by 4 matrix starts at an index of a flat array."""
    return ((array[at], array[at + 1], array[at + 2],
             array[at + 4], array[at + 5], array[at + 6],
             array[at + 8], array[at + 9], array[at + 10]),
            (array[at + 3], array[at + 7], array[at + 11]))


@kernel
def store(array, at, r, p):
    """Write the 4 by 4 matrix of a pose into a flat array from an index on, row by row."""
    for i in range(3):
        for j in range(3):
            array[at + 4 * i + j] = r[3 * i + j]
        array[at + 4 * i + 3] = p[i]
        array[at + 12 + i] = 0.0
    array[at + 15] = 1.0
