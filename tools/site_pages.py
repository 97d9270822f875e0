# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""
Look at each page of the built site: python -m tools.site_pages out/site.

Links, also those to places on a page, must lead somewhere. In a browser of the name chromium each
page is opened at the widths of a phone and of a desk, without a network. Nothing of it may be cut
off. It asks nobody else, and raises no error. Without that browser, without Playwright, or with
--links as in `make docs`, only the links are looked at.
"""

import argparse
from collections.abc import Iterator
from html.parser import HTMLParser
from importlib.util import find_spec
from pathlib import Path
import shutil
import sys
from urllib.parse import unquote, urlsplit

SCREENS = {'a phone': {'width': 390, 'height': 844},
           'a desk': {'width': 1280, 'height': 900}}  # px
# The texts beyond the right edge of the screen that nothing beside it scrolls to.
CUT = """() => [...document.querySelectorAll('[role=main] *')].filter(each => {
  const box = each.getBoundingClientRect();
  if (!box.width || !box.height || box.right <= document.documentElement.clientWidth + 1)
    return false;
  for (let part = each; part.role !== 'main'; part = part.parentElement)
    if (['auto', 'scroll'].includes(getComputedStyle(part).overflowX)) return false;
  return true;
}).map(each => each.textContent.trim().slice(0, 40))"""
LIMIT = 240_000.0  # ms; a processor that draws takes its time
BROWSER = shutil.which('chromium') if find_spec('playwright') else None


class Page(HTMLParser):
    """The links of a page, and the places on it that links lead to."""

    def __init__(self, text: str) -> None:
        """Read a page."""
        super().__init__()
        self.links: list[str] = []
        self.places = {''}
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note what a tag says."""
        for name, value in attrs:
            if name == 'id' or (tag == 'a' and name == 'name'):
                self.places.add(value or '')
            elif name in ('href', 'src') and tag in ('a', 'img', 'link', 'script'):
                self.links.append(value or '')


def dead_links(folder: Path) -> Iterator[str]:
    """Yield each link of the pages in a folder that leads nowhere."""
    pages = {path: Page(path.read_text(encoding='utf-8')) for path in pages_of(folder)}
    for path, page in pages.items():
        for link in dict.fromkeys(page.links):
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            found = pages.get(target)
            if not target.exists() or (found and unquote(parts.fragment) not in found.places):
                yield f'{path.relative_to(folder)}: {link} leads nowhere'


def pages_of(folder: Path) -> list[Path]:
    """Return the pages in a folder that Sphinx has made."""
    return sorted(path for path in folder.rglob('*.html') if '_static' not in path.parts)


def misfits(folder: Path) -> Iterator[str]:
    """Yield what is wrong with the pages of a folder in a browser."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as context:
        browser = context.chromium.launch(executable_path=BROWSER, args=['--no-sandbox'])
        tab = browser.new_context(offline=True).new_page()
        tab.set_default_timeout(LIMIT)
        heard: list[str] = []
        tab.on('pageerror', lambda error: heard.append(str(error)))
        tab.on('request', lambda request: heard.append(f'asks for {request.url}') if not
               request.url.startswith(('file:', 'data:', 'blob:')) else None)
        for path in pages_of(folder):
            tab.goto(path.as_uri())
            for name, size in SCREENS.items():
                tab.set_viewport_size(size)
                if cut := tab.evaluate(CUT):
                    heard.append(f'{name} cuts off {len(cut)} parts: {cut[0]!r}')
            yield from (f'{path.relative_to(folder)}: {each}' for each in heard)
            heard.clear()
        browser.close()


def main() -> int:
    """Look at the site that is named; the exit code says whether all is well."""
    parser = argparse.ArgumentParser(prog='site_pages', description='Look at a site.')
    parser.add_argument('folder', type=Path, help='where the site is')
    parser.add_argument('--links', action='store_true', help='without a browser')
    chosen = parser.parse_args()
    folder = chosen.folder.resolve()
    drawn = BROWSER is not None and not chosen.links
    wrong = [*dead_links(folder), *(misfits(folder) if drawn else ())]
    print(*wrong, sep='\n', end='\n' * bool(wrong))
    print(f'{len(pages_of(folder))} pages, {len(wrong)} faults'
          + ('' if drawn else '; links alone, without a browser'))
    return 1 if wrong else 0


if __name__ == '__main__':
    sys.exit(main())
