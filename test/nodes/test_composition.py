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

"""Two platforms in one executor, by the program of docs/guides/composition.md."""

from pathlib import Path
import re

from geometry_msgs.msg import PoseStamped
import pytest

PAGE = Path(__file__).parents[2] / 'docs' / 'guides' / 'composition.md'


@pytest.mark.ros
def test_two_platforms_in_one_process(bench, context):
    scope = {}
    exec(re.search(r'^```python\n(.*?)^```', PAGE.read_text(), re.DOTALL | re.MULTILINE)[1], scope)
    sides = [f'{bench.namespace.lstrip("/")}/{side}' for side in ('left', 'right')]
    poses = {side: bench.collect(PoseStamped, f'/{side}/pose') for side in sides}
    for side in sides:
        for node in scope['platform'](side, context=context):
            bench.adopt(node)
    bench.until(lambda: all(poses.values()), 'a pose of each platform')
    for side in sides:
        assert poses[side][0].header.frame_id == f'{side}/stewart_base'
