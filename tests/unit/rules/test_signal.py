"""A habit of the program that writes a sitemap is one finding with a count, an error is told for each entry."""

from __future__ import annotations

import pytest

from .judging import SUMMED_UP, judge

NAMES = (
    'xmlns="http://www.sitemaps.org/schemas/sitemap/0.9" xmlns:xhtml="http://www.w3.org/1999/xhtml" '
    'xmlns:image="http://www.google.com/schemas/sitemap-image/1.1" '
    'xmlns:news="http://www.google.com/schemas/sitemap-news/0.9"'
)
HOME = "https://example.com"
NUMBER = 40
"""Entries of a file."""
NEWS = (
    "<news:news><news:publication><news:name>Times</news:name><news:language>en</news:language></news:publication>"
    "<news:publication_date>2026-06-01</news:publication_date><news:title>Untitled</news:title></news:news>"
)


HABITS: dict[str, tuple[str, str]] = {
    "news-title-placeholder": (f"{HOME}/{{n}}", NEWS),
    "loc-tracking-parameter": (f"{HOME}/{{n}}?utm_source=sitemap&amp;utm_medium=xml", ""),
    "loc-session-id": (f"{HOME}/{{n}};jsessionid=ABCDEF0123456789ABCDEF0123456789", ""),
    "loc-fragment": (f"{HOME}/#/{{n}}", ""),
    "loc-double-slash": (f"{HOME}//{{n}}", ""),
    "loc-double-escaped": (f"{HOME}/?a={{n}}&amp;amp;b=2", ""),
    "loc-utility-page": (f"{HOME}/search?q={{n}}", ""),
}
"""{rule: (URL, further elements) of every entry}"""


@pytest.mark.parametrize(("rule", "entry"), HABITS.items(), ids=HABITS)
def test_what_all_entries_have_is_one_finding(rule: str, entry: tuple[str, str]) -> None:
    filled = [
        [part.replace("{n:02}", f"{n % 28 + 1:02}").replace("{n}", str(n)) for part in entry] for n in range(NUMBER)
    ]
    listed = "".join(f"<url><loc>{loc}</loc>{more}</url>\n" for loc, more in filled)
    text = f"<urlset {NAMES}>\n{listed}<url><loc>{HOME}/x</loc></url><url><loc>{HOME}/x</loc></url></urlset>"
    found = judge(text.encode(), f"{HOME}/sitemap.xml", SUMMED_UP)
    [finding] = [one for one in found if one.rule == rule]
    assert finding.message.startswith((f"{NUMBER} of {NUMBER + 2} entries ", f"{NUMBER} entries "))
    assert [one.line for one in found if one.rule == "loc-duplicate"] == [NUMBER + 2]


def test_other_values_are_findings_of_their_own() -> None:
    names = ["utm_source"] * 30 + ["gclid"]
    listed = "".join(f"<url><loc>{HOME}/{n}?{name}=x</loc></url>" for n, name in enumerate(names))
    found = judge(f"<urlset {NAMES}>{listed}</urlset>".encode(), f"{HOME}/sitemap.xml", SUMMED_UP)
    assert [one.value for one in found if one.rule == "loc-tracking-parameter"] == ["utm_source", "gclid"]


def test_errors_are_told_for_each_entry() -> None:
    listed = "".join(f"<url><loc>{HOME}/{n}</loc><lastmod>{n + 1}.1.2026</lastmod></url>\n" for n in range(9))
    found = judge(f"<urlset {NAMES}>\n{listed}</urlset>".encode(), f"{HOME}/sitemap.xml", SUMMED_UP)
    assert [one.line for one in found if one.rule == "lastmod-invalid"] == [*range(2, 11)]


def test_a_feed_that_links_to_many_hosts_has_one_note() -> None:
    links = "".join(f"<item><link>https://{n}.example.net/</link></item>" for n in range(NUMBER))
    found = judge(f'<rss version="2.0"><channel>{links}</channel></rss>'.encode(), f"{HOME}/feed.xml", SUMMED_UP)
    assert [one.severity for one in found if one.rule == "loc-offsite"] == ["info"]
