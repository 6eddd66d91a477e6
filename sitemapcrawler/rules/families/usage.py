"""Rules on usage preferences: what a site prefers that is done with its content, training of AI models above all."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice

from sitemapcrawler.replies import ReplyKind
from sitemapcrawler.replies.page.preferences import PageUsage
from sitemapcrawler.robots import Group, Policy, Purpose
from sitemapcrawler.robots.agents import ANSWERS, BY_NAME, EVERYBODY
from sitemapcrawler.robots.parser import LICENSE, MAX_NOTES, REFERENCES
from sitemapcrawler.robots.policy import denies_everything
from sitemapcrawler.robots.ruleset import clauses
from sitemapcrawler.robots.usage import ATTACHMENT, NAMES, VOCABULARY, Preference, Use, combined
from sitemapcrawler.rules.facts.given import ReplyFacts, RobotsFacts
from sitemapcrawler.rules.facts.robots_notes import crawler_names, is_text
from sitemapcrawler.rules.registry import INFO, WARNING, Message, Of, Per, rule
from sitemapcrawler.urls import is_web, resolve
from sitemapcrawler.urls.display import quoted

MEANING = {Use.TRAIN: "training", Use.SEARCH: "search", Use.INPUT: "input of AI models"}
CRAWLERS = {
    Use.TRAIN: frozenset((Purpose.TRAINING,)),
    Use.SEARCH: frozenset((Purpose.SEARCH,)),
    Use.INPUT: frozenset((Purpose.INPUT, Purpose.USER_FETCH)),
}
"""Purposes of the crawlers that a use concerns."""
READERS = {**CRAWLERS, Use.INPUT: ANSWERS}
"""Purposes of the crawlers that read what a page states: `nosnippet` is read by those of search engines."""
MAX_PATHS = 100
"""Paths of one robots.txt that are searched for contradictions."""
MAX_GROUPS = 50
"""Groups of one robots.txt that are."""


@rule("usage-value-invalid", WARNING, ATTACHMENT, Of.ROBOTS)
def usage_value_invalid(facts: RobotsFacts) -> Iterator[Message]:
    """Usage preference in robots.txt has no effect. A note if no known reader knows a label.

    Why: Readers skip what they cannot read, so the preference is lost. Content-Usage has `train-ai`, `search` and
    `ai-use` with `y` or `n`; Content-Signal has `ai-train`, `search` and `ai-input` with `yes` or `no`.
    Fix: Write the line as the message says, below the `User-agent` line of its crawlers.
    Bad: `Content-Usage: ai-train=no`, `Content-Usage: Train-AI=n`, a line above the first `User-agent`
    Good: `Content-Usage: train-ai=n`, `Content-Usage: /news/ train-ai=n`, `Content-Signal: ai-train=no`
    """
    if is_text(facts):
        yield from islice(_lost(facts.policy), MAX_NOTES)


def _lost(policy: Policy) -> Iterator[Message]:
    blocks = {id(block): block for group in policy.groups.values() for block in group.blocks}
    grouped = {line.line for block in blocks.values() for line, above in block.usage if above}
    for line in policy.parsed.usage:
        written = f"{NAMES[line.dialect]}: {line.value}"
        for fault in line.statement.faults:
            yield Message(f"{quoted(written)}: {fault}", line.line, value=line.value)
        for fault in line.statement.unknown:
            yield Message(f"{quoted(written)}: {fault}", line.line, value=line.value, severity=INFO)
        if line.line not in grouped:
            text = f"{quoted(written)} is not below a User-agent line that names a crawler, so it applies to none"
            yield Message(text, line.line, value=line.value)


@rule("usage-license-invalid", WARNING, REFERENCES[LICENSE], Of.ROBOTS)
def usage_license_invalid(facts: RobotsFacts) -> Iterator[Message]:
    """License line in robots.txt has no absolute URL.

    Why: RSL requires a URL with scheme and host. Readers skip any other, and find no terms of use.
    Fix: Write the full URL of the license file.
    Bad: `License: /license.xml`
    Good: `License: https://example.com/license.xml`
    """
    for name, value, line in islice(facts.policy.parsed.references, MAX_NOTES) if is_text(facts) else ():
        if name == LICENSE and not is_web(value):
            meant = resolve(facts.policy.url, value) if value else None
            hint = f": write {quoted(meant)}" if meant else ""
            yield Message(f"License {quoted(value)} is not an absolute URL{hint}", line, value=value)


@rule("usage-robots-conflict", WARNING, f"{VOCABULARY}#section-5.1", Of.ROBOTS)
def usage_robots_conflict(facts: RobotsFacts) -> Iterator[Message]:
    """Lines of robots.txt disagree on a use of pages.

    Why: By the draft standard, the use is disallowed. A crawler that reads only one of the lines may consider it
    allowed.
    Fix: Make all lines for the same path say the same.
    Bad: `Content-Usage: train-ai=n` and `Content-Signal: ai-train=yes` in one group
    Good: `Content-Usage: train-ai=n` and `Content-Signal: ai-train=no`
    """
    if not is_text(facts):
        return
    reported: set[str] = set()
    for group in _stating(facts.policy):
        usage = facts.policy.usage_of(group.token)
        for path in islice(_paths(group), MAX_PATHS):
            for use, text in _conflicts(usage.preferences(path) if usage is not None else ()):
                if text not in reported:
                    reported.add(text)
                    yield Message(f"{MEANING[use]} of {quoted(path)}: {text}", _line_of(text), value=path)


def _stating(policy: Policy) -> list[Group]:
    """Groups with preferences of their own, one of those that share their lines, at most `MAX_GROUPS`."""
    stating = (group for group in policy.groups.values() if any(block.usage for block in group.blocks))
    return list(islice({tuple(map(id, group.blocks)): group for group in stating}.values(), MAX_GROUPS))


def _paths(group: Group) -> Iterator[str]:
    """A path for each preference of a group."""
    yield "/"
    for line in group.usage:
        yield from (clause.pattern.sample for clause in islice(clauses(line.rule), 1))


def _conflicts(preferences: Sequence[Preference]) -> Iterator[tuple[Use, str]]:
    """Yield each use that is both allowed and disallowed, with what says so."""
    for use in dict.fromkeys(one.use for one in preferences):
        by = {allowed: _places(preferences, use, allowed) for allowed in (False, True)}
        if by[False] and by[True]:
            yield use, f"{by[False]} disallows it, {by[True]} allows it"


def _places(preferences: Iterable[Preference], use: Use, allowed: bool) -> str:
    return ", ".join(dict.fromkeys(one.place for one in preferences if (one.use, one.allowed) == (use, allowed)))


def _line_of(text: str) -> int | None:
    """The line that a text begins with."""
    number = text.removeprefix("robots.txt line ").partition(" ")[0].rstrip(",")
    return int(number) if number.isdigit() else None


@rule("usage-group-missing", WARNING, f"{ATTACHMENT}#section-3.1", Of.ROBOTS)
def usage_group_missing(facts: RobotsFacts) -> Iterator[Message]:
    """Group of a crawler lacks the usage preference of `*`. The preference is about crawlers of its kind.

    Why: A crawler follows its own group only, and ignores the preference of `*`. It may fetch the pages without any
    preference on their use.
    Fix: Repeat the preference in the crawler's own group, or remove that group.
    Bad: `User-agent: *`, `Content-Usage: train-ai=n`, and then `User-agent: GPTBot`, `Allow: /`
    Good: `Content-Usage: train-ai=n` in both groups
    """
    everybody = facts.policy.groups.get(EVERYBODY)
    if everybody is None or not everybody.usage or not is_text(facts):
        return
    disallowed = {one.use: line for line in everybody.usage for one in line.preferences if not one.allowed}
    for use, line in disallowed.items():
        silent = [group for group in facts.policy.groups.values() if _is_silent(group, use)]
        if silent:
            verb = "follows its own group" if len(silent) == 1 else "follow their own groups"
            names = crawler_names([group.token for group in silent])
            text = f"{names} {verb}, without a preference on {MEANING[use]}; line {line.line} disallows it for others"
            yield Message(text, silent[0].lines[0], value=", ".join(group.token for group in silent))


def _is_silent(group: Group, use: Use) -> bool:
    """True for the group of a crawler that a use concerns, if it states no preference, and may fetch something."""
    crawler = BY_NAME.get(group.token)
    return (
        crawler is not None
        and crawler.purpose in CRAWLERS[use]
        and not any(use in line.statement.preferences for line in group.usage)
        and not denies_everything(group, {})
    )


@rule("usage-crawlers-differ", INFO, f"{ATTACHMENT}#section-3.1", Of.ROBOTS)
def usage_crawlers_differ(facts: RobotsFacts) -> Iterator[Message]:
    """Usage preference and Disallow differ. Checked for the home page, and for the crawlers that the preference is
    about.

    Why: A preference does not keep crawlers out: those that may fetch a page may use it anyway. Conversely, an allowed
    use needs crawlers that may fetch the pages.
    Fix: Add a Disallow for these crawlers if they must not use the pages; otherwise allow them.
    Bad: `Content-Usage: train-ai=n`, and no `Disallow` for GPTBot and CCBot, although they are not wanted
    Good: the preference, and `User-agent: GPTBot`, `Disallow: /`
    """
    usage = facts.policy.usage_of() if is_text(facts) else None
    home = facts.policy.url.removesuffix("robots.txt")
    for use, allowed, places in combined(usage.preferences("/")) if usage is not None else ():
        concerned = [crawler.name for crawler in facts.agents if crawler.purpose in CRAWLERS[use]]
        odd = [name for name in concerned if facts.policy.allows(home, name) is not allowed]
        if odd:
            says = f"{', '.join(places)} {'allows' if allowed else 'disallows'} {MEANING[use]}"
            may = f"{crawler_names(odd)} {'may not' if allowed else 'may'} fetch the home page"
            yield Message(f"{says}, but {may}", _line_of(places[0]), value=", ".join(odd))


@rule("usage-line-unreachable", INFO, f"{ATTACHMENT}#section-3", Of.ROBOTS)
def usage_line_unreachable(facts: RobotsFacts) -> Iterator[Message]:
    """Usage preference covers pages that crawlers may not fetch.

    Why: A preference applies to fetched content only. It has no effect on what robots.txt disallows.
    Fix: Remove the preference, or the Disallow.
    Bad: `Disallow: /news/` and `Content-Usage: /news/ train-ai=n` in one group
    Good: one of them
    """
    if is_text(facts):
        yield from islice(_unreachable(facts.policy), MAX_NOTES)


def _unreachable(policy: Policy) -> Iterator[Message]:
    for group in _stating(policy):
        rules, is_closed = policy.rules_of(group), denies_everything(group, {})
        for line in group.usage:
            clause = rules.deciding(next(clauses(line.rule)).pattern.sample) if line.path else None
            if is_closed and not line.path:
                why = f"the group {quoted(group.token)} may fetch nothing"
                yield Message(f"{quoted(line.value)}: {why}", line.line, value=line.value)
            elif clause is not None and not clause.allow:
                why = f"line {clause.rule.line}, {quoted(clause.rule.text)}, disallows the path"
                yield Message(f"{quoted(line.value)}: {why}", line.line, value=line.value)


@rule("usage-page-invalid", WARNING, ATTACHMENT, Of.REPLY, per=Per.FILE("have a usage preference without effect"))
def usage_page_invalid(facts: ReplyFacts) -> Iterator[Message]:
    """Usage preference of a page has no effect. It is in a header, or in a `<meta>` for text and data mining.

    Why: Readers skip what they cannot read, so the preference is lost.
    Fix: Write the value as the message says.
    Bad: `Content-Usage: ai-train=no`, `TDM-Reservation: yes`, `TDM-Policy: /policy.json`
    Good: `Content-Usage: train-ai=n`, `TDM-Reservation: 1`, `TDM-Policy: https://example.com/policy.json`
    """
    usage = _of_page(facts)
    for fault in usage.faults if usage is not None else ():
        yield Message(fault, value=facts.record.loc)


def _of_page(facts: ReplyFacts) -> PageUsage | None:
    """What the page states; None for nothing, and for the page of an error or redirect."""
    return facts.page.usage if facts.page is not None and facts.reply.kind == ReplyKind.OK else None


@rule(
    "usage-page-conflict",
    WARNING,
    f"{VOCABULARY}#section-5.1",
    Of.REPLY,
    per=Per.FILE("have preferences that disagree on a use"),
)
def usage_page_conflict(facts: ReplyFacts) -> Iterator[Message]:
    """Page and robots.txt disagree on a use. Or two preferences of the page do.

    Why: By the draft standard, the use is disallowed. A crawler that reads only one of the preferences may consider it
    allowed.
    Fix: Make robots.txt, headers and robots elements say the same, or state the preference in one place.
    Bad: `Content-Usage: train-ai=n` in robots.txt, and the header `Content-Usage: train-ai=y`
    Good: a path of its own in robots.txt: `Content-Usage: /open/ train-ai=y`
    """
    for use, text in _conflicts(facts.usage):
        yield Message(f"{MEANING[use]}: {text}", value=facts.record.loc)


@rule(
    "usage-page-unreachable",
    INFO,
    ATTACHMENT,
    Of.REPLY,
    per=Per.FILE("have a usage preference that crawlers do not read"),
)
def usage_page_unreachable(facts: ReplyFacts) -> Iterator[Message]:
    """Blocked crawlers do not read a page's usage preference. Not reported if robots.txt states it too.

    Why: A crawler that may not fetch a page sees neither its headers nor its elements. It may get the content
    elsewhere, such as from an archive.
    Fix: Write the preference into robots.txt too.
    Bad: `<meta name="robots" content="noai">`, and `Disallow: /` for GPTBot
    Good: `Content-Usage: train-ai=n` in robots.txt
    """
    usage = _of_page(facts)
    blocked = [BY_NAME[name.lower()] for name in facts.record.blocked_for or () if name.lower() in BY_NAME]
    if usage is None or not blocked:
        return
    own = set(usage.preferences)
    by_robots = {one.use for one in facts.usage if one not in own}
    for one in usage.preferences:
        names = [crawler.name for crawler in blocked if crawler.purpose in READERS[one.use]]
        if names and one.use not in by_robots:
            text = f"{one.place} is not read by {crawler_names(names)}, since robots.txt blocks the page"
            yield Message(text, value=one.place)
