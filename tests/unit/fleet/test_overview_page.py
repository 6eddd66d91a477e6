"""The page of a fleet: its sections with and without data, text of strangers, its size."""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest

from sitemapcrawler.fleet.overview import (
    MAX_AGENTS,
    MAX_DOMAINS,
    MAX_EXAMPLES,
    MAX_REASONS,
    MAX_RULES,
    MAX_TROUBLES,
    ORDER,
    BadShare,
    Denied,
    DomainSize,
    Overview,
    RuleSpread,
    Totals,
    Trouble,
    TroubleReason,
)
from sitemapcrawler.fleet.summary_page import MISSING, NAMES, SHADES, health, page
from sitemapcrawler.items import Reach
from tests.unit.report.hostile import HOSTILE, check_inert, parsed, spoiled

SECTIONS = ["domains", "troubles", "rules", "replies", "crawlers", "sizes", "fleet"]
MAX_PAGE = 1_000_000
"""Bytes of a page as full as it gets."""
LONGEST = "sub-domain." * 23
"""As long as the name of a host may be."""


def overview(rows: int = 3, domain: str = "shop.example", what: str = "The page is gone. Or not.") -> Overview:
    """A fleet of a million domains, its tables up to so many rows each."""

    def names(count: int = MAX_EXAMPLES) -> list[str]:
        return [f"{at}.{domain}" for at in range(count)]

    sizes = [DomainSize(name, 50_000, 12, 40, 300, 75.5, 1_200_000) for name in names(min(rows, MAX_DOMAINS))]
    return Overview(
        totals=Totals(
            *(1_000_000, 2_500_000_000, 40_000_000, 9_000_000, 10**12, 10**8, 11.5, 600.0, 350.5, 1200, 9, 70, 18, 72),
            *(900_000, 800_000, "2026-11-20T10:00:00Z", "2026-11-22T10:00:00Z", 64),
        ),
        states={"finished": 900_000, "limited": 100, "partial": 50_000, "unread": 40_000, "failed": 9_900},
        found={"error": Reach("error", 4_000_000, None, 9), "info": Reach("info", 0, None, 7)},
        reasons=[TroubleReason("failed", what, 9_900 - at, names()) for at in range(min(rows, MAX_REASONS))],
        troubles=[
            Trouble(name, state, what, 3, "node-7", 12) for state in ORDER for name in names(min(rows, MAX_TROUBLES))
        ],
        rules=[
            RuleSpread(f"loc-rule-{at}", "error", what, 70_000, 12, 3, dict.fromkeys(names(), 7))
            for at in range(min(rows, MAX_RULES))
        ],
        replies={"ok": 60, "http-error": 5, "sampled-out": 10**9},
        bad=[BadShare(name, 90, 100, 0.82) for name in names(min(rows, MAX_DOMAINS))],
        denied=[
            Denied("GPTBot" if not at else f"Bot{at}", 300_000, 10, 12, names()) for at in range(min(rows, MAX_AGENTS))
        ],
        erroneous=sizes,
        largest=sizes,
        slowest=sizes,
    )


@pytest.mark.parametrize("shown", [Overview(), overview()], ids=["empty", "full"])
def test_page_holds_every_section_in_order(shown: Overview) -> None:
    made = page(shown)
    check_inert(made)
    tree = parsed(made)
    assert tree.xpath("//main/section/@id") == SECTIONS
    assert tree.xpath("//nav//a/@href") == [f"#{section}" for section in SECTIONS]
    for section in tree.xpath("//main/section"):
        assert tree.get_element_by_id(section.get("aria-labelledby")).tag == "h2"
    assert len(set(tree.xpath("//@id"))) == len(tree.xpath("//@id"))


def test_sections_without_data_say_why() -> None:
    tree = parsed(page(Overview()))
    told = {section.get("id"): " ".join(section.text_content().split()) for section in tree.xpath("//main/section")}
    assert "has no finished domain" in told["domains"]
    assert "There is no domain." in told["troubles"]
    assert "No domain has a result." in told["rules"]
    assert "verify=head" in told["replies"]
    assert "No domain lists a URL." in told["crawlers"]
    assert not tree.xpath("//table | //figure")


def test_fleet_that_failed_as_a_whole_has_a_page() -> None:
    reason = TroubleReason("failed", "the disk is full", 2, ["a.example", "b.example"])
    trouble = Trouble("a.example", "failed", "the disk is full", 3, "", 0)
    failed = Overview(Totals(domains=2, repeated=2), states={"failed": 2}, reasons=[reason], troubles=[trouble])
    tree = parsed(page(failed))
    assert tree.get_element_by_id("domains-title").text == "No domain was read"
    assert "1 of 2 domains" in tree.get_element_by_id("troubles").text_content()


READ, MIXED = {"finished": 2, "limited": 1}, {"finished": 1, "partial": 1, "unread": 1}


@pytest.mark.parametrize(
    ("states", "found", "level", "headline"),
    [
        ({}, {}, "unknown", "No domain"),
        ({"unread": 1}, {"with_errors": 1}, "error", "No domain was read"),
        ({"unread": 1, "failed": 1}, {}, "error", "No domain was read"),
        (READ, {}, "ok", "Sitemap files are valid"),
        (READ, {"checked": 5}, "ok", "Healthy"),
        (READ, {"with_warnings": 1}, "warning", "Sitemap files are valid, with warnings"),
        (READ, {"with_warnings": 1, "checked": 5}, "warning", "Works, with warnings"),
        (READ, {"with_errors": 3}, "error", "Needs repair"),
        (READ, {"with_errors": 1, "with_warnings": 2, "checked": 5}, "error", "Needs repair"),
        (MIXED, {"with_errors": 1}, "error", "Needs repair"),
        (MIXED, {"with_warnings": 1}, "warning", "1 of 3 domains read completely"),
        ({"partial": 2}, {}, "warning", "0 of 2 domains read completely"),
    ],
)
def test_verdict_is_that_of_the_findings(
    states: dict[str, int], found: dict[str, int], level: str, headline: str
) -> None:
    verdict = health(Overview(Totals(domains=sum(states.values()), **found), states=states))
    assert (verdict.level, verdict.headline) == (level, headline)


def test_fleet_that_applied_no_rule_is_not_healthy() -> None:
    verdict = health(Overview(Totals(domains=3), judged=False, states=READ))
    assert (verdict.level, verdict.headline) == ("unknown", "Not judged")
    assert verdict.sentences[0] == "No rules were applied, so their health is unknown."


def test_sentences_count_domains_by_their_worst_finding() -> None:
    assert health(Overview(Totals(domains=3, with_errors=1, with_warnings=2), states=READ)).sentences == [
        "1 read up to a limit.",
        "1 domain has errors, of 3 with a result.",
        "2 domains have warnings and no errors, of 3 with a result.",
    ]


def test_share_of_urls_that_are_not_indexable() -> None:
    tree = parsed(page(overview()))
    shown = {section: " ".join(tree.get_element_by_id(section).text_content().split()) for section in SECTIONS}
    assert "Not indexable25 %of 72 URLs" in shown["domains"]
    assert "18 of 72 URLs (25 %) are not indexable." in shown["replies"]
    unverified = page(dataclasses.replace(overview(), totals=Totals(domains=1)))
    assert "indexable" not in unverified


def test_verdict_names_what_is_missing() -> None:
    assert health(overview()).sentences == [
        "9,900 failed, 40,000 without a sitemap that could be read, 50,000 read in part and 100 read up to a limit.",
        "800,000 domains have errors, of 990,100 with a result.",
    ]


def test_every_state_has_words_and_a_colour() -> None:
    assert NAMES.keys() == SHADES.keys() == {"finished", *ORDER}
    assert MISSING.keys() == set(ORDER)


def test_reasons_are_those_of_a_crawl_in_words() -> None:
    shown = overview(1, what="max_time")
    assert "it reached max_time" in parsed(page(shown)).get_element_by_id("troubles").text_content()


def test_full_page_stays_small_and_whole() -> None:
    made = page(overview(10_000, LONGEST, "no answer from <http> & co within 30 s, asked 3 times " * 9))
    assert len(made.encode()) < MAX_PAGE
    tree = parsed(made)
    rows = {table.find("caption").get("id"): len(table.findall("tbody/tr")) for table in tree.iter("table")}
    assert rows["incomplete"] == 4 * MAX_TROUBLES
    assert (rows["reasons"], rows["found"], rows["denied"], rows["largest"], rows["bad"]) == (30, 300, 100, 50, 50)


@pytest.mark.parametrize("keep", [False, True], ids=["instead of", "behind"])
@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
def test_text_of_strangers_is_inert_in_every_field(text: str, keep: bool) -> None:
    shown = overview(2)
    ours: dict[str, Any] = {"states": shown.states}
    made = page(dataclasses.replace(spoiled(shown, text, keep), **ours))
    check_inert(made)
    assert len(made) < MAX_PAGE


def test_same_overview_makes_the_same_page() -> None:
    assert page(overview()) == page(overview())
