"""Pages that answer 200 and are none: told by what the site answers to a path that cannot exist."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from tests.crawl.site_server import Route, moved
from tests.crawl.verified import PATIENT, SITEMAP, WORDS, html, verifying

GONE = [f"/gone/{number}" for number in range(5)]
NONE = html("<title>Page not found</title>", body=f"Sorry, nothing is here. {WORDS}")
SHOP: dict[str, Route] = {"/real": html(body="Something else of its own. " * 20), **dict.fromkeys(GONE, NONE)}
HOME: dict[str, Route] = {"/": html(body="Welcome to the shop. " * 60), "/robots.txt": ""}


def test_witnesses_are_asked_once_and_pages_that_are_none_count_as_bad(tmp_path: Path) -> None:
    with verifying(tmp_path, SHOP, hidden=HOME, otherwise=NONE, settings=PATIENT, verify="get") as visit:
        asked = Counter(visit.site.paths)
        assert set(asked.values()) == {1}
        [nonsense] = asked.keys() - {*SHOP, "/", SITEMAP}
        assert len(nonsense) > 10
        assert {visit.reply(path)["kind"] for path in SHOP} == {"ok"}
        assert visit.crawl.summary["bad"]["bad"] == len(GONE)
        assert visit.site.paths.index(nonsense) < min(visit.site.paths.index(path) for path in SHOP)


def test_redirects_to_where_nonsense_leads_count_as_bad(tmp_path: Path) -> None:
    pages: dict[str, Route] = {**SHOP, **dict.fromkeys(GONE, moved("/"))}
    with verifying(tmp_path, pages, hidden=HOME, otherwise=moved("/"), settings=PATIENT, verify="get") as visit:
        assert set(Counter(visit.site.paths).values()) == {1}
        assert visit.crawl.summary["replies"] == {"ok": 1, "redirected": len(GONE)}
        assert visit.crawl.summary["bad"]["bad"] == len(GONE)


def test_site_that_is_one_page_has_no_witness(tmp_path: Path) -> None:
    frame = html("<title>App</title>", body=f"Loading. {WORDS}")
    pages = dict.fromkeys([*GONE, "/real"], frame)
    with verifying(tmp_path, pages, hidden={"/robots.txt": ""}, otherwise=frame, verify="get") as visit:
        assert visit.crawl.summary["bad"]["bad"] == 0
