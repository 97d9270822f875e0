# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Texts of others as markup: a model parser of both finds no tag, and the text as it was."""

from html import unescape
from html.parser import HTMLParser
import re
import sys

from hypothesis import example, given, strategies as st
import numpy as np
import pytest
from support.hostile_texts import TEXTS

from liedyn_ros.commands import liedyn
from liedyn_ros.commands.reports import Line, plot, ReportPage
from liedyn_ros.common.errors import LiedynError, spelled
from liedyn_ros.common.markup import as_html, as_text, Terminal

JOINER = '\N{WORD JOINER}'
# What CommonMark and GFM give a meaning, apart from what stands within a word or a sentence.
MEANING = re.compile(r'[*`\[\]<>!|~\\{}"\']|&(?!#\d+;)|^\s|^#|^[-+=]|^\d+[.)] |(?<!\w)_|_(?!\w)|'
                     r'(?i:https?:|www\.|\w@\w)')
ANY = st.text(max_size=60) | st.sampled_from(TEXTS)


@pytest.mark.full
@given(ANY)
@example('1. a')
@example('_a_b_')
@example('a\n# b\r\n\x00\u202e')
def test_no_character_of_a_text_has_a_meaning(text):
    shown = as_text(text)
    assert not MEANING.search(shown), shown
    assert unescape(shown).replace(JOINER, '') == spelled(text).strip().replace(JOINER, '')
    assert shown.isprintable()


class Tags(HTMLParser):
    """The tags of a page."""

    def __init__(self, text):
        super().__init__()
        self.found, self.texts = [], []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attributes):
        self.found.append((tag, [name for name, _ in attributes]))

    def handle_data(self, data):
        self.texts.append(data)


@given(ANY)
def test_html_has_the_text_alone(text):
    for shown in (f'<p>{as_html(text)}</p>', f'<p title="{as_html(text)}">{as_text(text)}</p>'):
        assert [tag for tag, _ in Tags(shown).found] == ['p']


def tags_of_report(text):
    """Return the tags of a report that has a text wherever one may come."""
    page, ends = ReportPage(text), np.array([0.0, 1.0])
    page.heading(text)
    page.text(text, text)
    page.items([text])
    page.table([text], [[text]])
    page.plots([plot(text, [Line(text, ends, ends)], text, text)])
    page.settings({text: text})
    return Tags(page.html()).found


@pytest.mark.parametrize('text', TEXTS)
def test_a_report_has_no_tags_of_a_text(text):
    assert tags_of_report(text) == tags_of_report('plain')


ESCAPES = '\x1b]0;title\x07\x9b2J\r\u202etxt'


def test_a_terminal_obeys_no_text_of_others(capsys):
    seen = Terminal(sys.stdout)
    print('\r  5 %', end='\r', file=seen)
    print(f'{ESCAPES}\tend', file=seen)
    shown = capsys.readouterr().out
    assert shown == f'\r  5 %\r{spelled(ESCAPES)}\tend\n'
    assert str(LiedynError(ESCAPES)) == spelled(ESCAPES)


def test_commands_show_names_of_others_seen(tmp_path, capsys):
    urdf = tmp_path / 'a.urdf'
    urdf.write_text('<robot name="\x9b2J"/>')
    assert liedyn.main(['identify', str(urdf), str(tmp_path / '\x1b[2J.csv')]) == 2
    shown = ''.join(capsys.readouterr())
    assert shown.replace('\n', '').isprintable() and '\\x9b2J' in shown
