"""URLs as this project handles them: absolute, http or https, with a host that can be asked.

Nothing here raises, whatever the text: what is no such URL is None. A text is a `str` as decoded from a document.
"""

from __future__ import annotations

import ipaddress
import os
import re
import string
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple
from urllib.parse import quote, unquote_to_bytes, urljoin, urlsplit

import ada_url

DEFAULT_PORTS = {"http": 80, "https": 443}
STANDARD_INPUT = "file:///dev/stdin"
"""URL of what a command reads in place of a file."""
MAX_HOST = 253  # characters; RFC 1035, 2.3.4: 255 octets with their length bytes
MAX_PLACE = MAX_HOST + len(".:65535")  # characters of host, root dot and port

_WEB = re.compile(r"(https?)://([^/?#]*)", re.IGNORECASE)
_HOST = re.compile(r"(?:https?:)?//(?:[^/?#\\]*@)?([^/?#\\:@\[\]]*)", re.IGNORECASE)
_SCHEME = re.compile(r"[a-z][a-z0-9+.-]*:", re.IGNORECASE)
_PLACE = re.compile(r"(?:\[(?P<ipv6>[^\]]*)\]|(?P<name>[^\[\]:]*))(?::(?P<port>[0-9]*))?")
_NAME = re.compile(r"[a-z0-9_-]{1,63}(?:\.[a-z0-9_-]{1,63})*")
_CONTROL = re.compile(r"[\x00-\x20\x7f]")
_ESCAPE = re.compile(r"%[0-9a-fA-F]{2}")
# What Scrapy's requests hold as it is (w3lib.url.safe_url_string). All else it escapes, but makes of a backslash in a
# path a slash, as browsers do.
_IN_PATH = "".join(set(string.punctuation).difference('"#<>[\\]^`{|}'))
_IN_QUERY = _IN_PATH.replace("'", "")
_LINE_END = re.compile(r"[\r\n]+")
# C0 controls and the blanks that editors and spreadsheets leave behind, NBSP, zero-width ones and BOM included.
_BLANK = "".join(map(chr, range(0x21))) + "\x7f\x85\xa0\u1680\u180e\u2028\u2029\u202f\u205f\u2060\u3000\ufeff"
_BLANK += "".join(map(chr, range(0x2000, 0x200E)))


MAX_KNOWN = 2048
"""URLs whose key is kept for a while, since a URL that is verified needs it several times: two batches."""
MAX_KNOWN_LENGTH = 1024
"""Characters of such a URL, so that what is kept is no more than some MiB."""


class Authority(NamedTuple):
    """Where a URL is asked: what one robots.txt and one connection are for."""

    host: str
    """Lower case, ASCII (`xn--`), without root dot; an IPv6 address compressed and without brackets."""
    port: int
    """1 to 65535, the scheme's default filled in."""


def authority(url: str) -> Authority | None:
    """Host and port of an absolute http or https URL; user information is ignored."""
    found = _WEB.match(url)
    # Browsers read a backslash as a slash, urlsplit as user information: two hosts in one URL.
    if found is None or "\\" in found[2]:
        return None
    place = found[2].rpartition("@")[2]
    return _authority(place, DEFAULT_PORTS[found[1].lower()]) if len(place) <= MAX_PLACE else None


@lru_cache(maxsize=4096)
def _authority(place: str, default_port: int) -> Authority | None:
    found = _PLACE.fullmatch(place)
    if found is None:
        return None
    host = _host(found["name"]) if found["ipv6"] is None else _ipv6(found["ipv6"])
    port = int(found["port"] or default_port)
    return Authority(host, port) if host and 0 < port < 65536 else None


def as_sent(url: str) -> str:
    """A web URL, or a reference that begins with `//`, with its host as it is sent: ASCII (`xn--`).

    Scrapy's requests encode hosts by IDNA 2003, which makes `strasse` of `straße`, another host: each URL passes here
    first. Any other text, and a host that cannot be encoded, stays as it is.
    """
    if url.isascii():
        return url
    found = _HOST.match(url)
    if found is None or found[1].isascii() or _host(found[1]) is None:
        return url
    return f"{url[: found.start(1)]}{_ascii(found[1])}{url[found.end(1) :]}"


def _ascii(name: str) -> str | None:
    """A host name in ASCII by UTS 46, non-transitional, as browsers map it; None where it cannot be.

    Source: https://url.spec.whatwg.org/#concept-domain-to-ascii
    """
    if name.isascii():
        return name
    if _CONTROL.search(name):  # ada would end the name at a NUL
        return None
    try:
        return ada_url.idna_to_ascii(name).decode("ascii") or None
    except UnicodeEncodeError:
        return None


def _host(name: str) -> str | None:
    ascii_name = _ascii(name)
    if ascii_name is None:
        return None
    host = ascii_name.lower().removesuffix(".")
    return host if len(host) <= MAX_HOST and _NAME.fullmatch(host) else None


def _ipv6(address: str) -> str | None:
    try:
        parsed = ipaddress.IPv6Address(address)
    except ValueError:
        return None
    return None if parsed.scope_id else parsed.compressed


def is_web(url: str) -> bool:
    """True for an absolute http or https URL with a valid host and port."""
    return authority(url) is not None


def origin(url: str) -> str | None:
    """`https://host` or `https://host:port`, normalised, without default port, path and user information."""
    found, place = _WEB.match(url), authority(url)
    if found is None or place is None:
        return None
    scheme = found[1].lower()
    host = f"[{place.host}]" if ":" in place.host else place.host
    return f"{scheme}://{host}" if place.port == DEFAULT_PORTS[scheme] else f"{scheme}://{host}:{place.port}"


def visit_key(url: str) -> str:
    """The key by which a sitemap counts as visited: equal for two spellings that make the same request.

    Scheme, host and port are normalised, fragment and user information dropped, an empty path becomes `/`, characters
    that a request must escape are escaped; path and query stay otherwise as they are. Of a text that is no web URL
    (`file:`) only the fragment is dropped.
    """
    return _known_key(url) if len(url) <= MAX_KNOWN_LENGTH else _key(url)


def _key(url: str) -> str:
    plain = url.partition("#")[0]
    found, start = _WEB.match(plain), origin(plain)
    if found is None or start is None:
        return plain
    path, mark, query = plain[found.end() :].partition("?")
    rest = quote(path.replace("\\", "/"), _IN_PATH, errors="replace") + mark + quote(query, _IN_QUERY, errors="replace")
    rest = _ESCAPE.sub(lambda escape: escape[0].upper(), rest)
    return start + (rest if rest.startswith("/") else "/" + rest)


_known_key = lru_cache(MAX_KNOWN)(_key)


def without_user(url: str) -> str:
    """A web URL without user name and password; any other text as it is."""
    found = _WEB.match(url)
    if found is None or "@" not in found[2]:
        return url
    return f"{url[: found.start(2)]}{found[2].rpartition('@')[2]}{url[found.end() :]}"


def has_user(url: str) -> bool:
    """True for a web URL with a user name or a password."""
    return without_user(url) != url


def request_key(url: str) -> str:
    """The key by which a page counts as asked: that of a visit, but for an empty query, which Scrapy does not send."""
    key = visit_key(url)
    return key[:-1] if key.endswith("?") and key.count("?") == 1 else key


def resolve(base: str, reference: str) -> str | None:
    """`reference` as an absolute http or https URL, read against the URL `base`; None where it cannot be one.

    Blanks around it and line breaks (with their indentation) and tabs inside are removed, the scheme is lower-cased;
    an absolute reference stays otherwise as written, but for user name and password, which are taken out. An empty
    reference is None, not `base`.
    """
    text = _unwrapped(reference)
    scheme = _SCHEME.match(text)
    if not text or (scheme is None and not is_web(base)):
        return None
    if scheme is not None:
        url = scheme[0].lower() + text[scheme.end() :]
    else:
        try:
            url = urljoin(base, text).rstrip(_BLANK)  # what stood in front of an empty query that it drops
        except ValueError:
            return None
    return without_user(url) if is_web(url) and _encodable(url) else None


def file_url(path: str) -> str:
    """The `file:` URL of a path of this machine: absolute, without `..`, percent-encoded."""
    return Path(os.path.normpath(Path(path).absolute())).as_uri()


def local_path(url: str) -> str | None:
    """The path that a `file:` URL of this machine names; None for any other URL."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return None
    if parts.scheme != "file" or parts.netloc not in {"", "localhost"} or not parts.path.startswith("/"):
        return None
    return os.fsdecode(unquote_to_bytes(parts.path.encode("utf-8", "surrogateescape")))


def _unwrapped(reference: str) -> str:
    text = reference.strip(_BLANK)
    if "\n" in text or "\r" in text:
        text = "".join(part.strip(_BLANK) for part in _LINE_END.split(text))
    return text.replace("\t", "")


def _encodable(text: str) -> bool:
    """False with a lone surrogate, which neither a request nor a feed can carry."""
    try:
        return text.isascii() or bool(text.encode())
    except UnicodeEncodeError:
        return False


def host_of(url: str) -> str:
    """The host that a web URL names, as `authority` has it; empty where it names none."""
    place = authority(url)
    return "" if place is None else place.host


def site_of(url: str) -> str:
    """The site that a web URL is of: its host without `www.`, with its port where that is not the usual one; an empty
    text where it is none. What a crawl finds from there is judged together."""
    place = authority(url)
    if place is None:
        return ""
    host = (f"[{place.host}]" if ":" in place.host else place.host).removeprefix("www.")
    return host if place.port in DEFAULT_PORTS.values() else f"{host}:{place.port}"
