# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The kinds of elementary links into which every joint is expanded."""

REVOLUTE = 0
PRISMATIC = 1
HELICAL = 2
SPHERICAL = 3
FREE = 4

# Numbers in q and v of one link of each kind.
NQ_OF_KIND = (1, 1, 1, 4, 7)
NV_OF_KIND = (1, 1, 1, 3, 6)
