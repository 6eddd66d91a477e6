"""Rules on the syntax of an entry's URL."""

from __future__ import annotations

import re
from collections.abc import Iterator

from sitemapcrawler.namespaces.element import BLANKS
from sitemapcrawler.reader.faults import Fault
from sitemapcrawler.reader.formats import format_named
from sitemapcrawler.rules.facts.given import QUERY_PARAMETER, EntryFacts, UrlFacts, loc_message
from sitemapcrawler.rules.facts.suspects import MAX_LENGTH, MIN_LENGTH
from sitemapcrawler.rules.registry import ERROR, ESCAPING, INFO, LOCS, WARNING, Message, Of, Per, UrlWith, rule
from sitemapcrawler.urls.grammar import BLANK, DOT_SEGMENT, ENTITY, Form, hash_is_text, is_sent_as_written

PROTOCOL = "https://www.sitemaps.org/protocol.html"
LOC = f"{PROTOCOL}#locdef"
URI = "https://www.rfc-editor.org/rfc/rfc3986"
IRI = "https://www.rfc-editor.org/rfc/rfc3987"
SCHEMA = "https://www.sitemaps.org/schemas/sitemap/0.9/sitemap.xsd"
INCOMPLETE = {"Search Console": "Incomplete URL"}
INVALID = {"Search Console": "Invalid URL", "Yandex": "Invalid URL", "Lumar": "Malformed URLs in Sitemaps"}
NON_ASCII = re.compile(r"[^\x00-\x7f]")
KEPT = "not an http or https URL"
"""The reader's message on an entry that it keeps unchanged; the rules on entries report it."""
SESSION = re.compile(
    r"(?:php|j|asp|cf)?sess(?:ion)?[_-]?id\w*|aspsessionid\w*|cfid|cftoken|zenid|oscsid|sid", re.IGNORECASE
)
"""Names of parameters that hold a session id."""
COOKIELESS = r"/\((?:[A-Z]\([^()/\n]*\))*S\([a-z0-9]{24}\)[^/\n]*\)"
"""Segment that holds a session id of ASP.NET.
Source: https://learn.microsoft.com/en-us/dotnet/api/system.web.configuration.sessionstatesection.cookieless"""
SECRET = re.compile(
    r"session|[\w.-]*(?:token|password|passwd|secret)|(?:[\w.-]*[_.-])?(?:pwd|api[_-]?key)", re.IGNORECASE
)
"""Names of parameters that hold a secret."""
MAIL = re.compile(r"(?:\w*[_.-])?e?-?mail", re.IGNORECASE)
AMBIGUOUS = ("sid", "session")
"""Names with other meanings as well, such as a section, or a session of a conference."""
LOOKS_RANDOM = re.compile(r"(?=[A-Za-z]*[0-9])(?=[0-9]*[A-Za-z])[A-Za-z0-9]{6,}|[A-Za-z0-9]{16,}")
"""A word of letters and digits, or a very long one: neither a page number nor an ordinary word."""


@rule("loc-empty", ERROR, LOC, Of.FAULT, also={"Search Console": "Invalid URL"})
def loc_empty(fault: Fault) -> Iterator[Message]:
    """A `<loc>` is empty.

    Why: The entry names no page, and search engines skip it.
    Fix: Write the page's URL into `<loc>`, or remove the entry.
    Bad: `<loc></loc>`
    Good: `<loc>https://example.com/</loc>`, or no entry
    """
    yield Message(fault.message, fault.line, fault.column, fault.value)


@rule("loc-relative", ERROR, LOC, Of.LOC, also=INCOMPLETE)
def loc_relative(entry: UrlFacts) -> Iterator[Message]:
    """The URL is not absolute. A note in an Atom feed, where it may be relative.

    Why: Search engines need the full URL; the protocol does not define a base for relative ones. This crawl resolves it
    against the sitemap and continues.
    Fix: Write the full URL with scheme and host.
    Bad: `<loc>/shop/</loc>`, `<loc>www.example.com/shop/</loc>`
    Good: `<loc>https://example.com/shop/</loc>`
    """
    if entry.form is Form.RELATIVE and not entry.lacks_site:
        severity = INFO if format_named(entry.file.document.format).has_relative_urls else None
        text = f"{entry.written!r} is not absolute: it does not begin with http:// or https:// and a host"
        yield loc_message(entry, text, entry.written, severity)


@rule("loc-protocol-relative", ERROR, LOC, Of.LOC, also=INCOMPLETE)
def loc_protocol_relative(entry: UrlFacts) -> Iterator[Message]:
    """The URL begins with `//`. A note in an Atom feed, where it may be relative.

    Why: A sitemap does not define whether that means http or https.
    Fix: Write `https:` in front of the URL.
    Bad: `<loc>//example.com/shop/</loc>`
    Good: `<loc>https://example.com/shop/</loc>`
    """
    if entry.form is Form.PROTOCOL_RELATIVE:
        severity = INFO if format_named(entry.file.document.format).has_relative_urls else None
        yield loc_message(entry, f"{entry.written!r} does not say http: or https:", entry.written, severity)


@rule("loc-bad-scheme", ERROR, LOC, LOCS, also=INVALID)
def loc_bad_scheme(entry: EntryFacts) -> Iterator[Message]:
    """The URL's scheme is not http or https.

    Why: Search engines fetch nothing else.
    Fix: Remove the entry, or list the page's http or https URL.
    Bad: `<loc>javascript:alert(1)</loc>`, `<loc>ftp://example.com/a</loc>`
    Good: `<loc>https://example.com/a</loc>`
    """
    if entry.form is Form.OTHER_SCHEME:
        scheme = entry.written.strip().partition(":")[0]
        yield loc_message(entry, f"the scheme is {scheme}: only http and https can be listed", entry.written)


@rule("loc-invalid-uri", ERROR, f"{URI}#section-3", (*LOCS, Of.FAULT), also=INVALID)
def loc_invalid_uri(entry: EntryFacts | Fault) -> Iterator[Message]:
    """The URL is not valid. It breaks RFC 3986 and RFC 3987, or its host is not a valid host name. A warning if the
    only fault is a `[`, `]` or `|` in its path or query.

    Why: Readers interpret it differently, or drop it. Browsers and search engines send `[`, `]` and `|` unchanged.
    Fix: Remove or percent-encode what the message names, or correct the host.
    Bad: `https://example.com/100%`, `https://example.com/?size[]=1`, `https://example..com/`
    Good: `https://example.com/100%25`, `https://example.com/?size%5B%5D=1`, `https://example.com/`
    """
    if isinstance(entry, Fault):
        if entry.message != KEPT:
            yield Message(entry.message, entry.line, entry.column, entry.value)
    elif entry.invalid is not None:
        is_milder = entry.form is not Form.QUOTED and is_sent_as_written(entry.record.loc)
        severity = WARNING if is_milder else None
        yield loc_message(entry, f"not valid: {entry.invalid}", severity=severity)


@rule("loc-too-long", ERROR, LOC, LOCS)
def loc_too_long(entry: EntryFacts) -> Iterator[Message]:
    """The URL has 2,048 characters or more.

    Why: "this value must be less than 2,048 characters"; search engines drop longer ones.
    Fix: List a shorter URL of the same page, without shopping carts and filters in its query.
    Bad: a URL with a whole shopping cart in its query
    Good: a URL that names the page
    """
    length = len(entry.record.loc)
    if entry.sound and length > MAX_LENGTH:
        yield loc_message(entry, f"{length:,} characters; fewer than {MAX_LENGTH + 1:,} are allowed")


@rule("loc-too-short-xsd", INFO, SCHEMA, LOCS, per=Per.FILE("have a URL shorter than the schema allows"))
def loc_too_short_xsd(entry: EntryFacts) -> Iterator[Message]:
    """The URL is shorter than the schema's minimum. The minimum is 12 characters.

    Why: Schema validators reject it, although the URL works.
    Fix: Add the trailing slash; nothing else is wrong with the URL.
    Bad: `http://t.co`
    Good: `http://t.co/`
    """
    length = len(entry.record.loc)
    if entry.sound and entry.form is Form.ABSOLUTE and length < MIN_LENGTH:
        yield loc_message(entry, f"{length} characters; the schema requires at least {MIN_LENGTH}")


@rule("loc-double-escaped", WARNING, ESCAPING, LOCS, per=Per.FILE("have a URL that was escaped twice"))
def loc_double_escaped(entry: EntryFacts) -> Iterator[Message]:
    """The URL was escaped twice for XML.

    Why: It names a URL that contains the characters `&amp;`, which is a different page.
    Fix: Escape the URL once: write `&amp;` for `&`, not `&amp;amp;`.
    Bad: `<loc>https://example.com/?a=1&amp;amp;b=2</loc>`
    Good: `<loc>https://example.com/?a=1&amp;b=2</loc>`
    """
    found = ENTITY.search(entry.record.loc) if entry.uri is not None else None
    if found is not None:
        yield loc_message(entry, f"{found[0]} is still in the URL after parsing the XML: it was escaped twice")


@rule("loc-whitespace", WARNING, LOC, (*LOCS, Of.FAULT))
def loc_whitespace(entry: EntryFacts | Fault) -> Iterator[Message]:
    """The URL contains whitespace. Whitespace around the URL is a note, or a warning if XML does not define it as
    whitespace, such as a no-break space.

    Why: Readers strip whitespace around a URL. They encode a space inside it as `%20`, remove it, or take it for the
    end of the URL.
    Fix: Remove the whitespace around the URL, and write `%20` for spaces inside it.
    Bad: `<loc>https://example.com/a b</loc>`, or a no-break space after the URL
    Good: `<loc>https://example.com/a%20b</loc>`
    """
    if isinstance(entry, Fault):  # blanks around a plain entry's URL, which the record does not contain
        yield Message(entry.message, entry.line, entry.column, entry.value, INFO)
        return
    if not entry.sound:
        return
    around, inner = _around(entry), None if entry.usual else BLANK.search(entry.written.strip(BLANKS))
    if inner is not None:
        yield loc_message(entry, f"whitespace (U+{ord(inner[0]):04X}) inside the URL or at its ends", entry.written)
    elif around.strip(BLANKS):
        yield loc_message(entry, f"whitespace (U+{ord(around.strip(BLANKS)[0]):04X}) around the URL")
    elif around:
        yield loc_message(entry, "whitespace around the URL", severity=INFO)


def _around(entry: EntryFacts) -> str:
    """Whitespace around a URL, if the XML element is available."""
    element = entry.element if isinstance(entry, UrlFacts) else None
    for child in element.children if element is not None else ():
        if child.name == "loc" and element is not None and child.uri == element.uri:
            text = "".join(part for part in child.content if isinstance(part, str))
            return text[: len(text) - len(text.lstrip())] + text[len(text.rstrip()) :]
    return ""


@rule("loc-non-ascii", INFO, f"{IRI}#section-3.1", LOCS, per=Per.FILE("have a URL with non-ASCII characters"))
def loc_non_ascii(entry: EntryFacts) -> Iterator[Message]:
    """The URL has non-ASCII characters.

    Why: It is legal as an IRI, which readers encode in UTF-8. Percent-encoded, it is the same URL for all of them.
    Fix: Percent-encode the URL's characters in UTF-8, as the browser sends them.
    Bad: `https://example.com/café`
    Good: `https://example.com/caf%C3%A9`
    """
    if entry.uri is not None and not entry.record.loc.isascii():
        found = NON_ASCII.search(BLANK.sub("", entry.record.loc))
        if found is not None:
            yield loc_message(entry, f"{found[0]!r} (U+{ord(found[0]):04X}) is not escaped")


@rule("loc-fragment", WARNING, f"{URI}#section-3.5", LOCS, per=Per.FILE("have a URL with a fragment"))
def loc_fragment(entry: EntryFacts) -> Iterator[Message]:
    """The URL has a fragment. Its `#` may be meant as part of the path.

    Why: Search engines drop it. The entry then stands for the page without the fragment, which may be listed already.
    Fix: Remove the fragment, or the entry if the page is already listed. Write `%23` for a `#` in the path.
    Bad: `https://example.com/about#team`, `https://example.com/c#/arrays`
    Good: `https://example.com/about`, `https://example.com/c%23/arrays`
    """
    if entry.uri is not None and entry.uri.fragment is not None:
        text = f"the fragment #{entry.uri.fragment} is not part of the page's address"
        if hash_is_text(entry.record.loc):
            yield loc_message(entry, f"{text}; write a # that belongs to the path as %23", per=Per.ENTRY)
        else:
            yield loc_message(entry, text)


@rule("loc-dot-segments", WARNING, f"{URI}#section-5.2.4", LOCS)
def loc_dot_segments(entry: EntryFacts) -> Iterator[Message]:
    """The path has `.` or `..` segments.

    Why: Clients remove them, so they request a different URL than the listed one.
    Fix: List the URL without `.` and `..` segments.
    Bad: `https://example.com/shop/../about`
    Good: `https://example.com/about`
    """
    if entry.uri is not None and DOT_SEGMENT.search(entry.uri.path):
        yield loc_message(entry, f"the path {entry.uri.path} has dot segments, which clients remove before the request")


@rule(
    "loc-session-id",
    WARNING,
    "Google's older guidelines: do not include session IDs in URLs",
    (UrlWith(r"[?&][^=&?\n]*(?i:sess|sid|cftoken|cfid|zenid)"), UrlWith(COOKIELESS), Of.CHILD),
    per=Per.FILE("have a session id", by_value=True),
)
def loc_session_id(entry: EntryFacts) -> Iterator[Message]:
    """The URL has a session id.

    Why: "Do not include session IDs in URLs": each visit gets a new one, so crawlers fetch the same page again and
    again under new URLs.
    Fix: Remove the session id from the URL.
    Bad: `https://example.com/shop;jsessionid=1A2B3C4D5E6F`
    Good: `https://example.com/shop`
    """
    if entry.uri is not None and (found := re.search(COOKIELESS, entry.uri.path)):
        yield loc_message(entry, f"{found[0][1:]} in the path is a session id of ASP.NET", "(S())")
        return
    for name, value in _parameters(entry):
        if SESSION.fullmatch(name) and _tells(name, value):
            yield loc_message(entry, f"the parameter {name} holds a session id", name)
            return


@rule(
    "loc-sensitive-parameter",
    WARNING,
    "a sitemap is public, and so are its URLs",
    (UrlWith(r"[?&][^=&?\n]*(?i:sess|token|passw|secret|pwd|key|mail)"), Of.CHILD),
)
def loc_sensitive_parameter(entry: EntryFacts) -> Iterator[Message]:
    """The URL seems to contain a secret or e-mail address. A query parameter holds a session, token, password or e-mail
    address.

    Why: A sitemap is public, and its URLs end up in search results and logs.
    Fix: Remove the entry, and invalidate the secret if it is real.
    Bad: `https://example.com/confirm?email=joe%40example.net&token=8f3c2a`
    Good: `https://example.com/confirm`
    """
    for name, value in _parameters(entry):
        secret = SECRET.fullmatch(name) and not SESSION.fullmatch(name) and _tells(name, value)
        if secret or (MAIL.fullmatch(name) and ("@" in value or "%40" in value)):
            yield loc_message(entry, f"the parameter {name} should not be public", name)
            return


def _parameters(entry: EntryFacts) -> Iterator[tuple[str, str]]:
    if entry.uri is not None:
        _, parted, matrix = entry.uri.path.partition(";")
        yield from QUERY_PARAMETER.findall(parted + matrix)
        yield from QUERY_PARAMETER.findall(entry.uri.query or "")


def _tells(name: str, value: str) -> bool:
    return bool(LOOKS_RANDOM.search(value)) if name.lower() in AMBIGUOUS else bool(value)
