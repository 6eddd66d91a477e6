"""Checks URLs by grammar (RFC 3986, RFC 3987) and by the browsers' parser (WHATWG), and compares their locations.

The two disagree, and neither suffices. The grammar decides here, because the protocol refers to it. Hosts must also
pass the browsers' parser, because only it knows which of them are addresses. They differ as follows:

| URL | RFC 3986 and 3987 | WHATWG | here |
|---|---|---|---|
| `/a|b`, `?x[]=1`, `{}`, `%zz`, a second `#` | invalid | encoded or unchanged | invalid |
| `/a b` | invalid | encoded | `loc-whitespace` |
| `https:\\\\e.com\\a` | invalid | a backslash is a slash | invalid: two readers, two hosts |
| `https:/e.com/`, `https:e.com` | valid, without a host | `https://e.com/` | invalid: no host |
| `http://0x7f.1/`, `http://2130706433/` | a name | the address 127.0.0.1 | `loc-ip-host` |
| `http://1.2.3.256/`, `http://e.1/` | a name | invalid | invalid |
| `http://e.com:65536/`, `http:///a` | valid | invalid | invalid |
| `http://a!b.com/`, `http://%65.com/` | valid | valid, or decoded | invalid: no such host can exist |
| `/caf\u00e9` | valid by 3987 only | encoded | valid, `loc-non-ascii` |
| `/a/%2e%2e/b` | to be normalised to `/b` | `/b` | `loc-dot-segments` |
| tabs, line breaks inside | invalid | removed | removed by the reader, `loc-whitespace` |

Names with letters beyond ASCII are encoded by UTS 46, non-transitional, here as in browsers.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import IntEnum, StrEnum
from functools import lru_cache

from sitemapcrawler.urls import DEFAULT_PORTS, Authority, authority, browsers
from sitemapcrawler.urls.display import quoted

UNRESERVED = r"A-Za-z0-9\-._~"
SUB_DELIMITERS = r"!$&'()*+,;="
IRI = "\xa0-\ud7ff\uf900-\ufdcf\ufdf0-\uffef" + "".join(
    f"{chr(plane * 0x10000)}-{chr(plane * 0x10000 + 0xFFFD)}" for plane in range(1, 14)
)
"""Non-ASCII characters allowed in an IRI. Source: RFC 3987, 2.2, `ucschar`"""
PRIVATE = "\ue000-\uf8ff\U000f0000-\U000ffffd\U00100000-\U0010fffd"
"""Further characters allowed in its query. Source: RFC 3987, 2.2, `iprivate`"""
PATH = UNRESERVED + SUB_DELIMITERS + ":@/" + IRI
PARTS = re.compile(r"(?P<scheme>https?)://(?P<place>[^/?#]*)(?P<path>[^?#]*)(?:\?(?P<query>[^#]*))?(?:#(?P<fragment>.*))?",
                   re.IGNORECASE | re.DOTALL)  # fmt: skip
"""Source: RFC 3986, appendix B."""
FOREIGN = {
    "path": re.compile(rf"%(?![0-9A-Fa-f]{{2}})|[^%{PATH}]"),
    "query": re.compile(rf"%(?![0-9A-Fa-f]{{2}})|[^%?{PATH}{PRIVATE}]"),
    "fragment": re.compile(rf"%(?![0-9A-Fa-f]{{2}})|[^%?{PATH}]"),
}
"""Part -> what it must not contain. Source: RFC 3986, 3.3 to 3.5, with RFC 3987, 2.2"""
USER = re.compile(rf"(?:[{UNRESERVED}{SUB_DELIMITERS}:{IRI}]|%[0-9A-Fa-f]{{2}})*")
SCHEME = re.compile(r"([a-z][a-z0-9+.-]*):", re.IGNORECASE)
QUOTED = re.compile(r"[^/?#:]*[^/?#:\w]https?://", re.IGNORECASE)
"""Start of a reference with a URL behind other text."""
TWICE = re.compile(r"https?|.*https?:", re.IGNORECASE | re.DOTALL)
"""What stands in place of the host in `https://https://example.com/` and the like."""
BLANK = re.compile("[\\s\u180e\u200b\u2060\ufeff]")
"""White space, including zero-width blanks, but not the joiners U+200C and U+200D, which words of some scripts need."""
WRAPPED = re.compile(
    "^[\\s\0-\x20\x7f\u180e\u200b-\u200d\u2060\ufeff]+|(?<![ \t])[ \t]++(?=[\r\n])|[\r\n][ \t\r\n]*+|\t"
)
"""Removed before a reference is parsed."""
ENTITY = re.compile(r"&(?:amp|lt|gt|quot|apos|#0*3[489]|#x2[267]);", re.IGNORECASE)
"""XML entity that was escaped twice, so that it is still in the URL."""
TEXT_AFTER_HASH = re.compile(
    r"(?![/!:])(?:[^?]*\.(?:html?|php|aspx?|jsp|pdf|jpe?g|png|gif|webp)|[^?]*/|[^?]*\?.*|[-%].*)",
    re.IGNORECASE | re.DOTALL,
)
"""Fragment that continues a path, whose `#` was meant as text: it ends in a file name or slash, has a query, or begins
with a hyphen or an escape. A route (`#/a`, `#!/a`) or text to mark (`#:~:text=a`) does not."""
AMPERSAND = rf"(?!(?i:{ENTITY.pattern}))&"
"""Ampersand that does not begin such an entity."""
ESCAPE = re.compile(r"%([0-9A-Fa-f]{2})")
USUAL_HOST = re.compile(r"(?!xn--|[^/]*\.xn--)(?:[a-z0-9-]+\.)+[a-z]+")
"""Host that every parser reads alike."""
USUAL_PATH = re.compile(rf"https?://[^/?#]*((?:/(?!\.)[{UNRESERVED}{SUB_DELIMITERS}:@]*)*)(?:[?#].*)?", re.DOTALL)
SENT_AS_WRITTEN = re.compile(r"[][|]")
"""Characters that browsers do not escape, contrary to RFC 3986.
Source: https://url.spec.whatwg.org/#path-percent-encode-set"""
DOT_SEGMENT = re.compile(r"(?:^|/)(?:\.|%2e){1,2}(?=/|\Z)", re.IGNORECASE)


def hash_is_text(url: str) -> bool:
    """Return whether the first `#` of a URL seems to be a part of its path that should be `%23`, as in `/c#/arrays`."""
    before, _, fragment = url.partition("#")
    is_language = before.rpartition("/")[2].lower() in ("c", "f") and fragment[:1] in ("", "/", "?")
    return "#" in url and (is_language or TEXT_AFTER_HASH.fullmatch(fragment) is not None)


class Invalid(ValueError):
    """The URL is not valid. The message gives the reason in a few words."""


@dataclass(frozen=True, slots=True)
class Uri:
    """Parts of a valid URL, as written."""

    scheme: str
    """http or https."""
    user: str | None
    """Text before the host's `@`."""
    host: str
    port: str
    """Empty if there is none."""
    path: str
    query: str | None
    fragment: str | None
    authority: Authority
    """Host and port, normalised."""
    address: str | None
    """The host as browsers read it, if that is an IP address."""

    @property
    def place(self) -> str:
        return f"{self.scheme}://{self.host}{':' if self.port else ''}{self.port}"

    @property
    def default_port(self) -> int:
        return DEFAULT_PORTS[self.scheme]


class Form(StrEnum):
    """Form of a URL reference."""

    ABSOLUTE = "absolute"
    PROTOCOL_RELATIVE = "protocol-relative"
    RELATIVE = "relative"
    """Has no scheme; this includes `example.com:8080/a`, whatever the grammar says."""
    OTHER_SCHEME = "other scheme"
    QUOTED = "quoted"
    """A URL with other text in front, as in `"https://example.com/"` and links of Markdown."""


class Standing(IntEnum):
    """Location of a URL relative to a sitemap, from best to worst."""

    INSIDE = 0
    """Same authority, in the sitemap's folder or below; also if either URL is invalid."""
    OUTSIDE_FOLDER = 1
    OTHER_SCHEME = 2
    """Same host, but http instead of https or vice versa."""
    OTHER_WWW = 3
    """Same host except for a leading `www.`."""
    OTHER_AUTHORITY = 4


def form_of(written: str) -> Form:
    """Return the form of a reference as written, ignoring leading blanks and line breaks."""
    written = WRAPPED.sub("", written)
    if written.startswith("//"):
        return Form.PROTOCOL_RELATIVE
    if QUOTED.match(written):
        return Form.QUOTED
    found = SCHEME.match(written)
    if found is None or "." in found[1] or found[1].lower() == "localhost":
        return Form.RELATIVE
    return Form.ABSOLUTE if found[1].lower() in DEFAULT_PORTS else Form.OTHER_SCHEME


def parse(url: str) -> Uri:
    """Split a valid http or https URL into its parts. Raises `Invalid` with the reason.

    Blanks and leftover entities are removed first; other rules report them.
    """
    parts = PARTS.fullmatch(ENTITY.sub("&", BLANK.sub("", url)))
    if parts is None:
        raise Invalid("// and a host are missing")
    user, at, place = parts["place"].rpartition("@")
    if at and not USER.fullmatch(user):
        raise Invalid("a character that is not allowed before the host")
    if TWICE.fullmatch(place):
        raise Invalid("the scheme is there twice")
    known = authority(url)
    if known is None:
        written = quoted(re.split("[/?#]", url.partition("//")[2], maxsplit=1)[0].rpartition("@")[2])
        raise Invalid(f"{written} is not a valid host" if place else "the host is missing")
    for name, foreign in FOREIGN.items():
        found = foreign.search(parts[name] or "")
        if found is not None:
            raise Invalid(_foreign(parts[name], found.start(), name))
    host, colon, port = place.rpartition(":") if not place.endswith("]") else (place, "", "")
    host, port = (host, port) if colon else (place, "")
    return Uri(
        parts["scheme"].lower(), user if at else None, host, port, parts["path"], parts["query"], parts["fragment"],
        known, None if USUAL_HOST.fullmatch(host) else _address(url, host),
    )  # fmt: skip


def fault_of(url: str) -> str | None:
    """Return why an http or https URL is invalid, in a few words, or None."""
    try:
        parse(url)
    except Invalid as reason:
        return str(reason)
    return None


def is_sent_as_written(url: str) -> bool:
    """Return whether a URL is invalid only because of `[`, `]` or `|` after its host."""
    parts = PARTS.fullmatch(url)
    if parts is None:
        return False
    behind = parts.end("place")
    return fault_of(url[:behind] + SENT_AS_WRITTEN.sub("", url[behind:])) is None


def _foreign(text: str, at: int, name: str) -> str:
    if text[at] == "%":
        return f"{text[at : at + 3]!r} in its {name} is not an escape: write % as %25"
    if text[at] == "#":
        return "there is a second #"
    if text[at].isascii() and text[at].isprintable():
        return f"{text[at]!r} is not allowed in its {name}: write it as %{ord(text[at]):02X}"
    return f"the character U+{ord(text[at]):04X} is not allowed in its {name}"


def _address(url: str, host: str) -> str | None:
    try:
        return browsers.address_of(url)
    except ValueError:
        raise Invalid(f"{host!r} is not a host to browsers") from None


def path_of(url: str) -> str:
    """Return the normalised path of an http or https URL: no dot segments, no needless escapes."""
    usual = USUAL_PATH.fullmatch(url)
    if usual is not None:
        return usual[1] or "/"
    try:
        path = browsers.path_of(url)
    except ValueError:
        return "/"
    return ESCAPE.sub(unescaped, path) if "%" in path else path


def unescaped(escape: re.Match[str]) -> str:
    """Normalise an escape: the character itself if it needs no escape, else upper-case digits."""
    character = chr(int(escape[1], 16))
    return character if re.fullmatch(f"[{UNRESERVED}]", character) else escape[0].upper()


@lru_cache(maxsize=256)
def folder_of(url: str) -> str:
    """Return the path of the folder that contains a URL, with a trailing slash."""
    return path_of(url).rpartition("/")[0] + "/"


def standing(url: str, sitemap: str) -> Standing:
    """Compare the location of `url` with that of `sitemap`. Source: https://www.sitemaps.org/protocol.html#location"""
    here, there = authority(sitemap), authority(url)
    if here is None or there is None:
        return Standing.INSIDE
    if here != there:
        return _elsewhere(here, there, _scheme(sitemap), _scheme(url))
    if _scheme(sitemap) != _scheme(url):
        return Standing.OTHER_AUTHORITY
    return Standing.INSIDE if path_of(url).startswith(folder_of(sitemap)) else Standing.OUTSIDE_FOLDER


def _elsewhere(here: Authority, there: Authority, scheme: str, other_scheme: str) -> Standing:
    both_default = here.port == DEFAULT_PORTS[scheme] and there.port == DEFAULT_PORTS[other_scheme]
    if here.port != there.port and not both_default:
        return Standing.OTHER_AUTHORITY
    if here.host == there.host:
        return Standing.OTHER_SCHEME
    return Standing.OTHER_WWW if here.bare_host == there.bare_host else Standing.OTHER_AUTHORITY


def _scheme(url: str) -> str:
    return url.partition(":")[0].lower()
