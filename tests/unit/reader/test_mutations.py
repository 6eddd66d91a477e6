"""What becomes of documents that were good once: nothing raises, and no wrong value passes as a right one."""

from __future__ import annotations

import gzip
import html.entities
import json
import re
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from lxml import etree

from tests.unit.reader import growing, mutating, oracle
from tests.unit.reader.reading import Reading, read
from tests.unit.reader.test_properties import facts_of, plain
from tests.unit.reader.writing import encodings, feeds, text_files, wrapped, xml_documents

ROOT = re.compile(r"<(?:s:)?(?:urlset|sitemapindex)[^<>]*>")
HIDDEN = re.compile(rb"<!--.*?-->|<!\[CDATA\[.*?\]\]>", re.DOTALL)
IN_HIDDEN = {"https://e.com/hidden", "https://e.com/commented"}
URL = re.compile(
    r"<(?:s:)?loc(?:\s(?:[^<>\"']|\"[^\"]*\"|'[^']*')*)?>((?:[^<]|<!|<\?|<(?![A-Za-z/]))*)</(?:s:)?loc\s*>|<(?:s:)?url\s*>([^<]*)</"
)
REFERENCE = re.compile(r"&(?:#\d+|#x[0-9A-Fa-f]+|\w+);")
SECTION = re.compile(r"<!--.*?-->|<\?.*?\?>|<!\[CDATA\[(.*?)\]\]>", re.DOTALL)

any_document = st.one_of(xml_documents().map(lambda written: written.text), growing.documents)
all_documents = st.one_of(any_document, feeds().map(lambda feed: feed.text), text_files().map(lambda file: file.text))


def both_ways(body: bytes, size: int, **keywords: Any) -> Reading:
    """`body` read whole, after a look that pieces of `size` bytes make no difference."""
    reading = read(body, **keywords)
    facts = reading.facts()
    assert json.dumps(facts, ensure_ascii=False, default=str).encode(), "a lone surrogate can be written to no feed"
    assert read(body, size, **keywords).facts() == facts
    return reading


def whole_urls(text: str) -> set[str]:
    """All that stands between a `<loc>` and its end, as text."""
    found = set()
    flat = SECTION.sub(lambda section: html.escape(section[1] or "", quote=False), text)
    for match in (*URL.finditer(text), *URL.finditer(flat)):
        inside = match[1] if match[1] is not None else match[2]
        inside = SECTION.sub(lambda section: html.escape(section[1] or ""), inside)
        found.add("".join(REFERENCE.sub(character, inside).split()))
    return found


def character(reference: re.Match[str]) -> str:
    """What a reference stands for; itself where it is none."""
    name = reference[0][1:]
    return html.unescape(reference[0]) if name.startswith("#") or name in html.entities.html5 else reference[0]


@pytest.mark.slow
@given(st.data(), any_document)
def test_what_was_not_recovered_is_what_a_strict_parser_reads(data: st.DataObject, text: str) -> None:
    body = data.draw(mutating.mutated(text.encode()))
    reading = both_ways(body, data.draw(st.integers(1, 50)))
    broken = body.decode(errors="replace")
    roots = {ROOT.findall(text)[-1], *ROOT.findall(broken)[-1:]}
    found = [oracle.standing_alone(part, root) for part in (text, broken) for root in roots]
    trusted = {plain(facts) for facts in set().union(*found, oracle.whole(broken))}
    strict = [facts_of(record) for record in reading.records if not record.recovered]
    assert [facts for facts in strict if facts not in trusted] == []


@given(st.data(), any_document)
def test_every_record_names_the_line_of_an_entry(data: st.DataObject, text: str) -> None:
    body = data.draw(mutating.mutated(text.encode()))
    lines = re.split("\r\n|\r|\n", body.decode(errors="replace"))
    for record in read(body).records:
        assert oracle.START.search(lines[record.line - 1]), record


@pytest.mark.slow
@given(st.data(), any_document)
def test_a_mutated_document_that_is_well_formed_is_read_strictly(data: st.DataObject, text: str) -> None:
    body = data.draw(mutating.mutated(text.encode()))
    try:
        root = oracle.tree(body.decode())
    except UnicodeDecodeError:
        root = None
    assume(root is not None and etree.QName(root).localname in ("urlset", "sitemapindex"))
    reading = read(body)
    strict = [facts_of(record) for record in reading.records if not record.recovered]
    assert strict == [plain(entry.facts) for entry in oracle.listed(root)]


@given(st.data(), xml_documents())
def test_no_document_cut_at_any_byte_yields_a_url_it_did_not_have(data: st.DataObject, written: Any) -> None:
    body = data.draw(encodings(written.text).flatmap(wrapped))
    cut = body[: data.draw(st.integers(0, len(body)))]
    reading = both_ways(cut, data.draw(st.integers(1, 50)))
    whole = {(record.loc, record.line) for record in written.records}
    assert {(record.loc, record.line) for record in reading.records} <= whole
    strict = [record for record in reading.records if not record.recovered]
    assert strict == written.records[: len(strict)]
    assert len(reading.records) <= len(strict) + 1


@given(st.data(), feeds())
def test_no_feed_cut_at_any_byte_yields_a_url_it_did_not_have(data: st.DataObject, written: Any) -> None:
    body = written.text.encode()
    reading = both_ways(body[: data.draw(st.integers(0, len(body)))], data.draw(st.integers(1, 50)))
    strict = [record for record in reading.records if not record.recovered]
    assert strict == written.records[: len(strict)]
    assert {record.loc for record in reading.records} <= {record.loc for record in written.records}


@given(st.data(), text_files())
def test_no_text_file_known_to_be_cut_yields_a_url_it_did_not_have(data: st.DataObject, written: Any) -> None:
    body = written.text.encode()
    cut = body[: data.draw(st.integers(0, len(body)))]
    reading = both_ways(cut, data.draw(st.integers(1, 50)), cut="the connection was lost")
    assert reading.records == written.records[: len(reading.records)]


@given(st.data(), text_files())
def test_no_text_file_cut_inside_gzip_yields_a_url_it_did_not_have(data: st.DataObject, written: Any) -> None:
    body = gzip.compress(written.text.encode(), data.draw(st.sampled_from((0, 1, 9))), mtime=0)
    reading = both_ways(body[: data.draw(st.integers(0, len(body) - 1))], data.draw(st.integers(1, 50)))
    assert reading.records == written.records[: len(reading.records)]
    assert reading.document.outcome != "ok"


@given(st.data(), any_document)
def test_a_recovered_url_stood_whole_between_its_tags(data: st.DataObject, text: str) -> None:
    body = data.draw(mutating.mutated(text.encode()))
    broken = body.decode(errors="replace")
    urls = whole_urls(broken)
    for record in read(body).records:
        if record.recovered and "%" not in record.loc:
            assert "".join((record.loc_raw or record.loc).split()) in urls


@given(st.data(), any_document)
def test_nothing_hidden_in_a_comment_or_cdata_is_an_entry(data: st.DataObject, text: str) -> None:
    body = text.encode()
    assume(IN_HIDDEN.isdisjoint(read(body).locs))  # hypothesis also draws texts that stand in this module
    start = data.draw(st.integers(0, len(body)))
    end = min(len(body), start + data.draw(st.integers(1, mutating.MAX_SPAN)))
    assume(not any(start < found.end() and end > found.start() for found in HIDDEN.finditer(body)))
    broken = data.draw(mutating.mutations(sections=False))(body, start, end)
    listed = read(broken).locs
    assert IN_HIDDEN.isdisjoint(listed)


@given(st.data(), all_documents)
def test_mutated_bytes_of_any_encoding_never_raise(data: st.DataObject, text: str) -> None:
    body = data.draw(encodings(text).flatmap(wrapped).flatmap(mutating.mutated))
    reading = both_ways(body, data.draw(st.integers(1, 50)))
    assert reading.document.url_count == len(reading.records)


@pytest.mark.slow
@given(st.data(), all_documents, all_documents)
def test_two_documents_in_one_never_raise(data: st.DataObject, first: str, second: str) -> None:
    body = data.draw(mutating.mutated(first.encode())) + data.draw(mutating.mutated(second.encode()))
    both_ways(body, data.draw(st.integers(1, 50)))


@given(
    st.binary(max_size=400) | st.text("<>&;/ul rset!-[]CDATA\"'?xmlion=\n", max_size=200).map(str.encode),
    st.integers(1, 20),
)
def test_arbitrary_bytes_never_raise(body: bytes, size: int) -> None:
    assert both_ways(body, size).document.outcome in ("ok", "recovered", "truncated", "failed")


@given(st.data(), any_document)
def test_records_come_in_order_and_faults_are_where_they_say(data: st.DataObject, text: str) -> None:
    body = data.draw(mutating.mutated(text.encode()))
    reading = read(body)
    assert reading.lines == sorted(reading.lines)
    lines = re.split("\r\n|\r|\n", body.decode(errors="replace"))
    for fault in reading.document.faults:
        assert fault.line is None or 1 <= fault.line <= len(lines)
        if fault.line and fault.column and fault.value:
            rest = "\n".join((lines[fault.line - 1][fault.column - 1 :], *lines[fault.line :]))
            assert readable(rest).lstrip().startswith(readable(fault.value).strip())


def readable(text: str) -> str:
    """`text` with one sign for all that no feed can carry."""
    return text.replace("\ufffd", "?").lstrip("\ufeff")
