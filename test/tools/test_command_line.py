# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Tools answer --help and refuse the unknown before they write; the site has no dead links."""

from importlib.util import find_spec
from pathlib import Path
import runpy

import pytest
from tools import site_pages
from tools.command_line import names_or_all

ROOT = Path(__file__).parents[2]
TOOLS = [path.relative_to(ROOT).as_posix() for path in sorted((ROOT / 'tools').rglob('*.py'))
         if "__name__ == '__main__'" in path.read_text()]
WIDE = '<div style="width: 700px">wide</div>'


def code_of(monkeypatch, tool, argument):
    """Return the code with which a tool ends that is to write nothing."""
    monkeypatch.setattr(Path, 'write_text', None)
    monkeypatch.setattr('sys.argv', [tool, argument])
    with pytest.raises((SystemExit, ModuleNotFoundError)) as ended:
        runpy.run_path(str(ROOT / tool), run_name='__main__')
    if isinstance(ended.value, ModuleNotFoundError):
        if find_spec('rclpy') is None:
            pytest.skip(f'{tool} needs ROS 2')
        raise ended.value
    return ended.value.code


@pytest.mark.parametrize('tool', TOOLS)
def test_a_tool_answers_help(tool, monkeypatch, capsys):
    assert code_of(monkeypatch, tool, '--help') == 0
    assert capsys.readouterr().out.startswith(f'usage: {Path(tool).stem}')


@pytest.mark.parametrize('tool', TOOLS)
def test_a_tool_refuses_an_unknown_option(tool, monkeypatch, capsys):
    assert code_of(monkeypatch, tool, '--unknown') == 2
    assert ': error: ' in capsys.readouterr().err


@pytest.mark.parametrize(('given', 'names'), [([], ['a', 'b', 'c']), (['c', 'a'], ['c', 'a'])])
def test_names_are_those_given_or_all(given, names, monkeypatch):
    monkeypatch.setattr('sys.argv', ['tool', *given])
    assert names_or_all('About it.', ('a', 'b', 'c')) == names


def test_a_name_that_is_unknown_is_refused(monkeypatch, capsys):
    monkeypatch.setattr('sys.argv', ['tool', 'a', 'd'])
    with pytest.raises(SystemExit):
        names_or_all('About it.', ('a', 'b', 'c'))
    assert "expected some of ['a', 'b', 'c'], got ['d']" in capsys.readouterr().err


def write(folder, name, body):
    (folder / f'{name}.html').write_text(
        f'<html><body><article role="main">{body}</article></body></html>')


def test_a_link_that_leads_nowhere_is_found(tmp_path):
    write(tmp_path, 'a', '<p id="here"><a href="b.html#there">b</a> <a href="#here">a</a>'
                         '<a href="https://elsewhere.example">out</a></p>')
    write(tmp_path, 'b', '<p><a href="a.html">a</a> <a href="c.html">c</a></p>')
    assert list(site_pages.dead_links(tmp_path)) == [
        'a.html: b.html#there leads nowhere', 'b.html: c.html leads nowhere']


def test_links_are_looked_at_without_a_browser(tmp_path, monkeypatch, capsys):
    write(tmp_path, 'a', '<p><a href="b.html">b</a></p>')
    monkeypatch.setattr(site_pages, 'misfits', None)
    monkeypatch.setattr('sys.argv', ['site_pages', str(tmp_path), '--links'])
    assert site_pages.main() == 1
    assert capsys.readouterr().out.splitlines() == [
        'a.html: b.html leads nowhere', '1 pages, 1 faults; links alone, without a browser']


@pytest.mark.full
@pytest.mark.skipif(site_pages.BROWSER is None, reason='no browser chromium with Playwright here')
def test_what_a_phone_cuts_off_is_found_and_what_scrolls_is_not(tmp_path):
    write(tmp_path, 'cut', WIDE)
    write(tmp_path, 'scrolls', f'<div style="overflow-x: auto">{WIDE}</div>')
    write(tmp_path, 'asks', '<img src="http://127.0.0.1:9/a.png"><script>wrong()</script>')
    cut, fault, asked = sorted(site_pages.misfits(tmp_path), key=lambda each: 'asks' in each)
    assert cut == "cut.html: a phone cuts off 1 parts: 'wide'"
    assert 'wrong is not defined' in fault + asked
    assert 'asks for http://127.0.0.1:9/a.png' in fault + asked
