"""Repairs of an entry, one for each rule that has a right answer.

An edit changes the element of a draft and notes what it changed. It is run only on entries on which its rule has found
something, so that a choice of rules (`--only`) changes nothing else.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from html import unescape
from urllib.parse import quote, urljoin

from lxml import etree

from sitemapcrawler import urls
from sitemapcrawler.namespaces import CORE, Namespace, declared, find
from sitemapcrawler.namespaces.element import BLANKS
from sitemapcrawler.namespaces.extensions import HREFLANG, IMAGE, NEWS, VIDEO
from sitemapcrawler.namespaces.schemas.terms import REPEATABLE, find_own, terms
from sitemapcrawler.reader.dates import utc
from sitemapcrawler.reader.entries import FIELDS, FREQUENCIES, number
from sitemapcrawler.reader.repair import UNREADABLE
from sitemapcrawler.rules.facts.given import MARKS
from sitemapcrawler.rules.facts.languages import is_usual, page_key, read_code
from sitemapcrawler.rules.facts.written import DateForm, Standard, decimal_point, seconds, ungrouped, yes_or_no
from sitemapcrawler.rules.facts.written import written as written_date
from sitemapcrawler.rules.families.image import MAX_IMAGES
from sitemapcrawler.rules.families.news import right_language
from sitemapcrawler.rules.families.video import MAX_DESCRIPTION, MAX_TAGS
from sitemapcrawler.urls.display import removed
from sitemapcrawler.urls.grammar import BLANK, ENTITY, FOREIGN, PARTS, WRAPPED, hash_is_text

ORDER = terms(CORE).parts("url")
ALTERNATE = "alternate"


class Draft:
    """An entry while it is changed."""

    def __init__(self, element: etree._Element, base: str) -> None:
        """`base`: URL that relative ones are resolved against."""
        self.element = element
        self.base = base
        self.rule = ""
        """The rule whose edit is running."""
        self.changes: list[tuple[str, str, str]] = []
        """(rule, old, new), in order."""

    def note(self, old: str, new: str) -> None:
        self.changes.append((self.rule, old, new))

    @property
    def parts(self) -> list[etree._Element]:
        """Child elements, comments and instructions left out."""
        return [child for child in self.element if isinstance(child.tag, str)]

    def is_core(self, element: etree._Element) -> bool:
        return split(element)[0] in (CORE, "")

    def field(self, name: str) -> etree._Element | None:
        """The first element of the protocol with this name."""
        return next((part for part in self.parts if self.is_core(part) and split(part)[1] == name), None)

    def objects(self, uri: str) -> list[etree._Element]:
        """Child elements of an extension, by its official namespace."""
        return [part for part in self.parts if split(part)[0] == uri]

    @property
    def loc(self) -> str:
        """The URL as written, without white space around it."""
        element = self.field("loc")
        return "" if element is None else text_of(element)

    def set_text(self, element: etree._Element | None, new: str | None) -> None:
        """Replace the text of an element; None removes the element."""
        if element is None or new == text_of(element) == (element.text or ""):
            return
        if new is None:
            self.remove(element)
            return
        self.note(text_of(element), new)
        for child in [*element]:
            element.remove(child)
        element.text = new

    def set_field(self, name: str, new: str | None) -> None:
        self.set_text(self.field(name), new)

    def set_date(self, new: str | None) -> None:
        """Set or remove the date. A new one stands behind the URL."""
        loc = self.field("loc")
        if new is not None and self.field("lastmod") is None and loc is not None:
            made = etree.SubElement(self.element, f"{str(loc.tag).removesuffix('loc')}lastmod")
            made.text = new
            made.tail, loc.tail = loc.tail, None
            loc.addnext(made)
            self.note("", new)
        else:
            self.set_field("lastmod", new)

    def set_attribute(self, element: etree._Element, name: str, new: str | None) -> None:
        old = element.get(name)
        if old == new:
            return
        self.note("" if old is None else f"{name}={old}", "" if new is None else f"{name}={new}")
        if new is None:
            del element.attrib[name]
        else:
            element.set(name, new)

    def remove(self, element: etree._Element) -> None:
        """Remove an element, and keep the text behind it."""
        self.note(written(element), "")
        detach(element)


def split(element: etree._Element) -> tuple[str, str]:
    """Namespace and local name of an element."""
    uri, brace, name = str(element.tag).rpartition("}")
    return (uri[1:], name) if brace else ("", name)


def text_of(element: etree._Element) -> str:
    """Text of an element without white space around it and without comments."""
    return (
        "".join(map(str, element.itertext(etree.Element))).strip(BLANKS)
        if len(element)
        else (element.text or "").strip(BLANKS)
    )


def written(element: etree._Element) -> str:
    """An element as text, for a list of changes: short, without declarations."""
    text = etree.tostring(element, encoding="unicode", with_tail=False)
    return re.sub(r' xmlns(?::[\w.-]+)?="[^"]*"', "", text)


def detach(element: etree._Element) -> None:
    parent, before, tail = element.getparent(), element.getprevious(), element.tail or ""
    assert parent is not None
    if before is not None:
        before.tail = (before.tail or "") + tail.lstrip(BLANKS)
    else:
        parent.text = (parent.text or "") + tail.lstrip(BLANKS)
    parent.remove(element)


Edit = Callable[[Draft], None]
EDITS: dict[str, Edit] = {}
"""{rule: its edit}, in the order in which they run."""


def edit(*rules: str) -> Callable[[Edit], Edit]:
    """Register an edit for rules."""

    def add(function: Edit) -> Edit:
        EDITS.update(dict.fromkeys(rules, function))
        return function

    return add


def edit_loc(rule: str, rewrite: Callable[[str], str]) -> None:
    """Register an edit that writes the URL of an entry in another way."""
    edit(rule)(lambda draft: draft.set_field("loc", rewrite(draft.loc)))


def edit_texts(rule: str, uri: str, names: tuple[str, ...], rewrite: Callable[[str], str | None]) -> None:
    """Register an edit that writes the texts of some parts of an extension in another way; None removes a part."""

    def rewrite_texts(draft: Draft) -> None:
        for element in _texts(draft, uri, names):
            draft.set_text(element, rewrite(text_of(element)))

    edit(rule)(rewrite_texts)


# Structure


@edit("xml-ext-namespace-wrong")
def move_to_namespace(draft: Draft) -> None:
    """Move elements to the namespace of the extension that they mean."""
    for element in [one for one in draft.element.iter() if isinstance(one.tag, str) and one is not draft.element]:
        uri, name = split(element)
        meant = _meant(element)
        if meant is not None and meant.uri != uri:
            parent = element.getparent()
            was = split(parent)[0] if parent is not None else ""
            draft.note(f"{name} in {uri or 'no namespace'}", f"{name} in {meant.uri}")
            element.tag = f"{{{meant.uri}}}{name}"
            for part in element.iter():
                if isinstance(part.tag, str) and split(part)[0] in (uri, was) and part is not element:
                    part.tag = f"{{{meant.uri}}}{split(part)[1]}"


def _meant(element: etree._Element) -> Namespace | None:
    """The extension that an element means by its name and parts, or by a misspelt namespace."""
    uri, name = split(element)
    if uri in (CORE, "") and element.getparent() is not None and split(element.getparent())[0] not in (CORE, ""):  # type: ignore[arg-type]
        return None
    if name == "link" and "hreflang" in element.attrib:
        return find(HREFLANG)
    by_name = next((one for one in declared() if one.prefix == name and one.prefix != "xhtml"), None)
    if by_name is not None and any(split(part)[1] in by_name.fields for part in element if isinstance(part.tag, str)):
        return by_name
    return find(uri) if uri not in (CORE, "") else None


@edit("xml-schema-violation")
def fit_schema(draft: Draft) -> None:
    """Remove text where only elements may stand, and put elements without a namespace into that of the entry."""
    for part in draft.parts:
        if split(part)[0] == "" and split(part)[1] in FIELDS:
            draft.note(f"{part.tag} in no namespace", f"{part.tag} in {CORE}")
            part.tag = f"{{{CORE}}}{part.tag}"
    _remove_text(draft, draft.element)
    for part in draft.parts:
        uri, name = split(part)
        namespace = None if draft.is_core(part) else find_own(uri)
        if namespace is None:
            continue
        known = terms(namespace.uri)
        if name not in known.tops:
            draft.remove(part)
        else:
            _fit(draft, part, namespace.uri)


def _fit(draft: Draft, holder: etree._Element, uri: str) -> None:
    names = terms(uri).parts(split(holder)[1])
    if not names:
        for child in [one for one in holder if isinstance(one.tag, str)]:
            draft.remove(child)
        return
    _remove_text(draft, holder)
    for child in [one for one in holder if isinstance(one.tag, str)]:
        space, name = split(child)
        if space == uri and name in names:
            _fit(draft, child, uri)
        elif space != uri and (space in (CORE, "") or find_own(space) is not None):
            draft.remove(child)


def _remove_text(draft: Draft, holder: etree._Element) -> None:
    """Remove the text between the parts of an element."""
    if (holder.text or "").strip():
        draft.note((holder.text or "").strip(), "")
        holder.text = None
    for child in holder:
        if (child.tail or "").strip():
            draft.note((child.tail or "").strip(), "")
            child.tail = None


@edit("xml-unknown-element")
def remove_unknown(draft: Draft) -> None:
    """Remove elements that their namespace does not define."""
    for part in draft.parts:
        uri, name = split(part)
        namespace = None if draft.is_core(part) else find_own(uri)
        if namespace is None:
            if draft.is_core(part) and name not in FIELDS:
                draft.remove(part)
        elif namespace.uri == uri and name not in terms(uri).tops:
            draft.remove(part)
        else:
            _remove_unknown_parts(draft, part, namespace.uri)


def _remove_unknown_parts(draft: Draft, holder: etree._Element, uri: str) -> None:
    names = terms(uri).parts(split(holder)[1])
    for child in [one for one in holder if isinstance(one.tag, str)] if names else ():
        space, name = split(child)
        if space == uri:
            if name in names:
                _remove_unknown_parts(draft, child, uri)
            else:
                draft.remove(child)


@edit("xml-unknown-attribute")
def remove_unknown_attributes(draft: Draft) -> None:
    """Remove attributes that the element's namespace does not define."""
    for element in [draft.element, *draft.parts]:
        if draft.is_core(element):
            for name in map(str, element.attrib.keys()):
                draft.set_attribute(element, name, None)
        else:
            _remove_attributes(draft, element)


def _remove_attributes(draft: Draft, element: etree._Element) -> None:
    uri, name = split(element)
    namespace = find_own(uri)
    if namespace is None:
        return
    kind = terms(namespace.uri).kinds.get(name)
    for attribute in map(str, element.attrib if kind is not None else ()):
        if kind is not None and not attribute.startswith("{") and attribute not in kind.attributes:
            draft.set_attribute(element, attribute, None)
    for child in element:
        if isinstance(child.tag, str):
            _remove_attributes(draft, child)


@edit("xml-duplicate-element")
def remove_repeated(draft: Draft) -> None:
    """Keep the first of elements that may stand once: the first that has a text."""
    _keep_first(draft, [part for part in draft.parts if draft.is_core(part)], FIELDS)
    for part in draft.parts:
        namespace = None if draft.is_core(part) else find_own(split(part)[0])
        if namespace is not None:
            _remove_repeated_parts(draft, part, namespace.uri)


def _remove_repeated_parts(draft: Draft, holder: etree._Element, uri: str) -> None:
    names = terms(uri).parts(split(holder)[1])
    if not names:
        return
    children = [one for one in holder if isinstance(one.tag, str) and split(one)[0] == uri]
    _keep_first(draft, children, frozenset(names) - REPEATABLE)
    for child in holder:
        if isinstance(child.tag, str):
            _remove_repeated_parts(draft, child, uri)


def _keep_first(draft: Draft, elements: list[etree._Element], names: frozenset[str]) -> None:
    by_name: dict[str, list[etree._Element]] = {}
    for element in elements:
        if split(element)[1] in names:
            by_name.setdefault(split(element)[1], []).append(element)
    for same in by_name.values():
        kept = next((one for one in same if text_of(one) or len(one)), same[0])
        for other in same:
            if other is not kept:
                draft.remove(other)


@edit("xml-element-order")
def reorder(draft: Draft) -> None:
    """Put the elements of the protocol in front, in the order of the schema."""
    before = [split(part)[1] for part in draft.parts]
    own = [part for part in draft.parts if draft.is_core(part)]
    own.sort(key=lambda part: ORDER.index(split(part)[1]) if split(part)[1] in ORDER else len(ORDER))
    for place, part in enumerate(own):
        detach(part)
        part.tail = None
        draft.element.insert(place, part)
    after = [split(part)[1] for part in draft.parts]
    if after != before:
        draft.note(" ".join(before), " ".join(after))


# The URL


@edit("loc-whitespace")
def remove_blanks(draft: Draft) -> None:
    """Remove white space around the URL, and escape it inside."""
    element = draft.field("loc")
    if element is None:
        return
    text = "".join(map(str, element.itertext()))
    inner = WRAPPED.sub("", text).strip()
    while inner and (BLANK.match(inner) or BLANK.match(inner[-1])):
        inner = inner[1:] if BLANK.match(inner) else inner[:-1]
    new = BLANK.sub(lambda found: quote(found[0]) if found[0].isspace() else "", inner)
    if new != text_of(element):  # XML's own white space around a text is no fault
        draft.set_text(element, new)


def escaped_once(url: str) -> str:
    """Replace the XML entities in a URL with their characters, percent-encoded if they may not stand in it."""
    return ENTITY.sub(lambda found: quote(unescape(found[0]), safe="&'"), url)


edit_loc("loc-double-escaped", escaped_once)
edit_loc("loc-credentials", removed)


WITHOUT_COLON = re.compile(r"\Ahttps?;?//", re.IGNORECASE)


@edit("loc-relative", "loc-protocol-relative")
def complete(draft: Draft) -> None:
    """Resolve the URL against that of the file. A URL that begins with the host of the site lacks its scheme, or the
    colon behind it; one that begins with another host stays."""
    rest = WITHOUT_COLON.sub("", draft.loc)
    home, own = urls.origin(draft.base) or "", rest.partition("/")[0].lower()
    scheme, _, host = home.partition("://")
    is_bare = own != "" and own.removeprefix("www.") == host.removeprefix("www.")
    found = urls.resolve(draft.base, f"{scheme}://{rest}" if is_bare else draft.loc)
    if found is not None and (is_bare or (rest == draft.loc and not own.startswith("www."))):
        draft.set_field("loc", found)


QUOTATION = re.compile(
    r"[\s\"\u201c\u201d\u2018\u2019<]*+(https?://[^\s\"\u201c\u201d<>]*[^\s\"\u201c\u201d\u2019<>])[\"\u201c\u201d\u2019>]*+",
    re.I,
)
MARKDOWN = re.compile(r"\[(https?://[^\s\]]+)\]\(\1\)(\w*)", re.I)
SCHEMES = re.compile(r"\Ahttps?:/+[^/?#]*?(https?):?/+", re.I)


def bare(text: str) -> str:
    """Take a URL out of quotation marks and links of Markdown, and remove a second scheme."""
    found = QUOTATION.fullmatch(text) or MARKDOWN.fullmatch(text)
    return SCHEMES.sub(r"\1://", text if found is None else "".join(found.groups()))


def escaped(url: str) -> str:
    """Percent-encode the characters that RFC 3986 and RFC 3987 do not allow in path, query and fragment, of a `bare`
    URL.

    A URL with a placeholder or an unreadable character stays as it is: no escape makes it that of a page.
    """
    url = bare(url)
    parts = PARTS.fullmatch(url)
    if parts is None or UNREADABLE in url or MARKS.search(url):
        return url
    found = f"{parts['scheme']}://{parts['place']}"
    for name, mark in (("path", ""), ("query", "?"), ("fragment", "#")):
        if parts[name] is not None:
            found += mark + FOREIGN[name].sub(lambda one: quote(one[0], safe=""), parts[name])
    return found


def encoded(url: str) -> str:
    """Percent-encode characters beyond ASCII in UTF-8, and encode the host."""
    return re.sub(r"[^\x00-\x7f]+", lambda found: quote(found[0], errors="replace"), urls.as_sent(url))


edit_loc("loc-invalid-uri", escaped)
edit_loc("loc-non-ascii", encoded)


@edit("loc-fragment")
def remove_fragment(draft: Draft) -> None:
    """Remove the fragment. One that seems to be text of the path stays: without it, the URL is that of another page."""
    if not hash_is_text(draft.loc):
        draft.set_field("loc", draft.loc.partition("#")[0])


DOTS = re.compile(r"(?<=/)(?:\.|%2e){1,2}(?=/|\Z)", re.IGNORECASE)


@edit("loc-dot-segments")
def remove_dots(draft: Draft) -> None:
    """Remove segments `.` and `..` from the path (RFC 3986, 5.2.4)."""
    parts = PARTS.fullmatch(draft.loc)
    if parts is None:
        return
    path = DOTS.sub(lambda found: re.sub("%2e", ".", found[0], flags=re.IGNORECASE), parts["path"])
    start = f"{parts['scheme']}://{parts['place']}"
    draft.set_field("loc", urljoin(f"{start}/", path) + draft.loc[parts.end("path") :])


PORT = re.compile(r"\A(https?://[^/?#]*?):[0-9]*(?=[/?#]|\Z)", re.IGNORECASE)
SCHEME_AND_HOST = re.compile(r"\A[^:]+://[^/?#]*")

edit_loc("loc-default-port", lambda url: PORT.sub(r"\1", url))
edit_loc("loc-uppercase-host", lambda url: SCHEME_AND_HOST.sub(lambda found: found[0].lower(), url))

# The other elements of the protocol


def w3c(text: str) -> str | None:
    """Write a date as W3C Datetime that the schema allows: a day, or a moment in UTC. None if it cannot be read."""
    text = text.strip()
    moment = utc(text)
    if moment is None or moment.startswith("0000"):
        return None
    if written_date(text, Standard.W3C).form is DateForm.ZONED_DAY:
        return text[: len("2026-01-01")]
    return moment if ":" in text or not moment.endswith("T00:00:00Z") else moment.partition("T")[0]


@edit("lastmod-invalid", "lastmod-xsd-only-invalid", "lastmod-no-timezone")
def rewrite_date(draft: Draft) -> None:
    """Write the date as W3C Datetime. Remove text without a digit; any other that has not one meaning stays."""
    element = draft.field("lastmod")
    if element is None:
        return
    text = text_of(element)
    if (date := w3c(text)) is not None or (not len(element) and not any(map(str.isdigit, text))):
        draft.set_text(element, date)


@edit("lastmod-empty", "lastmod-impossible", "lastmod-epoch", "lastmod-future", "lastmod-over-100-bytes")
def remove_date(draft: Draft) -> None:
    """Remove a date that says nothing."""
    draft.set_field("lastmod", None)


@edit("changefreq-invalid", "changefreq-over-100-bytes")
def rewrite_frequency(draft: Draft) -> None:
    """Write the frequency in lowercase. Remove any other word."""
    element = draft.field("changefreq")
    if element is not None:
        name = text_of(element).lower()
        draft.set_text(element, name if name in FREQUENCIES else None)


@edit("priority-invalid", "priority-out-of-range", "priority-over-100-bytes")
def rewrite_priority(draft: Draft) -> None:
    """Write the priority with a decimal point. Remove one that is no number from 0.0 to 1.0."""
    element = draft.field("priority")
    if element is not None:
        value = number(text_of(element).replace(",", "."))
        draft.set_text(element, f"{value:.4g}" if value is not None and 0 <= value <= 1 else None)


# Language versions

CODE = "hreflang-code-invalid"


def relink(draft: Draft, page: str, target: str | None) -> None:
    """Link to another page as a language version, or remove the links. `page`: page key of the URL that they have."""
    for link in [one for one in _links(draft) if leads_to(draft, one, page)]:
        if target is None:
            draft.remove(link)
        else:
            draft.set_attribute(link, "href", target)


def leads_to(draft: Draft, link: etree._Element, page: str) -> bool:
    """True if a link leads to a page. `page`: its page key."""
    target = urls.resolve(draft.base, (link.get("href") or "").strip())
    return target is not None and page_key(target) == page


def _links(draft: Draft) -> Iterator[etree._Element]:
    for link in draft.objects(HREFLANG):
        if split(link)[1] == "link" and link.get("rel", ALTERNATE) == ALTERNATE:
            yield link


USUAL_LINK = frozenset(("rel", "hreflang", "href"))


def is_usual_link(part: etree._Element) -> bool:
    """True for a link to a language version in which no rule finds an error, whatever the entry."""
    is_plain = split(part) == (HREFLANG, "link") and set(part.attrib) == USUAL_LINK and part.get("rel") == ALTERNATE
    return is_plain and is_usual(read_code(part.get("hreflang") or ""), part.get("href") or "")


@edit("hreflang-rel-missing")
def set_rel(draft: Draft) -> None:
    """State that a link with a language code is to an alternate version."""
    for link in draft.objects(HREFLANG):
        if split(link)[1] == "link" and link.get("hreflang") is not None and link.get("rel") != ALTERNATE:
            draft.set_attribute(link, "rel", ALTERNATE)


@edit("hreflang-code-missing")
def rename_code(draft: Draft) -> None:
    """Write the name of the attribute in lowercase."""
    for link in _links(draft):
        for name in [name for name in map(str, link.attrib) if name != name.lower() == "hreflang"]:
            code = str(link.attrib.pop(name))
            draft.note(f"{name}={code}", f"hreflang={code}")
            link.set("hreflang", code)


@edit("hreflang-code-underscore")
def join_code(draft: Draft) -> None:
    """Join the parts of a language code with a hyphen."""
    for link in _links(draft):
        draft.set_attribute(link, "hreflang", (link.get("hreflang") or "").replace("_", "-") or link.get("hreflang"))


@edit(CODE)
def correct_code(draft: Draft) -> None:
    """Write the right form of a language code, if there is one and no other link of the entry has it."""
    links = [*_links(draft)]
    codes = {(link.get("hreflang") or "").strip().lower() for link in links}
    for link in links:
        right = read_code(link.get("hreflang") or "").right
        if right is not None and right.lower() not in codes:
            codes.add(right.lower())
            draft.set_attribute(link, "hreflang", right)


@edit("hreflang-href-relative")
def complete_href(draft: Draft) -> None:
    """Resolve the URL of a language version against that of its page, if it begins with a slash. Where another link
    names the page itself already, the version is on another host."""
    hrefs = {link: (link.get("href") or "").strip() for link in _links(draft)}
    for link, href in hrefs.items():
        found = urls.resolve(draft.loc, href) or href
        if href.startswith("/") and not (found == draft.loc and found in hrefs.values()):
            draft.set_attribute(link, "href", found)


@edit("hreflang-href-invalid")
def escape_href(draft: Draft) -> None:
    """Percent-encode characters that may not stand in a URL."""
    for link in _links(draft):
        if link.get("href"):
            draft.set_attribute(link, "href", escaped((link.get("href") or "").strip()))


@edit("hreflang-href-double-escaped")
def escape_href_once(draft: Draft) -> None:
    """Resolve the escapes for XML that are left in the URL of a language version."""
    for link in _links(draft):
        if link.get("href"):
            draft.set_attribute(link, "href", escaped_once(link.get("href") or ""))


# Images, videos and news


@edit("image-loc-relative")
def complete_image(draft: Draft) -> None:
    """Resolve the URL of an image against that of its page, if it begins with a slash."""
    for element in _texts(draft, IMAGE, ("loc",)):
        if text_of(element).startswith("/"):
            draft.set_text(element, urls.resolve(draft.loc, text_of(element)) or text_of(element))


VIDEO_URLS = ("thumbnail_loc", "content_loc", "player_loc")

edit_texts("image-loc-invalid", IMAGE, ("loc",), escaped)
edit_texts("image-loc-double-escaped", IMAGE, ("loc",), escaped_once)
edit_texts("video-loc-invalid", VIDEO, VIDEO_URLS, escaped)
edit_texts("video-loc-double-escaped", VIDEO, VIDEO_URLS, escaped_once)


def _texts(draft: Draft, uri: str, names: tuple[str, ...]) -> list[etree._Element]:
    return [
        part
        for one in draft.objects(uri)
        for part in one
        if isinstance(part.tag, str) and split(part)[0] == uri and split(part)[1] in names
    ]


@edit("image-too-many")
def keep_images(draft: Draft) -> None:
    """Keep the first 1,000 images."""
    images = [one for one in draft.objects(IMAGE) if split(one)[1] == "image"]
    for image in images[MAX_IMAGES:]:
        draft.remove(image)


@edit("news-multiple-per-url")
def keep_article(draft: Draft) -> None:
    """Keep the first article."""
    for article in [one for one in draft.objects(NEWS) if split(one)[1] == "news"][1:]:
        draft.remove(article)


@edit("news-language-invalid")
def correct_language(draft: Draft) -> None:
    """Write the right form of the language of an article, without a region: `en` for `en-US`."""
    for article in draft.objects(NEWS):
        for element in article.iter(f"{{{NEWS}}}language"):
            draft.set_text(element, right_language(text_of(element)) or text_of(element))


edit_texts("video-date-invalid", VIDEO, ("publication_date", "expiration_date"), w3c)
edit_texts("news-date-invalid", NEWS, ("publication_date",), lambda date: w3c(date) or date)
edit_texts("video-duration-range", VIDEO, ("duration",), lambda text: seconds(text) or text)
edit_texts("video-rating-range", VIDEO, ("rating",), lambda text: decimal_point(text) or text)
edit_texts("video-view-count-invalid", VIDEO, ("view_count",), lambda text: ungrouped(text) or text)
edit_texts("video-yesno-invalid", VIDEO, ("family_friendly", "requires_subscription", "live"), yes_or_no)


@edit("video-description-too-long")
def cut_description(draft: Draft) -> None:
    """Keep the characters of a description that search engines read."""
    for element in _texts(draft, VIDEO, ("description",)):
        if len(text_of(element)) > MAX_DESCRIPTION:
            draft.set_text(element, text_of(element)[: MAX_DESCRIPTION - 1].rstrip() + "…")


@edit("video-tags-too-many", "video-uploader-multiple")
def keep_first_parts(draft: Draft) -> None:
    """Keep as many tags or uploaders of a video as may stand in it."""
    name, most = ("tag", MAX_TAGS) if draft.rule == "video-tags-too-many" else ("uploader", 1)
    for video in draft.objects(VIDEO):
        for part in [one for one in video if isinstance(one.tag, str) and split(one) == (VIDEO, name)][most:]:
            draft.remove(part)


OPTIONAL = {
    "video-duration-range": "duration",
    "video-rating-range": "rating",
    "video-view-count-invalid": "view_count",
    "video-restriction-invalid": "restriction",
    "video-platform-invalid": "platform",
    "video-uploader-too-long": "uploader",
}
"""Rules on an optional part of a video -> the part, which is removed from the videos that they find something on."""
EXTENSIONS = {"image": IMAGE, "video": VIDEO, "news": NEWS, "hreflang": HREFLANG}
"""Families of rules on objects of an extension -> its namespace."""
DROPPING = ("loc-is-sitemap",)
"""Rules that are no errors, on entries that do not belong in a sitemap all the same."""
