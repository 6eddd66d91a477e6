"""Bytes to text: the encoding by BOM, by the pattern of the first bytes, by the XML declaration, else UTF-8."""

from __future__ import annotations

import codecs
import io
import re
from collections.abc import Iterable, Iterator
from itertools import chain

from sitemapcrawler.reader.faults import Faults

UTF_8 = "utf-8"
BOMS = (
    (codecs.BOM_UTF8, UTF_8),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
"""Byte order marks; UTF-32 before UTF-16, whose mark begins alike."""
PATTERNS = ((b"<\0\0\0", "utf-32-le"), (b"\0\0\0<", "utf-32-be"), (b"<\0", "utf-16-le"), (b"\0<", "utf-16-be"))
"""How `<` looks without a mark: XML 1.0, appendix F.1."""
DECLARATION = re.compile(
    rb"""(?:\s|(?><!--.*?-->)|(?><\?.*?\?>))*?<\?xml\s[^>]{0,200}?encoding\s*=\s*["']([A-Za-z0-9._:-]{1,40})["']""",
    re.DOTALL,
)
"""The declaration, also behind what may not stand before it."""
START = 512
"""Bytes in which the declaration is looked for."""
CHARACTER_SETS = re.compile(
    r"(?:utf-(?:8|16|32)|ascii|iso8859|latin|cp[0-9]|koi8|shift|euc|gb|big5|mac-|tis|ptcp|johab)"
)
"""Codecs that are character sets; Python knows others, such as `idna` and `unicode_escape`, which are none."""
ASCII = bytes(range(0x20, 0x7F))
LINE_END = re.compile("\r\n|\r|\n")
UNKNOWN_BYTES = "\udfff"
"""Stands for bytes of a multi-byte encoding that mean nothing: a lone surrogate, so that XML does not take it."""


def decode(chunks: Iterable[bytes], faults: Faults) -> tuple[str, Iterator[str]]:
    """Name of the encoding, and the text with its line ends made LF (XML 1.0, 2.11) and no byte order mark.

    Bytes that the encoding does not allow become lone surrogates (UTF-8 and one-byte encodings) and
    the first of them is noted. An empty chunk gives an empty text.
    """
    stream = iter(chunks)
    start = b""
    for chunk in stream:
        start += chunk
        if len(start) >= START:
            break
    encoding, mark = detect(start, faults)
    return encoding, _text(chain([start[mark:]], stream), encoding, faults)


def detect(start: bytes, faults: Faults) -> tuple[str, int]:
    """Encoding of a document that begins with `start`, and the length of its byte order mark."""
    for mark, encoding in BOMS:
        if start.startswith(mark):
            faults.add("doc-bom", "a byte order mark at the start", 1, 1)
            return encoding, len(mark)
    for pattern, encoding in PATTERNS:
        if start.startswith(pattern):
            return encoding, 0
    declared = DECLARATION.match(start[:START])
    return (_declared(declared[1].decode("ascii"), faults) if declared else UTF_8), 0


def _declared(name: str, faults: Faults) -> str:
    try:
        codec = codecs.lookup(name)
        usable = CHARACTER_SETS.match(codec.name) is not None and ASCII.decode(codec.name) == ASCII.decode("ascii")
    except (LookupError, UnicodeError):
        usable = False
    if not usable:
        faults.add("doc-encoding-not-utf8", f"the declared encoding {name} does not fit, read as UTF-8", 1, value=name)
        return UTF_8
    if codec.name in (UTF_8, "ascii"):
        return UTF_8  # ASCII is UTF-8; a file that says ASCII and is not is UTF-8 more often than anything else
    return codec.name


def _text(chunks: Iterable[bytes], encoding: str, faults: Faults) -> Iterator[str]:
    decoder = codecs.getincrementaldecoder(encoding)()
    newlines = io.IncrementalNewlineDecoder(None, translate=True)
    if encoding != UTF_8:
        faults.add("doc-encoding-not-utf8", f"encoded in {encoding}, not UTF-8", 1, value=encoding)
    line = 1
    for chunk, final in chain(((chunk, False) for chunk in chunks), [(b"", True)]):
        try:
            text = decoder.decode(chunk, final)
        except UnicodeDecodeError as error:
            _, withheld = newlines.getstate()
            before = "\r" * (withheld & 1) + error.object[: error.start].decode(encoding, "ignore")
            at = line + len(LINE_END.findall(before))
            if final:
                faults.add("doc-truncated", "the text ends within a character", at, value=_hex(error))
                return
            faults.add("doc-encoding-not-utf8", f"bytes that are not {encoding}", at, value=_hex(error))
            decoder.errors = "surrogateescape" if error.encoding in (UTF_8, "charmap", "ascii") else "replace"
            text = decoder.decode(chunk, final)
        if decoder.errors == "replace":
            text = text.replace("\ufffd", UNKNOWN_BYTES)
        text = newlines.decode(text, final)
        line += text.count("\n")
        if text or not chunk:
            yield text


def _hex(error: UnicodeDecodeError) -> str:
    return error.object[error.start : max(error.end, error.start + 1)].hex(" ")
