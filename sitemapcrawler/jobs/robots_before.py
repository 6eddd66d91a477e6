"""The robots.txt files that the baseline has read: from its database, or from the bodies kept beside it."""

from __future__ import annotations

from contextlib import suppress

from sitemapcrawler.download.body_cache import BodyStorage
from sitemapcrawler.download.policies import HTTP_OK, Policies, restored
from sitemapcrawler.feeds.folder import CACHE
from sitemapcrawler.jobs.store.baseline import Baseline
from sitemapcrawler.reader.decode import inflate
from sitemapcrawler.reader.faults import Faults, Limits
from sitemapcrawler.robots import Policy
from sitemapcrawler.robots.text import MAX_SITEMAP_BYTES
from sitemapcrawler.urls.display import masked_bytes


def policies_before(baseline: Baseline, now: Policies) -> dict[str, Policy]:
    """{origin: policy} of the baseline. One without a database lacks files that could not be read then, and those that
    redirected elsewhere. `now`: the policies of this crawl."""
    if baseline.job:
        return {origin: restored(answer) for origin, answer in baseline.robots().items()}
    storage = BodyStorage(baseline.path.parent / CACHE, reads_only=True)
    found = {}
    for origin, policy in now.by_origin.items():
        kept = _kept(storage, policy.url, now.final_url(policy))
        if kept is not None:
            found[origin] = kept
    return found


def _kept(storage: BodyStorage, url: str, final_url: str) -> Policy | None:
    kept = storage.named(final_url)
    with suppress(OSError):  # the body is damaged
        if kept is not None:
            is_deflated = b"deflate" in (kept.headers.get("Content-Encoding") or b"")
            limits = Limits(max_bytes=MAX_SITEMAP_BYTES)
            body = b"".join(inflate(kept.chunks(), limits, Faults(), is_deflated))
            return Policy.from_response(url, HTTP_OK, masked_bytes(body), base=final_url)
    return None
