"""What real sitemaps look like: a file for each pitfall of reading, and what is expected of it, by the reader and in a crawl.

The files are in `tests/data/pitfalls`. Their numbers are those of the list of pitfalls.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

FOLDER = Path(__file__).parent / "data" / "pitfalls"
HOME = "https://example.com"
URL = f"{HOME}/dir/sitemap.xml"
"""Where the files stand; relative URLs in them refer to it."""
A, B, GOOD = f"{HOME}/a", f"{HOME}/b", f"{HOME}/good"


@dataclass
class Case:
    """What is wanted of one file."""

    locs: list[str] = field(default_factory=lambda: [A, B])
    """URLs listed, in order."""
    repaired: list[str] = field(default_factory=list)
    """Those of them that must be marked recovered."""
    rules: tuple[str, ...] = ()
    """What is noted."""
    outcome: str = "ok"
    format: str = "xml-urlset"


def broken(*locs: str, repaired: str = "", rule: str, outcome: str = "recovered") -> Case:
    return Case(list(locs), [repaired] if repaired else [], (rule,), outcome)


def none(format: str, *rules: str, outcome: str = "failed") -> Case:
    return Case([], [], rules, outcome, format)


CASES = {
    "01-plain-xml-named-gz.xml.gz": Case(),
    "01-gzip-without-a-name.xml": Case(),
    "01-gzip-in-gzip.xml.gz": Case(rules=("doc-gzip-name-mismatch",)),
    "01-gzip-of-a-text-file.txt": Case(format="text"),
    "01-gzip-of-two-members.gz": Case(),
    "02-sitemap.php": Case(),
    "02-sitemap-products.aspx": Case(),
    "02-sitemap": Case(),
    "02-sitemap.html": Case(),
    "02-text-named-xml.xml": Case(format="text"),
    "02-index-named-txt.txt": Case([f"{HOME}/a.xml"], format="xml-index"),
    "03-bom.xml": Case(rules=("doc-bom",)),
    "03-utf-16-with-bom.xml": Case(rules=("doc-encoding-not-utf8",)),
    "03-utf-16-without-bom.xml": Case(rules=("doc-encoding-not-utf8",)),
    "03-blank-lines-before-declaration.xml": Case(rules=("doc-leading-whitespace",)),
    "03-bom-and-blank-lines-before-declaration.xml": Case(rules=("doc-bom", "doc-leading-whitespace")),
    "03-blank-lines-before-root.xml": Case(),
    "03-bom-in-text.txt": Case(rules=("doc-bom",), format="text"),
    "04-raw-ampersand.xml": broken(
        A, f"{HOME}/?a=1&b=2", B, repaired=f"{HOME}/?a=1&b=2", rule="doc-unescaped-ampersand"
    ),
    "04-raw-ampersand-in-lastmod.xml": broken(A, f"{HOME}/x", B, repaired=f"{HOME}/x", rule="doc-unescaped-ampersand"),
    "04-escaped-ampersand.xml": Case([f"{HOME}/?a=1&copy=2", GOOD]),
    "04-html-entity.xml": broken(A, f"{HOME}/café", B, repaired=f"{HOME}/café", rule="doc-undeclared-entity"),
    "04-control-character.xml": broken(A, B, rule="doc-control-character"),
    "04-null-bytes.xml": broken(A, B, rule="doc-control-character"),
    "04-bad-byte.xml": broken(A, f"{HOME}/caf\ufffd", B, repaired=f"{HOME}/caf\ufffd", rule="doc-encoding-not-utf8"),
    "04-latin-1-declared.xml": Case([A, f"{HOME}/café", B], rules=("doc-encoding-not-utf8",)),
    "04-truncated-in-a-url.xml": broken(A, rule="doc-truncated", outcome="truncated"),
    "04-truncated-in-an-end-tag.xml": broken(A, rule="doc-truncated", outcome="truncated"),
    "04-truncated-behind-a-url.xml": broken(A, B, repaired=B, rule="doc-truncated", outcome="truncated"),
    "04-truncated-between-entries.xml": broken(A, B, rule="doc-truncated", outcome="truncated"),
    "04-text-after-the-end.xml": broken(A, B, rule="doc-trailing-content"),
    "05-cdata-with-line-breaks.xml": Case([f"{HOME}/?a=1&b=2", B]),
    "05-blanks-around-urls.xml": Case([A, B, f"{HOME}/c"], rules=("loc-whitespace",)),
    "05-line-break-inside-a-url.xml": Case([f"{HOME}/a/b", B]),
    "06-namespace-none.xml": Case(),
    "06-namespace-https.xml": Case(),
    "06-namespace-google-084.xml": Case(),
    "06-namespace-google-09.xml": Case(),
    "06-namespace-google-090.xml": Case(),
    "06-namespace-trailing-slash.xml": Case(),
    "06-namespace-relative.xml": Case(),
    "06-namespace-wrong-host.xml": Case(),
    "06-prefixed-core.xml": Case(),
    "06-namespace-far-into-the-file.xml": Case(),
    "06-namespace-declared-on-the-entry.xml": Case(),
    "07-extension-before-core.xml": Case(),
    "07-undeclared-prefix.xml": broken(A, B, repaired=A, rule="xml-ext-namespace-missing"),
    "07-undeclared-schema-location.xml": broken(A, B, rule="xml-ext-namespace-missing"),
    "07-schema-location.xml": Case(),
    "07-xhtml-link-in-mixed-forms.xml": Case(),
    "08-empty-loc.xml": Case([B], rules=("loc-empty",)),
    "08-missing-loc.xml": Case([B], rules=("xml-entry-without-loc",)),
    "08-relative-loc.xml": Case([f"{HOME}/a/b", f"{HOME}/dir/c?d=1", B]),
    "08-protocol-relative-loc.xml": Case(["https://www.example.com/a", B]),
    "08-upper-case-scheme.xml": Case(),
    "08-url-in-the-text-of-the-entry.xml": broken(A, B, repaired=A, rule="xml-entry-without-loc"),
    "09-index-nested.xml": Case([f"{HOME}/index2.xml"], format="xml-index"),
    "09-url-in-an-index.xml": Case(
        [f"{HOME}/page", f"{HOME}/s.xml"], rules=("xml-mixed-index-urlset",), format="xml-index"
    ),
    "10-page-instead-of-a-sitemap.html": none("html"),
    "12-html-with-an-error.html": none("html"),
    "12-xml-with-an-error.xml": none("unknown", "xml-root-unknown"),
    "12-nothing.xml": none("unknown", "doc-empty-body"),
    "12-blank.xml": none("unknown", "doc-empty-body"),
    "12-empty-urlset.xml": none("xml-urlset", outcome="ok"),
    "12-empty-index.xml": none("xml-index", outcome="ok"),
    "12-json-with-an-error.json": none("unknown", "xml-root-unknown"),
    "13-dates-in-many-dialects.xml": Case([f"{HOME}/{number}" for number in range(11)]),
    "14-priority-in-many-forms.xml": Case([f"{HOME}/{number}" for number in range(6)]),
    "14-empty-price.xml": Case([A]),
    "15-duplicates.xml": Case([A, A, f"{HOME}/a?utm_source=x&PHPSESSID=1", A]),
    "17-challenge-of-a-firewall.html": none("html", "doc-waf-blocked"),
    "18-doctype.xml": Case([GOOD], rules=("doc-doctype",)),
    "18-external-entity.xml": Case([B], [], ("doc-doctype", "doc-undeclared-entity"), "recovered"),
    "18-billion-laughs.xml": Case([B], [], ("doc-doctype", "doc-undeclared-entity"), "recovered"),
    "18-gzip-bomb.xml.gz": Case([A], [], ("doc-decompression-bomb",), "truncated"),
    "19-empty-news-file.xml": none("xml-urlset", outcome="ok"),
    "19-images-and-languages-elsewhere.xml": Case([A]),
}
BOMB = "18-gzip-bomb.xml.gz"
"""How much of it is inflated before it is known for one depends on the pieces."""
