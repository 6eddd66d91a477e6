"""Facts from an HTML page and its headers: robots directives, canonical, dates, refresh.

May import `reader`, `robots` and `urls`. Start reading in `facts.py`.
"""

from sitemapcrawler.replies.page.anchors import PAGE_LIMIT, LinkReader, PageLinks
from sitemapcrawler.replies.page.content import Content
from sitemapcrawler.replies.page.facts import Headers, PageFacts, Refresh, page_of, plain_headers, read_page
from sitemapcrawler.replies.page.head import ACCEPTED, HEAD_LIMIT, SAMPLE, HeadReader, HtmlHead
from sitemapcrawler.replies.page.media_type import is_html, is_malformed, joined, media_type
from sitemapcrawler.replies.page.metadata import Canonical, Denial, PageDate, Place

__all__ = [
    "ACCEPTED",
    "HEAD_LIMIT",
    "PAGE_LIMIT",
    "SAMPLE",
    "Canonical",
    "Content",
    "Denial",
    "HeadReader",
    "Headers",
    "HtmlHead",
    "LinkReader",
    "PageDate",
    "PageFacts",
    "PageLinks",
    "Place",
    "Refresh",
    "is_html",
    "is_malformed",
    "joined",
    "media_type",
    "page_of",
    "plain_headers",
    "read_page",
]
