"""Classification of replies, and the share of bad URLs estimated from a sample.

The interval is exact for sampling without replacement from a finite population (hypergeometric, equal tails): it
contains the true share in at least 95 of 100 samples, even for shares near 0 %. Source: J. P. Buonaccorsi, A Note on
Confidence Intervals for Proportions in Finite Populations, The American Statistician 41 (1987).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from http import HTTPStatus
from math import ceil, exp, floor, lgamma
from urllib.parse import unquote

from sitemapcrawler import urls
from sitemapcrawler.items import Share, UrlRecord
from sitemapcrawler.namespaces.element import Element
from sitemapcrawler.replies import REACHED, ReplyKind, ReplyRecord, is_unanswered
from sitemapcrawler.replies.kinds import CUT
from sitemapcrawler.replies.page import PageFacts
from sitemapcrawler.replies.soft404 import EMPTY
from sitemapcrawler.rules.facts.given import ReplyFacts, split
from sitemapcrawler.rules.facts.languages import is_country, is_language
from sitemapcrawler.urls.display import counted, quoted
from sitemapcrawler.words import read_words

OWN_RULE = frozenset((401, 402, 403, 404, 410, 429))
"""Statuses with their own rule."""
FAILURES = {
    ReplyKind.TIMEOUT: "status-timeout",
    ReplyKind.DNS: "status-dns",
    ReplyKind.TLS: "status-tls",
    ReplyKind.REFUSED: "status-connection",
    ReplyKind.RESET: "status-connection",
    ReplyKind.TRUNCATED: "status-truncated",
    ReplyKind.TOO_LARGE: "status-truncated",
    ReplyKind.REDIRECT_LOOP: "status-redirect-loop",
}
"""{kind of reply: rule}"""
TO_HOME = "status-redirect-to-home"
HOME = re.compile(
    r"/?(?:([a-z]{2})(?:[-_]([a-z]{2}))?(?:/|\Z))?(?:(?:index|default|home)\.[a-z]{2,5}|home/?)?", re.IGNORECASE
)
"""Path of a home page, perhaps in the folder of a language and a country."""


def fault_of(facts: ReplyFacts) -> str | None:
    """Id of the one rule that reports a reply; None if it is fine or unknown."""
    reply = facts.reply
    if reply.kind == ReplyKind.OK:
        return "status-soft-404" if reply.soft_404 else None
    if reply.kind == ReplyKind.REDIRECTED:
        return _redirected(facts.record, reply)
    if reply.kind == ReplyKind.HTTP_ERROR:
        return _rule_of(reply.final_status or 0)
    if reply.kind == ReplyKind.ADDRESS_REFUSED:
        return "security-address-refused" if urls.is_web(reply.final_url or "") else "security-scheme-refused"
    if reply.kind == ReplyKind.UNCHECKED:
        return _by_hops(len(reply.redirects)) if reply.redirects else None
    return FAILURES[ReplyKind(reply.kind)]


def _rule_of(status: int) -> str:
    """Rule for a status that is not a success. Undefined status codes count as 5xx (RFC 9110, 15)."""
    if 300 <= status < 400:
        return "status-redirect"
    if status in OWN_RULE:
        return f"status-{status}"
    return "status-4xx" if 400 <= status < 500 else "status-5xx"


def _redirected(record: UrlRecord, reply: ReplyRecord) -> str:
    loc, final = record.loc, reply.final_url or ""
    if leads_to_login(loc, final):
        return "status-redirect-to-login"
    hosts = {place.bare_host for url in (loc, record.sitemap) if (place := urls.authority(url)) is not None}
    there = urls.authority(final)
    if hosts and there is not None and there.bare_host not in hosts:
        return "status-soft-404" if reply.soft_404 else "status-redirect-offsite"
    rule = redirect_rule(loc, reply)
    return "status-soft-404" if reply.soft_404 and rule != TO_HOME else rule


def redirect_rule(loc: str, reply: ReplyRecord) -> str:
    """Id of the rule on a listed URL that redirects to another page of its site."""
    is_end_home = reply.final_url is not None and is_home(reply.final_url)
    return TO_HOME if is_end_home and not is_home(loc) else _by_hops(len(reply.redirects))


def _by_hops(count: int) -> str:
    return "status-redirect" if count == 1 else "status-redirect-chain"


def home_of(url: str) -> str | None:
    """Return the home page that a URL leads to, in one spelling: that of a site, or of one of its languages (`/en/`,
    `/de-at/index.html`, `/en/home`). None for any other page."""
    parts = split(url)
    found = None if parts.query else HOME.fullmatch(parts.path)
    if found is None:
        return None
    language, country = found.groups()
    if (language and not is_language(language)) or (country and not is_country(country)):
        return None
    return "/".join((urls.site_of(url), *filter(None, (language, country)))).lower()


def is_home(url: str) -> bool:
    return home_of(url) is not None


def own_page(facts: ReplyFacts) -> PageFacts | None:
    """Facts from the listed page; None if it was not read, or the URL returns an error, another page or a shell."""
    reply = facts.reply
    return facts.page if reply.kind == ReplyKind.OK and fault_of(facts) is None and not reply.shell else None


def way(reply: ReplyRecord) -> str:
    """Note on the redirects before the final reply; empty without redirects."""
    if not reply.redirects:
        return ""
    at = f", at {quoted(reply.final_url)}" if reply.final_url else ""
    return f", after {counted(len(reply.redirects), 'redirect')}{at}"


def statuses(reply: ReplyRecord) -> str:
    """List the statuses of the redirects: `301, 302`."""
    return ", ".join(str(hop.status) for hop in reply.redirects)


def trouble(reply: ReplyRecord) -> str | None:
    """Describe a bad reply as a phrase that follows the URL; None if the reply is fine or unknown."""
    if reply.kind == ReplyKind.HTTP_ERROR and reply.refresh is not None:
        return f"redirects ({reply.final_status}) to {quoted(reply.refresh)}"
    if reply.kind == ReplyKind.HTTP_ERROR:
        return (
            None if reply.final_status == HTTPStatus.TOO_MANY_REQUESTS else f"answers {reply.final_status}{way(reply)}"
        )
    if reply.kind in REACHED and reply.final_status in EMPTY:
        return f"answers {reply.final_status}{way(reply)}, which has no content"
    if reply.kind == ReplyKind.REDIRECTED:
        return f"redirects ({statuses(reply)}) to {quoted(reply.final_url or '')}"
    if reply.kind == ReplyKind.REDIRECT_LOOP:
        return f"redirects in a loop: {reply.error}"
    if is_unanswered(reply):
        return f"does not answer ({reply.kind}): {reply.error}"
    return f"is truncated: {reply.error}" if reply.kind in CUT else None


def line_of(element: Element | None, means: Callable[[Element], bool]) -> int | None:
    """Line of the first child or grandchild of an entry for which `means` is true; None if the XML is not available."""
    for child in element.children if element is not None else ():
        for part in (child, *child.children):
            if means(part):
                return part.line
    return None


CONFIDENCE = 0.95

TAIL = (1 - CONFIDENCE) / 2
"""Maximum probability that the true value is beyond one end of the interval."""

NEGLIGIBLE = 1e-12
"""Share of a sum below which its remaining terms are ignored."""


class Estimate(Share):
    """Share of bad URLs among all, estimated from those checked."""

    __slots__ = ()

    @property
    def exact(self) -> bool:
        """True if all URLs were checked, so nothing is estimated."""
        return self.checked == self.population

    def __str__(self) -> str:
        """Format as `2.0 % of 9,000 (1.1 to 3.3 %, from a sample of 600)`."""
        if not self.checked:
            return f"unknown: none of {self.population:,} was checked"
        if self.exact:
            return f"{_percent(self.share)} % of {self.population:,}"
        interval = f"{_percent(self.low)} to {_percent(self.high)} %"
        return f"{_percent(self.share)} % of {self.population:,} ({interval}, from a sample of {self.checked:,})"


def estimate(bad: int, checked: int, population: int) -> Estimate:
    """Estimate the share of bad URLs in a population from the number of bad ones among those checked.

    Those checked must be a random sample of the population; its size may be random too. A `population` smaller than
    `checked` (it may be an estimate) counts as fully checked. Raises ValueError unless `bad` is from 0 to `checked`.
    """
    if not 0 <= bad <= checked:
        raise ValueError(f"{bad} bad ones of {checked}")
    population = max(population, checked)
    if not checked:
        return Estimate(population, 0, 0, 0.0, 0.0, 1.0)
    low = population - most(checked - bad, checked, population)
    high = most(bad, checked, population)
    return Estimate(population, checked, bad, bad / checked, low / population, high / population)


@dataclass(frozen=True, slots=True)
class Stratum:
    """A part of a population, and what is known of those in the sample."""

    bad: int
    checked: int
    population: Fraction | int
    """Distinct URLs, at least in proportion to other strata."""


def stratified(strata: Iterable[Stratum], population: int) -> Estimate:
    """Estimate the share of bad URLs in a population of strata that were not sampled alike.

    The share is the mean of those of the strata, weighed by their populations. The interval is that of a random sample
    of the effective size: how many URLs would tell as much without weights. Source: E. L. Korn and B. I. Graubard,
    Confidence Intervals for Proportions with Small Expected Number of Positive Counts Estimated from Survey Data,
    Survey Methodology 24, 1998.
    """
    parts = [one for one in strata if one.checked]
    bad, checked = sum(one.bad for one in parts), sum(one.checked for one in parts)
    whole = estimate(bad, checked, population)
    if len(parts) < 2 or whole.exact:
        return whole
    weights = sum(Fraction(one.population) for one in parts)
    share = sum(Fraction(one.population) * one.bad / one.checked for one in parts) / weights
    effective = int(weights**2 / sum(Fraction(one.population) ** 2 / one.checked for one in parts))
    low = estimate(floor(share * effective), effective, population).low
    high = estimate(ceil(share * effective), effective, population).high
    return Estimate(whole.population, checked, bad, float(share), low, high)


@lru_cache(maxsize=4096)
def most(found: int, drawn: int, population: int) -> int:
    """Return the largest number of marked items in a population that is consistent with `found` of `drawn`.

    Consistent means that `found` or fewer are drawn with a probability above `TAIL`.
    """
    low, high = found, population - (drawn - found)
    while low < high:
        middle = (low + high + 1) // 2
        if _is_likely(found, drawn, middle, population):
            low = middle
        else:
            high = middle - 1
    return low


def _is_likely(found: int, drawn: int, marked: int, population: int) -> bool:
    """True if a draw contains `found` or fewer marked items with a probability above `TAIL`."""
    if found * population >= drawn * marked:
        return True  # not below the expected number
    rest = population - marked
    term = exp(_log_choose(marked, found) + _log_choose(rest, drawn - found) - _log_choose(population, drawn))
    total = term
    # Below the expected number, each term is smaller than the one before; an impossible one is 0.
    for x in range(found, 0, -1):
        term *= x * (rest - drawn + x) / ((marked - x + 1) * (drawn - x + 1))
        total += term
        if total > TAIL or term < total * NEGLIGIBLE:
            break
    return total > TAIL


def _log_choose(whole: int, part: int) -> float:
    return lgamma(whole + 1) - lgamma(part + 1) - lgamma(whole - part + 1)


def _percent(share: float) -> str:
    """Format with one decimal, or two if that would round to 0.0 or 100.0."""
    text = f"{100 * share:.1f}"
    return f"{100 * share:.2f}" if text in ("0.0", "100.0") and 0 < share < 1 else text


KINDS = {
    name: kind
    for kind, names in read_words("sitemapcrawler.rules.facts", "utility_pages")["utility_pages"].items()
    for name in names.split()
}
"""{name of a path segment: kind of page}"""
PAGE_EXTENSIONS = ("html", "htm", "php", "aspx", "asp", "jsp", "xhtml", "shtml", "cfm", "do", "action")
_SIGN_ON = re.compile(
    r"/(?:sso|saml2?|shibboleth\.sso|wayf|adfs|oauth2?|openid-connect)(?:/|\Z)|/authorize\Z", re.IGNORECASE
)
"""Paths of single sign-on, which have a query: SAML and Shibboleth, Active Directory, OAuth and OpenID Connect. Without
one, they are pages about it."""
_FIRST_STEP = re.compile(r"/(?:index|default|start|identifier|password)(?:\.[a-z]{2,5})?\Z")
"""The page at which a login in a folder of its own begins: `/login/index.php`."""


def kind_of(name: str) -> str | None:
    """Return the kind of page that the last segment of a path names; None for a page with content."""
    stem, _, extension = name.partition(".")
    return KINDS.get(stem) if not extension or extension in PAGE_EXTENSIONS else None


def leads_to_login(url: str, final: str) -> bool:
    """True for a redirect to a login page, judging by its URL, unless it starts at one."""
    signs_on = split(final).query != "" and _SIGN_ON.search(_path(final)) is not None
    return (_is_login(final) or signs_on) and not _is_login(url)


def _path(url: str) -> str:
    return unquote(split(url).path).rstrip("/")


def _is_login(url: str) -> bool:
    """True if the last segment of the path names a login page, apart from the steps in its folder."""
    return kind_of(_FIRST_STEP.sub("", _path(url).lower()).rpartition("/")[2]) == "a login page"
