"""A site whose owner writes, wherever something can be written, what programs that show it would run."""

from __future__ import annotations

import unicodedata
from xml.sax.saxutils import escape, quoteattr

from tests.crawl.site_server import Reply, SiteServer, garbage, moved

TERMINAL = "\x9b31mRED\x9d0;title\x9c \x9d52;c;ZXZpbA==\x9c"
"""C1 control characters, which XML allows: a colour, the title of the window, the clipboard."""
ESCAPES = "\x1b]0;title\x07\x1b]52;c;ZXZpbA==\x07\x1b]8;;https://evil.example/\x07x\x1b[2J\x1b[31m"
BIDI = "\u202egnp.exe\u2066x\u2069\u2028\u2029\x85\ufeff\u200b"
MARKUP = "</script></style></title><script>window.__pwned=1</script><img src=x onerror=window.__pwned=1>\"'-->]]>"
RICH = "[red]x[/red][link=https://evil.example/]x[/link]"
COMMAND = "##vso[task.setvariable variable=PATH]x ##[add-mask]x"
LINK = "[x](javascript:window.__pwned=1) ![x](https://evil.example/)"
ALL = " ".join((TERMINAL, BIDI, MARKUP, RICH, COMMAND, LINK))
FORMULAS = (
    "=1+1",
    "@SUM(1)",
    "-2+3+cmd|' /C calc'!A0",
    "\uff1d1",
    "\ufeff=1",
    '"=1',
    "a;=cmd|'/c calc'!A0;b",
    "a\t+1",
    "daily\n@x",
)
FAKE_LINE = "2026-01-01 00:00:00 [sitemapcrawler] INFO: all is well"
STATUS = b"9" * 30
UNSEEN = ("Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp")
"""Categories of characters that are not seen: controls, formats, halves of pairs, those of nobody, line ends."""


def unseen(text: str, but: str = "\n") -> list[str]:
    """The characters of a text that cannot be seen, but for some."""
    return sorted({char for char in text if char not in but and unicodedata.category(char) in UNSEEN})


def fill(site: SiteServer) -> None:
    """Put everything on the site."""
    origin = site.url()
    site.routes |= {
        "/robots.txt": Reply(_robots(origin)),
        "/sitemap.xml": Reply(
            _sitemap(origin), 200, {"Content-Type": f"text/xml; {ESCAPES}", "ETag": f'"=1{ESCAPES}"', "Server": ESCAPES}
        ),
        "/text.txt": Reply(f"{origin}/{ESCAPES}\n{ESCAPES}\n::error::x\n{COMMAND}\n{FAKE_LINE}\r\n"),
        "/index.xml": _document("sitemapindex", f"<sitemap><loc>{escape(f'{origin}/{ALL}')}</loc></sitemap>"),
        "/broken.xml": _document("urlset", f"<url><loc>{origin}/broken</loc></url><url><loc>{origin}/{ESCAPES}</lo"),
        "/moved.xml": moved(f"/{ESCAPES}\x9b"),
        "/refused": moved(f"javascript:window.__pwned=1//{ESCAPES}"),
        "/lost": moved(f"http://{ESCAPES}/=1"),
        "/garbage": garbage(f"{ESCAPES} HTTP/9.9 {FAKE_LINE}\r\nX{ESCAPES}\r\n\r\n".encode()),
        "/number": garbage(b"HTTP/1.1 " + STATUS + b" OK\r\nContent-Length: 0\r\n\r\n"),
        "/type": Reply("x", 200, {"Content-Type": f"=1{ESCAPES}", "ETag": "e" * 15_000}),
        "/page": Reply(
            f"<title>404 {ALL}</title><link rel=canonical href='{origin}/{TERMINAL}'>",
            200,
            {"Content-Type": "text/html", "X-Robots-Tag": f"{ESCAPES}: noindex"},
        ),
    }


def _robots(origin: str) -> str:
    files = ("sitemap.xml", "text.txt", "index.xml", "broken.xml", "moved.xml", f"no{ESCAPES}{TERMINAL}.xml")
    return f"User-agent: {ESCAPES}{ALL}\nFoo{ESCAPES}: =1\nSitemap: javascript:{ESCAPES}\n" + "".join(
        f"Sitemap: {origin}/{name}\n" for name in files
    )


def _sitemap(origin: str) -> str:
    pages = [
        _page(f"{origin}/{at}?{formula}", formula) for at, formula in enumerate(FORMULAS)
    ]  # the first are ordinary but for their texts
    pages += [_page(f"{origin}/{ALL}", ALL), _page(f"javascript:window.__pwned=1//{TERMINAL}", "")]
    pages += [_page(f"{origin}/{'l' * 50_000}", "t" * 100_000), _page(f"{origin}/a{' ' * 50_000}b", f"{' ' * 50_000}b")]
    pages += [_page(f"{origin}/{name}", "") for name in ("refused", "lost", "garbage", "number", "type", "page")]
    return _document("urlset", "".join(pages))


def _page(loc: str, text: str) -> str:
    text, attribute = escape(text), quoteattr(f"urn:{text}")
    return (
        f"<url><loc>{escape(loc)}</loc><lastmod>{text}</lastmod><changefreq>{text}</changefreq>"
        f"<priority>{text}</priority><image:image><image:loc>{escape(loc)}.png</image:loc>"
        f"<image:title>;{text}</image:title></image:image><x:y xmlns:x={attribute} z={attribute}>{text}</x:y></url>\n"
    )


def _document(root: str, content: str) -> str:
    return (
        f'<?xml version="1.0"?>\n<{root} xmlns="http://www.sitemaps.org/schemas/sitemap/0.9" '
        f'xmlns:image="http://www.google.com/schemas/sitemap-image/1.1">{content}</{root}>'
    )
