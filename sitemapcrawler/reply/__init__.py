"""What asking for a URL came to, and the way there: redirects, HEAD and GET, failures, waiting."""

from sitemapcrawler.items import ReplyRecord
from sitemapcrawler.reply.chase import MAX_REDIRECTS, Ask, Chase
from sitemapcrawler.reply.failures import kind_of
from sitemapcrawler.reply.http_date import http_date
from sitemapcrawler.reply.kinds import (
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
)
from sitemapcrawler.reply.record import record
from sitemapcrawler.reply.waiting import MAX_RETRY_AFTER, retry_after

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
