"""Good documents with one thing wrong: each element dropped, doubled, moved, renamed, and so on, one at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from copy import deepcopy
from functools import partial
from itertools import islice
from typing import NamedTuple

from lxml import etree

CORE = "http://www.sitemaps.org/schemas/sitemap/0.9"
NAMESPACES = {
    None: CORE,
    "image": "http://www.google.com/schemas/sitemap-image/1.1",
    "video": "http://www.google.com/schemas/sitemap-video/1.1",
    "news": "http://www.google.com/schemas/sitemap-news/0.9",
    "xhtml": "http://www.w3.org/1999/xhtml",
}
FULL = "<lastmod>2026-05-01</lastmod><changefreq>weekly</changefreq><priority>0.8</priority>"
LINKS = "".join(
    f'<xhtml:link rel="alternate" hreflang="{code}" href="https://example.com/{code}/"/>'
    for code in ("en", "de", "x-default")
)
DOCUMENTS = {
    "core": f"<urlset><url><loc>https://example.com/a</loc>{FULL}</url>"
    f"<url><loc>https://example.com/b</loc>{FULL}</url></urlset>",
    "index": "<sitemapindex><sitemap><loc>https://example.com/sitemap-a.xml</loc><lastmod>2026-05-01</lastmod></sitemap>"
    "<sitemap><loc>https://example.com/sitemap-b.xml</loc></sitemap></sitemapindex>",
    "image": "<urlset><url><loc>https://example.com/a</loc><lastmod>2026-05-01</lastmod>"
    "<image:image><image:loc>https://example.com/a.jpg</image:loc></image:image>"
    "<image:image><image:loc>https://example.com/b.jpg</image:loc><image:caption>B</image:caption>"
    "<image:geo_location>Bern</image:geo_location><image:title>B</image:title>"
    "<image:license>https://example.com/licence</image:license></image:image></url></urlset>",
    "video": "<urlset><url><loc>https://example.com/a</loc><video:video>"
    "<video:thumbnail_loc>https://example.com/a.jpg</video:thumbnail_loc><video:title>A</video:title>"
    "<video:description>All of A</video:description><video:content_loc>https://example.com/a.mp4</video:content_loc>"
    "<video:player_loc>https://example.com/player?a</video:player_loc><video:duration>600</video:duration>"
    "<video:expiration_date>2036-05-01</video:expiration_date><video:rating>4.2</video:rating>"
    "<video:view_count>12</video:view_count><video:publication_date>2026-05-01</video:publication_date>"
    "<video:family_friendly>yes</video:family_friendly>"
    '<video:restriction relationship="allow">CH DE</video:restriction>'
    '<video:platform relationship="allow">web tv</video:platform>'
    "<video:requires_subscription>no</video:requires_subscription>"
    '<video:uploader info="https://example.com/users/a">A</video:uploader><video:live>no</video:live>'
    "<video:tag>a</video:tag><video:tag>b</video:tag>"
    "<video:tvshow><video:show_title>A</video:show_title><video:video_type>full</video:video_type></video:tvshow>"
    "</video:video></url></urlset>",
    "news": "<urlset><url><loc>https://example.com/a</loc><news:news><news:publication>"
    "<news:name>Example</news:name><news:language>en</news:language></news:publication>"
    "<news:publication_date>2026-06-01</news:publication_date><news:title>A</news:title></news:news></url></urlset>",
    "hreflang": f"<urlset><url><loc>https://example.com/en/</loc>{LINKS}</url>"
    f"<url><loc>https://example.com/de/</loc>{LINKS}</url></urlset>",
}


class Mutation(NamedTuple):
    """One document and what was done to it."""

    document: str
    what: str
    element: str
    """The element it was done to: prefix and local name."""
    tree: etree._Element

    @property
    def name(self) -> str:
        """What was done, for a message."""
        return f"{self.document}: {self.what} {self.element}"

    @property
    def text(self) -> bytes:
        """The document as it is sent, an element a line."""
        written = etree.tostring(self.tree, encoding="utf-8", xml_declaration=True)
        return written.replace(b"><", b">\n<")


def good(name: str) -> etree._Element:
    """A document without a fault."""
    text = DOCUMENTS[name]
    root, _, rest = text.partition(">")
    declared = [f'xmlns:{prefix}="{uri}"' for prefix, uri in NAMESPACES.items() if prefix and f"{prefix}:" in text]
    return etree.fromstring(" ".join([root, f'xmlns="{CORE}"', *declared]) + f">{rest}")


def mutations() -> Iterator[Mutation]:
    """Every document with every single thing wrong, one at a time."""
    for document in DOCUMENTS:
        for number, original in enumerate(good(document).iter()):
            attributes = [partial(change, name) for change in (without, misspelt) for name in map(str, original.attrib)]
            changes: list[Callable[[etree._Element], str | None]] = [*CHANGES, *attributes]
            for change in changes:
                tree = good(document)
                element = next(islice(tree.iter(), number, None))
                name = called(element)
                what = change(element)
                if what:
                    yield Mutation(document, what, name, tree)


def called(element: etree._Element) -> str:
    """An element's name with its usual prefix."""
    name = etree.QName(element)
    prefix = next(prefix for prefix, uri in NAMESPACES.items() if uri == name.namespace)
    return f"{prefix}:{name.localname}" if prefix else name.localname


def namesake(element: etree._Element, name: str) -> str:
    """A name in the element's own namespace."""
    return f"{{{etree.QName(element).namespace}}}{name}"


def drop(element: etree._Element) -> str:
    parent = element.getparent()
    if parent is None:
        return ""
    parent.remove(element)
    return "drop"


def double(element: etree._Element) -> str:
    if element.getparent() is None:
        return ""
    element.addnext(deepcopy(element))
    return "double"


def swap(element: etree._Element) -> str:
    behind = element.getnext()
    if behind is None:
        return ""
    behind.addnext(element)
    return f"swap with {called(behind)}"


def move_out(element: etree._Element) -> str:
    parent = element.getparent()
    if parent is None or parent.getparent() is None:
        return ""
    parent.addnext(element)
    return "move out"


def rename(element: etree._Element) -> str:
    element.tag = namesake(element, "other")
    return "rename"


def capitalise(element: etree._Element) -> str:
    element.tag = namesake(element, etree.QName(element).localname.capitalize())
    return "capitalise"


def bare(element: etree._Element) -> str:
    element.tag = etree.QName(element).localname
    return "take from its namespace"


def attribute(element: etree._Element) -> str:
    element.set("other", "1")
    return "add an attribute to"


def inner_text(element: etree._Element) -> str:
    if not len(element) and element.text:
        return ""
    element.text = "stray"
    return "put text into"


def outer_text(element: etree._Element) -> str:
    if element.getparent() is None:
        return ""
    element.tail = "stray"
    return "put text behind"


def child(element: etree._Element) -> str:
    etree.SubElement(element, namesake(element, "other"))
    return "put an element into"


def empty(element: etree._Element) -> str:
    if not element.text:
        return ""
    element.text = None
    return "empty"


def misvalue(element: etree._Element) -> str:
    if not element.text:
        return ""
    element.text += "%zz"
    return "put a wrong value into"


def without(name: str, element: etree._Element) -> str:
    del element.attrib[name]
    return f"take {name} from"


def misspelt(name: str, element: etree._Element) -> str:
    element.set(f"{name}s", element.attrib.pop(name))
    return f"misspell {name} of"


CHANGES = (
    drop, double, swap, move_out, rename, capitalise, bare, attribute, inner_text, outer_text, child, empty, misvalue,
)  # fmt: skip
