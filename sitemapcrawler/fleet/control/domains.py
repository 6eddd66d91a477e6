"""The domains of a fleet: what is known of each before anything is asked, and how a list of them is read."""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from itertools import count
from pathlib import Path
from typing import IO

from sitemapcrawler import urls
from sitemapcrawler.audit import argument_values as values
from sitemapcrawler.fleet.records import BUCKETS
from sitemapcrawler.words import counted

MAX_LIST_BYTES = 2**30
"""Bytes of an @file, which is read line by line: some 50 million hosts."""
MAX_LINE_BYTES = 64 * 1024
"""Bytes of a line of it: more than any URL that servers take."""
MAX_STEM = 100
"""Characters of the host in the name of a file: names end at 255 bytes."""
HASH_DIGITS = 16
"""Hexadecimal digits behind it: of a million domains, two have the same with a chance of 3 in 100 million."""
# Windows takes these for devices, whatever follows their first dot.
_DEVICE = re.compile(r"(con|prn|aux|nul|com[0-9]|lpt[0-9])\.")


@dataclass(frozen=True, slots=True)
class Domain:
    """A domain to crawl."""

    name: str
    """As the argument `domain` of a crawl takes it: `example.com`, `example.com:8080`, `https://example.com`."""
    host: str
    """Host without port and brackets: lower case, ASCII."""
    site: str
    """The host without a leading `www.`: two domains of one site never run at once."""
    bucket: int
    """Partition of its results, 0 to `BUCKETS` - 1: a hash of the name, the same for ever."""
    file: str
    """Name of its files, without suffix: the host and digits of the name's hash. No `_` or `.` comes first, which
    readers of data sets take for hidden."""


@dataclass(slots=True)
class Listed:
    """What a list of domains came to."""

    domains: list[Domain] = field(default_factory=list)
    """Each once, in the order they were named first."""
    repeated: int = 0
    """Items that named a domain again."""


def domain(text: str) -> Domain:
    """The domain that a host or a URL names. ValueError as `argument_values.start` raises it."""
    start = values.start(text)
    place = urls.authority(start.url_candidates[0])
    assert place is not None
    name, host = str(start), place.host
    host = name if name == host else host  # one text in memory, not two
    digest = sha256(name.encode()).digest()
    bare = host.removeprefix("www.")
    bucket = int.from_bytes(digest[-8:]) % BUCKETS
    return Domain(name, host, bare or host, bucket, f"{_stem(host)}-{digest.hex()[:HASH_DIGITS]}")


def _stem(host: str) -> str:
    safe = host[:MAX_STEM].replace(":", "-").lstrip("_-.")
    return (safe.replace(".", "-", 1) if _DEVICE.match(safe) else safe) or "host"


def read_domains(items: Sequence[str]) -> Listed:
    """The domains that the items of a command line name: hosts, URLs, and @files with one a line.

    In a file, `#` begins a comment, and blank lines, a byte order mark and ends of lines of any system are no matter.
    ValueError, one line: a file cannot be read, or the first item that is no domain, where it stands, and how many
    more there are.
    """
    listed, seen = Listed(), set[str]()
    first, bad = "", 0
    for place, text in _texts(items):
        try:
            found = domain(_checked(text))
            if not place and found.name == text and _is_file(found):
                raise ValueError(
                    f"is a file here; accepted: @{found.name} for the list in it, https://{found.name} for the host"
                )
        except ValueError as error:
            first, bad = first or f"{place}{_quoted(text)}: {error}", bad + 1
            continue
        listed.repeated += found.name in seen
        if found.name not in seen:
            seen.add(found.name)
            listed.domains.append(found)
    if bad:
        more = f" (and {counted(bad - 1, 'more item')} that cannot be used)" if bad > 1 else ""
        raise ValueError(first + more)
    return listed


def _is_file(found: Domain) -> bool:
    """True for what looks like a list whose @ was forgotten."""
    return found.name == found.host and Path(found.name).is_file()


def _texts(items: Sequence[str]) -> Iterator[tuple[str, str | bytes]]:
    """What is to be a domain, and where it stands: empty for an item of the command line."""
    for item in map(str.strip, items):
        if not item.startswith("@"):
            yield "", item
            continue
        named = 0
        for number, line in _lines(item[1:]):
            named += 1
            yield f"{values.shown(item[1:])}, line {number}: ", line
        if not named:
            raise ValueError(f"{values.shown(item[1:])} lists nothing")


def _lines(path: str) -> Iterator[tuple[int, str | bytes]]:
    """The lines of an @file that name something, with their numbers; bytes where a line is no text or too long."""
    try:
        with _opened(Path(path)) as file:
            for number in count(1):
                raw = file.readline(MAX_LINE_BYTES + 1)
                if not raw:
                    return
                if len(raw) > MAX_LINE_BYTES:
                    _skip_line(file, raw)
                    yield number, raw
                elif line := _decoded(raw):
                    yield number, line
    except OSError as error:
        raise ValueError(f"cannot read {values.shown(path)}, {error.strerror or error}") from None


def _opened(file: Path) -> IO[bytes]:
    if not file.is_file():
        raise OSError("no such file")
    if file.stat().st_size > MAX_LIST_BYTES:
        raise OSError(f"larger than {MAX_LIST_BYTES} bytes")
    return file.open("rb")


def _skip_line(file: IO[bytes], raw: bytes) -> None:
    while raw and not raw.endswith(b"\n"):
        raw = file.readline(MAX_LINE_BYTES)


def _decoded(raw: bytes) -> str | bytes:
    # Several lists put together have a mark inside.
    raw = raw.removeprefix(codecs.BOM_UTF8)
    try:
        return values.without_comment(raw.decode())
    except UnicodeDecodeError:
        return raw.strip()


def _checked(text: str | bytes) -> str:
    if isinstance(text, bytes):
        raise ValueError("no text in UTF-8" if len(text) <= MAX_LINE_BYTES else f"longer than {MAX_LINE_BYTES} bytes")
    if not text:
        raise ValueError("is empty")
    if values.CONTROL.search(text):
        raise ValueError("has a control character")
    return text


def _quoted(text: str | bytes) -> str:
    return values.shown(text.decode(errors="backslashreplace") if isinstance(text, bytes) else text)
