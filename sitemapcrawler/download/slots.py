"""Keys and signals of requests that wait in Scrapy's download slots, one per host, and how often each was sent."""

from __future__ import annotations

from dataclasses import dataclass

from scrapy.core.downloader import Downloader

SLOT_KEY = Downloader.DOWNLOAD_SLOT
"""Key of a request's slot in `Request.meta`, set by Scrapy or by the request's creator."""
too_much = object()
"""Signal with `request`, `status` and `headers`: a response with a status in `TOO_MUCH` starts. Its body follows."""

OWN_PACE_KEY = "sitemap_own_pace"
"""Key in `Request.meta`: who sends the request decides what an answer with status 429 means."""
ATTEMPTS_KEY = "sitemap_attempts"
"""Key of `Attempts` in `Request.meta`."""


@dataclass(slots=True)
class Attempts:
    """Number of times a request was sent, retries included, and its total response time."""

    count: int = 0
    seconds: float = 0.0
    """Sum of Scrapy's `download_latency` in seconds: from the start of the download to the headers of its answer."""

    def meta(self) -> dict[str, Attempts]:
        """Request meta that makes a request count here."""
        return {ATTEMPTS_KEY: self}
