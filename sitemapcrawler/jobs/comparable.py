"""Which problems two crawls can be compared by: what one of them could not know is neither new nor solved."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass

from sitemapcrawler.items import Coverage, SummaryRecord
from sitemapcrawler.jobs.store.baseline import Baseline
from sitemapcrawler.jobs.store.loading import EarlierCoverage, EarlierSummary
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
from sitemapcrawler.rules.judge import Judge
from sitemapcrawler.rules.registry import ON_THE_SITE, Of, Rule

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
    """{id: severity}"""
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
        before, now = baseline.summary or EarlierSummary(), {rule.id for rule in judge.selected}
        alone = sorted(now.symmetric_difference(before.basis.rules)) if before.basis is not None else []
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


def _differing(summary: SummaryRecord, before: EarlierSummary, baseline: Baseline) -> AbstractSet[str]:
    """Arguments that differ, as far as the baseline says, and those that one crawl did not use to the end.
    `before`: the summary of the baseline."""
    found = set()
    if before.basis is not None:
        now, earlier = summary.basis.arguments, before.basis.arguments
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


def _lists(coverage: Coverage | EarlierCoverage | None) -> list[str] | None:
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
