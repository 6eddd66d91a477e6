"""Rules on HTTP replies to listed URLs: status, network failures, redirects, soft 404, share of broken URLs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator

from sitemapcrawler.replies import REACHED, Reason, ReplyKind, is_unanswered
from sitemapcrawler.replies.chase import NO_ANSWER
from sitemapcrawler.replies.page import is_malformed, media_type
from sitemapcrawler.rules.facts.given import Drawn, FileFacts, ReplyFacts
from sitemapcrawler.rules.facts.replied import Estimate, Stratum, fault_of, statuses, stratified, way
from sitemapcrawler.rules.registry import ERROR, INFO, WARNING, Check, Message, Of, Per, Severity, row, rule
from sitemapcrawler.urls.display import counted, quoted

SOFT = "https://developers.google.com/search/docs/crawling-indexing/http-network-errors#soft-404-errors"
ERRORS = "https://developers.google.com/search/docs/crawling-indexing/http-network-errors"
"""Google: how HTTP status codes, and network and DNS errors affect search."""
ERROR_PAGE = {
    "Search Console": "URLs not accessible",
    "Screaming Frog": "Non-Indexable URLs in Sitemap",
    "Lumar": "Error Pages in Sitemaps",
}
NOT_FOUND = {**ERROR_PAGE, "Sitebulb": "Not Found (4XX) URL in XML Sitemaps"}
REMARKS = {503: ": the server is overloaded, or under maintenance"}
"""{status: remark}, where the rule on several statuses has another one."""
FORBIDDEN = {**ERROR_PAGE, "Sitebulb": "Forbidden (403) URL in XML Sitemaps"}


def _status_message(facts: ReplyFacts, rule: str, remark: str) -> Iterator[Message]:
    """Yield a message with the status, if this rule is the one to report it; `remark` follows the status."""
    reply = facts.reply
    if reply.kind == ReplyKind.HTTP_ERROR and fault_of(facts) == rule:
        remark = REMARKS.get(reply.final_status or 0, remark)
        yield Message(f"HTTP status {reply.final_status}{way(reply)}{remark}", value=str(reply.final_status))


def status_rule(id: str, also: dict[str, str], remark: str = "") -> Callable[[str], Check]:
    """A rule on a status of a listed URL."""

    def check(facts: ReplyFacts) -> Iterator[Message]:
        yield from _status_message(facts, id, remark)

    return row(check, id, ERROR, ERRORS, Of.REPLY, also=also)


status_rule("status-401", ERROR_PAGE, ": a login is required")("""
    Listed URL answers 401 Unauthorized.

    Why: Search engines do not log in, and drop the page from their index.
    Fix: Remove these URLs from the sitemap, or make the pages public.
    Bad: pages for customers in the sitemap, or a test site that is still behind a password
    Good: pages that are open to all visitors
""")


@rule(
    "status-402",
    INFO,
    "https://www.rfc-editor.org/rfc/rfc9110#name-402-payment-required",
    Of.REPLY,
    per=Per.FILE("answer 402 Payment Required"),
)
def status_402(facts: ReplyFacts) -> Iterator[Message]:
    """Listed URL answers 402 Payment Required. The server wants this crawler to pay. Search engines may get another
    answer.

    Why: Content delivery networks charge AI crawlers by a 402, and send search engines the page. A search engine that
    gets 402 too drops the page from its index.
    Fix: Let search engines read the pages without payment, or remove these URLs from the sitemap.
    Bad: 402 for Googlebot, by a rule on all crawlers
    Good: status 200 for search engines
    """
    yield from _status_message(facts, "status-402", ": this crawl has to pay; search engines may get another answer")


status_rule("status-403", FORBIDDEN, ": this crawl is refused; search engines may get another answer")("""
    Listed URL answers 403 Forbidden. The server refuses this crawler. Search engines may get another answer.

    Why: Search engines do not index a page that they are refused. A firewall that knows their addresses may refuse only
    this crawler; the server's log or Search Console's URL Inspection shows it.
    Fix: Allow crawlers in the firewall, or remove these URLs from the sitemap.
    Bad: a firewall that takes search engines for an attack
    Good: status 200 for visitors and crawlers alike
""")

status_rule("status-404", NOT_FOUND, ": not found")("""
    Listed URL answers 404 Not Found.

    Why: Search engines drop the page from their index, and the crawl is wasted.
    Fix: Remove these URLs from the sitemap, or restore the pages.
    Bad: a deleted product that is still in the sitemap
    Good: no entry for it
""")

status_rule("status-410", NOT_FOUND, ": gone for good")("""
    Listed URL answers 410 Gone.

    Why: Search engines drop the page, as with 404. The server knows that the page is gone; the sitemap does not.
    Fix: Remove these URLs from the sitemap.
    Bad: an entry for a page that answers 410
    Good: no entry for it
""")


@rule("status-429", WARNING, "https://www.rfc-editor.org/rfc/rfc6585#section-4", Of.REPLY)
def status_429(facts: ReplyFacts) -> Iterator[Message]:
    """Listed URL answers 429 Too Many Requests. That is not the page's fault; whether the page works is unknown.

    Why: This crawl was too fast for the server. Search engines treat 429 as a server error and slow down.
    Fix: Raise the server's rate limit for crawlers, or crawl again with a longer `DOWNLOAD_DELAY`.
    Bad: a limit of a few requests a second
    Good: a limit that lets crawlers through; for this crawl a longer DOWNLOAD_DELAY
    """
    tries = f" after {counted(facts.reply.attempts or 0, 'request')}: the server limits requests; crawl more slowly"
    yield from _status_message(facts, "status-429", tries)


status_rule("status-4xx", NOT_FOUND)("""
    Listed URL answers with another client error, 4xx.

    Why: Search engines drop the page from their index, as with 404.
    Fix: Remove these URLs from the sitemap, or make the pages answer 200.
    Bad: 400 for a URL with a broken query, 451 for a page that may not be shown
    Good: status 200, or no entry
""")

status_rule("status-5xx", ERROR_PAGE, ": the server failed")("""
    Listed URL answers with a server error, 5xx. Statuses above 599 count too.

    Why: Search engines crawl the whole site more slowly, and drop the page if the error lasts.
    Fix: Repair the pages: the server's error log names the cause. If it was maintenance (503), audit again.
    Bad: 500 from a template that fails, 503 from a server that is overloaded
    Good: status 200
""")


NETWORK = f"{ERRORS}#network-and-dns-errors"


def failure_rule(id: str, severity: Severity, also: dict[str, str] | None = None) -> Callable[[str], Check]:
    """A rule on a listed URL that gave no whole answer."""

    def check(facts: ReplyFacts) -> Iterator[Message]:
        reply = facts.reply
        if fault_of(facts) == id:
            yield Message(f"{reply.error}{way(reply)}", value=reply.kind)

    return row(check, id, severity, NETWORK, Of.REPLY, also=also)


failure_rule("status-timeout", ERROR, also=ERROR_PAGE)("""
    Listed URL does not answer in time.

    Why: Search engines give up too, and then crawl the whole site less.
    Fix: Speed up the pages or cache them, or remove these URLs from the sitemap.
    Bad: no answer within the time limit (setting DOWNLOAD_TIMEOUT), after some tries
    Good: an answer within a second
""")

failure_rule("status-dns", ERROR, also=ERROR_PAGE)("""
    Host of a listed URL cannot be resolved.

    Why: No visitor can open the page.
    Fix: Correct the host name in the sitemap, or restore its DNS record.
    Bad: `https://old-shop.example.com/`, a name that no longer exists
    Good: a host name that resolves
""")

failure_rule("status-tls", ERROR, also=ERROR_PAGE)("""
    Listed URL has no secure connection. The certificate of its host is not valid, or TLS fails.

    Why: Browsers show a warning instead of the page, and Google prefers its http variant or drops it.
    Fix: Install a valid certificate for this host, and renew it in time.
    Bad: a certificate that has expired, is for another host, or is signed by an unknown authority
    Good: a certificate for this host that is renewed in time
""")

failure_rule("status-connection", ERROR, also=ERROR_PAGE)("""
    The server of a listed URL cannot be reached. It refuses the connection, or closes it without a readable answer.

    Why: Search engines treat it as a server error: they slow down, and drop the page if it lasts.
    Fix: Open the server's port, or remove these URLs from the sitemap.
    Bad: a closed port, a connection that is reset, an answer that is not HTTP
    Good: an answer with status 200
""")

failure_rule("status-truncated", WARNING)("""
    Response of a listed URL is incomplete. The connection ended before the response was complete, or the response never
    ends.

    Why: Search engines do not index the missing part. The page may work at the next visit, if the server was
    overloaded.
    Fix: Find out why the server closes the connection: check its load, its timeouts and Content-Length.
    Bad: `Content-Length: 50000`, but only 20,000 bytes
    Good: the whole page
""")


INDEXABLE = "https://developers.google.com/search/docs/crawling-indexing/indexable-file-types"
SLOW_MS = 1_800
"""Milliseconds to the headers that count as slow: "poor" by https://web.dev/articles/ttfb. That limit includes DNS
and connection, which are not measured here, so a reported page is slow by itself."""


@rule("status-soft-404", WARNING, SOFT, Of.REPLY, also=ERROR_PAGE)
def status_soft_404(facts: ReplyFacts) -> Iterator[Message]:
    """Listed URL is a soft 404. It answers with status 200, but is a "not found" page, an error message, a list without
    entries, or empty.

    Why: Search engines crawl it again and again before they notice and drop it. The page is compared with the server's
    answer for a path that cannot exist.
    Fix: Answer 404 for missing pages, and remove these URLs from the sitemap.
    Bad: status 200 with only `Page not found`, `Database connection failed` or `No posts found`; the redirect that
    every unknown URL gets; status 204; an empty page
    Good: status 404 or 410, and no entry
    """
    reply = facts.reply
    if fault_of(facts) == "status-soft-404":
        yield Message(
            f"HTTP status {reply.final_status}{way(reply)}, but no page: {reply.soft_404}", value=reply.final_url
        )


@rule("status-non-html", INFO, INDEXABLE, Of.REPLY, per=Per.FILE("are not HTML pages"))
def status_non_html(facts: ReplyFacts) -> Iterator[Message]:
    """Listed URL is not an HTML page.

    Why: Search engines also index documents such as PDFs. They do not index feeds and data, and images belong in
    `<image:image>`.
    Fix: Remove feeds, images and data from the sitemap; keep documents that people should find.
    Bad: `https://example.com/api/products.json`
    Good: the page that shows the data; a PDF that people should find
    """
    reply = facts.reply
    if reply.kind not in REACHED:
        return
    kind = media_type(reply.content_type)
    if kind is not None and not kind.is_html:
        yield Message(f"Content-Type is {kind.essence[:100]}: not an HTML page", value=reply.content_type)


@rule(
    "status-content-type",
    INFO,
    "https://www.rfc-editor.org/rfc/rfc9110#name-content-type",
    Of.REPLY,
    per=Per.FILE("have a malformed Content-Type"),
)
def status_content_type(facts: ReplyFacts) -> Iterator[Message]:
    """Listed URL has a malformed Content-Type. It is not a media type, or there are several.

    Why: Browsers and crawlers guess from the content. With `X-Content-Type-Options: nosniff`, browsers show the source
    code.
    Fix: Send one valid type, `text/html; charset=utf-8` for pages.
    Bad: `Content-Type: text/html charset=utf-8`, `Content-Type: html`, two Content-Type headers
    Good: `Content-Type: text/html; charset=utf-8`
    """
    reply = facts.reply
    if reply.kind in REACHED and is_malformed(reply.content_type):
        yield Message(
            f"Content-Type is {quoted(reply.content_type or '')}: not one media type", value=reply.content_type
        )


@rule("status-slow", INFO, "https://web.dev/articles/ttfb", Of.REPLY, per=Per.FILE("answer slowly"))
def status_slow(facts: ReplyFacts) -> Iterator[Message]:
    """Listed URL is slow. The server took more than 1.8 seconds to start its answer, on average if there were several
    requests.

    Why: Visitors wait, and search engines crawl fewer pages of a slow site. A single slow answer means little; many
    slow pages, or one that is always slow, matter.
    Fix: Cache these pages, or speed up what builds them.
    Bad: a page that takes four seconds to build
    Good: an answer that begins within 0.8 seconds
    """
    reply = facts.reply
    if reply.kind not in REACHED:
        return
    attempts = reply.attempts or 1
    took = (reply.elapsed_ms or 0) / attempts
    if took > SLOW_MS:
        of_several = f" (average of {attempts} requests)" if attempts > 1 else ""
        text = f"the answer began after {took / 1000:.1f} seconds{of_several}; more than {SLOW_MS / 1000:.1f} is slow"
        yield Message(text, value=f"{took:.0f}")


@rule(
    "status-head-get-mismatch",
    INFO,
    "https://www.rfc-editor.org/rfc/rfc9110#name-head",
    Of.REPLY,
    per=Per.FILE("answer HEAD differently from GET"),
)
def status_head_get_mismatch(facts: ReplyFacts) -> Iterator[Message]:
    """The server answers HEAD differently from GET.

    Why: HEAD must return the status of GET. Tools that check links by HEAD report the page as broken. Other findings on
    the page come from GET.
    Fix: Make the server answer HEAD with the same status as GET.
    Bad: 405 to HEAD and 200 to GET
    Good: the same status to both
    """
    reply = facts.reply
    if reply.head_status is None:
        return
    head = "no answer" if reply.head_status == NO_ANSWER else str(reply.head_status)
    got = [str(hop.status) for hop in reply.redirects]
    if reply.final_status is not None or is_unanswered(reply):
        got.append("no answer" if reply.final_status is None else str(reply.final_status))
    yield Message(f"HEAD got {head}, GET got {', then '.join(got) or 'another answer'}", value=head)


MAX_DIRT = 0.01
"""Maximum share of a sitemap's URLs with a status other than 200. Source: Bing, 2012"""
MAX_KINDS = 4
"""Kinds of replies that a message counts."""


def _answered(replies: Counter[str]) -> int:
    """Number of entries with a definite result."""
    return sum(number for kind, number in replies.items() if kind not in list(Reason))


def _bad_share(file: FileFacts | Drawn) -> Estimate:
    """Estimate the share of URLs that do not return a page."""
    parts = file.by_segment.values() if isinstance(file, Drawn) else [file.replies]
    asked = [(replies, _answered(replies)) for replies in parts]
    strata = [Stratum(all - one[ReplyKind.OK], all, all + one[Reason.SAMPLED_OUT]) for one, all in asked]
    return stratified(strata, sum(int(one.population) for one in strata))


@rule(
    "status-dirt-ratio",
    WARNING,
    "Bing (Duane Forrester, 2012): sitemaps with more than 1 % dirt lose its trust",
    (Of.FILE, Of.DRAWN),
    also={"Screaming Frog": "Non-Indexable URLs in Sitemap", "Lumar": "Error Pages in Sitemaps"},
)
def status_dirt_ratio(file: FileFacts | Drawn) -> Iterator[Message]:
    """Many listed URLs do not answer 200. More than 1 % of a file's requested URLs.

    Redirects count, and so does no answer. With a sample, the lower end of its 95 % interval must be above 1 %. A note
    if all URLs were requested: each bad one then has its own finding.

    Why: Bing said that it tolerates 1 % in a sitemap, and trusts a sitemap less if it has more.
    Fix: Generate the sitemap from pages that answer 200, and omit the others.
    Bad: a sitemap of 1,000 URLs, 40 of which redirect
    Good: a sitemap that is generated from existing pages
    """
    found = _bad_share(file)
    if found.checked and found.low > MAX_DIRT:
        kinds = [(kind, number) for kind, number in file.replies.most_common() if kind not in {ReplyKind.OK, *Reason}]
        told = ", ".join(f"{number:,} {kind}" for kind, number in kinds[:MAX_KINDS])
        more = ", ..." if len(kinds) > MAX_KINDS else ""
        of_all = "" if found.exact else f"; estimated share: {found}"
        text = f"{found.bad:,} of {counted(found.checked, 'checked URL')} did not answer 200 ({told}{more}){of_all}"
        severity = INFO if found.exact else None
        yield Message(f"{text}; 1 % is tolerated", value=str(found.bad), severity=severity)


@rule("status-sampled", INFO, "the argument `sample`", (Of.FILE, Of.DRAWN))
def status_sampled(file: FileFacts | Drawn) -> Iterator[Message]:
    """Only a sample of the URLs was requested.

    Why: A URL that was not requested may fail without a finding. The message estimates the share of the file's URLs
    that do not answer 200, with its 95 % confidence interval.
    Fix: Crawl again without `sample`, or with a larger one, if the share is high.
    Bad: taking a sample for the whole
    Good: a sample that is large enough, and all URLs where the share is high
    """
    left_out = file.replies[Reason.SAMPLED_OUT]
    if left_out:
        found = _bad_share(file)
        were = "was" if found.checked == 1 else "were"
        text = f"{found.checked:,} of {found.population:,} URLs {were} checked (random sample)"
        yield Message(f"{text}; did not answer 200: {found}" if found.checked else text, value=str(left_out))


REDIRECTS = "https://developers.google.com/search/docs/crawling-indexing/301-redirects"


BUILD = "https://developers.google.com/search/docs/crawling-indexing/sitemaps/build-sitemap"

PERMANENT = frozenset((301, 308))
"""Source: RFC 9110, 15.4"""

MAX_HOPS = 4
"""Redirects that a message lists; the record has all of them."""

WHY_NOT = {
    Reason.BLOCKED: "robots.txt forbids it for this crawl",
    Reason.OFF_SITE: "it is on another host",
    Reason.UNREADABLE: "its bytes are not in the file's encoding",
    Reason.STOPPED: "the crawl ended, or its host or a proxy failed",
    Reason.SAMPLED_OUT: "it is not in the sample",
}

MOVED = {"Sitebulb": "Redirect (3XX) URL in XML Sitemaps", "Search Console": "URLs not followed"}


@rule("status-redirect", WARNING, REDIRECTS, Of.REPLY, also=MOVED)
def status_redirect(facts: ReplyFacts) -> Iterator[Message]:
    """Listed URL redirects. An error if the redirect leads nowhere: it has no target, or one that is not http or https.

    Why: A sitemap should list the URLs to be indexed, which is the redirect target. Each redirect costs another
    request. The message says whether the redirect is permanent, and where it leads.
    Fix: Remove these URLs, and list their redirect targets unless they are listed already. Keep those whose
    redirect is temporary.
    Bad: `http://example.com/a`, which redirects to `https://example.com/a`; a redirect to `ftp://example.com/a`
    Good: `https://example.com/a`
    """
    if fault_of(facts) != "status-redirect":
        return
    reply = facts.reply
    if reply.kind == ReplyKind.HTTP_ERROR:
        yield Message(f"{reply.error}: it leads nowhere", value=str(reply.final_status), severity=ERROR)
    else:
        yield _redirect_message(facts, f"redirects ({_permanence(reply.redirects[0].status)})")


@rule("status-redirect-chain", WARNING, REDIRECTS, Of.REPLY, also=MOVED)
def status_redirect_chain(facts: ReplyFacts) -> Iterator[Message]:
    """Listed URL redirects more than once.

    Why: Google's crawlers follow ten redirects, others fewer. Each one costs another request and may fail.
    Fix: Remove these URLs, and list the final ones unless listed already. Make each redirect lead there directly.
    Bad: `http://example.com/a` to `https://example.com/a` to `https://www.example.com/a`
    Good: `https://www.example.com/a`
    """
    if fault_of(facts) == "status-redirect-chain":
        hops = facts.reply.redirects
        told = ", ".join(f"{hop.status} at {quoted(hop.url)}" for hop in hops[:MAX_HOPS])
        yield _redirect_message(facts, f"{len(hops)} redirects ({told}{', ...' if len(hops) > MAX_HOPS else ''})")


@rule("status-redirect-loop", ERROR, REDIRECTS, Of.REPLY, also=MOVED)
def status_redirect_loop(facts: ReplyFacts) -> Iterator[Message]:
    """Listed URL redirects in a loop. The redirects return to an earlier URL, or never end.

    Why: No search engine reaches the page. Some loops end for visitors with cookies, which search engines do not send.
    Fix: Break the loop: make one of the URLs answer 200, and list that one.
    Bad: `/a` redirects to `/a/`, which redirects to `/a`
    Good: one of the two answers 200
    """
    reply = facts.reply
    if reply.kind == ReplyKind.REDIRECT_LOOP:
        yield Message(f"{reply.error} (statuses {statuses(reply)})", value=reply.final_url)


def moved_rule(id: str, source: str, to: str) -> Callable[[str], Check]:
    """A rule on a listed URL that redirects to another page, named by `to`."""

    def check(facts: ReplyFacts) -> Iterator[Message]:
        if fault_of(facts) == id:
            yield _redirect_message(facts, f"redirects ({statuses(facts.reply)}) to {to},")

    return row(check, id, WARNING, source, Of.REPLY, also=MOVED)


moved_rule("status-redirect-offsite", BUILD, "another host")("""
    Listed URL redirects to another host. A redirect to the sitemap's host does not count; a leading `www.` makes no
    difference.

    Why: The page belongs to another site, whose own sitemap should list it. If the redirect is not intended, a domain
    may have been sold or a link hijacked.
    Fix: Remove these URLs from the sitemap, and check that the redirect is intended.
    Bad: `https://example.com/shop`, which redirects to `https://example.net/`
    Good: no entry for it here
""")


moved_rule("status-redirect-to-home", SOFT, "the home page")("""
    Listed URL redirects to the home page. Or to the home page of a language, such as `/de/` or `/de/index.html`.

    Why: Usually the page is gone, and the redirect hides it. Search engines treat that as a missing page.
    Fix: Answer 404 or redirect to the page's replacement, and remove these URLs from the sitemap.
    Bad: a deleted product, which redirects to `https://example.com/`
    Good: status 404 or 410, or a redirect to the page that took its place, and no entry
""")


moved_rule("status-redirect-to-login", REDIRECTS, "a login page")("""
    Listed URL redirects to a login page. On any host, judging by its name.

    Why: Search engines do not log in: they never see the page, and may index the login page in its place.
    Fix: Remove these URLs from the sitemap, or let everyone read the pages.
    Bad: `https://example.com/account`, which redirects to `https://example.com/login?next=/account`
    Good: no entry for pages behind a login
""")


def _permanence(status: int) -> str:
    return f"{status}, {'permanent' if status in PERMANENT else 'temporary'}"


def _redirect_message(facts: ReplyFacts, moved: str) -> Message:
    """Make a message about the target of redirects. `moved`: phrase that the target follows."""
    reply = facts.reply
    if reply.reason is not None:
        why = WHY_NOT[Reason(reply.reason)]
        return Message(f"{moved}; the target was not requested: {why}", value=reply.redirects[-1].url)
    to = "" if moved.endswith(",") else " to"
    hidden = ", and that page is noindex" if reply.noindex else ""
    return Message(f"{moved}{to} {quoted(reply.final_url or '')}{hidden}", value=reply.final_url)
