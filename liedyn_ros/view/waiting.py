# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Notice of the page while it waits for a machine, or for a tab."""

from viser import GuiApi

from liedyn_ros.common.markup import as_text


class Waiting:
    """A sentence."""

    def __init__(self, gui: GuiApi, sentence: str) -> None:
        """Show a sentence, from now until `end`."""
        self._text = gui.add_markdown(f'*{sentence}*')

    def end(self, fault: str = '') -> None:
        """Take the notice away; a fault takes its place."""
        if fault:
            self._text.content = f'**{as_text(fault)}**'
        else:
            self._text.remove()
