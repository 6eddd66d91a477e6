"""Rules on changefreq and priority, hints that most search engines ignore."""

from __future__ import annotations

import re
from collections.abc import Iterator
from decimal import Decimal
from functools import lru_cache

from sitemapcrawler.reader.entries import FREQUENCIES
from sitemapcrawler.rules.facts.given import FileFacts, UrlFacts
from sitemapcrawler.rules.facts.objects import field, line_of, raw_text, text_of
from sitemapcrawler.rules.facts.tally import ENTRY_NOUNS, share
from sitemapcrawler.rules.facts.written import MAX_BYTES, size_of
from sitemapcrawler.rules.registry import ERROR, INFO, Message, Of, Per, rule
from sitemapcrawler.urls.display import quoted

CHANGEFREQ = "https://www.sitemaps.org/protocol.html#changefreqdef"
GOOGLE = "https://developers.google.com/search/docs/crawling-indexing/sitemaps/build-sitemap"
YANDEX = "https://yandex.com/support/webmaster/en/controlling-robot/sitemap.html"
ORDER = ("always", "hourly", "daily", "weekly", "monthly", "yearly", "never")
"""Values of changefreq in the order of the protocol."""


@rule("changefreq-invalid", ERROR, CHANGEFREQ, Of.CHANGEFREQ, also={"Search Console": "Invalid tag value"})
def changefreq_invalid(entry: UrlFacts) -> Iterator[Message]:
    """The changefreq is not one of the seven lowercase values. A note if only whitespace around it is wrong.

    Why: The schema allows these values only, spelled exactly so. Search engines ignore any other.
    Fix: Write always, hourly, daily, weekly, monthly, yearly or never, in lowercase, or omit the element.
    Bad: `<changefreq>Daily</changefreq>`, `<changefreq>every week</changefreq>`, `<changefreq></changefreq>`
    Good: `<changefreq>daily</changefreq>`
    """
    element, text = field(entry, "changefreq"), entry.record.changefreq
    if element is not None:
        text = text_of(element)
    if text is not None and text not in FREQUENCIES and size_of(text) <= MAX_BYTES:
        said = f"{quoted(text)} is not one of {', '.join(ORDER)}" if text else "the changefreq is empty"
        yield Message(said, line_of(element), value=text)
    elif element is not None and text in FREQUENCIES and raw_text(element) != text:
        said = f"whitespace around {text!r}: the schema counts it as part of the value"
        yield Message(said, element.line, value=raw_text(element), severity=INFO)


@rule("changefreq-over-100-bytes", ERROR, YANDEX, Of.CHANGEFREQ)
def changefreq_over_100_bytes(entry: UrlFacts) -> Iterator[Message]:
    """The frequency is longer than 100 bytes.

    Why: Yandex accepts at most 100 bytes.
    Fix: Write one of the seven values, such as `daily`, or omit the element.
    Bad: `<changefreq>` with a sentence in it
    Good: `<changefreq>daily</changefreq>`
    """
    element, text = field(entry, "changefreq"), entry.record.changefreq
    if text is not None and size_of(text) > MAX_BYTES:
        yield Message(
            f"{quoted(text)} has {size_of(text)} bytes; {MAX_BYTES} are allowed", line_of(element), value=text
        )


@rule("changefreq-ignored", INFO, GOOGLE, Of.FILE, per=Per.SITE("say how often their pages change"))
def changefreq_ignored(file: FileFacts) -> Iterator[Message]:
    """Google and Bing ignore changefreq.

    Why: It makes files larger without any effect there. An accurate lastmod does have an effect.
    Fix: Omit `<changefreq>`, and write an accurate `<lastmod>` instead.
    Bad: `<changefreq>daily</changefreq>`
    Good: `<lastmod>2026-01-05</lastmod>`
    """
    tally = file.tally
    if tally.frequencies:
        text = share(tally.frequencies, tally.entries, ENTRY_NOUNS, ("has a changefreq", "have a changefreq"))
        yield Message(f"{text}, which Google and Bing ignore")


@rule(
    "changefreq-contradicts-lastmod",
    INFO,
    CHANGEFREQ,
    Of.FILE,
    per=Per.SITE("have frequencies that contradict their dates"),
)
def changefreq_contradicts_lastmod(file: FileFacts) -> Iterator[Message]:
    """changefreq contradicts lastmod. It says at least weekly, but lastmod is a year old; or monthly, and lastmod is
    two years old.

    Why: One of the two is wrong, and undermines trust in the other.
    Fix: Correct `<lastmod>` if the pages do change; otherwise omit `<changefreq>`.
    Bad: `<lastmod>2012-01-05</lastmod><changefreq>daily</changefreq>`
    Good: `<lastmod>2012-01-05</lastmod><changefreq>never</changefreq>`
    """
    tally, first = file.tally, file.tally.contradiction
    if first is not None:
        what = "entry with a changefreq", "entries with a changefreq"
        text = share(tally.contradicting, tally.frequencies, what, ("claims", "claim"))
        yield Message(
            f"{text} to change at least weekly but did not for a year, or monthly but did not for two",
            first.line,
            url=first.loc,
        )


PRIORITY = "https://www.sitemaps.org/protocol.html#prioritydef"

DECIMAL = re.compile(r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)")
"""Source: XML Schema, part 2, 3.2.3"""

COMMA = re.compile(r"[+-]?[0-9]*,[0-9]+")

DEFAULT = 0.5
"""Priority of a page without one. Source: the protocol"""

MIN_ALIKE = 20
"""Number of entries from which an identical priority is reported; it may be correct for a few."""


def _written_priority(entry: UrlFacts, fault: str) -> str | None:
    """The priority as written if it has this `priority_fault`, else None. Falls back to the parsed number."""
    element, number = field(entry, "priority"), entry.record.priority
    if element is None and number is None:
        return None
    text = text_of(element) if element is not None else str(number)
    return text if priority_fault(text) == fault else None


@lru_cache(maxsize=256)
def priority_fault(text: str) -> str:
    """Classify a priority as `long`, `invalid` or `range`; empty if valid. Cached, since priorities repeat."""
    if size_of(text) > MAX_BYTES:
        return "long"
    if not DECIMAL.fullmatch(text):
        return "invalid"
    return "" if 0 <= Decimal(text) <= 1 else "range"


def _priority_line(entry: UrlFacts) -> int | None:
    return line_of(field(entry, "priority"))


@rule("priority-invalid", ERROR, PRIORITY, Of.PRIORITY, also={"Search Console": "Invalid tag value"})
def priority_invalid(entry: UrlFacts) -> Iterator[Message]:
    """The priority is not a decimal number.

    Why: Search engines that use priorities cannot read it, and the schema does not allow it.
    Fix: Write a number from 0.0 to 1.0 with a decimal point, or omit the element.
    Bad: `<priority>0,5</priority>`, `<priority>5e-1</priority>`, `<priority>high</priority>`, `<priority></priority>`
    Good: `<priority>0.5</priority>`
    """
    text = _written_priority(entry, "invalid")
    if text is not None:
        said = f"{quoted(text)} is not a decimal number" if text else "the priority is empty"
        said += f": write {text.replace(',', '.')}" if COMMA.fullmatch(text) else ""
        yield Message(said, _priority_line(entry), value=text)


@rule("priority-out-of-range", ERROR, PRIORITY, Of.PRIORITY, also={"Search Console": "Invalid tag value"})
def priority_out_of_range(entry: UrlFacts) -> Iterator[Message]:
    """The priority is a number below 0.0 or above 1.0.

    Why: The schema does not allow it, and its effect is undefined.
    Fix: Write a number from 0.0 to 1.0, or omit the element.
    Bad: `<priority>10</priority>`
    Good: `<priority>1.0</priority>`
    """
    text = _written_priority(entry, "range")
    if text is not None:
        yield Message(f"{quoted(text)} is not between 0.0 and 1.0", _priority_line(entry), value=text)


@rule("priority-over-100-bytes", ERROR, YANDEX, Of.PRIORITY)
def priority_over_100_bytes(entry: UrlFacts) -> Iterator[Message]:
    """The priority is longer than 100 bytes.

    Why: Yandex accepts at most 100 bytes.
    Fix: Write one digit after the point, such as `0.5`, or omit the element.
    Bad: `<priority>` with a sentence, or a hundred digits, in it
    Good: `<priority>0.5</priority>`
    """
    text = _written_priority(entry, "long")
    if text is not None:
        yield Message(
            f"{quoted(text)} has {size_of(text)} bytes; {MAX_BYTES} are allowed", _priority_line(entry), value=text
        )


@rule("priority-ignored", INFO, GOOGLE, Of.FILE, per=Per.SITE("have priorities"))
def priority_ignored(file: FileFacts) -> Iterator[Message]:
    """Entries have a priority, which Google and Bing ignore.

    Why: It makes files larger and has no effect there. Yandex may use it to decide what to crawl first.
    Fix: Omit `<priority>`, unless Yandex matters to the site.
    Bad: `<priority>0.8</priority>`
    Good: no priority, or higher ones for more important pages
    """
    if file.tally.prioritised:
        text = share(file.tally.prioritised, file.tally.entries, ENTRY_NOUNS, ("has a priority", "have a priority"))
        yield Message(f"{text}, which Google and Bing ignore; Yandex may use it")


@rule("priority-all-same", INFO, PRIORITY, Of.WHOLE, per=Per.SITE("give all entries the same priority"))
def priority_all_same(file: FileFacts) -> Iterator[Message]:
    """All pages have the same priority. Checked in files with at least 20 pages. For 1.0, see `priority-all-one`.

    Why: A priority is relative to the site's other pages; one value for all has no effect. A page without one has 0.5.
    Fix: Omit `<priority>`, or give important pages a higher one.
    Bad: `<priority>0.8</priority>` for each page
    Good: no priority, or higher ones for more important pages
    """
    value = _one_for_all(file)
    if value is not None and value != 1:
        yield Message(f"all {file.tally.entries:,} entries have the priority {value}", value=str(value))


@rule("priority-all-one", INFO, PRIORITY, Of.WHOLE, per=Per.SITE("give all entries the highest priority"))
def priority_all_one(file: FileFacts) -> Iterator[Message]:
    """All pages have the highest priority. Checked in files with at least 20 pages.

    Why: A priority is relative to the site's other pages: if all have the highest, none stands out.
    Fix: Omit `<priority>`, or keep 1.0 for the few most important pages.
    Bad: `<priority>1.0</priority>` for each page
    Good: no priority, or higher ones for more important pages
    """
    if _one_for_all(file) == 1:
        yield Message(f"all {file.tally.entries:,} entries have the priority 1.0", value="1.0")


def _one_for_all(file: FileFacts) -> float | None:
    """The priority that all pages share; None if they differ, are few, or it is invalid."""
    tally = file.tally
    if len(tally.priorities) != 1 or tally.prioritised < MIN_ALIKE:
        return None
    [value] = tally.priorities
    complete = tally.prioritised == tally.entries or value == DEFAULT
    return value if complete and 0 <= value <= 1 else None
