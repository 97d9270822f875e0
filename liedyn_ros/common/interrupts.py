# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Interrupts of a program that still imports its modules: they end it without a trace."""

from collections.abc import Collection
from pathlib import Path
import signal
import sys

from liedyn_ros.common.extras import COMMAND_FOLDERS


def end_at_once(modules: tuple[str, ...], scripts: Collection[str]) -> None:
    """
    Let an interrupt end this process as a kill does, if it runs a module or script of these.

    Python raises KeyboardInterrupt in the middle of an import, and numpy turns that into an
    ImportError with advice. The program handles signals itself once it has its modules.
    A process that ignores interrupts, or handles them already, goes on to do so.

    modules: names that may be longer behind their ends, as of `python -m`.
    """
    if (_runs(modules, scripts)
            and signal.getsignal(signal.SIGINT) is signal.default_int_handler):
        signal.signal(signal.SIGINT, signal.SIG_DFL)


def _runs(modules: tuple[str, ...], scripts: Collection[str]) -> bool:
    """Return whether this process was started as one of these."""
    words, script = sys.orig_argv, Path(sys.argv[0] if sys.argv else '')
    if '-m' in words:  # sys.argv[0] is `-m` or a file, which depends on how far Python is
        return ''.join(words[words.index('-m') + 1:][:1]).startswith(modules)
    return script.name in scripts and script.parent.name in COMMAND_FOLDERS
