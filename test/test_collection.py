# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""What pytest does before the first test: it reads, and solves nothing."""

# A geometry is checked where it is read, and poses are written as exponentials.
ALLOWED = ('liedyn_ros.lie.', 'liedyn_ros.stewart.platform.')


def test_no_machine_is_solved_while_tests_are_collected(kernels_of_collection):
    called = [name for name in kernels_of_collection if not name.startswith(ALLOWED)]
    assert called == []
