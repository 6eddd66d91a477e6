"""RSS and Atom, in all their versions."""

from __future__ import annotations

import pytest

from sitemapcrawler.items import UrlRecord
from tests.unit.reader.reading import URL, Reading, read

ATOM = '<feed xmlns="http://www.w3.org/2005/Atom"{}>\n<title>t</title><link href="https://e.com/"/>\n{}</feed>'
ATOM_03 = '<feed version="0.3" xmlns="http://purl.org/atom/ns#">{}</feed>'
RDF = (
    '<?xml version="1.0"?>\n<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns="http://purl.org/rss/1.0/"'
    ' xmlns:dc="http://purl.org/dc/elements/1.1/">\n<channel rdf:about="https://e.com/"><title>t</title><link>https://e.com/</link>'
    '<items><rdf:Seq><rdf:li resource="https://e.com/1"/></rdf:Seq></items></channel>\n{}</rdf:RDF>'
)
NAMESPACES = (
    ' xmlns:media="http://search.yahoo.com/mrss/" xmlns:dc="http://purl.org/dc/elements/1.1/"'
    ' xmlns:atom="http://www.w3.org/2005/Atom" xmlns:content="http://purl.org/rss/1.0/modules/content/"'
)


RSS = (
    f'<rss version="2.0"{NAMESPACES}{{}}><channel><title>t</title><link>https://e.com/</link>'
    "<image><url>i</url><link>https://e.com/</link></image>\n{}</channel></rss>"
)


def rss(*items: str, attributes: str = "") -> Reading:
    return read(RSS.format(attributes, "".join(f"<item>{item}</item>\n" for item in items)))


def atom(*entries: str, attributes: str = "") -> Reading:
    return read(ATOM.format(attributes, "".join(f"<entry>{entry}</entry>\n" for entry in entries)))


@pytest.mark.parametrize("bad", ["\x0b", "&", "<"])
@pytest.mark.parametrize(
    "feed",
    [
        "<rss version='2.0'~><channel><item><link>https://e.com/1</link></item></channel></rss>",
        "<feed xmlns='http://www.w3.org/2005/Atom'~><entry><link href='https://e.com/1'/></entry></feed>",
        "<feed~><entry><link href='https://e.com/1'/></entry></feed>",
        RDF.format("<item><link>https://e.com/1</link></item>").replace(' xmlns:dc="', '~ xmlns:dc="'),
    ],
)
def test_a_feed_with_a_broken_start_tag_is_read_as_a_feed(feed: str, bad: str) -> None:
    reading = read(feed.replace("~", f" x='{bad}'"))
    assert (reading.locs, reading.document.outcome) == (["https://e.com/1"], "recovered")
    assert reading.document.format == ("atom" if feed.startswith("<feed") else "rss")


FEEDS: dict[str, tuple[str, str, int, str, str]] = {
    "RSS 2": (
        RSS.format("", "<item><link>https://e.com/1</link><pubDate>Wed, 01 May 2024 10:00:00 +0200</pubDate></item>"),
        "rss", 2, "Wed, 01 May 2024 10:00:00 +0200", "2024-05-01T08:00:00Z",
    ),
    "RSS 1": (
        RDF.format('<item rdf:about="https://e.com/1"><link>https://e.com/1</link><dc:date>2024-05-01</dc:date></item>'),
        "rss", 4, "2024-05-01", "2024-05-01T00:00:00Z",
    ),
    "Atom 1": (
        ATOM.format("", '<entry><link href="https://e.com/1"/><published>2024-04-01T00:00:00Z</published>'
                    "<updated>2024-05-01T10:00:00Z</updated></entry>"),
        "atom", 3, "2024-05-01T10:00:00Z", "2024-05-01T10:00:00Z",
    ),
    "Atom 0.3": (
        ATOM_03.format('<entry><link rel="alternate" href="https://e.com/1"/><modified>2024-05-01</modified></entry>'),
        "atom", 1, "2024-05-01", "2024-05-01T00:00:00Z",
    ),
}  # fmt: skip


@pytest.mark.parametrize(("text", "format", "line", "written", "moment"), FEEDS.values(), ids=FEEDS)
def test_entry_of_a_feed(text: str, format: str, line: int, written: str, moment: str) -> None:
    reading = read(text)
    assert reading.records == [UrlRecord("https://e.com/1", None, URL, line, written, moment)]
    assert (reading.document.format, reading.document.outcome, reading.rules) == (format, "ok", {})


def test_rss_1_of_more_than_four_mib_is_read_to_its_end() -> None:
    item = '<item rdf:about="https://e.com/{0}"><link>https://e.com/{0}</link><d>' + "x" * 1000 + "</d></item>\n"
    reading = read(RDF.format("".join(item.format(number) for number in range(5000))), 1 << 16)
    assert (len(reading.records), reading.document.outcome) == (5000, "ok")


@pytest.mark.parametrize(
    ("links", "loc"),
    [
        ('<link rel="self" href="https://e.com/no"/><link rel="alternate" href="https://e.com/1"/>', "https://e.com/1"),
        ('<link rel="enclosure" href="https://e.com/no"/><link href="https://e.com/1"/>', "https://e.com/1"),
        ('<link href=" https://e.com/1 "/><link href="https://e.com/2"/>', "https://e.com/1"),
        ('<link rel="edit" href="https://e.com/no"/>', None),
        ("<link/>", None),
        ("<link>https://e.com/no</link>", None),
        ("<id>https://e.com/no</id>", None),
    ],
)
def test_the_page_of_an_atom_entry_is_its_alternate_link(links: str, loc: str | None) -> None:
    reading = atom(links)
    assert reading.locs == ([loc] if loc else [])
    assert ("feed-item-without-link" in reading.rules) is (loc is None)


@pytest.mark.parametrize(
    ("item", "loc"),
    [
        ("<link>https://e.com/1</link><guid>https://e.com/no</guid>", "https://e.com/1"),
        ("<guid>https://e.com/no</guid><link>https://e.com/1</link>", "https://e.com/1"),
        ("<guid>https://e.com/1</guid>", "https://e.com/1"),
        ('<guid isPermaLink="true">https://e.com/1</guid>', "https://e.com/1"),
        ('<guid isPermaLink="false">https://e.com/no</guid>', None),
        ('<guid isPermaLink="false">17</guid>', None),
        ("<link></link><guid>https://e.com/1</guid>", "https://e.com/1"),
        ("<link><![CDATA[\nhttps://e.com/?a&b\n]]></link>", "https://e.com/?a&b"),
        ('<atom:link href="https://e.com/1"/>', "https://e.com/1"),
        ('<atom:link rel="self" href="https://e.com/no"/><link>https://e.com/1</link>', "https://e.com/1"),
        ("<media:link>https://e.com/no</media:link><link>https://e.com/1</link>", "https://e.com/1"),
        ("<title>t</title>", None),
        ("", None),
    ],
)
def test_the_page_of_an_rss_item_is_its_link_or_its_permalink(item: str, loc: str | None) -> None:
    reading = rss(item, "<link>https://e.com/good</link>")
    assert reading.locs == [*([loc] if loc else []), "https://e.com/good"]
    assert ("feed-item-without-link" in reading.rules) is (loc is None)


@pytest.mark.parametrize(
    "item",
    [
        "<link>https://e.com/<b>x</b></link>",
        "<link>https://e.com/1<guid>x</guid></link>",
        "<guid>https://e.com/<b/>1</guid>",
    ],
)
def test_half_a_link_is_none(item: str) -> None:
    reading = rss(item, "<link>https://e.com/good</link>")
    assert [record.loc for record in reading.records if not record.recovered] == ["https://e.com/good"]
    assert len(reading.document.faults) > 0


def test_an_item_cut_off_before_its_link_is_not_known_by_its_guid() -> None:
    reading = read("<rss><channel><item><guid>https://e.com/guid</guid><link>https://e.com/1")
    assert reading.locs == []
    assert reading.document.outcome in ("failed", "truncated")


BASED = ' xml:base="/news/"'
LINKS = [
    (RDF.format('<item rdf:about="https://e.com/1"><title>t</title></item>'), "https://e.com/1"),
    (
        '<a:feed xmlns:a="http://www.w3.org/2005/Atom"><a:entry><a:link href="https://e.com/1"/></a:entry></a:feed>',
        "https://e.com/1",
    ),
    ('<rss version="2.0"><channel><item><link>/1</link></item></channel></rss>', "https://e.com/1"),
    ('<rss version="2.0" xml:base="/a/"><channel><item><link>1</link></item></channel></rss>', "https://e.com/a/1"),
    ('<rss xml:base="/b/"><channel><item><link>1</link>&nbsp;</item></channel></rss>', "https://e.com/b/1"),
    ('<rss xml:base="/b/"><channel><item><guid>1</guid></item></channel></rss>', "https://e.com/b/1"),
    (ATOM_03.format('<entry><link rel="alternate" href="1"/></entry>'), "https://e.com/1"),
    (ATOM.format("", '<entry><link href="a/1"/></entry>'), "https://e.com/a/1"),
    (ATOM.format(' xml:base="mailto:x"', '<entry><link href="1"/></entry>'), "https://e.com/1"),
    (
        ATOM.format(' xml:base="/news/?a&amp;b"', '<entry><link href="1"/></entry>'),
        "https://e.com/news/1",
    ),
    (ATOM.format(BASED, '<entry><link href="https://g.com/1"/></entry>'), "https://g.com/1"),
    (ATOM.format(BASED, '<entry><link rel="self" href="x"/><link href="1"/></entry>'), "https://e.com/news/1"),
]
"""(feed, URL of its entry): absolute, or resolved against the base of the feed."""


@pytest.mark.parametrize(("text", "loc"), LINKS)
def test_link_of_a_feed(text: str, loc: str) -> None:
    assert read(text).locs == [loc]
    assert read(text, 7).locs == [loc]


def test_relative_link_is_kept_as_it_was_written() -> None:
    record = atom('<link href="October.html"/>', attributes=' xml:base="https://e.com/news/"').records[0]
    assert (record.loc, record.loc_raw) == ("https://e.com/news/October.html", "October.html")


def test_base_of_a_feed_holds_behind_a_fault() -> None:
    items = "<item><link>1</link><title>a & b</title></item>\n<item><link>2</link></item>\n"
    reading = read(f'<rss xml:base="https://f.com/?a&amp;b"><channel>{items}</channel></rss>')
    assert reading.locs == ["https://f.com/1", "https://f.com/2"]
    assert reading.recovered == ["https://f.com/1"]


TEMPLATES = [
    *("{{ item.url }}", "{% url %}", "<![CDATA[<%= url %>]]>", "${link}", "/{{ slug }}", "{link}", "#{url}", "[[url]]"),
    *("%URL%", "$link"),
]


@pytest.mark.parametrize(
    "reading",
    [
        *(rss(f"<link>{link}</link>", "<link>https://e.com/good</link>") for link in TEMPLATES),
        atom('<link href="{{ url }}"/>', '<link href="/good"/>'),
    ],
    ids=[*TEMPLATES, "in Atom"],
)
def test_template_that_was_not_filled_in_is_left_out(reading: Reading) -> None:
    assert (reading.locs, reading.rules) == (["https://e.com/good"], {"loc-placeholder": 1})


@pytest.mark.parametrize(
    ("dates", "lastmod"),
    [
        ("<pubDate>Wed, 01 May 2024 10:00:00 GMT</pubDate>", "Wed, 01 May 2024 10:00:00 GMT"),
        ("<dc:date>2024-05-01</dc:date>", "2024-05-01"),
        ("<pubDate></pubDate><dc:date>2024-05-01</dc:date>", "2024-05-01"),
        ("<pubDate>no date</pubDate>", "no date"),
        ("<media:date>2024-05-01</media:date>", None),
        ("<atom:updated>2024-06-01</atom:updated><pubDate>x</pubDate>", "2024-06-01"),
    ],
)
def test_the_date_of_an_item(dates: str, lastmod: str | None) -> None:
    assert rss(f"<link>https://e.com/1</link>{dates}").records[0].lastmod == lastmod


def test_media_of_an_item_are_images_and_videos() -> None:
    reading = rss(
        "<link>https://e.com/1</link>"
        '<media:content url="https://e.com/i.jpg" medium="image"><media:title>An image</media:title></media:content>'
        '<media:group><media:title>A film</media:title><media:thumbnail url="https://e.com/t.jpg"/>'
        '<media:content url="https://e.com/v.mp4" type="video/mp4" duration="60"/></media:group>'
        '<media:content url="https://e.com/a.mp3" medium="audio"/>'
        '<media:content url="https://e.com/i.png" type="image/png"/>'
    )
    (record,) = reading.records
    assert [(image.loc, image.title) for image in record.images] == [
        ("https://e.com/i.jpg", "An image"),
        ("https://e.com/i.png", None),
    ]
    (video,) = record.videos
    assert (video.content_loc, video.title, video.thumbnail_loc, video.duration) == (
        "https://e.com/v.mp4",
        "A film",
        "https://e.com/t.jpg",
        "60",
    )
    assert (reading.document.counts.images, reading.document.counts.videos) == (2, 1)
    assert record.extra is not None
    assert [tree["name"] for tree in record.extra["http://search.yahoo.com/mrss/"]] == [
        "content",
        "group",
        "content",
        "content",
    ]


def test_media_titles_are_not_borrowed_from_another_namespace() -> None:
    (record,) = rss('<link>https://e.com/1</link><title>Article</title><media:content url="u" medium="image"/>').records
    assert record.images[0].title is None


def test_a_feed_with_other_elements_around_its_items_has_no_fault() -> None:
    reading = rss(
        "<link>https://e.com/1</link><content:encoded><![CDATA[<link>https://e.com/no</link>]]></content:encoded>"
    )
    assert (reading.locs, reading.rules) == (["https://e.com/1"], {})


def test_an_empty_feed_is_no_failure() -> None:
    assert (rss().document.outcome, rss().document.url_count) == ("ok", 0)
