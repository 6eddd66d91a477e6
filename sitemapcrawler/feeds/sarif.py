"""The SARIF feed: findings with file, line and rule, as code hosts and editors show them.

Written as a stream: the rules first, then result by result, at the end what is known of the crawl only then.
Source: https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/sarif-v2.1.0-errata01-os-complete.html
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import IO, Any

import msgspec
from scrapy.exporters import BaseItemExporter

from sitemapcrawler import __version__
from sitemapcrawler.feeds.findings import MAX_URL, Fingerprints, Places, findings_of
from sitemapcrawler.feeds.outlet import Outlet
from sitemapcrawler.items import FindingRecord, SitemapRecord, SummaryRecord
from sitemapcrawler.reader.dates import iso
from sitemapcrawler.rules import Rule, all_rules
from sitemapcrawler.rules.catalogue import markdown
from sitemapcrawler.urls.display import inert

SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
LEVELS = {"error": "error", "warning": "warning", "info": "note"}
"""SARIF's level by severity (3.27.10)."""
PROBLEMS = {"error": "error", "warning": "warning", "info": "recommendation"}
"""GitHub's name for it, by which it orders. Source: https://docs.github.com/en/code-security/reference/code-scanning"""
MAX_DESCRIPTION = 1024
"""Characters of a rule's description. Source: as of PROBLEMS."""
SRCROOT = "%SRCROOT%"
"""What relative places are relative to, by convention (3.14.14)."""
COUNTS = ("domains", "sitemaps", "urls", "rules", "severities", "skipped")
"""Fields of the summary that the run repeats as its properties."""

_SEMANTIC = re.compile(r"\d+\.\d+\.\d+(?:[-+][\w.+-]+)?")


class SarifExporter(BaseItemExporter):
    """`sarif`: a SARIF 2.1.0 log of one run, a result a line; other records are not written.

    Keyword argument (`item_export_kwargs`) is `roots`, see `findings.Places`. `fields`, `encoding` (SARIF is UTF-8),
    `indent` and `export_empty_fields` change nothing. A finding without a file is a notification of the run: a
    result without a place makes GitHub refuse all of them.
    """

    def __init__(self, file: IO[bytes], roots: Mapping[str, str] | None = None, **kwargs: Any) -> None:
        super().__init__(dont_fail=True, **kwargs)
        self.outlet = Outlet(file, "utf-8", "strict")
        self._places = Places(roots)
        self._seen = Fingerprints()
        self._notifications: list[dict[str, Any]] = []
        self._summary: SummaryRecord | None = None
        self._separator = b"\n"

    def start_exporting(self) -> None:
        """Write the rules. ValueError where text stands in the file already."""
        if self.outlet.appending:
            raise ValueError("sarif cannot be appended to; use overwrite")
        rules: dict[str, Rule] = {}
        for rule in all_rules():  # one that needs different facts in different places is there for each
            rules.setdefault(rule.id, rule)
        self._index = {id: index for index, id in enumerate(rules)}
        driver = {"name": "sitemapcrawler", "version": __version__, "rules": list(map(descriptor, rules.values()))}
        if _SEMANTIC.fullmatch(__version__):
            driver["semanticVersion"] = __version__
        run = {
            "tool": {"driver": driver},
            "columnKind": "unicodeCodePoints",
            "originalUriBaseIds": {SRCROOT: {"description": {"text": "The folder the crawl was started in."}}},
        }
        head = msgspec.json.encode({"$schema": SCHEMA, "version": "2.1.0", "runs": [run]})
        self.outlet.write_utf8(head.removesuffix(b"}]}") + b',"results":[')

    def export_item(self, item: Any) -> None:
        """Write the findings of the item."""
        results = [result for finding in findings_of(item) if (result := self._result(finding))]
        if results:
            text = b",\n".join(map(msgspec.json.encode, results))
            self.outlet.write_utf8(self._separator + text)
            self._separator = b",\n"
        if isinstance(item, SitemapRecord):
            self._seen.close(item.sitemap)
        elif isinstance(item, SummaryRecord):
            self._summary = item

    def finish_exporting(self) -> None:
        """Write what was learned of the crawl, and the end of the log."""
        tail: dict[str, Any] = {"invocations": [self._invocation()]}
        if self._summary:
            tail["properties"] = {name: _plain(getattr(self._summary, name)) for name in COUNTS}
        self.outlet.write_utf8(b"\n]," + msgspec.json.encode(tail).removeprefix(b"{") + b"]}\n")
        self.outlet.finish()

    def _result(self, finding: FindingRecord) -> dict[str, Any] | None:
        if not finding.sitemap:
            self._notifications.append(self._notification(finding))
            return None
        uri, relative = self._places.of(finding.sitemap)
        result: dict[str, Any] = {"ruleId": inert(finding.rule)}
        if finding.rule in self._index:
            result["ruleIndex"] = self._index[finding.rule]
        result |= {
            "level": LEVELS.get(finding.severity, "warning"),
            "message": _message(finding),
            "locations": [_location(finding, {"uri": uri, **({"uriBaseId": SRCROOT} if relative else {})})],
            "partialFingerprints": {"primaryLocationLineHash": self._seen.fingerprint(finding, uri)},
        }
        if finding.value is not None:
            result["properties"] = {"value": inert(finding.value)}
        return result

    def _notification(self, finding: FindingRecord) -> dict[str, Any]:
        rule: dict[str, Any] = {"id": inert(finding.rule)}
        if finding.rule in self._index:
            rule["index"] = self._index[finding.rule]
        level = LEVELS.get(finding.severity, "warning")
        return {"level": level, "message": _message(finding), "associatedRule": rule}

    def _invocation(self) -> dict[str, Any]:
        partial = self._summary.partial if self._summary else None
        invocation: dict[str, Any] = {"executionSuccessful": partial is None, **_times(self._summary)}
        if partial is not None:
            text = f"The crawl ended early: {inert(partial)}"
            invocation["toolExecutionNotifications"] = [{"level": "warning", "message": {"text": text}}]
        if self._notifications:
            invocation["toolConfigurationNotifications"] = self._notifications
        return invocation


def descriptor(rule: Rule) -> dict[str, Any]:
    """A rule as SARIF's `reportingDescriptor` (3.49)."""
    text, short, reason = rule.documentation, rule.what, rule.why
    full = f"{short} {reason[:1].upper()}{reason[1:]}".strip()
    is_url = rule.source.startswith(("http://", "https://"))
    source = f"Source: <{rule.source}>" if is_url else f"Source: {rule.source}"
    return {
        "id": rule.id,
        "name": "".join(word.capitalize() for word in rule.id.split("-")),
        "shortDescription": {"text": inert(short, MAX_DESCRIPTION)},
        "fullDescription": {"text": inert(full, MAX_DESCRIPTION)},
        "help": {"text": f"{text}\n\nSource: {rule.source}", "markdown": f"{markdown(rule)}\n\n{source}"},
        **({"helpUri": rule.source} if is_url else {}),
        "defaultConfiguration": {"level": LEVELS[rule.severity]},
        "properties": {"tags": [rule.family], "problem.severity": PROBLEMS[rule.severity]},
    }


def _message(finding: FindingRecord) -> dict[str, str]:
    # A backslash keeps viewers from making a link of what a stranger wrote (3.11.6).
    return {"text": inert(finding.message or finding.rule).replace("](", "]\\(")}


def _location(finding: FindingRecord, artifact: dict[str, str]) -> dict[str, Any]:
    physical: dict[str, Any] = {"artifactLocation": artifact}
    if finding.line is not None and finding.line > 0:
        physical["region"] = {"startLine": finding.line}
        if finding.column is not None and finding.column > 0:
            physical["region"]["startColumn"] = finding.column
    if not finding.url:
        return {"physicalLocation": physical}
    listed = {"fullyQualifiedName": inert(finding.url, MAX_URL), "kind": "resource"}
    return {"physicalLocation": physical, "logicalLocations": [listed]}


def _times(summary: SummaryRecord | None) -> dict[str, str]:
    if summary is None or not summary.started:
        return {}
    ended = datetime.fromisoformat(summary.started) + timedelta(seconds=summary.elapsed_s)
    return {"startTimeUtc": summary.started, "endTimeUtc": iso(ended)}


def _plain(value: Any) -> Any:
    return [inert(text) for text in value] if isinstance(value, list) else value
