"""Rules on the effects of robots.txt on crawlers: delays, blocked sites and URLs, and what changed in it."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import islice
from operator import itemgetter

from sitemapcrawler.robots import Agent, RobotsOutcome
from sitemapcrawler.robots.agents import AI, ANSWERS, BY_NAME, EVERYBODY, SEARCH, agent, named
from sitemapcrawler.robots.agents import GOOGLE as GOOGLE_OPERATOR
from sitemapcrawler.robots.policy import denies_everything, timing
from sitemapcrawler.rules.facts.given import RobotsFacts, VerdictFacts
from sitemapcrawler.rules.facts.robots_changes import effects_in_words, sitemaps_in_words
from sitemapcrawler.rules.facts.robots_notes import GOOGLE, RFC, crawler_names, is_parsed, is_text
from sitemapcrawler.rules.facts.site import SiteFacts
from sitemapcrawler.rules.registry import ERROR, INFO, WARNING, Message, Of, Per, Severity, SiteMessage, rule
from sitemapcrawler.urls.display import counted, quoted

MAX_CRAWL_DAYS = 30
"""Maximum number of days to crawl all listed URLs once. Pages crawled less than once a month are out of date."""
DAY_S = 24 * 3600
MINUTE_S = 60
HOUR_S = 3600
DELAY = "crawl-delay"
DELAYED = ("Microsoft", "Anthropic")
"""Operators whose crawlers obey Crawl-delay. Sources:
https://blogs.bing.com/webmaster/2012/05/03/to-crawl-or-not-to-crawl-that-is-bingbots-question/ and
https://support.claude.com/en/articles/8896518"""
UNDELAYED = (GOOGLE_OPERATOR, "Yandex", "Amazon")
"""Operators whose crawlers ignore Crawl-delay. Sources: `GOOGLE`,
https://yandex.com/support/webmaster/en/robot-workings/crawl-delay and https://developer.amazon.com/amazonbot"""


@rule("robots-crawl-delay", INFO, GOOGLE, Of.ROBOTS, per=Per.FILE("ask for a delay"))
def robots_crawl_delay(facts: RobotsFacts) -> Iterator[Message]:
    """A group asks for a delay between requests. A warning if a crawler that obeys it needs more than 30 days to read
    all listed URLs. If several groups do, the message gives the longest delay that a crawler obeys.

    Why: The crawlers of Bing and Anthropic obey, and fetch one page in so many seconds. Those of Google, Yandex and
    Amazon ignore the line. A value that is not a number of seconds is a warning too, since crawlers ignore it.
    Fix: Remove the delay, or lower it to a second or two.
    Bad: `Crawl-delay: 60` for 100,000 pages: 69 days
    Good: `Crawl-delay: 1`, or none
    """
    blocks = {id(block): block for group in facts.policy.groups.values() for block in group.blocks}
    bound = _bound(facts)
    found: list[tuple[float, Message]] = []
    for block in blocks.values() if is_text(facts) else ():
        for name, value, line, above in block.timing:
            if name == DELAY and above:
                tokens = dict.fromkeys(token for token, _ in block.agents[:above])
                found += _delay(facts, value, line, list(tokens), line in bound)
    yield from (message for _, message in sorted(found, key=itemgetter(0), reverse=True))


def _bound(facts: RobotsFacts) -> set[int]:
    """Lines of the delays that checked crawlers obey."""
    obeying = (crawler for crawler in facts.agents if crawler.operator in DELAYED)
    groups = {group.token: group for crawler in obeying if (group := facts.policy.group_of(crawler)) is not None}
    return {line for group in groups.values() for _, _, line in group.timing}


def _ignores(token: str) -> bool:
    """True for the product token of a crawler that ignores Crawl-delay."""
    return BY_NAME[token].operator in UNDELAYED if token in BY_NAME else "google" in token or token.startswith("yandex")


def _delay(
    facts: RobotsFacts, value: str, line: int, tokens: list[str], bound: bool
) -> Iterator[tuple[float, Message]]:
    """Yield the seconds that crawlers wait, 0 if they ignore the line, and the message on it."""
    delay = timing([(DELAY, value, line)]).crawl_delay
    if delay is None or not math.isfinite(delay) or delay < 0:
        text = f"Crawl-delay: {quoted(value)} is not a number of seconds, so crawlers ignore it"
        yield 0, Message(text, line, value=value, severity=WARNING)
    elif delay:
        days = delay * facts.record.urls / DAY_S
        severe = WARNING if bound and days > MAX_CRAWL_DAYS else None
        obeying = [token for token in tokens if not _ignores(token)]
        if not obeying:
            ignore = "ignores" if len(tokens) == 1 else "ignore"
            text = f"Crawl-delay: {delay:g} has no effect: {crawler_names(tokens)} {ignore} it"
            yield 0, Message(text, line, value=value)
            return
        only = ", for crawlers that obey" if EVERYBODY in obeying else ""
        text = f"{crawler_names(obeying)}: {delay:g} s between requests, {_duration(facts.record.urls, delay)}{only}"
        yield delay, Message(text, line, value=value, severity=severe)


def _duration(urls: int, delay: float) -> str:
    if not urls:
        return f"so at most {counted(round(DAY_S / delay), 'page')} a day"
    seconds = urls * delay
    units = ((DAY_S, "days"), (HOUR_S, "hours"), (MINUTE_S, "minutes"), (1, "seconds"))
    time = next((f"{seconds / size:,.1f} {unit}" for size, unit in units if seconds >= size), f"{seconds:.1f} seconds")
    return f"so that {'the listed URL takes' if urls == 1 else f'all {urls:,} listed URLs take'} {time}"


@rule("robots-group-denies-all", INFO, f"{RFC}#section-2.2.2", Of.ROBOTS)
def robots_group_denies_all(facts: RobotsFacts) -> Iterator[Message]:
    """A group disallows everything. A warning if no checked crawler may fetch anything, and no other finding says so.

    Why: It is right for unwanted crawlers, and a disaster if it was copied from a test system. Listed URLs that are
    blocked have findings of their own.
    Fix: Remove `Disallow: /` from the groups of crawlers that may visit the site.
    Bad: `User-agent: *`, `Disallow: /` on a public site
    Good: `User-agent: CCBot`, `Disallow: /`, if intended
    """
    denying = facts.policy.denying_groups() if is_text(facts) else []
    everybody = [group for group in denying if group.token == EVERYBODY]
    others = [group for group in denying if group.token != EVERYBODY]
    severe = WARNING if denying and _is_closed(facts) else None
    for group in everybody:
        text = "everything is disallowed for crawlers without a group of their own"
        yield Message(text, group.lines[0], value=EVERYBODY, severity=severe)
    if others:
        tokens = [group.token for group in others]
        severe = None if everybody else severe
        text = f"everything is disallowed for {crawler_names(tokens)}"
        yield Message(text, others[0].lines[0], value=", ".join(tokens), severity=severe)


def _is_closed(facts: RobotsFacts) -> bool:
    """True if no crawler may fetch anything, and no finding on a listed URL or sitemap reports that."""
    followed = [facts.policy.group_of(crawler) for crawler in facts.agents or (agent(EVERYBODY),)]
    if facts.record.urls or facts.record.sitemaps:
        return False
    return all(group is not None and denies_everything(group, {}) for group in followed)


@rule("robots-parsers-disagree", INFO, "https://github.com/scrapy/protego", Of.ROBOTS)
def robots_parsers_disagree(facts: RobotsFacts) -> Iterator[Message]:
    """Search engines and Scrapy read a rule differently. At least one listed URL depends on it. Compares the first 200
    listed URLs of a host, and the first 200 that are disallowed.

    Why: Search engines follow RFC 9309; Scrapy crawlers follow protego. If the two differ, the rule blocks a page for
    some crawlers and not for others, usually by accident.
    Fix: Rewrite the rule with plain paths, `*`, and `$` only at the end.
    Bad: `Disallow: /page$` with `https://example.com/page$1`, a space in a `User-agent` value
    Good: patterns that both read alike: plain paths, `*`, and `$` at the end
    """
    for one in facts.disagreements if is_parsed(facts) else ():
        line = f"{quoted(one.rule.text)}: " if one.rule is not None else ""
        rfc, protego = ("allows", "disallows") if one.allowed else ("disallows", "allows")
        scrapy = "skips" if one.allowed else "requests"
        more = "" if one.is_alone else ", and other listed URLs"
        text = f"{line}RFC 9309 {rfc} {quoted(one.url)} for {one.agent}, protego {protego} it: Scrapy {scrapy} it{more}"
        yield Message(text, None if one.rule is None else one.rule.line, value=one.url)


@rule("robots-nobody-allowed", INFO, f"{RFC}#section-2.2.2", Of.ROBOTS)
def robots_nobody_allowed(facts: RobotsFacts) -> Iterator[Message]:
    """Some listed URLs are blocked for all checked crawlers. All checked crawlers are AI crawlers; with others, each
    URL is a finding of `url-blocked-by-robots`.

    Why: No crawler can use an entry that is blocked for all of them: either the rule or the entry is a mistake.
    Fix: Remove the URLs from the sitemap, or allow them in robots.txt.
    Bad: `Disallow: /search` for `*`, and `https://example.com/search?q=shoes` in the sitemap
    Good: a sitemap of the pages that people should find
    """
    of_ai = all(crawler.group == AI for crawler in facts.agents)
    if facts.policy.outcome is RobotsOutcome.PARSED and facts.nobody and len(facts.agents) > 1 and of_ai:
        crawlers = f"all {len(facts.agents)} checked crawlers" if len(facts.agents) > 1 else "the checked crawler"
        listed = counted(facts.record.urls, "listed URL")
        yield Message(f"{facts.nobody:,} of {listed} {'is' if facts.nobody == 1 else 'are'} blocked for {crawlers}")


COUNTED = {severity: Message("", severity=severity) for severity in Severity}
"""Placeholders for messages that are only counted."""

MAX_GROUPS = 4
"""Groups of robots.txt that a message quotes; `blocked_for` names every crawler."""


@rule(
    "url-blocked-by-robots",
    ERROR,
    f"{RFC}#section-2.2.2",
    Of.VERDICT,
    also={
        "Search Console": "URLs blocked by robots.txt",
        "Sitebulb": "Disallowed URL in XML Sitemaps",
        "Lumar": "Disallowed/Malformed URLs in Sitemaps",
    },
)
def url_blocked_by_robots(facts: VerdictFacts) -> Iterator[Message]:
    """Listed URL is blocked by robots.txt. It is blocked for a search engine, or for all crawlers. A warning if only
    other crawlers are blocked. URLs that `loc-offsite` reports do not count.

    Why: The sitemap asks crawlers to read the page, and robots.txt forbids it. They do not read it; if links lead to
    it, results may show its URL without its text. The message names the crawlers, the line, and the group they follow
    if they have none of their own.
    Fix: Allow the URLs in robots.txt. If no search engine is to read them, remove them from the sitemap instead.
    Bad: `Disallow: /search` with `https://example.com/search?q=shoes` in the sitemap
    Good: only one of the two
    """
    crawlers, severity = _others_than_ai(tuple(facts.record.blocked_for or ()))
    if crawlers and _is_judged(facts):
        yield COUNTED[severity] if facts.brief else _denial(facts, crawlers, severity)


def _is_judged(facts: VerdictFacts) -> bool:
    """False for a host whose URLs must not be listed here at all, whatever its robots.txt says."""
    return facts.policy.outcome is RobotsOutcome.PARSED and "loc-offsite" not in facts.record.issues


@rule(
    "url-blocked-for-ai-answers",
    WARNING,
    f"{RFC}#section-2.2.2",
    Of.VERDICT,
    per=Per.SITE("are blocked for crawlers that AI assistants need"),
)
def url_blocked_for_ai_answers(facts: VerdictFacts) -> Iterator[Message]:
    """Listed URL is blocked for crawlers that AI assistants need. These are the crawlers of the assistants' search
    engines, and those that fetch a page for a user. Other search engines may fetch it; otherwise see
    `url-blocked-by-robots`.

    Why: ChatGPT, Claude, Perplexity and others neither cite nor recommend pages that they may not read. Sites that only
    want to keep pages out of training often block these crawlers too. ChatGPT-User, Perplexity-User,
    Meta-ExternalFetcher, Google-Agent and Google-NotebookLM may come anyway.
    Fix: Check that this is intended; otherwise allow the crawlers in a group of their own.
    Bad: `User-agent: *`, `Disallow: /shop/`, although assistants should recommend the products
    Good: `User-agent: OAI-SearchBot`, `Allow: /`, and `User-agent: GPTBot`, `Disallow: /`
    """
    yield from _denial_of_ai(facts, WARNING, answers=True)


@rule(
    "url-blocked-for-ai-agent",
    INFO,
    f"{RFC}#section-2.2.2",
    Of.VERDICT,
    per=Per.SITE("are blocked for crawlers that train AI models"),
)
def url_blocked_for_ai_agent(facts: VerdictFacts) -> Iterator[Message]:
    """Listed URL is blocked for crawlers that train AI models. Search engines may fetch it; otherwise see
    `url-blocked-by-robots`.

    Why: It is the owner's choice. Models then know less about the site. Other crawlers look up pages for an answer, see
    `url-blocked-for-ai-answers`.
    Fix: Check that this is intended; otherwise allow the crawler in a group of its own.
    Bad: `User-agent: *`, `Disallow: /docs/`, although models should know the documentation
    Good: a group for each wanted or unwanted crawler
    """
    yield from _denial_of_ai(facts, INFO, answers=False)


def _denial_of_ai(facts: VerdictFacts, severity: Severity, answers: bool) -> Iterator[Message]:
    """Report the denied crawlers of AI: those that assistants answer by, or the others."""
    names = tuple(facts.record.blocked_for or ())
    crawlers = () if _others_than_ai(names)[0] else _crawlers_of_ai(names, answers)
    if crawlers and _is_judged(facts):
        yield COUNTED[severity] if facts.brief else _denial(facts, crawlers, severity)


@lru_cache(maxsize=1024)
def _others_than_ai(names: tuple[str, ...]) -> tuple[tuple[Agent, ...], Severity]:
    """Return the crawlers that are not AI crawlers, and the severity of blocking them."""
    crawlers = tuple(known for known in map(agent, names) if known.group != AI)
    search = any(known.group == SEARCH or known.name == EVERYBODY for known in crawlers)
    return crawlers, ERROR if search else WARNING


@lru_cache(maxsize=1024)
def _crawlers_of_ai(names: tuple[str, ...], answers: bool) -> tuple[Agent, ...]:
    return tuple(known for known in map(agent, names) if known.group == AI and (known.purpose in ANSWERS) is answers)


def _denial(facts: VerdictFacts, crawlers: Sequence[Agent], severity: Severity) -> Message:
    """Make a message that names the blocked crawlers, the line that blocks them and its group."""
    followed: dict[tuple[str, bool], list[Agent]] = {}
    for crawler in crawlers:
        group = facts.policy.group_of(crawler)
        token = group.token if group is not None else ""
        followed.setdefault((token, token != crawler.name.lower()), []).append(crawler)
    told, value = [], None
    for (token, inherited), members in islice(followed.items(), MAX_GROUPS):
        clause = facts.policy.verdict(facts.record.loc, members[0]).rule
        names = crawler_names([crawler.name for crawler in members])
        if clause is not None:
            text = clause.text
            whose = f" in the group {token}, since no group names {_them(members)}" if inherited else ""
            told.append(f"{names} by line {clause.line}, {quoted(text)}{whose}")
            value = value or f"{text} ({token})"
    left = sum(len(members) for members in islice(followed.values(), MAX_GROUPS, None))
    told += [f"{left} more"] if left else []
    return Message(f"robots.txt blocks it for {'; '.join(told)}", value=value, severity=severity)


def _them(members: Sequence[Agent]) -> str:
    return "it" if len(members) == 1 else "them"


ENGINES = frozenset(agent.name for agent in named(SEARCH))
LARGEST = frozenset(("Googlebot", "Bingbot"))
"""Crawlers whose absence is never meant: those of the engines that most others and assistants build on."""


@rule("robots-rules-changed", INFO, f"{RFC}#section-2.2.2", Of.REVISIT)
def robots_rules_changed(site: SiteFacts) -> Iterator[SiteMessage]:
    """The rules of robots.txt changed. Since the previous crawl. A warning if listed URLs are newly blocked for a
    search engine, an error if Googlebot or Bingbot may no longer fetch anything.

    Changes of comments, order, whitespace, and how groups and escapes are written do not count.

    Why: A line copied from a test system can block a site for weeks before its pages drop out of the index.
    Fix: Check that the change is intended. Remove rules that block pages that people should find.
    Bad: `Disallow: /shop/` since yesterday, and 340 listed URLs below it
    Good: a rule that blocks what no sitemap lists
    """
    for change in site.robots_changes:
        if change.rules_added or change.rules_removed:
            severity = WARNING if ENGINES & change.blocked.keys() else None
            closed = [name for name in change.closed if name in LARGEST]
            text = (f"{' and '.join(closed)} may no longer fetch anything; " if closed else "") + effects_in_words(
                change
            )
            yield SiteMessage(text, severity=ERROR if closed else severity, sitemap=change.robots)


@rule("robots-sitemaps-changed", INFO, GOOGLE, Of.REVISIT)
def robots_sitemaps_changed(site: SiteFacts) -> Iterator[SiteMessage]:
    """The sitemaps that robots.txt names changed. Since the previous crawl.

    Why: Search engines read the sitemaps that robots.txt names. They do not read one that was removed by mistake.
    Fix: Check that the removed sitemaps are no longer needed; otherwise name them again.
    Bad: `Sitemap: https://example.com/news.xml` missing since yesterday
    Good: the same sitemaps, and new ones
    """
    for change in site.robots_changes:
        if text := sitemaps_in_words(change):
            yield SiteMessage(text, sitemap=change.robots)
