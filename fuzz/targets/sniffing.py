"""Kind of a document: constant once it can be determined, and the same inside gzip."""

from __future__ import annotations

import gzip

from fuzz.inputs import chance, in_time
from fuzz.reading import USUAL, read_whole
from sitemapcrawler.reader.decode import decode
from sitemapcrawler.reader.faults import Faults
from sitemapcrawler.reader.sniff import DocumentHead, blank_sections, sniff

SEEDS = ("tests/data/hard/*", "tests/data/good/*", "tests/data/pitfalls/*")
DICTIONARY = "xml.dict"
MAX_BYTES = 2048
TIMES = 8
"""Number of prefixes of a text to check; of a short text, all."""
SHORT = 200


def check(data: bytes) -> None:
    """Check that the kind of a prefix is the kind of the whole."""
    faults = Faults()
    text = "".join(decode([data], faults))
    assert faults.encoding == str(faults.encoding).lower()
    with in_time():
        whole = sniff(text, complete=True)
    assert isinstance(whole, DocumentHead)
    _check_head(whole, text)
    ends = range(len(text)) if len(text) <= SHORT else chance(data).sample(range(len(text)), TIMES)
    for end in ends:
        early = sniff(text[:end], complete=False)
        assert early is None or early == whole, (early, whole)
    if not data.startswith(b"\x1f\x8b"):
        assert read_whole(gzip.compress(data, 1, mtime=0)).document.format == read_whole(data).document.format


def _check_head(head: DocumentHead, text: str) -> None:
    """Check that positions are within the text, and that the root is where the head says."""
    assert 0 <= head.start <= head.end <= len(text) <= USUAL.max_head
    if head.name and not head.junk and not head.fragment:
        visible = blank_sections(text)
        assert f"<{head.tag}{head.attributes}>" in (text[head.start : head.end], visible[head.start : head.end])
