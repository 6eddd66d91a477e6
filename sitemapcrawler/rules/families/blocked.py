"""Rules on listed URLs that robots.txt denies: to search engines, to AI crawlers, and by which line."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import islice

from sitemapcrawler.robots import Agent, Outcome
from sitemapcrawler.robots.agents import AI, EVERYBODY, SEARCH, agent
from sitemapcrawler.robots.text import escaped
from sitemapcrawler.rules.facts.given import VerdictFacts
from sitemapcrawler.rules.families.robots import RFC
from sitemapcrawler.rules.families.robots_groups import named
from sitemapcrawler.rules.registry import Message, Needs, Severity, rule
from sitemapcrawler.urls.display import shown

COUNTED = {severity: Message("", severity=severity) for severity in Severity}
"""What is said where it will only be counted."""
MAX_GROUPS = 4
"""Groups of robots.txt that a message quotes; `blocked_for` names every crawler."""


@rule(
    "url-blocked-by-robots",
    Severity.ERROR,
    f"{RFC}#section-2.2.2",
    Needs.VERDICT,
    also={
        "Search Console": "URLs blocked by robots.txt",
        "Sitebulb": "Disallowed URL in XML Sitemaps",
        "Lumar": "Disallowed/Malformed URLs in Sitemaps",
    },
)
def url_blocked_by_robots(facts: VerdictFacts) -> Iterator[Message]:
    """robots.txt denies a listed URL to a search engine, or to everybody. A warning where it is another crawler.

    Why: the sitemap asks to read the page, robots.txt forbids it. The page is not read; found by links, it may be
    listed without its text. The message names the crawlers, the line, and whose group it is where they have none of
    their own. Crawlers that were asked for by name and are neither of a search engine nor of AI give a warning.
    Bad: `Disallow: /search` with `https://example.com/search?q=shoes` in the sitemap
    Good: one of the two is taken away
    """
    crawlers, severity = _others(tuple(facts.record.blocked_for or ()))
    if crawlers and facts.policy.outcome is Outcome.PARSED:
        yield COUNTED[severity] if facts.brief else _told(facts, crawlers, severity)


@rule("url-blocked-for-ai-agent", Severity.INFO, f"{RFC}#section-2.2.2", Needs.VERDICT)
def url_blocked_for_ai_agent(facts: VerdictFacts) -> Iterator[Message]:
    """robots.txt denies a listed URL to crawlers of AI.

    Why: it is the owner's choice; assistants do not know or cite what they may not read. Some that fetch a page because
    a person asked for it come all the same: ChatGPT-User, Perplexity-User, Meta-ExternalFetcher.
    Bad: `User-agent: *`, `Disallow: /shop/`, where assistants are to recommend what is in the shop
    Good: a group for each crawler that is or is not wanted
    """
    crawlers = _of_ai(tuple(facts.record.blocked_for or ()))
    if crawlers and facts.policy.outcome is Outcome.PARSED:
        yield COUNTED[Severity.INFO] if facts.brief else _told(facts, crawlers, Severity.INFO)


@lru_cache(maxsize=1024)
def _others(names: tuple[str, ...]) -> tuple[tuple[Agent, ...], Severity]:
    """The crawlers that are not of AI, and how severe it is that they are denied a URL."""
    crawlers = tuple(known for known in map(agent, names) if known.group != AI)
    search = any(known.group == SEARCH or known.name == EVERYBODY for known in crawlers)
    return crawlers, Severity.ERROR if search else Severity.WARNING


@lru_cache(maxsize=1024)
def _of_ai(names: tuple[str, ...]) -> tuple[Agent, ...]:
    return tuple(known for known in map(agent, names) if known.group == AI)


def _told(facts: VerdictFacts, crawlers: Sequence[Agent], severity: Severity) -> Message:
    """Whom robots.txt denies the URL, by which line, and whose group that is in."""
    followed: dict[tuple[str, bool], list[Agent]] = {}
    for crawler in crawlers:
        group = facts.policy.group_of(crawler)
        token = group.token if group is not None else ""
        followed.setdefault((token, token != crawler.name.lower()), []).append(crawler)
    told, value = [], None
    for (token, inherited), members in islice(followed.items(), MAX_GROUPS):
        clause = facts.policy.verdict(facts.record.loc, members[0]).rule
        names = named([crawler.name for crawler in members])
        if clause is not None:
            text = escaped(clause.text)
            whose = f" in the group {token}, as there is none for {_them(members)}" if inherited else ""
            told.append(f"{names} by line {clause.line}, {shown(text)}{whose}")
            value = value or text
    left = sum(len(members) for members in islice(followed.values(), MAX_GROUPS, None))
    told += [f"{left} more"] if left else []
    return Message(f"robots.txt denies it to {'; '.join(told)}", value=value, severity=severity)


def _them(members: Sequence[Agent]) -> str:
    return "it" if len(members) == 1 else "them"
