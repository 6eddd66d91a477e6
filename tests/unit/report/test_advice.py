"""Advice for a site: its own file, value and correction, and nothing that is not certain."""

from __future__ import annotations

from typing import Any

import pytest
from lxml import html

from sitemapcrawler.items import FindingRecord, Reach
from sitemapcrawler.report.advice import corrected, here, in_words
from sitemapcrawler.report.model import Lead, RuleReach

SITE = "https://example.com"
FILE = f"{SITE}/products.xml.gz"


def told(
    rule: str = "lastmod-missing", count: int = 120, examples: list[FindingRecord] | None = None, **fields: Any
) -> str:
    """The sentences about a rule as text."""
    reach = RuleReach(
        rule,
        Reach("error", fields.pop("urls", count), count, fields.pop("files", 1)),
        count,
        "",
        "",
        "",
        examples or [],
        kept=fields.pop("kept", count),
        **fields,
    )
    made = here(reach, SITE)
    return html.fromstring(f"<p>{made}</p>").text_content()


@pytest.mark.parametrize(
    ("count", "fields", "expected"),
    [
        (120, {"main_file": FILE, "in_main_file": 120}, "All 120 are in /products.xml.gz."),
        (2, {"main_file": FILE, "in_main_file": 2}, "Both are in /products.xml.gz."),
        (2, {"main_file": FILE, "in_main_file": 2, "files": 6}, ""),
        (1, {"main_file": FILE, "in_main_file": 1}, ""),
        (120, {"main_file": FILE, "in_main_file": 80}, "Most of them, 80 of 120, are in /products.xml.gz."),
        (120, {"main_file": FILE, "in_main_file": 30}, "The file with the most, 30 of 120, is /products.xml.gz."),
        (120, {"main_file": FILE, "in_main_file": 1}, ""),
        (120, {}, ""),
        (9, {"main_value": "x", "with_main_value": 9}, "The value is always x."),
        (9, {"main_value": "x", "with_main_value": 5}, "5 of 9 have the value x."),
        (9, {"main_value": "x", "with_main_value": 4}, ""),
        (1, {"main_value": "x", "with_main_value": 1}, ""),
        (3, {"urls": 240, "main_value": "x", "with_main_value": 3}, ""),
        (900, {"main_value": "x", "with_main_value": 66, "kept": 100}, "66 of 100 listed findings have the value x."),
        (900, {"main_value": "x", "with_main_value": 100, "kept": 100}, "All 100 listed findings have the value x."),
        (9, {"main_value": "x" * 500, "with_main_value": 9}, ""),
    ],
)
def test_where_and_what(count: int, fields: dict[str, Any], expected: str) -> None:
    assert told(count=count, **fields) == expected


def test_statuses_are_not_repeated() -> None:
    assert told("status-404", 9, main_value="404", with_main_value=9) == ""
    assert told("status-tls", 9, main_value="tls", with_main_value=9) == ""
    assert told("status-connection", 9, main_value="refused", with_main_value=9) == "The value is always refused."


def test_value_is_corrected() -> None:
    shown = told("lastmod-invalid", 3, main_value="11/23/2026", with_main_value=3)
    assert shown == "The value is always 11/23/2026. For example, write 2026-11-23 instead of 11/23/2026."


def test_first_value_that_can_be_corrected_is_the_example() -> None:
    found = [FindingRecord("lastmod-invalid", value=value) for value in ("05/06/2026", "May 13, 2026")]
    assert told("lastmod-invalid", 2, found) == "For example, write 2026-05-13 instead of May 13, 2026."


def test_text_of_the_site_is_only_text() -> None:
    bad = "<b onclick=x>"
    made = here(
        RuleReach(
            "r",
            Reach("error", 2, 2, 1),
            2,
            "",
            "",
            "",
            main_file=bad,
            in_main_file=2,
            main_value=bad,
            with_main_value=2,
        )
    )
    assert "<b" not in made and made.count("&lt;b onclick") == 2


@pytest.mark.parametrize(
    ("rule", "value", "url", "right"),
    [
        ("lastmod-invalid", "11/23/2026", "", "2026-11-23"),
        ("lastmod-invalid", "05/13/2026", "", "2026-05-13"),
        ("lastmod-invalid", "05/06/2026", "", None),
        ("lastmod-invalid", "last Tuesday", "", None),
        ("lastmod-invalid", "2026-05-13 10:00:00", "", None),
        ("lastmod-invalid", "Wed, 13 May 2026 10:00:00 GMT", "", "2026-05-13T10:00:00Z"),
        ("lastmod-invalid", "2026-01-05T10:00:00+0100", "", "2026-01-05T09:00:00Z"),
        ("lastmod-invalid", "1779500000", "", None),
        ("changefreq-invalid", " Daily", "", "daily"),
        ("changefreq-invalid", "sometimes", "", None),
        ("priority-invalid", "0,5", "", "0.5"),
        ("priority-invalid", "high", "", None),
        ("video-duration-range", "05:30", "", "330"),
        ("video-duration-range", "9:00:00", "", None),
        ("video-view-count-invalid", "1,234,567", "", "1234567"),
        ("video-view-count-invalid", "1.5", "", None),
        ("video-yesno-invalid", "TRUE", "", "yes"),
        ("hreflang-code-underscore", "en_us", "", "en-US"),
        ("hreflang-code-case", "en-gb", "", "en-GB"),
        ("loc-relative", "/shop/", f"{SITE}/shop/", f"{SITE}/shop/"),
        ("loc-relative", "www.example.com/shop/", f"{SITE}/www.example.com/shop/", None),
        ("image-loc-relative", "//cdn.example.com/a.png", f"{SITE}/a", "https://cdn.example.com/a.png"),
        ("loc-relative", "/shop/", "", None),
        ("loc-fragment", "", f"{SITE}/a#b", f"{SITE}/a"),
        ("loc-double-slash", "", f"{SITE}//a///b?u=https://x//y", f"{SITE}/a/b?u=https://x//y"),
        ("loc-default-port", "443", f"{SITE}:443/a:443", f"{SITE}/a:443"),
        ("loc-uppercase-host", "", "https://Example.com/A", f"{SITE}/A"),
        ("loc-double-escaped", "", f"{SITE}/?a=1&amp;b=2", f"{SITE}/?a=1&b=2"),
        ("loc-non-ascii", "", f"{SITE}/caf\u00e9", f"{SITE}/caf%C3%A9"),
        ("status-redirect", f"{SITE}/new", f"{SITE}/old", None),
        ("status-404", "404", f"{SITE}/old", None),
        ("own-rule", "x", f"{SITE}/old", None),
    ],
)
def test_corrections(rule: str, value: str, url: str, right: str | None) -> None:
    found = corrected(rule, value, url)
    assert (found and found[1]) == right
    assert found is None or found[0] in (value, url)


@pytest.mark.parametrize(
    "text", ["", "\x00", "\ud800", "//", "https://[::1/", "9" * 5000, "<b>" * 1000, ":::", "1,2,3"]
)
def test_no_text_breaks_a_correction(text: str) -> None:
    from sitemapcrawler.report import advice

    for rule in (*advice.RELATIVE, *advice.OF_URLS, *advice.OF_VALUES):
        corrected(rule, text, text)


def test_words_for_a_terminal_are_plain_text() -> None:
    reach = RuleReach("lastmod-invalid", Reach("error", 3, 3, 1), 3, "", "", "", fix="Write `2026-01-05`.", main_file=FILE, in_main_file=3,
        main_value="<b>11/23/2026</b>", with_main_value=3, kept=3,
    )  # fmt: skip
    assert in_words(reach, SITE) == (
        "Write 2026-01-05. All 3 are in /products.xml.gz. The value is always <b>11/23/2026</b>."
    )


@pytest.mark.parametrize(("count", "expected"), [(1, "Fix it. See /products.xml.gz:7."), (2, "Fix it.")])
def test_single_finding_is_named_with_its_place(count: int, expected: str) -> None:
    found = [FindingRecord("status-404", sitemap=FILE, line=7)]
    reach = RuleReach(
        "status-404", Reach("error", count, count, 1), count, "", "", "", found, fix="Fix it.", kept=count
    )
    assert in_words(reach, SITE) == expected


def test_single_finding_on_an_entry_is_named_with_its_url() -> None:
    found = [FindingRecord("status-404", url=f"{SITE}/a", sitemap=FILE, line=1)]
    reach = RuleReach("status-404", Reach("error", 1, 1, 1), 1, "", "", "", found, fix="Fix it.", kept=1)
    assert in_words(reach, SITE) == "Fix it. See /a in /products.xml.gz:1."


@pytest.mark.parametrize("step", ["Remove the entry: its target is listed too.", "List the target instead."])
def test_url_that_leads_elsewhere_is_advised_as_in_the_workbook(step: str) -> None:
    found = [FindingRecord("status-redirect", url=f"{SITE}/old", value=f"{SITE}/new")]
    lead = Lead(f"{SITE}/old", f"{SITE}/new", step)
    reach = RuleReach("status-redirect", Reach("warning", 2, 2, 1), 2, "", "", "", found, lead=lead)
    assert in_words(reach, SITE) == f"For example, {SITE}/old leads to {SITE}/new. {step}"


@pytest.mark.parametrize(("count", "expected"), [(1, "GPTBot is refused."), (2, "For example: GPTBot is refused.")])
def test_finding_on_the_site_is_told_by_its_message(count: int, expected: str) -> None:
    found = [FindingRecord("crawler-refused", message="GPTBot is refused")]
    reach = RuleReach("crawler-refused", Reach("error", 0, 0, 0), count, "", "", "", found, kept=count)
    assert in_words(reach, SITE) == expected
