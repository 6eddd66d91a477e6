"""Rules, messages and severities, the registration of rules, and the loading of custom ones."""

from __future__ import annotations

import inspect
import re
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from enum import StrEnum
from importlib import import_module
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any, Protocol

from sitemapcrawler.namespaces import Namespace, plugins
from sitemapcrawler.reader.faults import Fault


class Severity(StrEnum):
    """How bad a finding is for the site."""

    ERROR = "error"
    """A search engine rejects, ignores or misreads it."""
    WARNING = "warning"
    """It works, but does harm or is probably a mistake."""
    INFO = "info"
    """Worth knowing."""


class Needs(StrEnum):
    """What a rule is called with."""

    URL = "url"
    """Each entry, or those that the rule declares with `entries`: `facts.given.UrlFacts`."""
    EVERY_URL = URL
    """Another name of `URL`."""
    CHILD = "child"
    """Each entry of an index, or with `entries` the odd ones: `facts.given.ChildFacts`."""
    FILE = "file"
    """Each file after it has been read: `facts.given.FileFacts`."""
    WHOLE = "whole"
    """Each file that was read to its end: `facts.given.FileFacts`. The rule counts as skipped for all others."""
    FAULT = "fault"
    """Each fault the reader recorded under the rule's id: `reader.faults.Fault`."""
    VERDICT = "verdict"
    """Each entry that robots.txt disallows for a crawler: `facts.given.VerdictFacts`. Whether the rule reports must
    depend on the crawlers alone; only the message may depend on the entry."""
    ROBOTS = "robots"
    """Each robots.txt, at the end: `facts.given.RobotsFacts`."""
    REPLY = "reply"
    """Each entry whose URL was requested: `facts.given.ReplyFacts`."""
    ASSET = "asset"
    """Each image or video file that was requested, or that robots.txt disallows: `facts.given.AssetFacts`."""
    DRAWN = "drawn"
    """Each file with entries in a sample of fixed size, at the end: `facts.given.Drawn`."""
    SITE = "site"
    """The whole site, at the end: `facts.site.SiteFacts`. Its findings must hold even for an incomplete crawl."""
    WHOLE_SITE = "whole-site"
    """A site that was crawled completely: `facts.site.SiteFacts`. The rule counts as skipped for all others."""
    BASELINE = "baseline"
    """A site compared with a baseline, both crawled completely: `facts.site.SiteFacts`."""
    FAILURE = "failure"
    """Each exception that another rule raises: `facts.given.Failure`."""
    GIVEN_UP = "given-up"
    """Each site whose remaining sitemaps were skipped: `facts.given.SkippedSite`."""
    UNLISTED = "unlisted"
    """Each rule whose findings were not all listed, at the end: `facts.given.Unlisted`."""
    ALLOWANCE = "allowance"
    """Each expired entry of the allowlist: `choice.Allowance`."""


class Entries(StrEnum):
    """Entries that a rule with `Needs.URL` or `Needs.CHILD` is called with. A rule on odd fields is called with all
    entries of an index that have any."""

    EVERY = "every"
    """All of them."""
    ODD = "odd"
    """Those that the prefilter (`facts/suspects.py`) does not recognise as plain. For rules that never report what it
    calls plain: a usual URL inside the sitemap's folder that occurs once, with at most a usual lastmod, changefreq and
    priority. Nearly all entries of large files are plain, so such rules cost next to nothing."""
    ODD_LOC = "odd-loc"
    """Of these, those whose URL is not usual or occurs again. For rules that report nothing else; `ODD_LASTMOD` and the
    like in the same way."""
    ODD_PLACE = "odd-place"
    """Of these, those whose URL is not below the sitemap's folder, or not usual."""
    ODD_LASTMOD = "odd-lastmod"
    ODD_CHANGEFREQ = "odd-changefreq"
    ODD_PRIORITY = "odd-priority"


class Per(StrEnum):
    """What a rule reports one finding for."""

    ENTRY = "entry"
    """Each entry, for faults that are fixed entry by entry. Notes (info) of a rule with a higher severity of its own
    are reported per file all the same."""
    FILE = "file"
    """Each file: the first entry as an example, and the number of entries. For habits of the program that writes the
    file."""
    SITE = "site"
    """Each site, in the same way."""


ON_ENTRIES = frozenset((Needs.URL, Needs.CHILD, Needs.FAULT, Needs.VERDICT, Needs.REPLY, Needs.ASSET))
"""Needs of rules that are called for each entry."""
ON_FILES = frozenset((Needs.FILE, Needs.WHOLE, Needs.DRAWN))
"""Needs of rules that are called for each file."""
ON_THE_SITE = (Needs.SITE, Needs.WHOLE_SITE, Needs.BASELINE)
"""Needs that require the job's database."""


@dataclass(frozen=True, slots=True)
class Message:
    """One problem that a rule reports. Without a line, that of the entry is used."""

    text: str
    """One sentence with the offending value and the limit."""
    line: int | None = None
    column: int | None = None
    value: str | None = None
    severity: Severity | None = None
    """Overrides the rule's severity in this case."""
    url: str | None = None
    """The listed URL, for rules that judge more than one entry."""
    per: Per | None = field(default=None, kw_only=True)
    """Overrides what the rule reports one finding for in this case."""


@dataclass(frozen=True, slots=True)
class SiteMessage(Message):
    """A message of a site-wide rule, with its location."""

    sitemap: str | None = None
    """URL of the file; None for the site."""
    times: int = 1
    """Number of findings this message stands for; more than one if the rest is only counted."""


ESCAPING = "https://www.sitemaps.org/protocol.html#escaping"
"""Source of the rules on URLs that were escaped twice."""
PAGES = "https://github.com/sitemapcrawler/sitemapcrawler/blob/main/docs/rules/"
"""URL below which the documentation has a page for each family of built-in rules."""
FAMILIES = "sitemapcrawler.rules."
"""Beginning of the names of modules with built-in rules."""
Check = Callable[[Any], Iterator[Message]]  # Any: each of `Needs` names the type
"""Called with what the rule needs."""
_PART = re.compile(r"^(Why|Fix|Bad|Good): (.*?)(?=\n\n|^(?:Why|Fix|Bad|Good): |\Z)", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True, slots=True)
class Rule:
    """One rule of the catalogue."""

    id: str
    severity: Severity
    source: str
    """URL of the specification it implements, or a description of the evidence."""
    needs: tuple[Needs, ...]
    """Inputs that `check` runs on."""
    check: Check
    also: dict[str, str] = field(default_factory=dict)
    """Names of the same rule in other tools: {tool: name}."""
    entries: Entries | Namespace = Entries.EVERY
    """Entries that `check` needs to see with `Needs.URL` and `Needs.CHILD`; a namespace: those with objects of it."""
    per: Per = Per.ENTRY
    """What the rule reports one finding for."""
    many: str = ""
    """What several entries do, for the finding on a file or site: `have images on another host`."""
    by_value: bool = False
    """True for one finding for each value of a file or site, such as a dead image that many entries list. Notes (info)
    of a rule with a higher severity of its own are one per file all the same."""
    by_form: bool = False
    """True if it finds the same in all entries of a file with the same form (`Suspects.odd_entries`)."""
    unless: Callable[[Any], bool] | None = None  # Any: as in `Check`
    """Test that is true for entries in which `check` finds nothing, with `Needs.URL`. Rules that share a test share its
    result, so that all rules on images cost one test of a usual entry."""
    instead_of: str = ""
    """Rule that reports once per site, for one that reports whole sites: its finding on a site is left out if this rule
    reports the same site with the same severity or a worse one. The value of the messages is the site."""

    @property
    def scope(self) -> str:
        """What the rule reports one finding for, in words."""
        return f"per {self.per} and value" if self.by_value else f"per {self.per}"

    @property
    def family(self) -> str:
        """The part of the id before its first dash."""
        return self.id.partition("-")[0]

    @property
    def documentation(self) -> str:
        return inspect.cleandoc(self.check.__doc__ or "")

    @property
    def what(self) -> str:
        """What the rule finds: the first paragraph of its documentation, on one line."""
        return " ".join(self.documentation.partition("\n\n")[0].split())

    @property
    def title(self) -> str:
        """The problem in a few words: the first sentence of `what`, without its full stop."""
        return _SENTENCE_END.split(self.what, maxsplit=1)[0].removesuffix(".")

    @property
    def address(self) -> str:
        """URL of the documentation of a built-in rule; empty for any other."""
        return f"{PAGES}{self.family}.md#{self.id}" if self.is_built_in else ""

    @property
    def is_built_in(self) -> bool:
        """False for a rule of a plug-in or a user."""
        return self.check.__module__.startswith(FAMILIES)

    @property
    def why(self) -> str:
        """Why the problem matters, on one line."""
        return self._part("Why")

    @property
    def fix(self) -> str:
        """What to do about it, in the imperative, on one line; empty if the rule does not say."""
        return self._part("Fix")

    @property
    def bad(self) -> str:
        """A bad example, on one line; empty if there is none."""
        return self._part("Bad")

    @property
    def good(self) -> str:
        """A good example, on one line; empty if there is none."""
        return self._part("Good")

    def _part(self, name: str) -> str:
        return next((" ".join(text.split()) for part, text in _PART.findall(self.documentation) if part == name), "")


_SENTENCE_END = re.compile(r"(?<=\.)\s+(?=[A-Z])")


RULES: dict[str, Rule] = {}
"""All rules by id, in the order of the catalogue."""


def rule(
    id: str,
    severity: Severity,
    source: str,
    needs: Needs | tuple[Needs, ...] = Needs.URL,
    also: dict[str, str] | None = None,
    entries: Entries | Namespace = Entries.EVERY,
    per: Per | str | None = None,
    many: str = "",
    by_value: bool = False,
    by_form: bool = False,
    instead_of: str = "",
    unless: Callable[[Any], bool] | None = None,  # Any: as in `Check`
) -> Callable[[Check], Check]:
    """Register a check as the rule `id`. Raises ValueError if the id is taken, or `per` is unknown.

    `entries`: entries that a rule with `Needs.URL` or `Needs.CHILD` is called with; a namespace: those with objects of
    it.
    `per`: what it reports one finding for. Default: what it is called for, see `Per`. With `file` or `site` the results
    for the entries become one finding: `128 of 500 entries <many>, for example ...`; with `by_value` one for each value
    of the messages. `instead_of`, `unless`: see `Rule`.
    `by_form`: whether it reports an entry, whose URL is usual, depends on nothing but the text of its other fields, of
    a date between 2005 and the fetch not even on its digits. Entries beyond those that become records are then counted
    without a call.
    """

    def register(check: Check) -> Check:
        if id in RULES:
            raise ValueError(f"two rules are named {id}")
        given = (needs,) if isinstance(needs, Needs) else needs
        told = _default_per(given) if per is None else Per(per)
        RULES[id] = Rule(
            id, severity, source, given, check, also or {}, entries, told, many, by_value, by_form, unless, instead_of
        )
        return check

    return register


def _default_per(needs: tuple[Needs, ...]) -> Per:
    if not ON_ENTRIES.isdisjoint(needs):
        return Per.ENTRY
    return Per.SITE if ON_FILES.isdisjoint(needs) else Per.FILE


def families(rules: Iterable[Rule]) -> list[str]:
    """Return the families of rules, each once, in order."""
    return list(dict.fromkeys(rule.family for rule in rules))


def entry_rule(
    id: str,
    severity: Severity,
    source: str,
    also: dict[str, str] | None = None,
    faults: bool = False,
    per: Per | str | None = None,
    many: str = "",
    by_value: bool = False,
    entries: Entries | None = None,
) -> Callable[[Check], Check]:
    """Register a check as the rule `id`, which begins with the field that it is on, for pages and children with an odd
    field of that name, or for `entries`, and with `faults` for the reader's faults of that id. `per`, `many`,
    `by_value`: see `rule`."""

    needs = (Needs.URL, Needs.CHILD, Needs.FAULT) if faults else (Needs.URL, Needs.CHILD)
    entries = entries or Entries(f"odd-{id.partition('-')[0]}")
    return rule(id, severity, source, needs, also, entries, per, many, by_value, by_form=entries is Entries.ODD_LASTMOD)


SEVERITIES = tuple(str(severity) for severity in Severity)
"""Severities, the worst first."""


def title_of(id: str) -> str:
    """The problem that a rule reports, as plain text; its id if it is not installed."""
    return RULES[id].title.replace("`", "") if id in RULES else id


def fault_message(fault: Fault, severity: Severity | None = None) -> Iterator[Message]:
    """Yield the message of a reader fault unchanged."""
    yield Message(fault.message, fault.line, fault.column, fault.value, severity, fault.url)


FILE_SUFFIX = ".py"
"""Suffix that distinguishes a path from a module name."""


class RuleSettings(Protocol):
    """Scrapy settings, as far as the loading of rules depends on them."""

    def getlist(self, name: str) -> list[Any]: ...  # Any: users write them, and they are unchecked


def load_rules(settings: RuleSettings) -> None:
    """Import installed plug-ins and the modules in `SITEMAP_RULES`, each once per process, so that their namespaces and
    rules are registered.

    Raises ValueError, one line, if a module is missing, cannot be imported or reuses a rule id. None of its rules are
    registered in that case.
    """
    load_plugins()
    for name in settings.getlist("SITEMAP_RULES"):
        before = set(RULES)
        try:
            _load(name)
        except Exception as error:
            _take_back(RULES.keys() - before)
            why = " ".join(f"{type(error).__name__}: {error}".split())
            raise ValueError(f"setting SITEMAP_RULES={name!r}: {why}") from None


def load_plugins() -> None:
    """Import installed plug-ins, once per process. Raises ValueError, one line, if one cannot be imported."""
    for group in plugins.MODULES:
        plugins.load(group)


def sources(settings: RuleSettings) -> list[bytes]:
    """Source text of the modules in `SITEMAP_RULES` that are files. It is part of what decides the findings."""
    found = []
    for name in settings.getlist("SITEMAP_RULES"):
        path = getattr(sys.modules.get(_key(name)), "__file__", None)
        with suppress(OSError):
            found.append(Path(path).read_bytes() if path else b"")
    return found


def _load(name: str) -> None:
    if not name.endswith(FILE_SUFFIX):
        import_module(name)
    elif _key(name) not in sys.modules:
        _execute(Path(_key(name)))


def _take_back(ids: Iterable[str]) -> None:
    """Unregister rules, except those of modules that stay imported: nothing would register them again."""
    for id in ids:
        if getattr(RULES[id].check, "__module__", None) not in sys.modules:
            del RULES[id]


def _key(name: str) -> str:
    """Key of a module in `sys.modules`: its name, or the absolute path of a file."""
    return str(Path(name).resolve()) if name.endswith(FILE_SUFFIX) else name


def _execute(path: Path) -> None:
    spec = spec_from_file_location(str(path), path)
    assert spec is not None and spec.loader is not None
    module = module_from_spec(spec)
    sys.modules[str(path)] = module  # dataclasses look up their module there
    try:
        spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[str(path)]
        raise
