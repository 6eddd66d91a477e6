"""Faults that lie within an entry: their findings name its URL, and its row names their rules, in every kind of input."""

from __future__ import annotations

import pytest

from sitemapcrawler.items import FindingRecord, SitemapRecord, UrlRecord
from sitemapcrawler.reader import Document
from sitemapcrawler.reader.faults import MAX_KEPT
from sitemapcrawler.rules import all_rules
from sitemapcrawler.rules.choice import Allowance, Choice
from sitemapcrawler.rules.facts.given import FileFacts
from sitemapcrawler.rules.judge import Judge
from sitemapcrawler.urls.expressions import Expression

from .judging import NOW, URL

CORE = "http://www.sitemaps.org/schemas/sitemap/0.9"
IMAGE = "http://www.google.com/schemas/sitemap-image/1.1"
FAULTY, CLEAN = "https://example.com/faulty", "https://example.com/clean"


def judged(
    data: str, choice: Choice | None = None, size: int = 1 << 20
) -> tuple[dict[str, list[str]], list[FindingRecord], Judge]:
    """{URL: issues of its row}, the findings on the file, and the judge."""
    judge, document, record = (
        Judge(choice or Choice(all_rules()), 100),
        Document(URL, keep_elements=True),
        SitemapRecord(URL),
    )
    file = FileFacts(URL, record, document, content_type="application/xml", fetched_at=NOW)
    rows: dict[str, list[str]] = {}
    body = data.encode("latin-1")
    for records in document.read(body[start : start + size] for start in range(0, len(body), size)):
        urls = [one for one in records if isinstance(one, UrlRecord)]
        judge.urls(urls, file, document.notes)
        rows |= {one.loc: [*one.issues] for one in urls}
        for one in records:
            if not isinstance(one, UrlRecord):
                file.list_child(one)
    document.describe(record)
    return rows, judge.file(record, file), judge


def urlset(entry: str) -> str:
    clean = f"<url><loc>{CLEAN}</loc></url>\n"
    return f'<?xml version="1.0" encoding="UTF-8"?>\n<urlset xmlns="{CORE}">\n{clean}{entry}\n{clean[:-13]}2</loc></url>\n</urlset>'


IN_URLSET = [
    (
        "xml-duplicate-element",
        f"<url><loc>{FAULTY}</loc><lastmod>2026-01-05</lastmod><lastmod>2026-01-05</lastmod></url>",
    ),
    ("xml-unknown-element", f"<url><loc>{FAULTY}</loc><title>Shop</title></url>"),
    ("xml-unknown-attribute", f'<url id="7"><loc>{FAULTY}</loc></url>'),
    ("xml-unknown-attribute", f'<url><loc id="7">{FAULTY}</loc></url>'),
    ("xml-entry-without-loc", f"<url>{FAULTY}</url>"),
    ("loc-whitespace", f"<url><loc>\n  {FAULTY}\n</loc></url>"),
    ("doc-unescaped-ampersand", f"<url><loc>{FAULTY}</loc><x>a & b</x></url>"),
    ("doc-unescaped-ampersand", f"<url><loc>{FAULTY}</loc><!-- a --><x>a & b</x><!-- <url> --></url>"),
    ("doc-undeclared-entity", f"<url><loc>{FAULTY}</loc><x>caf&eacute;</x></url>"),
    ("doc-undeclared-entity", f"<url><loc>{FAULTY}</loc><priority>0.5&nbsp;</priority></url>"),
    ("doc-control-character", f"<url><loc>{FAULTY}</loc><x>\x0b</x></url>"),
    ("doc-encoding-not-utf8", f"<url><loc>{FAULTY}</loc><x>caf\xe9</x></url>"),
    ("doc-xml-malformed", f"<url><loc>{FAULTY}</loc><lastmod>2026-01-05</lastmode></url>"),
    ("doc-xml-malformed", f"<url><loc>{FAULTY}</loc><lastmod>2026-01-05</lastmod>"),
    (
        "xml-ext-namespace-missing",
        f"<url><loc>{FAULTY}</loc><image:image><image:loc>{CLEAN}</image:loc></image:image></url>",
    ),
]


@pytest.mark.parametrize("size", [1 << 20, 11])
@pytest.mark.parametrize(("rule", "entry"), IN_URLSET)
def test_fault_in_an_entry_is_one_of_its_row(rule: str, entry: str, size: int) -> None:
    rows, findings, _ = judged(urlset(entry), size=size)
    assert rule in rows[FAULTY]
    assert rule not in rows[CLEAN] + rows[f"{CLEAN}2"]
    if rule != "doc-encoding-not-utf8":  # which is told once for the file, where its decoder met it
        assert [finding.url for finding in findings if finding.rule == rule] == [FAULTY]


IN_OTHERS = [
    (
        "doc-unescaped-ampersand",
        f"<rss><channel><item><link>{FAULTY}</link><title>a & b</title></item></channel></rss>",
    ),
    ("doc-undeclared-entity", f"<rss><channel><item><link>{FAULTY}</link><title>&nbsp;</title></item></channel></rss>"),
    ("doc-xml-malformed", f"<rss><channel><item><link>{FAULTY}</link><title>a<br></title></item></channel></rss>"),
    (
        "doc-undeclared-entity",
        f'<feed xmlns="http://www.w3.org/2005/Atom"><entry><link href="{FAULTY}"/><title>&nbsp;</title></entry></feed>',
    ),
    ("txt-has-metadata", f"{FAULTY} 2026-01-05\n{CLEAN}\n"),
]


@pytest.mark.parametrize(("rule", "data"), IN_OTHERS)
def test_fault_in_an_item_of_a_feed_or_in_a_line_is_one_of_its_row(rule: str, data: str) -> None:
    rows, findings, _ = judged(data)
    assert rule in rows[FAULTY]
    assert [finding.url for finding in findings if finding.rule == rule] == [FAULTY]


def test_fault_in_an_entry_of_an_index_names_its_url() -> None:
    index = (
        f'<sitemapindex xmlns="{CORE}"><sitemap><loc>{CLEAN}.xml</loc><priority>1</priority></sitemap></sitemapindex>'
    )
    _, findings, _ = judged(index)
    assert [finding.url for finding in findings if finding.rule == "xml-unknown-element"] == [f"{CLEAN}.xml"]


def test_fault_between_entries_is_none_of_a_row() -> None:
    rows, findings, _ = judged(urlset("<group/>\n<!-- & -->\ntext"))
    assert not any(rows.values())
    assert {finding.url for finding in findings} == {None}
    assert {"xml-unknown-element", "xml-schema-violation"} <= {finding.rule for finding in findings}


def test_row_names_faults_beyond_those_that_are_kept() -> None:
    entries = "".join(f"<url><loc>\n{FAULTY}/{number}</loc></url>" for number in range(MAX_KEPT + 5))
    rows, findings, judge = judged(urlset(entries))
    assert all(issues == ["loc-whitespace"] for loc, issues in rows.items() if loc.startswith(FAULTY))
    assert judge.counts["loc-whitespace"] == 1
    [finding] = [finding for finding in findings if finding.rule == "loc-whitespace"]
    assert finding.message.startswith(f"{MAX_KEPT + 5:,} of {MAX_KEPT + 7:,} entries, for example ")


def test_rule_that_was_not_chosen_or_is_allowed_is_no_issue() -> None:
    entry = f"<url><loc>{FAULTY}</loc><title>Shop</title></url>"
    rows, findings, _ = judged(urlset(entry), Choice(all_rules(), ignore=("xml-unknown-element",)))
    assert (rows[FAULTY], [finding.rule for finding in findings if finding.url]) == ([], [])
    allowed = Choice(all_rules(), allowances=[Allowance("xml-unknown-element", Expression(FAULTY), "known")])
    rows, findings, _ = judged(urlset(entry), allowed)
    assert (rows[FAULTY], [finding.rule for finding in findings if finding.url]) == ([], [])
