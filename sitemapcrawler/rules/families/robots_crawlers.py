"""Rules on what a whole robots.txt means for crawlers: how long they need, and whether anybody may come at all."""

from __future__ import annotations

import math
from collections.abc import Iterator

from sitemapcrawler.robots import AGENTS, Outcome
from sitemapcrawler.robots.agents import EVERYBODY, agent
from sitemapcrawler.robots.agents import GOOGLE as GOOGLE_OPERATOR
from sitemapcrawler.robots.policy import denies_everything, timing
from sitemapcrawler.rules.facts.given import RobotsFacts
from sitemapcrawler.rules.families.robots import GOOGLE, RFC, is_parsed, is_text
from sitemapcrawler.rules.families.robots_groups import named
from sitemapcrawler.rules.registry import Message, Needs, Severity, rule
from sitemapcrawler.urls.display import shown
from sitemapcrawler.words import counted

MAX_CRAWL_DAYS = 30
"""Days that reading all listed URLs once may take: pages that are seen less than once a month are out of date."""
DAY_S = 24 * 3600
MINUTE_S = 60
HOUR_S = 3600
DELAY = "crawl-delay"
DELAYED = ("Microsoft", "Anthropic")
"""Operators who say that their crawlers obey Crawl-delay. Sources:
https://blogs.bing.com/webmaster/2012/05/03/to-crawl-or-not-to-crawl-that-is-bingbots-question/ and
https://support.claude.com/en/articles/8896518"""
UNDELAYED = (GOOGLE_OPERATOR, "Yandex", "Amazon")
"""Operators who say that their crawlers ignore it. Sources: `GOOGLE`,
https://yandex.com/support/webmaster/en/robot-workings/crawl-delay and https://developer.amazon.com/amazonbot"""

OPERATORS = {crawler.name.lower(): crawler.operator for crawler in AGENTS}


@rule("robots-crawl-delay", Severity.INFO, GOOGLE, Needs.ROBOTS)
def robots_crawl_delay(facts: RobotsFacts) -> Iterator[Message]:
    """A group asks for a delay between requests. A warning where a crawler that obeys needs more than 30 days to read
    all listed URLs.

    Why: crawlers of Bing and Anthropic obey, and read one page in so many seconds. Crawlers of Google, Yandex and
    Amazon ignore the line. A value that is no number of seconds is a warning too: it is ignored.
    Bad: `Crawl-delay: 60` for 100,000 pages: 69 days
    Good: `Crawl-delay: 1`, or none
    """
    blocks = {id(block): block for group in facts.policy.groups.values() for block in group.blocks}
    bound = _bound(facts)
    for block in blocks.values() if is_text(facts) else ():
        for name, value, line, above in block.timing:
            if name == DELAY and above:
                tokens = dict.fromkeys(token for token, _ in block.agents[:above])
                yield from _delay(facts, value, line, list(tokens), line in bound)


def _bound(facts: RobotsFacts) -> set[int]:
    """Lines of the delays that judged crawlers obey."""
    obeying = (crawler for crawler in facts.agents if crawler.operator in DELAYED)
    groups = {group.token: group for crawler in obeying if (group := facts.policy.group_of(crawler)) is not None}
    return {line for group in groups.values() for _, _, line in group.timing}


def _ignores(token: str) -> bool:
    """True for the product token of a crawler that ignores Crawl-delay."""
    return OPERATORS[token] in UNDELAYED if token in OPERATORS else "google" in token or token.startswith("yandex")


def _delay(facts: RobotsFacts, value: str, line: int, tokens: list[str], bound: bool) -> Iterator[Message]:
    delay = timing([(DELAY, value, line)]).crawl_delay
    if delay is None or not math.isfinite(delay) or delay < 0:
        text = f"Crawl-delay: {shown(value)} is no number of seconds, and is ignored"
        yield Message(text, line, value=value, severity=Severity.WARNING)
    elif delay:
        days = delay * facts.record.urls / DAY_S
        severe = Severity.WARNING if bound and days > MAX_CRAWL_DAYS else None
        obeying = [token for token in tokens if not _ignores(token)]
        if not obeying:
            ignore = "ignores" if len(tokens) == 1 else "ignore"
            yield Message(f"Crawl-delay: {delay:g} has no effect: {named(tokens)} {ignore} it", line, value=value)
            return
        only = ", for crawlers that obey" if EVERYBODY in obeying else ""
        text = f"{named(obeying)}: {delay:g} s between two requests, {_duration(facts.record.urls, delay)}{only}"
        yield Message(text, line, value=value, severity=severe)


def _duration(urls: int, delay: float) -> str:
    if not urls:
        return f"so at most {counted(round(DAY_S / delay), 'page')} a day"
    seconds = urls * delay
    units = ((DAY_S, "days"), (HOUR_S, "hours"), (MINUTE_S, "minutes"), (1, "seconds"))
    time = next((f"{seconds / size:,.1f} {unit}" for size, unit in units if seconds >= size), f"{seconds:.1f} seconds")
    return f"so that {'the listed URL takes' if urls == 1 else f'all {urls:,} listed URLs take'} {time}"


@rule("robots-group-denies-all", Severity.INFO, f"{RFC}#section-2.2.2", Needs.ROBOTS)
def robots_group_denies_all(facts: RobotsFacts) -> Iterator[Message]:
    """Groups deny everything. A warning where none of the judged crawlers may come, and nothing else says so.

    Why: it is right for crawlers that are not wanted, and a disaster where it came along from a test system. The listed
    URLs that are so denied are findings of their own.
    Bad: `User-agent: *`, `Disallow: /` on a public site
    Good: `User-agent: CCBot`, `Disallow: /`, if it is meant
    """
    denying = facts.policy.denying_groups() if is_text(facts) else []
    everybody = [group for group in denying if group.token == EVERYBODY]
    others = [group for group in denying if group.token != EVERYBODY]
    severe = Severity.WARNING if denying and _nobody_comes(facts) else None
    for group in everybody:
        text = "all crawlers without a group of their own are denied everything"
        yield Message(text, group.lines[0], value=EVERYBODY, severity=severe)
    if others:
        tokens = [group.token for group in others]
        verb = "is" if len(tokens) == 1 else "are"
        severe = None if everybody else severe
        text = f"{named(tokens)} {verb} denied everything"
        yield Message(text, others[0].lines[0], value=", ".join(tokens), severity=severe)


def _nobody_comes(facts: RobotsFacts) -> bool:
    """True where no crawler may fetch anything, and there is no finding on a listed URL or a sitemap that says so."""
    followed = [facts.policy.group_of(crawler) for crawler in facts.agents or (agent(EVERYBODY),)]
    if facts.record.urls or facts.record.sitemaps:
        return False
    return all(group is not None and denies_everything(group, {}) for group in followed)


@rule("robots-parsers-disagree", Severity.INFO, "https://github.com/scrapy/protego", Needs.ROBOTS)
def robots_parsers_disagree(facts: RobotsFacts) -> Iterator[Message]:
    """Search engines and Scrapy crawlers read a rule differently, and a listed URL depends on it. Allowed URLs are
    compared by sample, and all comparing takes at most 1 % of the crawl's time.

    Why: search engines follow RFC 9309; Scrapy crawlers follow protego. Where the two differ, the rule denies a page to
    some crawlers and not to others, as a rule by accident.
    Bad: `Disallow: /page$` with `https://example.com/page$1`, a blank in a `User-agent` value
    Good: patterns that both read alike: plain paths, `*`, and `$` at the end
    """
    for one in facts.disagreements if is_parsed(facts) else ():
        line = f"{shown(one.rule.text)}: " if one.rule is not None else ""
        rfc, protego = ("allows", "denies") if one.allowed else ("denies", "allows")
        scrapy = "skips" if one.allowed else "requests"
        more = ", and other listed URLs" if one.urls > 1 else ""  # how many are compared depends on time
        text = f"{line}RFC 9309 {rfc} {shown(one.url)} to {one.agent}, protego {protego} it: Scrapy {scrapy} it{more}"
        yield Message(text, None if one.rule is None else one.rule.line, value=one.url)


@rule("robots-nobody-allowed", Severity.INFO, f"{RFC}#section-2.2.2", Needs.ROBOTS)
def robots_nobody_allowed(facts: RobotsFacts) -> Iterator[Message]:
    """Sitemaps list URLs that none of the judged crawlers may fetch.

    Why: an entry that nobody may read is of no use to anyone: either the rule or the entry is a mistake. Each of the
    URLs is a finding of its own; this is their number.
    Bad: `Disallow: /search` for `*`, and `https://example.com/search?q=shoes` in the sitemap
    Good: a sitemap of the pages that are to be found
    """
    if facts.policy.outcome is Outcome.PARSED and facts.nobody and len(facts.agents) > 1:
        crawlers = f"none of the {len(facts.agents)} judged crawlers"
        listed = counted(facts.record.urls, "listed URL")
        yield Message(f"{facts.nobody:,} of {listed} {'is' if facts.nobody == 1 else 'are'} allowed to {crawlers}")
