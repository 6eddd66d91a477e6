"""Text sitemaps: a line that is a URL gives a record on that line, and every record comes from its line."""

from __future__ import annotations

import re

from fuzz.reading import read_any, read_whole
from sitemapcrawler.urls.display import masked, masked_url

SEEDS = ("tests/data/good/*.txt", "tests/data/hard/*.txt", "tests/data/bad/*.txt")
START = b"https://e.com/first\n"
URL = re.compile(r"https?://[A-Za-z0-9.-]+/[A-Za-z0-9._~/?=&%-]*")
BEGIN = re.compile("https?:", re.IGNORECASE)
LINE_END = re.compile("\r\n|\r|\n")


def check(data: bytes) -> None:
    """Check the input unchanged, and after a line that makes a text sitemap of most inputs."""
    read_any(data)
    _check_lines(START + data)


def _check_lines(data: bytes) -> None:
    reading = read_any(data)
    try:
        lines = LINE_END.split(data.decode())
    except UnicodeDecodeError:
        return
    reading = read_whole(data)
    if reading.document.format != "text":
        return
    listed = {(record.line, record.loc) for record in reading.records}
    for number, line in enumerate(lines, 1):
        if URL.fullmatch(line) and len(line) < 2048:
            assert (number, line) in listed or "limit-bytes" in reading.rules, line
    for record in reading.records:
        line, written = lines[record.line - 1], record.loc_raw or record.loc
        assert record.recovered or any(written in shown for shown in _without_passwords(line)), record


def _without_passwords(line: str) -> list[str]:
    """Return the line as it may be reported: whole, and from each place where a URL may start."""
    return [
        line,
        masked(line),
        masked_url(line),
        *(masked_url(line[start.start() :]) for start in BEGIN.finditer(line)),
    ]
