"""What an HTML page says of itself: robots directives, canonical, dates, refresh.

May import `reader`, `robots` and `urls`. Start reading in `facts.py`.
"""

from sitemapcrawler.replies.page.canonical import Canonical
from sitemapcrawler.replies.page.dates import PageDate
from sitemapcrawler.replies.page.directives import Denial, Place
from sitemapcrawler.replies.page.elements import Refresh
from sitemapcrawler.replies.page.facts import Headers, PageFacts, page_of, plain_headers, read_page
from sitemapcrawler.replies.page.head import ACCEPTED, HEAD_LIMIT, SAMPLE, Head, HeadReader, is_html

__all__ = [
    "ACCEPTED",
    "HEAD_LIMIT",
    "SAMPLE",
    "Canonical",
    "Denial",
    "Head",
    "HeadReader",
    "Headers",
    "PageDate",
    "PageFacts",
    "Place",
    "Refresh",
    "is_html",
    "page_of",
    "plain_headers",
    "read_page",
]
