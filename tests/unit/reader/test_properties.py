"""Properties of the reader that hold for every document."""

from __future__ import annotations

from dataclasses import asdict

from hypothesis import given
from hypothesis import strategies as st

from tests.unit.reader import growing, oracle
from tests.unit.reader.oracle import facts_of, plain
from tests.unit.reader.reading import read
from tests.unit.reader.writing import Written, encodings, feeds, text_files, wrapped, xml_documents

documents = st.one_of(xml_documents(), xml_documents(), feeds(), text_files())


@given(st.data(), documents)
def test_what_is_written_is_read_back(data: st.DataObject, written: Written) -> None:
    body = data.draw(encodings(written.text).flatmap(wrapped))
    reading = read(body, data.draw(st.integers(1, 200)))
    assert [asdict(record) for record in reading.records] == [asdict(record) for record in written.records]
    assert (reading.document.format, reading.document.outcome) == (written.format, "ok")
    assert reading.document.url_count == len(written.records)


@given(st.data(), growing.documents)
def test_a_well_formed_document_is_read_as_lxml_reads_it(data: st.DataObject, text: str) -> None:
    root = oracle.tree(text)
    assert root is not None
    reading = read(text, data.draw(st.integers(1, 100)))
    expected = [(plain(entry.facts), entry.line) for entry in oracle.listed(root)]
    assert [(facts_of(record), record.line) for record in reading.records] == expected
    assert reading.document.outcome == "ok"
