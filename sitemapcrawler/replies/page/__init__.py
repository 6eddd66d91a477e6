"""Facts from an HTML page and its headers: robots directives, canonical, dates, refresh.

May import `reader`, `robots` and `urls`. Start reading in `facts.py`.
"""

from sitemapcrawler.replies.page.anchors import PageLinks
from sitemapcrawler.replies.page.body import PAGE_LIMIT, Html, PageReader, is_html, is_malformed, joined, media_type
from sitemapcrawler.replies.page.content import Content, content_of, distance
from sitemapcrawler.replies.page.facts import Headers, PageFacts, Refresh, page_of, plain_headers, read_page
from sitemapcrawler.replies.page.metadata import Canonical, Denial, PageDate, Place
from sitemapcrawler.replies.page.preferences import HEADERS as USAGE_HEADERS

__all__ = [
    "PAGE_LIMIT",
    "USAGE_HEADERS",
    "Canonical",
    "Content",
    "Denial",
    "Headers",
    "Html",
    "PageDate",
    "PageFacts",
    "PageLinks",
    "PageReader",
    "Place",
    "Refresh",
    "content_of",
    "distance",
    "is_html",
    "is_malformed",
    "joined",
    "media_type",
    "page_of",
    "plain_headers",
    "read_page",
]
