"""Compares a crawl with its baseline: which entries were added, removed or changed, and which files are the same."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path

from sitemapcrawler import urls
from sitemapcrawler.download.body_cache import BodyStorage
from sitemapcrawler.download.policies import HTTP_OK, Policies, restored
from sitemapcrawler.download.shared import FINISHED
from sitemapcrawler.envelopes import SitemapEnd
from sitemapcrawler.feeds.folder import CACHE
from sitemapcrawler.feeds.jsontext import JsonText, Rows
from sitemapcrawler.items import READ, UrlRecord
from sitemapcrawler.jobs.committing import Committer
from sitemapcrawler.jobs.protocols import Arguments
from sitemapcrawler.jobs.store import Store, StoreError
from sitemapcrawler.jobs.store.baseline import Baseline, EntryHashes, differences, kind_of_change, sites_before_here
from sitemapcrawler.jobs.store.files import JobTable
from sitemapcrawler.reader.decode import inflate
from sitemapcrawler.reader.faults import Faults, Limits
from sitemapcrawler.robots import Policy, RobotsOutcome
from sitemapcrawler.robots.text import MAX_SITEMAP_BYTES
from sitemapcrawler.rules.facts.given import GONE
from sitemapcrawler.rules.facts.sites import ADDED, CHANGED, UNCHANGED, sites_of
from sitemapcrawler.urls.display import masked_bytes


class Comparison:
    """Comparison of a crawl with its baseline."""

    def __init__(self, store: Store, params: Arguments) -> None:
        """Raises StoreError if the baseline cannot be used or is of another site."""
        self.baseline = Baseline(store, Path(params.baseline or ""))
        with self.baseline.usable():
            if not params.force:
                check_site(self.baseline, params)
            self.baseline.compare(judged_alike(self.baseline, params), params.verify != "off")
        self.only_changes = params.only == "changes"
        self._entries: dict[str, EntryHashes] = {}
        self._entry_text = JsonText(Rows(self.baseline.fields))
        self._reply_text = JsonText(Rows(self.baseline.replies))

    async def judge(self, writer: Committer, sitemap: str, records: Sequence[UrlRecord]) -> None:
        """Set `change` and `changed_fields` of entries of a file."""
        known = self._entries.get(sitemap)
        if known is None:
            known = await writer.run(partial(self.baseline.entries, sitemap))
            if known is None:  # the database failed
                return
            self._entries[sitemap] = known
        texts = self._texts(records)
        outside: list[tuple[UrlRecord, tuple[str, str]]] = []
        doubtful: list[tuple[UrlRecord, tuple[str, str]]] = []
        for record, text in zip(records, texts, strict=True):
            if hash((record.loc, *text)) in known.same:
                record.change = UNCHANGED
            else:
                (doubtful if hash(record.loc) in known.locs else outside).append((record, text))
        await self._look_up(writer, doubtful, sitemap)
        await self._look_up(writer, outside, None)

    async def _look_up(
        self, writer: Committer, entries: Sequence[tuple[UrlRecord, tuple[str, str]]], sitemap: str | None
    ) -> None:
        """Compare entries that are not known to be unchanged with those of the file `sitemap`, or of any file."""
        if not entries:
            return
        locs = [record.loc for record, _ in entries]
        before = await writer.run(partial(self.baseline.texts, locs, sitemap))
        if before is None:  # the database failed
            return
        for record, text in entries:
            was = before.get(record.loc, [])
            if not was:
                record.change = ADDED
                continue
            found = [differences(*text, earlier) for earlier in was]
            record.change = UNCHANGED if [] in found else CHANGED
            record.changed_fields = min(found, key=len)
            record.what_changed = kind_of_change(record.changed_fields) if record.change == CHANGED else None

    def _texts(self, records: Sequence[UrlRecord]) -> list[tuple[str, str]]:
        """Compared parts of entries, as text: (entry, reply)."""
        entries = [line.decode() for line in self._entry_text.lines(records).splitlines()]
        entries = entries or ["{}"] * len(records)  # the baseline has no field to compare
        if not self.baseline.with_replies:
            return [(entry, "") for entry in entries]
        replies = [
            self._reply_text.lines([record.reply]).decode()[:-1]
            if record.reply is not None and record.reply.kind != "unchecked"
            else ""
            for record in records
        ]
        return list(zip(entries, replies, strict=True))

    def end_file(self, record: SitemapEnd) -> None:
        """Set the outcome of a file that was read and has the content that it had in the baseline."""
        self._entries.pop(record.sitemap, None)
        result = record.result
        is_same = result.digest == self.baseline.digests.get(record.sitemap) and not result.tally.alias
        if is_same and record.outcome in READ:
            record.outcome = UNCHANGED

    def judged_files(self, store: Store, narrowed: bool, lost: Collection[str] = ()) -> tuple[list[str], list[str]]:
        """Split the baseline's files that may list less now: (files whose current content is known, others).

        `narrowed`: a limit left files out; `lost`: sites where it did, or that could not be checked.
        """
        outcomes = {
            sitemap: (outcome, status)
            for sitemap, outcome, status in store.execute("SELECT sitemap, outcome, status FROM sitemaps")
        }
        # If no file of a site could be read, the site is down rather than empty.
        sites: dict[str, str] = dict(store.execute(sites_of()))
        up = {sites[sitemap] for sitemap, (outcome, _) in outcomes.items() if outcome in READ}
        down = {
            sites[sitemap]
            for sitemap, (outcome, status) in outcomes.items()
            if outcome not in READ and status not in GONE
        }
        up -= down | set(lost)
        outcomes |= {url: ("missed", status) for url, status in _missed(store)}
        judged: list[str] = []
        others: list[str] = []
        for sitemap, site in store.execute(sites_before_here(complete=not lost)):
            outcome, status = outcomes.get(sitemap, (None, None))
            known = outcome in READ or status in GONE if outcome else site in up and not narrowed
            (judged if known else others).append(sitemap)
        return judged, others


def judged_alike(baseline: Baseline, params: Arguments) -> bool:
    """True if robots.txt is checked for crawlers, and as far as known for the same ones as in the baseline."""
    arguments = baseline.job.get("arguments")
    if arguments is None and baseline.basis is not None:
        arguments = baseline.basis.arguments
    alike = arguments is None or arguments.get("agents") == params.asks_for().get("agents")
    return alike and bool(params.judged_agents)


def _missed(store: Store) -> list[tuple[object, ...]]:
    """(URL, HTTP status) of guessed URLs that were no sitemaps; the status is null if unknown."""
    return store.execute("SELECT sitemap, (tally->>'status')::INTEGER FROM files WHERE tally->>'missed' = 'true'")


def check_site(baseline: Baseline, params: Arguments) -> None:
    """Raise StoreError if the baseline is incomplete or of another site."""
    if baseline.job and baseline.job.get("state") != FINISHED:
        raise StoreError(
            f"baseline {baseline.path} was not finished: what it lacks would count as added; "
            "finish it, or accept it with force=yes"
        )
    named = {_site(host) for host, _ in params.named_authorities}
    if baseline.partial is not None:
        raise StoreError(
            f"baseline {baseline.path} is not complete ({baseline.partial}): what it lacks would count as added; "
            "accept it with force=yes"
        )
    held = {_site(host) for host in baseline.hosts()}
    if not named or not held or _same_start(baseline.job, params) or _some_akin(held, named):
        return
    if not baseline.job and _some_akin({_site(host) for host in baseline.hosts("loc")}, named):
        return  # the sitemaps may be on another host than the site
    raise StoreError(
        f"baseline {baseline.path} is of {', '.join(sorted(held)[:3])}, not of {', '.join(sorted(named)[:3])}; "
        "force=yes compares them anyway"
    )


def _same_start(job: JobTable, params: Arguments) -> bool:
    """True if both crawls started from the same domain or sitemap, wherever that led."""
    before, now = job.get("arguments") or {}, params.asks_for()
    return any(name in now and before.get(name) == now[name] for name in ("domain", "sitemap"))


def _some_akin(held: Iterable[str], named: Iterable[str]) -> bool:
    return any(_akin(one, other) for one in held for other in named)


def _site(host: str) -> str:
    """Host without port and `www.`."""
    place = urls.authority(f"http://{host}/")
    return place.bare_host if place is not None else host.removeprefix("www.")


def _akin(one: str, other: str) -> bool:
    return one == other or one.endswith(f".{other}") or other.endswith(f".{one}")


def policies_before(baseline: Baseline, now: Policies) -> dict[str, Policy]:
    """{origin: policy} of the baseline. `now`: the policies of this crawl."""
    if baseline.job:
        return {origin: restored(answer) for origin, answer in baseline.robots().items()}
    storage = BodyStorage(baseline.path.parent / CACHE, reads_only=True)
    records = {url: answer for url, *answer in baseline.robots_records()}
    found = {}
    for origin, policy in now.by_origin.items():
        unknown = [HTTP_OK, RobotsOutcome.PARSED, now.final_url(policy), None]
        before = _answered(storage, policy.url, *records.get(policy.url, unknown))
        if before is not None:
            found[origin] = before
    return found


def _answered(
    storage: BodyStorage, url: str, status: int | None, outcome: str, final_url: str | None, error: str | None
) -> Policy | None:
    if outcome == RobotsOutcome.PARSED:
        return _kept(storage, url, final_url or url)
    if outcome == RobotsOutcome.TOO_MANY_REDIRECTS:
        return Policy.too_many_redirects(url, status)
    if status is None:
        return Policy.unreachable(url, error or "")
    return Policy.from_response(url, status, b"")


def _kept(storage: BodyStorage, url: str, final_url: str) -> Policy | None:
    kept = storage.named(final_url)
    with suppress(OSError):  # the body is damaged
        if kept is not None:
            body = b"".join(inflate(kept.chunks(), Limits(max_bytes=MAX_SITEMAP_BYTES), Faults()))
            return Policy.from_response(url, HTTP_OK, masked_bytes(body), base=final_url)
    return None
