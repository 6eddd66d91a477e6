"""The robots.txt files that the baseline has read: from its database, or from the bodies kept beside it."""

from __future__ import annotations

from contextlib import suppress

from sitemapcrawler.download.body_cache import BodyStorage
from sitemapcrawler.download.policies import HTTP_OK, Policies, restored
from sitemapcrawler.feeds.folder import CACHE
from sitemapcrawler.jobs.store.baseline import Baseline
from sitemapcrawler.reader.decode import inflate
from sitemapcrawler.reader.faults import Faults, Limits
from sitemapcrawler.robots import Policy, RobotsOutcome
from sitemapcrawler.robots.text import MAX_SITEMAP_BYTES
from sitemapcrawler.urls.display import masked_bytes


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
            is_deflated = b"deflate" in (kept.headers.get("Content-Encoding") or b"")
            limits = Limits(max_bytes=MAX_SITEMAP_BYTES)
            body = b"".join(inflate(kept.chunks(), limits, Faults(), is_deflated))
            return Policy.from_response(url, HTTP_OK, masked_bytes(body), base=final_url)
    return None
