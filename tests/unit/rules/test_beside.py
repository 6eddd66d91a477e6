"""Rules on lists of pages beside the sitemap."""

from __future__ import annotations

from typing import Any

import pytest

from sitemapcrawler.jobs.store.queries import rows_of
from sitemapcrawler.replies import Reason, ReplyKind, ReplyRecord
from sitemapcrawler.replies.link_files import CheckedLink, LinkFile, LinkFileKind
from sitemapcrawler.rules import all_rules
from sitemapcrawler.rules.choice import Choice
from sitemapcrawler.rules.facts.site import SiteFacts
from sitemapcrawler.rules.families.beside_sitemap import BESIDE
from tests.unit.rules.replying import made

from .sites import HOME, RULES, Site, page

LLMS = f"{HOME}/llms.txt"
HTML, TEXT = "text/html; charset=utf-8", "text/markdown"


def ok(content_type: str = HTML) -> ReplyRecord:
    return made(ReplyKind.OK, final_status=200, final_url=HOME, content_type=content_type, attempts=1)


def told(*links: CheckedLink, narrowed: tuple[str, ...] = (), **file: Any) -> list[tuple[str, str]]:
    """(rule, message) of findings on llms.txt of a site that lists / and /a."""
    site = Site(page("/"), page("/a"), choice=Choice(RULES, select=("beside",)))
    facts = SiteFacts(rows_of(site.connection.cursor()), narrowed_sites=narrowed)
    facts.link_files = [LinkFile(LLMS, LinkFileKind.LLMS, links=links, **file)]
    return [(one.rule, one.message.replace(HOME, "")) for one in site.judge.site(facts)]


def test_the_family_has_notes_only() -> None:
    family = {rule.id: str(rule.severity) for rule in all_rules() if rule.family == "beside"}
    assert family == dict.fromkeys(BESIDE, "info")


@pytest.mark.parametrize(
    ("path", "reply", "indexability", "findings"),
    [
        ("/a", ok(), "ok", []),
        ("/b", ok(), "ok", [("beside-not-listed", "'/b' is in no sitemap")]),
        ("/b.md", ok(TEXT), "ok", []),
        ("/b.pdf", ok("application/pdf"), "ok", []),
        ("/b.md", ok(), "ok", [("beside-html", "'/b.md' is an HTML page by its Content-Type, not a text file")]),
        ("/b", ok(), "noindex", [("beside-noindex-link", "'/b' is noindex")]),
        ("/b", ok(), "soft 404", [("beside-dead-link", "'/b' is a soft 404")]),
        ("/b", ok(), "canonicalised", []),
        (
            "/b",
            made(ReplyKind.HTTP_ERROR, final_status=410, final_url=HOME, error="HTTP status 410", attempts=1),
            "not found",
            [("beside-dead-link", "'/b' answers 410")],
        ),
        ("/b", ReplyRecord(reason=Reason.BLOCKED), "not checked", []),
    ],
)
def test_links(path: str, reply: ReplyRecord, indexability: str, findings: list[tuple[str, str]]) -> None:
    assert told(CheckedLink(HOME + path, 3, reply, indexability)) == findings


def test_page_is_not_missing_where_not_all_sitemaps_were_read() -> None:
    assert told(CheckedLink(f"{HOME}/b", 3, ok(), "ok"), narrowed=("example.com",)) == []


def test_files() -> None:
    assert told(is_html=True) == [("beside-html", "llms.txt: an HTML page instead of the file")]
    assert told(problem="answers 404") == [
        ("beside-dead-link", "robots.txt names this llms.txt file, which answers 404")
    ]
