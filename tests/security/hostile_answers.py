"""Answers of a server that wants to hurt who asks it: heads, framing, codings. Each can be given for any URL."""

from __future__ import annotations

import zlib
from base64 import b64decode
from collections.abc import Iterable, Iterator
from itertools import chain, repeat

from tests.crawl.documents import packed, urlset
from tests.crawl.site_server import Answering, Exchange

MIB = 2**20
LINE = b"x" * 10_000
SMALL = urlset("https://pages.example/good")
GZIP_HEAD = b"\x1f\x8b\x08\0\0\0\0\0\0\x03"


def streamed(*parts: Iterable[bytes]) -> Answering:
    """An answer, head and all, that is made while it is sent; then the connection ends."""
    pieces = [list(part) if isinstance(part, list) else part for part in parts]

    def route(exchange: Exchange) -> None:
        exchange.closed = True
        for part in pieces:
            for piece in part:
                exchange.send(piece)
        exchange.close()

    return route


def head(*lines: str, status: str = "200 OK") -> list[bytes]:
    return ["\r\n".join([f"HTTP/1.1 {status}", "Content-Type: text/html", *lines, "", ""]).encode()]


def times(piece: bytes, count: int) -> Iterable[bytes]:
    """The same again and again, anew for each request."""

    class Again:
        def __iter__(self) -> Iterator[bytes]:
            return repeat(piece, count)

    return Again()


def deflated(start: bytes, wbits: int, mibs: int, first: bytes = b"") -> list[Iterable[bytes]]:
    packer = zlib.compressobj(9, zlib.DEFLATED, wbits)
    begin = packer.compress(start) + packer.flush(zlib.Z_FULL_FLUSH)
    again = packer.compress(b" " * MIB) + packer.flush(zlib.Z_FULL_FLUSH)
    return [[first + begin], times(again, mibs)]


def coded(coding: str, *body: Iterable[bytes]) -> Answering:
    return streamed(head(f"Content-Encoding: {coding}"), *body)


BROTLI_BOMB = zlib.decompress(
    b64decode(
        "eNo7//9/PYOKw6ONDkXv///8/5+/gcVBRqzh3V/7////M05g6DjMdGHv/+f//9szCDEURjDs+v7/z///7A5MCnzc"
        "Dt//zQeqYvBgOJLI+OLe/8///8szcDZY6DDc/V3/7/9/ZgVGgXbWBdX/z4MtYXi0gaFk1JJRS4aiJfYAujavHg=="
    )
)
"""1 GiB of spaces, in 809 bytes."""
ZSTD_BOMB = (
    b"\x28\xb5\x2f\xfd\x00\xa8"  # magic, no content size, a window of 2 GiB
    + b"\x02\x00\x40\x20" * 8192  # blocks of 128 KiB that repeat one byte (RFC 8878, 3.1.1.2)
)
START = b"<urlset>"
CODINGS: dict[str, Answering] = {
    "br": coded("br", [BROTLI_BOMB]),
    "zstd": coded("zstd", [ZSTD_BOMB]),
    "gzip": coded("gzip", *deflated(START, -15, 4096, GZIP_HEAD)),
    "gzip-1000": coded(", ".join(["gzip"] * 1000), *deflated(START, -15, 4096, GZIP_HEAD)),
    "gzip-lines": coded(
        "gzip\r\nContent-Encoding: br\r\nContent-Encoding: gzip", *deflated(START, -15, 4096, GZIP_HEAD)
    ),
    "gzip-gzip": coded("gzip", [packed(b"".join(chain(*deflated(b"", -15, 512, GZIP_HEAD))))]),
    "unknown-coding": coded("x" * 50_000, [SMALL]),
}


def start(text: bytes = b"HTTP/1.1 200 OK\r\n") -> list[bytes]:
    return [text]


HEADS: dict[str, Answering] = {
    "head-megabyte": streamed(start(), times(b"X-%b: y\r\n" % LINE, 105), [b"\r\n", SMALL]),
    "head-100000": streamed(start(), times(b"A: b\r\n" * 1000, 100), [b"\r\n", SMALL]),
    "head-100000-long": streamed(start(), times(b"A: bcdef\r\nB: cccccc\r\n" * 500, 100), [b"\r\n", SMALL]),
    "head-line": streamed(start(), [b"X: "], times(LINE, 105), [b"\r\n\r\n", SMALL]),
    "head-endless": streamed(start(), times(b"A: b\r\n" * 1000, 20_000)),
    "head-folded": streamed(start(), [b"X: a\r\n"], times(b" a\r\n" * 1000, 200), [b"\r\n", SMALL]),
    "location-megabyte": streamed([b"HTTP/1.1 302 Found\r\nLocation: /"], times(LINE, 105), [b"\r\n\r\n"]),
    "location-60k": streamed([b"HTTP/1.1 302 Found\r\nContent-Length: 0\r\nLocation: /" + b"l" * 60_000 + b"\r\n\r\n"]),
    "locations": streamed(
        [b"HTTP/1.1 302 Found\r\nContent-Length: 0\r\n" + b"Location: /a\r\nLocation: /b\r\n" * 1000, b"\r\n"]
    ),
    "status-megabyte": streamed([b"HTTP/1.1 200 "], times(LINE, 105), [b"\r\n\r\n", SMALL]),
    "status-endless": streamed(times(LINE, 20_000)),
    "cookies": streamed(start(), [b"Set-Cookie: %d=%b\r\n" % (at, LINE[:60]) for at in range(3000)], [b"\r\n", SMALL]),
    "informational": streamed(times(b"HTTP/1.1 100 Continue\r\n\r\n" * 100, 100_000)),
    "early-hints": streamed(times(b"HTTP/1.1 103 Early Hints\r\nLink: </a>; rel=preload\r\n\r\n" * 100, 100_000)),
    "switching": streamed(
        [b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n"], times(LINE, 1000)
    ),
    "old": streamed([SMALL]),
    "garbage": streamed([bytes(range(256)) * 4000]),
    "lines": streamed(times(b"\r\n" * 5000, 20_000)),
    "version": streamed([b"HTTP/9.9 200 OK\r\nContent-Length: 3\r\n\r\nabc"]),
    "nul": streamed(start(), [b"A\0B: c\0d\r\n: x\r\nno colon\r\n\r\n", SMALL]),
}

CHUNKED = head("Transfer-Encoding: chunked")


def chunk(data: bytes, extension: bytes = b"") -> bytes:
    return b"%x%b\r\n%b\r\n" % (len(data), extension, data)


FRAMES: dict[str, Answering] = {
    "chunks-of-a-byte": streamed(
        CHUNKED, [chunk(bytes([byte])) for byte in SMALL], times(b"1\r\n \r\n" * 10_000, 5), [b"0\r\n\r\n"]
    ),
    "chunk-extension": streamed(CHUNKED, [b"5;"], times(LINE, 105), [b"\r\nabcde\r\n0\r\n\r\n"]),
    "chunk-extensions": streamed(CHUNKED, times(chunk(b" ", b";" + LINE[:8000]), 10_000)),
    "chunk-huge": streamed(CHUNKED, [b"10000000000000000\r\n" + SMALL]),
    "chunk-digits": streamed(CHUNKED, times(b"0" * 10_000, 20_000)),
    "chunk-negative": streamed(CHUNKED, [b"-5\r\n" + SMALL]),
    "trailers": streamed(CHUNKED, [chunk(SMALL), b"0\r\n"], times(b"X: %b\r\n" % LINE, 20_000)),
    "trailer-line": streamed(CHUNKED, [chunk(SMALL), b"0\r\nX: "], times(LINE, 20_000)),
    "chunked-and-length": streamed(
        head("Transfer-Encoding: chunked", "Content-Length: 5"), [chunk(SMALL), b"0\r\n\r\n"]
    ),
    "chunked-twice": streamed(head("Transfer-Encoding: chunked, chunked"), [chunk(SMALL), b"0\r\n\r\n"]),
    "transfer-gzip": streamed(head("Transfer-Encoding: gzip, chunked"), [chunk(packed(SMALL)), b"0\r\n\r\n"]),
    "length-negative": streamed(head("Content-Length: -1"), [SMALL]),
    "length-plus": streamed(head(f"Content-Length: +{len(SMALL)}"), [SMALL]),
    "length-huge": streamed(head(f"Content-Length: {2**70}"), [SMALL]),
    "length-digits": streamed(head(f"Content-Length: {'9' * 5000}"), [SMALL]),
    "length-zeros": streamed(head(f"Content-Length: {'0' * 5000}{len(SMALL)}"), [SMALL]),
    "length-list": streamed(head(f"Content-Length: {len(SMALL)}, {len(SMALL)}"), [SMALL]),
    "length-twice": streamed(head(f"Content-Length: {len(SMALL)}", f"Content-Length: {len(SMALL)}"), [SMALL]),
    "length-differs": streamed(head("Content-Length: 5", f"Content-Length: {len(SMALL)}"), [SMALL]),
    "length-hex": streamed(head(f"Content-Length: {len(SMALL):#x}"), [SMALL]),
    "surplus": streamed(head(f"Content-Length: {len(SMALL)}"), [SMALL + b"and more"]),
    "surplus-answer": streamed(
        head(f"Content-Length: {len(SMALL)}"), [SMALL + b"HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nsecond"]
    ),
    "surplus-megabytes": streamed(head(f"Content-Length: {len(SMALL)}"), [SMALL], times(LINE, 10_000)),
    "two-answers": streamed([*head(f"Content-Length: {len(SMALL)}"), SMALL] * 2),
}

TAGS = b"<!doctype html><html><head>"
PAGES: dict[str, Answering] = {
    "html-endless": streamed(head(), [TAGS], times(b" " * 65_536, 16_384)),
    "html-title": streamed(head(), [TAGS + b"<title>"], times(b"x" * 65_536, 1_600)),
    "html-link": streamed(head(), [TAGS + b"<link rel=sitemap href='"], times(b"x" * 65_536, 1_600)),
    "html-links": streamed(head(), [TAGS], times(b"<link rel=sitemap href=/s>" * 1000, 1000)),
    "html-new-links": streamed(head(), [TAGS], [b"<link rel=sitemap href=/s%d>" % at for at in range(100)]),
    "html-metas": streamed(head(), [TAGS], times(b"<meta name=robots content=noindex>" * 1000, 1000)),
    "html-canonicals": streamed(head(), [TAGS], times(b"<link rel=canonical href=/c>" * 1000, 1000)),
    "html-refreshes": streamed(head(), [TAGS], times(b"<meta http-equiv=refresh content='0;url=/x'>" * 1000, 1000)),
    "html-comment": streamed(head(), [TAGS + b"<!--"], times(b"<!-" * 20_000, 1000)),
    "html-tags": streamed(head(), [TAGS], times(b"<" * 65_536, 1000)),
    "html-attributes": streamed(head(), [TAGS + b"<link "], times(b"a=b " * 16_384, 1000)),
    "html-equals": streamed(head(), [TAGS + b"<link rel"], times(b"=" * 65_536, 1000)),
    "html-quotes": streamed(head(), [TAGS + b"<link rel"], times(b"='" * 30_000, 1000)),
    "html-entities": streamed(head(), [TAGS + b"<title>"], times(b"&amp;&#x41" * 6_000, 1000)),
}

ROBOTS: dict[str, Answering] = {
    "robots-line": streamed(head(), [b"User-agent: *\nDisallow: /"], times(LINE, 5_000)),
    "robots-stars": streamed(head(), [b"User-agent: *\n"], times(b"Disallow: /*a*a*a*a*b\n" * 1000, 2_300)),
    "robots-sitemaps": streamed(
        head(), [b"Sitemap: /s%d.xml\n" % at for at in range(100)], times(b"Sitemap: /s.xml\n" * 1000, 2_000)
    ),
    "robots-groups": streamed(
        head(),
        (b"User-agent: a%d\nDisallow: /%d\n" % (at, at) for at in range(30_000)),
        times(b"User-agent: *\nAllow: /\n" * 1000, 2_000),
    ),
    "robots-agents": streamed(head(), times(b"User-agent: sitemapcrawler\n" * 1000, 2_000), [b"Disallow: /private\n"]),
    "robots-nul": streamed(head(), times(b"\0" * 65_536, 800)),
    "robots-cr": streamed(head(), times(b"\r" * 65_536, 800)),
    "robots-percent": streamed(head(), [b"User-agent: *\nDisallow: /"], times(b"%2" * 5_000, 5_000)),
    "robots-delay": streamed(
        head(), [b"User-agent: *\nCrawl-delay: 31536000\nCrawl-delay: 1e308\nRequest-rate: 1/31536000s\n"]
    ),
    "robots-delays": streamed(
        head(),
        [b"User-agent: *\n"],
        times(b"Crawl-delay: 0.1\nRequest-rate: 9/1s\nVisit-time: 0000-2359\n" * 500, 2_000),
    ),
}
WIRE = CODINGS | HEADS | FRAMES
