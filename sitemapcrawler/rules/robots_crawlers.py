"""Rules on what a whole robots.txt means for crawlers: how long they need, and whether anybody may come at all."""

from __future__ import annotations

import math
from collections.abc import Iterator

from sitemapcrawler.quoting import shown
from sitemapcrawler.robots import Group, Outcome
from sitemapcrawler.robots.agents import EVERYBODY, agent
from sitemapcrawler.robots.timing import timing
from sitemapcrawler.rules.facts import RobotsFacts
from sitemapcrawler.rules.registry import Message, Needs, Severity, rule
from sitemapcrawler.rules.robots import GOOGLE, RFC, is_text
from sitemapcrawler.rules.robots_groups import MAX_NAMES, named

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


@rule("robots-crawl-delay", Severity.INFO, GOOGLE, Needs.ROBOTS)
def robots_crawl_delay(facts: RobotsFacts) -> Iterator[Message]:
    """A group asks for a delay between requests. A warning where a crawler that obeys needs more than 30 days to read
    all listed URLs.

    Why: crawlers of Bing and Anthropic obey, and read one page in so many seconds; Google takes no notice. A value that
    is no number of seconds is a warning too: it counts for nothing.
    Bad: `Crawl-delay: 60` for 100,000 pages: 69 days
    Good: `Crawl-delay: 1`, or none
    """
    blocks = {id(block): block for group in facts.policy.groups.values() for block in group.blocks}
    bound = _bound(facts)
    for block in blocks.values() if is_text(facts) else ():
        for name, value, line, above in block.timing:
            if name == DELAY and above:
                names = named([token for token, _ in block.agents[: min(above, MAX_NAMES)]], above)
                yield from _delay(facts, value, line, names, line in bound)


def _bound(facts: RobotsFacts) -> set[int]:
    """Lines of the delays that judged crawlers obey."""
    obeying = (crawler for crawler in facts.agents if crawler.operator in DELAYED)
    groups = {group.token: group for crawler in obeying if (group := facts.policy.group_of(crawler)) is not None}
    return {line for group in groups.values() for _, _, line in group.timing}


def _delay(facts: RobotsFacts, value: str, line: int, names: str, bound: bool) -> Iterator[Message]:
    delay = timing([(DELAY, value, line)]).crawl_delay
    if delay is None or not math.isfinite(delay) or delay < 0:
        text = f"Crawl-delay: {shown(value)} is no number of seconds, and counts for nothing"
        yield Message(text, line, value=value, severity=Severity.WARNING)
    elif delay:
        days = delay * facts.record.urls / DAY_S
        severe = Severity.WARNING if bound and days > MAX_CRAWL_DAYS else None
        text = f"{names}: {delay:g} s between two requests, {_duration(facts.record.urls, delay)}"
        yield Message(text, line, value=value, severity=severe)


def _duration(urls: int, delay: float) -> str:
    if not urls:
        return f"so at most {DAY_S / delay:,.0f} pages a day"
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
    severe = Severity.WARNING if denying and _nobody_comes(facts, denying) else None
    for group in everybody:
        text = "all crawlers without a group of their own are denied everything"
        yield Message(text, group.lines[0], value=EVERYBODY, severity=severe)
    if others:
        tokens = [group.token for group in others]
        verb = "is" if len(tokens) == 1 else "are"
        severe = None if everybody else severe
        text = f"{named(tokens)} {verb} denied everything"
        yield Message(text, others[0].lines[0], value=", ".join(tokens), severity=severe)


def _nobody_comes(facts: RobotsFacts, denying: list[Group]) -> bool:
    """True where no crawler may fetch anything, and there is no finding on a listed URL or a sitemap that says so."""
    tokens = {group.token for group in denying}
    followed = [facts.policy.group_of(crawler) for crawler in facts.agents or (agent(EVERYBODY),)]
    if facts.record.urls or facts.record.sitemaps:
        return False
    return all(group is not None and group.token in tokens for group in followed)


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
        yield Message(f"{facts.nobody:,} of {facts.record.urls:,} listed URLs are allowed to {crawlers}")
