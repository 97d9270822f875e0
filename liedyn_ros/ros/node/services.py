# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Responses of services that carry an error."""

from typing import Any


def refuse(response: Any, message: str) -> None:
    """
    Write an error into a response and the messages that it holds.

    Each of them that has `success` or `message` gets False or the text; others stay as they are.
    """
    fields = response.get_fields_and_field_types()
    for part in (response, *(getattr(response, name) for name in fields)):
        if hasattr(part, 'success'):
            part.success = False
        if hasattr(part, 'message'):
            part.message = message
