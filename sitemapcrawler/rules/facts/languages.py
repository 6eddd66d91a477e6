"""Language and country codes (ISO 639, ISO 15924 and ISO 3166-1, from pycountry), and the language versions of an
entry.

Codes are case-insensitive. Reading a code never raises. The registries are loaded on first use.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property, lru_cache

import pycountry

from sitemapcrawler.namespaces import find
from sitemapcrawler.namespaces.element import Element
from sitemapcrawler.namespaces.extensions import HREFLANG, Alternate, alternate_of
from sitemapcrawler.rules.facts.given import UrlFacts
from sitemapcrawler.urls import resolve, visit_key
from sitemapcrawler.urls.grammar import AMPERSAND

DEFAULT = "x-default"
"""The hreflang of the page for all other languages. Source: Google, "Localized versions of your pages"."""
KOSOVO = "XK"
"""Not in ISO 3166-1, but in common use for Kosovo (European Union, CLDR, SWIFT)."""
RESERVED = {"EU": "", "UN": "", "EZ": "", "UK": "GB"}
"""Codes reserved in ISO 3166-1, which never become countries: {reserved code: intended code, or empty}."""
WITHDRAWN = {"in": "id", "iw": "he", "ji": "yi", "jw": "jv", "mo": "ro"}
"""Withdrawn two-letter codes and their replacements. Source: IANA language subtag registry, field Preferred-Value."""
MAX_CODE = 40
"""Characters of a code to read; RFC 5646, 4.4.1 requires support for 35."""

_LANGUAGE = re.compile(r"[a-z]{2,3}")
_SCRIPT_LAST = re.compile(r"([A-Za-z]{2})-([A-Za-z]{2})-([A-Za-z]{4})")


def is_language(code: str) -> bool:
    """True for an ISO 639 language code of two letters (part 1) or three (parts 2, 3 and 5)."""
    return code.isascii() and code.lower() in _languages()


def is_country(code: str) -> bool:
    """True for a two-letter country code in use: ISO 3166-1 alpha-2, and XK for Kosovo."""
    return code.isascii() and code.upper() in _countries()


def is_script(code: str) -> bool:
    """True for an ISO 15924 script code, such as `Hant`."""
    return code.isascii() and code.title() in _scripts()


@dataclass(frozen=True, slots=True)
class Code:
    """A parsed hreflang value."""

    written: str
    """The value without surrounding whitespace, cut to `MAX_CODE` characters."""
    canonical: str | None = None
    """The code in its usual spelling (`zh-Hant-TW`, `en-GB`, `x-default`); None if it is not a language."""
    fault: str | None = None
    """Why search engines do not document this code, as a phrase that follows the code. With a `canonical` spelling, the
    code names a language and may still be understood."""
    underscore: bool = False
    """True if the code becomes valid with dashes in place of underscores; `canonical` has the dashes."""
    right: str | None = None
    """The valid code that is meant, where the fault names one."""

    @property
    def usual(self) -> bool:
        """True for a valid code in its usual spelling."""
        return self.canonical == self.written and self.fault is None

    @property
    def counts(self) -> bool:
        """True for a code that names a language to search engines, in any case."""
        return self.canonical is not None and not self.underscore


def read_code(value: str) -> Code:
    """Parse a hreflang value: `language[-Script][-REGION]`, or `x-default`.

    Source: https://developers.google.com/search/docs/specialty/international/localized-versions#language-codes
    """
    return _read_code(value.strip()[:MAX_CODE])


@lru_cache(maxsize=4096)
def _read_code(written: str) -> Code:
    if "_" not in written:
        return _judge(written)
    dashed = _judge(written.replace("_", "-"))
    if dashed.canonical is None:
        return Code(written, None, dashed.fault, right=dashed.right)
    return Code(written, dashed.canonical, underscore=True)


def _judge(written: str) -> Code:
    if written.lower() == DEFAULT:
        return Code(written, DEFAULT)
    fault = _fault(written)
    if fault is not None:
        return Code(written, None, fault, right=_right_form(written))
    language, script, region, _ = _parts(written)
    canonical = _joined(language, script, region)
    doubt = _doubt(language)
    return Code(written, canonical, doubt, right=_right_form(written) if doubt else None)


def _parts(written: str) -> tuple[str, str | None, str | None, list[str]]:
    """Language, script and region of a code in their usual case, and what is behind them."""
    language, *rest = written.split("-")
    script = rest.pop(0).title() if rest and len(rest[0]) == 4 else None
    region = rest.pop(0).upper() if rest else None
    return language.lower(), script, region, rest


def _joined(language: str, script: str | None, region: str | None) -> str:
    return "-".join(part for part in (language, script, region) if part)


def _fault(written: str) -> str | None:
    language, script, region, rest = _parts(written)
    return (
        _shape_fault(written, language, rest)
        or _language_fault(language, region)
        or _script_fault(script)
        or _region_fault(region)
    )


def _right_form(written: str) -> str | None:
    """The valid code that the faults of a code name; None if there is none."""
    swapped = _SCRIPT_LAST.fullmatch(written)
    language, script, region, rest = _parts(f"{swapped[1]}-{swapped[3]}-{swapped[2]}" if swapped else written)
    if not is_language(language) and region is not None and is_country(language) and is_language(region):
        language, region = region.lower(), language.upper()
    language = WITHDRAWN.get(language) or (len(language) == 3 and _languages().get(language)) or language
    region = RESERVED.get(region or "") or region
    right = _joined(language, script, region)
    return right if not rest and right != written and _fault(right) is None and not _doubt(language) else None


def _shape_fault(written: str, language: str, rest: list[str]) -> str | None:
    swapped = _SCRIPT_LAST.fullmatch(written)
    if swapped is not None and is_script(swapped[3]):
        return f"has the script after the region: {swapped[1].lower()}-{swapped[3].title()}-{swapped[2].upper()}"
    if rest or not _LANGUAGE.fullmatch(language.lower()):
        return "is not of the form language, language-REGION, language-Script or language-Script-REGION"
    return None


def _language_fault(language: str, region: str | None) -> str | None:
    if len(language) == 2 and (is_language(language) or language in WITHDRAWN):
        return None
    if len(language) == 3 and is_language(language):
        short = _languages()[language]
        return f"has three letters; the ISO 639-1 code is {short}" if short else None
    if region is not None and is_country(language) and is_language(region):
        return f"has the country before the language: {region.lower()}-{language.upper()}"
    country = _countries().get(language.upper())
    if country is not None:
        return f"begins with a country ({country}), not an ISO 639-1 language"
    return f"begins with {language!r}, which is not an ISO 639-1 language"


def _script_fault(script: str | None) -> str | None:
    if script is None or is_script(script):
        return None
    return f"has {script!r}, which is not an ISO 15924 script"


def _region_fault(region: str | None) -> str | None:
    if region is None or is_country(region):
        return None
    if region in RESERVED:
        meant = RESERVED[region] and f"; the code of {_countries()[RESERVED[region]]} is {RESERVED[region]}"
        return f"has {region}, which is reserved, not an ISO 3166-1 country{meant}"
    if region.isdecimal():
        return f"has {region}, a region by number; hreflang takes ISO 3166-1 countries"
    return f"has {region!r}, which is not an ISO 3166-1 country"


def _doubt(language: str) -> str | None:
    if language in WITHDRAWN:
        return f"has a code that was withdrawn from ISO 639-1; the current one is {WITHDRAWN[language]}"
    if len(language) == 3:
        return "has a three-letter language; Google documents only the two-letter codes of ISO 639-1"
    return None


@cache
def _languages() -> Mapping[str, str]:
    """Map language codes to the two-letter code of the same language, or to an empty string."""
    codes = {}
    for language in pycountry.languages:
        short = getattr(language, "alpha_2", "")
        for name in ("alpha_2", "alpha_3", "bibliographic"):
            codes[getattr(language, name, short)] = short
    codes.update((family.alpha_3, "") for family in pycountry.language_families)
    codes.pop("", None)
    return codes


@cache
def _countries() -> Mapping[str, str]:
    """Map country codes to common names."""
    names = {country.alpha_2: getattr(country, "common_name", country.name) for country in pycountry.countries}
    return {**names, KOSOVO: "Kosovo"}


@cache
def _scripts() -> frozenset[str]:
    return frozenset(script.alpha_4 for script in pycountry.scripts)


LOCALIZED = "https://developers.google.com/search/docs/specialty/international/localized-versions"

USUAL_PATH = rf"/[!-%'-~]*+(?:{AMPERSAND}[!-%'-~]*+)*+"

USUAL_URL = re.compile(rf"https?://[A-Za-z0-9][A-Za-z0-9.-]*(?::[1-9][0-9]{{0,3}})?(?:{USUAL_PATH})?")
"""An absolute URL that needs no further check."""

NORMAL_URL = re.compile(r"https?://[a-z0-9](?:[a-z0-9.-]*[a-z0-9])?(?::[1-9][0-9]{3})?/[!$&(-;=?-Z_a-z~]*")
"""A URL that normalisation does not change: no user, fragment or escapes, no port but one of four
digits, which no scheme has by default, and nothing that needs escaping."""

UNRESERVED = re.compile(r"%(?:2D|2E|3[0-9]|4[1-9A-F]|5[0-9A]|5F|6[1-9A-F]|7[0-9A]|7E)")
"""Escapes equivalent to their character. Source: RFC 3986, 6.2.2.2."""

APPS = re.compile(r"(?:android|ios)-app:", re.IGNORECASE)
"""Deep links into apps, which are not pages."""

SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:")


@dataclass(frozen=True, slots=True)
class AlternateLink:
    """An alternate link that rules may report."""

    position: int
    """Index among the entry's alternates, from 0."""
    alternate: Alternate
    code: Code
    """Its code; empty if the link has none."""
    url: str | None
    """Its absolute URL; None if the link has none."""

    @property
    def counts(self) -> bool:
        """True if the link names a language and a page. Links with `media` lead to other forms of a page; they do not
        count."""
        return self.code.counts and self.url is not None and "media" not in self.alternate.attributes


def is_usual(code: Code, href: str) -> bool:
    """True for code and URL of an alternate that no rule on a single link reports."""
    return code.usual and USUAL_URL.fullmatch(href) is not None


class Cluster:
    """The language versions that one entry lists."""

    def __init__(self, entry: UrlFacts) -> None:
        self.loc = entry.record.loc
        self.odd: list[AlternateLink] = []
        """Links that rules may report, in document order."""
        self.codes: list[str] = []
        """Codes of the links that count, in their usual spelling."""
        self.urls: list[str] = []
        """URLs of the links that count."""
        self.positions: list[int] = []
        """Indexes of the links that count among the entry's alternates."""
        self._entry = entry
        for position, alternate in enumerate(entry.record.alternates):
            self._add(position, alternate)

    def _add(self, position: int, alternate: Alternate) -> None:
        value, href = alternate.hreflang, alternate.href
        if value is not None and href is not None and alternate.rel is None and not alternate.attributes:
            code = read_code(value)
            if is_usual(code, href):
                self._count(position, value, href)
                return
        if _is_version(alternate):
            link = AlternateLink(
                position, alternate, read_code(value or ""), resolve(self._entry.file.place, href or "")
            )
            self.odd.append(link)
            if link.counts:
                self._count(position, link.code.canonical or "", link.url or "")

    def _count(self, position: int, code: str, url: str) -> None:
        self.codes.append(code)
        self.urls.append(url)
        self.positions.append(position)

    @cached_property
    def lists_self(self) -> bool:
        """True if one of the links, with any code, leads to the entry's own page."""
        if self.loc in self.urls:
            return True
        page = page_key(self.loc)
        return any(page_key(url) == page for url in self._all_urls())

    @cached_property
    def nearly_self(self) -> str | None:
        """A linked URL that differs from the entry's own only by scheme, `www`, case or a final slash."""
        if self.lists_self:
            return None
        rough = _rough_key(self.loc)
        return next((url for url in self._all_urls() if _rough_key(url) == rough), None)

    def _all_urls(self) -> Iterator[str]:
        yield from self.urls
        yield from (link.url for link in self.odd if link.url is not None)

    def line_of(self, position: int) -> int | None:
        """Line of an alternate; None if the XML is not available."""
        return self._lines[position] if position < len(self._lines) else None

    @cached_property
    def _lines(self) -> Sequence[int]:
        element = self._entry.element
        return [child.line for child in element.children if _is_alternate(child)] if element is not None else ()


VERSION_LINES = re.compile(
    rf"(?:http://[A-Za-z0-9][A-Za-z0-9.-]*(?::[1-9][0-9]{{0,3}})?{USUAL_PATH}\n)+"
    rf"|(?:https://[A-Za-z0-9][A-Za-z0-9.-]*(?::[1-9][0-9]{{0,3}})?{USUAL_PATH}\n)+"
)
"""Usual URLs of one protocol."""
SPECIAL = re.compile(r"[%#\\]")
"""Characters by which URLs of one page may differ."""


def has_usual_versions(entry: UrlFacts) -> bool:
    """True for an entry that lists itself and other pages with a usual code each, on one protocol. Cached on the
    entry."""
    known = vars(entry)
    if "usual_versions" not in known:
        known["usual_versions"] = _are_usual_versions(entry)
    return bool(known["usual_versions"])


def _are_usual_versions(entry: UrlFacts) -> bool:
    loc, alternates = entry.record.loc, entry.record.alternates
    for alternate in alternates:
        if alternate.rel is not None or alternate.attributes:
            return False
    default = _place_of_default(tuple([alternate.hreflang for alternate in alternates]))
    if default is None:
        return False
    urls = _different_urls("\n".join([alternate.href or "" for alternate in alternates]) + "\n", default)
    if len(urls) < 2 or loc not in urls:
        return False
    other = next(url for url in urls if url != loc)
    if other.split("/", 3)[2] == loc.split("/", 3)[2] and SPECIAL.search(loc + other) is None:
        return True
    return page_key(other) != page_key(loc)


@lru_cache(maxsize=64)
def _different_urls(lines: str, default: int) -> dict[str, None]:
    """Return the URLs of language versions, one per line, in order; none if they are not usual, or if two of them are
    equal, except the one at the index `default`. Cached, since the pages of a cluster list the same ones in a row."""
    if VERSION_LINES.fullmatch(lines) is None:
        return {}
    urls = lines.split("\n")[:-1]
    different = dict.fromkeys(urls)
    if len(different) < len(urls):
        others = [url for place, url in enumerate(urls) if place != default]
        if len(set(others)) < len(others):
            return {}
    return different


def has_usual_default(entry: UrlFacts) -> bool:
    """True for such an entry with an `x-default`."""
    codes = [alternate.hreflang for alternate in entry.record.alternates]
    return DEFAULT in codes and has_usual_versions(entry)


@lru_cache(maxsize=1024)
def _place_of_default(codes: tuple[str | None, ...]) -> int | None:
    """Index of `x-default` among the codes, -1 without one; None if they are not all usual and different."""
    if len(set(codes)) < len(codes) or not all(code is not None and read_code(code).usual for code in codes):
        return None
    return codes.index(DEFAULT) if DEFAULT in codes else -1


def cluster_of(entry: UrlFacts) -> Cluster | None:
    """Return the cluster of an entry, cached on the entry; None without language versions."""
    if not entry.record.alternates:
        return None
    known = vars(entry)
    if "cluster" not in known:
        known["cluster"] = Cluster(entry)
    made: Cluster = known["cluster"]
    return made


def page_key(url: str) -> str:
    """Key that two URLs of the same page share: host, port and escapes are normalised. A final slash makes a
    difference.

    Source: RFC 3986, 6.2.2.
    """
    if NORMAL_URL.fullmatch(url):
        return url
    return UNRESERVED.sub(lambda escape: chr(int(escape[0][1:], 16)), visit_key(url))


def _rough_key(url: str) -> str:
    place, slash, path = page_key(url).partition("://")[2].lower().partition("/")
    return place.removeprefix("www.") + (slash + path).rstrip("/")


def _is_version(alternate: Alternate) -> bool:
    """False for links to apps, and for links to other forms of a page, such as a feed, that name no language."""
    href = alternate.href or ""
    if APPS.match(href):
        return False
    other = "type" in alternate.attributes or (SCHEME.match(href) is not None and not href.lower().startswith("http"))
    return alternate.hreflang is not None or not other


def _is_alternate(element: Element) -> bool:
    namespace = find(element.uri)
    return namespace is not None and namespace.uri == HREFLANG and alternate_of(element) is not None
