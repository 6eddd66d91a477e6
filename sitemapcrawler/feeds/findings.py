"""Findings on their way into a feed for other programs: which an item brings, their text made inert, their place."""

from __future__ import annotations

import hashlib
import re
import string
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from urllib.parse import quote

from sitemapcrawler.items import FindingRecord, UrlBatch, records

MAX_URL = 2048
"""Characters of a listed URL. Source: https://www.sitemaps.org/protocol.html#locdef"""
OPEN_FILES = 1000
"""Files whose findings are counted at a time: more than are ever read at once, less than would weigh."""

_IN_URI = string.punctuation.translate(str.maketrans("", "", '"#<>\\^`{|}[]'))
"""Punctuation that a URI without fragment holds as it is (RFC 3986, 2), `%` of its escapes too."""
_STRAY_PERCENT = re.compile("%(?![0-9A-Fa-f]{2})")
_LITERAL_HOST = re.compile(r"\w+://(?:[^/?#@]*@)?\[[0-9A-Fa-f:.]+\]")


def findings_of(item: Any) -> list[FindingRecord]:
    """The findings that an item brings, in order; an entry or file without any costs next to nothing."""
    if isinstance(item, UrlBatch) and not item.judged:
        return []
    return [record for record in records(item) if isinstance(record, FindingRecord)]


class Places:
    """Where code hosts look for a sitemap: by its path in the folder that the crawl was started in.

    `roots`: {beginning of URLs: path that stands for it}, the longest first; `{"https://example.com/": "public/"}`
    says where the files of a site come from, `{"https://": ""}` makes paths of all its URLs.
    """

    def __init__(self, roots: Mapping[str, str] | None = None, folder: Path | None = None) -> None:
        here = (folder or Path.cwd()).as_uri().rstrip("/") + "/"
        self._roots = sorted({here: "", **(roots or {})}.items(), key=lambda root: -len(root[0]))

    def of(self, url: str) -> tuple[str, bool]:
        """URI reference of a sitemap, and whether it is relative to the folder."""
        url = url.partition("#")[0]
        path = self._path(url).lstrip("/")[:MAX_URL]
        if path:
            return _reference(path, ":"), True
        return _reference(url[:MAX_URL]), False

    def _path(self, url: str) -> str:
        for beginning, path in self._roots:
            if url.startswith(beginning):
                return path + url[len(beginning) :]
        return ""


class Fingerprints:
    """What a finding is known by from crawl to crawl: its rule, file, and listed URL or value, never its line.

    Digits of a value are left out, since sizes and counts change by themselves. Findings that are alike are numbered
    in the order of the file.
    """

    def __init__(self) -> None:
        self._files: dict[str, Counter[bytes]] = {}

    def fingerprint(self, finding: FindingRecord, uri: str) -> str:
        """`hash:number`, as GitHub has it."""
        about = finding.url or re.sub(r"\d", "", finding.value or "")
        identity = "\0".join((finding.rule, uri, about)).encode("utf-8", "surrogatepass")
        digest = hashlib.sha256(identity).digest()[:8]
        counts = self._counts(finding.sitemap or "")
        counts[digest] += 1
        return f"{digest.hex()}:{counts[digest]}"

    def close(self, sitemap: str) -> None:
        """Forget a file that has been read."""
        self._files.pop(sitemap, None)

    def _counts(self, sitemap: str) -> Counter[bytes]:
        if sitemap not in self._files and len(self._files) >= OPEN_FILES:
            self.close(next(iter(self._files)))
        return self._files.setdefault(sitemap, Counter())


def check_options(options: Mapping[str, Any]) -> None:
    """ValueError for `item_export_kwargs` that a feed of findings does not take."""
    if unknown := sorted(options.keys() - {"roots"}):
        raise ValueError(f"{unknown[0]} is not known; accepted: roots")
    roots = options.get("roots") or {}
    if not isinstance(roots, Mapping) or not all(isinstance(part, str) for root in roots.items() for part in root):
        raise ValueError(f"roots {roots!r} is not an object of texts, such as {{'https://example.com/': 'public/'}}")


def _reference(text: str, escaped: str = "") -> str:
    """A text as a URI reference: what cannot stand in one is escaped, and so are the characters of `escaped`."""
    address = _LITERAL_HOST.match(text)
    start = address[0] if address else ""
    kept = "".join(set(_IN_URI).difference(escaped))
    return start + _STRAY_PERCENT.sub("%25", quote(text[len(start) :], safe=kept, errors="surrogatepass"))
