"""What is compared of two entries of the same URL, and in what they differ."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from sitemapcrawler.items import ReplyRecord
from sitemapcrawler.store.columns import json_object

ENTRY = ("lastmod", "changefreq", "priority", "images", "videos", "news", "alternates", "extra", "blocked_for")
"""Fields of an entry that are compared."""
REPLY = ("kind", "status", "final_url", "noindex", "noindex_agents", "canonical", "soft_404")
"""Fields of its reply that are."""
IN_HEADS = ("noindex", "noindex_agents", "canonical", "soft_404")
"""Those of them that the head of a page says: `noindex` is null where it was not read and no header says so."""
JUDGED = ("blocked_for",)
"""Fields that say nothing where one side was not judged."""
_SURROGATE = re.compile("[\ud800-\udfff]")
REPLY_TEXT = f"CASE WHEN reply.kind <> 'unchecked' THEN {json_object(ReplyRecord, REPLY, 'reply.')} ELSE '' END"


def as_held(text: str) -> str:
    """A text as columns hold it: U+FFFD in place of each lone surrogate."""
    return text if text.isascii() else _SURROGATE.sub("\ufffd", text)


def chosen(row: Mapping[str, Any], names: Iterable[str]) -> str:
    """Some fields of a row, as text."""
    return json.dumps({name: row[name] for name in names if name in row})


def differences(entry: str, reply: str, was: tuple[str, str]) -> list[str]:
    """Fields in which an entry and its reply, as text, differ from what they were."""
    fields = _different(json.loads(entry), json.loads(was[0]), ENTRY)
    if reply and was[1]:
        now, before = json.loads(reply), json.loads(was[1])
        fields += [f"reply.{name}" for name in _different(now, before, _comparable(now, before))]
    return fields


def _comparable(now: Mapping[str, Any], before: Mapping[str, Any]) -> Sequence[str]:
    """Fields of replies that can be compared: where only one head was read, what stands in heads cannot."""
    if ("noindex" in now) == ("noindex" in before):
        return REPLY
    hidden = now.get("noindex") or before.get("noindex")
    return [name for name in REPLY if name not in IN_HEADS or (hidden and name == "noindex")]


def _different(now: Mapping[str, Any], before: Mapping[str, Any], names: Sequence[str]) -> list[str]:
    return [
        name
        for name in names
        if now.get(name) != before.get(name) and not (name in JUDGED and (name in now) != (name in before))
    ]
