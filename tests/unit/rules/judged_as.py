"""Bad files that say themselves under which URL they are judged: `judged as <URL> <field of the record>=<value> ...`."""

from __future__ import annotations

import re
from typing import Any

from sitemapcrawler.rules import all_rules

from .expecting import BAD, check_bad_file

JUDGED_AS = re.compile(rb"judged as (\S+)((?: \w+=\S+)*) -->")
RULES = {rule.id: rule for rule in all_rules()}
"""Every rule: one defect gives one finding, whatever family it is of."""


def check(name: str) -> None:
    """The findings on a bad file, errors and warnings of every family, are those it expects."""
    check_bad_file(name, RULES, **keywords((BAD / name).read_bytes()))


def keywords(data: bytes) -> dict[str, Any]:
    """Keyword arguments of `judge` for a bad file."""
    found = JUDGED_AS.search(data)
    if found is None:
        return {}
    fields = dict(field.split("=", 1) for field in found[2].decode().split())
    return {"url": found[1].decode(), **fields}
