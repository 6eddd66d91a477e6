"""Which listed URLs may be asked whether they work: on the site, not forbidden to us, drawn into the sample."""

from __future__ import annotations

from collections.abc import Sequence

from sitemapcrawler import urls
from sitemapcrawler.items import UrlRecord
from sitemapcrawler.params import Params
from sitemapcrawler.policies import Policies
from sitemapcrawler.reply import Reason
from sitemapcrawler.robots import Agent
from sitemapcrawler.rules.facts import Counted, FileFacts
from sitemapcrawler.sampling import Share
from sitemapcrawler.verdicts import by_origin


class Admission:
    """Says of records why their URLs are not to be asked."""

    def __init__(self, params: Params, policies: Policies, own: Agent | None) -> None:
        """`own`: who we are to robots.txt; None where that is not obeyed."""
        self._policies = policies
        self._own = own
        self._everywhere = params.verify_offsite
        self._named = {host for host, _ in params.named_authorities}
        self._sampled = params.sample is not None
        share = params.sample.share if params.sample is not None else None
        self._share = None if share is None else Share(share, params.seed)

    async def refuse(self, records: Sequence[UrlRecord], file: FileFacts | Counted | None) -> dict[int, Reason]:
        """{`id` of a record: why its URL is not to be asked}, for those that are not.

        Where nothing is drawn, robots.txt is left to the request itself, which asks for it.
        """
        refused: dict[int, Reason] = {}
        for origin, alike in by_origin(records):
            if isinstance(file, FileFacts) and self.is_offsite(f"{origin}/", file):
                refused.update((id(record), Reason.OFF_SITE) for record in alike)
            elif self._sampled:
                refused.update(await self._draw(origin, alike))
        return refused

    def is_offsite(self, url: str, file: FileFacts) -> bool:
        """True for a URL on a host that is neither the file's own nor named by the user, and that no robots.txt gives
        the file a right to list. A file of this machine may list any host."""
        if self._everywhere or file.authority is None:
            return False
        place = urls.authority(url)
        own = {found[0] for home in file.places if (found := urls.authority(home)) is not None}
        return place is not None and place[0] not in own | self._named and not file.proven(url)

    async def _draw(self, origin: str, records: Sequence[UrlRecord]) -> dict[int, Reason]:
        refused: dict[int, Reason] = {}
        if self._share is not None:
            out = (record for record in records if not self._share.takes(urls.visit_key(record.loc)))
            refused.update((id(record), Reason.SAMPLED_OUT) for record in out)
        policy = self._policies.at(origin)
        if policy is None and len(refused) < len(records) and self._own is not None:
            policy = await self._policies.of(origin)
        if policy is not None and policy.status is not None and self._own is not None:  # silent hosts are in the sample
            denied = (record for record in records if not policy.allows(record.loc, self._own))
            refused.update((id(record), Reason.BLOCKED) for record in denied)
        return refused
