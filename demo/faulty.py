"""Defective sitemaps of the demo site, each with a defect found on the web."""

from __future__ import annotations

from demo.answer import Answer, page
from demo.sitemaps import CORE, DECLARATION, XML, urlset

DEFECTS = (
    "<loc>/defects/1</loc>",
    "<loc>BASE/defects/2</loc><lastmod>2025-13-45</lastmod>",
    "<loc>BASE/defects/3</loc><lastmod>5 January 2026</lastmod>",
    "<loc>BASE/defects/4</loc><priority>1.5</priority>",
    "<loc>BASE/defects/5</loc><priority>high</priority>",
    "<loc>BASE/defects/6</loc><changefreq>sometimes</changefreq>",
    "<loc>\n      BASE/defects/7\n    </loc>",
    "<loc>BASE/defects/8</loc><lastmod>2026-01-01</lastmod>",
    "<loc>BASE/defects/8</loc><lastmod>2026-02-02</lastmod>",
    "<loc>https://elsewhere.example/page</loc>",
)
"""Entries of `/sitemaps/defects.xml`, well-formed but wrong; BASE stands for the site's base URL."""


def faulty(base: str) -> dict[str, Answer]:
    """Return the defective sitemaps by path, for a site with this base URL."""
    return {
        "/sitemaps/missing.xml": page("Not found", status=404),
        "/sitemaps/login.xml": page("Please log in"),
        "/sitemaps/truncated.xml": Answer(XML, truncated(base)),
        "/sitemaps/ampersand.xml": Answer(XML, ampersand(base)),
        "/sitemaps/defects.xml": Answer(XML, defects(base)),
        "/private/drafts.xml": Answer(XML, urlset([f"{base}/private/draft"])),
    }


def truncated(base: str) -> bytes:
    """Three whole entries and half of a fourth; the part of its URL that is left looks complete."""
    whole = urlset(f"{base}/archive/2023/{number}" for number in range(1, 6))
    return whole[: whole.index(b"/archive/2023/4") + len(b"/archive/")]


def ampersand(base: str) -> bytes:
    """Four entries; the URL of the second has an unescaped ampersand."""
    return urlset([f"{base}/about", f"{base}/search?colour=red&size=2", f"{base}/shop", f"{base}/tickets"])


def defects(base: str) -> bytes:
    """A well-formed urlset with a few wrong values."""
    entries = "".join(f"  <url>{entry}</url>\n" for entry in DEFECTS).replace("BASE", base)
    return f"{DECLARATION}<urlset {CORE}>\n{entries}</urlset>\n".encode()


def repaired(base: str) -> bytes:
    """The same with the changes that `fix` makes."""
    kept = "<lastmod>2026-01-01</lastmod>"
    entries = "".join(
        f"  <url><loc>{base}/defects/{number}</loc>{kept if number == 8 else ''}</url>\n" for number in range(1, 9)
    )
    return f"{DECLARATION}<urlset {CORE}>\n{entries}</urlset>\n".encode()
