"""Rules on the replies to a whole file: how many of its URLs work, and how many were asked."""

from __future__ import annotations

from collections.abc import Iterator

from sitemapcrawler.estimate import Estimate, estimate
from sitemapcrawler.reply import Kind, Reason
from sitemapcrawler.rules.facts import Drawn, FileFacts
from sitemapcrawler.rules.registry import Message, Needs, Severity, rule

MAX_DIRT = 0.01
"""Share of a sitemap's URLs that may be anything else than 200. Source: Bing, 2012"""
MAX_KINDS = 4
"""Kinds of reply that a message counts."""


def _asked(file: FileFacts | Drawn) -> int:
    """Entries that were asked and answered for."""
    return sum(number for kind, number in file.replies.items() if kind not in list(Reason))


def _share(file: FileFacts | Drawn) -> Estimate:
    """The share of URLs that do not answer with a page, by those that were asked, of those that the sample is of."""
    asked = _asked(file)
    return estimate(asked - file.replies[Kind.OK], asked, asked + file.replies[Reason.SAMPLED_OUT])


@rule(
    "status-dirt-ratio",
    Severity.WARNING,
    "Bing (Duane Forrester, 2012): more than 1 % of dirt, and a sitemap loses its trust",
    (Needs.FILE, Needs.DRAWN),
    also={"Screaming Frog": "Non-Indexable URLs in Sitemap", "Lumar": "Error Pages in Sitemaps"},
)
def status_dirt_ratio(file: FileFacts | Drawn) -> Iterator[Message]:
    """More than 1 % of the URLs of a file that were asked answer with anything else than 200.

    Redirects count, and so does no answer. Where a sample was asked, the lower end of its 95 % interval must be above.

    Why: Bing said that it tolerates 1 % in a sitemap, and trusts those with more less. Each URL has a finding besides.
    Bad: a sitemap of 1,000 URLs, 40 of which redirect
    Good: a sitemap that is made of the pages that there are
    """
    found = _share(file)
    if found.checked and found.low > MAX_DIRT:
        kinds = [(kind, number) for kind, number in file.replies.most_common() if kind not in {Kind.OK, *Reason}]
        told = ", ".join(f"{number:,} {kind}" for kind, number in kinds[:MAX_KINDS])
        more = ", ..." if len(kinds) > MAX_KINDS else ""
        of_all = "" if found.exact else f"; estimated share: {found}"
        text = f"{found.bad:,} of {found.checked:,} URLs that were checked do not answer 200 ({told}{more}){of_all}"
        yield Message(f"{text}; {MAX_DIRT:.0%} is tolerated", value=str(found.bad))


@rule("status-sampled", Severity.INFO, "the argument `sample`", (Needs.FILE, Needs.DRAWN))
def status_sampled(file: FileFacts | Drawn) -> Iterator[Message]:
    """A sample of the file's URLs was asked, not all of them.

    Why: no finding on a URL that was not asked does not mean that it works. The message has the share of URLs that do
    not answer 200, estimated for the whole file, with the interval that holds it in 95 of 100 samples.
    Bad: taking a sample for the whole
    Good: a sample that is large enough, and all URLs where the share is high
    """
    left_out = file.replies[Reason.SAMPLED_OUT]
    if left_out:
        found = _share(file)
        text = f"{found.checked:,} of {found.population:,} URLs were asked, by chance"
        yield Message(f"{text}; not answered with 200: {found}" if found.checked else text, value=str(left_out))
