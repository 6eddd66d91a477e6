"""Rule, message and severity; registration of rules, and loading of users' own."""

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
from typing import TYPE_CHECKING, Any

from sitemapcrawler.reader.faults import Fault
from sitemapcrawler.words import counted

if TYPE_CHECKING:
    from scrapy.settings import BaseSettings


class Severity(StrEnum):
    """What a finding means for the site."""

    ERROR = "error"
    """A search engine rejects, ignores or misreads it."""
    WARNING = "warning"
    """It works, but hurts or is likely wrong."""
    INFO = "info"
    """Worth knowing."""


class Needs(StrEnum):
    """The facts a rule is given."""

    URL = "url"
    """Each entry that is not plain beyond doubt: `facts.UrlFacts`."""
    EVERY_URL = "every-url"
    """Each entry, the plain ones too: `facts.UrlFacts`. For rules of a user's own; those of the catalogue leave plain
    entries alone, since nearly all are."""
    CHILD = "child"
    """Each entry of an index: `facts.ChildFacts`."""
    FILE = "file"
    """Each file when it has been read: `facts.FileFacts`."""
    WHOLE = "whole"
    """The same of files that were read to their end; skipped, and counted so, for all others."""
    FAULT = "fault"
    """Each fault the reader noted under the rule's own id: `reader.faults.Fault`."""
    VERDICT = "verdict"
    """Each entry that robots.txt denies to somebody: `facts.VerdictFacts`. Whether the rule speaks must depend on the
    crawlers alone; the entry gives it the words."""
    ROBOTS = "robots"
    """Each robots.txt, at the end: `facts.RobotsFacts`."""
    REPLY = "reply"
    """Each entry whose URL was asked: `facts.ReplyFacts`."""
    ASSET = "asset"
    """Each image or video file that was requested, or that robots.txt denies: `facts.AssetFacts`."""
    DRAWN = "drawn"
    """Each file with entries in a sample of a given number, at the end: `facts.Drawn`."""
    SITE = "site"
    """The whole site, at the end: `facts.SiteFacts`. What the rule finds is true, whatever was left out."""
    WHOLE_SITE = "whole-site"
    """The same of a crawl that left out nothing; skipped, and counted so, for all others."""
    BASELINE = "baseline"
    """The same of a crawl that is compared with an earlier one, where neither left out anything."""
    FAILURE = "failure"
    """Each failure of another rule: `facts.Failure`."""
    GIVEN_UP = "given-up"
    """Each site whose sitemaps were left alone: `facts.SkippedSite`."""
    ALLOWANCE = "allowance"
    """Each entry of the allowlist that has expired: `choice.Allowance`."""


ON_THE_SITE = (Needs.SITE, Needs.WHOLE_SITE, Needs.BASELINE)
"""Needs that only the job's database meets."""


@dataclass(frozen=True, slots=True)
class Message:
    """What a rule has to say once. Without a line the runner takes that of the entry."""

    text: str
    """One sentence with the offending value and the limit."""
    line: int | None = None
    column: int | None = None
    value: str | None = None
    severity: Severity | None = None
    """Where one rule has two severities: the one of this case."""
    url: str | None = None
    """The listed URL it is about, where the rule is given more than an entry."""


@dataclass(frozen=True, slots=True)
class SiteMessage(Message):
    """The same of a rule on the whole site, which says where."""

    sitemap: str | None = None
    """URL of the file it is about; None for the site."""
    times: int = 1
    """Findings that it stands for: more than one where those behind it would only be counted."""


Check = Callable[[Any], Iterator[Message]]
_PART = re.compile(r"^(Why|Bad|Good): (.*?)(?=\n\n|^(?:Why|Bad|Good): |\Z)", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True, slots=True)
class Rule:
    """One rule of the catalogue."""

    id: str
    severity: Severity
    source: str
    """URL of the text it implements, or what is known without one."""
    needs: tuple[Needs, ...]
    """The check is run on each of these."""
    check: Check
    also: dict[str, str] = field(default_factory=dict)
    """Names other tools give it: {tool: name}."""

    @property
    def family(self) -> str:
        """The part of the id before its first dash."""
        return self.id.partition("-")[0]

    @property
    def documentation(self) -> str:
        """The docstring of the check."""
        return inspect.cleandoc(self.check.__doc__ or "")

    @property
    def what(self) -> str:
        """What it finds: the first paragraph of its documentation, on one line."""
        return " ".join(self.documentation.partition("\n\n")[0].split())

    @property
    def why(self) -> str:
        """Why that matters, on one line."""
        return self._part("Why")

    @property
    def bad(self) -> str:
        """An example of what is wrong, on one line; empty where there is none."""
        return self._part("Bad")

    @property
    def good(self) -> str:
        """What is right instead, on one line; empty where that is not said."""
        return self._part("Good")

    def _part(self, name: str) -> str:
        return next((" ".join(text.split()) for part, text in _PART.findall(self.documentation) if part == name), "")


RULES: dict[str, Rule] = {}
"""Every rule by id, in the order of the catalogue."""


def rule(
    id: str,
    severity: Severity,
    source: str,
    needs: Needs | tuple[Needs, ...] = Needs.URL,
    also: dict[str, str] | None = None,
) -> Callable[[Check], Check]:
    """Register a check as the rule `id`."""

    def register(check: Check) -> Check:
        if id in RULES:
            raise ValueError(f"two rules are named {id}")
        RULES[id] = Rule(id, severity, source, (needs,) if isinstance(needs, Needs) else needs, check, also or {})
        return check

    return register


def families(rules: Iterable[Rule]) -> list[str]:
    """The families of rules, each once, in order."""
    return list(dict.fromkeys(rule.family for rule in rules))


def entry_rule(
    id: str, severity: Severity, source: str, also: dict[str, str] | None = None, faults: bool = False
) -> Callable[[Check], Check]:
    """Register a check as the rule `id` for pages and children; with `faults` for what the reader notes under it."""

    needs = (Needs.URL, Needs.CHILD, Needs.FAULT) if faults else (Needs.URL, Needs.CHILD)
    return rule(id, severity, source, needs, also)


SEVERITIES = tuple(str(severity) for severity in Severity)
"""The worst first."""


def findings(number: int, severity: str) -> str:
    """So many findings of a severity: `1 error`, `2 warnings`, `3 info`."""
    return counted(number, severity, severity if severity == Severity.INFO else None)


def fault_message(fault: Fault, severity: Severity | None = None) -> Iterator[Message]:
    """A fault of the reader as it stands."""
    yield Message(fault.message, fault.line, fault.column, fault.value, severity, fault.url)


FILE_SUFFIX = ".py"
"""What a name ends with that is a path, and not that of a module."""


def load_rules(settings: BaseSettings) -> None:
    """Import what the setting names, each once in a process, so that its rules are in the catalogue.

    ValueError, one line, for a module that is not there, cannot be imported, or takes the id of another rule. Such a
    module leaves no rules behind.
    """
    for name in settings.getlist("SITEMAP_RULES"):
        before = set(RULES)
        try:
            _load(name)
        except Exception as error:
            _take_back(RULES.keys() - before)
            why = " ".join(f"{type(error).__name__}: {error}".split())
            raise ValueError(f"setting SITEMAP_RULES={name!r}: {why}") from None


def sources(settings: BaseSettings) -> list[bytes]:
    """The text of the modules that the setting names, as far as they are files: who judges with another one judges
    differently."""
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
    """Forget rules, but for those of modules that stay imported: nothing would register them again."""
    for id in ids:
        if getattr(RULES[id].check, "__module__", None) not in sys.modules:
            del RULES[id]


def _key(name: str) -> str:
    """Name of a module in `sys.modules`: its own, or the whole path of a file."""
    return str(Path(name).resolve()) if name.endswith(FILE_SUFFIX) else name


def _execute(path: Path) -> None:
    spec = spec_from_file_location(str(path), path)
    assert spec is not None and spec.loader is not None
    module = module_from_spec(spec)
    sys.modules[str(path)] = module  # dataclasses look there for the module they stand in
    try:
        spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[str(path)]
        raise
