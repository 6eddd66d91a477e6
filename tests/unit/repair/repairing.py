"""Repairs documents into a folder, and reads what was written."""

from __future__ import annotations

import csv
import gzip
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from typing import Any
from urllib.parse import quote

from lxml import etree

from sitemapcrawler.api.sitemaps import read_sitemap
from sitemapcrawler.namespaces import CORE
from sitemapcrawler.reader.entries import ChildEntry
from sitemapcrawler.repair.additions import Additions, FoundPage
from sitemapcrawler.repair.change_list import NAME
from sitemapcrawler.repair.page_list import PageList
from sitemapcrawler.repair.readme import FOLDER
from sitemapcrawler.repair.readme import NAME as README
from sitemapcrawler.repair.site_repair import Repaired, SiteRepair
from sitemapcrawler.repair.sources import Source
from sitemapcrawler.repair.streaming import OF_LIMITS, Dated, MayList, Rules, Verified
from sitemapcrawler.repair.writing import GZIP

OFFICIAL = Path(__file__).parents[4] / "shared" / "xsd"
HOME = "https://example.com/"
ROOT = (
    f'<urlset xmlns="{CORE}" xmlns:image="http://www.google.com/schemas/sitemap-image/1.1"'
    ' xmlns:video="http://www.google.com/schemas/sitemap-video/1.1"'
    ' xmlns:news="http://www.google.com/schemas/sitemap-news/0.9" xmlns:xhtml="http://www.w3.org/1999/xhtml">'
)


def nowhere(url: str, files: Sequence[str]) -> bool:
    """What an audit knows of other hosts: none lets these files list its pages."""
    return False


def urlset(*entries: str) -> bytes:
    lines = "\n".join(entries)
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{ROOT}\n{lines}\n</urlset>\n'.encode()


def index(*locs: str, dates: tuple[str, ...] = ()) -> bytes:
    dated = [f"<lastmod>{date}</lastmod>" for date in dates] or [""] * len(locs)
    entries = "".join(f"<sitemap><loc>{loc}</loc>{date}</sitemap>\n" for loc, date in zip(locs, dated, strict=True))
    return f'<?xml version="1.0" encoding="UTF-8"?>\n<sitemapindex xmlns="{CORE}">\n{entries}</sitemapindex>\n'.encode()


@dataclass
class Outcome:
    """What a run wrote."""

    folder: Path
    result: Repaired
    home: str = HOME
    """URL of the folder that the files were read from."""

    @cached_property
    def rows(self) -> list[dict[str, str]]:
        with (self.folder / NAME).open(encoding="utf-8", newline="") as file:
            return list(csv.DictReader(file))

    @property
    def rules(self) -> set[str]:
        return {row["rule"] for row in self.rows}

    @property
    def moved(self) -> dict[str, str]:
        """{URL of a file: its new one} of those whose URL is no file name."""
        return {row["old"]: row["new"] for row in self.rows if row["action"] == "moved"}

    @cached_property
    def names(self) -> list[str]:
        """Paths of the files to upload."""
        files = (path for path in (self.folder / FOLDER).rglob("*") if path.is_file())
        return sorted(path.relative_to(self.folder / FOLDER).as_posix() for path in files)

    @property
    def readme(self) -> str:
        return (self.folder / README).read_text("utf-8")

    def url_of(self, name: str) -> str:
        """URL of a file of the set on its site."""
        for folder, url in sorted(self.result.advice.uploads, reverse=True):
            start = "".join(f"{part}/" for part in folder.split("/")[1:])
            if url and name.startswith(start):
                return url + quote(name.removeprefix(start))
        return self.home + name

    def data(self, name: str) -> bytes:
        data = (self.folder / FOLDER / name).read_bytes()
        return gzip.decompress(data) if data.startswith(GZIP) else data

    @property
    def locs(self) -> list[str]:
        """All URLs of the files but for the index."""
        return [entry.loc for entry in self._listed if not isinstance(entry, ChildEntry)]

    @property
    def entries(self) -> int:
        """Number of entries of all files but feeds."""
        return len(self._listed)

    @cached_property
    def _listed(self) -> list[Any]:
        files = (read_sitemap(self.data(name), self.url_of(name), select="none") for name in self.sitemaps)
        return [entry for file in files for entry in file]

    @cached_property
    def sitemaps(self) -> list[str]:
        """Names of the files without feeds, which are copied."""
        return [name for name in self.names if self.format(name) not in ("rss", "atom")]

    def format(self, name: str) -> str:
        return read_sitemap(self.data(name), select="none").sitemap.format

    def errors(self) -> list[str]:
        """What our own rules find, as errors, in the files, but for problems that a row says are not repaired."""
        found: list[str] = []
        rows = [row for row in self.rows if row["action"] == "not repaired"]
        known = Counter(row["rule"] for row in rows)
        # Also in an index that lists what an index in it has listed.
        named = {(row["rule"], self.moved.get(row["url"], row["url"])) for row in rows}
        for name in self.sitemaps:
            for one in read_sitemap(self.data(name), self.url_of(name)).findings:
                known[one.rule] -= one.severity == "error"
                if one.severity == "error" and known[one.rule] < 0 and (one.rule, one.url) not in named:
                    found.append(f"{name} {one.rule} {one.line}: {one.message}")
        return found

    def violations(self) -> list[str]:
        """What the official schemas find: of the protocol's elements, since they do not know any others. Not in files with
        an entry that is not repaired for that."""
        rows = [row for row in self.rows if row["action"] == "not repaired"]
        unrepaired = {row["rule"] for row in rows}
        if "xml-schema-violation" in unrepaired:
            return []
        invalid = {f"'{row['url']}'" for row in rows if row["rule"] in ("loc-invalid-uri", "loc-protocol-relative")}
        if "lastmod-invalid" in unrepaired:
            invalid.add("}lastmod'")
        found = []
        for name in self.sitemaps:
            if self.format(name) not in ("xml-urlset", "xml-index") or not OFFICIAL.is_dir():
                continue
            tree = etree.fromstring(self.data(name), etree.XMLParser(resolve_entities=False, huge_tree=True))
            assert tree.getroottree().docinfo.internalDTD is None
            kind = etree.QName(tree).localname
            if kind not in ("urlset", "sitemapindex") or not any(isinstance(one.tag, str) for one in tree):
                continue
            for element in [one for one in tree.iter() if isinstance(one.tag, str)]:
                parent = element.getparent()
                if etree.QName(element).namespace != CORE and parent is not None:
                    parent.remove(element)
            schema = official("sitemap.xsd" if kind == "urlset" else "siteindex.xsd")
            if not schema.validate(tree):
                errors = re.split(r"\n(?=<string>:)", str(schema.error_log))
                errors = [error for error in errors if not any(part in error for part in invalid)]
                found += [f"{name}: {error}" for error in errors if "minLength" not in error]
        return found


@cache
def official(name: str) -> etree.XMLSchema:
    return etree.XMLSchema(file=str(OFFICIAL / name))


def repair(
    folder: Path,
    *documents: bytes,
    only: Iterable[str] = (),
    verified: Verified | None = None,
    names: Iterable[str] = (),
    compress: bool = False,
    local: bool = False,
    pages: Iterable[FoundPage] | None = None,
    dated: Dated | None = None,
    may_list: MayList | None = None,
    redirects: Mapping[str, str] | None = None,
) -> Outcome:
    """Repair documents, which live at these URLs, or at `HOME` under these names; `local`: nobody knows where; `pages`:
    to add; `dated`: dates by a history; `may_list`: as in `SiteRepair`; `redirects`: where URLs lead."""
    folder.mkdir(parents=True, exist_ok=True)
    called = [*names] or [f"sitemap{number or ''}.xml" for number in range(len(documents))]
    sources = []
    for number, (data, name) in enumerate(zip(documents, called, strict=True)):
        path = folder / (name if local else f"in-{number}")
        path.write_bytes(data)
        url = path.as_uri() if local else name if "://" in name else HOME + name
        sources.append(Source(url, path, target=f"/{name}" if local else None, base=(redirects or {}).get(url)))
    rules = Rules.chosen(only)
    additions = Additions(pages, rules) if pages is not None else None
    found = SiteRepair(rules, lambda *_: [], verified, compress, may_list, additions=additions, dated=dated)
    out = folder / "out"
    return Outcome(out, found.run(sources, out, folder), f"{folder.as_uri()}/" if local else HOME)


def repair_list(path: Path, by_folder: bool = False, verified: Verified | None = None) -> Outcome:
    """Make a set of a list of pages, beside it."""
    work = path.parent / "work"
    work.mkdir()
    pages = PageList(path, HOME, work, by_folder)
    out = path.parent / "out"
    repair = SiteRepair(Rules.chosen(is_new=True), lambda source, children: [], verified, pages=pages)
    return Outcome(out, repair.run(pages.sources, out, work))


def check(outcome: Outcome) -> None:
    """Check that what is written has no error, and that every loss has a row."""
    found = [*outcome.errors(), *outcome.violations()]
    assert not found, found
    result = outcome.result
    written = result.kept + result.changed + result.unrepaired
    assert result.read == written + result.dropped
    dropped = [(row["sitemap"], row["line"], row["url"]) for row in outcome.rows if row["action"] == "dropped"]
    assert len(dropped) == result.dropped
    changed = Counter((row["sitemap"], row["line"], row["url"]) for row in outcome.rows if row["action"] == "changed")
    assert not any(changed[one] for one in dropped if one[2]), "a dropped entry has one row"
    parts = [part for row in outcome.rows if row["rule"] in OF_LIMITS for part in row["new"].split()]
    nested = [part for row in outcome.rows if row["rule"] == "index-nested" for part in row["new"].split()[1:]]
    # An index lists the parts at the URL of the whole.
    assert outcome.entries == written - result.copied + result.added + len(parts) + len(nested)
    assert all(row["rule"] for row in outcome.rows if row["action"] != "moved")


def canonical(data: bytes) -> bytes:
    """Canonical XML, without comments, and without white space between entries."""
    root = etree.fromstring(data, etree.XMLParser(resolve_entities=False, remove_comments=True, huge_tree=True))
    root.text = None
    for entry in root:
        entry.tail = None
    return etree.tostring(root.getroottree(), method="c14n", with_comments=False)
