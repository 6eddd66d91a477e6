"""Hostile documents take time in proportion to their size.

Four times the size may take `FACTOR` times as long: quadratic work takes 16 times as long. The sizes are small enough
for a quick suite and large enough that quadratic work shows.
"""

from __future__ import annotations

from collections.abc import Callable
from time import process_time

import pytest

from tests.unit.reader.reading import DECLARATION, END, URLSET, encoded, read

FACTOR = 9
SLACK = 0.25  # seconds of noise on a busy machine
SIZE = 100_000  # bytes of the smaller document
E = "<url><loc>https://e.com/a/path</loc></url>"
BROKEN = "<url><loc>https://e.com/a?b&c</loc></url>"
RSS = '<rss xmlns:media="http://search.yahoo.com/mrss/"><channel>'
IMAGES = URLSET.replace('0.9">', '0.9" xmlns:image="http://www.google.com/schemas/sitemap-image/1.1">')
NEWS = URLSET.replace('0.9">', '0.9" xmlns:news="http://www.google.com/schemas/sitemap-news/0.9">')

HOSTILE: dict[str, Callable[[int], str | bytes]] = {
    "comments without end": lambda n: URLSET + "<!--" * n,
    "comments without end, each after a fault": lambda n: URLSET + ("&<!-- " + E) * n,
    "end tags in a comment": lambda n: f"{URLSET}<!-- {'</url>' * n} -->{END}",
    "end tags in a comment after a fault": lambda n: f"{URLSET}&<!-- {'</url>' * n} -->{END}",
    "end tags in a processing instruction": lambda n: f"{URLSET}<?a {'</url>' * n} ?>{END}",
    "entries in a comment": lambda n: f"{URLSET}<!-- {E * n} -->{END}",
    "entries in a comment in an entry": lambda n: f"{URLSET}<url><!-- {E * n} --></url>{END}",
    "entries in CDATA": lambda n: f"{URLSET}<x><![CDATA[{E * n}]]></x>{END}",
    "CDATA without end": lambda n: URLSET + "<![CDATA[" * n,
    "CDATA after CDATA": lambda n: f"{URLSET}<x>{'<![CDATA[a]]>' * n}</x>{END}",
    "CDATA with end tags after a fault": lambda n: URLSET + "&" + "<x><![CDATA[</url>]]></x>" * n,
    "ends of CDATA": lambda n: URLSET + "]]>" * n + END,
    "ends of CDATA in URLs": lambda n: URLSET + "<url><loc>https://e.com/]]></loc></url>" * n + END,
    "roots without end": lambda n: '<urlset "' * n,
    "roots without end behind a root": lambda n: URLSET + END + '<urlset "' * n,
    "roots within roots": lambda n: "<urlset>" * n,
    "documents in a row": lambda n: "<urlset></urlset>" * n,
    "documents with words between": lambda n: f"x<urlset>{E}</urlset>y" * n,
    "documents of another kind in a row": lambda n: f"{URLSET}{END}" + "<sitemapindex></sitemapindex>" * n,
    "entries behind the root": lambda n: URLSET + END + E * n,
    "end tags behind the root": lambda n: URLSET + END + "</url>" * n,
    "entries without end": lambda n: URLSET + "<url><loc>https://e.com/1</loc>\n" * n,
    "start tags": lambda n: URLSET + "<url>" * n,
    "end tags": lambda n: URLSET + "</url>" * n,
    "ampersands in a URL": lambda n: f"{URLSET}<url><loc>https://e.com/{'&' * n}</loc></url>{END}",
    "an ampersand in each URL": lambda n: URLSET + BROKEN * n + END,
    "an ampersand between entries": lambda n: URLSET + ("&" + E) * n + END,
    "ampersands alone": lambda n: URLSET + "&" * n,
    "less-than signs": lambda n: URLSET + "<" * n,
    "half end tags": lambda n: URLSET + "</" * n,
    "half processing instructions": lambda n: URLSET + "<?" * n,
    "elements in elements": lambda n: URLSET + "<x>" * n,
    "a giant attribute": lambda n: f'{URLSET}<url a="{"x" * n}"><loc>https://e.com/1</loc></url>{END}',
    "a giant attribute without end": lambda n: f'{URLSET}<url a="{"x" * n}',
    "quotes": lambda n: URLSET + "<url a=" + "\"'" * n,
    "many attributes": lambda n: URLSET + "<url " + " ".join(f"a{i}=''" for i in range(n)) + "/>" + END,
    "many undeclared prefixes": lambda n: URLSET + "<url>" + "".join(f"<a{i}:b/>" for i in range(n)) + "</url>",
    "many namespaces": lambda n: URLSET + "".join(f'<url><loc>x</loc><a xmlns="u{i}"/></url>' for i in range(n)) + END,
    "a wrapper": lambda n: f"{URLSET}<g>{E * n}</g>{END}",
    "a wrapper of others": lambda n: f"{URLSET}<g>{'<h><i/></h>' * n}</g>{END}",
    "mismatched tags": lambda n: URLSET + "<url><loc>https://e.com/1</loc></ur>" * n + END,
    "URLs that are cut": lambda n: URLSET + "<url><loc>https://e.com/1</lo></url>" * n + END,
    "blanks in a URL": lambda n: f"{URLSET}<url><loc>https://e.com/&{' ' * n}x</loc></url>{END}",
    "line breaks in a URL": lambda n: f"{URLSET}<url><loc>https://e.com/{chr(10) * n}x</loc></url>{END}",
    "blanks in an entry": lambda n: f"{URLSET}<url>{' ' * n}</url>{END}",
    "bad bytes in a URL": lambda n: f"{URLSET}<url><loc>https://e.com/".encode() + b"\xff" * n + b"</loc></url>",
    "a bad byte in each URL": lambda n: URLSET.encode() + b"<url><loc>https://e.com/\xff</loc></url>" * n,
    "control characters": lambda n: f"{URLSET}<url><loc>https://e.com/{chr(8) * n}</loc></url>{END}",
    "character references": lambda n: f"{URLSET}<url><loc>https://e.com/{'&#65;' * n}</loc></url>{END}",
    "a giant character reference": lambda n: f"{URLSET}<url><loc>https://e.com/&#{'9' * n};</loc></url>{END}",
    "entities": lambda n: f"{URLSET}<url><loc>https://e.com/{'&eacute;' * n}</loc></url>{END}",
    "a giant entity": lambda n: f"{URLSET}<url><loc>https://e.com/&{'a' * n};</loc></url>{END}",
    "images of one page": lambda n: f"{IMAGES}<url><loc>x</loc>{'<image:image/>' * n}</url>{END}",
    "repeated parts of an image": lambda n: f"{IMAGES}<url><image:image>{'<image:loc/>' * n}</image:image></url>{END}",
    "repeated parts of a publication": lambda n: (
        f"{NEWS}<url><loc>x</loc><news:news><news:publication>{'<news:name>x</news:name>' * n}</news:publication></news:news></url>"
    ),
    "URLs of one entry": lambda n: f"{URLSET}<url>{'<loc>https://e.com/1</loc>' * n}</url>{END}",
    "text between elements": lambda n: f"{URLSET}<url><loc>https://e.com/1</loc>{'a<x/>' * n}</url>{END}",
    "a long date": lambda n: f"{URLSET}<url><loc>https://e.com/1</loc><lastmod>{'1 May ' * n}</lastmod></url>",
    "items with a fault each": lambda n: RSS + "<item><link>https://e.com/?a&b</link></item>" * n,
    "channels": lambda n: "<rss>" + "<channel></channel>" * n,
    "permalinks of one item": lambda n: f"{RSS}<item>{'<guid>x</guid>' * n}</item>",
    "media of one item": lambda n: (
        RSS + "<item>" + '<media:content url="x" medium="video"/>' * n + "<link>x</link></item>"
    ),
    "a fragment with junk": lambda n: (E + "junk & ") * n,
    "comments before the root": lambda n: "<!---->" * n + URLSET + E + END,
    "declarations before the root": lambda n: DECLARATION * n + URLSET + E + END,
    "document types": lambda n: "<!DOCTYPE u>" * n + URLSET + E + END,
    "quotes in a document type": lambda n: "<!DOCTYPE u [" + '"' * n + URLSET + E + END,
    "lines of text": lambda n: "https://e.com/1\n" * n,
    "blank lines of text": lambda n: "https://e.com/1\n" + "\n" * n,
    "one line of text": lambda n: "https://e.com/1 " * n,
    "slashes": lambda n: "a" + "/" * n,
    "html": lambda n: "<html>" * n,
}


def seconds(body: bytes) -> float:
    start = process_time()
    read(body, 1 << 16)
    return process_time() - start


@pytest.mark.parametrize("name", HOSTILE)
def test_time_grows_with_the_size(name: str) -> None:
    write = HOSTILE[name]
    unit = (len(encoded(write(64))) - len(encoded(write(0)))) / 64
    count = int(SIZE / unit)
    small, large = encoded(write(count)), encoded(write(4 * count))
    once = min(seconds(small), seconds(small))
    assert seconds(large) < FACTOR * once + SLACK
