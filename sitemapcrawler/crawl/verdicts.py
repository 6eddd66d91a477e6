"""Robots.txt verdicts on every listed URL, the record of each robots.txt, and what judges the batches of a crawl."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import partial

from sitemapcrawler import urls
from sitemapcrawler.download.policies import Policies
from sitemapcrawler.envelopes import FreshBatch, SitemapEnd
from sitemapcrawler.items import FindingRecord, ReplyRecord, RobotsRecord, UrlRecord
from sitemapcrawler.reader import ChildRecord
from sitemapcrawler.reader.notes import Notes
from sitemapcrawler.replies import Reason
from sitemapcrawler.replies.indexability import REFERENCE, set_indexability
from sitemapcrawler.replies.page.preferences import set_usage
from sitemapcrawler.robots import Agent, BatchVerdicts, Policy
from sitemapcrawler.robots.agents import SEARCH, agent
from sitemapcrawler.robots.second_opinion import SecondOpinion
from sitemapcrawler.rules import judge as rules
from sitemapcrawler.rules.facts.given import AssetFacts, Counted, FileFacts, RobotsFacts, VerdictFacts, assets
from sitemapcrawler.rules.judge import Judge
from sitemapcrawler.verification.verifying import by_origin

ASSET_AGENTS = {
    "image": agent("Googlebot-Image"),
    "thumbnail_loc": agent("Googlebot-Image"),
    "content_loc": agent("Googlebot-Video"),
}
"""{role of an asset: agent that fetches it}. Without a group of its own, it follows that of Googlebot.
Source: https://developers.google.com/search/docs/crawling-indexing/overview-google-crawlers"""
ASSET_RULES = {
    "image": "image-blocked-by-robots",
    "thumbnail_loc": "video-asset-blocked",
    "content_loc": "video-asset-blocked",
}


class Verdicts:
    """Judges listed URLs for `agents`. `own`: our own agent, for the crawl delay."""

    def __init__(self, policies: Policies, agents: Sequence[Agent], own: Agent, judge: rules.Judge) -> None:
        self.agents = tuple(agents)
        engines = [agent.name for agent in agents if agent.group == SEARCH]
        self.search_engine = REFERENCE if REFERENCE in engines or not engines else engines[0]
        """Crawler that decides whether a URL is indexable."""
        self.skipped: Counter[str] = Counter()
        """URLs not judged, by reason."""
        self._with_sitemap: set[str | None] = set()
        self._policies = policies
        self._own = own
        self._rules = judge
        self._judges: dict[str, AuthorityVerdicts] = {}
        self._asset_judges: dict[str, BatchVerdicts | None] = {}

    @property
    def blocked(self) -> Counter[str]:
        """Blocked URLs by agent, over all authorities; agents that nothing is blocked for are absent."""
        return sum((authority.blocked for authority in self._judges.values()), Counter())

    def is_blocked(self, url: str) -> bool:
        """True for a URL that robots.txt blocks for `search_engine`; False if it is unknown."""
        policy = self._policies.at(url)
        return policy is not None and policy.status is not None and not policy.allows(url, self.search_engine)

    async def judge(self, records: Sequence[UrlRecord], file: FileFacts | Counted | None, notes: Notes) -> None:
        """Set on each record the agents that robots.txt blocks, and the usage preferences that it states."""
        if not self.agents:
            return
        by = list(by_origin(records))
        await self._policies.prepare(origin for origin, _ in by if origin not in self._policies.by_origin)
        for origin, alike in by:
            policy = self._policies.at(origin)
            if policy is None or policy.is_ours:
                self.skipped["robots"] += len(alike)
                continue
            denied = self._authority(origin, policy).judge(alike)
            for record in (one for names, some in denied.items() if self.search_engine in names for one in some):
                set_indexability(record, self.search_engine)
            if file is not None:
                facts_of = partial(VerdictFacts, file=file, policy=policy, agents=self.agents)
                for together in denied.values():
                    self._rules.verdicts(together, facts_of, notes)

    def note_sitemap(self, url: str) -> None:
        """Note that the sitemap at a URL was read."""
        self._with_sitemap.add(urls.origin(url))

    def judge_assets(
        self, records: Sequence[UrlRecord], file: FileFacts | Counted, notes: Notes, count_skipped: bool
    ) -> None:
        """Judge the images and video files of entries without requesting them.

        Hosts with an unknown robots.txt are left to `Status`, which may request the files; with `count_skipped`, they
        are counted as skipped instead.
        """
        named = [(one, role, url) for one in records if one.images or one.videos for role, url in assets(one)]
        by: dict[str, list[tuple[UrlRecord, str, str]]] = {}
        for asset in named if self._rules.judges(ASSET_RULES.values()) else ():
            by.setdefault(urls.origin(asset[2]) or "", []).append(asset)
        for origin, alike in by.items():
            judge = self._asset_judge(origin, keep_unknown=not count_skipped)
            if judge is not None:
                self._rules.assets(_denied(judge, alike, notes), file, notes)
            elif count_skipped:
                self._rules.skip({ASSET_RULES[role] for _, role, _ in alike}, file)

    def asset_denied_to(self, url: str, role: str) -> list[str] | None:
        """Google's crawler of an image or video file if robots.txt denies it that; empty if not, or if `judge_assets`
        has reported it; None if robots.txt is unknown."""
        policy, crawler = self._policies.at(url), ASSET_AGENTS[role]
        if self._asset_judges.get(urls.origin(url) or "") is not None:
            return []
        if policy is None or policy.closed_to(crawler):
            return None
        return [] if policy.allows(url, crawler) else [crawler.name]

    def _asset_judge(self, origin: str, keep_unknown: bool) -> BatchVerdicts | None:
        """The robots.txt verdicts on assets of a host; None if its robots.txt is unknown.

        `keep_unknown`: remember unknown hosts as unknown, since `Status` may have requested their files meanwhile.
        Otherwise they are not stored: a sitemap may name any number of them.
        """
        if origin in self._asset_judges:
            return self._asset_judges[origin]
        policy = self._policies.at(origin)
        crawlers = ASSET_AGENTS.values()
        unknown = policy is None or any(map(policy.closed_to, crawlers))
        judge = None if unknown or policy is None else BatchVerdicts(policy, crawlers)
        if judge is not None or keep_unknown:
            self._asset_judges[origin] = judge
        return judge

    def restore(self, origin: str, judged: int, skipped: int, nobody: int, blocked: Counter[str]) -> None:
        """Add the counts of an authority from an earlier run of the job."""
        self.skipped["robots"] += skipped
        policy = self._policies.at(origin)
        if policy is not None:
            authority = self._authority(origin, policy)
            authority.urls += judged
            authority.nobody += nobody
            authority.blocked.update(blocked)

    def recall(self, judged: Iterable[tuple[str, Sequence[str]]]) -> None:
        """Take up URLs of an earlier run of the job, each with the agents that it is blocked for."""
        for url, blocked in judged:
            policy = self._policies.at(url)
            if policy is not None:
                opinion = self._authority(urls.origin(url) or "", policy).opinion
                opinion.add([] if blocked else [url], [url] if blocked else [])

    def records(self, starts: Iterable[str], given_up: Collection[str] = ()) -> Iterator[RobotsRecord | FindingRecord]:
        """Yield the record of each requested robots.txt, and after it the findings on it.
        `starts`: origins the crawl starts from; `given_up`: those crawled over http instead of https."""
        asked = set(starts)
        sites = {urls.site_of(start) for start in asked} - {""}
        for origin, policy in self._policies.by_origin.items():
            authority = self._authority(origin, policy)
            record = authority.record(self._own, self._policies.final_url(policy))
            start, over_http, found = origin in asked, origin in given_up, origin in self._with_sitemap
            if origin.startswith("file:"):
                record.robots = origin
            disagreements = authority.opinion.disagreements() if start else []
            third_party = not start and not f".{urls.site_of(origin)}".endswith(tuple(f".{site}" for site in sites))
            facts = RobotsFacts(
                record, policy, self.agents, start, authority.nobody, over_http, found, disagreements, third_party
            )
            findings = self._rules.robots(facts)
            yield record
            yield from findings

    def _authority(self, origin: str, policy: Policy) -> AuthorityVerdicts:
        known = self._judges.get(origin)
        if known is None:
            known = self._judges[origin] = AuthorityVerdicts(policy, self.agents)
        elif known.policy is not policy:
            known.renew(policy)
        return known


def _denied(judge: BatchVerdicts, named: Sequence[tuple[UrlRecord, str, str]], notes: Notes) -> Iterator[AssetFacts]:
    """The assets that robots.txt blocks for Google's crawler of their kind."""
    verdicts = judge.judge([url for _, _, url in named])
    for (record, role, url), denied in zip(named, verdicts, strict=True):
        if ASSET_AGENTS[role].name in denied:
            reply, agents = ReplyRecord(reason=Reason.BLOCKED.value), [ASSET_AGENTS[role].name]
            yield AssetFacts(record, url, role, reply, agents, notes.element(record))


class AuthorityVerdicts:
    """The verdicts of one robots.txt."""

    def __init__(self, policy: Policy, agents: Sequence[Agent]) -> None:
        self.urls = 0
        self.nobody = 0
        """URLs blocked for every agent."""
        self._agents = agents
        self._use(policy)

    @property
    def blocked(self) -> Counter[str]:
        """Blocked URLs by agent."""
        return self._judge.blocked

    def renew(self, policy: Policy) -> None:
        """Replace the policy with a newer one; counts stay."""
        earlier = self.blocked
        self._use(policy)
        self._judge.blocked = earlier

    def _use(self, policy: Policy) -> None:
        self.policy = policy
        self._judge = BatchVerdicts(policy, self._agents)
        self.opinion = SecondOpinion(policy, self._judge.agents)

    def judge(self, records: Sequence[UrlRecord]) -> Mapping[tuple[str, ...], list[UrlRecord]]:
        """Set `blocked_for` and `usage` on each record; returns the blocked records by their agents."""
        denied: dict[tuple[str, ...], list[UrlRecord]] = {}
        locs = [record.loc for record in records]
        for record, agents in zip(records, self._judge.judge(locs), strict=True):
            record.blocked_for = agents
            if agents:
                denied.setdefault(agents, []).append(record)
        set_usage(records, self.policy)
        for agents, alike in denied.items():
            self.nobody += len(alike) * (len(agents) == len(self._agents))
        self.urls += len(locs)
        self.opinion.add(locs, (one.loc for alike in denied.values() for one in alike))
        return denied

    def record(self, own: Agent, final_url: str) -> RobotsRecord:
        policy = self.policy
        return RobotsRecord(
            policy.url,
            policy.status,
            str(policy.outcome),
            final_url if final_url != policy.url else None,
            policy.facts.size,
            [sitemap.url for sitemap in policy.sitemaps if not (sitemap.relative and policy.url.startswith("file:"))],
            policy.schemamaps,
            policy.licenses,
            policy.timing(own).crawl_delay,
            self.urls,
            dict(self.blocked),
            {agent.name: group for agent in self._agents if (group := inherited(policy, agent)) is not None},
            error=policy.reason,
        )


def inherited(policy: Policy, agent: Agent) -> str | None:
    """Token of the group that an agent without its own group follows; None if it has one, or follows none."""
    group = policy.group_of(agent)
    return None if group is None or group.token == agent.name.lower() else group.token


class Judging:
    """Judges the batches and files of a crawl."""

    def __init__(self, judge: Judge, policies: Policies, verdicts: Verdicts, skips_assets: bool) -> None:
        """`skips_assets`: images and videos on hosts with an unknown robots.txt count as skipped, since nothing will
        request them."""
        self._judge = judge
        self._policies = policies
        self._verdicts = verdicts
        self._skips_assets = skips_assets

    async def structure(self, item: FreshBatch | SitemapEnd) -> None:
        """Run the rules on entries, or on a file at its end."""
        match item:
            case FreshBatch(is_judged=False, file=FileFacts() as file):
                await self._know_hosts(file, item.urls)
                self._judge.urls(item.urls, file, item.notes)
            case SitemapEnd(facts=FileFacts() as file):
                await self._know_hosts(file, file.children)
                item.findings += self._judge.file(item, file)
                item.result.tally.found = file.found
            case SitemapEnd(facts=Counted() as file):
                item.findings += self._judge.conclude(file)
                item.result.tally.found = file.found

    async def robots(self, batch: FreshBatch) -> None:
        """Set on each record the crawlers that robots.txt blocks, and run the rules on that."""
        await self._verdicts.judge(batch.urls, batch.file, batch.notes)
        if batch.file is not None:
            self._verdicts.judge_assets(batch.urls, batch.file, batch.notes, self._skips_assets)

    async def _know_hosts(self, file: FileFacts, listed: Sequence[UrlRecord | ChildRecord]) -> None:
        """Fetch the robots.txt of listed hosts: it may prove that the file may list their URLs."""
        home = urls.origin(file.place)
        if home is None:  # a local file may list anything, unless it will live elsewhere
            return
        if self._policies.at(home) is None:
            await self._policies.obtain(home)
        own = f"{home}/"
        strange = [record.loc for record in listed if not record.loc.startswith(own)]
        if strange:
            await self._policies.prepare(strange)
