"""Whatever comes in: what is written has no error, nothing is lost without a row, and what was right stays as it was."""

from __future__ import annotations

import csv
import gzip
import io
import json
import os
import re
import tempfile
from collections.abc import Iterable
from dataclasses import dataclass
from operator import itemgetter
from pathlib import Path
from random import Random
from urllib.parse import unquote

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from lxml import etree

from sitemapcrawler.feeds.columns import Cells
from sitemapcrawler.namespaces import CORE
from sitemapcrawler.namespaces.extensions import HREFLANG
from sitemapcrawler.repair.streaming import Verdict
from tests.examples import briefly
from tests.unit.repair.repairing import HOME, Outcome, canonical, check, index, nowhere, repair, repair_list, urlset

DATA = Path(__file__).parents[2] / "data"
REAL = sorted((Path(__file__).parents[4] / "shared" / "real").glob("[0-9]*"))
GOOD = sorted(path for path in (DATA / "good").iterdir() if ".xml" in path.name)
BAD = sorted(path for path in [*(DATA / "bad").iterdir(), *(DATA / "hard").iterdir(), *(DATA / "pitfalls").iterdir()]
             if path.is_file() and "robots" not in path.name)  # fmt: skip
PIECES = (
    "<", ">", "&", '"', "/", "]]>", "<![CDATA[", "<!--", "-->", "&amp;", "&#0;", "&nbsp;", "\x00", "\n", "\r", " ", "%", "%zz",
    "#", "?", "//", "../", "http://", "javascript:", "[", ":", "@", "u:p@", "<url>", "</url>", "<loc>", "</loc>", "<loc/>",
    "<sitemap>", "</urlset>", "<lastmod>", "</lastmod>", "<image:image>", "<video:video>", "<news:news/>", "<xhtml:link/>",
    "<!DOCTYPE x [<!ENTITY e 'x'>]>", "<?xml version='1.0'?>", ' id="1"', "0000-00-00", "2026-02-30", "NaN", "-1", "1,5",
    "İ", "\u2028", "例え", "x-default", "en_US", "<o:x xmlns:o='urn:o'>1</o:x>", "<b/>",
)  # fmt: skip


def plain(path: Path) -> bytes:
    data = path.read_bytes()
    try:
        return gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data
    except (OSError, EOFError):  # damaged, which is for the reader
        return data


@pytest.mark.parametrize("path", BAD, ids=lambda path: path.name)
def test_a_bad_document_is_written_without_an_error(path: Path, tmp_path: Path) -> None:
    check(repair(tmp_path, plain(path), names=[path.name]))


@pytest.mark.parametrize("path", GOOD, ids=lambda path: path.name)
def test_a_good_document_comes_out_as_it_was(path: Path, tmp_path: Path) -> None:
    data = plain(path)
    outcome = repair(tmp_path, data, names=[path.name.removesuffix(".gz")])
    check(outcome)
    if b"<urlset" in data or b":urlset" in data:
        assert [row["rule"] for row in outcome.rows if row["rule"] not in ("loc-non-ascii", "doc-bom")] == []
        if not outcome.rows:
            assert canonical(outcome.data(outcome.names[0])) == canonical(data)


@pytest.mark.parametrize("path", REAL, ids=lambda path: path.name)
def test_a_real_document_loses_only_what_is_wrong(path: Path, tmp_path: Path) -> None:
    outcome = repair(tmp_path, plain(path), names=[path.name.removesuffix(".gz")], local=True)
    check(outcome)
    if outcome.result.read and path.name not in (
        "24-index.xml",
        "54-atom.xml",
        "60-template.xml",
    ):  # one relative URL; placeholders
        assert outcome.result.kept + outcome.result.changed + outcome.result.unrepaired


@given(st.sampled_from(BAD + GOOD), st.randoms(use_true_random=False), st.integers(1, 8))
@briefly(20)
def test_a_document_with_random_damage(path: Path, random: Random, times: int) -> None:
    text = plain(path).decode("utf-8", "replace")
    for _ in range(times):
        at = random.randrange(len(text) + 1)
        text = text[:at] + random.choice(PIECES) + text[at + random.choice((0, 0, 0, 1, 5)) :]
    with tempfile.TemporaryDirectory() as folder:
        check(repair(Path(folder), text.encode("utf-8", "replace"), names=[path.name]))


values = st.sampled_from(PIECES) | st.text(max_size=8)
locs = st.sampled_from(("https://example.com/a", "https://example.com/b?x=1&amp;y=2", "/c", "//example.com/d", "HTTPS://EXAMPLE.com:443/e",
                        "ftp://example.com/", "https://other.example/f", "https://u:p@example.com/g", "https://example.com/h#i",
                        " https://example.com/a b ", "https://example.com/%", "https://example.com/é"))  # fmt: skip
dates = st.sampled_from(("2024-05-01", "2024-05", "2024-05-01T10:00", "05/06/2026", "2024-05-01 10:00:00", "1970-01-01", "soon",
                         "2024-05-01T10:00:00+0200", "", "May 3, 2024", "2024-02-30"))  # fmt: skip
words = st.sampled_from(("daily", "Daily", "often", "", "0.5", "0,5", "5", "-1", "NaN"))
images = st.sampled_from((
    "<image:image><image:loc>https://example.com/1.png</image:loc></image:image>",
    "<image:image><image:loc>/2.png</image:loc></image:image>", "<image:image/>", "<image:loc>x</image:loc>",
    "<image:image>x<image:loc>https://example.com/3.png</image:loc><image:loc/></image:image>",
    "<video:image><video:loc>https://example.com/4.png</video:loc></video:image>", "<image:image a='1'><loc>x</loc></image:image>",
))  # fmt: skip
videos = st.builds(
    "<video:video><video:thumbnail_loc>https://example.com/t.png</video:thumbnail_loc><video:title>t</video:title>"
    "<video:description>d</video:description><video:content_loc>https://example.com/v.mp4</video:content_loc>{}</video:video>".format,
    st.sampled_from(("", "<video:duration>0</video:duration>", "<video:rating>9</video:rating>", "<video:live>maybe</video:live>",
                     "<video:publication_date>yesterday</video:publication_date>", "<video:uploader/><video:uploader/>",
                     "<video:restriction>DE</video:restriction>", "<video:tag>x</video:tag>" * 33, "<video:title>u</video:title>",
                     "<video:view_count>x</video:view_count>", "<video:nothing>1</video:nothing>", "<video:tvshow/>")),
)  # fmt: skip
news = st.builds(
    "<news:news><news:publication><news:name>n</news:name><news:language>{}</news:language></news:publication>"
    "<news:publication_date>{}</news:publication_date>{}</news:news>".format,
    st.sampled_from(("en", "xx", "")), dates, st.sampled_from(("<news:title>t</news:title>", "", "<news:title/>")),
)  # fmt: skip
links = st.builds(
    '<xhtml:link {} {} {}/>'.format,
    st.sampled_from(('rel="alternate"', 'rel="next"', "")),
    st.sampled_from(('hreflang="de"', 'hreflang="en_US"', 'hreflang="x-default"', 'hreflang="zz-QQ"', "")),
    st.sampled_from(('href="https://example.com/a"', 'href="/de"', 'href=""', 'href="https://example.com/%"', "")),
)  # fmt: skip
others = st.sampled_from(
    ("<o:x xmlns:o='urn:o' a='&lt;'>y</o:x>", "<unknown/>", "text", "<!-- c -->", "<![CDATA[x]]>", "<lastmod/>")
)
parts = st.lists(
    st.builds("<lastmod>{}</lastmod>".format, dates) | st.builds("<changefreq>{}</changefreq>".format, words)
    | st.builds("<priority>{}</priority>".format, words) | st.builds("<loc>{}</loc>".format, locs) | images | videos | news
    | links | others,
    max_size=5,
)  # fmt: skip
entries = st.builds(lambda loc, rest: f"<url><loc>{loc}</loc>{''.join(rest)}</url>", locs, parts) | st.builds(
    lambda rest: f"<url>{''.join(rest)}</url>", parts
)


@pytest.mark.slow
@given(st.lists(st.lists(entries, max_size=8), min_size=1, max_size=3))
@briefly(20)
def test_entries_with_all_kinds_of_faults(files: list[list[str]]) -> None:
    documents = [urlset(*file) for file in files]
    with tempfile.TemporaryDirectory() as folder:
        outcome = repair(Path(folder), *documents)
        check(outcome)
        assert outcome.result.read == sum(map(len, files))
        if not outcome.names:
            return
        again = repair(Path(folder, "again"), *(outcome.data(name) for name in outcome.names), names=outcome.names)
        changed = {row["rule"] for row in again.rows if row["action"] != "not repaired"}
        assert changed <= {"loc-non-ascii"}, "what was repaired needs no repair"


CODES = {"en": "en", "de": "de", "iw": "he", "en-UK": "en-GB", "jp": None, "x-default": "x-default"}
"""{language code: its right form, None if there is none}."""
NEWS = (
    "<news:news><news:publication><news:name>n</news:name><news:language>en</news:language></news:publication>"
    "<news:publication_date>2026-05-01</news:publication_date><news:title>t</news:title></news:news>"
)
IMAGE = "<image:image><image:loc>https://example.com/1.png</image:loc></image:image>"
SHOP = "https://shop.example.com/"
PATHS = [f"{HOME}{number}" for number in range(6)] + [f"{SHOP}{number}" for number in range(3)]
LOC, LINK = f"{{{CORE}}}loc", f"{{{HREFLANG}}}link"
FILES = ("sitemap.xml", "a/sitemap.xml", "A/sitemap.xml", "sitemap.xml?page=1", "sitemap-page-1.xml", "sitemap", "sitemap/1.xml",
         ".hidden/x.xml", "%2e%2e/x.xml", "x.xml.gz", "feed/")  # fmt: skip
"""Paths of sitemaps, of which some collide in a folder."""
BROKEN = ("<image:image><image:loc>https://example.com/1.png?a&b</image:loc></image:image>", "<o:x>1</o:x>",
          "<image:image><image:loc>https://example.com/1.png</image:loc><image:title>1 < 2</image:title></image:image>",
          "<image:image><image:loc>https://example.com/1.png</image:loc><image:title>\x01</image:title></image:image>",
          "<lastmod>2026-05-01")  # fmt: skip
"""Parts of an entry that are not well formed."""
WRONG = ("<lastmod>2026-05-01 10:00:00</lastmod>", "<image:image/>", "<b/>", "<priority>9</priority>")
"""Parts of an entry that are repaired."""
Link = tuple[str, str]
"""Language code and URL."""


@dataclass(frozen=True)
class Entry:
    """A made entry."""

    loc: str
    parts: str
    links: tuple[Link, ...]

    @property
    def text(self) -> str:
        links = "".join(f'<xhtml:link rel="alternate" hreflang="{code}" href="{href}"/>' for code, href in self.links)
        return f"<url><loc>{self.loc}</loc>{links}{self.parts}</url>"

    @property
    def is_faulty(self) -> bool:
        """True if it is rewritten, apart from its URL and links."""
        return self.parts in BROKEN + WRONG


@dataclass
class Site:
    """A made site: its files, and the verdicts of its audit."""

    pages: dict[str, list[Entry]]
    """{URL of a sitemap: its entries}."""
    indexes: dict[str, list[str]]
    """{URL of an index: what it lists}."""
    texts: dict[str, list[str]]
    feeds: dict[str, list[str]]
    https: bool
    """True if the namespace of the sitemaps begins with https."""
    verdicts: dict[str, Verdict]

    @property
    def documents(self) -> dict[str, bytes]:
        return {
            **{url: index(*listed) for url, listed in self.indexes.items()},
            **{url: self._urlset(entries) for url, entries in self.pages.items()},
            **{url: "".join(f"{page}\n" for page in pages).encode() for url, pages in self.texts.items()},
            **{url: feed(*pages) for url, pages in self.feeds.items()},
        }

    def _urlset(self, entries: list[Entry]) -> bytes:
        comments = [comment(number) for number in range(len(entries))]
        data = urlset(*(line for pair in zip(comments, (one.text for one in entries), strict=True) for line in pair))
        return data.replace(CORE.encode(), CORE.replace("http:", "https:").encode()) if self.https else data

    def left_of(self, entry: Entry) -> list[Link]:
        """Return the links of an entry that stay, with codes in their right form: of links with an invalid one, those to
        the page itself."""
        own = self.moved(entry.loc)
        stay = [link for link in entry.links if link[1] not in self.verdicts and (CODES[link[0]] or link[1] == own)]
        return [(CODES[code] or code, href) for code, href in stay]

    def moved(self, loc: str) -> str:
        """Return the URL that an entry of a page has if it stays."""
        verdict = self.verdicts.get(loc)
        return loc if verdict is None else verdict.replacement or ""

    def apart_from_moves(self, links: Iterable[Link]) -> list[Link]:
        """Return links without those to pages that others may have moved to."""
        goals = {one.replacement for one in self.verdicts.values()}
        return [link for link in links if link[1] not in goals]

    def is_right(self, entry: Entry) -> bool:
        return not (entry.is_faulty or entry.loc in self.verdicts) and self.left_of(entry) == [*entry.links]

    def is_unfit(self, entry: Entry, sitemap: str) -> bool:
        """True if an entry is dropped for itself: its page is not indexable, or that of another host."""
        verdict = self.verdicts.get(entry.loc)
        return (verdict is not None and verdict.replacement is None) or origin(entry.loc) != origin(sitemap)

    def becomes(self, entry: Entry) -> tuple[str, list[Link], bool]:
        """Return URL and links of an entry if it stays, and whether it is an article."""
        return self.moved(entry.loc), self.apart_from_moves(self.left_of(entry)), entry.parts == NEWS


def comment(number: int) -> str:
    return f"<!-- <url> {number} -->"


def feed(*pages: str) -> bytes:
    items = "".join(f"<item><title>t</title><link>{page}</link></item>" for page in pages)
    return f'<rss version="2.0"><channel><title>t</title><link>{HOME}</link><description>d</description>{items}</channel></rss>'.encode()


def origin(url: str) -> str:
    return "/".join(url.split("/")[:3])


@st.composite
def sites(draw: st.DrawFn) -> Site:
    fates = draw(st.lists(st.sampled_from(FATES), min_size=len(PATHS), max_size=len(PATHS)))
    verdicts = {}
    for path, fate in zip(PATHS, fates, strict=True):
        if fate in ("status-redirect", "page-canonical-other"):
            good = [one for one, its in zip(PATHS, fates, strict=True) if its == "ok" and origin(one) == origin(path)]
            verdicts[path] = Verdict(fate, draw(st.sampled_from([*good, f"{origin(path)}/unlisted"])))
        elif fate != "ok":
            verdicts[path] = Verdict(fate)
    versions = st.lists(
        st.tuples(st.sampled_from([*CODES]), st.sampled_from(PATHS)), max_size=4, unique_by=itemgetter(0)
    ).map(tuple)
    parts = st.sampled_from(("", "", "", IMAGE, NEWS, *BROKEN, *WRONG))
    entries = st.lists(st.builds(Entry, st.sampled_from(PATHS), parts, versions), max_size=5)
    names = st.builds(str.__add__, st.sampled_from((HOME, HOME, SHOP)), st.sampled_from(FILES))
    found = draw(st.lists(names, min_size=1, max_size=6, unique=True))
    site = Site({}, {}, {}, {}, draw(st.booleans()), verdicts)
    for url in found:
        kind = draw(st.sampled_from(("pages", "pages", "pages", "indexes", "texts", "feeds")))
        if kind == "pages":
            site.pages[url] = draw(entries)
        elif kind == "indexes":
            site.indexes[url] = draw(st.lists(st.sampled_from([*found, f"{HOME}missing.xml"]), min_size=1, max_size=4))
        else:
            listed = st.sampled_from([path for path in PATHS if origin(path) == origin(url)])
            getattr(site, kind)[url] = draw(st.lists(listed, min_size=1, max_size=3, unique=True))
    return site


FATES = ("ok", "ok", "ok", "status-404", "status-soft-404", "page-noindex-meta", "status-redirect-offsite", "url-blocked-by-robots",
         "status-redirect", "page-canonical-other")  # fmt: skip
"""What an audit says of a page; with a temporary chain that ends at an indexable page, it says `ok`."""


def entries_of(data: bytes) -> list[tuple[str, list[Link], bool]]:
    """URL and links of each entry, and whether it is an article."""
    return [
        (entry.findtext(LOC) or "", [(one.get("hreflang", ""), one.get("href", "")) for one in entry.iter(LINK)],
         b"<news:news>" in etree.tostring(entry))
        for entry in etree.fromstring(data) if isinstance(entry.tag, str)
    ]  # fmt: skip


def is_part(some: Iterable[object], whole: Iterable[object]) -> bool:
    """True if all of `some` are in `whole`, in its order."""
    rest = iter(whole)
    return all(one in rest for one in some)


@pytest.mark.slow
@given(sites())
@settings(max_examples=10_000 if os.environ.get("HYPOTHESIS_PROFILE") == "search" else 30)
def test_a_made_site(site: Site) -> None:
    documents = site.documents
    with tempfile.TemporaryDirectory() as folder:
        outcome = repair(
            Path(folder), *documents.values(), names=documents,
            verified=lambda listed: {url: site.verdicts[url] for url in listed if url in site.verdicts}, may_list=nowhere,
        )  # fmt: skip
        check(outcome)
        check_places(site, outcome)
        check_pages(site, outcome)
        check_indexes(site, outcome)
        if not outcome.names:
            return
        again = repair(
            Path(folder, "again"), *map(outcome.data, outcome.names), names=[*map(outcome.url_of, outcome.names)]
        )
        assert [row for row in again.rows if row["action"] != "not repaired"] == []
        assert {name: again.data(name) for name in again.names} == {name: outcome.data(name) for name in outcome.names}


def check_places(site: Site, outcome: Outcome) -> None:
    """Each file with entries is at its URL, or at the one that a row names; each other one has a row, but for feeds that
    stay on the server."""
    urls = {*map(outcome.url_of, outcome.names)}
    moved = outcome.moved
    gone = {row["old"] for row in outcome.rows if row["action"] == "not written"}
    stay = site.feeds.keys() - gone - {*map(unquote, urls)} - urls
    assert not stay & moved.keys()
    for url in site.documents.keys() - stay:
        assert (url in gone) or unquote(moved.get(url, url)) in map(unquote, urls)
    assert len(urls) == len(site.documents) - len(gone) - len(stay)
    assert all(f"{old} -> {new}\n" in outcome.readme for old, new in moved.items())
    assert all(f" {url}\n" in outcome.readme for url in gone)


def check_pages(site: Site, outcome: Outcome) -> None:
    """Pages that are not indexable, and links to them, are gone; all other entries are as they were, each once."""
    written: list[tuple[str, bool, bool]] = []
    by_url = {unquote(outcome.url_of(name)): name for name in outcome.names}
    for url, entries in site.pages.items():
        name = by_url.get(unquote(outcome.moved.get(url, url)))
        data = outcome.data(name) if name is not None else urlset()
        found = [(loc, site.apart_from_moves(links), is_news) for loc, links, is_news in entries_of(data)]
        if name is not None:
            comments = [line for line in data.decode().splitlines() if line.startswith("<!--")]
            assert comments == [comment(number) for number in range(len(entries))]
        fit = [entry for entry in entries if not site.is_unfit(entry, url)]
        assert is_part(found, map(site.becomes, fit))
        texts = [text for text in data.decode().splitlines() if text.startswith("<url>")]
        without_dates = [re.sub("<(lastmod|priority)>.*?</\\1>", "", text) for text in texts]
        assert len({*without_dates}) == len(texts), "entries of a page differ in their extensions"
        wrong = {site.becomes(entry)[0] for entry in fit if not site.is_right(entry)}
        locs = {loc for loc, _, _ in found}
        right = {entry.text for entry in fit}
        assert [
            text for text, (loc, _, _) in zip(texts, found, strict=True) if loc not in wrong and text not in right
        ] == []
        for entry in fit:
            if entry.loc not in site.verdicts and entry.loc not in locs:
                assert ("dropped", "cross-duplicate-url", entry.loc) in [
                    (row["action"], row["rule"], row["url"]) for row in outcome.rows
                ]
        written += [(loc, is_news, f"<url><loc>{loc}</loc></url>" in texts) for loc, _, is_news in found]
    for url in site.texts:
        name = by_url.get(unquote(outcome.moved.get(url, url)))
        written += [(loc, False, True) for loc in (outcome.data(name).decode().split() if name is not None else ())]
    assert not {loc for loc, _, _ in written} & site.verdicts.keys()
    bare = [loc for loc, _, is_bare in written if is_bare]
    assert len(bare) == len({*bare}), "pages without more than a URL stand once in the set"
    for url, pages in site.feeds.items():
        name = by_url.get(unquote(url))
        assert name is None or outcome.data(name) == feed(*pages)


def check_indexes(site: Site, outcome: Outcome) -> None:
    """An index lists each file that it listed and that is written, in its order, at its URL, and nothing else twice."""
    by_url = {unquote(outcome.url_of(name)): name for name in outcome.names}
    moved = outcome.moved
    for url, listed in site.indexes.items():
        name = by_url.get(unquote(moved.get(url, url)))
        found = [one.findtext(LOC) or "" for one in etree.fromstring(outcome.data(name))] if name is not None else []
        assert len(found) == len({*found})
        files = [moved.get(one, one) for one in dict.fromkeys(listed) if one not in site.indexes]
        assert is_part([one for one in files if one in found], found) or any(one in site.indexes for one in listed)
        assert all(one in found for one in files if unquote(one) in by_url or one.endswith("missing.xml"))
        left = [one for one in found if unquote(one) not in by_url and not one.endswith("missing.xml")]
        assert {*left} <= site.feeds.keys()


cells = locs.map(lambda url: url.replace("&amp;", "&")) | values
versions = st.lists(st.tuples(st.sampled_from(("de", "en", "en_US", "x-default", "zz-QQ", "")), cells), max_size=4)
names = st.sampled_from(
    ("thumbnail_loc", "title", "description", "content_loc", "restriction", "price", "publication", "a>b")
)
parts = st.dictionaries(names, cells | st.lists(cells, max_size=2) | st.dictionaries(names | words, cells, max_size=3))
"""Parts of a video or an article, with any names and values."""
listed = st.fixed_dictionaries(
    {"loc": cells},
    optional={
        "lastmod": dates | values, "priority": words, "images": st.lists(cells, max_size=3), "alternates": versions,
        "videos": st.lists(parts, max_size=2), "news": parts, "indexable": st.booleans(),
    },
).filter(lambda row: not str(row["loc"]).strip().startswith("#") and str(row["loc"]).strip())  # fmt: skip
"""Rows of a list; blank ones and comments are none in a table."""


@pytest.mark.slow
@given(st.lists(listed, min_size=1, max_size=8), st.booleans(), st.booleans())
@briefly(20)
def test_each_row_of_a_list_is_in_the_set_or_in_the_list_of_changes(
    found: list[dict[str, object]], is_table: bool, by_folder: bool
) -> None:
    for row in found:
        if isinstance(pairs := row.get("alternates"), list):
            row["alternates"] = [{"hreflang": code, "href": href} for code, href in pairs]
    first = {"loc": f"{HOME}first"}  # without any page there is no set
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"pages.{'csv' if is_table else 'jsonl'}"
        text = table([first, *found]) if is_table else "".join(f"{json.dumps(row)}\n" for row in [first, *found])
        path.write_text(text, "utf-8", errors="replace")
        outcome = repair_list(path, by_folder)
        assert outcome.errors() + outcome.violations() == []
        assert not [row for row in outcome.rows if row["action"] in ("not repaired", "not written", "unread")]
        dropped = [int(row["line"]) for row in outcome.rows if row["action"] == "dropped"]
        assert len(set(dropped)) == len(dropped) == outcome.result.dropped
        assert len(outcome.locs) + len(dropped) == outcome.result.read == 1 + len(found)
        again = repair(Path(folder, "again"), *map(outcome.data, outcome.names), names=outcome.names)
        assert again.rows == []


def table(rows: Iterable[dict[str, object]]) -> str:
    """The rows as our own CSV feed protects them."""
    text = io.StringIO()
    out, cell = csv.writer(text), Cells().disarmed
    columns = ("loc", "lastmod", "priority", "images", "alternates", "videos", "news", "indexable")
    out.writerow(columns)
    for row in rows:
        texts = (
            json.dumps(value) if isinstance(value, (list, dict, bool)) else str(value)
            for value in map(row.get, columns)
        )
        out.writerow([cell(" ".join(text.split())) if text != "None" else "" for text in texts])
    return text.getvalue()
