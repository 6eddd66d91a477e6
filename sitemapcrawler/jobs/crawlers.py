"""What the job's database knows of crawlers, and of what they may do with pages."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence

from sitemapcrawler.items import CrawlerAccess, UsageCounts
from sitemapcrawler.replies.crawler_answers import AnswerVerdict
from sitemapcrawler.robots.agents import agent
from sitemapcrawler.robots.usage import Use
from sitemapcrawler.rules.facts.site import SiteFacts
from sitemapcrawler.rules.facts.sites import CURRENT, text_key

ACCESS = f"""
    SELECT blocked_for, count(DISTINCT {text_key("loc")}) FROM urls
    WHERE blocked_for IS NOT NULL AND {CURRENT} GROUP BY blocked_for"""
"""SQL: distinct listed URLs by the crawlers that robots.txt denies them."""


def count_access(site: SiteFacts, crawlers: Iterable[CrawlerAccess]) -> None:
    """Set how many listed URLs each crawler may fetch, of those that robots.txt was checked for."""
    denied, judged = Counter[str](), 0
    for names, number in site.query(ACCESS):
        judged += number
        denied.update(dict.fromkeys(names, number))
    for one in crawlers:
        if one.may_fetch is None:
            continue
        one.may_not_fetch = denied[one.crawler]
        one.may_fetch = judged - one.may_not_fetch


def with_answers(site: SiteFacts, crawlers: Sequence[CrawlerAccess]) -> Sequence[CrawlerAccess]:
    """Set what crawlers get for pages. Returns them, followed by those that robots.txt was not checked for."""
    notes: defaultdict[str, defaultdict[str, Counter[str]]] = defaultdict(lambda: defaultdict(Counter))
    for name, verdict, note in site.query("SELECT crawler, verdict, note FROM answers ORDER BY rowid"):
        notes[name][verdict][note or ""] += 1
    known = {one.crawler: one for one in crawlers}
    for name, found in notes.items():
        one = known.setdefault(name, CrawlerAccess(name, agent(name).operator, agent(name).purpose))
        one.pages = {str(verdict): found[verdict].total() for verdict in AnswerVerdict if verdict in found}
        one.gets = worst = next(iter(one.pages))
        one.difference = max(sorted(found[worst]), key=found[worst].__getitem__) or None
    return list(known.values())


ANY_USAGE = f"SELECT 1 FROM urls WHERE usage IS NOT NULL AND {CURRENT} LIMIT 1"
USAGE = f"""
    SELECT {", ".join(f"usage.{use}" for use in Use)}, count(DISTINCT {text_key("loc")})
    FROM urls WHERE {CURRENT} GROUP BY ALL"""
"""SQL: distinct listed URLs by preference on each use."""


def count_usage(site: SiteFacts) -> dict[str, UsageCounts]:
    """Count listed URLs by preference on each use; empty if none has any."""
    if not list(site.query(ANY_USAGE)):
        return {}
    counts = {use.value: UsageCounts() for use in Use}
    for *preferences, number in site.query(USAGE):
        for use, preference in zip(counts, preferences, strict=True):
            name = preference or "unsaid"
            setattr(counts[use], name, getattr(counts[use], name) + number)
    return counts
