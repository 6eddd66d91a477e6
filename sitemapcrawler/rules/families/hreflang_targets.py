"""Rules on the language versions of a page that were asked. Each is told once for an entry, with the first at fault."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

from sitemapcrawler import urls
from sitemapcrawler.namespaces.extensions import Alternate
from sitemapcrawler.replies import Failed, HttpError, Ok, Redirected, RedirectLoop, Reply
from sitemapcrawler.rules.facts.cluster import GOOGLE, page_key
from sitemapcrawler.rules.facts.given import ReplyFacts
from sitemapcrawler.rules.facts.replied import line_of, trouble
from sitemapcrawler.rules.facts.site import SiteFacts
from sitemapcrawler.rules.families import site_replies as site
from sitemapcrawler.rules.registry import Message, Needs, Severity, rule
from sitemapcrawler.urls.display import shown

GUIDELINES = f"{GOOGLE}#all-method-guidelines"
FROG = "Screaming Frog"
NOT_INDEXED = "is not to be indexed (noindex)"
ON = (Needs.REPLY, Needs.SITE)
"""At the end those are told of that were asked after the entry was judged."""
BROKEN = HttpError | Failed | RedirectLoop


class Target(NamedTuple):
    """A language version that was asked, other than the page itself."""

    alternate: Alternate
    reply: Reply


@rule("hreflang-target-status", Severity.ERROR, GUIDELINES, ON, also={FROG: "Non-200 Hreflang URLs"})
def hreflang_target_status(facts: ReplyFacts | SiteFacts) -> Iterator[Message]:
    """A language version that the entry links to does not work: an error, or no answer. Once for an entry.

    Why: search engines ignore the link, and send visitors of that language to another page.
    Bad: `hreflang="de"` with a URL that answers 404
    Good: the URL of the German page, or no link
    """
    if isinstance(facts, SiteFacts):
        yield from site.later(facts, "hreflang-target-status", site.STATUS, site.TROUBLE)
    else:
        yield from _once(facts, lambda reply: trouble(reply) if isinstance(reply, BROKEN) else None)


@rule("hreflang-target-redirect", Severity.WARNING, GUIDELINES, ON, also={FROG: "Non-200 Hreflang URLs"})
def hreflang_target_redirect(facts: ReplyFacts | SiteFacts) -> Iterator[Message]:
    """A language version that the entry links to redirects. Once for an entry.

    Why: the page at the end does not link back to this URL, so the link may not count.
    Bad: `https://example.com/de`, which redirects to `https://example.com/de/`
    Good: `https://example.com/de/`
    """
    if isinstance(facts, SiteFacts):
        to = "o.reply.final_url"
        yield from site.later(
            facts, "hreflang-target-redirect", site.REDIRECT, to, lambda url: f"redirects to {shown(url)}"
        )
    else:
        yield from _once(facts, lambda reply: trouble(reply) if isinstance(reply, Redirected) else None)


@rule("hreflang-target-noindex", Severity.ERROR, GUIDELINES, ON, also={FROG: "Noindex Return Links"})
def hreflang_target_noindex(facts: ReplyFacts | SiteFacts) -> Iterator[Message]:
    """A language version that the entry links to tells all search engines not to index it. Once for an entry.

    Why: a page that is in no index cannot be shown in place of this one.
    Bad: `hreflang="de"` with the URL of a page that has `noindex`
    Good: a page that may be indexed, or no link
    """
    if isinstance(facts, SiteFacts):
        yield from site.later(facts, "hreflang-target-noindex", site.NOINDEX, f"'{NOT_INDEXED}'")
    else:
        yield from _once(facts, _noindex)


@rule("hreflang-target-noncanonical", Severity.WARNING, GUIDELINES, ON, also={FROG: "Non-Canonical Return Links"})
def hreflang_target_noncanonical(facts: ReplyFacts | SiteFacts) -> Iterator[Message]:
    """A language version that the entry links to names another URL as its canonical. Once for an entry.

    Why: search engines index the canonical, whose links may be others.
    Bad: `https://example.com/de/?ref=menu`, whose canonical is `https://example.com/de/`
    Good: `https://example.com/de/`
    """
    if isinstance(facts, SiteFacts):
        canonical = "o.reply.canonical"
        yield from site.later(facts, "hreflang-target-noncanonical", site.NONCANONICAL, canonical, _names)
    else:
        yield from _once(facts, _noncanonical)


def _noindex(reply: Reply) -> str | None:
    return NOT_INDEXED if isinstance(reply, Ok) and reply.noindex else None


def _noncanonical(reply: Reply) -> str | None:
    if not isinstance(reply, Ok) or reply.noindex or reply.canonical is None:
        return None
    if page_key(reply.canonical) == page_key(reply.final_url):
        return None
    return _names(reply.canonical)


def _names(canonical: str) -> str:
    return f"names {shown(canonical)} as canonical"


def _once(facts: ReplyFacts, fault: Callable[[Reply], str | None]) -> Iterator[Message]:
    """One message for the targets with this fault, in words that follow the URL of the first."""
    found = [(target, said) for target in _targets(facts) if (said := fault(target.reply)) is not None]
    if not found:
        return
    (alternate, _), said = found[0]
    href, more = alternate.href, len({target.alternate.href for target, _ in found}) - 1
    rest = f" (and {more} more of its language versions)" if more else ""
    line = line_of(facts.record, lambda element: element.attributes.get("href", "").strip() == href)
    yield Message(f"the {alternate.hreflang or 'alternate'} version {shown(href)} {said}{rest}", line, value=href)


def _targets(facts: ReplyFacts) -> Iterator[Target]:
    """The targets of an entry whose own page works; of another one, that is told."""
    if not facts.targets or isinstance(facts.reply, BROKEN):
        return
    own = page_key(facts.record.loc)
    for alternate in facts.record.alternates:
        url = urls.resolve(facts.record.sitemap, alternate.href or "")
        if url is None or page_key(url) == own:
            continue
        reply = facts.targets.get(alternate.href or "") or facts.targets.get(url)
        if reply is not None:
            yield Target(alternate, reply)
