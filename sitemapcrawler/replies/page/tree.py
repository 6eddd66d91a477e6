"""Parses a page into the tree of the HTML standard, in bounded time for any text.

Scripting counts as enabled, as in browsers and for Google, so the content of `<noscript>` is text. What may not stand
in a head ends it, as the standard says: later `<meta>` and `<link>` elements are in the body.

The parser needs time, or memory, that grows with the square of three numbers: open elements, open formatting elements
times the elements they are repeated in, and attributes of one element. `parsed` finds texts in which one of them may
be large by counting characters, and rewrites them: see `plain`.
Source: https://html.spec.whatwg.org/multipage/parsing.html#tree-construction
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from selectolax.lexbor import LexborHTMLParser, LexborNode

from sitemapcrawler import urls

BLANK = " \t\n\f\r"
"""White space of HTML. Other blank characters, such as NBSP, are text."""
MAX_TAGS = 50_000
"""Tags read of a page, as many as 10,000 links in a list need."""
MAX_DEPTH = 256
"""Open elements; further ones are left out. Blink allows 512 (kMaximumHTMLParserDOMTreeDepth); pages have some 30."""
MAX_ATTRIBUTES = 200
"""Attributes of an element; one with more has none."""
USUAL_TAGS = 8_000
"""Tags that are parsed in 0.1 s however they are nested."""
USUAL_COPIES = 1_000_000
"""Formatting elements times tags that are parsed in 0.4 s and 150 MB in the worst case."""
USUAL_COMPARISONS = 250_000_000
"""Attributes times distinct ones that are parsed in 0.4 s in the worst case."""
USUAL_LENGTH = 2**18
"""Characters of which the attributes are counted with care, since the words of longer texts take 100 MB."""

HEAD_END = re.compile(r"</head(?=[\s/>])|<body(?=[\s/>])", re.IGNORECASE)
"""What ends a head as its author means it."""
# Written out, since IGNORECASE makes the search twenty times slower.
_FORMATTING = re.compile(
    r"<(?:[bB](?:[iI][gG])?|[cC][oO][dD][eE]|[eE][mM]|[fF][oO][nN][tT]|[iI]|[nN][oO][bB][rR]"
    r"|[sS](?:[mM][aA][lL][lL]|[tT][rR][iI][kK][eE]|[tT][rR][oO][nN][gG])?|[tT][tT]|[uU])[\s/>]"
)
"""Elements that are opened again in each block until they are closed. Not `<a>`, of which one at most is open.
Source: https://html.spec.whatwg.org/multipage/parsing.html#formatting"""


def parsed(text: str) -> LexborHTMLParser:
    """Return the tree of a page of at most `MAX_TAGS`."""
    return LexborHTMLParser(text if _is_usual(text) else "".join(plain(text)), scripting=True)


def shortened(text: str) -> str:
    """Return the text up to `MAX_TAGS`."""
    return text if text.count("<") <= MAX_TAGS else "<".join(text.split("<", MAX_TAGS)[:MAX_TAGS])


def _is_usual(text: str) -> bool:
    tags = text.count("<")
    if tags > USUAL_TAGS or tags * sum(1 for _ in _FORMATTING.finditer(text)) > USUAL_COPIES:
        return False
    named = 2 * text.count("=") + text.count("/")  # one with "=" may follow a value without a blank
    if len(text) > USUAL_LENGTH:
        most = named + sum(map(text.count, BLANK))
        return most * most <= USUAL_COMPARISONS
    most = named + len(text.split())
    if most * most <= USUAL_COMPARISONS:
        return True
    names = text.replace("/", " ").replace(">", " ").replace("=", " ").split()  # three times as fast as an expression
    return most * len(set(names)) <= USUAL_COMPARISONS


# A quote counts only after "=", and then extends to the next quote, past any ">". Possessive, to keep matching fast.
_TOKEN = re.compile(
    rf"""<(?:(/?+[a-zA-Z][^{BLANK}/>]*+)((?:[^>=]++|=[{BLANK}]*+(?:"[^"]*+"|'[^']*+'|(?!["'])[^{BLANK}>]*+))*+)>"""
    r"|!--(?:-?>|.*?(?:--!?>|\Z))|(?:[!?]|/(?![a-zA-Z]))[^>]*+(?:>|\Z)|(/?+[a-zA-Z])|)",
    re.DOTALL,
)
"""A tag, a comment, a declaration, a tag without end, or a "<" that is text."""
_ATTRIBUTE = re.compile(rf"""[^{BLANK}/>=]++(?:[{BLANK}]*+=[{BLANK}]*+(?:"[^"]*+"|'[^']*+'|[^{BLANK}>]++))?+""")
_CLOSINGS = {
    name: re.compile("</" + "".join(f"[{c}{c.upper()}]" for c in name) + rf"(?=[{BLANK}/>])[^>]*+(?:>|\Z)")
    for name in (
        "script", "style", "title", "textarea", "noscript", "iframe", "noframes", "noembed", "xmp", "svg", "math"
    )
}  # fmt: skip
"""Ends of elements whose content is no HTML."""
_FOREIGN = frozenset(("svg", "math"))
_ONCE = frozenset(("html", "head", "body"))
_EMPTY = frozenset(
    ("area", "base", "basefont", "bgsound", "br", "col", "embed", "frame", "hr", "img", "input", "keygen", "link",
     "meta", "param", "source", "track", "wbr")
)  # fmt: skip
_SPANS = frozenset(("b", "big", "code", "em", "font", "i", "nobr", "s", "small", "strike", "strong", "tt", "u"))
_SCOPES = frozenset(("applet", "caption", "marquee", "object", "table", "td", "template", "th"))
"""Elements that end tags of others inside them do not close."""
_TABLE = frozenset(("caption", "tbody", "td", "tfoot", "th", "thead", "tr"))
_RANKS = (
    {"colgroup": 0, "tbody": 0, "tfoot": 0, "thead": 0, "tr": 1, "td": 2, "th": 2}
    | dict.fromkeys(("dd", "dt", "li", "option"), 3)
    | {"p": 4, "rb": 4, "rp": 4, "rt": 4, "a": 5}
)
"""Elements that the next one of the same or a lower rank ends."""


def plain(text: str) -> Iterator[str]:
    """Yield a page with the same text, links and metadata that is parsed in time proportional to its length.

    Each element is closed. Comments, scripts, styles and pictures have no content, formatting elements are `<span>`,
    and what exceeds `MAX_DEPTH` or `MAX_ATTRIBUTES` is left out.
    """
    opened: list[str] = []
    seen: set[str] = set()
    at = 0
    while (start := text.find("<", at)) >= 0:
        yield text[at:start]
        token = _TOKEN.match(text, start)
        if token is None or token[3]:  # the page ends within a tag
            return
        at = token.end()
        name, attributes = (token[1] or "").lower(), token[2] or ""
        name = "span" if name in _SPANS else name
        if name in _FOREIGN and (attributes.endswith("/") or name in seen):
            yield f"<{name}/>"
        elif name in _CLOSINGS:
            closing = _CLOSINGS[name].search(text, at)
            if closing is None and name in _FOREIGN:
                seen.add(name)  # no later one has an end either
                continue
            content = _content(text[at : closing.start() if closing else len(text)], name, attributes)
            at = closing.end() if closing else len(text)
            yield f"<{name}{_bounded(attributes)}>{content}</{name}>"
        elif name in _ONCE:
            yield "" if name in seen else f"<{name}{_bounded(attributes)}>"
            seen.add(name)
        elif name in _EMPTY:
            yield f"<{name}{_bounded(attributes)}>"
        elif name.startswith("/"):
            yield from _closed(opened, "span" if name[1:] in _SPANS else name[1:])
        elif name and name != "plaintext":
            while opened and _RANKS.get(opened[-1], -1) >= _RANKS.get(name, len(_RANKS)):
                yield f"</{opened.pop()}>"
            if len(opened) < MAX_DEPTH:
                opened.append(name)
                yield f"<{name}{_bounded(attributes)}>"
            elif name == "a":
                yield f"<a{_bounded(attributes)}></a>"
        elif at == start + 1:
            yield "&lt;"
    yield text[at:]


def _closed(opened: list[str], name: str) -> Iterator[str]:
    """Yield the end tags of an open element and those in it; none if it is not open."""
    if name not in opened:
        return
    scopes = {"table", "template"} if name in _TABLE else _SCOPES
    for place in range(len(opened) - 1, -1, -1):
        if opened[place] == name:
            yield from (f"</{inner}>" for inner in reversed(opened[place:]))
            del opened[place:]
            return
        if opened[place] in scopes:
            return


def _content(inner: str, name: str, attributes: str) -> str:
    """Return the content of an element that holds no HTML, as far as it matters."""
    if name == "script" and is_data(attributes):
        return inner.replace("<", r"\u003c")
    return inner.replace("<", "&lt;") if name in {"title", "textarea"} else ""


def _bounded(attributes: str) -> str:
    is_usual = len(attributes) <= MAX_ATTRIBUTES or len(_ATTRIBUTE.findall(attributes)) <= MAX_ATTRIBUTES
    return attributes if is_usual else ""


_JSON_LD = re.compile(r"ld\+json", re.IGNORECASE)


def base_of(tree: LexborHTMLParser, url: str) -> str:
    """Return the URL that references of the page at `url` are relative to."""
    base = tree.css_first("base[href]")
    return (urls.resolve(url, attributes(base)["href"]) if base is not None else None) or url


def attributes(element: LexborNode) -> dict[str, str]:
    """Return the attributes of an element: name in lower case, and value."""
    return {name: value or "" for name, value in element.attributes.items()}


def is_data(kind: str) -> bool:
    """Return whether the type of a script is that of JSON-LD, which does not run."""
    return _JSON_LD.search(kind) is not None
