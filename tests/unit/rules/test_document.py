"""The rules on the bytes and characters of a file."""

from __future__ import annotations

import gzip

import pytest

from sitemapcrawler.download.bodies import Body
from sitemapcrawler.items import SitemapRecord
from sitemapcrawler.reader import Document, Limits
from sitemapcrawler.rules.facts.given import FileFacts
from sitemapcrawler.rules.families.file_bytes import MAX_BYTES, OURS

from .expecting import CORE, places, rules_of
from .judging import judge

RULES = rules_of("doc", "internal")
CHECKED = rules_of("xml", "doc", "security", "internal", "txt", "feed")
GOOD = f'<?xml version="1.0" encoding="UTF-8"?>\n<urlset xmlns="{CORE}"><url><loc>https://example.com/a</loc></url></urlset>'


def found(data: bytes, *wanted: str, **record: object) -> list[tuple[str, int | None]]:
    return places(judge(data, **record), CHECKED, wanted)  # type: ignore[arg-type]  # fields of the record


def messages(rule: str, data: bytes, limits: Limits | None = None, cut: str | None = None) -> list[tuple[str, str]]:
    """Severity and text of what one FILE rule says about `data`."""
    document = Document("https://example.com/sitemap.xml", limits=limits or Limits(), cut=cut)
    for _ in document.read([data]):
        pass
    record = SitemapRecord(document.url)
    for name in ("format", "outcome", "url_count", "bytes", "encoding"):
        setattr(record, name, getattr(document, name))
    told = RULES[rule].check(FileFacts(document.url, record, document))
    return [(message.severity or RULES[rule].severity, message.text) for message in told]


def test_a_good_file_gives_nothing_not_even_for_information() -> None:
    assert found(GOOD.encode(), *CHECKED) == []
    assert found(gzip.compress(GOOD.encode()), *CHECKED) == []


DAMAGED = bytearray(gzip.compress(GOOD.encode()))
DAMAGED[-6] ^= 1


@pytest.mark.parametrize(
    ("data", "rule", "line"),
    [
        (bytes(DAMAGED), "doc-gzip-error", None),
        (gzip.compress(GOOD.encode())[:-4], "doc-truncated", None),
        (gzip.compress(GOOD.encode())[:4], "doc-truncated", None),
        (
            gzip.compress(GOOD.encode().replace(b"</urlset>", b" " * 40_000_000 + b"</urlset>")),
            "doc-decompression-bomb",
            None,
        ),
        (gzip.compress(GOOD.encode()) + b"more", "doc-trailing-content", None),
        (GOOD.encode("utf-16"), "doc-encoding-not-utf8", 1),
        (b"PK\x03\x04\xff\xfe\x00", "xml-root-unknown", 1),
        (b"%PDF-1.7\n%\xe2\xe3\xcf\xd3\n", "xml-root-unknown", 1),
        (GOOD.encode()[:-3], "doc-truncated", 2),
        (b"\n\n" + GOOD.encode(), "doc-leading-whitespace", 1),
        (b"https://example.com/a\nhttps://example.com/\xc3", "doc-truncated", 2),
    ],
    ids=["checksum", "no-end", "no-header", "bomb", "behind-gzip", "utf-16", "zip", "pdf", "cut", "blanks", "cut-text"],
)
def test_one_defect_gives_one_finding(data: bytes, rule: str, line: int | None) -> None:
    assert found(data) == [(rule, line)]


def test_white_space_without_a_declaration_is_for_information() -> None:
    data = GOOD.partition("\n")[2].encode()
    [finding] = [finding for finding in judge(b"\n" + data) if finding.rule == "doc-leading-whitespace"]
    assert finding.severity == "info"
    assert found(data, "doc-xml-declaration-missing") == [("doc-xml-declaration-missing", 1)]


@pytest.mark.parametrize(
    ("size", "rule"),
    [
        (MAX_BYTES + 1, "doc-too-large"),
        (MAX_BYTES, "doc-near-size-limit"),
        (47_185_920, "doc-near-size-limit"),
        (47_185_919, None),
    ],
)
def test_size_of_a_file(size: int, rule: str | None) -> None:
    rules = ("doc-too-large", "doc-near-size-limit")
    assert found(GOOD.encode(), *rules, bytes=size) == ([(rule, None)] if rule else [])


def test_entries_with_bytes_that_do_not_fit_are_kept_and_the_file_has_one_finding() -> None:
    entries = b"<url><loc>https://example.com/\x81\n</loc></url>" * 2
    data = GOOD.replace("UTF-8", "Shift_JIS").encode().replace(b"</urlset>", entries + b"</urlset>")
    assert [line for rule, line in found(data) if rule == "doc-encoding-not-utf8"] == [1]
    document = Document("https://example.com/sitemap.xml")
    records = [record for records in document.read([data]) for record in records]
    assert [record.loc for record in records if record.recovered] == ["https://example.com/\ufffd"] * 2


def test_a_recovered_entry_is_for_information_where_its_fault_is_told() -> None:
    findings = judge(GOOD.replace("/a<", "/?a=1&b=2<").encode())
    assert ("doc-recovered-entry", "info") in {(finding.rule, finding.severity) for finding in findings}


@pytest.mark.parametrize(
    ("limits", "severity"),
    [(Limits(max_bytes=100), "info"), (Limits(max_entries=1), "info"), (Limits(max_depth=2), "warning")],
    ids=["bytes", "entries", "depth"],
)
def test_a_limit_of_ours_is_told_as_one(limits: Limits, severity: str) -> None:
    nested = "<url><loc>https://example.com/b</loc><x><y><z/></y></x></url></urlset>"
    data = GOOD.replace("</urlset>", nested).encode()
    assert [own for own, _ in messages("doc-partly-read", data, limits)] == [severity]
    assert messages("doc-truncated", data, limits) == []


def test_an_element_beyond_reason_is_a_warning() -> None:
    data = GOOD.partition("</loc>")[0].encode() + b"a" * 2000
    [(severity, text)] = messages("doc-partly-read", data, Limits(max_element=1000))
    assert (severity, text) == ("warning", "an entry of more than 1000 characters")


def test_a_download_cut_by_us_is_not_truncated() -> None:
    ours, theirs = "more than 10 bytes: the rest was not fetched", "the connection ended before the body did"
    half = GOOD[: len(GOOD) // 2].encode()
    assert messages("doc-truncated", half, cut=ours) == []
    assert messages("doc-partly-read", half, cut=ours) == [("info", f"not read to the end: {ours}")]
    assert messages("doc-truncated", half, cut=theirs) == [("error", theirs)]
    assert messages("doc-partly-read", half, cut=theirs) == []


def test_cuts_of_ours_are_known_by_their_words() -> None:
    from sitemapcrawler.download.answers import _cut

    overflowed, broken, lost = Body(10), Body(), Body()
    overflowed.overflowed, broken.error = True, OSError("disk full")
    assert [bool(OURS.search(_cut(body))) for body in (overflowed, broken, lost)] == [True, True, False]


def test_an_error_of_this_program_is_told() -> None:
    document = Document("https://example.com/sitemap.xml")
    document.faults.add("internal", "internal error: KeyError: 'x'")
    facts = FileFacts(document.url, SitemapRecord(document.url), document)
    [message] = RULES["internal-reading-failed"].check(facts)
    assert "KeyError" in message.text
