"""Codes of languages and countries, against the registries: ISO 639, ISO 15924 and ISO 3166-1, by pycountry.

Upper or lower case makes no difference here: where one of them is asked for, that is another question. Nothing here
raises, whatever the text. The registries are loaded when the first code is looked up.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, lru_cache

import pycountry

DEFAULT = "x-default"
"""The hreflang of the page for everyone else. Source: Google, "Localized versions of your pages"."""
KOSOVO = "XK"
"""No country of ISO 3166-1, but one by common use of its user-assigned codes (European Union, CLDR, SWIFT)."""
RESERVED = {"EU": "", "UN": "", "EZ": "", "UK": "GB"}
"""Reserved in ISO 3166-1 so that they never become countries; the code that is meant, where there is one."""
WITHDRAWN = {"in": "id", "iw": "he", "ji": "yi", "jw": "jv", "mo": "ro"}
"""Two-letter codes withdrawn in favour of others. Source: IANA language subtag registry, field Preferred-Value."""
MAX_CODE = 40
"""Characters of a code that are looked at; RFC 5646, 4.4.1 has 35 for the longest that must be taken."""

_LANGUAGE = re.compile(r"[a-z]{2,3}")
_SCRIPT_LAST = re.compile(r"([A-Za-z]{2})-([A-Za-z]{2})-([A-Za-z]{4})")


def is_language(code: str) -> bool:
    """True for a language code of ISO 639: two letters (part 1), or three (parts 2, 3 and 5)."""
    return code.isascii() and code.lower() in _languages()


def is_country(code: str) -> bool:
    """True for a country code of two letters that is in use: ISO 3166-1 alpha-2, and Kosovo's XK."""
    return code.isascii() and code.upper() in _countries()


def is_script(code: str) -> bool:
    """True for a code of ISO 15924, such as `Hant`."""
    return code.isascii() and code.title() in _scripts()


@dataclass(frozen=True, slots=True)
class Code:
    """What the value of a hreflang attribute is."""

    written: str
    """The value, white space around it stripped, `MAX_CODE` characters of it."""
    canonical: str | None = None
    """The code in its usual spelling (`zh-Hant-TW`, `en-GB`, `x-default`); None where it means no language."""
    fault: str | None = None
    """Why it is no code that search engines document, in words that follow the code. One with a `canonical` spelling
    besides is a language, and may be understood."""
    underscore: bool = False
    """True where it would be a code with dashes in place of its underscores; `canonical` has them."""

    @property
    def usual(self) -> bool:
        """True for a good code in its usual spelling."""
        return self.canonical == self.written and self.fault is None

    @property
    def counts(self) -> bool:
        """True for a code that names a language to search engines, whatever the case of its letters."""
        return self.canonical is not None and not self.underscore


def read_code(value: str) -> Code:
    """What a value of hreflang is: `language[-Script][-REGION]`, or `x-default`.

    Source: https://developers.google.com/search/docs/specialty/international/localized-versions#language-codes
    """
    return _read_code(value.strip()[:MAX_CODE])


@lru_cache(maxsize=4096)
def _read_code(written: str) -> Code:
    if "_" not in written:
        return _judge(written)
    dashed = _judge(written.replace("_", "-"))
    if dashed.canonical is None:
        return Code(written, None, dashed.fault)
    return Code(written, dashed.canonical, underscore=True)


def _judge(written: str) -> Code:
    if written.lower() == DEFAULT:
        return Code(written, DEFAULT)
    language, *rest = written.split("-")
    script = rest.pop(0).title() if rest and len(rest[0]) == 4 else None
    region = rest.pop(0).upper() if rest else None
    fault = (
        _shape_fault(written, language, rest)
        or _language_fault(language.lower(), region)
        or _script_fault(script)
        or _region_fault(region)
    )
    if fault is not None:
        return Code(written, None, fault)
    canonical = "-".join(part for part in (language.lower(), script, region) if part)
    return Code(written, canonical, _doubt(language.lower()))


def _shape_fault(written: str, language: str, rest: list[str]) -> str | None:
    swapped = _SCRIPT_LAST.fullmatch(written)
    if swapped is not None and is_script(swapped[3]):
        return f"has the script behind the region: {swapped[1].lower()}-{swapped[3].title()}-{swapped[2].upper()}"
    if rest or not _LANGUAGE.fullmatch(language.lower()):
        return "has not the form language, language-REGION, language-Script or language-Script-REGION"
    return None


def _language_fault(language: str, region: str | None) -> str | None:
    if len(language) == 2 and (is_language(language) or language in WITHDRAWN):
        return None
    if len(language) == 3 and is_language(language):
        short = _languages()[language]
        return f"has three letters; the language code of ISO 639-1 is {short}" if short else None
    if region is not None and is_country(language) and is_language(region):
        return f"has the country before the language: {region.lower()}-{language.upper()}"
    country = _countries().get(language.upper())
    if country is not None:
        return f"begins with a country ({country}), not a language of ISO 639-1"
    return f"begins with {language!r}, which is no language of ISO 639-1"


def _script_fault(script: str | None) -> str | None:
    if script is None or is_script(script):
        return None
    return f"has {script!r}, which is no script of ISO 15924"


def _region_fault(region: str | None) -> str | None:
    if region is None or is_country(region):
        return None
    if region in RESERVED:
        meant = RESERVED[region] and f"; the code of {_countries()[RESERVED[region]]} is {RESERVED[region]}"
        return f"has {region}, which is reserved and no country of ISO 3166-1{meant}"
    if region.isdecimal():
        return f"has {region}, a region by number; hreflang takes countries of ISO 3166-1"
    return f"has {region!r}, which is no country of ISO 3166-1"


def _doubt(language: str) -> str | None:
    if language in WITHDRAWN:
        return f"has a code that was withdrawn from ISO 639-1; the present one is {WITHDRAWN[language]}"
    if len(language) == 3:
        return "has a language of three letters; only the two-letter codes of ISO 639-1 are documented"
    return None


@cache
def _languages() -> Mapping[str, str]:
    """{code: the two-letter code of the same language, or an empty text}."""
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
    """{code: common name}."""
    names = {country.alpha_2: getattr(country, "common_name", country.name) for country in pycountry.countries}
    return {**names, KOSOVO: "Kosovo"}


@cache
def _scripts() -> frozenset[str]:
    return frozenset(script.alpha_4 for script in pycountry.scripts)
