"""Rules on text sitemaps and on feeds."""

from __future__ import annotations

from collections.abc import Iterator

from sitemapcrawler.reader.faults import Fault
from sitemapcrawler.rules.document import told
from sitemapcrawler.rules.facts import FileFacts
from sitemapcrawler.rules.registry import Message, Needs, Severity, rule

GOOGLE_TEXT = "https://developers.google.com/search/docs/crawling-indexing/sitemaps/build-sitemap#text"
GOOGLE_FEEDS = "https://developers.google.com/search/docs/crawling-indexing/sitemaps/build-sitemap#rss"
YANDEX = "https://yandex.com/support/webmaster/en/controlling-robot/sitemap.html"


@rule("txt-not-url-line", Severity.ERROR, GOOGLE_TEXT, Needs.FAULT)
def txt_not_url_line(fault: Fault) -> Iterator[Message]:
    """A line of a text sitemap is no URL.

    Why: a text sitemap has one absolute URL a line and nothing else.
    Bad: `/shop/` or `All pages of our shop`
    Good: `https://example.com/shop/`
    """
    yield from told(fault)


@rule("txt-has-metadata", Severity.WARNING, GOOGLE_TEXT, Needs.FAULT)
def txt_has_metadata(fault: Fault) -> Iterator[Message]:
    """Something stands behind the URL of a line.

    Why: text sitemaps have no dates or priorities; a reader may take the whole line for the URL.
    Bad: `https://example.com/shop/ 2026-01-05`
    Good: `https://example.com/shop/`
    """
    yield from told(fault)


@rule("feed-item-without-link", Severity.ERROR, GOOGLE_FEEDS, Needs.FAULT)
def feed_item_without_link(fault: Fault) -> Iterator[Message]:
    """An item of a feed has no link.

    Why: without one the item names no page, and is passed over.
    Bad: `<item><title>News</title></item>`
    Good: `<item><title>News</title><link>https://example.com/news</link></item>`
    """
    yield from told(fault)


@rule("feed-as-sitemap-yandex", Severity.INFO, YANDEX, Needs.FILE)
def feed_as_sitemap_yandex(file: FileFacts) -> Iterator[Message]:
    """The sitemap is an RSS or Atom feed, which Yandex does not read as one.

    Why: Google and Bing do; for Yandex the pages need an XML or text sitemap as well.
    Bad: `Sitemap: https://example.com/feed/` alone
    Good: `Sitemap: https://example.com/sitemap.xml`
    """
    if file.record.format in ("rss", "atom"):
        yield Message(
            f"a feed ({file.record.format}): Yandex does not read feeds as sitemaps", value=file.record.format
        )
