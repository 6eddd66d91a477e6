"""Content encoding of the requests whose bodies are collected: the reader inflates them, within its own limits."""

from __future__ import annotations

from scrapy import Request, Spider
from scrapy.downloadermiddlewares.httpcompression import HttpCompressionMiddleware
from scrapy.http import Response

from sitemapcrawler.download.bodies import BODY_KEY


class CollectedBodyCompressionMiddleware(HttpCompressionMiddleware):
    """In the place of Scrapy's: what is read while it arrives is asked for as gzip only, and passes as it came."""

    def process_request(self, request: Request, spider: Spider | None = None) -> Request | Response | None:
        """Ask for what the reader can inflate."""
        if BODY_KEY in request.meta:
            request.headers.setdefault("Accept-Encoding", b"gzip")
        return super().process_request(request)

    def process_response(
        self, request: Request, response: Response, spider: Spider | None = None
    ) -> Request | Response:
        """Leave the Content-Encoding header of a collected body in place."""
        return response if BODY_KEY in request.meta else super().process_response(request, response)
