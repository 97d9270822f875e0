# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The live page beside a demo."""

from types import SimpleNamespace

import pytest

from liedyn_ros.demo.verdict import NotShownError
from liedyn_ros.demo.watching import address_of

pytestmark = pytest.mark.ros


@pytest.mark.parametrize(('text', 'address'), [
    ('[INFO] [view]: the view is on http://127.0.0.1:8080\n', 'http://127.0.0.1:8080'),
    ('[ERROR] [view]: not configured: robot.yaml: expected no options\n', None),
    ('[INFO] [view]: the view is on http://127.0.0.1:8080\n'
     '[ERROR] [view]: not configured: robot.yaml: expected no options\n', None)])
def test_a_page_comes_or_the_reason_is_told(tmp_path, text, address):
    log = tmp_path / 'view.log'
    log.write_text(text)
    view = SimpleNamespace(log=log, require_running=lambda: None)
    if address is None:
        with pytest.raises(NotShownError):
            address_of(view)
    else:
        assert address_of(view) == address
