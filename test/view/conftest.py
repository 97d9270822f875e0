# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""A page of a real browser."""

import pytest
from support.browser import ARGUMENTS, CHROMIUM, COARSE, LIMIT


@pytest.fixture
def tab():
    """Return a page of the browser, with its requests and its errors."""
    playwright = pytest.importorskip(
        'playwright.sync_api', reason='playwright is not installed here')
    if CHROMIUM is None:
        pytest.skip('no browser chromium is installed here')
    with playwright.sync_playwright() as context:
        browser = context.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
        tab = browser.new_page(viewport={'width': 480, 'height': 320}, device_scale_factor=COARSE)
        tab.set_default_timeout(LIMIT)
        tab.asked, tab.faults = [], []
        tab.on('request', lambda request: tab.asked.append(request.url))
        tab.on('pageerror', lambda error: tab.faults.append(str(error)))
        yield tab
        browser.close()
