"""Rules on how often a page is said to change."""

from __future__ import annotations

from collections.abc import Iterator

from sitemapcrawler.reader.entries import FREQUENCIES
from sitemapcrawler.rules.facts.fields import field, raw_text, text_of
from sitemapcrawler.rules.facts.given import FileFacts, UrlFacts
from sitemapcrawler.rules.facts.objects import line_of
from sitemapcrawler.rules.facts.tally import ENTRIES, share
from sitemapcrawler.rules.facts.written import MAX_BYTES, size_of
from sitemapcrawler.rules.registry import Message, Needs, Severity, rule
from sitemapcrawler.urls.display import shown

CHANGEFREQ = "https://www.sitemaps.org/protocol.html#changefreqdef"
GOOGLE = "https://developers.google.com/search/docs/crawling-indexing/sitemaps/build-sitemap"
YANDEX = "https://yandex.com/support/webmaster/en/controlling-robot/sitemap.html"
ORDER = ("always", "hourly", "daily", "weekly", "monthly", "yearly", "never")
"""The frequencies as the protocol lists them."""


@rule("changefreq-invalid", Severity.ERROR, CHANGEFREQ, also={"Search Console": "Invalid tag value"})
def changefreq_invalid(entry: UrlFacts) -> Iterator[Message]:
    """The frequency is none of the seven that the protocol knows, in small letters. Blanks around one are information.

    Why: the schema allows these values only, letter by letter. Search engines ignore any other.
    Bad: `<changefreq>Daily</changefreq>`, `<changefreq>every week</changefreq>`, `<changefreq></changefreq>`
    Good: `<changefreq>daily</changefreq>`
    """
    element, text = field(entry, "changefreq"), entry.record.changefreq
    if element is not None:
        text = text_of(element)
    if text is not None and text not in FREQUENCIES and size_of(text) <= MAX_BYTES:
        said = f"{shown(text)} is none of {', '.join(ORDER)}" if text else "the changefreq is empty"
        yield Message(said, line_of(element), value=text)
    elif element is not None and text in FREQUENCIES and raw_text(element) != text:
        said = f"blanks around {text!r}: by the schema they are part of the value"
        yield Message(said, element.line, value=raw_text(element), severity=Severity.INFO)


@rule("changefreq-over-100-bytes", Severity.ERROR, YANDEX)
def changefreq_over_100_bytes(entry: UrlFacts) -> Iterator[Message]:
    """The frequency is longer than 100 bytes.

    Why: Yandex takes no more, and no frequency needs as much.
    Bad: `<changefreq>` with a sentence in it
    Good: `<changefreq>daily</changefreq>`
    """
    element, text = field(entry, "changefreq"), entry.record.changefreq
    if text is not None and size_of(text) > MAX_BYTES:
        yield Message(f"{shown(text)} has {size_of(text)} bytes; {MAX_BYTES} are allowed", line_of(element), value=text)


@rule("changefreq-ignored", Severity.INFO, GOOGLE, Needs.FILE)
def changefreq_ignored(file: FileFacts) -> Iterator[Message]:
    """Entries say how often the page changes, which Google and Bing ignore. Once for a file, with their number.

    Why: it costs bytes and work, and does nothing there; a right lastmod does.
    Bad: `<changefreq>daily</changefreq>`
    Good: `<lastmod>2026-01-05</lastmod>`
    """
    tally = file.tally
    if tally.frequencies:
        text = share(tally.frequencies, tally.entries, ENTRIES, ("has a changefreq", "have a changefreq"))
        yield Message(f"{text}, which Google and Bing ignore")


@rule("changefreq-contradicts-lastmod", Severity.INFO, CHANGEFREQ, Needs.FILE)
def changefreq_contradicts_lastmod(file: FileFacts) -> Iterator[Message]:
    """Pages are said to change weekly or more often, and were not changed for a year; or monthly, and for two years.
    Once for a file, with their number.

    Why: one of the two is wrong, and makes the other hard to believe.
    Bad: `<lastmod>2012-01-05</lastmod><changefreq>daily</changefreq>`
    Good: `<lastmod>2012-01-05</lastmod><changefreq>never</changefreq>`
    """
    tally = file.tally
    if tally.contradicting:
        what = "entry with a changefreq", "entries with a changefreq"
        text = share(tally.contradicting, tally.frequencies, what, ("is", "are"))
        yield Message(
            f"{text} said to change weekly or more often but did not for a year, or monthly but did not for two"
        )
