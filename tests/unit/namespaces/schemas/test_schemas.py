"""Our schemas: loaded from the package alone, and of one mind with the official ones."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from lxml import etree

from sitemapcrawler.namespaces.schemas import schema

CORE = "http://www.sitemaps.org/schemas/sitemap/0.9"
OFFICIAL = Path(__file__).parents[5] / "shared" / "xsd"
NAMESPACES = (
    f'xmlns="{CORE}" xmlns:image="http://www.google.com/schemas/sitemap-image/1.1"'
    ' xmlns:video="http://www.google.com/schemas/sitemap-video/1.1"'
    ' xmlns:news="http://www.google.com/schemas/sitemap-news/0.9" xmlns:xhtml="http://www.w3.org/1999/xhtml"'
)

LOCS = st.sampled_from(
    ["https://e.com/abc", "http://a.b", "", "/a/b/c/d/e/f", "https://e.com/%zz", " https://e.com/a ", "https://e.com/a b",
     f"https://e.com/{'x' * 2034}", f"https://e.com/{'x' * 2035}", "javascript:alert(1)", "https://e.com/é"]
)  # fmt: skip
LASTMODS = st.sampled_from(
    ["2024-01-01", "2024-01-01Z", "2024", "2024-01", "2024-01-01T10:00:00", "2024-01-01T10:00Z", "2024-02-30", "",
     "2024-01-01T10:00:00.5+02:00", "yesterday", "2024-01-01T25:00:00Z", "0000-00-00"]
)  # fmt: skip
FREQUENCIES = st.sampled_from(["daily", "Daily", " daily", "", "never", "sometimes"])
PRIORITIES = st.sampled_from(["0.5", ".8", "5e-1", "0,5", "1.0", "1.1", "-0.1", "", "NaN", " 1 "])
ELEMENTS = st.one_of(
    LOCS.map(lambda text: f"<loc>{text}</loc>"),
    LASTMODS.map(lambda text: f"<lastmod>{text}</lastmod>"),
    FREQUENCIES.map(lambda text: f"<changefreq>{text}</changefreq>"),
    PRIORITIES.map(lambda text: f"<priority>{text}</priority>"),
    st.sampled_from(
        ["<unknown/>", "text", "<!-- c -->", '<o:x xmlns:o="urn:o"/>', "<loc a='1'>https://e.com/abc</loc>"]
    ),
)


def verdict(validator: etree.XMLSchema, text: str) -> bool:
    return bool(validator.validate(etree.fromstring(text)))


@pytest.mark.skipif(not OFFICIAL.is_dir(), reason="the official schemas are not beside the repository")
@pytest.mark.parametrize(
    ("root", "entry", "file"), [("urlset", "url", "sitemap.xsd"), ("sitemapindex", "sitemap", "siteindex.xsd")]
)
def test_verdicts_are_those_of_the_official_schema(root: str, entry: str, file: str) -> None:
    official, ours = etree.XMLSchema(file=str(OFFICIAL / file)), schema(root)
    seen: set[bool] = set()

    @settings(max_examples=300)
    @given(st.lists(st.lists(ELEMENTS, max_size=5).map("".join), max_size=3), st.sampled_from(["", " a='1'"]))
    def agree(entries: list[str], attribute: str) -> None:
        body = "".join(f"<{entry}{attribute}>{content}</{entry}>" for content in entries)
        text = f'<{root} xmlns="{CORE}">{body}</{root}>'
        expected = verdict(official, text)
        assert verdict(ours, text) == expected, text
        seen.add(expected)

    agree()
    valid = f'<{root} xmlns="{CORE}"><{entry}><loc>https://e.com/abc</loc></{entry}></{root}>'
    assert verdict(official, valid)
    assert verdict(ours, valid)
    assert False in seen


@pytest.mark.parametrize(
    ("content", "valid"),
    [
        ("<image:image><image:title>t</image:title><image:loc>https://e.com/i.jpg</image:loc></image:image>", True),
        ("<image:image><image:title>t</image:title></image:image>", False),
        ("<image:image><image:loc>i</image:loc><image:unknown/></image:image>", False),
        ("<xhtml:link rel='alternate' hreflang='de' href='https://e.com/de'/>", True),
        ("<xhtml:link rel='alternate' unknown='de'/>", False),
        (
            "<news:news><news:publication><news:name>n</news:name><news:language>en</news:language></news:publication>"
            "<news:publication_date>2024-01-01T10:00Z</news:publication_date><news:title>t</news:title></news:news>",
            True,
        ),
        ("<news:news><news:title>t</news:title></news:news>", False),
        (
            "<video:video><video:tag>a</video:tag><video:restriction relationship='allow'>DE</video:restriction></video:video>",
            True,
        ),
        ("<video:video><video:unknown/></video:video>", False),
        ("<o:other xmlns:o='urn:o'/>", False),
    ],
)
def test_namespaces_are_known(content: str, valid: bool) -> None:
    text = f"<urlset {NAMESPACES}><url><loc>https://e.com/abc</loc>{content}</url></urlset>"
    assert verdict(schema("urlset"), text) is valid
