"""Whatever comes in: what is written has no error, nothing is lost without a row, and what was right stays as it was."""

from __future__ import annotations

import gzip
import os
import tempfile
from dataclasses import dataclass
from operator import itemgetter
from pathlib import Path
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from lxml import etree

from sitemapcrawler.namespaces import CORE
from sitemapcrawler.namespaces.extensions import HREFLANG
from sitemapcrawler.repair.reading import Verdict
from tests.unit.repair.repairing import HOME, canonical, check, repair, urlset

pytestmark = pytest.mark.no_cover

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
    if outcome.result.read and path.name not in ("54-atom.xml", "60-template.xml"):  # one relative URL; placeholders
        assert outcome.result.kept + outcome.result.changed + outcome.result.unrepaired


@given(st.sampled_from(BAD + GOOD), st.randoms(use_true_random=False), st.integers(1, 8))
@settings(deadline=None, max_examples=60)
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


@given(st.lists(st.lists(entries, max_size=8), min_size=1, max_size=3))
@settings(deadline=None, max_examples=150)
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
PATHS = [f"{HOME}{number}" for number in range(8)]
LOC, LINK = f"{{{CORE}}}loc", f"{{{HREFLANG}}}link"


@dataclass
class Site:
    """A made site: its files, and the verdicts of its audit."""

    files: list[list[str]]
    verdicts: dict[str, Verdict]


@st.composite
def sites(draw: st.DrawFn) -> Site:
    fates = draw(
        st.lists(st.sampled_from(("ok", "ok", "gone", "soft", "noindex", "moved", "copy")), min_size=8, max_size=8)
    )
    good = [path for path, fate in zip(PATHS, fates, strict=True) if fate == "ok"] + [f"{HOME}unlisted"]
    verdicts = {}
    for path, fate in zip(PATHS, fates, strict=True):
        rule = {"gone": "status-404", "soft": "status-soft-404", "noindex": "page-noindex-meta"}.get(fate)
        if rule is not None:
            verdicts[path] = Verdict(rule)
        elif fate != "ok":
            moved = fate == "moved"
            verdicts[path] = Verdict(
                "status-redirect" if moved else "page-canonical-other", draw(st.sampled_from(good))
            )
    versions = st.lists(
        st.tuples(st.sampled_from([*CODES]), st.sampled_from(PATHS)), max_size=4, unique_by=itemgetter(0)
    )
    extensions = st.sampled_from(("", "", IMAGE, NEWS))
    entry = st.builds(_entry, st.sampled_from(PATHS), extensions, versions)
    return Site(draw(st.lists(st.lists(entry, max_size=6), min_size=1, max_size=3)), verdicts)


def _entry(loc: str, extension: str, versions: list[tuple[str, str]]) -> str:
    links = "".join(f'<xhtml:link rel="alternate" hreflang="{code}" href="{href}"/>' for code, href in versions)
    return f"<url><loc>{loc}</loc>{extension}{links}</url>"


def entries_of(data: bytes) -> list[tuple[str, list[tuple[str, str]], bool]]:
    """URL of each entry, code and URL of its links, and whether it is an article."""
    return [
        (entry.findtext(LOC) or "", [(one.get("hreflang", ""), one.get("href", "")) for one in entry.iter(LINK)],
         b"<news:news>" in etree.tostring(entry))
        for entry in etree.fromstring(data) if isinstance(entry.tag, str)
    ]  # fmt: skip


@pytest.mark.slow
@given(sites())
@settings(
    deadline=None,
    max_examples=10_000 if os.environ.get("HYPOTHESIS_PROFILE") == "search" else 250,
)
def test_a_made_site_with_moved_pages_and_language_versions(site: Site) -> None:
    documents = [urlset(*file) for file in site.files]
    with tempfile.TemporaryDirectory() as folder:
        outcome = repair(
            Path(folder), *documents,
            verified=lambda listed: {url: site.verdicts[url] for url in listed if url in site.verdicts},
        )  # fmt: skip
        check(outcome)
        written = [entries_of(outcome.data(name)) for name in outcome.names]
        kept = {loc for file in written for loc, _, _ in file}
        assert not kept & site.verdicts.keys()
        assert all(len({loc for loc, _, _ in file}) == len(file) for file in written)
        right = {loc for document in documents for loc, _, _ in entries_of(document)} - site.verdicts.keys()
        assert right <= kept, "a page without a fault stays"
        hrefs = {href for file in written for _, links, _ in file for _, href in links}
        assert not hrefs & site.verdicts.keys()
        read = [entry for document in documents for entry in entries_of(document)]
        moves = {url: verdict.replacement for url, verdict in site.verdicts.items()}
        came = [(moves.get(loc, loc), _links_left(links, site), is_news) for loc, links, is_news in read]
        assert all(entry in came for file in written for entry in file)
        if not outcome.names:
            return
        again = repair(Path(folder, "again"), *map(outcome.data, outcome.names), names=outcome.names)
        # An entry that lost its last language version may only repeat one of another file.
        assert {row["rule"] for row in again.rows if row["action"] != "not repaired"} <= {
            "cross-duplicate-url", "xml-empty-urlset"
        }  # fmt: skip


def _links_left(links: list[tuple[str, str]], site: Site) -> list[tuple[str, str]]:
    """Return the links of an entry that stay, with codes in their right form where no other link has that."""
    codes = {code for code, _ in links}
    left = []
    for code, href in links:
        right = CODES[code]
        if right not in codes and right is not None:
            codes.add(right)
            code = right
        if href not in site.verdicts and code not in ("jp", "en-UK"):
            left.append((code, href))
    return left
