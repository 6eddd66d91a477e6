"""URLs as browsers read them: the parts of the URL Standard for http and https that a crawl needs.

Source: https://url.spec.whatwg.org/
"""

from __future__ import annotations

import ipaddress
import re
import unicodedata
from dataclasses import dataclass, replace
from urllib.parse import unquote_to_bytes

import idna

WEB = {"http": "80", "https": "443"}
"""Schemes, with their default ports."""
_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*):")
_SLASHES = re.compile(r"[/\\]*")
_AUTHORITY = re.compile(r"[^/\\?#]*")
_FORBIDDEN = re.compile(r"[\x00-\x20#%/:<>?@\[\\\]^|\x7f]")
"""Code points that no host name has."""
_NUMBER = re.compile(r"0[xX][0-9A-Fa-f]*|[0-9]+")
_ZEROS = re.compile(r"\b0(?::0)+\b")
_CONTROLS = "".join(map(chr, range(0x21)))
"""C0 controls and the space, which are ignored around a URL."""
PATH, QUERY, FRAGMENT = r' "#<>?^`{}', " \"#<>'", ' "<>`'
"""ASCII characters besides controls that are escaped."""


@dataclass(frozen=True, slots=True)
class WebUrl:
    """A URL that was read. Of another scheme than http and https, only the scheme."""

    scheme: str
    host: str = ""
    """In ASCII and lower case; an IPv6 address in brackets."""
    is_address: bool = False
    port: str = ""
    """Empty for the default port."""
    path: str = "/"
    query: str | None = None
    fragment: str | None = None

    @property
    def href(self) -> str:
        """The URL without user and password."""
        port, query, fragment = (
            f"{mark}{part}" if part is not None else ""
            for mark, part in ((":", self.port or None), ("?", self.query), ("#", self.fragment))
        )
        return f"{self.scheme}://{self.host}{port}{self.path}{query}{fragment}"


def target_of(location: str, base: str) -> tuple[str, str]:
    """Scheme of the URL that a reference in `base` leads to, and the URL without user and password.

    Raises ValueError.
    """
    found = parse(location, parse(base))
    return found.scheme, found.href


def address_of(url: str) -> str | None:
    """The host of a web URL if it is an IP address, as browsers write it; else None. Raises ValueError."""
    found = parse(url)
    return found.host if found.is_address else None


def path_of(url: str) -> str:
    """The path of a web URL, without dot segments. Raises ValueError."""
    return parse(url).path


def parse(text: str, base: WebUrl | None = None) -> WebUrl:
    """Read a URL, relative to `base` if it has one. Raises ValueError."""
    text = re.sub(r"[\t\n\r]", "", text.strip(_CONTROLS))
    text.encode()  # a lone surrogate
    found = _SCHEME.match(text)
    if found is None:
        if base is None or base.scheme not in WEB:
            raise ValueError("a relative URL without a base")
        return _relative(text, base)
    scheme, rest = found[1].lower(), text[found.end() :]
    if scheme not in WEB:
        return WebUrl(scheme)
    if base is not None and base.scheme == scheme and not rest.startswith("//"):
        return _relative(rest, base)
    return _absolute(scheme, rest)


def _relative(text: str, base: WebUrl) -> WebUrl:
    if len(text) > 1 and text[0] in "/\\" and text[1] in "/\\":
        return _absolute(base.scheme, text)
    if not text or text[0] == "#":
        return replace(base, fragment=_escaped(text[1:], FRAGMENT) if text else None)
    above = "" if text[0] in "/\\" else base.path.rpartition("/")[0]
    if text[0] == "?":
        return _with_path(replace(base, path=""), base.path, text)
    return _with_path(base, above, text)


def _absolute(scheme: str, text: str) -> WebUrl:
    text = text[_SLASHES.match(text).end() :]  # type: ignore[union-attr]  # it matches any text
    authority = _AUTHORITY.match(text)[0]  # type: ignore[index]  # it matches any text
    host = authority.rpartition("@")[2]
    name, port = host, None
    if host.startswith("["):
        inner, end, rest = host.partition("]")
        if not end or (rest and not re.fullmatch(":[0-9]*", rest)):
            raise ValueError("not an IPv6 address")
        name, port = inner + end, rest[1:]
    elif ":" in host:
        name, _, port = host.partition(":")
        if port.strip("0123456789"):
            raise ValueError("no port")
    number = str(int(port)) if port else ""
    if number and int(number) >= 2**16:
        raise ValueError("no port")
    ascii_name, is_address = _host(name)
    made = WebUrl(scheme, ascii_name, is_address, "" if number == WEB[scheme] else number)
    return _with_path(made, "", text[len(authority) :])


def _with_path(url: WebUrl, above: str, text: str) -> WebUrl:
    """`above`: path of the folder that the path in `text` is in, without the last slash."""
    text, mark, fragment = text.partition("#")
    path, question, query = text.partition("?")
    parts = above.split("/")[1:]
    if path or not above:
        steps = re.split(r"[/\\]", path[1:] if path[:1] in ("/", "\\") else path)
        for at, step in enumerate(steps):
            dots = step.lower().replace("%2e", ".")
            if dots == "..":
                del parts[-1:]
            if dots not in (".", ".."):
                parts.append(_escaped(step, PATH))
            elif at == len(steps) - 1:
                parts.append("")
    return replace(
        url,
        path=f"/{'/'.join(parts)}",
        query=_escaped(query, QUERY) if question else None,
        fragment=_escaped(fragment, FRAGMENT) if mark else None,
    )


def _escaped(text: str, escaped: str) -> str:
    return "".join(
        one if "!" <= one <= "~" and one not in escaped else "".join(f"%{octet:02X}" for octet in one.encode())
        for one in text
    )


def _host(name: str) -> tuple[str, bool]:
    """A host as it is requested, and whether it is an address. Raises ValueError."""
    if name.startswith("["):
        if "%" in name:
            raise ValueError("an IPv6 address cannot have a zone")
        return f"[{_ipv6(int(ipaddress.IPv6Address(name[1:-1])))}]", True
    found = ascii_host(unquote_to_bytes(name).decode("utf-8", "replace"))
    if not found or _FORBIDDEN.search(found):
        raise ValueError("not a host name")
    labels = found.removesuffix(".").split(".")
    if labels[-1].isdigit() or _NUMBER.fullmatch(labels[-1]):
        return str(ipaddress.IPv4Address(_ipv4(labels))), True
    return found, False


def _ipv4(parts: list[str]) -> int:
    if len(parts) > 4 or not all(map(_NUMBER.fullmatch, parts)):
        raise ValueError("not an IPv4 address")
    bases = [16 if part[:2] in ("0x", "0X") else 8 if part[0] == "0" and len(part) > 1 else 10 for part in parts]
    *first, last = (int(part[2:] or "0" if base == 16 else part, base) for part, base in zip(parts, bases, strict=True))
    if any(number > 255 for number in first) or last >= 256 ** (4 - len(first)):
        raise ValueError("not an IPv4 address")
    return sum(number << 8 * (3 - at) for at, number in enumerate(first)) + last


def _ipv6(number: int) -> str:
    pieces = [f"{number >> 16 * at & 0xFFFF:x}" for at in range(7, -1, -1)]
    text = ":".join(pieces)
    zeros = max(_ZEROS.finditer(text), key=lambda found: len(found[0]), default=None)
    return text if zeros is None else f"{text[: zeros.start()].rstrip(':')}::{text[zeros.end() :].lstrip(':')}"


def ascii_host(name: str) -> str:
    """A host name in ASCII by UTS 46, non-transitional, and in lower case; empty if it has none.

    Source: https://url.spec.whatwg.org/#concept-domain-to-ascii
    """
    if name.isascii():
        return name.lower()
    try:
        mapped = idna.uts46_remap(name, std3_rules=False, transitional=False)
        return ".".join(map(_label, mapped.split(".")))
    except (ValueError, IndexError):  # idna.IDNAError is one
        return ""


def _label(label: str) -> str:
    if label.startswith("xn--"):
        decoded = label[4:].encode("ascii").decode("punycode")
        if decoded.isascii() or idna.uts46_remap(decoded, std3_rules=False, transitional=False) != decoded:
            raise ValueError("not the Punycode of a label")
        _check(decoded)
        return label
    if label.isascii():
        return label
    _check(label)
    return f"xn--{label.encode('punycode').decode('ascii')}"


def _check(label: str) -> None:
    """Raise ValueError for a label that no registry accepts."""
    if unicodedata.category(label[0])[0] == "M" or unicodedata.normalize("NFC", label) != label:
        raise ValueError("a label begins with a mark")
    idna.check_bidi(label)
    for at, one in enumerate(label):
        if one in "\u200c\u200d" and not idna.valid_contextj(label, at):
            raise ValueError("a joiner joins nothing")
