"""Documents written from records, in the many ways one can: hypothesis strategies.

A `Written` document knows the records that a reader of it must find. Marks in the text stand for what only the whole
document decides: where a line ends and what a prefix is.
"""

from __future__ import annotations

import gzip
from dataclasses import dataclass
from xml.sax.saxutils import escape

from hypothesis import strategies as st

from sitemapcrawler.items import UrlRecord
from sitemapcrawler.namespaces.extensions import Alternate, Image, News, Video
from sitemapcrawler.reader import ChildRecord
from sitemapcrawler.reader.dates import utc
from tests.unit.reader.reading import CORE, URL

IMAGE = "http://www.google.com/schemas/sitemap-image/1.1"
VIDEO = "http://www.google.com/schemas/sitemap-video/1.1"
NEWS = "http://www.google.com/schemas/sitemap-news/0.9"
XHTML = "http://www.w3.org/1999/xhtml"
OTHER = "urn:example:other"
NAMESPACES = {"image": IMAGE, "video": VIDEO, "news": NEWS, "xhtml": XHTML, "o": OTHER}
PATH = "abcdefghijklmnopqrstuvwxyz0123456789/-_.~!$&'()*+,;=:@%?#éü中ф🎉"
BLANKS = ("", "", "\n", " ", "\n  ", "\t", "\n\n")
FREQUENCIES = ("always", "hourly", "daily", "weekly", "monthly", "yearly", "never")
DATES = ("2024-05-01", "2024-05-01T10:00:00Z", "2024-05-01T10:00:00+02:00", "2024-05-01T10:00:00.5Z", "2024-05", "2023")

paths = st.text(PATH, max_size=30)
urls = paths.map("https://e.com/{}".format)
texts = st.text(PATH + '<>" \n', min_size=1, max_size=40).map(str.strip).filter(bool)
blanks = st.sampled_from(BLANKS)


@dataclass
class Written:
    """A document and what it says."""

    text: str
    records: list[UrlRecord | ChildRecord]
    format: str


@dataclass
class Style:
    """How a document writes its markup."""

    draw: st.DrawFn
    core: str = ""
    """Prefix of the protocol's elements, with its colon."""

    def blank(self) -> str:
        return str(self.draw(blanks))

    def text(self, value: str) -> str:
        """`value` as element content: references, CDATA, white space around it."""
        way = self.draw(st.sampled_from(("plain", "plain", "cdata", "numbers", "mixed")))
        if way == "cdata" and "]]>" not in value:
            written = f"<![CDATA[{value}]]>"
        elif way == "numbers":
            written = "".join(f"&#{ord(char)};" if char in "&<>/:" else char for char in value)
        elif way == "mixed":
            written = "".join(f"&#x{ord(char):x};" if char in "&<é" else escape(char) for char in value)
        else:
            written = escape(value)
        return self.blank() + written + self.blank()

    def element(self, name: str, value: str, attributes: str = "") -> str:
        return f"<{name}{attributes}{self.inner()}>{self.text(value)}</{name}{self.inner()}>{self.blank()}"

    def field(self, name: str, value: str) -> str:
        return self.element(self.core + name, value)

    def inner(self) -> str:
        """White space inside a tag; a line break only where no line is counted from."""
        return str(self.draw(st.sampled_from(("", "", "", " "))))

    def comment(self) -> str:
        inside = f"<{self.core}url><{self.core}loc>https://e.com/commented</{self.core}loc></{self.core}url>"
        return str(
            self.draw(st.sampled_from(("", "", "", "", "<!-- note -->", f"<!-- {inside} {inside} -->", "<?pi x?>")))
        )


def _image(style: Style) -> tuple[str, Image]:
    image = Image(loc=style.draw(urls), caption=style.draw(st.none() | texts), title=style.draw(st.none() | texts))
    inner = "".join(
        style.element(f"image:{name}", value)
        for name in ("loc", "caption", "title")
        if (value := getattr(image, name)) is not None
    )
    return f"<image:image>{style.blank()}{inner}</image:image>{style.blank()}", image


def _video(style: Style) -> tuple[str, Video]:
    tags = style.draw(st.lists(texts, max_size=3))
    country = style.draw(st.none() | st.sampled_from(("DE AT", "US")))
    video = Video(title=style.draw(texts), tag=list(tags))
    inner = "".join(style.element("video:tag", tag) for tag in tags) + style.element("video:title", video.title or "")
    if country:
        video.restriction = {"value": country, "relationship": "allow"}
        inner += style.element("video:restriction", country, ' relationship="allow"')
    return f"<video:video>{inner}</video:video>{style.blank()}", video


def _news(style: Style) -> tuple[str, News]:
    news = News(publication={"name": style.draw(texts), "language": "en"}, title=style.draw(texts))
    assert news.publication
    publication = "".join(style.element(f"news:{name}", value) for name, value in news.publication.items())
    inner = f"<news:publication>{publication}</news:publication>{style.element('news:title', news.title or '')}"
    return f"<news:news>{style.blank()}{inner}</news:news>", news


def _alternate(style: Style) -> tuple[str, Alternate]:
    alternate = Alternate(style.draw(st.sampled_from(("de", "en-GB", "x-default"))), style.draw(urls))
    href = escape(alternate.href or "", {'"': "&quot;"})
    order = style.draw(st.permutations(('rel="alternate"', f'hreflang="{alternate.hreflang}"', f'href="{href}"')))
    return f"<xhtml:link {' '.join(order)}{style.inner()}/>{style.blank()}", alternate


def _other(style: Style) -> tuple[str, dict[str, object]]:
    value = style.draw(texts)
    return style.element("o:score", value, ' unit="x"'), {"name": "score", "attributes": {"unit": "x"}, "value": value}


def _parts(style: Style, record: UrlRecord) -> list[str]:
    parts = []
    for _ in range(style.draw(st.integers(0, 3))):
        write = style.draw(st.sampled_from((_image, _video, _news, _alternate, _other)))
        if write is _news and record.news is not None:
            continue
        text, value = write(style)
        parts.append(text)
        _put(record, value)
    return parts


def _put(record: UrlRecord, value: object) -> None:
    if isinstance(value, News):
        record.news = value
    elif isinstance(value, dict):
        record.extra = {OTHER: [*(record.extra or {}).get(OTHER, []), value]}
    else:
        field = {Image: "images", Video: "videos", Alternate: "alternates"}[type(value)]
        setattr(record, field, [*getattr(record, field), value])


def _entry(style: Style, line: int, plain: bool) -> tuple[str, UrlRecord]:
    record = UrlRecord(style.draw(urls), None, URL, line)
    parts = [style.field("loc", record.loc)]
    if style.draw(st.booleans()):
        record.lastmod = style.draw(st.sampled_from(DATES))
        record.lastmod_at = utc(record.lastmod)
        parts.append(style.field("lastmod", record.lastmod))
    if style.draw(st.booleans()):
        record.changefreq = style.draw(st.sampled_from(FREQUENCIES))
        parts.append(style.field("changefreq", record.changefreq))
    if style.draw(st.booleans()):
        record.priority = style.draw(st.sampled_from((0.0, 0.5, 0.75, 1.0)))
        parts.append(style.field("priority", str(record.priority)))
    if not plain:
        extensions = _parts(style, record)
        parts = [*extensions, *parts] if style.draw(st.booleans()) else [*parts, *extensions]
        parts.append(style.comment())
    return "".join(parts), record


def _child(style: Style, line: int, plain: bool) -> tuple[str, ChildRecord]:
    record = ChildRecord(style.draw(urls), None, line)
    text = style.field("loc", record.loc)
    if style.draw(st.booleans()):
        record.lastmod = style.draw(st.sampled_from(DATES))
        record.lastmod_at = utc(record.lastmod)
        text += style.field("lastmod", record.lastmod)
    return text, record


@st.composite
def xml_documents(draw: st.DrawFn, index: bool | None = None) -> Written:
    """A urlset or an index, with namespaces, comments and white space."""
    index = draw(st.booleans()) if index is None else index
    style = Style(draw, draw(st.sampled_from(("", "", "", "s:"))))
    root, name, write = ("sitemapindex", "sitemap", _child) if index else ("urlset", "url", _entry)
    plain = draw(st.booleans())
    declarations = "".join(f' xmlns:{prefix}="{uri}"' for prefix, uri in NAMESPACES.items()) if not plain else ""
    core = f' xmlns{":" + style.core[:-1] if style.core else ""}="{CORE}"'
    text = draw(st.sampled_from(("", "<?xml version='1.0'?>\n", "<?xml version='1.0'?><!-- <urlset> -->\n")))
    text += f"<{style.core}{root}{core}{declarations}{style.inner()}>{style.blank()}"
    records: list[UrlRecord | ChildRecord] = []
    for _ in range(draw(st.integers(0, 5))):
        text += style.comment() + style.blank()
        inner, record = write(style, 1 + text.count("\n"), plain)
        records.append(record)
        text += f"<{style.core}{name}{style.inner()}>{style.blank()}{inner}</{style.core}{name}{style.inner()}>"
        text += style.blank()
    text += f"{style.comment()}</{style.core}{root}{style.inner()}>{draw(blanks)}"
    return Written(text, records, "xml-index" if index else "xml-urlset")


@st.composite
def feeds(draw: st.DrawFn) -> Written:
    """An RSS 2.0 or Atom 1.0 feed."""
    style = Style(draw)
    atom = draw(st.booleans())
    start, name, end = (
        ('<feed xmlns="http://www.w3.org/2005/Atom"><title>t</title><link href="https://e.com/"/>', "entry", "</feed>")
        if atom
        else ('<rss version="2.0"><channel><title>t</title><link>https://e.com/</link>', "item", "</channel></rss>")
    )
    text = start
    records: list[UrlRecord | ChildRecord] = []
    for _ in range(draw(st.integers(0, 5))):
        text += style.blank() + style.comment()
        record = UrlRecord(draw(urls), None, URL, 1 + text.count("\n"))
        records.append(record)
        href = escape(record.loc, {'"': "&quot;"})
        link = f'<link href="{href}"/>' if atom else style.element("link", record.loc)
        if draw(st.booleans()):
            record.lastmod = "2024-05-01T10:00:00Z" if atom else "Wed, 01 May 2024 10:00:00 GMT"
            record.lastmod_at = "2024-05-01T10:00:00Z"
            link += style.element("updated" if atom else "pubDate", record.lastmod)
        other = '<link rel="self" href="https://e.com/no"/>' if atom else "<guid>https://e.com/no</guid>"
        parts = draw(st.permutations((style.element("title", draw(texts)), link, draw(st.sampled_from(("", other))))))
        text += f"<{name}>{''.join(parts)}</{name}>"
    return Written(text + end, records, "atom" if atom else "rss")


@st.composite
def text_files(draw: st.DrawFn) -> Written:
    """A text sitemap, with blank lines and comments."""
    text = ""
    records: list[UrlRecord | ChildRecord] = []
    for _ in range(draw(st.integers(1, 6))):
        text += "".join(draw(st.lists(st.sampled_from(("\n", "  \n", "# note\n", "\t\n")), max_size=2)))
        record = UrlRecord(draw(urls), None, URL, 1 + text.count("\n"))
        records.append(record)
        text += f"{draw(st.sampled_from(('', '  ', chr(9))))}{record.loc}{draw(st.sampled_from(('', ' ', chr(9))))}\n"
    return Written(text[: draw(st.sampled_from((None, -1)))], records, "text")


UNICODE = ("utf-8", "utf-8", "utf-8-sig", "utf-16")
OTHER_XML = ("utf-16-le", "utf-16-be", "iso-8859-1", "koi8-r")
LINE_ENDS = ("\n", "\n", "\r\n", "\r")


def encodings(text: str) -> st.SearchStrategy[bytes]:
    """`text` as bytes in some encoding that a reader can tell, with some kind of line end."""
    names = UNICODE + (OTHER_XML if text.startswith("<") else ())
    return st.tuples(st.just(text), st.sampled_from(names), st.sampled_from(LINE_ENDS)).map(lambda how: encode(*how))


def encode(text: str, encoding: str, end: str) -> bytes:
    """`text` in an encoding, which its XML declaration names; what does not fit becomes references."""
    body = text.replace("\n", end)
    if encoding in ("iso-8859-1", "koi8-r") and (not body.startswith("<?xml") or "<![CDATA[" in body):
        return body.encode()
    declared = encoding.removesuffix("-sig")
    body = body.replace("'1.0'?>", f"'1.0' encoding='{declared}'?>", 1)
    return body.encode(encoding, "xmlcharrefreplace")


@st.composite
def wrapped(draw: st.DrawFn, data: bytes) -> bytes:
    """`data` as it is, or in gzip, once or twice, of one or more members."""
    for _ in range(draw(st.sampled_from((0, 0, 1, 2)))):
        cut = draw(st.integers(0, len(data)))
        level = draw(st.sampled_from((0, 1, 9)))
        data = gzip.compress(data[:cut], level, mtime=0) + gzip.compress(data[cut:], level, mtime=0)
    return data
