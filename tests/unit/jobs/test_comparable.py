"""Which rules two crawls can be compared by."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

import pytest

from sitemapcrawler.items import Basis, ComparedList, Coverage, LinkGraph, SummaryRecord
from sitemapcrawler.jobs.changes import Compared
from sitemapcrawler.rules import all_rules

IDS = sorted(rule.id for rule in all_rules())
VERDICTS = ("url-blocked-by-robots", "url-blocked-for-ai-answers", "url-blocked-for-ai-agent")
LINKED = LinkGraph(pages=3)
CUT = LinkGraph(pages=3, partial="max_pages")
LISTED = Coverage([ComparedList("export.csv")])


def summary(rules: list[str] = IDS, graph: Any = None, coverage: Any = None, **arguments: str) -> SummaryRecord:
    return SummaryRecord(
        basis=Basis(rules, {"verify": "get", **arguments}), graph=graph, coverage=coverage, replies={"ok": 1}
    )


def compared(
    before: SummaryRecord | None,
    now: SummaryRecord,
    with_replies: bool = True,
    fields: tuple[str, ...] = ("lastmod", "blocked_for"),
    has_other_hashes: bool = False,
) -> Compared:
    """`before`: None for a feed of url records alone."""
    baseline = SimpleNamespace(
        summary=before,
        basis=None if before is None else before.basis,
        job={},
        with_replies=with_replies,
        fields=fields,
        has_other_hashes=has_other_hashes,
    )
    applied = [rule for rule in all_rules() if rule.id in now.basis.rules]
    return Compared.of(cast(Any, SimpleNamespace(selected=applied)), now, cast(Any, baseline))


def test_crawls_of_the_same_arguments_are_compared_by_all_rules() -> None:
    given = summary(graph=LINKED, coverage=LISTED, links="site", sample="10", verify="head")
    found = compared(given, given)
    assert not found.left_out
    assert found.pages_of_files and found.files
    assert {"status-404", "page-noindex-meta", "cross-orphan-url", "coverage-not-listed", *VERDICTS} <= {
        *found.severities
    }


def test_rules_on_contents_that_another_version_hashed_in_another_way() -> None:
    found = compared(summary(), summary(), has_other_hashes=True)
    assert set(found.left_out["content_hash"]) == {
        "lastmod-moved-content-same", "lastmod-same-content-changed", "lastmod-moved-together"
    }  # fmt: skip


def test_limit_of_pages_that_neither_crawl_reached_does_not_matter() -> None:
    given = {"links": "site", "max_pages": "100"}
    assert not compared(summary(graph=LINKED, links="site"), summary(graph=LINKED, **given)).left_out


LEFT_OUT: dict[str, tuple[SummaryRecord, SummaryRecord, str, set[str], set[str]]] = {
    "rules of the earlier crawl": (
        summary(["loc-relative", "loc-duplicate"]), summary(["loc-relative", "status-404"]),
        "rules", {"status-404", "loc-duplicate"}, {"loc-relative"},
    ),
    "verify": (
        summary(verify="head"), summary(), "verify", {"page-noindex-meta", "status-soft-404"}, {"status-404", "loc-relative"},
    ),
    "sample": (
        summary(), summary(sample="10"), "sample", {"status-sampled", "hreflang-target-status"}, {"status-404"},
    ),
    "other pages of a sample": (summary(sample="10"), summary(sample="10", seed="2"), "sample", set(), {"status-404"}),
    "images and videos": (
        summary(verify_assets="yes"), summary(), "verify_assets", {"image-status"}, {"status-404", "image-loc-relative"},
    ),
    "links": (
        summary(graph=LINKED, links="yes"), summary(graph=LINKED, links="site"),
        "links", {"cross-orphan-url", "cross-not-in-sitemap"}, {"cross-duplicate-url"},
    ),
    "no links": (summary(), summary(graph=LINKED, links="yes"), "links", {"cross-orphan-url"}, {"status-404"}),
    "not all links": (
        summary(graph=CUT, links="site"), summary(graph=LINKED, links="site"),
        "max_pages", {"cross-orphan-url"}, {"status-404"},
    ),
    "no list": (summary(), summary(coverage=LISTED), "compare", {"coverage-not-listed"}, {"status-404"}),
    "another list": (
        summary(coverage=Coverage([ComparedList("log.txt")])), summary(coverage=LISTED),
        "compare", {"coverage-not-listed", "coverage-listed-only"}, {"status-404"},
    ),
    "answers to crawlers": (
        summary(fetch_as="GPTBot"), summary(), "fetch_as", {"crawler-refused", "crawler-gets-other-content"}, {"status-404"},
    ),
    "rendered pages": (
        summary(render="50"), summary(), "render", {"render-noindex-set", "render-links-added"}, {"status-404"},
    ),
    "other rendered pages": (summary(render="50"), summary(render="20"), "render", {"render-failed"}, {"status-404"}),
    "pages rendered as another": (
        summary(render="5", render_as="Googlebot"), summary(render="5"), "render_as", {"render-failed"}, {"status-404"},
    ),
    "crawlers": (summary(agents="Bingbot"), summary(), "agents", {*VERDICTS}, {"status-404"}),
}  # fmt: skip


@pytest.mark.parametrize("way", [1, -1], ids=["then", "now"])
@pytest.mark.parametrize("case", LEFT_OUT)
def test_what_one_crawl_could_not_know_is_left_out(case: str, way: int) -> None:
    *pair, reason, missing, kept = LEFT_OUT[case]
    before, now = cast(list[SummaryRecord], pair)[::way]
    found = compared(before, now)
    assert missing <= {*found.left_out.get(reason, ())}
    assert found.left_out.keys() <= {reason}
    assert not missing & found.severities.keys()
    assert kept & {*now.basis.rules, *before.basis.rules} <= found.severities.keys()
    assert found.pages_of_files == (reason not in ("verify", "sample"))


def test_pages_that_one_crawl_did_not_request_are_left_out() -> None:
    found = compared(summary(verify="off"), summary(), with_replies=False)
    assert {"status-404", "page-noindex-meta", "page-shell"} <= {*found.left_out["verify"]}
    assert "status-404" not in found.severities


def test_feed_without_a_summary_is_taken_to_be_judged_alike_and_to_hold_no_problems_of_files() -> None:
    found = compared(None, summary())
    assert not found.left_out
    assert not found.files
    assert "status-404" in found.severities


def test_feed_without_verdicts() -> None:
    assert compared(None, summary(), fields=("lastmod",)).left_out == {"agents": [*VERDICTS]}


def test_rule_of_a_version_that_is_not_installed_is_left_out() -> None:
    assert compared(summary([*IDS, "a-rule-to-come"]), summary()).left_out == {"rules": ["a-rule-to-come"]}
