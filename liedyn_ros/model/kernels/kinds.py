# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The kinds of elementary links of joints, and of loop closures and their rows (theory 12.1)."""

REVOLUTE = 0
PRISMATIC = 1
HELICAL = 2
SPHERICAL = 3
FREE = 4

# Numbers in q and v of one link of each kind.
NQ_OF_KIND = (1, 1, 1, 4, 7)
NV_OF_KIND = (1, 1, 1, 3, 6)
# In how many directions it turns, and in how many it moves.
TURNS_OF_KIND = (1, 0, 1, 3, 3)
MOVES_OF_KIND = (0, 1, 1, 0, 3)

(WELD_CLOSURE, REVOLUTE_CLOSURE, PRISMATIC_CLOSURE, HELICAL_CLOSURE, CYLINDRICAL_CLOSURE,
 PLANAR_CLOSURE, UNIVERSAL_CLOSURE, SPHERICAL_CLOSURE, LINE_CLOSURE, PLANE_CLOSURE,
 ROD_CLOSURE) = range(11)

# Kinds of rows of a closure: a moment about an axis of frame b, a force along one, ...
MOMENT_X, MOMENT_Y, MOMENT_Z, FORCE_X, FORCE_Y, FORCE_Z = range(6)
SCREW = 6  # ... the force along z and the moment -pitch about it, ...
MOMENT_CROSS = 7  # ... a moment about x of frame a times y of frame b, ...
ACROSS_X, ACROSS_Y, ACROSS_Z = 8, 9, 10  # ... a force along an axis of frame a, ...
ALONG_ROD = 11  # ... or a force from origin to origin.
