"""Rules on fetching a sitemap file: status, connection, redirects, robots.txt, Content-Type; refused requests."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from sitemapcrawler import urls
from sitemapcrawler.reader.faults import FULL
from sitemapcrawler.reader.formats import HTML
from sitemapcrawler.replies import ReplyKind, ReplyRecord
from sitemapcrawler.replies.chase import MAX_EXCERPT
from sitemapcrawler.replies.page import media_type
from sitemapcrawler.rules.facts.given import AssetFacts, FileFacts, ReplyFacts, RobotsFacts, split
from sitemapcrawler.rules.facts.robots_notes import file_scheme, sitemap_lines
from sitemapcrawler.rules.registry import ERROR, INFO, WARNING, Check, Message, Of, Per, row, rule
from sitemapcrawler.urls import STANDARD_INPUT, authority
from sitemapcrawler.urls.display import counted, quoted
from sitemapcrawler.urls.grammar import Standing, standing

GOOGLE = "https://developers.google.com/search/docs/crawling-indexing/sitemaps/build-sitemap"
REPORT = "https://support.google.com/webmasters/answer/7451001"
"""Help page on the errors of Search Console's sitemaps report."""
HTTP = "https://www.rfc-editor.org/rfc/rfc9110"
REFUSING = (403, 429)
"""Statuses that firewalls and rate limits return: RFC 9110, 15.5.4, and RFC 6585, 4."""
NO_CONTENT = 204
REASONS = (
    ("cannot be resolved", "doc-dns-error"),
    ("no answer in time", "doc-timeout"),
    ("max redirections reached", "doc-redirect-loop"),
    ("was stopped", None),
    (FULL, None),
    ("which is not public", None),
    ("a file is read only where", None),
    ("nsupported URL scheme", None),
    ("the proxy ", None),
)
"""Part of a record's error, and its rule; None if the crawler itself refused or stopped."""
XML_TYPE = re.compile(r"(?:^|[/+.-])xml$")
GZIP_TYPE = re.compile(r"/(?:x-)?gzip(?:-compressed)?$")
UNTOLD = ("application/octet-stream", "binary/octet-stream")


def answer_fault(file: FileFacts) -> str | None:
    """Id of the rule that explains why a file did not return a sitemap; None if it did."""
    record = file.record
    if record.outcome == "blocked":
        return "doc-blocked-by-robots"
    if record.encoding is not None or record.outcome != "failed":
        return None
    error = record.error or ""
    for words, fault in REASONS:
        if words in error:
            return fault
    if record.status is not None:
        return _status_fault(record.status)
    return "doc-fetch-failed" if file.is_local else "doc-connection-error"


def _status_fault(status: int) -> str:
    if status == NO_CONTENT:
        return "doc-empty-body"
    return "doc-waf-blocked" if status in REFUSING else "doc-http-status"


def _is_page(file: FileFacts) -> bool:
    return file.format is HTML and "doc-waf-blocked" not in file.document.faults


def _final_url(file: FileFacts) -> str:
    return file.record.final_url or file.place


@rule(
    "doc-http-status",
    ERROR,
    f"{HTTP}#name-status-codes",
    Of.FILE,
    also={"Lumar": "Broken/Disallowed Sitemaps", "Yandex": "HTTP error", "Search Console": "HTTP error"},
)
def doc_http_status(file: FileFacts) -> Iterator[Message]:
    """The sitemap does not answer with status 200. If an index lists it, a missing sitemap is `index-child-missing`
    instead.

    Why: Search engines read a sitemap only if the status is 200.
    Fix: Serve the sitemap with status 200, or remove its URL from robots.txt, the index or wherever it is named.
    Bad: `HTTP/1.1 404 Not Found`
    Good: `HTTP/1.1 200 OK`
    """
    if answer_fault(file) == "doc-http-status" and not file.is_missing_child:
        status = file.record.status
        yield Message(f"HTTP status {status}; a sitemap must answer 200", value=str(status))


def fetch_rule(id: str, source: str, also: dict[str, str] | None = None) -> Callable[[str], Check]:
    """A rule on a sitemap that could not be fetched."""

    def check(file: FileFacts) -> Iterator[Message]:
        if answer_fault(file) == id:
            yield Message(
                f"the sitemap could not be fetched: {file.record.error or 'no answer'}", value=file.record.error
            )

    return row(check, id, ERROR, source, Of.FILE, also=also)


fetch_rule("doc-fetch-failed", "a file that is named must exist and be readable")("""
    A local sitemap cannot be read.

    Why: Its entries are missing from the result.
    Fix: Correct the path, or make the file readable for the user who runs the crawl.
    Bad: a path that names no file, or one that may not be read
    Good: a path that names a readable file
""")

fetch_rule("doc-dns-error", REPORT, also={"Yandex": "DNS error"})("""
    The host of the sitemap cannot be resolved.

    Why: No crawler can fetch the file.
    Fix: Correct the host name, or add its DNS record.
    Bad: a host name that was moved or mistyped
    Good: a host name that resolves
""")

fetch_rule(
    "doc-connection-error", REPORT, also={"Yandex": "Connection failed", "Search Console": "General HTTP error"}
)("""
    The sitemap's server cannot be reached. It refuses the connection, or closes it without an answer.

    Why: Crawlers retry a few times, and drop the sitemap if the failure lasts.
    Fix: Open the port, renew the certificate, or repair the server, until the sitemap answers 200.
    Bad: a closed port, a certificate that is not valid, a connection that is reset
    Good: an answer with status 200
""")

fetch_rule("doc-timeout", REPORT, also={"Search Console": "Temporary error"})("""
    The server does not answer in time.

    Why: Crawlers wait for a minute or less. Often the server builds the sitemap at each request.
    Fix: Write the sitemap to a file in advance instead of building it at each request, or split it.
    Bad: no answer within the time limit (setting DOWNLOAD_TIMEOUT)
    Good: a file that is written in advance
""")


@rule("doc-redirect-loop", ERROR, f"{HTTP}#name-redirection-3xx", Of.FILE)
def doc_redirect_loop(file: FileFacts) -> Iterator[Message]:
    """The sitemap redirects in a loop.

    Why: Crawlers follow a few redirects and give up.
    Fix: Remove the redirects, so that the URL in robots.txt itself answers 200.
    Bad: `/sitemap.xml` redirects to `/sitemap.xml/`, which redirects back
    Good: the URL in robots.txt answers 200 itself
    """
    if answer_fault(file) == "doc-redirect-loop":
        hops = file.record.hops
        last = f", the last from {hops[-1].url}" if hops else ""
        yield Message(f"more than {len(hops)} redirects{last}", value=hops[-1].url if hops else None)


@rule("doc-redirected", WARNING, f"{HTTP}#name-redirection-3xx", Of.FILE, also={"Yandex": "Redirect"})
def doc_redirected(file: FileFacts) -> Iterator[Message]:
    """The sitemap's URL redirects within the site.

    Why: Each redirect costs a request and can fail.
    Fix: List the redirect target instead, in robots.txt and in the index.
    Bad: robots.txt names `http://example.com/sitemap.xml`, which redirects to `https://example.com/sitemap.xml`
    Good: robots.txt names the URL that answers 200
    """
    record = file.record
    if record.hops and _led_to_sitemap(file) and not _is_offsite(file):
        statuses = ", ".join(str(hop.status) for hop in record.hops)
        yield Message(f"redirected ({statuses}) to {_final_url(file)}; name that URL instead", value=_final_url(file))


@rule("doc-redirect-offsite", ERROR, GOOGLE, Of.FILE)
def doc_redirect_offsite(file: FileFacts) -> Iterator[Message]:
    """The sitemap's URL redirects to another host. A leading `www.` makes no difference.

    Why: A sitemap may list URLs of its own host only, so search engines ignore its entries.
    Fix: Serve the sitemap from the host whose pages it lists, or name the redirect target in this host's robots.txt.
    Bad: `https://example.com/sitemap.xml` redirects to `https://shop.example.net/sitemap.xml`
    Good: the file is served by the host it lists, or robots.txt names the URL on the other host
    """
    if file.record.hops and _led_to_sitemap(file) and _is_offsite(file):
        yield Message(f"redirected to another host: {_final_url(file)}", value=_final_url(file))


@rule("doc-redirect-to-html", ERROR, REPORT, Of.FILE, also={"Search Console": "Unsupported format"})
def doc_redirect_to_html(file: FileFacts) -> Iterator[Message]:
    """The sitemap's URL redirects to a page.

    Why: A server that redirects every unknown URL to its home page hides that the sitemap is gone.
    Fix: Restore the sitemap at this URL, or answer 404 instead of redirecting to a page.
    Bad: `/sitemap.xml` redirects to `/`
    Good: the sitemap, or status 404
    """
    if file.record.hops and _was_read(file) and _is_page(file):
        yield Message(f"redirected to an HTML page: {_final_url(file)}", value=_final_url(file))


@rule(
    "doc-blocked-by-robots",
    ERROR,
    "https://www.rfc-editor.org/rfc/rfc9309#section-2.2.2",
    Of.FILE,
    also={
        "Lumar": "Broken/Disallowed Sitemaps",
        "Yandex": "URL forbidden in robots.txt",
        "Search Console": "URLs not accessible",
    },
)
def doc_blocked_by_robots(file: FileFacts) -> Iterator[Message]:
    """The sitemap is blocked by robots.txt. Those that `index-child-offsite` reports do not count.

    Why: A search engine that obeys robots.txt does not fetch the file.
    Fix: Allow the sitemap in robots.txt, or remove it from the index or robots.txt that lists it.
    Bad: `Disallow: /sitemaps/` with the sitemap at `/sitemaps/all.xml`
    Good: a rule that allows the sitemap, such as `Allow: /sitemaps/`
    """
    index = file.record.parent
    is_offsite = index is not None and standing(file.url, index) is Standing.OTHER_AUTHORITY
    if answer_fault(file) == "doc-blocked-by-robots" and (not is_offsite or file.proven(file.url)):
        yield Message(file.record.error or f"robots.txt forbids {file.url}", value=file.url)


@rule("doc-waf-blocked", ERROR, "https://www.rfc-editor.org/rfc/rfc6585#section-4", Of.FILE)
def doc_waf_blocked(file: FileFacts) -> Iterator[Message]:
    """A firewall or rate limit blocks the sitemap. The answer is status 403 or 429, or a challenge page instead of XML.

    Why: The same rule may block search engines. Only the server's logs show whether it does.
    Fix: Exclude the sitemap's path from the firewall's challenges and rate limits.
    Bad: a page that says `Just a moment...`
    Good: the sitemap's path is left out of the firewall's rules
    """
    challenge = file.document.faults.first("doc-waf-blocked")
    if challenge is not None:
        yield Message(f"{challenge.message} ({challenge.value})", challenge.line, value=challenge.value)
    elif answer_fault(file) == "doc-waf-blocked":
        status = file.record.status
        yield Message(f"HTTP status {status}: the server refuses the crawler", value=str(status))


@rule(
    "doc-empty-body",
    ERROR,
    REPORT,
    Of.FILE,
    also={"Yandex": "Response contains no data", "Search Console": "Empty sitemap"},
)
def doc_empty_body(file: FileFacts) -> Iterator[Message]:
    """The response has no content.

    Why: An empty file is not a valid sitemap.
    Fix: Restore the file's content, or remove its URL from robots.txt and the index.
    Bad: status 200 or 204 and no bytes, or only whitespace
    Good: `<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">...</urlset>`
    """
    if answer_fault(file) == "doc-empty-body":
        yield Message(f"HTTP status {NO_CONTENT}: no content", value=str(NO_CONTENT))
    elif "doc-empty-body" in file.document.faults:
        size = counted(file.record.bytes, "byte")
        yield Message(f"{size}, all whitespace" if file.record.bytes else size)


@rule("doc-is-html", ERROR, REPORT, Of.FILE, also={"Search Console": "Unsupported format"})
def doc_is_html(file: FileFacts) -> Iterator[Message]:
    """The sitemap's URL returns an HTML page. If an index lists it, `index-child-is-page` reports it instead,
    unless its name ends in `.xml`, `.gz` or `.txt`.

    Why: The sitemap is missing, and the server sends an error page, a login page or an app shell instead.
    Fix: Serve the XML at this URL, or answer 404 where there is no sitemap.
    Bad: `<!DOCTYPE html><html>...`
    Good: `<?xml version="1.0" encoding="UTF-8"?><urlset ...`
    """
    if _is_page(file) and not file.record.hops and not file.is_page_child:
        yield Message("an HTML page instead of a sitemap")


@rule("doc-content-type", WARNING, f"{HTTP}#name-content-type", Of.FILE)
def doc_content_type(file: FileFacts) -> Iterator[Message]:
    """The Content-Type does not fit a sitemap. A note if it is missing or `application/octet-stream`.

    Why: Some readers go by the type, and browsers and caches may treat the file as something else.
    Fix: Send `Content-Type: application/xml` for XML, `application/gzip` for .gz files and `text/plain` for text
    sitemaps.
    Bad: `Content-Type: text/html`
    Good: `Content-Type: application/xml`
    """
    if file.record.status is None or not _was_read(file) or not file.format.is_sitemap:
        return
    kind = _media_type(file)
    if not kind or kind in UNTOLD:
        yield Message(f"Content-Type is {kind or 'missing'}; expected application/xml", None, None, kind, INFO)
    elif kind == "text/html" or not (kind.startswith("text/") or XML_TYPE.search(kind) or GZIP_TYPE.search(kind)):
        yield Message(f"Content-Type is {kind}; expected application/xml", value=kind)


@rule(
    "doc-gzip-name-mismatch",
    INFO,
    "https://www.rfc-editor.org/rfc/rfc1952",
    Of.FILE,
    per=Per.SITE("have a name that does not match their compression"),
)
def doc_gzip_name_mismatch(file: FileFacts) -> Iterator[Message]:
    """File name and compression do not match. The file is `.gz` without gzip, unannounced gzip, or gzip inside gzip.

    Why: Readers that go by name and headers fail on such files. A warning if neither announces gzip.
    Fix: Compress the file once and name it `.gz`, or serve plain XML under a name without `.gz`.
    Bad: `sitemap.xml.gz` that is plain XML
    Good: `sitemap.xml.gz` that is compressed once
    """
    if not _was_read(file) or not file.format.is_sitemap:
        return
    named, compressed = split(_final_url(file)).path.lower().endswith(".gz"), file.document.compressed
    twice = file.document.faults.first("doc-gzip-name-mismatch")
    kind = _media_type(file)
    if twice is not None:
        yield Message(twice.message)
    elif named and not compressed:
        yield Message("the name ends in .gz, but the content is not compressed")
    elif compressed and not named and (GZIP_TYPE.search(kind) or (file.is_local and file.url != STANDARD_INPUT)):
        yield Message("the content is gzip, but the name does not end in .gz")
    elif compressed and not named and _has_no_coding(file):
        served = f"as {kind}" if kind else "without Content-Type"
        text = f"the content is gzip, but it is served {served}, and without Content-Encoding: gzip"
        yield Message(text, None, None, kind, WARNING)


@rule("doc-http-not-https", INFO, GOOGLE, Of.FILE, also={"Search Console": "Path mismatch"})
def doc_http_not_https(file: FileFacts) -> Iterator[Message]:
    """The sitemap is requested over http on an https site.

    Why: A sitemap on http may not list URLs on https.
    Fix: Use the https URL of the sitemap wherever it is named.
    Bad: `http://example.com/sitemap.xml` on a site whose robots.txt is at `https://example.com/robots.txt`
    Good: `https://example.com/sitemap.xml`
    """
    others = (file.record.final_url, file.record.parent)
    if file.parts.scheme.lower() == "http" and any(_is_https_of(file, url) for url in others):
        yield Message(f"{file.place} is on http, its site on https", value=file.place)


def _media_type(file: FileFacts) -> str:
    """Media type in lower case, or the whole header if it is malformed; empty without one."""
    known = media_type(file.content_type)
    return (known.essence if known is not None else (file.content_type or "").strip().lower())[:MAX_EXCERPT]


def _is_https_of(file: FileFacts, url: str | None) -> bool:
    place = authority(url) if url and url.lower().startswith("https:") else None
    return place is not None and file.authority is not None and place.host == file.authority.host


def _has_no_coding(file: FileFacts) -> bool:
    """True for a response whose Content-Encoding is known not to be gzip."""
    return not file.is_local and file.content_encoding is not None and "gzip" not in file.content_encoding


def _was_read(file: FileFacts) -> bool:
    return file.record.encoding is not None


def _led_to_sitemap(file: FileFacts) -> bool:
    """True if redirects led to anything but a page: read now, or earlier under its own URL."""
    return (_was_read(file) or file.record.outcome == "ok") and not _is_page(file)


def _is_offsite(file: FileFacts) -> bool:
    there = authority(_final_url(file))
    if file.authority is None or there is None:
        return False
    return file.authority.bare_host != there.bare_host


ASKED = (Of.FILE, Of.REPLY, Of.ASSET)

NOT_PUBLIC = "which is not public"
"""Part of the error for an address that is not public."""

SCHEME_REFUSED = ("a file is read only where", "nsupported URL scheme")
"""Parts of the error for a URL that is neither http nor https."""


@rule("security-address-refused", WARNING, "the guard of this program, docs/settings.md", (*ASKED, Of.ROBOTS))
def security_address_refused(facts: FileFacts | ReplyFacts | AssetFacts | RobotsFacts) -> Iterator[Message]:
    """The address is not public, so it was not requested. It belongs to the host of a sitemap, a page, an image, a
    video or a robots.txt.

    Why: A sitemap is untrusted input, and must not make the crawler request its own network.
    Fix: Replace the URL with one on a public host. For your own network, set `SITEMAP_ALLOW_NETWORKS`.
    Bad: an entry for `http://192.168.0.1/`; a page that redirects to a host whose address is 127.0.0.1
    Good: a public host; or an authority that the arguments name, or a network in `SITEMAP_ALLOW_NETWORKS`
    """
    if isinstance(facts, FileFacts):
        error = facts.record.error or ""
        if NOT_PUBLIC in error:
            yield Message(error, value=facts.url)
    elif isinstance(facts, RobotsFacts):
        reason = facts.policy.reason or ""
        if NOT_PUBLIC in reason:
            yield Message(f"robots.txt was not requested: {reason}", value=facts.record.robots)
    elif _is_refused(facts.reply, is_web=True):
        yield _refusal(facts.reply)


@rule("security-scheme-refused", WARNING, "https://www.sitemaps.org/protocol.html#locdef", (*ASKED, Of.ROBOTS))
def security_scheme_refused(facts: FileFacts | ReplyFacts | AssetFacts | RobotsFacts) -> Iterator[Message]:
    """The URL is not http or https. It was not requested. It is a listed URL, or a sitemap that robots.txt names. The
    latter is an error, since no crawler finds it.

    Why: A listed `file:` URL would read from the crawler's own disk.
    Fix: Replace the URL with an http or https one, or remove it.
    Bad: `Sitemap: file:///etc/passwd`
    Good: `Sitemap: https://example.com/sitemap.xml`
    """
    if isinstance(facts, FileFacts):
        error = facts.record.error or ""
        if any(words in error for words in SCHEME_REFUSED):
            yield Message(f"not requested: {error}", value=facts.url)
    elif isinstance(facts, RobotsFacts):
        for sitemap in sitemap_lines(facts):
            if scheme := file_scheme(sitemap):
                text = f"{quoted(sitemap.raw)} names no sitemap: a crawler does not request {scheme} URLs"
                yield Message(text, sitemap.line, value=sitemap.raw, severity=ERROR)
    elif _is_refused(facts.reply, is_web=False) and not _is_reported(facts):
        yield _refusal(facts.reply)


def _is_refused(reply: ReplyRecord, is_web: bool) -> bool:
    return reply.kind == ReplyKind.ADDRESS_REFUSED and urls.is_web(reply.final_url or "") is is_web


def _refusal(reply: ReplyRecord) -> Message:
    url, behind = reply.final_url, f", after {counted(len(reply.redirects), 'redirect')}" if reply.redirects else ""
    return Message(f"{quoted(url or '')} was not requested{behind}: {reply.error}", value=url)


def _is_reported(facts: ReplyFacts | AssetFacts) -> bool:
    """True if a rule on the listed URL has already reported the problem."""
    return any(issue.startswith(("loc-", "image-", "video-")) for issue in facts.record.issues)
