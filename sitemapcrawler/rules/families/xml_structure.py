"""Rules on the structure of XML sitemaps: root, namespaces, elements, attributes, and schema violations."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import partial

from sitemapcrawler.namespaces import CORE, find, shown
from sitemapcrawler.reader.entries import Ignored
from sitemapcrawler.reader.faults import MAX_NAME, Fault
from sitemapcrawler.rules.facts.given import FileFacts
from sitemapcrawler.rules.facts.objects import declares_news, is_empty_urlset
from sitemapcrawler.rules.registry import ERROR, INFO, WARNING, Message, Of, Per, fault_message, row, rule
from sitemapcrawler.urls.display import counted

PROTOCOL = "https://www.sitemaps.org/protocol.html"
TAGS = f"{PROTOCOL}#xmlTagDefinitions"
EXTENDING = f"{PROTOCOL}#extending"
NAMES = "https://www.w3.org/TR/xml-names/#nsc-NSDeclared"
LEGACY = re.compile(r"https?://(?:www\.)?(?:sitemaps\.org|google\.com)/schemas/sitemap/0\.(?:84|90?)/?", re.IGNORECASE)
"""Namespaces of earlier versions, and variants of the current one that readers accept."""
PREFIX = re.compile(r"[<\s/]([A-Za-z_][\w.-]*):(?!//)")


def _as_read(fault: Fault) -> Iterator[Message]:
    yield from fault_message(fault)


ON_A_ROOT = re.compile(r"<(?:[\w.-]+:)?(?:urlset|sitemapindex)>").match
"""Matches the start of the message of a fault of a root."""


def _mild_on_a_root(fault: Fault) -> Iterator[Message]:
    yield from fault_message(fault, INFO if ON_A_ROOT(fault.message) else None)


fault_rule = partial(row, _as_read, of=Of.FAULT)
"""Registers a rule that reports the reader's faults of its id as they are."""


fault_rule("xml-root-unknown", ERROR, PROTOCOL, per=Per.FILE, also={"Search Console": "Unsupported format"})("""
    The root element is not that of a sitemap. It must be `urlset`, `sitemapindex`, `rss`, `feed` or `rdf:RDF`.

    Why: The root element tells readers what the file is.
    Fix: Wrap the entries in `<urlset>`, or in `<sitemapindex>` if they are sitemaps; do not list other data, such as
    products, as a sitemap.
    Bad: `<sitemap><url>...</url></sitemap>`, entries without any root, or JSON
    Good: `<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"><url>...</url></urlset>`
""")


def _named(file: FileFacts) -> str | None:
    """Namespace of a sitemap's root; None if the file is not an XML sitemap."""
    return file.document.root_uri if file.format.protocol_entry else None


@rule("xml-namespace-missing", ERROR, TAGS, Of.FILE, also={"Search Console": "Incorrect namespace"})
def xml_namespace_missing(file: FileFacts) -> Iterator[Message]:
    """The root declares no namespace.

    Why: The namespace tells readers which protocol the file follows; validators have nothing else to go by.
    Fix: Add `xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"` to the root element.
    Bad: `<urlset>`
    Good: `<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">`
    """
    if _named(file) == "":
        yield Message(f'no xmlns="{CORE}" on the root', file.document.root_line)


@rule(
    "xml-namespace-legacy",
    WARNING,
    TAGS,
    Of.FILE,
    per=Per.SITE("use an outdated namespace"),
    also={"Search Console": "Incorrect namespace"},
)
def xml_namespace_legacy(file: FileFacts) -> Iterator[Message]:
    """The namespace is outdated or misspelt. It is that of an earlier version, or a variant (https, a trailing slash,
    no `www`).

    Why: Search engines still accept most of them; validators and other readers do not.
    Fix: Replace the namespace of the root with `http://www.sitemaps.org/schemas/sitemap/0.9`.
    Bad: `xmlns="http://www.google.com/schemas/sitemap/0.84"`
    Good: `xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"`
    """
    uri = _named(file)
    if uri and uri != CORE and LEGACY.fullmatch(uri):
        yield Message(f"the namespace is {shown(uri)}, not {CORE}", file.document.root_line, value=uri)


@rule("xml-namespace-wrong", ERROR, TAGS, Of.FILE, also={"Search Console": "Incorrect namespace"})
def xml_namespace_wrong(file: FileFacts) -> Iterator[Message]:
    """The namespace is not the sitemap protocol's.

    Why: To readers, the elements then belong to another format.
    Fix: Replace the namespace of the root with `http://www.sitemaps.org/schemas/sitemap/0.9`.
    Bad: `xmlns="http://www.example.com/sitemap"`
    Good: `xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"`
    """
    uri = _named(file)
    if uri and uri != CORE and not LEGACY.fullmatch(uri):
        extension = find(uri[:MAX_NAME])
        place = f"; declare the former as xmlns:{extension.prefix}" if extension is not None else ""
        yield Message(f"the namespace is {shown(uri)}, not {CORE}{place}", file.document.root_line, value=uri)


@rule("xml-ext-namespace-missing", ERROR, NAMES, Of.FILE, also={"Search Console": "Parsing error"})
def xml_ext_namespace_missing(file: FileFacts) -> Iterator[Message]:
    """A prefix is used but not declared. Such as `image:` or `xhtml:`. Once per prefix of a file.

    Why: The file is then not well formed, and strict parsers stop at the first such element.
    Fix: Declare the prefix on the root element, with the extension's namespace.
    Bad: `<image:image>` in a `<urlset>` without `xmlns:image`
    Good: `<urlset ... xmlns:image="http://www.google.com/schemas/sitemap-image/1.1">`
    """
    seen = set()
    for fault in file.document.faults:
        if fault.rule != "xml-ext-namespace-missing" or "xml-root-unknown" in file.document.faults:
            continue  # an unknown root declares no namespaces
        found = PREFIX.search(fault.value or "")
        prefix = found[1] if found else ""
        if prefix not in seen:
            seen.add(prefix)
            text = f"the prefix {prefix}: is not declared" if prefix else fault.message
            yield Message(text, fault.line, fault.column, fault.value, url=fault.url)


@rule("xml-ext-namespace-wrong", ERROR, EXTENDING, Of.FILE)
def xml_ext_namespace_wrong(file: FileFacts) -> Iterator[Message]:
    """Extension elements are in a wrong namespace. Once per namespace of a file.

    Why: Namespaces must match exactly. Search engines ignore language versions, images, videos and news in any other
    one (https, an extra slash, another version or address), and without a prefix.
    Fix: Replace the namespace with exactly the one in the message, and prefix the elements.
    Bad: `xmlns:xhtml="http://www.w3.org/1999/xlink"`, or `<link rel="alternate" hreflang="de" .../>` without a prefix
    Good: `xmlns:xhtml="http://www.w3.org/1999/xhtml"`, and `<xhtml:link rel="alternate" hreflang="de" .../>`
    """
    document = file.document
    found = [fault for fault in document.faults if fault.rule == "xml-ext-namespace-wrong"]
    for fault, ignored in zip(found, document.ignored.values(), strict=True):
        value = fault.value or ""
        place = document.root.find(value) if document.root_line and value != document.root_uri else -1
        line = fault.line if place < 0 else (document.root_line or 1) + document.root.count("\n", 0, place)
        lost = f"{_ignored(ignored, file)}: " if ignored.count else ""
        yield Message(f"{lost}{fault.message}", line, value=fault.value)


def _ignored(ignored: Ignored, file: FileFacts) -> str:
    """State how many elements of an extension are ignored, and whether those are all in the file."""
    namespace = ignored.namespace
    same = [other for other in file.document.ignored.values() if other.namespace is namespace]
    is_all = len(same) == 1 and file.document.counts.number(namespace.field) <= ignored.count * ignored.is_read
    number = counted(ignored.count, namespace.noun)
    return f"{'all ' if is_all and ignored.count > 1 else ''}{number} {'is' if ignored.count == 1 else 'are'} ignored"


fault_rule("xml-unknown-element", WARNING, TAGS, also={"Yandex": "Unknown tag"})("""
    The namespace does not define this element. Checks the namespaces of the protocol, images, videos, news and language
    links.

    Why: Search engines ignore it at best, and validators reject the file. Elements of other namespaces are legal.
    Fix: Remove the element, or correct the spelling of its name.
    Bad: `<url><loc>...</loc><title>Shop</title></url>`, `<image:image><image:loc>...</image:loc><image:alt>...`
    Good: `<url><loc>...</loc></url>`
""")

row(
    _mild_on_a_root,
    "xml-unknown-attribute",
    WARNING,
    TAGS,
    Of.FAULT,
    per=Per.FILE("have an unknown attribute", by_value=True),
    also={"Search Console": "Invalid attribute value"},
)("""
    The namespace does not define this attribute. The protocol itself defines none. A note on the root.

    Why: Its value is lost, and validators reject the file. Attributes of other namespaces are not checked. On the root,
    where Wix writes `generatedBy`, search engines accept it.
    Fix: Remove the attribute.
    Bad: `<url id="7">`, `<image:loc width="640">`
    Good: `<url>`, `<image:loc>`
""")

fault_rule(
    "xml-duplicate-element",
    ERROR,
    TAGS,
    also={"Yandex": "Tag found more than once", "Search Console": "Invalid XML: too many tags"},
)("""
    An element is repeated where one is allowed. Once per element of an entry, image, video or article.

    Why: Only one can count, and it is undefined which. This crawl uses the first. Images, videos and tags may repeat.
    Fix: Keep one of the elements. Write a separate entry for each further URL.
    Bad: `<url><loc>https://example.com/a</loc><loc>https://example.com/b</loc></url>`
    Good: `<url><loc>https://example.com/a</loc></url><url><loc>https://example.com/b</loc></url>`
""")

fault_rule("xml-mixed-index-urlset", ERROR, f"{PROTOCOL}#index", per=Per.FILE)("""
    The file mixes pages and sitemaps. It has `<sitemap>` in a urlset, or `<url>` in an index. Once per file.

    Why: The root says which of the two a file lists; search engines ignore the other kind.
    Fix: Move the sitemaps to a `<sitemapindex>` file and the pages to a `<urlset>` file.
    Bad: `<urlset ...><sitemap><loc>...</loc></sitemap></urlset>`
    Good: `<sitemapindex ...><sitemap><loc>...</loc></sitemap></sitemapindex>`
""")


@rule("xml-empty-urlset", WARNING, TAGS, Of.FILE, also={"Lumar": "Empty Sitemaps", "Search Console": "Empty sitemap"})
def xml_empty_urlset(file: FileFacts) -> Iterator[Message]:
    """The urlset lists nothing. A news sitemap may be empty, since it lists the last two days only.

    Why: The schema requires at least one entry, and Search Console reports an empty file.
    Fix: Add entries, or remove the file from the index and robots.txt.
    Bad: `<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"></urlset>`
    Good: a file with entries, or none at all
    """
    if file.record.outcome == "ok" and is_empty_urlset(file) and not declares_news(file):
        yield Message("the urlset has no entries", file.document.root_line)


fault_rule(
    "xml-entry-without-loc", ERROR, TAGS, also={"Yandex": "Tag not found", "Search Console": "Missing XML tag"}
)("""
    An entry has no `<loc>`.

    Why: It names no page, and search engines skip it.
    Fix: Add a `<loc>` to the entry, or remove the entry.
    Bad: `<url><lastmod>2026-01-05</lastmod></url>`
    Good: `<url><loc>https://example.com/</loc><lastmod>2026-01-05</lastmod></url>`
""")

fault_rule(
    "xml-entry-ignored",
    ERROR,
    TAGS,
    per=Per.FILE("have a wrong name or place", by_value=True),
    also={"Yandex": "Unknown tag"},
)("""
    An entry has a wrong name or place. XML element names are case-sensitive, and an entry cannot contain another one.

    Why: Search engines read `<url>` in a `<urlset>` and `<sitemap>` in a `<sitemapindex>`, each with its own `<loc>`.
    They ignore all other elements. This crawl lists an entry inside another one, but no other such element.
    Fix: Write the entry as `<url><loc>...</loc></url>`, in lowercase, directly below the root.
    Bad: `<Url><Loc>https://example.com/</Loc></Url>`, a `<loc>` outside of a `<url>`, or a `<url>` inside another one
    Good: `<url><loc>https://example.com/</loc></url>`
""")


@rule("xml-whole-file-one-url-wrapper", INFO, TAGS, Of.FILE)
def xml_whole_file_one_url_wrapper(file: FileFacts) -> Iterator[Message]:
    """One entry wraps the URLs of the whole file.

    Why: An entry has one URL, so all others are lost.
    Fix: Write a `<url>` element for each `<loc>`.
    Bad: `<urlset ...><url><loc>...</loc><loc>...</loc></url></urlset>`
    Good: `<urlset ...><url><loc>...</loc></url><url><loc>...</loc></url></urlset>`
    """
    fault = file.document.faults.first("xml-duplicate-element")
    if file.record.url_count == 1 and fault is not None and (fault.value or "").startswith(("http://", "https://")):
        yield Message("one entry has all URLs of the file: only the first is read", fault.line)


VALIDATING = f"{PROTOCOL}#validating"


fault_rule("xml-schema-violation", ERROR, VALIDATING, also={"Search Console": "Invalid tag value"})("""
    The file violates the XML Schema. It is the schema of the protocol or of a namespace; no other rule covers the
    fault.

    Why: Parsers ignore an element in an unexpected place, and validators reject the file.
    Fix: Move or remove what the message names, so that the file validates against the schema.
    Bad: `<url>Home <loc>https://example.com/</loc></url>`, or `<image:loc>` outside of an `<image:image>`
    Good: `<url><loc>https://example.com/</loc></url>`
""")

fault_rule("xml-element-order", INFO, VALIDATING, per=Per.SITE("have elements in another order than the schema's"))("""
    The elements of an entry are out of order. The schema defines a sequence.

    Why: Search engines accept any order, but validators reject the file. Within images and videos, any order is fine.
    Fix: Write the elements in the schema's order: `loc`, `lastmod`, `changefreq`, `priority`.
    Bad: `<url><lastmod>2026-01-05</lastmod><loc>https://example.com/</loc></url>`
    Good: `<url><loc>https://example.com/</loc><lastmod>2026-01-05</lastmod></url>`
""")

fault_rule(
    "xml-missing-element", ERROR, VALIDATING, also={"Yandex": "Tag not found", "Search Console": "Missing XML tag"}
)("""
    A required element is missing. No other rule covers it.

    Why: Without this part, the element has no effect. The parts of entries, images, videos and news have rules of their
    own.
    Fix: Add the missing element, or remove the one that requires it.
    Bad: `<video:tvshow><video:show_title>Cooking</video:show_title></video:tvshow>`
    Good: the same with a `<video:video_type>`
""")
