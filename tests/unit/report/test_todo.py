"""What a person does next about a URL that is not indexable."""

from __future__ import annotations

from typing import Any

import pytest

from sitemapcrawler.items import Hop, ReplyRecord, Target, UrlRecord
from sitemapcrawler.replies.indexability import UNKNOWN, Indexability, set_indexability
from sitemapcrawler.report.advice import LEADING
from sitemapcrawler.report.todo import NEXT, WHY, leads_to, next_step, why
from sitemapcrawler.rules import all_rules

LOC, NEW, ELSEWHERE = "https://example.com/a", "https://example.com/b", "https://other.example/"


def moved(to: str = NEW, **fields: Any) -> ReplyRecord:
    answer = {"kind": "redirected", "status": 301, "final_status": 200, "final_url": to, "redirects": [Hop(301, LOC)]}
    return ReplyRecord(**{**answer, **fields})


def copy(canonical: str) -> ReplyRecord:
    return ReplyRecord("ok", status=200, final_status=200, final_url=LOC, noindex=False, canonical=canonical)


def error(status: int) -> ReplyRecord:
    return ReplyRecord("http-error", status=status, final_status=status, final_url=LOC)


@pytest.mark.parametrize(
    ("rule", "reply", "step"),
    [
        ("page-canonical-other-language", copy(ELSEWHERE), "Let the page name itself as canonical"),
        ("status-redirect-to-login", moved(ELSEWHERE), "Remove the entry, or let everyone read the page"),
    ],
)
def test_page_that_takes_no_place_is_not_listed_instead(rule: str, reply: ReplyRecord, step: str) -> None:
    record = UrlRecord(LOC, reply=reply, target=Target(ELSEWHERE, indexable=True), issues=[rule])
    set_indexability(record)
    assert next_step(record).startswith(step)


@pytest.mark.parametrize(
    ("reply", "target", "words", "place", "step"),
    [
        (error(404), None, "page does not exist", None, "Remove the entry, or restore"),
        (error(503), None, "server error", None, "Fix the server error"),
        (error(429), None, "server error", None, "Raise the server's rate limit"),
        (error(401), None, "server refuses", None, "Let everyone read"),
        (ReplyRecord("timeout", final_url=LOC), None, "no answer in time", None, "Make the server answer"),
        (ReplyRecord("ok", soft_404="its title says so"), None, "status: its title says so", None, "answer 404"),
        (ReplyRecord("ok", noindex=True), None, "page says noindex", None, "or remove noindex"),
        (moved(), Target(NEW, indexable=True), "redirects", NEW, "List the target instead."),
        (moved(), Target(NEW, indexable=False, indexability="noindex"), "redirects", NEW, "either (noindex)"),
        (moved(), Target(NEW), "redirects", NEW, "it was not checked"),
        (moved(content_type="image/png"), Target(NEW, indexable=True), "redirects", NEW, "not to a page"),
        (moved(ELSEWHERE), Target(ELSEWHERE, indexable=True), "redirects", ELSEWHERE, "leads to another site"),
        (moved("https://www.example.com/a"), Target("https://www.example.com/a", indexable=True), "redirects",
         "https://www.example.com/a", "List the target instead."),
        (moved(redirects=[Hop(302, LOC)]), Target(NEW, indexable=True), "redirects", NEW, "otherwise keep the entry"),
        (moved(kind="redirect-loop"), None, "redirect loop", None, "fix the redirect"),
        (copy(NEW), Target(NEW, indexable=True), "canonical", NEW, "List the target instead."),
        (copy(NEW), None, "canonical", NEW, "correct the canonical"),
        (copy(ELSEWHERE), Target(ELSEWHERE), "canonical", ELSEWHERE, "Correct the canonical, or remove the entry"),
    ],
)  # fmt: skip
def test_each_reason_has_a_next_step(
    reply: ReplyRecord, target: Target | None, words: str, place: str | None, step: str
) -> None:
    record = UrlRecord(LOC, reply=reply, target=target)
    set_indexability(record)
    assert record.indexable is False
    assert words in why(record)
    assert leads_to(record) == place
    assert step in next_step(record)


@pytest.mark.parametrize("indexable", [True, None])
@pytest.mark.parametrize(
    ("reply", "rule"), [(moved(), "status-redirect-target-listed-too"), (copy(NEW), "page-canonical-other-listed-too")]
)
def test_no_second_entry_for_a_target_is_advised(reply: ReplyRecord, rule: str, indexable: bool | None) -> None:
    record = UrlRecord(LOC, reply=reply, target=Target(NEW, indexable=indexable), issues=[rule])
    set_indexability(record)
    assert next_step(record) == "Remove the entry: its target is listed too."


def test_the_general_advice_holds_for_targets_that_are_listed_too() -> None:
    fixes = {rule.id: rule.fix for rule in all_rules() if rule.id in LEADING}
    assert fixes.keys() == LEADING
    assert all(fix.startswith("Remove these URLs") and "unless" in fix for fix in fixes.values()), fixes


def test_robots_txt_is_a_reason_too() -> None:
    record = UrlRecord(LOC, blocked_for=["Googlebot"])
    set_indexability(record)
    assert (why(record), next_step(record)) == (
        "blocked by robots.txt",
        "Allow the URL in robots.txt, or remove the entry.",
    )


def test_every_reason_has_words_and_a_step() -> None:
    assert set(WHY) == set(NEXT) == set(Indexability) - {Indexability.OK, *UNKNOWN}
