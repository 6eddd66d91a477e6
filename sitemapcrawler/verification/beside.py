"""Requests the lists of pages beside the sitemap, llms.txt and what robots.txt names, and the pages in them."""

from __future__ import annotations

import logging
import re
from collections.abc import Iterable, Iterator

from scrapy import Request
from scrapy.crawler import Crawler
from scrapy.http.request import NO_CALLBACK

from sitemapcrawler import urls
from sitemapcrawler.download.answers import fetch
from sitemapcrawler.download.bodies import Body
from sitemapcrawler.download.policies import Policies
from sitemapcrawler.download.shared import Stop
from sitemapcrawler.items import UrlRecord
from sitemapcrawler.replies.indexability import RobotsVerdicts, judged
from sitemapcrawler.replies.link_files import (
    LLMS_PATH,
    MAX_BYTES,
    CheckedLink,
    FileLink,
    LinkFile,
    LinkFileKind,
    links_of_file,
)
from sitemapcrawler.urls.display import counted
from sitemapcrawler.verification.verifying import Admission, VerificationScope, Verifier

logger = logging.getLogger(__name__)

MAX_NAMED = 5
"""Files of each kind that are requested of those that one robots.txt names."""
MAX_SITES = 100
"""Sites of a crawl whose files are requested."""
_HTML = re.compile(r"\s*(?:<!--.{0,1000}?-->\s*)?<(?:!doctype\s+html|html|head|body)\b", re.IGNORECASE | re.DOTALL)
"""Start of an HTML page."""


class BesideSitemap:
    """Requests these files of each site, and verifies their links like listed URLs."""

    def __init__(
        self,
        crawler: Crawler,
        verifier: Verifier,
        admission: Admission,
        scope: VerificationScope,
        policies: Policies,
        verdicts: RobotsVerdicts,
    ) -> None:
        self.files: list[LinkFile] = []
        """Files that were found, and named ones that cannot be read."""
        self._crawler, self._verifier, self._admission, self._scope = crawler, verifier, admission, scope
        self._policies, self._verdicts, self._stop = policies, verdicts, Stop.of(crawler)

    async def run(self, origins: Iterable[str]) -> None:
        """Request the files of sites, given by their origins, each once."""
        for url, kind in dict.fromkeys(one for origin in [*origins][:MAX_SITES] for one in self._named(origin)):
            if not self._stop.begun() and (file := await self._read(url, kind)) is not None:
                self.files.append(file)

    def _named(self, origin: str) -> Iterator[tuple[str, LinkFileKind]]:
        yield f"{origin}{LLMS_PATH}", LinkFileKind.LLMS
        policy, site = self._policies.at(origin), urls.site_of(origin)
        if policy is not None:
            for kind, named in ((LinkFileKind.RSL, policy.licenses), (LinkFileKind.SCHEMAMAP, policy.schemamaps)):
                yield from ((url, kind) for url in named[:MAX_NAMED] if urls.site_of(url) == site)

    async def _read(self, url: str, kind: LinkFileKind) -> LinkFile | None:
        """A file with its checked links; None if it does not exist, unless robots.txt names it."""
        request = Request(urls.as_sent(url), NO_CALLBACK, meta=Body(MAX_BYTES).meta(), dont_filter=True)
        answer = await fetch(self._crawler, request)
        try:
            if answer.ok:
                text = answer.content(MAX_BYTES).decode("utf-8-sig", "replace")
                if _HTML.match(text):
                    return LinkFile(url, kind, is_html=True)
                links = links_of_file(kind, text, answer.final_url)
                logger.info("%s: %s", url, counted(len(links), "link"))
                return LinkFile(url, kind, links=await self._check(links, urls.site_of(url)))
        finally:
            answer.body.close()
        if kind is LinkFileKind.LLMS or answer.blocked or (answer.status is None and self._stop.proxy_failed):
            return None
        return LinkFile(url, kind, f"answers {answer.status}" if answer.status else f"gives no answer: {answer.error}")

    async def _check(self, links: list[FileLink], site: str) -> list[CheckedLink]:
        """Verify links like listed URLs: those of other sites with `verify_offsite`, as many as the sample has."""
        wanted = [link for link in links if self._scope.offsite or urls.site_of(link.url) == site]
        sample = self._scope.sample
        wanted = wanted[: sample.count] if sample is not None else wanted
        records = [UrlRecord(loc=link.url) for link in wanted]
        refused = await self._admission.refuse(records, None) if records else {}
        wanted = [link for link, record in zip(wanted, records, strict=True) if id(record) not in refused]
        outcomes = await self._verifier.verify(link.url for link in wanted)
        found = []
        for link in wanted:
            outcome = outcomes[link.url]
            page = judged(link.url, outcome.reply, self._verdicts)
            found.append(CheckedLink(link.url, link.line, outcome.reply, page.indexability or ""))
        return found
