"""Rules, messages and severities, the registration of rules, and the loading of custom ones."""

from __future__ import annotations

import inspect
import re
import sys
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cache
from importlib import import_module
from importlib.util import module_from_spec, spec_from_file_location
from itertools import chain
from pathlib import Path
from typing import Any, Protocol

from sitemapcrawler.namespaces import Namespace, plugins
from sitemapcrawler.namespaces.declared import NAMESPACES
from sitemapcrawler.reader.faults import Fault
from sitemapcrawler.urls.expressions import Expression


class Severity(StrEnum):
    """How bad a finding is for the site."""

    ERROR = "error"
    """A search engine rejects, ignores or misreads it."""
    WARNING = "warning"
    """It works, but does harm or is probably a mistake."""
    INFO = "info"
    """Worth knowing."""


ERROR, WARNING, INFO = Severity


class Of(StrEnum):
    """What a rule judges, hence what it is called with."""

    ENTRY = "entry"
    """Each entry of a urlset, feed or text file: `facts.given.UrlFacts`. Large files take much longer with such a rule;
    one on a field or on objects hardly costs anything."""
    LOC = "loc"
    """Of these, the entries whose URL is not usual, or occurs again in the file."""
    PLACE = "place"
    """Of these, the entries whose URL is not below the sitemap's folder, or not usual."""
    LASTMOD = "lastmod"
    """Of these, the entries whose lastmod is not usual. What a rule on this or one of the next two alone finds must
    depend on the text of that field alone, and for a date between 2005 and the fetch not even on its digits: what it
    finds in one entry counts for all others of the file with the same text."""
    CHANGEFREQ = "changefreq"
    PRIORITY = "priority"
    CHILD = "child"
    """Each entry of an index; with fields, as in `(Of.LOC, Of.CHILD)`, those of which one of these is not usual:
    `facts.given.ChildFacts`."""
    FILE = "file"
    """Each file after it has been read: `facts.given.FileFacts`."""
    WHOLE = "whole"
    """Each file that was read to its end: `facts.given.FileFacts`. The rule counts as skipped for all others."""
    FAULT = "fault"
    """Each fault the reader recorded under the rule's id: `reader.faults.Fault`."""
    VERDICT = "verdict"
    """Each entry that robots.txt disallows for a crawler: `facts.given.VerdictFacts`. Whether the rule reports must
    depend on the crawlers, the host and the file alone; only the message may depend on the entry."""
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
    REVISIT = "revisit"
    """What this crawl and its baseline have both read, pages and robots.txt: `facts.site.SiteFacts`."""
    FAILURE = "failure"
    """Each exception that another rule raises: `facts.given.Failure`."""
    GIVEN_UP = "given-up"
    """Each site whose remaining sitemaps were skipped: `facts.given.SkippedSite`."""
    UNLISTED = "unlisted"
    """Each rule whose findings were not all listed, at the end: `facts.given.Unlisted`."""
    ALLOWANCE = "allowance"
    """Each expired entry of the allowlist: `choice.Allowance`."""


@dataclass(frozen=True, slots=True)
class Objects:
    """Entries with objects of a namespace that are not all usual: `facts.given.UrlFacts`. The rules of a namespace
    share the test, so that all rules on images cost one test of a usual entry."""

    namespace: Namespace = field(hash=False)  # whose many fields take time
    usual: Callable[[Any], bool] | None = None  # Any: `UrlFacts`, which imports this module
    """True for an entry in which none of the rules with this test finds anything."""


@dataclass(frozen=True, slots=True)
class UrlWith:
    """Entries of `Of.LOC`, and those whose URL contains an expression, although it is usual otherwise."""

    expression: str
    """Regular expression in RE2 syntax; `$` is the end of the URL."""


Subject = Of | Objects | UrlWith
"""What a rule may judge."""
FIELDS = (Of.LOC, Of.LASTMOD, Of.CHANGEFREQ, Of.PRIORITY, Of.PLACE)
"""What rules on one field of an entry judge."""
VALUES = frozenset((Of.LASTMOD, Of.CHANGEFREQ, Of.PRIORITY))
"""Fields with values that many entries share."""
LOCS, PLACES, LASTMODS = ((field, Of.CHILD) for field in (Of.LOC, Of.PLACE, Of.LASTMOD))
"""The same in indexes too."""
ON_ENTRIES = frozenset((Of.ENTRY, *FIELDS, Of.CHILD, Of.FAULT, Of.VERDICT, Of.REPLY, Of.ASSET))
"""What is judged entry by entry, besides objects."""
ON_FILES = frozenset((Of.FILE, Of.WHOLE, Of.DRAWN))
"""What is judged file by file."""
ON_THE_SITE = (Of.SITE, Of.WHOLE_SITE, Of.BASELINE, Of.REVISIT)
"""What requires the job's database."""


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

    def __call__(self, many: str = "", by_value: bool = False, instead_of: str = "") -> Once:
        """Say how it is reported: `Per.FILE("have images on another host")`. See `Once`."""
        return Once(self, many, by_value, instead_of)


@dataclass(frozen=True, slots=True)
class Once:
    """How a rule reports one finding for many entries."""

    per: Per
    many: str = ""
    """What several entries do: `have images on another host`."""
    by_value: bool = False
    """True for one finding for each value of a file or site, such as a dead image that many entries list. Notes (info)
    of a rule with a higher severity of its own are one per file all the same."""
    instead_of: str = ""
    """Rule that reports once per site, for one that reports whole sites: its finding on a site is left out if this rule
    reports the same site with the same severity or a worse one. The value of the messages is the site."""


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
Check = Callable[[Any], Iterator[Message]]  # Any: each of `Of` names the type
"""Called with what the rule judges."""
_PART = re.compile(r"^(Why|Fix|Bad|Good): (.*?)(?=\n\n|^(?:Why|Fix|Bad|Good): |\Z)", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True, slots=True)
class Rule:
    """One rule of the catalogue."""

    id: str
    severity: Severity
    source: str
    """URL of the specification it implements, or a description of the evidence."""
    of: tuple[Subject, ...]
    """What it judges."""
    check: Check
    also: dict[str, str] = field(default_factory=dict)
    """Names of the same rule in other tools: {tool: name}."""
    per: Per = Per.ENTRY
    """What it reports one finding for."""
    many: str = ""
    by_value: bool = False
    instead_of: str = ""
    """See `Once`."""
    text: str = ""
    """Its documentation; default: the docstring of `check`."""

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
        return _cleaned(self.text or self.check.__doc__ or "")

    @property
    def what(self) -> str:
        """What the rule finds: the first paragraph of its documentation, on one line."""
        return " ".join(self.documentation.partition("\n\n")[0].split())

    @property
    def title(self) -> str:
        """The problem in a few words: the first sentence of `what`, without its full stop."""
        return _SENTENCE_END.split(self.what, maxsplit=1)[0].removesuffix(".")

    @property
    def judges_entries(self) -> bool:
        """True for a rule on the pages that a file lists, before they are requested."""
        return bool(self._parts_of_entries)

    @property
    def judges_one_value(self) -> bool:
        """True for a rule that judges nothing of an entry but one field with values that many entries share."""
        return len(self._parts_of_entries) == 1 and VALUES.issuperset(self._parts_of_entries)

    @property
    def _parts_of_entries(self) -> list[Subject]:
        return [one for one in self.of if not isinstance(one, Of) or one in (Of.ENTRY, *FIELDS)]

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
        return _parts(self.documentation).get(name, "")


_cleaned = cache(inspect.cleandoc)


@cache
def _parts(documentation: str) -> dict[str, str]:
    """Parts of a rule's documentation by name, each on one line. Cached, since each row of a finding shows some."""
    return {part: " ".join(text.split()) for part, text in reversed(_PART.findall(documentation))}


_SENTENCE_END = re.compile(r"(?<=\.)\s+(?=[A-Z])")


RULES: dict[str, Rule] = {}
"""All rules by id, in the order of the catalogue."""


def rule(
    id: str,
    severity: Severity,
    source: str,
    of: Subject | Namespace | tuple[Subject | Namespace, ...] = Of.ENTRY,
    per: Per | str | Once | None = None,
    also: dict[str, str] | None = None,
    text: str = "",
) -> Callable[[Check], Check]:
    """Register a check as the rule `id`.

    `of`: what it judges; a namespace: entries with objects of it. `per`: what it reports one finding for. Default: what
    it is called for, see `Per`. With `file` or `site` the results for the entries become one finding: `128 of 500
    entries <many>, for example ...`. `also`, `text`: see `Rule`.
    Raises ValueError if the id is taken, `of` or `per` is unknown, or the rule could never report anything.
    """
    subjects = tuple(chain.from_iterable(map(_subjects, of if isinstance(of, tuple) else (of,))))
    once = per if isinstance(per, Once) else Once(_default_per(subjects) if per is None else Per(per))

    def register(check: Check) -> Check:
        if id in RULES:
            raise ValueError(f"two rules are named {id}")
        if why := _why_silent(subjects, check):
            raise ValueError(f"rule {id} can never report anything: {why}")
        RULES[id] = Rule(
            id,
            severity,
            source,
            subjects,
            check,
            also or {},
            Per(once.per),
            once.many,
            once.by_value,
            once.instead_of,
            text,
        )
        return check

    return register


def row(
    check: Check,
    id: str,
    severity: Severity,
    source: str,
    of: Subject | tuple[Subject, ...],
    per: Per | Once | None = None,
    also: dict[str, str] | None = None,
) -> Callable[[str], Check]:
    """Return what registers a rule with a given documentation: a row of a table of rules whose body is one call."""
    return lambda text: rule(id, severity, source, of, per, also, text)(check)


def _default_per(of: tuple[Subject, ...]) -> Per:
    if any(not isinstance(one, Of) or one in ON_ENTRIES for one in of):
        return Per.ENTRY
    return Per.SITE if ON_FILES.isdisjoint(of) else Per.FILE


def _subjects(of: Subject | Namespace) -> tuple[Subject, ...]:
    if isinstance(of, Namespace):
        return (Objects(of),)
    return (Of.LOC, of) if isinstance(of, UrlWith) else (of,)


def _why_silent(of: tuple[Subject, ...], check: Check) -> str:
    """Say why a rule can never report anything; empty if it can."""
    for one in of:
        if not isinstance(one, Subject):
            return f"it judges {one!r}; accepted: a member of Of, Objects, UrlWith, a namespace"
        if isinstance(one, Objects) and NAMESPACES.get(one.namespace.uri) is not one.namespace:
            return f"the namespace {one.namespace.prefix} is not registered"
        if isinstance(one, UrlWith):
            try:
                Expression(one.expression)
                re.compile(one.expression)  # which searches where RE2 is missing
            except (ValueError, re.error) as error:
                return f"its expression {one.expression!r} is not valid: {error}"
    signature = inspect.signature(check)
    arguments = [name for name, one in signature.parameters.items() if one.kind is one.KEYWORD_ONLY]
    try:
        signature.bind(of, **dict.fromkeys(arguments))  # which `-a` gives
    except TypeError as error:
        return f"its function does not take what it judges: {error}"
    return "" if of else "it judges nothing"


def families(rules: Iterable[Rule]) -> list[str]:
    """Return the families of rules, each once, in order."""
    return list(dict.fromkeys(rule.family for rule in rules))


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
