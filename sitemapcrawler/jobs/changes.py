"""Lists what has changed since the baseline: URLs with old and new values in words, and problems solved and new.

A problem is a pair of a URL, or a file, and a rule that reports an error or a warning there; of what a crawler gets,
the crawler is a part of it.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import Any

from sitemapcrawler.items import UNREAD, ChangeCounts, Coverage, ReplyRecord, RobotsChange, SummaryRecord, UrlRecord
from sitemapcrawler.jobs.counting import ORDER, RANK
from sitemapcrawler.jobs.store import Store
from sitemapcrawler.jobs.store.baseline import KINDS, LASTMOD, LISTED, OTHERS, REPLY, RESPELLED, Baseline
from sitemapcrawler.jobs.store.queries import AT_ONCE
from sitemapcrawler.jobs.store.schema import json_object
from sitemapcrawler.namespaces.declared import EXTRA
from sitemapcrawler.replies.indexability import Indexability
from sitemapcrawler.replies.page import distance
from sitemapcrawler.report.wording import REPLIES
from sitemapcrawler.robots.policy import TOO_MANY_REQUESTS, RobotsOutcome
from sitemapcrawler.rules.choice import (
    OF_ANSWERS,
    OF_HEADS,
    OF_LINKS,
    OF_LISTS,
    OF_RENDERING,
    ON_THE_CRAWL,
    names,
    needs_pages,
)
from sitemapcrawler.rules.facts.robots_changes import verdicts_in_words
from sitemapcrawler.rules.facts.sites import (
    ADDED,
    CHANGED,
    CURRENT,
    NEW_PROBLEM,
    REMOVED,
    ROBOTS_CHANGE,
    SOLVED_PROBLEM,
    UNCHANGED,
)
from sitemapcrawler.rules.judge import Judge
from sitemapcrawler.rules.reach import OF_VERSIONS
from sitemapcrawler.rules.registry import ON_THE_SITE, Of, Rule, Severity
from sitemapcrawler.urls.display import CUT, counted

VERIFY, SAMPLE, SEED, LINKS, MAX_PAGES, AGENTS = "verify", "sample", "seed", "links", "max_pages", "agents"
FETCH_AS, RENDER, RENDER_AS = "fetch_as", "render", "render_as"
OFFSITE, ASSETS, LISTS, RULES, CONTENTS = "verify_offsite", "verify_assets", "compare", "rules", "content_hash"
DECISIVE = (VERIFY, OFFSITE, ASSETS, SAMPLE, SEED, LINKS, AGENTS, FETCH_AS, RENDER, RENDER_AS)
"""Arguments that decide what a crawl knows of pages and crawlers. `LISTS` are compared by their names, and `RULES` by
their ids; `MAX_PAGES` matters to a crawl that reached it."""
OF_DATES = "lastmod"
"""Family of the rules that compare contents."""
NOT_COMPARED = frozenset((Of.BASELINE, Of.REVISIT, *ON_THE_CRAWL))
"""What rules judge whose findings are about one crawl alone."""


@dataclass(frozen=True, slots=True)
class Compared:
    """The rules whose problems both crawls could find."""

    severities: Mapping[str, str]
    of_pages: Collection[str]
    """Ids of those that need the answers of pages."""
    pages_of_files: bool
    """True if problems of pages that are reported for a file or site are compared."""
    files: bool
    """True if problems of files and of unlisted URLs are compared: the baseline holds them."""
    left_out: dict[str, list[str]]
    """Ids of the other rules, by reason: `RULES` that one crawl did not apply, `LISTS`, `CONTENTS` if its version
    hashes contents in another way, or the argument that differs."""

    @classmethod
    def of(cls, judge: Judge, summary: SummaryRecord, baseline: Baseline) -> Compared:
        """`judge` and `summary`: those of this crawl."""
        basis, now = baseline.basis, {rule.id for rule in judge.selected}
        before = baseline.summary or SummaryRecord()
        alone = sorted(now.symmetric_difference(basis.rules)) if basis is not None else []
        left_out = {RULES: alone} if alone else {}
        differing = _differing(summary, before, baseline)
        if baseline.has_other_hashes:
            left_out[CONTENTS] = [
                rule.id for rule in judge.selected if Of.REVISIT in rule.of and rule.family == OF_DATES
            ]
        unjudged = {*summary.skipped, *before.skipped}
        rules = []
        for rule in judge.selected:
            if rule.id in alone or not NOT_COMPARED.isdisjoint(rule.of):
                continue
            if rule.id in unjudged and set(rule.of) <= set(ON_THE_SITE):
                continue
            if (reason := _reason(rule, differing, baseline.with_replies)) is None:
                rules.append(rule)
            else:
                left_out.setdefault(reason, []).append(rule.id)
        return cls(
            {rule.id: str(rule.severity) for rule in rules},
            [rule.id for rule in rules if needs_pages(rule)],
            baseline.with_replies and differing.isdisjoint((VERIFY, SAMPLE, SEED)),
            bool(baseline.job) or baseline.summary is not None,
            left_out,
        )


def _differing(summary: SummaryRecord, before: SummaryRecord, baseline: Baseline) -> AbstractSet[str]:
    """Arguments that differ, as far as the baseline says, and those that one crawl did not use to the end.
    `before`: the summary of the baseline."""
    found = set()
    if baseline.basis is not None:
        now, earlier = summary.basis.arguments, baseline.basis.arguments
        found = {name for name in DECISIVE if now.get(name) != earlier.get(name)}
    elif summary.replies and not baseline.with_replies:
        found.add(VERIFY)
    graphs = [graph for graph in (summary.graph, before.graph) if graph is not None]
    if len(graphs) == 1:
        found.add(LINKS)
    elif any(graph.partial for graph in graphs):
        found.add(MAX_PAGES)
    if _lists(summary.coverage) != _lists(before.coverage):
        found.add(LISTS)
    if "blocked_for" not in baseline.fields and summary.basis.arguments.get(AGENTS) != "none":
        found.add(AGENTS)
    return found


def _lists(coverage: Coverage | None) -> list[str] | None:
    """Names of the lists that a crawl was compared with; None if it was not."""
    return None if coverage is None else sorted(one.name for one in coverage.lists)


def _reason(rule: Rule, differing: AbstractSet[str], with_replies: bool) -> str | None:
    """Why the problems of a rule are not compared; None if they are."""
    of_pages = needs_pages(rule)
    concerned = {
        VERIFY: names(rule, OF_HEADS) if with_replies else of_pages,
        SAMPLE: of_pages and (Of.SITE in rule.of or Of.DRAWN in rule.of),
        ASSETS: Of.ASSET in rule.of,
        LINKS: rule.id in OF_LINKS,
        MAX_PAGES: rule.id in OF_LINKS,
        LISTS: names(rule, OF_LISTS) and rule.id not in OF_ANSWERS,
        AGENTS: Of.VERDICT in rule.of,
        FETCH_AS: rule.id in OF_ANSWERS,
        RENDER: rule.family == OF_RENDERING,
        RENDER_AS: rule.family == OF_RENDERING,
    }
    return next((reason for reason, is_concerned in concerned.items() if is_concerned and reason in differing), None)


RANKS = [CHANGED, ADDED, UNCHANGED, REMOVED]
"""Changes of entries. A URL with several entries has the first of theirs."""
MAX_TEXT = 1000
"""Maximum length of an old or new value in characters."""
ANSWER = ("kind", "status", "final_status", "final_url")
"""Fields of a reply that one text describes."""

Json = Mapping[str, Any]  # Any: fields have the types of their record

URLS = f"""
    CREATE OR REPLACE TEMP TABLE change_urls AS
    SELECT loc, first.rank AS rank, first.entry AS entry, asked FROM (
        SELECT loc, min({{'rank': coalesce(list_position({RANKS}, change), {len(RANKS)}), 'entry': rowid}}) AS first,
               coalesce(bool_or(reply.kind <> 'unchecked'), false) AS asked
        FROM main.urls GROUP BY loc)"""
"""SQL: the listed and the removed URLs, each once: rank of its change, its first entry, whether it was requested."""
BEFORE = f"""
    CREATE OR REPLACE TEMP TABLE change_before AS
    SELECT loc, coalesce(bool_or(reply.kind <> 'unchecked'), false) AS asked FROM {LISTED} GROUP BY loc"""
"""SQL: the same of the baseline."""
LISTED_NOW = f"(SELECT loc FROM change_urls WHERE rank <> {RANKS.index(REMOVED) + 1})"
"""SQL: the listed URLs, whose problems their rows have."""
PROBLEMS = f"""
    CREATE OR REPLACE TEMP TABLE change_{{name}} AS
    SELECT url, rule, crawler, min(sitemap) AS sitemap, {ORDER}[min({RANK})] AS severity FROM (
        SELECT loc AS url, unnest(issues) AS rule, '' AS crawler, sitemap, NULL AS severity FROM {{urls}}
        UNION ALL
        SELECT coalesce(url, sitemap, '') AS url, rule, if(rule IN {OF_ANSWERS}, coalesce(value, ''), '') AS crawler,
               sitemap, severity FROM {{findings}} f
        WHERE severity <> '{Severity.INFO}' AND NOT EXISTS (SELECT 1 FROM {{known}} k WHERE k.loc = f.url))
    WHERE rule IN (SELECT unnest(?)) GROUP BY ALL"""
"""SQL: URLs or files with the rules that found something on them, and the crawlers that get something else. Of
URLs, the severity is NULL. Parameter: ids of rules."""
SEVERITY = f"""
    CREATE OR REPLACE TEMP TABLE change_severities AS
    SELECT rule, coalesce(any_value(found), any_value(own)) AS severity FROM (
        SELECT rule, {ORDER}[min({RANK})] AS found, NULL AS own FROM (
            SELECT rule, severity FROM main.findings UNION ALL SELECT rule, severity FROM {RESPELLED}.findings)
        GROUP BY rule
        UNION ALL SELECT unnest(?), NULL, unnest(?))
    GROUP BY rule"""
"""SQL: the worst severity of each rule's findings, or that of the rule. Parameters: ids and severities of rules."""
FOUND = """
    INSERT INTO changes BY NAME
    SELECT p.url, '{change}' AS change, nullif(p.crawler, '') AS {side}, p.rule,
           coalesce(p.severity, s.severity) AS severity, coalesce(u.sitemap, p.sitemap) AS sitemap, u.line
    FROM change_{name} p ANTI JOIN change_{other} o USING (url, rule, crawler)
    LEFT JOIN change_severities s USING (rule)
    LEFT JOIN change_urls c ON c.loc = p.url
    LEFT JOIN main.urls u ON u.rowid = c.entry
    WHERE coalesce(p.severity, s.severity) <> '{note}' AND ({condition})
    ORDER BY list_position({severities}, coalesce(p.severity, s.severity)), list_contains({of_links}, p.rule), p.rule,
             p.url, p.crawler"""
"""SQL: problems that only one side has. A page that is gone comes before the entries that link to it as a version."""
IS_NEW = f"""
    CASE WHEN c.loc IS NULL THEN $3 AND ($2 OR NOT list_contains($1, p.rule))
         ELSE NOT list_contains($1, p.rule) OR c.rank = {RANKS.index(ADDED) + 1}
              OR p.url IN (SELECT loc FROM change_before WHERE asked) END"""
"""SQL: the baseline could have found the problem. Parameters: rules that need pages, `Compared.pages_of_files`,
`Compared.files`."""
REACHED = f"""
    CREATE OR REPLACE TEMP TABLE change_reached AS
    WITH files AS (
        SELECT sitemap, outcome NOT IN {UNREAD} AS is_read FROM main.sitemaps
        UNION ALL
        SELECT robots, outcome <> '{RobotsOutcome.UNREACHABLE}' AND status IS DISTINCT FROM {TOO_MANY_REQUESTS}
        FROM main.robots),
    places AS (SELECT sitemap, any_value(parent) AS parent FROM {RESPELLED}.sitemaps GROUP BY sitemap)
    SELECT coalesce(f.sitemap, p.sitemap) AS sitemap FROM files f FULL JOIN places p USING (sitemap)
    WHERE coalesce(f.is_read, if(p.parent IS NULL, (SELECT bool_or(is_read) FROM files),
                                 p.parent IN (SELECT sitemap FROM files WHERE is_read)))"""
"""SQL: files that this crawl has read, and those of the baseline that what named them no longer names."""
IS_SOLVED = f"""
    CASE WHEN c.loc IS NULL
         THEN p.url NOT IN (SELECT loc FROM change_before) AND (NOT list_contains($1, p.rule) OR $2)
              AND $3 AND (p.sitemap IS NULL OR p.sitemap IN (SELECT sitemap FROM change_reached))
         WHEN starts_with(p.rule, '{OF_RENDERING}-')
         THEN p.url IN (SELECT url FROM main.rendered) OR c.rank = {RANKS.index(REMOVED) + 1}
         ELSE NOT list_contains($1, p.rule) OR c.asked OR c.rank = {RANKS.index(REMOVED) + 1} END"""
"""SQL: this crawl could have found the problem again. Parameters as in `IS_NEW`."""
REMAINING = f"""
    SELECT u.segment, count(*) FROM change_now p SEMI JOIN change_then o USING (url, rule, crawler)
    JOIN change_severities s USING (rule) JOIN change_urls c ON c.loc = p.url JOIN main.urls u ON u.rowid = c.entry
    WHERE s.severity <> '{Severity.INFO}' AND u.segment IS NOT NULL GROUP BY ALL"""
"""SQL, by segment: problems of URLs that the baseline had too."""
COUNTS = f"""
    SELECT u.what_changed, count(*) AS number FROM temp.change_urls c JOIN main.urls u ON u.rowid = c.entry
    WHERE u.change = '{CHANGED}' AND u.what_changed IS NOT NULL GROUP BY ALL ORDER BY number DESC, u.what_changed"""
"""SQL: changed URLs by what changed in one word, the most frequent first."""
ADDED_OR_REMOVED = f"""
    INSERT INTO changes BY NAME SELECT u.loc AS url, u.change, u.sitemap, u.line
    FROM change_urls c JOIN main.urls u ON u.rowid = c.entry
    WHERE u.change IN ('{ADDED}', '{REMOVED}') ORDER BY u.change, u.rowid"""
UNREAD_PAGES = {None, *map(str, (Indexability.NOT_READ, Indexability.NOT_CHECKED))}
"""Values of indexability that say nothing about a page."""
KINDS_OF_CHANGE = [*KINDS, OTHERS, LASTMOD]
"""Values of `what_changed`, the most telling first."""
REPLIED = ("redirects", *REPLY, "words", "simhash")
CONTENT = "content"
"""`what` of a change record where the main content differs."""
BITS, LITTLE = 64, 16
"""Bits of a simhash, and how many differ at most after a small change. Measured with 200 texts of ten paragraphs:
another sentence 6 bits (12 at most), another paragraph 9 (17 at the 95th percentile), unrelated texts 32 (25 at the
5th)."""


def _pairs(fields: Sequence[str]) -> str:
    """SQL for a temporary table of changed URLs, with both versions of the entry."""
    entries = ", ".join(
        f"{json_object(UrlRecord, (*fields, 'indexability'), f'{side}.')} AS {side}_entry, "
        f"CASE WHEN {side}.reply.kind <> 'unchecked' "
        f"THEN {json_object(ReplyRecord, REPLIED, f'{side}.reply.')} ELSE '{{}}' END AS {side}_reply"
        for side in ("u", "b")
    )
    return f"""
        CREATE OR REPLACE TEMP TABLE change_pairs AS
        SELECT row_number() OVER (ORDER BY list_position({KINDS_OF_CHANGE}, u.what_changed), u.rowid) AS n,
               u.loc, u.sitemap, u.line, u.changed_fields, {entries}
        FROM change_urls c JOIN main.urls u ON u.rowid = c.entry JOIN {LISTED} b ON b.loc = u.loc
        WHERE u.change = 'changed'
        QUALIFY row_number() OVER (PARTITION BY u.loc ORDER BY b.sitemap <> u.sitemap, b.sitemap, b.line) = 1"""


def find(
    store: Store, baseline: Baseline, rules: Compared, robots: Sequence[RobotsChange] = ()
) -> tuple[ChangeCounts, dict[str, int]]:
    """Fill the table `changes`, in the writing thread and a transaction of the caller. Returns the counts, and the
    remaining problems by segment. Raises duckdb.Error, OSError."""
    store.execute("DELETE FROM changes")
    store.insert_rows("changes", [row for change in robots for row in robots_rows(change)])
    store.execute(URLS)
    store.execute(BEFORE)
    _find_problems(store, baseline, rules)
    store.execute(_pairs(baseline.fields))
    for first in range(1, store.execute("SELECT count(*) FROM change_pairs")[0][0] + 1, AT_ONCE):
        rows = store.execute("FROM change_pairs WHERE n BETWEEN ? AND ? ORDER BY n", [first, first + AT_ONCE - 1])
        store.insert_rows("changes", [change for row in rows for change in _changed(*row[1:])])
    store.execute(ADDED_OR_REMOVED)
    counts: dict[int, int] = dict(store.execute("SELECT rank, count(*) FROM change_urls GROUP BY rank"))
    problems: dict[str, dict[str, int]] = {NEW_PROBLEM: {}, SOLVED_PROBLEM: {}}
    for change, severity, number in store.execute(
        "SELECT change, severity, count(*) FROM changes WHERE rule IS NOT NULL GROUP BY ALL"
    ):
        problems[change][severity] = number
    kinds: dict[str, int] = dict(store.execute(COUNTS))
    remaining: dict[str, int] = dict(store.execute(REMAINING))
    for table in ("urls", "before", "now", "then", "reached", "severities", "pairs"):
        store.execute(f"DROP TABLE temp.change_{table}")
    numbers = {change: counts.get(rank, 0) for rank, change in enumerate(RANKS, 1)}
    counted_changes = ChangeCounts(
        baseline.started,
        **numbers,
        new_problems=problems[NEW_PROBLEM],
        solved_problems=problems[SOLVED_PROBLEM],
        not_compared=rules.left_out,
        what_changed=kinds,
        robots=list(robots),
    )
    return counted_changes, remaining


def robots_rows(change: RobotsChange) -> Iterator[dict[str, object]]:
    """Yield rows of `changes` for a robots.txt: rules and sitemaps, old and new, and the URLs that this concerns."""
    place = {"url": change.robots, "change": ROBOTS_CHANGE}
    for what, old, new in (
        ("rules", change.removed, change.added),
        ("sitemaps", change.sitemaps_removed, change.sitemaps_added),
    ):
        if old or new:
            yield {**place, "what": what, **dict(zip(("before", "after"), _items(old, new), strict=True))}
    for one, text in zip(change.verdicts, verdicts_in_words(change), strict=True):
        yield {**place, "what": one.change, "after": f"{text}, such as {one.example}"}
    if change.not_compared:
        yield {**place, "what": "rules", "after": f"not compared: {change.not_compared}"}


def _find_problems(store: Store, baseline: Baseline, rules: Compared) -> None:
    ids = list(rules.severities)
    store.execute(REACHED)
    store.execute(SEVERITY, [ids, list(rules.severities.values())])
    now = PROBLEMS.format(name="now", urls=f"main.urls WHERE {CURRENT}", findings="main.findings", known=LISTED_NOW)
    then = PROBLEMS.format(name="then", urls=LISTED, findings=f"{RESPELLED}.findings", known="change_before")
    for statement in (now, then):
        store.execute(statement, [ids])
    for change, name, other, condition, side in (
        (NEW_PROBLEM, "now", "then", IS_NEW, "after"),
        (SOLVED_PROBLEM, "then", "now", IS_SOLVED, "before"),
    ):
        statement = FOUND.format(
            change=change, name=name, other=other, condition=condition, severities=ORDER, note=Severity.INFO, side=side,
            of_links=sorted({*OF_VERSIONS.values()}),
        )  # fmt: skip
        store.execute(statement, [list(rules.of_pages), rules.pages_of_files, rules.files])


def _changed(
    url: str, sitemap: str, line: int | None, names: Sequence[str], *texts: str
) -> Iterator[dict[str, object]]:
    """Yield rows of `changes` for a changed URL. `texts`: JSON of entry and reply, now and before."""
    now, now_reply, before, before_reply = map(json.loads, texts)
    for what, old, new in differences(names, (before, before_reply), (now, now_reply)):
        place = {"url": url, "sitemap": sitemap, "line": line}
        yield {**place, "change": CHANGED, "what": what, "before": old, "after": new}


def differences(
    names: Iterable[str], before: tuple[Json, Json], now: tuple[Json, Json]
) -> Iterator[tuple[str, str | None, str | None]]:
    """Yield what changed, with the old and new value in words. `names`: `changed_fields` of a url record; `before`,
    `now`: the entry and its reply."""
    whats = dict.fromkeys(map(_what, names))
    if not {before[0].get("indexability"), now[0].get("indexability")} & UNREAD_PAGES:
        whats |= {"indexability": None}
    for what in whats:
        old, new = _value(what, *before), _value(what, *now)
        if what == CONTENT:
            yield what, _length(before[1]), f"{_length(now[1])}, {_likeness(before[1], now[1])}"
        elif isinstance(old or new, (list, dict)):
            yield what, *_items(old, new)
        elif (texts := (_text(old), _text(new)))[0] != texts[1]:
            yield what, *texts


def _what(name: str) -> str:
    """What a changed field is about: those of a reply that belong together have one name."""
    field = name.removeprefix("reply.")
    if field == name:
        return name
    return "status" if field in ANSWER else {"noindex_agents": "noindex", "content_hash": CONTENT}.get(field, field)


def _value(what: str, entry: Json, reply: Json) -> Any:  # Any: as in `Json`
    if what == "status":
        return answer(reply)
    if what == "noindex":
        return (reply.get("noindex_agents") and f"for {', '.join(reply['noindex_agents'])}") or reply.get(
            "noindex", False
        )
    if what in REPLY:
        return reply.get(what)
    if what.startswith(f"{EXTRA}."):
        return (entry.get(EXTRA) or {}).get(what.partition(".")[2])
    value = entry.get(what)
    return ", ".join(value or ()) or None if what == "blocked_for" else value


def _length(reply: Json) -> str:
    return counted(reply.get("words") or 0, "word")


def _likeness(before: Json, now: Json) -> str:
    """How far the main content of a page has changed."""
    bits = distance(before.get("simhash") or "0", now.get("simhash") or "0")
    return f"{'changed a little' if bits <= LITTLE else 'changed a lot'} ({bits} of {BITS} bits)"


def answer(reply: Json) -> str:
    """The answer to a request in a few words: `404`, `301 to https://example.com/`, `no answer in time`."""
    status, kind = reply.get("status"), reply.get("kind", "unchecked")
    if reply.get("redirects"):
        end = "" if kind == "redirected" else f", {_answer_of(kind, reply.get('final_status'))}"
        return f"{status} to {reply.get('final_url')}{end}"
    return _answer_of(kind, status)


def _answer_of(kind: str, status: int | None) -> str:
    if status is None:
        return REPLIES.get(kind, kind)
    return str(status) if kind in ("ok", "http-error") else f"{status}, {REPLIES.get(kind, kind)}"


def _items(old: object, new: object) -> tuple[str | None, str | None]:
    """The items of two lists, or the objects, that the other side lacks. None for both if they only differ beyond what
    is known here, or in their order."""
    before, now = ([] if value is None else value if isinstance(value, list) else [value] for value in (old, new))
    gone, come = [one for one in before if one not in now], [one for one in now if one not in before]
    if not gone and not come:
        return None, None
    old_text, new_text = (_text(", ".join(map(_words, items)) or None) for items in (gone, come))
    return old_text, new_text


def _words(value: object) -> str:
    """The texts in a value, one after the other."""
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, list):
        return " ".join(filter(None, map(_words, value)))
    return "" if value is None else str(value)


def _text(value: object) -> str:
    text = "none" if value is None else {True: "yes", False: "no"}[value] if isinstance(value, bool) else str(value)
    return text if len(text) <= MAX_TEXT else text[: MAX_TEXT - len(CUT)] + CUT
