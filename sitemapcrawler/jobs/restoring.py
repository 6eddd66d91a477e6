"""Counts of a crawl as they stood when an earlier run of its job ended, from what that run left in the database: what
each file adds to them."""

from __future__ import annotations

import json
from collections import Counter
from datetime import UTC, datetime
from typing import Any

import msgspec

from sitemapcrawler import urls
from sitemapcrawler.audit.reading import Told
from sitemapcrawler.audit.verdicts import Verdicts
from sitemapcrawler.download.policies import Policies
from sitemapcrawler.items import SitemapRecord
from sitemapcrawler.jobs.store import Store
from sitemapcrawler.jobs.store.schema import CARRIED, CURRENT
from sitemapcrawler.jobs.store.sql import fetched, prefix_of
from sitemapcrawler.replies.chase import Step
from sitemapcrawler.robots.second_opinion import MAX_WAITING
from sitemapcrawler.rules.facts.given import FileFacts
from sitemapcrawler.verification.status import Status

PREFIX = prefix_of("loc")
_step = msgspec.json.Decoder(Step).decode


def restore(store: Store, spider: Any, holding: bool) -> None:
    """Give the parts of a crawl back what they knew. `holding`: url records will be counted when they are held back
    again."""
    store.purge()
    store.execute(f"DELETE FROM urls WHERE NOT ({CURRENT})")  # found again at the end
    store.execute(f"DELETE FROM {CARRIED}")
    store.drop_items()
    for (text,) in store.execute("SELECT tally FROM files"):
        add(json.loads(text), spider)
    ((count,),) = store.execute("SELECT count(*) FROM urls")
    spider.selection.count += count
    spider.selection.earlier = count
    restore_policies(store, spider.policies)
    restore_verdicts(store, spider.verdicts)
    if spider.status is not None:
        restore_replies(store, spider.status)
        if not holding:
            restore_counts(store, spider.status)


def tally_of(record: SitemapRecord, told: Told) -> dict[str, Any]:
    """What a file adds to the counts of the crawl, for `add`."""
    file = getattr(record, "file", None)
    tally: dict[str, Any] = {"skipped": told.skipped, "alias": told.alias}
    if isinstance(file, FileFacts):
        tally |= {"findings": file.findings, "severities": file.severities, "rules_skipped": file.skipped}
    if told.trust is not None:
        tally["trust"] = told.trust
    return {name: value for name, value in tally.items() if value}


def add(tally: dict[str, Any], spider: Any) -> None:
    """Count what a file adds to the counts of a crawl."""
    skipped = Counter(tally.get("skipped", {}))
    spider.frontier.skipped["follow"] += skipped.pop("follow", 0)
    spider.selection.skipped.update(skipped)
    spider.judge.counts.update(tally.get("findings", {}))
    spider.judge.severities.update(tally.get("severities", {}))
    spider.judge.skipped.update(tally.get("rules_skipped", {}))
    if spider.status is not None and "trust" in tally:
        spider.status.trusts.restore(tally["trust"])


def restore_policies(store: Store, policies: Policies) -> None:
    """The robots files that were asked for, the newest of each authority."""
    newest = "row_number() OVER (PARTITION BY origin ORDER BY asked_at DESC) = 1"
    now = datetime.now(UTC).replace(tzinfo=None)
    rows = store.execute(f"SELECT origin, asked_at, answer FROM policies QUALIFY {newest} ORDER BY rowid")
    for origin, asked_at, answer in rows:
        policies.restore(origin, (now - asked_at).total_seconds(), json.loads(answer))


def restore_verdicts(store: Store, verdicts: Verdicts, run: int | None = None) -> None:
    """How many URLs of each authority were judged, and denied to whom: of all files, or those of a `run`."""
    if not verdicts.agents:
        return
    where = "" if run is None else f"WHERE sitemap IN (SELECT sitemap FROM files WHERE run = {run})"
    denied: dict[str, Counter[str]] = {}
    for prefix, agent, count in store.execute(
        f"SELECT prefix, agent, count(*) FROM "
        f"(SELECT {PREFIX} AS prefix, unnest(blocked_for) AS agent FROM urls {where}) "
        "GROUP BY ALL"
    ):
        denied.setdefault(prefix, Counter())[agent] = count
    for prefix, judged, left, nobody in store.execute(
        f"SELECT {PREFIX}, count(blocked_for), count(*) - count(blocked_for), "
        f"count(*) FILTER (len(blocked_for) = ?) FROM urls {where} GROUP BY 1",
        [len(verdicts.agents)],
    ):
        origin = urls.origin(f"{prefix}/")
        if origin is not None:
            verdicts.restore(origin, judged, left, nobody, denied.get(prefix, Counter()))
    blocked = f"{where} {'AND' if where else 'WHERE'} len(blocked_for) > 0"
    verdicts.compare_again(store.execute(f"SELECT loc, blocked_for FROM urls {blocked} LIMIT {MAX_WAITING}"))


def restore_replies(store: Store, status: Status) -> None:
    """What came of every request."""
    cursor = store.cursor().execute("SELECT method, url, step FROM replies ORDER BY asked_at")
    for rows in fetched(cursor):
        for method, key, step in rows:
            status.remember(method, key, _step(step))


def restore_counts(store: Store, status: Status) -> None:
    """What came of every URL."""
    status.counts.update(
        dict(
            store.execute(
                "SELECT coalesce(reply.reason, reply.kind), count(*) FROM urls WHERE reply IS NOT NULL GROUP BY 1"
            )
        )
    )
    cursor = store.cursor().execute(
        "SELECT loc, any_value(reply.kind <> 'ok' OR reply.soft_404 IS NOT NULL) FROM urls "
        "WHERE reply.kind <> 'unchecked' GROUP BY 1"
    )
    for rows in fetched(cursor):
        for loc, bad in rows:
            status.count_again(loc, bad)
