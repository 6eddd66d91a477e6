"""Whatever the extensions of an entry hold, no rule fails, and each message has a text."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sitemapcrawler.items import SitemapRecord, UrlRecord
from sitemapcrawler.namespaces.extensions import (
    IMAGE_EXTENSION,
    NEWS_EXTENSION,
    VIDEO_EXTENSION,
    Alternate,
    Image,
    News,
    Video,
)
from sitemapcrawler.reader import Document
from sitemapcrawler.rules.facts.given import FileFacts, UrlFacts

from .expecting import CORE, rules_of
from .judging import NOW, URL, judge

RULES = rules_of("image", "video", "news", "hreflang")
SITE = "https://example.com"
TEXT = (
    st.none()
    | st.text(max_size=20)
    | st.from_regex(r"https?://[^ ]{0,10}/?[\x00-\xff]{0,5}", fullmatch=True)
    | st.sampled_from(
        [f"{SITE}/a", "600", "2024-05-01", "9999-12-31", "0001-01-01", "yes", "x" * 3000, "//", "a:b", ""]
    )
)
NAMES = st.sampled_from(["value", "info", "relationship", "name", "language", "media", "type", "hrefLang", "x"])
ATTRIBUTED = st.none() | st.dictionaries(NAMES, st.text(max_size=8))
STRUCTURED = ("restriction", "platform", "uploader", "gallery_loc", "tvshow")
PLAIN = [
    name
    for name in VIDEO_EXTENSION.fields
    if name in Video.__slots__ and name not in (*STRUCTURED, "price", "id", "content_segment_loc", "tag")
]
CODES = st.none() | st.text(max_size=8) | st.sampled_from(["en", "de", "x-default", "jp", "en_US", "EN-gb", " ", "fil"])
ENTRIES = st.builds(
    UrlRecord,
    st.text(max_size=20) | st.just(f"{SITE}/a"),
    images=st.lists(st.builds(Image, *[TEXT] * 5), max_size=2),
    videos=st.lists(
        st.builds(
            Video,
            **dict.fromkeys(PLAIN, TEXT),
            **dict.fromkeys(STRUCTURED, ATTRIBUTED),
            tag=st.lists(st.text(max_size=2), max_size=4),
        ),
        max_size=1,
    ),
    news=st.none() | st.builds(News, ATTRIBUTED, *[TEXT] * 7),
    alternates=st.lists(
        st.builds(Alternate, CODES, TEXT, TEXT, st.dictionaries(NAMES, st.text(max_size=3))), max_size=3
    ),
    recovered=st.booleans(),
)


@given(st.lists(ENTRIES, min_size=1, max_size=2))
def test_no_values_make_a_rule_fail(records: list[UrlRecord]) -> None:
    file = FileFacts(URL, SitemapRecord(URL), Document(URL), fetched_at=NOW)
    file.tally.count(records)
    for rule in RULES.values():
        for facts in [UrlFacts(record, file) for record in records] if rule.judges_entries else [file]:
            assert all(message.text for message in rule.check(facts))


SPACES = {extension.prefix: extension for extension in (IMAGE_EXTENSION, VIDEO_EXTENSION, NEWS_EXTENSION)}
BETWEEN = (
    "&", "\n", "0", "A", "/a.jpg", f"{SITE}/a", "2026-06-01", "<loc>", "</loc>", "<title>A</title>", "<![CDATA[ ]]>",
)  # fmt: skip


def pieces(prefix: str) -> list[str]:
    """Tags of a namespace, and what stands between them."""
    names = [prefix, *SPACES[prefix].fields, *(("name", "language") if prefix == "news" else ())]
    tags = [
        tag.format(f"{prefix}:{name}") for name in names for tag in ("<{}>", "</{}>", "<{}/>", "<{} relationship='x'>")
    ]
    return [*tags, f"<{prefix}:x y='1'>A</{prefix}:x>", *BETWEEN]


@pytest.mark.parametrize("prefix", SPACES)
@given(data=st.data())
def test_no_markup_makes_a_rule_fail(prefix: str, data: st.DataObject) -> None:
    text = "".join(data.draw(st.lists(st.sampled_from(pieces(prefix)), max_size=15)))
    root = f'<urlset xmlns="{CORE}" xmlns:{prefix}="{SPACES[prefix].uri}">'
    entry = f"<url><loc>{SITE}/a</loc><{prefix}:{prefix}>{text}</{prefix}:{prefix}></url>"
    assert "internal-rule-failed" not in {finding.rule for finding in judge(f"{root}{entry}{entry}</urlset>".encode())}
