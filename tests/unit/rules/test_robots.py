"""The rules on how robots.txt was answered, and on the sitemaps that it names."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given

from sitemapcrawler.robots import Policy
from sitemapcrawler.robots.text import MAX_BYTES
from tests.unit.tables import cases

from ..robots.saying import FILES
from .robots_told import BODIES, NAMED, OPEN, URL, Found, answered, found, short, told

REAL = Path(__file__).resolve().parents[3].parent / "shared" / "real"


def test_a_good_file_gives_no_finding() -> None:
    assert found(OPEN) == []
    assert found(f"{NAMED}# all\n\nUser-agent: *\nAllow: /\nDisallow: /*?sort=\nHost: example.com\n") == []


# ---- the answer


@pytest.mark.parametrize(
    ("policy", "rules"),
    cases(
        ([answered("", status=404), answered("", status=410), answered("", status=403),
          answered("", status=302)], [("robots-missing", None, "info")]),
        ([answered("", status=429), answered(OPEN, status=500),
          Policy.unreachable(URL, "no answer in time")], [("robots-unreachable", None, "error")]),
        ([Policy.unreachable(URL, "the proxy http://p.test:80 cannot be reached", is_ours=True)], []),
        ([Policy.unreachable(URL, "10.0.0.1, which is not public", is_ours=True)],
         [("security-address-refused", None, "warning")]),
        ([Policy.too_many_redirects(URL, 301)], [("robots-redirects-too-many", None, "warning")]),
    ),
)  # fmt: skip
def test_an_answer_without_rules_is_one_finding(policy: Policy, rules: Found) -> None:
    assert short(told(policy, ["https://example.com/a"])) == rules


@pytest.mark.parametrize(
    ("status", "words"), [(404, "there is none"), (403, "refuses this crawler"), (302, "leads nowhere")]
)
def test_a_missing_one_says_why(status: int, words: str) -> None:
    [finding] = told(answered("", status=status))
    assert words in finding.message


def test_of_a_foreign_host_only_what_listed_urls_depend_on_is_told() -> None:
    gone = Policy.unreachable(URL, "HTTP status 503")
    assert short(told(gone, start=False)) == []
    [finding] = told(gone, ["https://example.com/a", "https://example.com/b"], start=False)
    assert finding.message == "HTTP status 503: crawlers treat everything as disallowed, including 2 listed URLs"
    assert finding.severity == "error"
    [finding] = told(gone, ["https://example.com/a"], start=False, third_party=True)
    assert finding.severity == "info"
    assert told(answered("Dissalow: /a"), start=False) == []


def test_too_many_requests_close_the_host_to_google() -> None:
    busy = answered("", status=429)
    assert short(told(busy, start=False)) == []
    [finding] = told(busy, ["https://example.com/a"], start=False)
    assert finding.message == (
        "HTTP status 429: Google's crawlers treat everything as disallowed, including 1 listed URL; "
        "most others treat it as allowed"
    )
    [finding] = told(busy, ["https://example.com/a"], start=False, third_party=True)
    assert finding.severity == "info"


def test_site_that_is_read_over_http_instead_is_only_worth_knowing() -> None:
    gone = Policy.unreachable(URL, "connection refused")
    assert short(told(gone, given_up=True)) == [("robots-unreachable", None, "info")]
    assert short(told(gone, ["https://example.com/a"], given_up=True)) == [("robots-unreachable", None, "error")]


def test_what_another_sites_robots_answered_is_told_there() -> None:
    assert told(answered("", status=404), final="https://www.example.com/robots.txt") == []
    assert short(told(answered("", status=404), final="https://example.com/missing")) == [
        ("robots-missing", None, "info")
    ]


@pytest.mark.parametrize(
    ("body", "words"),
    [
        (b"<!DOCTYPE html>\n<html><body>\nDisallow: /\nfoo\n</body></html>", "an HTML page or other markup"),
        (b'{"error": "not found"}', "JSON"),
        (bytes(range(256)) * 8, "binary data"),
        (b"<pre>\nUser-agent: *\nDisallow: /\n</pre>", "rules for 1 crawler are found in it anyway"),
    ],
)
def test_what_is_no_text_is_one_finding(body: bytes, words: str) -> None:
    [finding] = told(answered(body))
    assert (finding.rule, finding.severity) == ("robots-is-html", "warning")
    assert words in finding.message


@pytest.mark.parametrize(
    ("body", "rules"),
    [
        (f"<!-- cached -->\n{OPEN}", [("robots-markup", 1, "warning")]),
        (f"{OPEN}<!-- cached -->\n<!-- again -->\n", [("robots-markup", 4, "warning")]),
        (f"{OPEN}Disallow: /a<br>\n", [("robots-markup", 4, "warning")]),
        (f"{OPEN}# <b>bold</b>\nDisallow: /a<b\n", []),
        (f"<html><body><pre>{OPEN}</pre></body></html>", [("robots-is-html", None, "warning")]),
        ("<!-- gone -->", [("robots-is-html", None, "warning")]),
    ],
)
def test_lines_of_markup(body: str, rules: Found) -> None:
    assert found(body) == rules


def test_markup_names_what_is_found_in_it() -> None:
    [finding] = told(answered(f"<html><body><pre>\n{OPEN}</pre></body></html>"))
    assert finding.message.endswith("rules for 1 crawler are found in it anyway")
    [finding] = told(answered(f"{OPEN}<br />\n<b>Notice</b>: x\n<br />"))
    assert finding.message == "'<br />' and 2 more lines contain HTML"


def test_byte_order_mark_further_down() -> None:
    body = f"{OPEN}\ufeffUser-agent: a\nDisallow: /a\ufeff\n\ufeff# comment\n\ufeff\n"
    assert found(body) == [("robots-bom", 4, "warning"), ("robots-bom", 5, "warning")]
    [hidden, value] = told(answered(body))
    assert hidden.message == "a byte order mark (U+FEFF) in 'User-agent: a' hides the line from crawlers"
    assert value.message == "a byte order mark (U+FEFF) in 'Disallow: /a' is part of the field or value"


def test_no_sitemap_matters_less_where_one_was_found() -> None:
    robots = answered("User-agent: *\nDisallow: /cart\n")
    assert short(told(robots)) == [("robots-no-sitemap", None, "warning")]
    assert short(told(robots, sitemap_read=True)) == [("robots-no-sitemap", None, "info")]
    assert short(told(robots, ["https://example.com/a"])) == [("robots-no-sitemap", None, "info")]


def test_size_encoding_and_mark() -> None:
    long = OPEN + "# nothing\n" * (MAX_BYTES // 10)
    assert found(long) == [("robots-too-large", (MAX_BYTES - len(OPEN)) // 10 + 4, "warning")]
    assert found(long[:MAX_BYTES]) == []
    assert found(OPEN.encode("utf-8-sig")) == [("robots-bom", 1, "warning")]
    assert found(OPEN.encode("utf-16")) == [("robots-not-utf8", 1, "warning")]
    assert "UTF-16" in told(answered(OPEN.encode("utf-16-be")))[0].message


@pytest.mark.parametrize(
    ("line", "severity"),
    [
        (b"Disallow: /caf\xe9\n", "warning"),
        (b"# caf\xe9\nDisallow: /caf\xe9\n", "warning"),
        (b"Sitemap: https://example.com/caf\xe9.xml\n", "warning"),
        (b"Disallow: /a # caf\xe9\n", "info"),
        (b"# caf\xe9\n", "info"),
    ],
)
def test_bytes_that_are_no_utf8_matter_in_rules(line: bytes, severity: str) -> None:
    assert found(OPEN.encode() + line) == [("robots-not-utf8", 4, severity)]


# ---- sitemaps


@pytest.mark.parametrize(
    ("line", "rules"),
    [
        ("Sitemap: https://example.com/maps/a.xml?b=c", []),
        ("sitemap:https://example.com/a.xml", []),
        ("", [("robots-no-sitemap", None, "warning")]),
        ("Sitemap:", [("robots-sitemap-invalid", 3, "warning")]),
        (f"{NAMED}Sitemap: # none", [("robots-sitemap-invalid", 4, "warning")]),
        ("Sitemap: https://example.com/a.xml<br />", [("robots-sitemap-invalid", 3, "error")]),
        ("Sitemap: /sitemap.xml", [("robots-sitemap-relative", 3, "warning")]),
        ("Sitemap: //example.com/sitemap.xml", [("robots-sitemap-relative", 3, "warning")]),
        ("Sitemap: ftp://example.com/sitemap.xml", [("security-scheme-refused", 3, "error")]),
        (
            "sitemap : FILE:///etc/passwd # x",
            [("security-scheme-refused", 3, "error"), ("robots-sitemap-inline-comment", 3, "info")],
        ),
        ("Sitemap: file:///{{ path }}", [("robots-sitemap-invalid", 3, "error")]),
        ("Sitemap: htps://example.com/sitemap.xml", [("robots-sitemap-invalid", 3, "error")]),
        ("Sitemap: {{ site.url }}/sitemap.xml", [("robots-sitemap-invalid", 3, "error")]),
        ('Sitemap: "https://example.com/sitemap.xml"', [("robots-sitemap-invalid", 3, "error")]),
        ("Sitemap: https://example.com/sitemap.xml,", [("robots-sitemap-invalid", 3, "error")]),
        ("Sitemap: https://example.com/my map.xml", [("robots-sitemap-invalid", 3, "error")]),
        ("Sitemap: https://example.com/a.xml https://example.com/b.xml", [("robots-sitemap-invalid", 3, "error")]),
        ("Sitemap: https://example.com/%zz.xml", [("robots-sitemap-invalid", 3, "error")]),
        ("Sitemap: https://example.com/robots.txt", [("robots-sitemap-is-robots", 3, "error")]),
        ("Sitemap: http://example.com/sitemap.xml", [("robots-sitemap-http", 3, "warning")]),
        ("Sitemap: https://cdn.example.net/sitemap.xml", [("robots-sitemap-offsite", 3, "info")]),
        ("Sitemap: http://cdn.example.net/sitemap.xml", [("robots-sitemap-offsite", 3, "info")]),
        ("Sitemaps: https://example.com/sitemap.xml", [("robots-sitemap-typo", 3, "warning")]),
        ("Site-map: https://example.com/sitemap.xml", [("robots-sitemap-typo", 3, "warning")]),
        ("Sitemap https://example.com/sitemap.xml", [("robots-sitemap-typo", 3, "warning")]),
        ("https://example.com/sitemap.xml", [("robots-sitemap-typo", 3, "warning")]),
        ("Sitmap: https://example.com/sitemap.xml", [("robots-sitemap-typo", 3, "warning")]),
        ("Sitemap: https://example.com/a.xml # pages", [("robots-sitemap-inline-comment", 3, "info")]),
        ("Sitemap: https://example.com/a.xml # <br>", [("robots-sitemap-inline-comment", 3, "info")]),
        ("Sitemap: https://example.com/c#.xml", [("robots-hash-in-value", 3, "warning")]),
        ("Sitemap: https://example.com/a.xml<br> # x", [("robots-sitemap-invalid", 3, "error")]),
        (f"{NAMED}{NAMED}", [("robots-sitemap-duplicate", 4, "info")]),
        (f"{NAMED}Sitemap: HTTPS://example.com:443/sitemap.xml", [("robots-sitemap-duplicate", 4, "info")]),
    ],
)
def test_a_line_that_names_a_sitemap(line: str, rules: Found) -> None:
    assert found(f"User-agent: *\nDisallow: /cart\n{line}\n") == rules


@pytest.mark.parametrize(
    ("value", "fault"),
    [
        ("https:///sitemap.xml", "the host is missing"),
        ("https://https://example.com/sitemap.xml", "the scheme is there twice"),
        ("[https://example.com/sitemap.xml](https://example.com/sitemap.xml)", "there is other text around the URL"),
    ],
)
def test_why_a_line_names_no_sitemap(value: str, fault: str) -> None:
    [finding] = told(answered(f"User-agent: *\nDisallow: /cart\nSitemap: {value}\n".encode()))
    assert finding.message == f"'Sitemap: {value}' names no sitemap: {fault}"


def test_a_sitemap_on_http_is_right_where_the_site_is() -> None:
    assert found(NAMED.replace("https", "http"), URL.replace("https", "http")) == []


# ---- any file


@pytest.mark.parametrize("name", FILES)
def test_files_as_real_sites_have_them_have_no_fault_but_that_some_name_no_sitemap(name: str) -> None:
    severe = [each for each in found(FILES[name]) if each[2] != "info"]
    assert severe == ([] if "Sitemap:" in FILES[name] else [("robots-no-sitemap", None, "warning")])


@pytest.mark.skipif(not REAL.is_dir(), reason="the corpus of real files is not beside the repository")
def test_real_files_have_no_fault_but_that_one_names_no_sitemap() -> None:
    files = sorted(REAL.glob("*robots*"))
    assert len(files) == 4
    severe = {file.name: [each for each in found(file.read_bytes()) if each[2] != "info"] for file in files}
    assert [(name, rules) for name, rules in severe.items() if rules] == [
        ("58-robots.txt", [("robots-no-sitemap", None, "warning")])
    ]


@given(BODIES)
def test_no_bytes_make_a_rule_fail(body: bytes) -> None:
    findings = told(answered(body), ["https://example.com/", "https://example.com/a"])
    assert {finding.rule.partition("-")[0] for finding in findings} <= {"robots", "usage"}
    assert all(f"{finding.message}{finding.value}".encode() for finding in findings)
