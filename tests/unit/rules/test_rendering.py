"""Rules on rendered pages."""

from __future__ import annotations

from typing import Any

import pytest

from sitemapcrawler.items import RenderedRecord
from tests.unit.rules.sites import HOME, Site, page

SAME: dict[str, Any] = {
    "title": "Hall", "rendered_title": "Hall", "canonical": f"{HOME}/a", "rendered_canonical": f"{HOME}/a",
    "noindex": False, "rendered_noindex": False, "words": 100, "rendered_words": 100, "added_links": 0,
}  # fmt: skip
OTHER = f"{HOME}/b"
SITUATIONS: dict[str, tuple[dict[str, Any], str, str]] = {
    "empty HTML": ({"words": 2}, "render-empty-without-javascript", "the HTML of '/a' has 2 of 100 words"),
    "a fifth of the words": ({"words": 20}, "render-empty-without-javascript", "the HTML of '/a' has 20 of 100 words"),
    "empty HTML, and requests that failed": (
        {"words": 0, "failed": 1, "blocked": [OTHER]},
        "render-empty-without-javascript",
        "the HTML of '/a' has 0 of 100 words (2 requests of its scripts failed)",
    ),
    "noindex by a script": ({"rendered_noindex": True}, "render-noindex-set", "a script sets noindex on '/a'"),
    "noindex after an error": (
        {"rendered_noindex": True, "failed": 1},
        "render-noindex-set",
        "a script sets noindex on '/a' (1 request of its scripts failed)",
    ),
    "noindex taken away": (
        {"noindex": True}, "render-noindex-removed", "a script removes the noindex of '/a', which Google may never notice",
    ),
    "another canonical": (
        {"rendered_canonical": OTHER}, "render-canonical-changed", "a script replaces the canonical '/a' with '/b'",
    ),
    "a canonical by a script alone": ({"canonical": None}, "render-canonical-changed", "a script adds the canonical '/a'"),
    "no canonical once rendered": (
        {"rendered_canonical": None}, "render-canonical-changed", "a script removes the canonical",
    ),
    "more links": (
        {"added_links": 12, "added": [OTHER]},
        "render-links-added",
        "'/a' links to 12 listed pages only once it is rendered, such as '/b'",
    ),
    "another title": (
        {"rendered_title": "Hours"}, "render-title-changed", "a script changes the title 'Hall' to 'Hours'",
    ),
    "no title before": ({"title": ""}, "render-title-changed", "a script changes the title to 'Hall'"),
    "no rest": (
        {"result": "timeout", "note": "its scripts did not finish"},
        "render-failed",
        "rendering '/a' ended early: timeout: its scripts did not finish",
    ),
}  # fmt: skip
"""{situation: (what differs, rule, message)}"""


def rendered(**fields: Any) -> Site:
    return Site(page("/a"), RenderedRecord(f"{HOME}/a", **{"result": "rendered"} | SAME | fields))


@pytest.mark.parametrize(("fields", "rule", "message"), SITUATIONS.values(), ids=SITUATIONS)
def test_each_change_of_a_script_is_one_finding(fields: dict[str, Any], rule: str, message: str) -> None:
    assert rendered(**fields).told() == [(rule, "/a", message)]


@pytest.mark.parametrize(
    "fields",
    [
        {},
        {"words": 21},
        {"words": 0, "rendered_words": 19},
        {"words": None},
        {"canonical": None, "rendered_canonical": None},
        {"title": None},
        {"result": "redirected"}
        | {name: None for name in SAME if name.startswith("rendered_") or name == "added_links"},
    ],
    ids=["same", "short HTML", "short page", "cut page", "no canonical", "no title", "redirected"],
)
def test_page_that_scripts_leave_alone_has_no_finding(fields: dict[str, Any]) -> None:
    assert [rule for rule, _ in rendered(**fields).rules() if rule != "render-failed"] == []


def test_added_canonical_is_a_note_and_a_replaced_one_a_warning() -> None:
    severities = [rendered(**fields).findings()[0].severity for fields in ({"canonical": None}, {"canonical": OTHER})]
    assert severities == ["info", "warning"]


def test_findings_mark_all_entries_of_the_page() -> None:
    site = Site(
        page("/a"), page("/a", f"{HOME}/other.xml"), RenderedRecord(f"{HOME}/a", "rendered", **SAME | {"words": 0})
    )
    assert {path for _, path in site.marked()["render-empty-without-javascript"]} == {"/a"}
    assert len(site.marked()["render-empty-without-javascript"]) == 2
