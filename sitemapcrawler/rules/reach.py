"""What each rule concerns, in words and in the order of every output: distinct listed URLs, entries and files.

A record names the rules that found something in it: `issues`. A crawl counts them in its database when its records are
final (`jobs.counting`). Without a database, entries and files of each severity are known (`unknown`).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

from sitemapcrawler.items import Reach
from sitemapcrawler.rules.registry import RULES, SEVERITIES, Per, Severity

Reaches = tuple[dict[str, Reach], dict[str, Reach]]
"""What each rule concerns, by id, and each severity."""
NOUNS: Mapping[str, str] = {Severity.ERROR: "errors", Severity.WARNING: "warnings", Severity.INFO: "notes"}
"""What findings of a severity are called."""
OF_VERSIONS = {
    "status-redirect": "hreflang-target-redirect",
    "status-redirect-chain": "hreflang-target-redirect",
    "status-redirect-to-home": "hreflang-target-redirect",
    "status-redirect-to-login": "hreflang-target-redirect",
    "page-meta-refresh": "hreflang-target-redirect",
    "page-canonical-other": "hreflang-target-noncanonical",
    "page-noindex-meta": "hreflang-target-noindex",
    "page-noindex-header": "hreflang-target-noindex",
    "page-noindex-for-googlebot-only": "hreflang-target-noindex",
    "status-404": "hreflang-target-status",
    "status-410": "hreflang-target-status",
    "status-soft-404": "hreflang-target-status",
    "status-redirect-loop": "hreflang-target-status",
}
"""Rule on a listed page -> rule on the entries that name it as a language version, which one repair solves too."""


def places(by_severity: Mapping[str, Reach]) -> dict[str, str]:
    """What was found where, by severity: `errors on 11,755 URLs in 3 files`."""
    return {severity: f"{NOUNS.get(severity, severity)} {reach.place}" for severity, reach in by_severity.items()}


def own_severity(id: str) -> str:
    """Severity of a rule without finding records: its own; that of a rule that is not installed is unknown."""
    return str(RULES[id].severity) if id in RULES else Severity.WARNING


def completed(by_rule: Mapping[str, Reach], by_severity: Mapping[str, Reach], rules: Iterable[str]) -> Reaches:
    """What rules and severities concern, in the order of every output: errors first, and of these those of whole files,
    which may list many URLs; then what concerns most URLs, or most files if it is about files, and a rule on pages
    before the one on links to them. `rules`: all that found something; without a record they concern the site."""
    found = {rule: Reach(own_severity(rule)) for rule in rules} | dict(by_rule)
    severities = {one.severity: Reach(one.severity) for one in found.values()} | dict(by_severity)

    def key(item: tuple[str, Reach]) -> tuple[int, bool, int, bool, int, bool, int, str]:
        name, reach = item
        own, effect = reach.urls or reach.files, found.get(OF_VERSIONS.get(name, ""))
        most = max(own, effect.urls) if effect is not None else own
        place = SEVERITIES.index(reach.severity), not _is_of_files(name, reach), -most, name in OF_VERSIONS.values()
        return *place, -own, reach.urls > 0, -reach.files, name

    return dict(sorted(found.items(), key=key)), dict(sorted(severities.items(), key=key))


def _is_of_files(id: str, reach: Reach) -> bool:
    """True for a rule that found whole files, or all of a site, in error."""
    per = RULES[id].per if id in RULES else Per.ENTRY
    return reach.severity == Severity.ERROR and not reach.urls and per is not Per.ENTRY


def unknown(rules: Iterable[str], severities: Mapping[str, Reach]) -> Reaches:
    """For what found something in a crawl whose records are not counted. `severities`: entries and files that the
    findings concern, by severity; for rules, these are not known."""
    worst = min(severities, key=SEVERITIES.index, default="")
    own = {rule: own_severity(rule) for rule in rules}
    by_rule = {rule: Reach(one if one in severities else worst, at_least=True) for rule, one in own.items()}
    known = {one: replace(reach, at_least=bool(reach.entries or reach.files)) for one, reach in severities.items()}
    found, by_severity = completed(by_rule, known, ())
    return found, {severity: reach for severity, reach in by_severity.items() if severity in severities}
