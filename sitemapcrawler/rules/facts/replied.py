"""What a reply comes to: which one rule tells what is wrong with it, and in which words."""

from __future__ import annotations

import re
from collections.abc import Callable

from sitemapcrawler import urls
from sitemapcrawler.items import UrlRecord
from sitemapcrawler.namespaces.element import Element
from sitemapcrawler.replies import (
    AddressRefused,
    Cut,
    Failed,
    HttpError,
    Kind,
    Ok,
    Redirected,
    RedirectLoop,
    Reply,
    Unchecked,
)
from sitemapcrawler.replies.page import PageFacts
from sitemapcrawler.rules.facts.given import ReplyFacts, split
from sitemapcrawler.rules.facts.languages import is_country, is_language
from sitemapcrawler.urls.display import shown

OWN_RULE = frozenset((401, 403, 404, 410, 429))
"""Statuses with a rule of their own."""
TOO_MANY = 429
"""A status that speaks of us, not of the page. Source: RFC 6585, 4"""
EMPTY = frozenset((204, 205))
"""Statuses of an answer that has no content. Source: RFC 9110, 15.3.5 and 15.3.6"""
FAILURES = {
    Kind.TIMEOUT: "status-timeout",
    Kind.DNS: "status-dns",
    Kind.TLS: "status-tls",
    Kind.TRUNCATED: "status-truncated",
    Kind.TOO_LARGE: "status-truncated",
}
"""Kind of a failure -> its rule; for all others `status-connection`."""
HOME = re.compile(r"/?(?:(?:index|default|home)\.[a-z]{2,5})?", re.IGNORECASE)
HOME_OF_LANGUAGE = re.compile(r"/([a-z]{2})(?:[-_]([a-z]{2}))?/?", re.IGNORECASE)


def fault_of(facts: ReplyFacts) -> str | None:
    """Id of the one rule that tells what is wrong with a reply; None where nothing is, or it is not known."""
    reply = facts.reply
    if isinstance(reply, Ok):
        return "status-soft-404" if facts.soft_404 or reply.status in EMPTY else None
    if isinstance(reply, Redirected):
        return _redirected(facts, reply)
    if isinstance(reply, HttpError):
        return _rule_of(reply.status)
    if isinstance(reply, Failed):
        return FAILURES.get(reply.kind, "status-connection")
    if isinstance(reply, AddressRefused):
        return "security-address-refused" if urls.is_web(reply.final_url) else "security-scheme-refused"
    if isinstance(reply, Unchecked):
        return _by_hops(len(reply.hops)) if reply.hops else None
    return "status-redirect-loop" if isinstance(reply, RedirectLoop) else "status-truncated"


def _rule_of(status: int) -> str:
    """The rule of a status that is no success. One that HTTP does not have counts as 5xx (RFC 9110, 15)."""
    if 300 <= status < 400:
        return "status-redirect"
    if status in OWN_RULE:
        return f"status-{status}"
    return "status-4xx" if 400 <= status < 500 else "status-5xx"


def _redirected(facts: ReplyFacts, reply: Redirected) -> str:
    here, there = urls.authority(facts.record.loc), urls.authority(reply.final_url)
    if here and there and _site(here.host) != _site(there.host):
        return "status-soft-404" if facts.soft_404 else "status-redirect-offsite"
    if is_home(reply.final_url) and not is_home(facts.record.loc):
        return "status-redirect-to-home"
    return "status-soft-404" if facts.soft_404 else _by_hops(len(reply.hops))


def _by_hops(count: int) -> str:
    return "status-redirect" if count == 1 else "status-redirect-chain"


def _site(host: str) -> str:
    return host.removeprefix("www.")


def is_home(url: str) -> bool:
    """True for the home page of a site, or of one of its languages (`/en/`, `/de-at/`)."""
    parts = split(url)
    if parts.query:
        return False
    if HOME.fullmatch(parts.path):
        return True
    found = HOME_OF_LANGUAGE.fullmatch(parts.path)
    return found is not None and is_language(found[1]) and (found[2] is None or is_country(found[2]))


def own_page(facts: ReplyFacts) -> PageFacts | None:
    """What the listed page says of itself; None where it was not read, and where the URL gives none, or another one."""
    return facts.page if isinstance(facts.reply, Ok) and fault_of(facts) is None else None


def way(reply: Reply) -> str:
    """A remark on the redirects in front of what a message tells; empty where there were none."""
    if not reply.hops:
        return ""
    final = getattr(reply, "final_url", None)
    return f", behind {count_of(len(reply.hops), 'redirect')}{f', at {shown(final)}' if final else ''}"


def statuses(reply: Reply) -> str:
    """The statuses of the redirects: `301, 302`."""
    return ", ".join(str(hop.status) for hop in reply.hops)


def count_of(number: int, noun: str) -> str:
    """`1 redirect`, `2 redirects`."""
    return f"{number} {noun}{'' if number == 1 else 's'}"


def trouble(reply: Reply) -> str | None:
    """What is wrong with the reply to a URL that a message names, in words that follow the URL; None where nothing is,
    or where it is not known."""
    if isinstance(reply, HttpError):
        return None if reply.status == TOO_MANY else f"answers {reply.status}{way(reply)}"
    if isinstance(reply, Redirected):
        return f"redirects ({statuses(reply)}) to {shown(reply.final_url)}"
    if isinstance(reply, RedirectLoop):
        return f"redirects without end: {reply.error}"
    if isinstance(reply, Failed):
        return f"gives no answer ({reply.kind}): {reply.error}"
    return f"gives a part of its answer: {reply.error}" if isinstance(reply, Cut) else None


def line_of(record: UrlRecord, means: Callable[[Element], bool]) -> int | None:
    """Line of the first element of an entry, or of what it holds, that is meant; None where the XML is not at hand."""
    element: Element | None = getattr(record, "element", None)
    for child in element.children if element is not None else ():
        for part in (child, *child.children):
            if means(part):
                return part.line
    return None
