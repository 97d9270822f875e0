# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""
Let the generators of ROS messages share what they read, while `make build` builds the messages.

Nine generators each parse every file, in two seconds of a processor. With this folder on
PYTHONPATH and LIEDYN_IDL_CACHE naming a folder, the first to parse a file leaves the result there.
"""

from hashlib import sha256
import os
from pathlib import Path
import pickle
import sys
from typing import Any


def share(folder: Path) -> None:
    """Wrap the parser."""
    from rosidl_parser import parser
    parse = parser.parse_idl_string

    def shared(text: str, png_file: str | None = None) -> Any:
        kept = folder / f'{sha256(text.encode()).hexdigest()}.pickle'
        if kept.exists():
            return pickle.loads(kept.read_bytes())
        content = parse(text, png_file)
        folder.mkdir(parents=True, exist_ok=True)
        unfinished = kept.with_suffix(f'.{os.getpid()}')
        unfinished.write_bytes(pickle.dumps(content))
        unfinished.replace(kept)
        return content

    parser.parse_idl_string = shared


if 'LIEDYN_IDL_CACHE' in os.environ and any('rosidl' in part for part in sys.orig_argv):
    try:
        share(Path(os.environ['LIEDYN_IDL_CACHE']))
    except ImportError:  # another release has its parser elsewhere, and parses as before
        pass
