"""Rules on what this program does not ask for: addresses that are not public, and schemes that are not of the web."""

from __future__ import annotations

from collections.abc import Iterator

from sitemapcrawler import urls
from sitemapcrawler.replies import AddressRefused
from sitemapcrawler.rules.facts.given import AssetFacts, FileFacts, ReplyFacts, RobotsFacts
from sitemapcrawler.rules.facts.replied import count_of
from sitemapcrawler.rules.registry import Message, Needs, Severity, rule
from sitemapcrawler.urls.display import shown

ASKED = (Needs.FILE, Needs.REPLY, Needs.ASSET)
NOT_PUBLIC = "which is not public"
"""What a record's error says of such an address."""
SCHEME_REFUSED = ("a file is read only where", "nsupported URL scheme")
"""What a record's error says of a URL that is none of http and https."""


@rule(
    "security-address-refused", Severity.WARNING, "the guard of this program, docs/settings.md", (*ASKED, Needs.ROBOTS)
)
def security_address_refused(facts: FileFacts | ReplyFacts | AssetFacts | RobotsFacts) -> Iterator[Message]:
    """The address of a host is not public, so it was not asked: for a sitemap, a page, an image or a video, or for a
    robots.txt.

    Why: a sitemap is written by a stranger, who must not reach into the network that the crawler runs in.
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
            yield Message(f"robots.txt was not asked for: {reason}", value=facts.record.robots)
    elif isinstance(facts.reply, AddressRefused) and urls.is_web(facts.reply.final_url):
        yield _refused(facts.reply)


@rule("security-scheme-refused", Severity.WARNING, "https://www.sitemaps.org/protocol.html#locdef", ASKED)
def security_scheme_refused(facts: FileFacts | ReplyFacts | AssetFacts) -> Iterator[Message]:
    """A URL, or the redirect of one, is none of http or https, so it was not asked.

    Why: a listed `file:` URL would read from the crawler's own disk.
    Bad: `Sitemap: file:///etc/passwd`; a page that redirects to `ftp://example.com/`
    Good: `Sitemap: https://example.com/sitemap.xml`
    """
    if isinstance(facts, FileFacts):
        error = facts.record.error or ""
        if any(words in error for words in SCHEME_REFUSED):
            yield Message(f"not asked: {error}", value=facts.url)
    elif isinstance(facts.reply, AddressRefused) and not urls.is_web(facts.reply.final_url) and not _is_told(facts):
        yield _refused(facts.reply)


def _refused(reply: AddressRefused) -> Message:
    behind = f", behind {count_of(len(reply.hops), 'redirect')}" if reply.hops else ""
    return Message(f"{shown(reply.final_url)} was not asked{behind}: {reply.error}", value=reply.final_url)


def _is_told(facts: ReplyFacts | AssetFacts) -> bool:
    """True where rules on the URL as it is listed have told its fault."""
    return not facts.reply.hops and any(issue.startswith(("loc-", "image-", "video-")) for issue in facts.record.issues)
