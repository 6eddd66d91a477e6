"""What a page says of itself: may it be indexed, under which URL, where it sends its visitor, how old it is.

`HeadReader` takes the body while it arrives and says when it has enough; `page_of` makes `PageFacts` of the head it
read and of the headers. `read_page` does both for a body that is there.
"""

from sitemapcrawler.page.canonical import Canonical
from sitemapcrawler.page.dates import PageDate
from sitemapcrawler.page.directives import Denial, Place
from sitemapcrawler.page.facts import PageFacts, page_of, read_page
from sitemapcrawler.page.head import HEAD_LIMIT, SAMPLE, Head, HeadReader, is_html
from sitemapcrawler.page.headers import Headers, plain_headers
from sitemapcrawler.page.inflate import ACCEPTED
from sitemapcrawler.page.refresh import Refresh

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
