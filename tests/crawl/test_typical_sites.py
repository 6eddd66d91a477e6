"""Healthy sites as common programs write them: nothing to fix, and few notes."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import partial
from html import unescape

import pytest

from tests.crawl.many_sites import Sites, visited
from tests.crawl.site_server import Reply, SiteServer
from tests.crawl.verified import own_words
from tests.typical_sites import SITES, files_of
from tests.unit.rules.judging import SUMMED_UP, judge

MAX_NOTES = 14
"""Notes on a site, most of them on a robots.txt that names many crawlers."""
OF_THIS_MACHINE = {"loc-ip-host", "loc-port"}
"""Rules that speak of the address of the server."""


def page(url: str) -> Reply:
    """A page that nothing is wrong with."""
    code = next((code for code in ("fr",) if f"/{code}/" in url), "en")
    head = f'<title>{url}</title><link rel="canonical" href="{url}">'
    html = f'<!doctype html><html lang="{code}"><head>{head}</head><body><p>{own_words(url)} {url}</p></body></html>'
    return Reply(html, 200, {"Content-Type": "text/html; charset=utf-8"})


@pytest.mark.parametrize("name", SITES)
def test_a_file_of_a_healthy_site_has_neither_error_nor_warning(name: str) -> None:
    origin = "https://www.example.com"
    for path, text in files_of(name, origin).items():
        found = judge(text.encode(), origin + path, SUMMED_UP) if path != "/robots.txt" else []
        assert [finding for finding in found if finding.severity != "info"] == []


def publish(site: SiteServer, name: str) -> None:
    origin = site.url("")
    for path, text in files_of(name, origin).items():
        site.routes[path] = Reply(text, 200, {"Content-Type": "text/plain" if path[-3:] == "txt" else "text/xml"})
        for loc in re.findall(r"<loc>([^<]+)</loc>", text):
            if loc.startswith(origin):
                site.routes.setdefault(unescape(loc[len(origin) :]) or "/", page(loc))


SWITCHED_OFF = {"squarespace": ["url-blocked-for-ai-answers"]}
"""{program: warnings}: its switch against crawlers of AI also closes the site to assistants that answer a question."""


@pytest.fixture(scope="module")
def healthy(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Sites]:
    programs = {name: partial(publish, name=name) for name in SITES}
    folder = tmp_path_factory.mktemp("healthy")
    with visited(folder, programs, "/robots.txt", verify="get", agents="search,ai") as sites:
        yield sites


@pytest.mark.parametrize("name", SITES)
def test_a_healthy_site_has_neither_error_nor_warning_and_few_notes(healthy: Sites, name: str) -> None:
    found = [finding for finding in healthy.findings(name) if finding["rule"] not in OF_THIS_MACHINE]
    assert {record["reply"]["kind"] for record in healthy.of(name, "url")} == {"ok"}
    assert [finding["rule"] for finding in found if finding["severity"] != "info"] == SWITCHED_OFF.get(name, [])
    assert len(found) <= MAX_NOTES
    notes = [finding["rule"] for finding in found if not finding["rule"].startswith("robots-")]
    assert len(notes) == len(set(notes)), "each note is told once"


def test_every_finding_names_its_site(healthy: Sites) -> None:
    assert sum(len(healthy.findings(name)) for name in SITES) == len(healthy.crawl.of_type("finding"))
