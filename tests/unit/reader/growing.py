"""Well-formed documents of any shape, most of which no generator of sitemaps would write: hypothesis strategies."""

from __future__ import annotations

from xml.sax.saxutils import escape

from hypothesis import strategies as st

from tests.unit.reader.reading import CORE
from tests.unit.reader.writing import NAMESPACES, texts

MARKUP = "<url><loc>https://e.com/hidden</loc></url>\n</url><url>"
DECLARATIONS = "".join(f' xmlns:{prefix}="{uri}"' for prefix, uri in NAMESPACES.items()) + f' xmlns:s="{CORE}"'
ROOTS = (
    ("urlset", f' xmlns="{CORE}"{DECLARATIONS}'),
    ("urlset", DECLARATIONS),
    ("s:urlset", DECLARATIONS),
    ("sitemapindex", f' xmlns="{CORE}"{DECLARATIONS}'),
    ("urlset", f' xmlns="http://www.google.com/schemas/sitemap/0.84"{DECLARATIONS}'),
)
NAMES = ("url", "url", "url", "sitemap", "s:url", "urls", "o:url", "image:image", "xhtml:link", "o:x")
FIELDS = ("loc", "loc", "loc", "lastmod", "priority", "changefreq", "s:loc", "s:lastmod", "o:loc", "image:loc", "o:x")
ATTRIBUTES = ("", "", "", "", ' a="1 > 2"', " a='\"' b='&lt;/url>'", ' o:a="x"', ' xmlns:q="urn:q"', " ")

values = st.one_of(
    st.sampled_from(("https://e.com/1", "https://e.com/a?b=1&c=2", "http://e.com/é", "2024-05-01", "0.5", "daily", "")),
    texts,
)


def _written(value: str, way: str) -> str:
    if way == "cdata" and "]]>" not in value:
        return f"<![CDATA[{value}]]>"
    if way == "numbers":
        return "".join(f"&#{ord(char)};" for char in value)
    return escape(value)


content = st.builds(_written, values, st.sampled_from(("plain", "plain", "cdata", "numbers")))
misc = st.sampled_from(("", "", "", " ", "\n", "<!-- c -->", f"<!--{MARKUP}-->", "<?pi <url> ?>"))
hidden = st.sampled_from(("", "", f"<![CDATA[{MARKUP}]]>", f"<!--{MARKUP}{MARKUP}-->"))


def _element(name: str, attributes: str, inside: list[str]) -> str:
    inner = "".join(inside)
    return f"<{name}{attributes}>{inner}</{name}>" if inner else f"<{name}{attributes}/>"


attributes = st.sampled_from(ATTRIBUTES)
leaves = st.builds(
    _element, st.sampled_from(FIELDS), attributes, st.tuples(misc, content, misc, st.just("") | content).map(list)
)
branches = st.recursive(
    st.builds(_element, st.sampled_from(NAMES), attributes, st.lists(leaves | misc | hidden, max_size=6)),
    lambda inner: st.builds(_element, st.sampled_from(NAMES), attributes, st.lists(inner | leaves | misc, max_size=4)),
    max_leaves=6,
)


def _document(root: tuple[str, str], prolog: str, inside: list[str], end: str) -> str:
    name, declarations = root
    return f"{prolog}<{name}{declarations}>{''.join(inside)}</{name}>{end}"


documents = st.builds(
    _document,
    st.sampled_from(ROOTS),
    st.sampled_from(("", "<?xml version='1.0'?>\n", f"<!-- <urlset>{MARKUP} -->\n", "<!DOCTYPE urlset>\n")),
    st.lists(branches | misc | hidden, max_size=8),
    st.sampled_from(("", "\n", f"<!-- {MARKUP} -->", "<?pi?>")),
)
