"""The reply as feeds have it: one flat record, null where a kind has no such field."""

from __future__ import annotations

from dataclasses import fields

from sitemapcrawler.items import ReplyRecord
from sitemapcrawler.reply.kinds import Reply

_FIELDS = tuple(field.name for field in fields(ReplyRecord))


def record(reply: Reply) -> ReplyRecord:
    """The flat form of a reply."""
    flat = ReplyRecord(**{name: getattr(reply, name) for name in _FIELDS if hasattr(reply, name)})
    if not flat.attempts:
        flat.attempts = flat.elapsed_ms = None
    flat.kind, flat.reason = str(flat.kind), flat.reason and str(flat.reason)  # plain text, as every format takes it
    return flat
