"""The registry is whole: what the reader notes has a rule, and so has each line of the catalogue of rules.

The catalogue is no part of the repository: it is looked for next to it, in `../shared`.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import get_args

import pytest

import sitemapcrawler
from sitemapcrawler.reader.sniff import Format
from sitemapcrawler.rules import all_rules

CATALOGUE = Path(__file__).resolve().parents[4] / "shared" / "RULES.md"
PACKAGE = Path(sitemapcrawler.__file__).parent
FAMILIES = ("doc", "xml", "txt", "feed", "loc", "lastmod", "changefreq", "priority", "limit", "index", "image", "video",
            "news", "hreflang", "cross")  # fmt: skip
NOTED = re.compile(rf'"((?:{"|".join(FAMILIES)})-[a-z0-9-]+)"')
"""An id in the source of the modules that note faults."""
EXPLAINED = {
    "limit-bytes": "doc-partly-read",
    "limit-entries": "doc-partly-read",
    "limit-stopped": "doc-partly-read, and limit-max-urls",
    "limit-element": "doc-partly-read",
    "limit-depth": "doc-partly-read",
    "txt-cut-line": "doc-truncated, which is noted with it",
}
"""Faults without a rule of their own, and the rule that tells them."""
LETTERS = {"E": "error", "W": "warning", "I": "info"}
ROW = re.compile(r"\| (?P<ids>[^|]+?) \| (?P<severities>[EWI](?:/[EWI])?) \|")
LISTED = re.compile(r"(?P<ids>[a-z]+-[a-z0-9-]+(?:/[a-z-]+)*) (?P<severities>[EWI](?:/[EWI])?)\b")
RENAMED = {
    "image-relative": "image-loc-relative",
    "video-multiple": "video-uploader-multiple",
    "hreflang-underscore": "hreflang-code-underscore",
    "video-status": "video-asset-status",
    "hreflang-redirect": "hreflang-target-redirect",
    "hreflang-noindex": "hreflang-target-noindex",
    "hreflang-noncanonical": "hreflang-target-noncanonical",
    "hreflang-namespace": "xml-ext-namespace-missing",
    "txt-not-utf8": "doc-encoding-not-utf8",
    "cross-protocol": "cross-mixed-protocol",
}
"""Ids that the catalogue's own decisions replace."""
DECIDED = {"doc-near-size-limit": "info", "limit-urls-near": "info"}
"""Severities that they change."""
LATER = {
    "doc-changed-during-crawl": "no file is asked for twice",
    "xml-schema-location-unreachable": "a schema is never fetched",
    "video-thumbnail-size": "no image is read, only asked for",
}
"""Rules of the catalogue that cannot be judged from what a crawl sees, and why."""

LINKS = "needs the links of all pages, which are not followed"
WITHOUT_SEVERITY = {"cross-not-in-sitemap": LINKS, "cross-orphan-url": LINKS}
"""The same of those to which the catalogue gives no severity."""


def noted() -> set[str]:
    """Ids under which reading a document notes faults."""
    paths = [path for part in ("reader", "namespaces", "schemas") for path in (PACKAGE / part).glob("*.py")]
    return {id for path in paths for id in NOTED.findall(path.read_text("utf-8"))} - set(get_args(Format))


def catalogue() -> dict[str, set[str]]:
    """{id: severities it may have} of the families."""
    text = CATALOGUE.read_text("utf-8")
    tables = text[text.index("### document") : text.index("### robots")]
    tables += text[text.index("### cross-file") : text.index("### Names other tools use")]
    found = {}
    for line in tables.splitlines():
        for entry in (ROW if line.startswith("|") else LISTED).finditer(line):
            severities = {LETTERS[letter] for letter in entry["severities"].split("/")}
            found.update(dict.fromkeys(ids_of(entry["ids"]), severities))
    return found


def ids_of(text: str) -> list[str]:
    """The ids of one line, of which the later ones may leave out the family."""
    family, ids = text.partition("-")[0], []
    for part in re.findall(r"[a-z0-9-]+", re.sub(r"\(.*?\)", "", text)):
        whole = part.strip("-") if part.partition("-")[0] in FAMILIES else f"{family}-{part.strip('-')}"
        ids += [whole] if family in FAMILIES else []
    return ids


def test_each_fault_that_is_noted_has_a_rule() -> None:
    ids = noted()
    assert ids >= {"doc-truncated", "loc-empty", "xml-element-order", "limit-bytes", "feed-item-without-link"}
    assert ids - {rule.id for rule in all_rules()} == set(EXPLAINED)


@pytest.mark.skipif(not CATALOGUE.is_file(), reason="the catalogue, ../shared/RULES.md, is not here")
class TestCatalogue:
    def test_it_is_understood(self) -> None:
        ids = catalogue()
        assert len(ids) > 180
        assert ids["loc-protocol-relative"] == ids["video-title-missing"] == {"error"}
        assert ids["doc-content-type"] == {"info", "warning"}

    def test_each_line_has_a_rule_or_a_reason(self) -> None:
        rules = {rule.id for rule in all_rules()}
        assert set(RENAMED.values()) <= rules
        assert catalogue().keys() - rules == RENAMED.keys() | LATER.keys()
        assert all(id in CATALOGUE.read_text("utf-8") and id not in rules for id in WITHOUT_SEVERITY)

    def test_severities_are_those_of_the_catalogue(self) -> None:
        listed = catalogue() | {id: {severity} for id, severity in DECIDED.items()}
        known = [rule for rule in all_rules() if rule.id in listed]
        assert {rule.id: rule.severity for rule in known if rule.severity not in listed[rule.id]} == {}
