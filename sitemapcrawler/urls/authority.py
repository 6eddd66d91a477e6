"""Parses and normalises absolute http and https URLs with a valid host.

Nothing here raises: any other text gives None. Texts are `str` as decoded from a document.
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

from sitemapcrawler.urls import browsers

DEFAULT_PORTS = {"http": 80, "https": 443}
STANDARD_INPUT = "file:///dev/stdin"
"""URL of a command's standard input."""
MAX_HOST = 253  # characters; RFC 1035, 2.3.4: 255 octets with their length bytes
MAX_PLACE = MAX_HOST + len(".:65535")  # characters of host, root dot and port

_WEB = re.compile(r"(https?)://([^/?#]*)", re.IGNORECASE)
_HOST = re.compile(r"(?:https?:)?//(?:[^/?#\\]*@)?([^/?#\\:@\[\]]*)", re.IGNORECASE)
_URL_OF_ANY_SCHEME = re.compile(r"[a-z][a-z0-9+.-]+://", re.IGNORECASE)  # two letters: C:/ is a drive
_DRIVE = re.compile(r"/[A-Za-z]:/")
"""Beginning of the path of a `file:` URL on Windows."""
_SCHEME = re.compile(r"[a-z][a-z0-9+.-]*:", re.IGNORECASE)
_PLACE = re.compile(r"(?:\[(?P<ipv6>[^\]]*)\]|(?P<name>[^\[\]:]*))(?::(?P<port>[0-9]*))?")
_NAME = re.compile(r"[a-z0-9_-]{1,63}(?:\.[a-z0-9_-]{1,63})*")
_ESCAPE = re.compile(r"%[0-9a-fA-F]{2}")
_USUAL_PATH = re.compile(
    r"/(?:[A-Za-z0-9_~%+-][A-Za-z0-9._~%+-]*+(?:/[A-Za-z0-9_~%+-][A-Za-z0-9._~%+-]*+)*+/?+)?+(?:\?[A-Za-z0-9._~%+=&/-]++)?+"
)
"""Absolute paths that resolving does not change: without `//`, dot segments and other characters."""
# Characters that Scrapy's requests do not escape (w3lib.url.safe_url_string). Of the others, a backslash in a path
# becomes a slash, as in browsers.
_IN_PATH = "".join(set(string.punctuation).difference('"#<>[\\]^`{|}'))
_IN_QUERY = _IN_PATH.replace("'", "")
_LINE_END = re.compile(r"[\r\n]+")
# C0 controls and the blanks that editors and spreadsheets leave behind, including NBSP, zero-width ones and BOM.
_BLANK = "".join(map(chr, range(0x21))) + "\x7f\x85\xa0\u1680\u180e\u2028\u2029\u202f\u205f\u2060\u3000\ufeff"
_BLANK += "".join(map(chr, range(0x2000, 0x200E)))


MAX_KNOWN = 2048
"""URLs whose key is cached: two batches. Verifying a URL needs its key several times."""
MAX_KNOWN_LENGTH = 1024
"""Characters of a cached URL, which limits the cache to a few MiB."""


class Authority(NamedTuple):
    """Host and port that share one robots.txt and one connection pool."""

    host: str
    """Lower case, ASCII (`xn--`), without root dot; an IPv6 address compressed and without brackets."""
    port: int
    """1 to 65535, with the scheme's default filled in."""

    @property
    def bare_host(self) -> str:
        """The host without `www.`, which may stand before the same site."""
        return self.host.removeprefix("www.")


def authority(url: str) -> Authority | None:
    """Return the host and port of an absolute http or https URL, or None. User information is ignored."""
    found = _WEB.match(url)
    # A backslash is a slash to browsers but user information to urlsplit, so they would read two different hosts.
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
    """Convert the host of a web URL, or of a reference that begins with `//`, to ASCII (`xn--`).

    Every URL must pass through here first: Scrapy's requests encode hosts by IDNA 2003, which turns `straße` into
    `strasse`, another host. Any other text, and a host that cannot be encoded, is returned unchanged.
    """
    if url.isascii():
        return url
    found = _HOST.match(url)
    if found is None or found[1].isascii() or _host(found[1]) is None:
        return url
    return f"{url[: found.start(1)]}{browsers.ascii_host(found[1])}{url[found.end(1) :]}"


def _host(name: str) -> str | None:
    host = browsers.ascii_host(name).removesuffix(".")
    return host if len(host) <= MAX_HOST and _NAME.fullmatch(host) else None


def _ipv6(address: str) -> str | None:
    try:
        parsed = ipaddress.IPv6Address(address)
    except ValueError:
        return None
    return None if parsed.scope_id else parsed.compressed


def is_web(url: str) -> bool:
    """Return whether a text is an absolute http or https URL with a valid host and port."""
    return authority(url) is not None


def has_scheme(text: str) -> bool:
    """Return whether a text begins like a URL of any scheme (`s3://`), so that it is meant for no local path."""
    return _URL_OF_ANY_SCHEME.match(text) is not None


def origin(url: str) -> str | None:
    """Return `https://host` or `https://host:port`, normalised, without default port, path and user information."""
    found = _WEB.match(url)
    if found is None:
        return None
    return _known_origin(found[0]) if len(found[0]) <= MAX_KNOWN_LENGTH else _origin(found[0])


def _origin(start: str) -> str | None:
    """Return the origin of a URL without path, query and fragment."""
    found, place = _WEB.match(start), authority(start)
    if found is None or place is None:
        return None
    scheme = found[1].lower()
    host = f"[{place.host}]" if ":" in place.host else place.host
    return f"{scheme}://{host}" if place.port == DEFAULT_PORTS[scheme] else f"{scheme}://{host}:{place.port}"


_known_origin = lru_cache(MAX_KNOWN)(_origin)


def visit_key(url: str) -> str:
    """Return the key that identifies a sitemap: equal for two spellings that make the same request.

    Normalises scheme, host and port, drops fragment and user information, turns an empty path into `/`, and escapes
    characters that a request must escape. The rest of path and query is unchanged. Of other texts (`file:`), drops
    only the fragment.
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
    """Remove user name and password from a web URL; any other text is unchanged."""
    found = _WEB.match(url)
    if found is None or "@" not in found[2]:
        return url
    return f"{url[: found.start(2)]}{found[2].rpartition('@')[2]}{url[found.end() :]}"


def has_user(url: str) -> bool:
    return without_user(url) != url


def request_key(url: str) -> str:
    """Return the key that identifies a page: the visit key without an empty query, which Scrapy does not send."""
    key = visit_key(url)
    return key[:-1] if key.endswith("?") and key.count("?") == 1 else key


def resolve(base: str, reference: str) -> str | None:
    """Resolve `reference` against the URL `base` to an absolute http or https URL; None if that fails.

    Removes blanks around it, and line breaks (with indentation) and tabs inside. Lower-cases the scheme and removes
    user name and password; an absolute reference is otherwise unchanged. An empty reference gives None, not `base`.
    """
    start = _start_of(base)
    if start is not None:
        if _USUAL_PATH.fullmatch(reference):
            return start + reference
        if reference.startswith(start) and _USUAL_PATH.fullmatch(reference, len(start)):
            return reference
    return _resolve(base, reference)


def _resolve(base: str, reference: str) -> str | None:
    text = _unwrapped(reference)
    scheme = _SCHEME.match(text)
    if not text or (scheme is None and not is_web(base)):
        return None
    if scheme is not None:
        url = scheme[0].lower() + text[scheme.end() :]
    else:
        try:
            url = urljoin(base, text).rstrip(_BLANK)  # blanks before an empty query that urljoin drops
        except ValueError:
            return None
    return without_user(url) if is_web(url) and _encodable(url) else None


@lru_cache(maxsize=256)
def _start_of(base: str) -> str | None:
    """Return what precedes the path of a reference to `base`; None if it is no web URL."""
    root = _resolve(base, "/")
    return None if root is None else root[:-1]


def file_url(path: str) -> str:
    """Return the `file:` URL of a local path: absolute, without `..`, percent-encoded."""
    return Path(os.path.normpath(Path(path).absolute())).as_uri()


def local_path(url: str) -> str | None:
    """Return the path of a local `file:` URL; None for any other URL."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return None
    if parts.scheme != "file" or parts.netloc not in {"", "localhost"} or not parts.path.startswith("/"):
        return None
    path = os.fsdecode(unquote_to_bytes(parts.path.encode("utf-8", "surrogateescape")))
    return path.lstrip("/") if _DRIVE.match(path) and os.name == "nt" else path


def _unwrapped(reference: str) -> str:
    text = reference.strip(_BLANK)
    if "\n" in text or "\r" in text:
        text = "".join(part.strip(_BLANK) for part in _LINE_END.split(text))
    return text.replace("\t", "")


def _encodable(text: str) -> bool:
    """Return False for a lone surrogate, which neither a request nor a feed can carry."""
    try:
        return text.isascii() or bool(text.encode())
    except UnicodeEncodeError:
        return False


def host_of(url: str) -> str:
    """Return the host of a web URL, normalised as by `authority`; empty for other texts."""
    place = authority(url)
    return "" if place is None else place.host


def bare_host(url: str) -> str:
    """Return the host of a web URL without `www.`; empty for other texts."""
    return host_of(url).removeprefix("www.")


def site_of(url: str) -> str:
    """Return the site of a web URL: its host without `www.`, with its port if not 80 or 443; empty for other texts."""
    place = authority(url)
    if place is None:
        return ""
    host = (f"[{place.host}]" if ":" in place.host else place.host).removeprefix("www.")
    return host if place.port in DEFAULT_PORTS.values() else f"{host}:{place.port}"
