"""Pages that answer 200 and are none: told by what the site answers to a path that cannot exist."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from tests.crawl.site_server import Route, below, moved
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


def test_pages_with_the_html_of_a_made_up_url_are_unknown(tmp_path: Path) -> None:
    frame = html("<title>App</title>", '<link rel="canonical" href="/">', body=f"Loading. {WORDS}")
    own = html("<title>Red shoes</title>", body=f"Loading. {WORDS}")
    pages: dict[str, Route] = {**dict.fromkeys(GONE, frame), "/to-shell": moved("/gone/0"), "/real": own}
    with verifying(tmp_path, pages, hidden={"/robots.txt": ""}, otherwise=frame, verify="get") as visit:
        summary, made = visit.crawl.summary, visit.crawl
        assert summary["bad"]["bad"] == summary["not_indexable"]["bad"] == 1
        assert summary["indexability"] == {"unknown": len(GONE), "redirect": 1, "ok": 1}
        records = {record["loc"]: record for record in made.of_type("url")}
        assert {visit.reply(path).get("shell") for path in GONE} == {True}
        assert "shell" not in visit.reply("/real")
        assert "target" not in records[visit.url(GONE[0])]
        assert records[visit.url("/to-shell")]["target"]["indexability"] == "unknown"
        [found] = [finding for finding in made.of_type("finding") if finding["rule"].startswith("page-shell")]
        assert found["severity"] == "warning"
        assert found["message"].startswith("5 of 7 entries have the same HTML as a made-up URL, for example ")
        marked = {loc for loc, record in records.items() if "page-shell" in record["issues"]}
        assert marked == {visit.url(path) for path in GONE}


def test_home_page_that_is_a_shell_is_unknown(tmp_path: Path) -> None:
    frame = html("<title>App</title>", body="Loading.")
    with verifying(tmp_path, {"/": frame}, hidden={"/robots.txt": ""}, otherwise=frame, verify="get") as visit:
        assert visit.crawl.summary["indexability"] == {"unknown": 1}


def test_shells_below_a_folder_of_a_site_that_answers_404_are_unknown(tmp_path: Path) -> None:
    frame = html("<title>App</title>", body="Loading.")
    shells = ["/en/app/", *(f"/en/app/{number}" for number in range(4))]
    pages: dict[str, Route] = {**dict.fromkeys(shells, frame), "/real": html(), "/en/real": html(), "/en/more": html()}
    answers = below("/en/app/", frame)
    with verifying(tmp_path, pages, hidden={"/robots.txt": ""}, otherwise=answers, verify="get") as visit:
        assert visit.crawl.summary["indexability"] == {"unknown": len(shells), "ok": 3}
        [found] = [finding for finding in visit.crawl.of_type("finding") if finding["rule"] == "page-shell"]
        assert found["message"].startswith("5 of 8 entries have the same HTML as a made-up URL, for example ")
        made_up = [path for path in visit.site.paths if path not in {*pages, "/robots.txt", SITEMAP}]
        assert [path.rpartition("/")[0] for path in made_up] == ["", "/en/app"]
