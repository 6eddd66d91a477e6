"""What the database knows of crawlers."""

from __future__ import annotations

from sitemapcrawler.items import AnswerRecord, CrawlerAccess, UsageCounts, UsageRecord
from sitemapcrawler.jobs.counting import count_access, count_usage, with_answers
from sitemapcrawler.jobs.store.queries import rows_of
from sitemapcrawler.rules.facts.site import SiteFacts
from tests.unit.rules.sites import A, B, Site, page


def test_access_counts_a_url_in_two_files_once_and_leaves_out_what_was_not_judged() -> None:
    site = Site(
        page("/1", A), page("/2", A, blocked_for=["GPTBot"]), page("/2", B, blocked_for=["GPTBot"]),
        page("/3", B, blocked_for=["GPTBot", "CCBot"]), page("/unknown", B),
    )  # fmt: skip
    site.connection.execute("UPDATE urls SET blocked_for = [] WHERE loc LIKE '%/1'")
    crawlers = [CrawlerAccess(name, may_fetch=0) for name in ("Googlebot", "GPTBot", "CCBot")]
    crawlers.append(CrawlerAccess("PetalBot"))
    count_access(SiteFacts(rows_of(site.connection)), crawlers)
    assert [(one.may_fetch, one.may_not_fetch) for one in crawlers] == [(3, 0), (1, 2), (2, 1), (None, None)]


def test_crawler_gets_the_worst_verdict_with_its_most_frequent_difference() -> None:
    answers = [
        AnswerRecord(f"https://e.com/{at}", crawler, verdict, note)
        for at, (crawler, verdict, note) in enumerate(
            [
                ("GPTBot", "same", None), ("GPTBot", "refused", "403"), ("GPTBot", "refused", "401"), ("GPTBot", "refused", "403"),
                ("GoogleOther", "same", None), ("GoogleOther", "not-asked", "robots.txt disallows it"),
            ]
        )
    ]  # fmt: skip
    known = [CrawlerAccess("Bingbot"), CrawlerAccess("GPTBot", may_fetch=4, may_not_fetch=0)]
    bing, gpt, other = with_answers(SiteFacts(rows_of(Site(*answers).connection)), known)
    assert (bing.gets, bing.difference, bing.pages) == (None, None, {})
    assert (gpt.gets, gpt.difference, gpt.pages, gpt.may_fetch) == ("refused", "403", {"refused": 3, "same": 1}, 4)
    assert (other.crawler, other.operator, other.gets, other.difference) == ("GoogleOther", "Google", "same", None)
    assert other.may_fetch is None


def test_usage_counts_a_url_in_two_files_once() -> None:
    usage = UsageRecord(train="disallow", train_by="robots.txt line 2", search="allow", search_by="robots.txt line 2")
    site = Site(page("/1", A, usage=usage), page("/1", B, usage=usage), page("/2", A))
    assert count_usage(SiteFacts(rows_of(site.connection))) == {
        "train": UsageCounts(disallow=1, unsaid=1),
        "search": UsageCounts(allow=1, unsaid=1),
        "input": UsageCounts(unsaid=2),
    }


def test_usage_is_not_counted_where_no_url_has_any() -> None:
    assert count_usage(SiteFacts(rows_of(Site(page("/1", A)).connection))) == {}
