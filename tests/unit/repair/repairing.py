"""Repairs documents into a folder, and reads what was written."""

from __future__ import annotations

import csv
import gzip
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from lxml import etree

from sitemapcrawler.api.sitemaps import read_sitemap
from sitemapcrawler.namespaces import CORE
from sitemapcrawler.reader.entries import ChildEntry
from sitemapcrawler.repair.changes import NAME
from sitemapcrawler.repair.reading import Rules, Verified
from sitemapcrawler.repair.site import Repaired, SiteRepair, Source
from sitemapcrawler.repair.writing import MANIFEST

OFFICIAL = Path(__file__).parents[4] / "shared" / "xsd"
HOME = "https://example.com/"
ROOT = (
    f'<urlset xmlns="{CORE}" xmlns:image="http://www.google.com/schemas/sitemap-image/1.1"'
    ' xmlns:video="http://www.google.com/schemas/sitemap-video/1.1"'
    ' xmlns:news="http://www.google.com/schemas/sitemap-news/0.9" xmlns:xhtml="http://www.w3.org/1999/xhtml">'
)


def urlset(*entries: str) -> bytes:
    lines = "\n".join(entries)
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{ROOT}\n{lines}\n</urlset>\n'.encode()


@dataclass
class Outcome:
    """What a run wrote."""

    folder: Path
    result: Repaired
    home: str = HOME
    """URL of the folder that the files were read from."""

    @property
    def rows(self) -> list[dict[str, str]]:
        with (self.folder / NAME).open(encoding="utf-8", newline="") as file:
            return list(csv.DictReader(file))

    @property
    def rules(self) -> set[str]:
        return {row["rule"] for row in self.rows}

    @property
    def names(self) -> list[str]:
        return sorted(path.name for path in self.folder.iterdir() if path.name not in (NAME, MANIFEST))

    def data(self, name: str) -> bytes:
        data = (self.folder / name).read_bytes()
        return gzip.decompress(data) if name.endswith(".gz") else data

    @property
    def locs(self) -> list[str]:
        """All URLs of the files but for the index."""
        found = []
        for name in self.sitemaps:
            sitemap = read_sitemap(self.data(name), self.home + name, select="none")
            found += [entry.loc for entry in sitemap if not isinstance(entry, ChildEntry)]
        return found

    @property
    def sitemaps(self) -> list[str]:
        """Names of the files without feeds, which are copied."""
        feeds = ("rss", "atom")
        return [name for name in self.names if read_sitemap(self.data(name), select="none").sitemap.format not in feeds]

    def errors(self) -> list[str]:
        """What our own rules find, as errors, in the files."""
        found = []
        for name in self.sitemaps:
            sitemap = read_sitemap(self.data(name), self.home + name)
            found += [
                f"{name} {one.rule} {one.line}: {one.message}" for one in sitemap.findings if one.severity == "error"
            ]
        return found

    def violations(self) -> list[str]:
        """What the official schemas find: of the protocol's elements, since they do not know any others."""
        found = []
        for name in self.sitemaps:
            if ".xml" not in name or not OFFICIAL.is_dir():
                continue
            tree = etree.fromstring(self.data(name), etree.XMLParser(resolve_entities=False, huge_tree=True))
            assert b"<!DOCTYPE" not in self.data(name)
            kind = etree.QName(tree).localname
            if kind not in ("urlset", "sitemapindex") or not len(tree):
                continue
            for element in [one for one in tree.iter() if isinstance(one.tag, str)]:
                parent = element.getparent()
                if etree.QName(element).namespace != CORE and parent is not None:
                    parent.remove(element)
            schema = etree.XMLSchema(file=str(OFFICIAL / ("sitemap.xsd" if kind == "urlset" else "siteindex.xsd")))
            if not schema.validate(tree):
                errors = str(schema.error_log).splitlines()
                found += [f"{name}: {error}" for error in errors if "minLength" not in error]
        return found


def repair(
    folder: Path,
    *documents: bytes,
    only: Iterable[str] = (),
    verified: Verified | None = None,
    names: Iterable[str] = (),
    compress: bool = False,
    local: bool = False,
) -> Outcome:
    """Repair documents, which live at `HOME` under these names; `local`: nobody knows where."""
    folder.mkdir(parents=True, exist_ok=True)
    called = [*names] or [f"sitemap{number or ''}.xml" for number in range(len(documents))]
    sources = []
    for number, (data, name) in enumerate(zip(documents, called, strict=True)):
        path = folder / (name if local else f"in-{number}")
        path.write_bytes(data)
        sources.append(Source(path.as_uri() if local else HOME + name, path))
    found = SiteRepair(Rules.chosen(only), lambda source, children: [], verified, None, compress)
    out = folder / "out"
    return Outcome(out, found.run(sources, out, folder), f"{folder.as_uri()}/" if local else HOME)


def check(outcome: Outcome) -> None:
    """Check that what is written has no error, and that every loss has a row."""
    found = [*outcome.errors(), *outcome.violations()]
    assert not found, found
    result = outcome.result
    assert result.read == result.kept + result.dropped
    dropped = [row["rule"] for row in outcome.rows if row["action"] == "dropped" and row["rule"] != "xml-unknown-element"
               and not row["rule"].startswith("index-")]  # fmt: skip
    if result.read and "xml-mixed-index-urlset" not in dropped:  # an index has rows on files, which are no entries
        assert len(dropped) == result.dropped
    assert len(outcome.locs) == result.kept
    assert all(row["rule"] for row in outcome.rows)


def canonical(data: bytes) -> bytes:
    """Canonical XML, without comments, and without white space between entries."""
    root = etree.fromstring(data, etree.XMLParser(resolve_entities=False, remove_comments=True, huge_tree=True))
    root.text = None
    for entry in root:
        entry.tail = None
    return etree.tostring(root.getroottree(), method="c14n", with_comments=False)
