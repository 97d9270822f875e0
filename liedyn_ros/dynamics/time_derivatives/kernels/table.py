# Copyright 2026 The liedyn_ros authors
#
# Licensed under the Apache License, Version 2.0 (the "License");
# you may not use this file except in compliance with the License.
# You may obtain a copy of the License at
#
#     http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
# See the License for the specific language governing permissions and
# limitations under the License.

"""
The tables of the recursions at every order in time.

All that changes in time is a series of normalised Taylor coefficients x^(k) / k!: products are
Cauchy products, without binomials. series has, for each link and the ground, a row for each of
the orders 0 to order + 1, row i * (order + 2) + k for coefficient k of link i; a column for each
number. rates has a row for each velocity coordinate and order, row k * nv + j, in columns RATE
and EFFORT. Both hold one state or LANES of them, see lanes.py.
"""

# Columns of series. Hatted vectors are seen from the joint frame, before the joint has moved.
COSINE, SINE = 0, 1
HAT_SPIN = 2  # angular velocity of the parent
HAT_LIFT = 5  # acceleration that the parent gives to the origin of the link
SPIN = 8  # angular velocity w of the link
LIFT = 11  # acceleration of its origin less gravity, in its axes
CURVE = 14  # [w]^2: xx, xy, xz, yy, yz, zz
WRENCH = 20  # from the parent
EXTERNAL = 26  # applied wrench, zero between calls
TRAVEL = 32  # of a slide, m: the only column after EXTERNAL that a revolute link has no use for
HAT_FORCE = 33  # from the parent
PULL = 36  # what travel is multiplied with: the parent's [w'] + [w]^2 times the axis
TURN = 39  # rotation of a ball, row by row
SHIFT = 48  # translation of a free link
BEND = 51  # the parent's [w'] + [w]^2, row by row
WIDTH = 60

# Columns of rates.
RATE, EFFORT = range(2)
RATES_WIDTH = 2
