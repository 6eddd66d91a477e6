"""Strict parser for dictionaries of structured fields: RFC 9651, 4.2.2."""

from __future__ import annotations

import re

_KEY = r"[a-z*][a-z0-9_.*-]*+"
_ITEM = (
    r"(?:-?(?:\d{1,12}\.\d{1,3}|\d{1,15})(?![\d.])"  # integer or decimal
    r'|"(?:[ !#-\[\]-~]|\\["\\])*+"'  # string
    r"|[A-Za-z*][A-Za-z0-9!#$%&'*+.^_`|~:/-]*+"  # token
    r"|:[A-Za-z0-9+/=]*+:"  # bytes
    r"|\?[01]"  # boolean
    r"|@-?\d{1,15}(?![\d.])"  # date
    r'|%"(?:[ !#$&-~]|%[0-9a-f]{2})*+")'  # display string
)
_PARAMETERS = rf"(?:; *+{_KEY}(?:={_ITEM})?+)*+"
_LIST = rf"\( *+(?:{_ITEM}{_PARAMETERS}(?: ++{_ITEM}{_PARAMETERS})*+ *+)?+\)"
_MEMBER = re.compile(rf"({_KEY})(?:=({_ITEM}|{_LIST}))?+{_PARAMETERS}", re.ASCII)
_COMMA = re.compile(r"[ \t]*+,[ \t]*+")


def parse_dictionary(text: str) -> dict[str, str] | None:
    """Return {key: value as written}; None if the text is no dictionary. The last of several equal keys counts.

    A key without a value has the boolean `?1`. Parameters are checked and left out. Takes linear time.
    """
    members: dict[str, str] = {}
    text = text.strip(" ")
    position = 0
    while text:
        member = _MEMBER.match(text, position)
        if member is None:
            return None
        members[member[1]] = member[2] or "?1"
        if member.end() == len(text):
            break
        comma = _COMMA.match(text, member.end())
        if comma is None:
            return None
        position = comma.end()
    return members
