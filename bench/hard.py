"""Hard inputs: what each one is, how it is served, and the pages that a reader should find in it.

Documents are in tests/data/hard/; `http://site.example` in them is the site that serves them.
"""

from __future__ import annotations

import gzip
from dataclasses import dataclass, field
from pathlib import Path

DATA = Path(__file__).parents[1] / "tests" / "data" / "hard"
SITE = "http://site.example"
PAGES = "https://pages.example"
GOOD = (f"{PAGES}/good",)
PLAIN = (f"{PAGES}/one", f"{PAGES}/two")
CAFE = f"{PAGES}/caf\u00e9"
SITEMAP = "/sitemap.xml"


@dataclass(frozen=True)
class Answer:
    """Response of a site to one path."""

    body: bytes = b""
    content_type: str = "application/xml"
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    promised: int = 0
    """Bytes beyond the body that Content-Length promises before the connection closes."""


@dataclass(frozen=True)
class Input:
    """Site with one difficulty."""

    name: str
    answers: dict[str, Answer]
    """{path: answer}; without a robots.txt here, one names the first path."""
    right: tuple[str, ...] = GOOD
    """URLs of its pages, each once; `http://site.example` is the site."""
    children: tuple[str, ...] | None = None
    """For an index only: URLs that it lists, compared in place of pages."""
    short: bool = False
    """True if the table in docs/comparison.md has it too."""

    @property
    def robots(self) -> Answer:
        """Return its robots.txt."""
        path = next(iter(self.answers))
        named = Answer(f"User-agent: *\nDisallow:\nSitemap: {SITE}{path}\n".encode(), "text/plain")
        return self.answers.get("/robots.txt", named)


def document(name: str) -> bytes:
    """Read a document of the test data."""
    return (DATA / name).read_bytes()


def file(name: str, **keywords: object) -> Answer:
    """Return a document of the test data as an answer."""
    return Answer(document(name), **keywords)  # type: ignore[arg-type]  # the fields of Answer


def one(name: str, title: str, right: tuple[str, ...] = GOOD, short: bool = True) -> Input:
    """Return a document that is served correctly."""
    return Input(title, {SITEMAP: file(name)}, right, short=short)


def named_by(robots: str, title: str, short: bool = False) -> Input:
    """Return a good sitemap that an odd robots.txt names."""
    answers = {SITEMAP: file("plain.xml"), "/robots.txt": file(robots, content_type="text/plain")}
    return Input(title, answers, PLAIN, short=short)


GZ = gzip.compress(document("plain.xml"), mtime=0)
CODED = {"Content-Encoding": "gzip"}
HTML = "text/html; charset=UTF-8"

MARKUP = (
    one("raw-ampersand.xml", "raw `&` in a URL, then a good URL", (f"{PAGES}/shop?a=1&b=2", *GOOD)),
    one("html-entity.xml", "`&eacute;` in a URL, then a good URL", (CAFE, *GOOD)),
    one("escaped-ampersand.xml", "`?a=1&amp;copy=2`", (f"{PAGES}/shop?a=1&copy=2", *GOOD)),
    one("blank-lines-first.xml", "blank lines before `<?xml`"),
    one("doctype.xml", "DOCTYPE with an entity"),
    one("prefixed-core.xml", "prefixed core (`<s:urlset>`)"),
    one("undeclared-prefix.xml", "undeclared `image:` prefix", (*GOOD, f"{PAGES}/second")),
    one("control-character.xml", "control character in a URL, then a good URL"),
    one("empty-loc.xml", "empty `<loc>`, then a good URL"),
    one("missing-loc.xml", "`<url>` without `<loc>`, then a good URL", short=False),
    one("relative-loc.xml", "relative URL, then a good URL", (f"{SITE}/relative", *GOOD)),
    Input(
        "`<url>` inside `<sitemapindex>`",
        {SITEMAP: file("url-in-index.xml"), "/child.xml": file("child.xml")},
        (*GOOD, f"{PAGES}/child"),
        short=True,
    ),
    one("cut-in-url.xml", "file that ends in the middle of a URL"),
    one("warning-first.xml", "a PHP warning before the XML"),
    one("browser-view.xml", "a browser's message before the XML", short=False),
    one("two-documents.xml", "two documents in one file", PLAIN),
    one("no-root.xml", "entries without a root element", (*GOOD, f"{PAGES}/second")),
    one("missing-end-tag.xml", "missing `</url>`", (*GOOD, f"{PAGES}/second"), short=False),
    one("cdata.xml", "CDATA with line ends", (f"{PAGES}/shop?a=1&b=2", *GOOD), short=False),
    one("blanks-in-loc.xml", "blanks and NBSP around URLs", (*GOOD, f"{PAGES}/second"), short=False),
    one("protocol-relative-loc.xml", "`//host/path` as URL", ("http://pages.example/good",), False),
    one("upper-case-scheme.xml", "`HTTPS://` as scheme", (f"{PAGES}/upper", *GOOD), short=False),
    one("url-in-text.xml", "URL in `<url>` itself, no `<loc>`", (*GOOD, f"{PAGES}/second"), short=False),
    one("image-before-loc.xml", "`<image:image>` before `<loc>`", short=False),
    one("no-namespace.xml", "no namespace", short=False),
    one("google-namespace.xml", "namespace of Google 0.84", short=False),
    one("https-namespace.xml", "`https` namespace with a slash", short=False),
    one("late-namespace.xml", "namespace declared late", short=False),
    one("odd-lastmod.xml", "seven dialects of `lastmod`", tuple(f"{PAGES}/{number}" for number in range(1, 8)), False),
    one(
        "odd-priority.xml",
        "`priority` `0,8`, `NaN`, empty",
        tuple(f"{PAGES}/{number}" for number in range(1, 5)),
        False,
    ),
)
"""Difficulties in the document."""

ENCODINGS = (
    one("byte-order-mark.xml", "UTF-8 with a byte order mark", short=False),
    one("utf-16.xml", "UTF-16", (CAFE, *GOOD)),
    one("latin-1.xml", "declared ISO-8859-1", (CAFE, *GOOD), short=False),
    Input("gzip as `.xml`", {SITEMAP: Answer(GZ)}, PLAIN, short=True),
    Input("`.xml.gz` that is plain", {"/sitemap.xml.gz": file("plain.xml")}, PLAIN, short=True),
    Input("`.xml.gz` with Content-Encoding gzip", {"/sitemap.xml.gz": Answer(GZ, headers=CODED)}, PLAIN),
    Input("`.xml.gz`, gzip twice", {"/sitemap.xml.gz": Answer(gzip.compress(GZ, mtime=0))}, PLAIN),
)
"""Difficulties in the bytes."""

FORMS = (
    Input("`/sitemap` as text/html", {"/sitemap": file("plain.xml", content_type=HTML)}, PLAIN),
    Input("`/sitemap.php` as text/html", {"/sitemap.php": file("plain.xml", content_type=HTML)}, PLAIN, short=True),
    Input("`/sitemap.xml?from=1` as text/html", {"/sitemap.xml?from=1": file("plain.xml", content_type=HTML)}, PLAIN),
    Input("text with comments and a byte order mark", {"/sitemap.txt": file("list.txt", content_type="text/plain")},
          PLAIN, short=True),
    Input("RSS, one item with a guid alone", {"/feed.xml": file("rss.xml")}, PLAIN, short=True),
    Input("Atom with a relative link", {"/feed.xml": file("atom.xml")}, (f"{PAGES}/blog/one",), short=True),
)  # fmt: skip
"""Difficulties in name, type and kind."""

SERVERS = (
    Input("HTML instead of a sitemap", {SITEMAP: file("page.html", content_type=HTML)}, (), short=True),
    Input("an `<error>` with status 200", {SITEMAP: file("error.xml")}, ()),
    Input("status 204", {SITEMAP: Answer(status=204)}, ()),
    Input("urlset without entries", {SITEMAP: file("empty-urlset.xml")}, ()),
    Input("connection that breaks in a URL", {SITEMAP: file("cut-in-url.xml", promised=5000)}, short=True),
    Input(
        "redirect to `/sitemap.php`",
        {"/old.xml": Answer(status=301, headers={"Location": "/sitemap.php"}),
         "/sitemap.php": file("plain.xml", content_type=HTML)},
        PLAIN,
    ),
    Input(
        "indexes that name themselves, each other, a page, robots.txt",
        {"/tangled-index.xml": file("tangled-index.xml"), "/inner-index.xml": file("inner-index.xml"),
         "/child.xml": file("child.xml"), "/plain.xml": file("plain.xml"),
         "/page.html": file("page.html", content_type=HTML)},
        (*PLAIN, f"{PAGES}/child"),
        short=True,
    ),
    named_by("robots-bom.txt", "robots.txt with a byte order mark before `Sitemap:`", short=True),
    named_by("robots-utf-16.txt", "robots.txt in UTF-16"),
    named_by("robots-loose.txt", "robots.txt: `sitemap:/sitemap.xml # comment`"),
)  # fmt: skip
"""Difficulties in what servers do."""

HARD = (*MARKUP, *ENCODINGS, *FORMS, *SERVERS)
