"""MkDocs hook: adds pages from outside of docs/ to the site, adapts the links between all pages, and names what the
theme leaves without a name for screen readers.

Links in the sources work in the repository, as a code host shows it. This hook points each to the page of its file on
the site. A link to a file that is not part of the site stays unchanged, and fails a strict build.
"""

from __future__ import annotations

import posixpath
import re
from pathlib import Path
from typing import TYPE_CHECKING

from mkdocs.structure.files import File

if TYPE_CHECKING:
    from mkdocs.config.defaults import MkDocsConfig
    from mkdocs.structure.files import Files
    from mkdocs.structure.pages import Page

ROOT = Path(__file__).resolve().parent.parent
OUTSIDE = {
    "README.md": "index.md",
    "CHANGELOG.md": "changelog.md",
    "CONTRIBUTING.md": "contributing.md",
    "SECURITY.md": "security-policy.md",
    "bench/README.md": "bench/speed.md",
    "bench/readers.md": "bench/readers.md",
}
"""{path in the repository: path on the site} of pages outside of docs/."""
INSIDE = {place: path for path, place in OUTSIDE.items()}
RAW = "https://raw.githubusercontent.com/sitemapcrawler/sitemapcrawler/main/"
"""URL below which README.md shows pictures, so that a package index shows them too."""
LINK = re.compile(r"(\]\()([^)\s#:]+)((?:#[^)\s]*)?\))")
"""Markdown link to a file: the text before the path, the path, and the rest."""


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the pages from outside of docs/."""
    for path, place in OUTSIDE.items():
        files.append(File.generated(config, place, content=(ROOT / path).read_text(encoding="utf-8")))
    return files


def on_page_markdown(markdown: str, page: Page, **_: object) -> str:
    """Convert the links of a page from paths in the repository to paths on the site."""
    here = page.file.src_uri
    folder = posixpath.dirname(INSIDE.get(here, f"docs/{here}"))

    def turned(link: re.Match[str]) -> str:
        before, path, rest = link.groups()
        target = posixpath.normpath(posixpath.join(folder, path))
        place = OUTSIDE.get(target, target.removeprefix("docs/"))
        return f"{before}{posixpath.relpath(place, posixpath.dirname(here) or '.')}{rest}"

    return LINK.sub(turned, markdown.replace(RAW, ""))


def on_page_content(html: str, **_: object) -> str:
    """Turn empty headings of tables into cells."""
    return html.replace("<th></th>", "<td></td>")


def on_post_page(output: str, **_: object) -> str:
    """Name the search."""
    return output.replace('role="dialog"', 'role="dialog" aria-label="Search"')
