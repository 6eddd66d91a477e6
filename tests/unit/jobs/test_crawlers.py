"""What the database knows of crawlers."""

from __future__ import annotations

from sitemapcrawler.items import CrawlerAccess
from sitemapcrawler.jobs.crawlers import count_access
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
