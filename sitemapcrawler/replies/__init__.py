"""Results of requests for listed URLs: redirects, failures, status, soft 404, Retry-After.

May import `reader`, `robots`, `items` and `urls`, never Scrapy. Start reading in `chase.py`.
"""

from sitemapcrawler.items import ReplyRecord
from sitemapcrawler.replies.chase import MAX_REDIRECTS, MAX_RETRY_AFTER, Ask, Chase, http_date, retry_after
from sitemapcrawler.replies.kinds import (
    AddressRefused,
    Answer,
    Cut,
    Failed,
    HttpError,
    Ok,
    Reached,
    Reason,
    Redirected,
    RedirectLoop,
    Reply,
    ReplyKind,
    Trail,
    Unchecked,
    at_end,
    kind_of,
    record,
    status_error,
)

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
    "Ok",
    "Reached",
    "Reason",
    "RedirectLoop",
    "Redirected",
    "Reply",
    "ReplyKind",
    "ReplyRecord",
    "Trail",
    "Unchecked",
    "at_end",
    "http_date",
    "kind_of",
    "record",
    "retry_after",
    "status_error",
]
