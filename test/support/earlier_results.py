# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Results of an earlier run in the folder of a command."""


def earlier_results(folder, *names):
    """Write files of these names; return their paths."""
    folder.mkdir(exist_ok=True)
    for name in names:
        (folder / name).write_text(name)
    return [folder / name for name in names]


def require_set_aside(files, shown):
    """Require that the files now have the suffix .old, and that a command says so."""
    for each in files:
        assert not each.exists()
        assert each.with_name(f'{each.name}.old').read_text() == each.name
        assert str(each) in shown.split('suffix .old: ', 1)[1]
