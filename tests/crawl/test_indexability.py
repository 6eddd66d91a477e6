"""Whether a search engine can index what a sitemap lists: one value for each URL, and their counts."""

from __future__ import annotations

import csv
from collections import Counter
from pathlib import Path

import duckdb
import pytest

from sitemapcrawler.jobs.store.database import FILE
from tests.crawl.site_server import Reply, Route, moved
from tests.crawl.verified import PATIENT, Verified, html, verifying

PAGES: dict[str, Route] = {
    "/ok": html(),
    "/pdf": Reply(b"%PDF-1.7", headers={"Content-Type": "application/pdf"}),
    "/hidden-from-google": html(),
    "/hidden-from-all": html(),
    "/moved": moved("/ok"),
    "/no-content": Reply("", 204),
    "/empty": Reply("", headers={"Content-Type": "text/html"}),
    "/to-no-content": moved("/no-content"),
    "/gone": Reply("", 410),
    "/noindex": html('<meta name="googlebot" content="noindex">'),
    "/noindex-header": html(X_Robots_Tag="noindex"),
    "/copy": html('<link rel="canonical" href="/ok">'),
    "/soft": html("<title>404 Page not found</title>", body="Page not found"),
}
RULES = b"User-agent: Googlebot\nDisallow: /hidden-\n\nUser-agent: *\nDisallow: /hidden-from-all\n"
HIDDEN: dict[str, Route] = {"/robots.txt": Reply(RULES)}
BLOCKED = {"/hidden-from-google": "blocked", "/hidden-from-all": "blocked"}
GET = BLOCKED | {
    "/ok": "ok",
    "/pdf": "ok",
    "/moved": "redirect",
    "/gone": "not found",
    "/noindex": "noindex",
    "/noindex-header": "noindex",
    "/copy": "canonicalised",
    "/soft": "soft 404",
    "/no-content": "soft 404",
    "/empty": "soft 404",
    "/to-no-content": "redirect",
}
UNREAD = ("/ok", "/pdf", "/noindex", "/copy", "/soft", "/empty")
HEAD = GET | dict.fromkeys(UNREAD, "page not read")
KNOWN = {"ok": True, "page not read": None, "not checked": None}


def found(site: Verified) -> dict[str, str | None]:
    """Indexability by path; `indexable` agrees with each."""
    values = {}
    for record in site.crawl.of_type("url"):
        value = record.get("indexability")
        assert record.get("indexable") is (None if value is None else KNOWN.get(value, False))
        values[record["loc"].removeprefix(site.site.url(""))] = value
    return values


@pytest.mark.parametrize(("verify", "expected", "items"), [("get", GET, "batches"), ("head", HEAD, "records")])
def test_every_verified_url_has_one(tmp_path: Path, verify: str, expected: dict[str, str], items: str) -> None:
    settings = PATIENT | {"SITEMAP_ITEMS": items, "FEEDS": '{"urls.csv": {"format": "csv"}}'}
    with verifying(tmp_path, PAGES, hidden=HIDDEN, settings=settings, verify=verify) as site:
        assert found(site) == expected
        summary = site.crawl.summary
        assert summary["indexability"] == Counter(expected.values())
        bad = sum(KNOWN.get(value, False) is False for value in expected.values())
        share = summary["not_indexable"]
        assert (share["bad"], share["checked"], share["population"]) == (bad, len(PAGES), len(PAGES))
        assert share["share"] == share["low"] == share["high"] == pytest.approx(bad / len(PAGES))
        reported = {one["url"] for one in site.crawl.of_type("finding") if one["rule"] == "status-soft-404"}
        soft = {path for path, value in expected.items() if value == "soft 404"} | {"/to-no-content"}
        assert reported == set(map(site.url, soft))
        rows = csv.DictReader((tmp_path / "urls.csv").read_text("utf-8").splitlines())
        cells = {row["loc"].removeprefix(site.site.url("")): (row["indexable"], row["indexability"]) for row in rows}
    words = {True: "true", False: "false", None: ""}
    assert cells == {path: (words[KNOWN.get(value, False)], value) for path, value in expected.items()}


def test_only_robots_txt_decides_without_verification(tmp_path: Path) -> None:
    with verifying(tmp_path, PAGES, hidden=HIDDEN) as site:
        assert found(site) == dict.fromkeys(PAGES) | BLOCKED
        assert "not_indexable" not in site.crawl.summary
        assert "indexability" not in site.crawl.summary


def test_sample_leaves_the_others_unchecked(tmp_path: Path) -> None:
    pages: dict[str, Route] = {f"/page/{number}": html(body=f"page {number}") for number in range(40)}
    pages |= {path: PAGES[path] for path in BLOCKED}
    with verifying(tmp_path, pages, hidden=HIDDEN, settings=PATIENT, verify="get", sample=10) as site:
        values = Counter(found(site).values())
        assert values["blocked"] == 2
        assert values["ok"] in (9, 10)  # the page that only Google may not fetch may be drawn
        assert values["not checked"] == 42 - values["ok"] - 2
        share, bad = site.crawl.summary["not_indexable"], site.crawl.summary["bad"]
        assert (share["checked"], bad["checked"]) == (11, 10)
        assert share["population"] == bad["population"] + 1  # with the page that we may not fetch either
        assert share["low"] <= share["share"] <= share["high"]


def named(href: str) -> Reply:
    """A page with a canonical."""
    return html(f'<link rel="canonical" href="{href}">', body=f"This page has its canonical at {href}. " * 9)


def left(url: str, *head: str, delay_s: int = 0) -> Reply:
    """A page with a meta refresh."""
    return html(f'<meta http-equiv="refresh" content="{delay_s}; url={url}">', *head, body=f"On to {url}. " * 30)


LEADING: dict[str, Route] = {
    "/self": named("/self"),
    "/to-listed": named("/self#part"),
    "/to-good": named("/good"),
    "/to-noindex": named("/hidden"),
    "/to-missing": named("/missing"),
    "/to-copy": named("/copy-of-copy"),
    "/to-blocked": named("/blocked"),
    "/to-redirect": named("/moves"),
    "/to-loop": named("/moves-back"),
    "/moved": moved("/good"),
    "/moved-to-copy": moved("/copy-of-good"),
    "/moved-to-blocked": moved("/blocked"),
    "/left-for-good": left("/good"),
    "/left-for-noindex": left("/hidden", '<link rel="canonical" href="/good">'),
    "/left-later": left("/good", delay_s=5),
    "/moved-to-left": moved("/leaves"),
}
UNLISTED: dict[str, Route] = {
    "/robots.txt": Reply(b"User-agent: *\nDisallow: /blocked\n"),
    "/good": named("/good"),
    "/hidden": html('<meta name="robots" content="noindex">'),
    "/copy-of-copy": named("/good"),
    "/copy-of-good": named("/good"),
    "/leaves": left("/good"),
    "/moves": moved("/only-by-redirect"),
    "/moves-back": moved("/to-loop"),
    "/only-by-redirect": named("/only-by-redirect"),
}
TARGETS = {
    "/self": None,
    "/to-listed": ("/self", "ok"),
    "/to-good": ("/good", "ok"),
    "/to-noindex": ("/hidden", "noindex"),
    "/to-missing": ("/missing", "not found"),
    "/to-copy": ("/copy-of-copy", "canonicalised"),
    "/to-blocked": ("/blocked", "blocked"),
    "/to-redirect": ("/moves", "redirect"),
    "/to-loop": ("/moves-back", "redirect"),
    "/moved": ("/good", "ok"),
    "/moved-to-copy": ("/good", "ok"),
    "/moved-to-blocked": None,  # the redirect was not followed
    "/left-for-good": ("/good", "ok"),
    "/left-for-noindex": ("/hidden", "noindex"),
    "/left-later": None,
    "/moved-to-left": ("/good", "ok"),
}
LEFT = {"/left-for-good": "redirect", "/left-for-noindex": "redirect", "/left-later": "ok"}
TARGET_RULES = {
    "page-meta-refresh": {*LEFT},
    "page-canonical-other": {"/to-listed", "/to-good"},
    "page-canonical-to-non-200": {"/to-missing", "/to-redirect", "/to-loop"},
    "page-canonical-not-indexable": {"/to-noindex", "/to-copy", "/to-blocked"},
}


def test_targets_of_redirects_and_canonicals_are_judged_and_requested_once(tmp_path: Path) -> None:
    settings = PATIENT | {"JOBDIR": tmp_path / "job"}
    with verifying(tmp_path, LEADING, hidden=UNLISTED, settings=settings, verify="get") as site:
        home = site.site.url("")
        records = {record["loc"].removeprefix(home): record for record in site.crawl.of_type("url")}
        found = {
            path: (target["url"].removeprefix(home), target["indexability"])
            if (target := record.get("target"))
            else None
            for path, record in records.items()
        }
        assert found == TARGETS
        assert all(
            record["target"].get("indexable") is KNOWN.get(record["target"]["indexability"], False)
            for record in records.values()
            if "target" in record
        )
        for rule, paths in TARGET_RULES.items():
            assert {path for path, record in records.items() if rule in record["issues"]} == paths
        assert {path: records[path]["indexability"] for path in LEFT} == LEFT
        asked = Counter(exchange.path for exchange in site.site.exchanges)
        assert set(asked.values()) == {1}
        assert {"/good", "/hidden", "/missing", "/moves"} <= asked.keys()
        assert not {"/blocked", "/only-by-redirect"} & asked.keys()
        to = records["/to-redirect"]["target"]
        assert (to["kind"], to["status"]) == ("http-error", 302)
        assert to["final_url"] == f"{home}/only-by-redirect"
    with duckdb.connect(tmp_path / "job" / FILE, read_only=True) as base:
        stored = base.execute("SELECT url, found_by, indexability FROM found ORDER BY url").fetchall()
    paths = {url.removeprefix(home): (by, why) for url, by, why in stored}
    assert len(paths) == len(stored)
    assert paths.keys() == {target[0] for target in TARGETS.values() if target and target[1] != "not checked"}
    assert paths["/hidden"] == ("canonical", "noindex")
