"""Limits of a policy: how they are written, and what breaks them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from sitemapcrawler.items import (
    Basis,
    ChangeCounts,
    Coverage,
    Lastmods,
    LinkGraph,
    Revisits,
    SegmentCounts,
    Share,
    SummaryRecord,
)
from sitemapcrawler.policy import KEYS, Limit, Measured, Problems, breaches
from sitemapcrawler.rules import all_rules

RULES = sorted({rule.id for rule in all_rules()})
GET = Basis(RULES, {"verify": "get"})
SAMPLED = Basis(RULES, {"verify": "get", "sample": "50"})


@pytest.mark.parametrize(
    "text",
    [
        "max-removed=5%", "max-removed=0", "min-urls=1000", "min-urls=99.5%", "max-not-indexable=0.000001%", "must-list=/a=b/*$",
        "must-not-list=https://e.com/intern/", "max-errors=3", "max-errors.status-404=0", "shop.max-errors.page=1%",
        "other.max-removed=10", "min-lastmod-trust=90%",
    ],
)  # fmt: skip
def test_text_of_a_limit_makes_it_again(text: str) -> None:
    assert str(Limit.parse(text)) == text


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("max-removd=5", "unknown key, did you mean max-removed?"),
        ("shop.max-error=5", "unknown key, did you mean max-errors?"),
        ("x=5", f"unknown key; accepted: {', '.join(KEYS)}"),
        ("shop=5", "unknown key; accepted:"),
        ("max-removed", "is not limit=value"),
        ("max-removed=", "accepted: a whole number, or a share such as 2.5%"),
        ("max-removed=-1", "accepted: a whole number"),
        ("max-removed=101%", "accepted: a whole number"),
        ("max-removed=1e3", "accepted: a whole number"),
        ("max-removed.shop=1", "max-removed has no part shop"),
        ("min-lastmod-trust=90", "accepted: a share such as 90%"),
        ("max-errors.status-40=1", "no rule or family 'status-40', did you mean"),
        ("must-list=shop", "does not begin with"),
        ("a b.max-removed=1", "a segment's name has"),
    ],
)
def test_wrong_limit_is_refused(text: str, problem: str) -> None:
    with pytest.raises(ValueError) as caught:
        Limit.parse(text)
    assert problem in str(caught.value)


def message(
    text: str,
    counts: SegmentCounts | None = None,
    *,
    problems: Problems | None = None,
    matches: tuple[int, str | None] = (0, None),
    **fields: Any,
) -> str | None:
    """Why a limit is broken, by the counts of its segment or of the site; None if it is kept."""
    limit = Limit.parse(text)
    found = counts or SegmentCounts(urls=100)
    measured = Measured({None: found, "shop": found}, {limit: problems or Problems()}, {limit: matches})
    broken = breaches([limit], SummaryRecord(**{"basis": GET, **fields}), measured)
    assert [one.limit for one in broken] in ([], [text])
    return broken[0].message if broken else None


COMPARED: Mapping[str, Any] = {"changes": ChangeCounts()}
FEWER = SegmentCounts(urls=95, added=5, removed=10)


@pytest.mark.parametrize(
    ("text", "counts", "fields", "why"),
    [
        ("max-removed=10", FEWER, COMPARED, None),
        ("max-removed=10%", FEWER, COMPARED, None),
        ("max-removed=9", FEWER, COMPARED, "10 of 100 URLs (10 %) are no longer listed"),
        ("shop.max-removed=9.9%", FEWER, COMPARED, "10 of 100 URLs (10 %) are no longer listed"),
        ("max-removed=10", FEWER, {}, "this needs a baseline, which is missing"),
        ("max-removed=10", FEWER, {**COMPARED, "skipped": {"removed": 1}}, "it is unknown whether 1 URL of the baseline is still listed"),
        ("min-urls=95", FEWER, {}, None),
        ("min-urls=96", FEWER, {}, "95 URLs are listed"),
        ("min-urls=96", FEWER, COMPARED, "95 URLs are listed, 100 before"),
        ("min-urls=95%", FEWER, COMPARED, None),
        ("min-urls=95.1%", FEWER, COMPARED, "95 URLs are listed, 100 before"),
        ("min-urls=95%", FEWER, {}, "this needs a baseline, which is missing"),
    ],
)  # fmt: skip
def test_limits_of_listed_urls(text: str, counts: SegmentCounts, fields: Mapping[str, Any], why: str | None) -> None:
    assert message(text, counts, **fields) == why


SOME = SegmentCounts(urls=100, indexable=90, not_indexable=5, unknown=5)


@pytest.mark.parametrize(
    ("text", "counts", "fields", "why"),
    [
        ("shop.max-not-indexable=5", SOME, {}, None),
        ("shop.max-not-indexable=5%", SOME, {}, None),
        ("shop.max-not-indexable=4", SOME, {}, "5 of 100 URLs (5 %) are not indexable"),
        ("max-not-indexable=0", SOME, {"not_indexable": Share(100, 100, 1, 0.01, 0.01, 0.01)}, "1 of 100 URLs (1 %) is not indexable"),
        ("max-not-indexable=1", SOME, {"not_indexable": Share(100, 100, 1, 0.01, 0.01, 0.01)}, None),
        ("max-not-indexable=10", SOME, {"not_indexable": Share(1000, 50, 1, 0.02, 0, 0.1), "basis": SAMPLED}, "1 of 50 checked URLs (2 %) is not indexable"),
        ("max-not-indexable=2%", SOME, {"not_indexable": Share(1000, 50, 1, 0.02, 0, 0.1), "basis": SAMPLED}, None),
        ("shop.max-not-indexable=5", SOME, {"basis": Basis(RULES)}, "pages were not read (use verify=get)"),
        ("shop.max-not-indexable=5", SOME, {"basis": Basis(RULES, {"verify": "head"})}, "pages were not read (use verify=get)"),
        ("shop.max-not-indexable=5", SOME, {"replies": {"stopped": 1}}, "1 entry was not requested, since the crawl ended or gave up on the host"),
        ("shop.max-not-indexable=5", SegmentCounts(urls=9, unknown=9), {}, "it is unknown of all 9 URLs whether they can be indexed"),
        ("shop.max-not-indexable=5", SegmentCounts(urls=9), {}, "it is unknown of all 9 URLs whether they can be indexed"),
        ("shop.max-not-indexable=5", SegmentCounts(), {}, "no URL belongs to the segment shop"),
    ],
)  # fmt: skip
def test_limits_of_indexable_urls(text: str, counts: SegmentCounts, fields: Mapping[str, Any], why: str | None) -> None:
    assert message(text, counts, **fields) == why


@pytest.mark.parametrize(
    ("text", "problems", "why"),
    [
        ("max-errors=3", Problems(2, 1), None),
        ("max-errors=2", Problems(2, 1), "2 URLs and 1 file have errors"),
        ("max-errors=0", Problems(site=1), "the site has errors"),
        ("max-errors=2%", Problems(3), "3 URLs have errors (3 %)"),
        ("max-errors=3%", Problems(3), None),
        ("max-errors.status-404=0", Problems(1), "1 URL has findings of status-404"),
        ("shop.max-errors.status=0", Problems(0, 2), "2 files have errors of status"),
    ],
)
def test_limits_of_findings(text: str, problems: Problems, why: str | None) -> None:
    assert message(text, problems=problems) == why


@pytest.mark.parametrize(
    ("rule", "fields", "why"),
    [
        ("status-404", {"basis": Basis(RULES)}, "pages were not requested (use verify=get)"),
        ("page", {"basis": Basis(RULES, {"verify": "head"})}, "pages were not read (use verify=get)"),
        ("status-404", {"basis": Basis(RULES, {"verify": "head"})}, None),
        ("status-404", {"basis": Basis(["loc-fragment"], {"verify": "get"})}, "status-404 was not applied"),
        ("cross-count-drop", {}, "this needs a baseline, which is missing"),
        ("cross-count-drop", COMPARED, None),
        ("cross-orphan-url", {}, "no links were read (use links=yes)"),
        ("cross-orphan-url", {"graph": LinkGraph()}, None),
        ("coverage", {}, "no lists were compared (use compare)"),
        ("coverage", {"coverage": Coverage()}, None),
        ("crawler-refused", {}, "no pages were requested as crawlers (use fetch_as)"),
        ("render-noindex-set", {}, "no pages were rendered (use render)"),
        ("loc-relative", {"skipped": {"loc-relative": 2}}, "loc-relative could not check 2 files or sites"),
        ("loc", {"basis": Basis(RULES)}, None),
    ],
)
def test_rule_that_could_not_find_anything_breaks_its_limit(
    rule: str, fields: Mapping[str, Any], why: str | None
) -> None:
    assert message(f"max-errors.{rule}=0", **fields) == why


def test_limit_of_all_errors_is_broken_where_no_rule_was_applied() -> None:
    assert message("max-errors=0", basis=Basis()) == "no rule was applied"


@pytest.mark.parametrize(
    ("text", "matches", "why"),
    [
        ("must-list=/", (3, "https://e.com/"), None),
        ("must-list=/terms", (0, None), "no listed URL matches"),
        ("must-not-list=/intern/", (0, None), None),
        ("must-not-list=/intern/", (1, "https://e.com/intern/a"), "1 URL is listed, such as https://e.com/intern/a"),
    ],
)
def test_limits_of_patterns(text: str, matches: tuple[int, str | None], why: str | None) -> None:
    assert message(text, matches=matches) == why


@pytest.mark.parametrize(
    ("text", "counts", "lastmod", "why"),
    [
        ("min-lastmod-trust=90%", None, Lastmods(1, 9, 0.9), None),
        ("min-lastmod-trust=90%", None, Lastmods(1, 9, 0.899), "at most 89.9 % of the dates can be trusted"),
        (
            "min-lastmod-trust=90%",
            None,
            Lastmods(1, 0, 0.0, {"identical": 2700}),
            "at most 0 % of the dates can be trusted (identical: 2,700)",
        ),
        ("min-lastmod-trust=90%", None, Lastmods(1, 9, 0.5), "at most 50 % of the dates can be trusted"),
        ("min-lastmod-trust=90%", None, Lastmods(1, 0), "nothing is known of the dates"),
        ("min-lastmod-trust=90%", None, None, "dates were not checked (use verify=get)"),
        ("shop.min-lastmod-trust=90%", SegmentCounts(urls=1, trusted=0.95), Lastmods(1, 9, 0.5), None),
        ("shop.min-lastmod-trust=90%", SegmentCounts(urls=1), Lastmods(1, 9, 0.95), "nothing is known of the dates"),
    ],
)
def test_limits_of_trust_in_dates(
    text: str, counts: SegmentCounts | None, lastmod: Lastmods | None, why: str | None
) -> None:
    assert message(text, counts, lastmod=lastmod) == why


def test_site_is_trusted_no_more_than_the_baseline_proves() -> None:
    limit = "min-lastmod-trust=90%"
    assert (
        message(limit, lastmod=Lastmods(1, 9, 0.95, {"future": 8}), revisits=Revisits(4, 3, 1, 0))
        == "at most 75 % of the dates can be trusted (3 of 4 dates proved true)"
    )
    assert (
        message(limit, lastmod=Lastmods(1, 9, 0.8), revisits=Revisits(4, 4))
        == "at most 80 % of the dates can be trusted"
    )
    assert message(limit, lastmod=Lastmods(1, 0), revisits=Revisits(4, 4)) is None


@pytest.mark.parametrize("text", ["min-urls=1", "must-not-list=/x", "max-errors=100%"])
def test_crawl_that_ended_early_breaks_every_policy(text: str) -> None:
    broken = breaches([Limit.parse(text)], SummaryRecord(basis=GET, partial="max_urls"), None)
    assert list(map(str, broken)) == ["the crawl ended early (max_urls), so the policy was not checked"]


def test_what_could_not_be_counted_breaks_every_policy() -> None:
    [broken] = breaches([Limit.parse("min-urls=1")], SummaryRecord(basis=GET), None)
    assert str(broken) == "the database failed, so the policy was not checked"
