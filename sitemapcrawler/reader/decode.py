"""Turns bytes into text: inflates gzip as a stream, within limits, then decodes the characters.

Gzip is recognised by content. The encoding comes from the byte order mark, the
pattern of the first bytes, or the XML declaration; the default is UTF-8. What is not UTF-8 then has the encoding that
the header names, as RFC 7303 demands, if it does. A header is not believed before, since servers often add a wrong one.
"""

from __future__ import annotations

import codecs
import io
import re
from collections.abc import Generator, Iterable, Iterator
from itertools import chain
from typing import cast

from isal import isal_zlib

from sitemapcrawler.reader.faults import MAX_GZIP_LAYERS, RATIO_APPLIES_FROM, Faults, Limits

MAGIC = b"\x1f\x8b\x08"
"""ID1, ID2, CM=deflate (RFC 1952, 2.3.1)."""
FHCRC, FEXTRA, FNAME, FCOMMENT = 2, 4, 8, 16
"""Flags of the header (RFC 1952, 2.3.1)."""
TRAILER = 8
"""Bytes after the data: CRC32 and size, four bytes each."""
DAMAGE = cast("type[Exception]", isal_zlib.error)
RAW_DEFLATE = -15
"""wbits of zlib for data without header and trailer; 32 KiB window."""
INPUT_STEP = 512
"""Compressed bytes inflated at a time; at most this much before damage is lost."""
OUTPUT_STEP = 64 * 1024
"""Minimum size of an output chunk in bytes, except the last."""
PARTS = 1000
"""Parts after which `_joined` yields an empty chunk, so that the caller gets a turn."""
MAX_HEADER = 64 * 1024
"""Bytes of one gzip header, whose file name and comment are otherwise unbounded."""


def inflate(chunks: Iterable[bytes], limits: Limits, faults: Faults) -> Iterator[bytes]:
    """Yield the bytes inside any layers of gzip, at most `limits.max_bytes` of them.

    Damage, a missing end and an exceeded limit are noted in `faults`; the bytes before them are yielded. An empty chunk
    means that work was done without output yet.
    """
    stream = iter(chunks)
    for layer in range(MAX_GZIP_LAYERS + 1):
        start, stream = yield from _peek(stream, len(MAGIC))
        if not start.startswith(MAGIC):
            break
        if layer == MAX_GZIP_LAYERS:
            faults.add("doc-decompression-bomb", f"more than {MAX_GZIP_LAYERS} layers of gzip")
            return
        if layer:
            faults.add("doc-gzip-name-mismatch", f"compressed {layer + 1} times")
        stream = _joined(_Layer(stream, limits, faults).read())
    yield from _limited(stream, limits.max_bytes, faults)


def _peek(stream: Iterator[bytes], size: int) -> Generator[bytes, None, tuple[bytes, Iterator[bytes]]]:
    """Return the start of a stream and the whole stream; yield empty chunks meanwhile."""
    start = b""
    for chunk in stream:
        start += chunk
        if len(start) >= size:
            break
        yield b""
    return start, chain([start] if start else [], stream)


def _joined(parts: Iterator[bytes]) -> Iterator[bytes]:
    """Join chunks to at least `OUTPUT_STEP` bytes, since the consumer rescans everything open for each chunk, and a
    member may hold a single byte. Yield empty ones if members hold little or nothing."""
    waiting: list[bytes] = []
    size = 0
    for number, part in enumerate(parts, 1):
        if number % PARTS == 0:
            yield b""
        waiting.append(part)
        size += len(part)
        if size >= OUTPUT_STEP:
            yield b"".join(waiting)
            waiting.clear()
            size = 0
    if size:
        yield b"".join(waiting)


def _limited(stream: Iterator[bytes], size: int, faults: Faults) -> Iterator[bytes]:
    left = size
    for chunk in stream:
        if len(chunk) > left:
            if left:
                yield chunk[:left]
            faults.add("limit-bytes", f"more than {size} bytes uncompressed: the rest was not read", value=str(size))
            return
        left -= len(chunk)
        yield chunk


def header_size(data: bytes) -> int | None:
    """Return the size in bytes of the gzip header at the start of `data`; None if it is incomplete."""
    if len(data) < 10:
        return None
    flags, size = data[3], 10
    if flags & FEXTRA:
        size += 2 + int.from_bytes(data[10:12], "little")
    for flag in (FNAME, FCOMMENT):
        if flags & flag:
            size = data.find(b"\0", size) + 1
            if not size:
                return None
    size += 2 if flags & FHCRC else 0
    return size if size <= len(data) else None


class _Layer:
    """One layer of gzip, which holds any number of consecutive members."""

    def __init__(self, stream: Iterator[bytes], limits: Limits, faults: Faults) -> None:
        self._stream = stream
        self._max_ratio = limits.max_ratio
        self._faults = faults
        self._taken = 0
        self._given = 0
        self._data = b""

    def read(self) -> Iterator[bytes]:
        """Yield the inflated bytes of all members, and an empty chunk after each."""
        members = 0
        while self._fill(len(MAGIC)) and self._data.startswith(MAGIC):
            if not self._skip_header():
                self._faults.add("doc-truncated", "the gzip header is incomplete")
                return
            yield from self._member()
            yield b""
            if self._faults.first("doc-gzip-error", "doc-truncated", "doc-decompression-bomb"):
                return
            members += 1
            self._skip_padding()
        if self._data:
            self._faults.add("doc-trailing-content", f"bytes after the end of the gzip data (member {members})")

    def _fill(self, size: int) -> bool:
        while len(self._data) < size:
            chunk = next(self._stream, None)
            if chunk is None:
                return False
            self._taken += len(chunk)
            self._data += chunk
        return True

    def _skip_padding(self) -> None:
        """Skip zeros after a member; tapes and some tools leave them."""
        self._data = self._data.lstrip(b"\0")
        while not self._data and self._fill(1):
            self._data = self._data.lstrip(b"\0")

    def _skip_header(self) -> bool:
        while (size := header_size(self._data)) is None:
            if len(self._data) > MAX_HEADER or not self._fill(len(self._data) + 1):
                return False
        self._data = self._data[size:]
        return True

    def _member(self) -> Iterator[bytes]:
        inflater = isal_zlib.decompressobj(RAW_DEFLATE)
        crc = size = 0
        for out in self._inflated(inflater):
            crc, size = isal_zlib.crc32(out, crc), size + len(out)
            self._given += len(out)
            yield out
            if self._bomb():
                return
        if inflater.eof:
            self._data = inflater.unused_data + self._data
            self._check_trailer(crc, size)

    def _inflated(self, inflater: isal_zlib.Decompress) -> Iterator[bytes]:
        parts: list[bytes] = []
        size = 0
        try:
            while not inflater.eof and (self._fill(INPUT_STEP) or self._data):
                step, self._data = self._data[:INPUT_STEP], self._data[INPUT_STEP:]
                out = inflater.decompress(step)
                size += len(out)
                parts.append(out)
                if size >= OUTPUT_STEP:
                    yield b"".join(parts)
                    parts, size = [], 0
        except DAMAGE as error:
            self._faults.add("doc-gzip-error", f"the gzip data is damaged: {error}")
        if size:
            yield b"".join(parts)
        if not inflater.eof and "doc-gzip-error" not in self._faults:
            self._faults.add("doc-truncated", "the gzip data is incomplete")

    def _check_trailer(self, crc: int, size: int) -> None:
        if not self._fill(TRAILER):
            self._faults.add("doc-truncated", "the gzip data ends before its checksum")
        elif self._data[:TRAILER] != crc.to_bytes(4, "little") + (size & 0xFFFFFFFF).to_bytes(4, "little"):
            self._faults.add("doc-gzip-error", "the checksum of the gzip data is wrong")
        self._data = self._data[TRAILER:]

    def _bomb(self) -> bool:
        taken = self._taken - len(self._data)
        if self._given < RATIO_APPLIES_FROM or self._given <= taken * self._max_ratio:
            return False
        self._faults.add(
            "doc-decompression-bomb",
            f"decompresses to more than {self._max_ratio} times its size: the rest was not read",
            value=f"{self._given}/{taken}",
        )
        return True


UTF_8 = "utf-8"
BOMS = (
    (codecs.BOM_UTF8, UTF_8),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
"""Byte order marks. UTF-32 comes first, because the mark of UTF-16 is a prefix of its mark."""
PATTERNS = ((b"<\0\0\0", "utf-32-le"), (b"\0\0\0<", "utf-32-be"), (b"<\0", "utf-16-le"), (b"\0<", "utf-16-be"))
"""`<` in encodings without a mark: XML 1.0, appendix F.1."""
DECLARATION = re.compile(
    rb"""(?:\s|(?><!--.*?-->)|(?><\?.*?\?>))*?<\?xml\s[^>]{0,200}?encoding\s*=\s*["']([A-Za-z0-9._:-]{1,40})["']""",
    re.DOTALL,
)
"""XML declaration, even after text that may not precede it."""
START = 512
"""Bytes that are searched for the declaration."""
CHARACTER_SETS = re.compile(
    r"(?:utf-(?:8|16|32)|ascii|iso8859|latin|cp[0-9]|koi8|shift|euc|gb|big5|mac-|tis|ptcp|johab|iso2022_jp\Z)"
)
"""Codecs that are character sets; Python has others, such as `idna` and `unicode_escape`."""
LABELS = {
    "iso_8859_8_i": "iso8859-8", "iso_8859_6_i": "iso8859-6", "windows_874": "cp874", "windows_31j": "cp932",
    "x_sjis": "cp932", "x_euc_jp": "euc_jp", "windows_949": "cp949", "gb_2312": "gb2312", "x_gbk": "gbk",
    "x_cp1250": "cp1250", "x_cp1251": "cp1251", "x_cp1252": "cp1252",
}  # fmt: skip
"""Names of encodings on the web that Python lacks. Source: https://encoding.spec.whatwg.org/#names-and-labels"""
codecs.register(lambda label: codecs.lookup(LABELS[label]) if label in LABELS else None)
ASCII = bytes(range(0x20, 0x7F))
USUAL_NAMES = {"shift_jis": "Shift_JIS", "cp932": "Shift_JIS", "big5": "Big5", "iso2022_jp": "ISO-2022-JP"}
"""{Python's name of an encoding: the usual one}, where capitals and hyphens do not make it."""
LINE_END = re.compile("\r\n|\r|\n")


def decode(chunks: Iterable[bytes], faults: Faults, charset: str | None = None) -> Iterator[str]:
    """Yield the text, with line ends normalised to LF (XML 1.0, 2.11) and no byte order mark. `charset`: from the
    Content-Type header.

    Invalid bytes become U+FFFD, and the first of them is noted. An empty chunk yields an empty text.
    """
    stream = iter(chunks)
    start = b""
    for chunk in stream:
        start += chunk
        if len(start) >= START:
            break
        yield ""
    faults.encoding, mark = detect(start, faults)
    other = _codec(charset) if charset is not None and faults.encoding == UTF_8 and not mark else None
    yield from _text(chain([start[mark:]], stream), faults.encoding, faults, other if other != UTF_8 else None)


def detect(start: bytes, faults: Faults) -> tuple[str, int]:
    """Return the encoding of a document that begins with `start`, and the length of its byte order mark."""
    for mark, encoding in BOMS:
        if start.startswith(mark):
            if encoding == UTF_8:  # others begin with one, and are a fault themselves
                faults.add("doc-bom", "a byte order mark at the start", 1, 1)
            return encoding, len(mark)
    for pattern, encoding in PATTERNS:
        if start.startswith(pattern):
            return encoding, 0
    declared = DECLARATION.match(start[:START])
    if declared is None:
        return UTF_8, 0
    name = declared[1].decode("ascii")
    codec = _codec(name)
    if codec is None:
        faults.add("doc-encoding-not-utf8", f"the declared encoding {name} is wrong, read as UTF-8", 1, value=name)
    return codec or UTF_8, 0


def _codec(name: str) -> str | None:
    """Return Python's name of an encoding; None if it is unknown or not compatible with ASCII."""
    try:
        codec = codecs.lookup(name)
        usable = CHARACTER_SETS.match(codec.name) is not None and ASCII.decode(codec.name) == ASCII.decode("ascii")
    except (LookupError, UnicodeError):
        return None
    if codec.name == "ascii":
        return UTF_8  # ASCII is a subset; a file that wrongly declares ASCII is most often UTF-8
    return codec.name if usable else None


def _text(
    chunks: Iterator[bytes], encoding: str, faults: Faults, other: str | None = None, line: int = 1
) -> Iterator[str]:
    """`other`: encoding of the text from the first byte on that is not UTF-8; `line`: number of the first one."""
    decoder = codecs.getincrementaldecoder(encoding)()
    newlines = io.IncrementalNewlineDecoder(None, translate=True)
    if encoding != UTF_8:
        faults.encoding = encoding
        faults.add("doc-encoding-not-utf8", f"encoded in {_shown(encoding)}, not UTF-8", line, value=encoding)
    for chunk, final in chain(((chunk, False) for chunk in chunks), [(b"", True)]):
        try:
            text = decoder.decode(chunk, final)
        except UnicodeDecodeError as error:
            _, withheld = newlines.getstate()
            before = "\r" * (withheld & 1) + error.object[: error.start].decode(encoding, "ignore")
            at = line + len(LINE_END.findall(before))
            if other is not None:
                yield newlines.decode(error.object[: error.start].decode(), final=True)
                yield from _text(chain([error.object[error.start :]], chunks), other, faults, line=at)
                return
            if final:
                faults.add("doc-truncated", "the text ends inside a character", at, value=_hex(error))
                return
            faults.add("doc-encoding-not-utf8", _misfit(error, encoding), at, value=_hex(error))
            # The entries before the first bad byte are read before it is noted, however the bytes arrive.
            good = max(0, len(chunk) - len(error.object) + error.start)
            text = newlines.decode(decoder.decode(chunk[:good]))
            line += text.count("\n")
            yield text
            decoder.errors = "replace"
            faults.undecodable = True
            text = decoder.decode(chunk[good:], final)
        text = newlines.decode(text, final)
        line += text.count("\n")
        if text or not chunk:
            yield text


def _misfit(error: UnicodeDecodeError, encoding: str) -> str:
    name, found = _shown(encoding), _hex(error).upper()
    return f"the bytes {found} are not {name}" if " " in found else f"the byte {found} is not {name}"


def _shown(encoding: str) -> str:
    """The usual name of an encoding, of which Python has another: `windows-1251` of `cp1251`."""
    if encoding.startswith("cp125"):
        return f"windows-{encoding[2:]}"
    return USUAL_NAMES.get(encoding) or encoding.replace("iso8859", "iso-8859").replace("_", "-").upper()


def _hex(error: UnicodeDecodeError) -> str:
    return error.object[error.start : max(error.end, error.start + 1)].hex(" ")
