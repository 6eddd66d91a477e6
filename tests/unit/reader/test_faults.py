"""What is noted of a document: counts complete, the rest bounded."""

from __future__ import annotations

from sitemapcrawler.reader.faults import MAX_KEPT, MAX_VALUE, Fault, Faults
from tests.unit.reader.reading import read, url, urlset


def test_a_fault_is_kept_as_it_was_noted_with_a_short_value() -> None:
    faults = Faults()
    faults.add("doc-bom", "a mark", 1, 2, "x" * 1000)
    faults.add("doc-bom", "another")
    first, second = Fault("doc-bom", "a mark", 1, 2, "x" * MAX_VALUE), Fault("doc-bom", "another", None, None, None)
    assert list(faults) == [first, second]
    assert (len(faults), dict(faults.counts)) == (2, {"doc-bom": 2})
    assert (faults.first("loc-empty", "doc-bom"), faults.first("loc-empty")) == (first, None)
    assert "doc-bom" in faults and "loc-empty" not in faults


def test_a_value_can_be_written_to_any_feed() -> None:
    reading = read(b"https://e.com/1\nfoo\xe9bar\n")
    values = [fault.value for fault in reading.document.faults if fault.rule == "txt-not-url-line"]
    assert len(values) == 1
    assert all((value or "").encode() for value in values)


def test_faults_are_counted_beyond_what_is_kept() -> None:
    faults = Faults()
    for line in range(MAX_KEPT + 50):
        faults.add("a", "one", line)
    assert (len(list(faults)), faults.counts["a"], len(faults)) == (MAX_KEPT, MAX_KEPT + 50, MAX_KEPT + 50)


def test_a_file_with_a_fault_in_every_entry_keeps_a_bounded_number() -> None:
    count = MAX_KEPT + 500
    reading = read(urlset(*(url(f"https://e.com/?{number}&x") for number in range(count))))
    assert len(reading.records) == count
    assert reading.rules == {"doc-unescaped-ampersand": count}
    assert len(list(reading.document.faults)) == MAX_KEPT
