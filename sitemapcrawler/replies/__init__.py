"""Results of requests for listed URLs: redirects, failures, status, soft 404, Retry-After.

May import `reader`, `robots`, `items` and `urls`, never Scrapy. Start reading in `chase.py`.
"""

from sitemapcrawler.items import ReplyRecord
from sitemapcrawler.replies.chase import MAX_REDIRECTS, MAX_RETRY_AFTER, Ask, Chase, http_date, retry_after
from sitemapcrawler.replies.kinds import REACHED, Reason, ReplyKind, at_end, is_unanswered, kind_of, status_error

__all__ = [
    "MAX_REDIRECTS",
    "MAX_RETRY_AFTER",
    "REACHED",
    "Ask",
    "Chase",
    "Reason",
    "ReplyKind",
    "ReplyRecord",
    "at_end",
    "http_date",
    "is_unanswered",
    "kind_of",
    "retry_after",
    "status_error",
]
