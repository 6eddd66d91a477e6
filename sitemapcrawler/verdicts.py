"""Who may crawl what: the verdicts of robots.txt on every listed URL, and the record of each robots.txt."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from functools import partial

from scrapy.exceptions import DownloadCancelledError

from sitemapcrawler import urls
from sitemapcrawler.items import RobotsRecord, UrlRecord
from sitemapcrawler.policies import Policies
from sitemapcrawler.refusals import AddressRefused
from sitemapcrawler.robots import Agent, Judge, Policy
from sitemapcrawler.rules import judge as rules
from sitemapcrawler.rules.facts import Counted, FileFacts, RobotsFacts, VerdictFacts

OURS = (AddressRefused, DownloadCancelledError)
"""Failures that are our own doing: what the host would say is not known."""


class Verdicts:
    """Judges listed URLs for `agents`. `own` is who we are ourselves, for the delay that is asked of us."""

    def __init__(self, policies: Policies, agents: Sequence[Agent], own: Agent, judge: rules.Judge) -> None:
        self.agents = tuple(agents)
        self.skipped: Counter[str] = Counter()
        """URLs that were not judged, by reason."""
        self._policies = policies
        self._own = own
        self._rules = judge
        self._judges: dict[str, Authority] = {}

    @property
    def blocked(self) -> Counter[str]:
        """URLs that each crawler is denied, over all authorities; crawlers that are denied nothing are left out."""
        return sum((authority.blocked for authority in self._judges.values()), Counter())

    async def judge(self, records: Sequence[UrlRecord], file: FileFacts | Counted | None) -> bool:
        """Say of each record whom robots.txt denies it; True where some have findings of it now."""
        if not self.agents:
            return False
        found = False
        by = list(by_origin(records))
        await self._policies.prepare(origin for origin, _ in by if self._policies.at(origin) is None)
        for origin, alike in by:
            policy = self._policies.at(origin)
            if policy is None or isinstance(self._policies.failure(origin), OURS):
                self.skipped["robots"] += len(alike)
                continue
            denied = self._authority(origin, policy).judge(alike)
            if file is not None:
                facts_of = partial(VerdictFacts, file=file, policy=policy, agents=self.agents)
                for together in denied:
                    found |= self._rules.verdicts(together, facts_of)
        return found

    def restore(self, origin: str, judged: int, skipped: int, nobody: int, blocked: Counter[str]) -> None:
        """Count URLs of an authority that an earlier run of the job has judged, or could not."""
        self.skipped["robots"] += skipped
        policy = self._policies.at(origin)
        if policy is not None:
            authority = self._authority(origin, policy)
            authority.urls += judged
            authority.nobody += nobody
            authority.blocked.update(blocked)

    def records(self, starts: Iterable[str], given_up: Collection[str] = ()) -> Iterator[RobotsRecord]:
        """The record of each robots.txt that was asked for, judged. `starts`: the sites that the crawl was to visit;
        `given_up`: those of them that were visited over http in place of https."""
        asked = set(starts)
        for origin, policy in self._policies.known.items():
            authority = self._authority(origin, policy)
            record = authority.record(self._own, self._policies.final_url(policy))
            facts = RobotsFacts(record, policy, self.agents, origin in asked, authority.nobody, origin in given_up)
            self._rules.robots(facts)
            yield record

    def _authority(self, origin: str, policy: Policy) -> Authority:
        known = self._judges.get(origin)
        if known is None:
            known = self._judges[origin] = Authority(policy, self.agents)
        elif known.policy is not policy:
            known.renew(policy)
        return known


class Authority:
    """The verdicts of one robots.txt."""

    def __init__(self, policy: Policy, agents: Sequence[Agent]) -> None:
        self.urls = 0
        """URLs judged."""
        self.nobody = 0
        """URLs that no crawler is allowed."""
        self.policy = policy
        self._agents = agents
        self._judge = Judge(policy, agents)

    @property
    def blocked(self) -> Counter[str]:
        """URLs by crawler that is denied them."""
        return self._judge.blocked

    def renew(self, policy: Policy) -> None:
        """Go on with a newer answer."""
        earlier = self.blocked
        self.policy = policy
        self._judge = Judge(policy, self._agents)
        self._judge.blocked = earlier

    def judge(self, records: Sequence[UrlRecord]) -> Iterable[list[UrlRecord]]:
        """Say of each record whom it is denied; those that are denied somebody, by whom that is."""
        denied: dict[tuple[str, ...], list[UrlRecord]] = {}
        for record, agents in zip(records, self._judge.judge([record.loc for record in records]), strict=True):
            record.blocked_for = agents
            if agents:
                denied.setdefault(agents, []).append(record)
        for agents, alike in denied.items():
            self.nobody += len(alike) * (len(agents) == len(self._agents))
        self.urls += len(records)
        return denied.values()

    def record(self, own: Agent, final_url: str) -> RobotsRecord:
        """What is known of the file, and what came of it."""
        policy = self.policy
        return RobotsRecord(
            policy.url,
            policy.status,
            str(policy.outcome),
            final_url if final_url != policy.url else None,
            policy.facts.size,
            [sitemap.url for sitemap in policy.sitemaps],
            policy.timing(own).crawl_delay,
            self.urls,
            dict(self.blocked),
            {agent.name: group for agent in self._agents if (group := inherited(policy, agent)) is not None},
            error=policy.reason,
        )


def inherited(policy: Policy, agent: Agent) -> str | None:
    """Whose group a crawler follows that has none of its own; None where it has, or follows none."""
    group = policy.group_of(agent)
    return None if group is None or group.token == agent.name.lower() else group.token


def by_origin(records: Sequence[UrlRecord]) -> Iterator[tuple[str, Sequence[UrlRecord]]]:
    """The records of each authority; those without one are left out."""
    first = urls.origin(records[0].loc) if records else None
    home = f"{first}/"
    if first is not None and all(record.loc.startswith(home) for record in records):
        yield first, records
        return
    found: dict[str, list[UrlRecord]] = {}
    for record in records:
        origin = urls.origin(record.loc)
        if origin is not None:
            found.setdefault(origin, []).append(record)
    yield from found.items()
