"""Rules on sitemap files as bytes and XML syntax: size, encoding, well-formedness; text sitemaps and feeds."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import partial

from sitemapcrawler.reader.faults import CUT_BYTES, FULL, Fault
from sitemapcrawler.reader.formats import COMMENT
from sitemapcrawler.rules.facts.given import FileFacts, UrlFacts
from sitemapcrawler.rules.registry import ERROR, INFO, WARNING, Message, Of, Per, fault_message, row, rule
from sitemapcrawler.urls.display import percent

PROTOCOL = "https://www.sitemaps.org/protocol.html"
GOOGLE = "https://developers.google.com/search/docs/crawling-indexing/sitemaps/build-sitemap"
XML = "https://www.w3.org/TR/xml/"
GZIP = "https://www.rfc-editor.org/rfc/rfc1952"
MAX_BYTES = 52_428_800
"""Maximum size of an uncompressed file in bytes, 50 MiB. Source: https://www.sitemaps.org/protocol.html#index"""
NEAR = 0.9
"""Share of a limit from which a file counts as close to it."""
OURS = re.compile(r"the rest was not fetched|was stopped|the body could not be kept")
"""Errors of truncated files that the crawler caused: a limit, the user, this machine's disk."""
STOPPED = ("limit-bytes", "limit-entries", "limit-stopped")
OVERGROWN = ("limit-element", "limit-depth")
DECLARED = re.compile(r"<\?xml(?![\w.:-])", re.IGNORECASE)
"""Start of an XML declaration."""
PARSING = {"Search Console": "Parsing error"}


def _as_read(fault: Fault) -> Iterator[Message]:
    yield from fault_message(fault)


fault_rule = partial(row, _as_read, of=Of.FAULT)
"""Registers a rule that reports the reader's faults of its id as they are."""


fault_rule(
    "doc-gzip-error",
    ERROR,
    GZIP,
    per=Per.FILE,
    also={"Search Console": "Compression error", "Yandex": "Extraction error"},
)("""
    The gzip data is damaged.

    Why: Everything after the damaged part is lost.
    Fix: Compress the file again and upload it in binary mode; `gzip -t` must accept it.
    Bad: a file whose checksum does not match, as after an upload in text mode
    Good: a file that `gzip -t` accepts
""")

fault_rule("doc-decompression-bomb", ERROR, GZIP, per=Per.FILE)("""
    The file decompresses to a suspiciously large size.

    Why: Readers stop reading such a file to protect themselves. Real sitemaps decompress to less than 100 times their
    size.
    Fix: Check the generator: the content of the file repeats itself. List each URL once.
    Bad: 100 KB of gzip that decompress to 100 MB
    Good: a sitemap of entries that differ
""")


@rule(
    "doc-too-large",
    ERROR,
    f"{PROTOCOL}#index",
    Of.FILE,
    also={
        "Screaming Frog": "XML Sitemap With Over 50mb",
        "Search Console": "file size error",
        "Yandex": "Maximum file size exceeded",
    },
)
def doc_too_large(file: FileFacts) -> Iterator[Message]:
    """The file is larger than 52,428,800 bytes (50 MB), uncompressed.

    Why: Search engines do not accept larger files. The limit applies before compression; until November 2016 it was 10
    MB.
    Fix: Split the file into several below 50 MB uncompressed, and list them in an index.
    Bad: a file of 60 MB, or a gzip file of 6 MB that decompresses to 60 MB
    Good: several files, named in an index
    """
    size = file.record.bytes
    if size > MAX_BYTES:
        least = "at least " if "limit-bytes" in file.document.faults else ""
        text = f"{least}{size:,} bytes uncompressed; {MAX_BYTES:,} (50 MB) are allowed (10 MB until 2016)"
        yield Message(text, value=str(size))


@rule("doc-near-size-limit", INFO, f"{PROTOCOL}#index", Of.FILE)
def doc_near_size_limit(file: FileFacts) -> Iterator[Message]:
    """The file is close to the size limit. It has at least 90 % of the allowed bytes.

    Why: More entries may take it over the limit, and search engines then reject it.
    Fix: Split the file before it grows beyond 50 MB uncompressed.
    Bad: 50,000,000 bytes
    Good: files that are split well before
    """
    size = file.record.bytes
    if NEAR * MAX_BYTES <= size <= MAX_BYTES:
        text = f"{size:,} of {MAX_BYTES:,} allowed bytes ({percent(size, MAX_BYTES)})"
        yield Message(text, value=str(size))


@rule("doc-encoding-not-utf8", ERROR, f"{PROTOCOL}#escaping", Of.FILE)
def doc_encoding_not_utf8(file: FileFacts) -> Iterator[Message]:
    """The file is not encoded in UTF-8. Applies to text sitemaps too. Once per file.

    Why: "your Sitemap file must be UTF-8 encoded". In another encoding, readers get different URLs.
    Fix: Save the file as UTF-8, and declare `encoding="UTF-8"`.
    Bad: `<?xml version="1.0" encoding="ISO-8859-1"?>`
    Good: `<?xml version="1.0" encoding="UTF-8"?>`
    """
    fault = file.document.faults.first("doc-encoding-not-utf8")
    if fault is not None and file.format.is_sitemap:
        yield from fault_message(fault)


fault_rule("doc-bom", INFO, f"{XML}#charencoding", per=Per.SITE("begin with a byte order mark"))("""
    The file begins with a byte order mark.

    Why: UTF-8 does not need one, and some tools fail on it.
    Fix: Save the file without a byte order mark.
    Bad: the bytes EF BB BF before `<?xml`
    Good: `<?xml` as the first bytes
""")


@rule("doc-leading-whitespace", ERROR, f"{XML}#sec-prolog-dtd", Of.FILE, also={"Search Console": "Leading whitespace"})
def doc_leading_whitespace(file: FileFacts) -> Iterator[Message]:
    """Whitespace comes before the XML declaration. A note if there is no declaration.

    Why: The file must begin with the declaration; strict parsers reject the whole file.
    Fix: Remove everything before `<?xml`. In PHP, look for blank lines outside `<?php ... ?>`.
    Bad: an empty line before `<?xml version="1.0"?>`
    Good: `<?xml version="1.0"?>` on line 1, column 1
    """
    fault = file.document.faults.first("doc-leading-whitespace")
    if fault is not None:
        yield from fault_message(fault)
    elif file.document.prolog[:1].isspace() and not _is_declared(file) and _is_clean_start(file):
        yield Message("whitespace at the start of the file", 1, 1, severity=INFO)


fault_rule("doc-leading-content", ERROR, f"{XML}#sec-prolog-dtd", per=Per.FILE, also=PARSING)("""
    Other content comes before the XML document. It is before the XML declaration or the root element.

    Why: Strict parsers reject the whole file. The usual causes are warnings that PHP prints, and comments that plugins
    write before the declaration.
    Fix: Remove the text before `<?xml`. Turn off error display, or the plugin that prints it.
    Bad: `<b>Warning</b>: Undefined variable ...` before `<urlset>`, or a comment before `<?xml`
    Good: nothing but the XML declaration and comments before `<urlset>`
""")


@rule("doc-xml-malformed", ERROR, f"{XML}#sec-well-formed", Of.FILE, also=PARSING)
def doc_xml_malformed(file: FileFacts) -> Iterator[Message]:
    """The XML is not well formed.

    Why: Strict parsers stop here and lose everything that follows.
    Fix: Correct the XML at this line. Generate the file with an XML library instead of joining strings.
    Bad: `<loc>https://example.com/</url>`
    Good: `<loc>https://example.com/</loc></url>`
    """
    other = file.document.faults.first("xml-root-unknown")
    root = other.value if other is not None else None
    for fault in file.document.faults:
        if fault.rule == "doc-xml-malformed" and not (root and (fault.value or "").startswith(root)):
            yield from fault_message(fault)


fault_rule("doc-unescaped-ampersand", ERROR, f"{PROTOCOL}#escaping", also=PARSING)("""
    An ampersand is not escaped as `&amp;`.

    Why: In XML, an ampersand begins an entity. Strict parsers stop here.
    Fix: Write `&amp;` for each `&`, or let an XML library escape the URLs.
    Bad: `<loc>https://example.com/?a=1&b=2</loc>`
    Good: `<loc>https://example.com/?a=1&amp;b=2</loc>`
""")

fault_rule("doc-undeclared-entity", ERROR, f"{XML}#sec-predefined-ent", also=PARSING)("""
    The file uses an undeclared entity.

    Why: XML defines five (amp, lt, gt, quot, apos); those of HTML do not exist here, and readers do not load DTDs.
    Fix: Write the character itself, in UTF-8, instead of the HTML entity.
    Bad: `<image:title>Caf&eacute;</image:title>`
    Good: `<image:title>Café</image:title>`
""")

fault_rule("doc-control-character", ERROR, f"{XML}#charsets", also=PARSING)("""
    The file has a character that XML forbids. It is literal, or a character reference.

    Why: Strict parsers stop here.
    Fix: Strip control characters from the text before writing it.
    Bad: the byte 0B (vertical tab) in a title, or `&#11;`
    Good: a title without it
""")


@rule("doc-truncated", ERROR, f"{XML}#sec-well-formed", Of.FILE, also=PARSING)
def doc_truncated(file: FileFacts) -> Iterator[Message]:
    """The file is truncated.

    Why: Entries are missing, and strict parsers reject the file. Usual causes are scripts that run out of time or
    memory, and servers that announce more bytes than they send.
    Fix: Generate the file again. Write it to a temporary file, and rename that when it is complete.
    Bad: a file without `</urlset>`
    Good: a file that is written beside the old one, and then put in its place
    """
    fault = file.document.faults.first(*CUT_BYTES)
    if fault is not None and fault.rule == "doc-truncated" and not OURS.search(fault.message):
        yield from fault_message(fault)


fault_rule("doc-trailing-content", ERROR, f"{XML}#sec-well-formed", per=Per.FILE, also=PARSING)("""
    Other content comes after the end of the document. It is after the root element, or after the gzip data.

    Why: Strict parsers reject the whole file. The usual causes are two sitemaps in one file, or a tracking script.
    Fix: Remove everything after the root's closing tag; move a second sitemap to a file of its own.
    Bad: `</urlset><urlset>`
    Good: nothing but comments after `</urlset>`
""")

fault_rule("doc-doctype", WARNING, f"{XML}#dt-doctype", per=Per.SITE("have a DOCTYPE"))("""
    The file has a document type declaration.

    Why: Sitemaps have none. Careful readers reject such files, since entities can be used to attack them.
    Fix: Remove the document type declaration, and write out the entities that it defines.
    Bad: `<!DOCTYPE urlset [<!ENTITY site "https://example.com">]>`
    Good: no DOCTYPE at all
""")


@rule("doc-recovered-entry", WARNING, f"{XML}#sec-well-formed", Of.LOC)
def doc_recovered_entry(entry: UrlFacts) -> Iterator[Message]:
    """The entry could only be read after a repair. Its values may differ from the intended ones. A note if another rule
    reports the fault.

    Why: A strict parser does not read this entry at all.
    Fix: Correct the XML of the entry; the other findings on this line name the fault.
    Bad: `<url><loc>https://example.com/?a=1&b=2</loc></url>`
    Good: `<url><loc>https://example.com/?a=1&amp;b=2</loc></url>`
    """
    if entry.record.recovered:
        fault_message = any(rule != "loc-whitespace" for rule in entry.file.document.faults.counts)
        severity = INFO if fault_message else WARNING
        yield Message("read after a repair: its values may be wrong", entry.record.line, severity=severity)


@rule("doc-xml-declaration-missing", INFO, f"{XML}#sec-prolog-dtd", Of.FILE, per=Per.SITE("have no XML declaration"))
def doc_xml_declaration_missing(file: FileFacts) -> Iterator[Message]:
    """There is no XML declaration.

    Why: It is optional, but the protocol's examples have it, and it names the encoding.
    Fix: Add `<?xml version="1.0" encoding="UTF-8"?>` as the first line.
    Bad: `<urlset ...>` as the first characters
    Good: `<?xml version="1.0" encoding="UTF-8"?>` before it
    """
    if file.document.root and not _is_declared(file) and _is_clean_start(file):
        yield Message('no XML declaration such as <?xml version="1.0" encoding="UTF-8"?>', 1)


@rule("doc-partly-read", INFO, "limits of this crawler: docs/settings.md", Of.FILE)
def doc_partly_read(file: FileFacts) -> Iterator[Message]:
    """The file was not read to its end. It reached a limit. A warning if a single element is far too long.

    Why: Rules on the whole file judge only a part of it.
    Fix: Shorten the oversized elements of the file, or raise the limit that the message names.
    Bad: an entry of more than 1 MiB, or elements nested more than 32 deep
    Good: entries of some kilobytes
    """
    faults = file.document.faults
    grown = faults.first(*OVERGROWN)
    stopped = faults.first(*STOPPED)
    cut = faults.first("doc-truncated")
    if grown is not None:
        yield Message(grown.message, grown.line, grown.column, grown.value, WARNING)
    elif stopped is not None and stopped.message != FULL:  # limit-max-urls reports that
        yield Message(f"not read to the end: {stopped.message}", value=stopped.value)
    elif cut is not None and OURS.search(cut.message):
        yield Message(f"not read to the end: {cut.message}")


@rule("internal-reading-failed", WARNING, "a bug in this program, please report it", Of.FILE)
def internal_reading_failed(file: FileFacts) -> Iterator[Message]:
    """This program failed while reading the file. That is not the site's fault.

    Why: Entries may be missing from the result.
    Fix: Report the exception from the log, with the file if possible. Change nothing on the site.
    Bad: an exception in the reader
    Good: none
    """
    fault = file.document.faults.first("internal")
    if fault is not None:
        yield from fault_message(fault)


def _is_declared(file: FileFacts) -> bool:
    return DECLARED.search(file.document.prolog) is not None


def _is_clean_start(file: FileFacts) -> bool:
    faults = file.document.faults
    return "doc-leading-content" not in faults and "xml-root-unknown" not in faults


GOOGLE_TEXT = "https://developers.google.com/search/docs/crawling-indexing/sitemaps/build-sitemap#text"
GOOGLE_FEEDS = "https://developers.google.com/search/docs/crawling-indexing/sitemaps/build-sitemap#rss"
YANDEX = "https://yandex.com/support/webmaster/en/controlling-robot/sitemap.html"


@rule("txt-not-url-line", ERROR, GOOGLE_TEXT, Of.FAULT)
def txt_not_url_line(fault: Fault) -> Iterator[Message]:
    """A line of a text sitemap is not a URL. A warning if it is a comment.

    Why: A text sitemap has one absolute URL per line and nothing else, not even comments.
    Fix: Write one absolute URL per line, and remove comments, headings and paths.
    Bad: `/shop/`, `All pages of our shop` or `# Shop`
    Good: `https://example.com/shop/`
    """
    severity = WARNING if (fault.value or "").startswith(COMMENT) else None
    yield from fault_message(fault, severity)


fault_rule("txt-has-metadata", WARNING, GOOGLE_TEXT, per=Per.FILE("have text after the URL"))("""
    A line has text after its URL.

    Why: Text sitemaps have no dates or priorities; readers may take the whole line as the URL.
    Fix: Remove everything after the URL, or use an XML sitemap for dates.
    Bad: `https://example.com/shop/ 2026-01-05`
    Good: `https://example.com/shop/`
""")

fault_rule("feed-item-without-link", WARNING, GOOGLE_FEEDS)("""
    An item of a feed has no link.

    Why: Without one the item names no page, so readers skip it.
    Fix: Add a `<link>` to each item of the feed.
    Bad: `<item><title>News</title></item>`
    Good: `<item><title>News</title><link>https://example.com/news</link></item>`
""")


@rule("feed-as-sitemap-yandex", INFO, YANDEX, Of.FILE)
def feed_as_sitemap_yandex(file: FileFacts) -> Iterator[Message]:
    """The sitemap is a feed, which Yandex does not read.

    Why: Google and Bing do; Yandex needs an XML or text sitemap of the pages.
    Fix: Offer an XML or text sitemap as well, and name it in robots.txt.
    Bad: `Sitemap: https://example.com/feed/` alone
    Good: `Sitemap: https://example.com/sitemap.xml`
    """
    if file.format.is_feed:
        yield Message(
            f"a feed ({file.record.format}): Yandex does not read feeds as sitemaps", value=file.record.format
        )
