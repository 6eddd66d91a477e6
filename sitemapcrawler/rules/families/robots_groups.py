"""Rules on the lines and groups of robots.txt: misspelt fields, joined groups, rules without effect."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

from sitemapcrawler.robots import AGENTS, Agent, Group, LineNote, NoteKind, PathRule, Policy
from sitemapcrawler.robots.agents import BY_NAME, EVERYBODY, SEARCH, TOKEN
from sitemapcrawler.robots.parser import FIELDS, MAX_NOTES, TIMING, RuleBlock, field_of, google_reading
from sitemapcrawler.robots.ruleset import clauses
from sitemapcrawler.robots.text import MAX_LINE
from sitemapcrawler.rules.facts.given import RobotsFacts, split
from sitemapcrawler.rules.facts.robots_notes import (
    GOOGLE,
    RFC,
    WRITTEN,
    beyond_notes,
    crawler_names,
    field_name,
    is_text,
    misspelt_notes,
    nearest,
    notes,
)
from sitemapcrawler.rules.registry import INFO, WARNING, Message, Of, Per, Severity, rule
from sitemapcrawler.urls.display import counted, quoted

UNSUPPORTED = "https://developers.google.com/search/blog/2019/07/a-note-on-unsupported-rules"

RETIRED = ("noindex", "nofollow")
"""Fields that Google supported until 2019-09-01: `UNSUPPORTED`"""


def _google_reads(note: LineNote) -> bool:
    """True where Google reads a misspelt field as it is meant. It reads no Crawl-delay, however that is spelt."""
    meaning = FIELDS.get(field_of(note.text)[0])
    return meaning is not None and google_reading(note.text)[0] == meaning


def _by_name(found: list[LineNote]) -> Iterator[tuple[str, LineNote, str]]:
    """Yield each field once: its name, its first line, and a note on the number of other lines."""
    groups: dict[str, list[LineNote]] = {}
    for note in found:
        groups.setdefault(field_of(note.text)[0] or field_name(note.text), []).append(note)
    for name, (first, *others) in groups.items():
        more = f"{len(others)} or more other lines" if len(found) >= MAX_NOTES else counted(len(others), "more line")
        yield name, first, f" (and {more} like it)" if others else ""


@rule("robots-field-misspelt", WARNING, f"{RFC}#section-2.2", Of.ROBOTS)
def robots_field_misspelt(facts: RobotsFacts) -> Iterator[Message]:
    """A field is misspelt. Or its colon is missing, or there are stray characters around it.

    Why: Google reads some common misspellings, and any field that begins with `Allow`, `Disallow` or `User-agent`;
    other crawlers read none. The message says who reads the line.
    Fix: Correct the spelling of the field, as the message says.
    Bad: `Dissalow: /cart`, `Disallow /cart`, `Disallowed: /cart`, `User-agnet: *`, a no-break space before `Disallow`
    Good: `User-agent: *`, `Disallow: /cart`
    """
    for name, note, more in _by_name(notes(facts, NoteKind.MISSPELT_FIELD)):
        meant = WRITTEN[FIELDS.get(name) or TIMING[name]]
        fault = "the colon is missing" if name in WRITTEN else f"the field is written {meant}"
        by_google = "Google reads it anyway, others may not" if _google_reads(note) else "few crawlers read it"
        yield Message(f"{quoted(note.text)}{more}: {fault}; {by_google}", note.line, value=note.text)
    for _, note, more in _by_name(notes(facts, NoteKind.GOOGLE_FIELD)):
        meant = WRITTEN[google_reading(note.text)[0]]
        text = f"{quoted(note.text)}{more}: Google reads the field as {meant}, other crawlers skip the line"
        yield Message(text, note.line, value=note.text)
    for _, note, more in _by_name(notes(facts, NoteKind.NO_BLANK)):
        text = f"{quoted(note.text)}{more}: Google does not treat a no-break space or null character as whitespace"
        yield Message(text, note.line, value=note.text)
    for _, note, more in _by_name(misspelt_notes(facts)):
        text = f"{quoted(note.text)}{more} is skipped by all crawlers: the field is written {nearest(note.text)}"
        yield Message(text, note.line, value=note.text)


@rule("robots-field-unknown", INFO, GOOGLE, Of.ROBOTS)
def robots_field_unknown(facts: RobotsFacts) -> Iterator[Message]:
    """No known crawler reads the field. A warning for `Noindex` and `Nofollow`.

    Why: The line has no effect. Google read `Noindex` and `Nofollow` until 2019-09-01; pages that they should keep out
    of the index may be in it.
    Fix: Remove the line. To keep pages out of an index, use a `noindex` meta element.
    Bad: `Noindex: /archive/`
    Good: `<meta name="robots" content="noindex">` on the pages, which robots.txt must not block
    """
    unknown = [note for note in notes(facts, NoteKind.UNKNOWN_FIELD) if nearest(note.text) is None]
    for name, note, more in _by_name(unknown):
        retired = name in RETIRED
        why = f"Google no longer reads it, see {UNSUPPORTED}" if retired else "no crawler is known to read it"
        text = f"{quoted(note.text)}{more}: the field {quoted(name)} has no effect: {why}"
        yield Message(text, note.line, value=note.text, severity=WARNING if retired else None)
    yield from beyond_notes(facts, NoteKind.UNKNOWN_FIELD, "lines have fields that no crawler is known to read")


@rule("robots-line-without-field", INFO, f"{RFC}#section-2.2", Of.ROBOTS)
def robots_line_without_field(facts: RobotsFacts) -> Iterator[Message]:
    """A line is neither a field nor a comment. Empty lines do not count. Once per file, on the first such line.

    Why: Crawlers skip such lines. Perhaps the `#` of a comment is missing, or the answer is an error page.
    Fix: Remove the lines, or put a `#` in front of comments.
    Bad: `Not found`, `All crawlers are welcome`
    Good: `# All crawlers are welcome`
    """
    found = [note for note in notes(facts, NoteKind.NOT_A_LINE) if nearest(note.text) not in WRITTEN.values()]
    if found:
        number = len(found) + max(0, facts.policy.note_counts[NoteKind.NOT_A_LINE] - MAX_NOTES)
        lines = "a line is neither a field nor a comment:"
        if number > 1:
            lines = f"{number:,} lines are neither fields nor comments, such as"
        yield Message(f"{lines} {quoted(found[0].text)}", found[0].line, value=found[0].text)


@rule("robots-hash-in-value", WARNING, f"{RFC}#section-2.2", Of.ROBOTS)
def robots_hash_in_value(facts: RobotsFacts) -> Iterator[Message]:
    """A `#` cuts off a path or URL. It is in a rule or Sitemap line, without a space before it.

    Why: A `#` begins a comment anywhere in a line. `Disallow: /*#` blocks every page.
    Fix: Write `%23` for a `#` in a path, or a space in front of a comment.
    Bad: `Disallow: /c#/`
    Good: `Disallow: /c%23/`, `Disallow: /c # the language`
    """
    for note in notes(facts, NoteKind.CUT):
        yield Message(_cut_message(note.text), note.line, value=note.text)
    yield from beyond_notes(facts, NoteKind.CUT, "rules are cut at a #")
    for sitemap in facts.policy.sitemap_lines if is_text(facts) else ():
        before, mark, _ = sitemap.raw.partition("#")
        if mark and sitemap.url and not before[-1:].isspace():
            yield Message(_cut_message(sitemap.raw), sitemap.line, value=sitemap.raw)


def _cut_message(line: str) -> str:
    return f"crawlers read {quoted(line)} as {quoted(line.partition('#')[0])}: a # begins a comment"


@rule("robots-line-too-long", WARNING, "https://github.com/google/robotstxt", Of.ROBOTS)
def robots_line_too_long(facts: RobotsFacts) -> Iterator[Message]:
    """A line is longer than Google's parser reads: 16,663 characters.

    Why: Google cuts off the rest. Usually the file has lost its line breaks.
    Fix: Restore the line breaks: write each rule on a line of its own.
    Bad: a file whose lines are joined by spaces
    Good: a line for each rule
    """
    for note in notes(facts, NoteKind.TOO_LONG):
        text = f"{quoted(note.text)} is longer than {MAX_LINE:,} characters: the rest of the line is not read"
        yield Message(text, note.line, value=note.text)


SEARCHING = {
    name.lower() for crawler in AGENTS if crawler.group == SEARCH for name in (crawler.name, *crawler.fallbacks)
}
"""Product tokens of search engines."""
MAX_RULES = 1000
"""Rules of `*` to compare with other groups."""
MAX_GROUPS = 50
"""Groups with different rules to compare with `*`."""


@rule("robots-rule-outside-group", WARNING, f"{RFC}#section-2.1", Of.ROBOTS)
def robots_rule_outside_group(facts: RobotsFacts) -> Iterator[Message]:
    """Rules come before the first `User-agent` line. Once per file, on the first one.

    Why: They belong to no group, so no crawler follows them.
    Fix: Add a `User-agent` line above the rules.
    Bad: `Disallow: /cart` as the first line
    Good: `User-agent: *` above it
    """
    outside = notes(facts, NoteKind.OUTSIDE_GROUP)
    if not outside or any(
        note.line < outside[0].line and nearest(note.text) == "User-agent" for note in misspelt_notes(facts)
    ):
        return
    number = facts.policy.note_counts[NoteKind.OUTSIDE_GROUP]
    come = "comes" if number == 1 else f"and {counted(number - 1, 'more rule')} come"
    them = "it" if number == 1 else "them"
    text = f"{quoted(outside[0].text)} {come} before the first User-agent line: no crawler follows {them}"
    yield Message(text, outside[0].line, value=outside[0].text)


@rule("robots-user-agent-invalid", WARNING, f"{RFC}#section-2.2.1", Of.ROBOTS, per=Per.ENTRY("have more than a name"))
def robots_user_agent_invalid(facts: RobotsFacts) -> Iterator[Message]:
    """A `User-agent` line names no crawler, or several. A note if a version or a second word follows the name.

    Why: A name ends at the first character other than letters, digits, `_`, `-` and `.`, and crawlers ignore the rest.
    Of two crawlers on a line, only the first is named; `*bot` names none.
    Fix: Name one crawler per `User-agent` line, or `*`.
    Bad: `User-agent: Googlebot, Bingbot`, `User-agent: *bot`, `User-agent:`
    Good: a line for each, with a name such as `Googlebot`, or `*`
    """
    for note in notes(facts, NoteKind.BAD_AGENT):
        severity, text = _agent_fault(field_of(note.text)[1])
        yield Message(f"{quoted(note.text)} {text}", note.line, value=note.text, severity=severity)
    yield from beyond_notes(facts, NoteKind.BAD_AGENT, "User-agent lines are not product tokens")


def _agent_fault(value: str) -> tuple[Severity | None, str]:
    """Describe what is wrong with a User-agent value, with a severity if it is lower than the rule's."""
    found = TOKEN.match(value)
    token = found[0] if found else EVERYBODY if value[:1] == EVERYBODY and value[1:2].isspace() else ""
    if not token:
        return None, "names no crawler, so no crawler follows its rules"
    rest = value[len(token) :].strip()
    several = token.lower() in BY_NAME or token == EVERYBODY
    several &= not rest.startswith("/") and TOKEN.match(rest.lstrip(",;| ")) is not None
    return None if several else INFO, f"names {token} only: the rest of the line is ignored"


@rule("robots-groups-joined", WARNING, f"{RFC}#section-2.2.4", Of.ROBOTS, per=Per.FILE("join the group above"))
def robots_groups_joined(facts: RobotsFacts) -> Iterator[Message]:
    """A group without rules joins the next one. The rules of the next group apply to both.

    Why: Only Allow and Disallow end a group; `Sitemap`, `Crawl-delay`, `Content-Usage` and empty lines do not. A
    crawler that should only get a delay is then blocked like the next one.
    Fix: Add an empty `Disallow:` at the end of the first group, if its crawlers may fetch everything.
    Bad: `User-agent: Slurp`, `Crawl-delay: 1`, and then `User-agent: GPTBot`, `Disallow: /`
    Good: an empty `Disallow:` at the end of the first group
    """
    joined = notes(facts, NoteKind.JOINED)
    blocks = _blocks(facts) if joined else {}
    for note in joined:
        if note.line in blocks:
            yield from _joined(note, blocks[note.line])
    yield from beyond_notes(facts, NoteKind.JOINED, "User-agent lines join the group above")


def _blocks(facts: RobotsFacts) -> dict[int, RuleBlock]:
    """Map the line of each User-agent to its block."""
    blocks = {id(block): block for group in facts.policy.groups.values() for block in group.blocks}
    return {line: block for block in blocks.values() for _, line in block.agents}


def _joined(note: LineNote, block: RuleBlock) -> Iterator[Message]:
    above = list(dict.fromkeys(token for token, line in block.agents if line < note.line))
    own = {token for token, line in block.agents if line >= note.line}
    if block.rules and not own.issuperset(above):
        text = f"{quoted(note.text)} joins the group above: the rules from line {block.rules[0].line} on"
        yield Message(f"{text} apply to {crawler_names(above)} too", note.line, value=note.text)


@rule("robots-group-drops-rules", INFO, f"{RFC}#section-2.2.1", Of.ROBOTS)
def robots_group_drops_rules(facts: RobotsFacts) -> Iterator[Message]:
    """A crawler's group lacks most rules of `*`. Or of the group that the crawler would follow otherwise. A warning if
    a search engine's group has no rule at all. Not reported if the group allows everything (`Allow: /`, `Disallow:`),
    or if both groups have one rule.

    Why: A crawler follows its own group only, so a group with just a `Crawl-delay` opens everything that `*` disallows.
    Fix: Repeat the rules of `*` in the crawler's own group, or remove that group.
    Bad: `User-agent: *`, `Disallow: /admin/`, and then `User-agent: Bingbot`, `Crawl-delay: 5`
    Good: the rules of `*` repeated in each group, or the crawler named above `*` in one group
    """
    if not is_text(facts):
        return
    found: dict[tuple[int, ...], list[tuple[Group, list[PathRule]]]] = {}
    for group, dropped in _dropping(facts.policy):
        key = (len(group.rules), *(each.line for each in dropped))
        found.setdefault(key, []).append((group, dropped))
    for alike in found.values():
        group, dropped = alike[0]
        tokens = [each.token for each, _ in alike]
        verb = "follows its own group, which lacks" if len(tokens) == 1 else "follow their own groups, which lack"
        number = "a Disallow rule" if len(dropped) == 1 else f"{len(dropped):,} Disallow rules"
        more = "" if len(dropped) == 1 else f" and {len(dropped) - 1:,} more"
        what = f"{quoted(dropped[0].text)} on line {dropped[0].line}"
        text = f"{crawler_names(tokens)} {verb} {number} that others follow: {what}"
        severe = not group.rules and any(token in SEARCHING for token in tokens)
        severity = WARNING if severe else None
        yield Message(f"{text}{more}", group.lines[0], value=", ".join(tokens), severity=severity)


def _dropping(policy: Policy) -> Iterator[tuple[Group, list[PathRule]]]:
    """Yield groups that lack rules of the group their crawlers would otherwise follow, with the missing rules."""
    denied: dict[int, list[tuple[str, PathRule]]] = {}
    known: dict[tuple[int, ...], list[PathRule]] = {}
    for group in policy.groups.values():
        crawler = BY_NAME.get(group.token, Agent(group.token))
        base = next((policy.groups[name] for name in _other_names(crawler) if name in policy.groups), None)
        if base is None or group.token == EVERYBODY or _allows_all(group):
            continue
        if id(base) not in denied:
            denied[id(base)] = list(_denied_paths(policy, base))
        key = (id(base), *map(id, group.blocks))
        if key not in known and len(known) < MAX_GROUPS:
            own = policy.rules_of(group)
            known[key] = [each for path, each in denied[id(base)] if own.allows(path)]
        dropped = known.get(key, [])
        if 2 * len(dropped) > len(denied[id(base)]) and (len(dropped) > 1 or not group.rules):
            yield group, dropped


def _other_names(crawler: Agent) -> Iterator[str]:
    yield from map(str.lower, crawler.fallbacks)
    if crawler.bound_by_star:
        yield EVERYBODY


def _allows_all(group: Group) -> bool:
    """True if a group explicitly allows everything."""
    return any(block.unrestricted for block in group.blocks) or any(
        clause.pattern.everything for each in group.rules if each.allow for clause in clauses(each)
    )


def _denied_paths(policy: Policy, group: Group) -> Iterator[tuple[str, PathRule]]:
    """Yield a sample path for each rule by which a group disallows something; nothing if it disallows by default."""
    rules = policy.rules_of(group)
    if not rules.allows_by_default:
        return
    for each in [each for each in group.rules if not each.allow][:MAX_RULES]:
        for clause in islice(clauses(each), 1):
            if not rules.allows(clause.pattern.sample):
                yield clause.pattern.sample, each


@rule("robots-rule-matches-nothing", WARNING, f"{RFC}#section-2.2.2", Of.ROBOTS)
def robots_rule_matches_nothing(facts: RobotsFacts) -> Iterator[Message]:
    """The path of a rule matches nothing. It begins neither with `/` nor with `*`.

    Why: Every path begins with `/`, so the rule matches none.
    Fix: Begin the path with `/`.
    Bad: `Disallow: private/`, `Disallow: https://example.com/private/`
    Good: `Disallow: /private/`
    """
    for note in notes(facts, NoteKind.UNMATCHABLE):
        path = split(field_of(note.text)[1]).path if "://" in note.text else ""
        meant = f", as {quoted(path)} does" if path.startswith("/") else ""
        text = f"{quoted(note.text)} matches nothing: a path begins with / or *{meant}"
        yield Message(text, note.line, value=note.text)
    yield from beyond_notes(facts, NoteKind.UNMATCHABLE, "rules match nothing")
