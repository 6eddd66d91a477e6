"""What a request for a listed URL came to: redirects, failures, status, soft 404, waiting times.

May import `reader`, `robots`, `items` and `urls`, never Scrapy. Start reading in `chase.py`.
"""

from sitemapcrawler.items import ReplyRecord
from sitemapcrawler.replies.chase import MAX_REDIRECTS, Ask, Chase
from sitemapcrawler.replies.kinds import (
    AddressRefused,
    Answer,
    Cut,
    Failed,
    HttpError,
    Kind,
    Ok,
    Reason,
    Redirected,
    RedirectLoop,
    Reply,
    Trail,
    Unchecked,
    kind_of,
    record,
)
from sitemapcrawler.replies.waiting import MAX_RETRY_AFTER, http_date, retry_after

__all__ = [
    "MAX_REDIRECTS",
    "MAX_RETRY_AFTER",
    "AddressRefused",
    "Answer",
    "Ask",
    "Chase",
    "Cut",
    "Failed",
    "HttpError",
    "Kind",
    "Ok",
    "Reason",
    "RedirectLoop",
    "Redirected",
    "Reply",
    "ReplyRecord",
    "Trail",
    "Unchecked",
    "http_date",
    "kind_of",
    "record",
    "retry_after",
]
