"""Prints what rules are about, for `validate --explain` and `--list-rules`. Imports no Scrapy, which takes longer."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Sequence

from sitemapcrawler.rules import all_rules, catalogue
from sitemapcrawler.terminal.streams import painter, put, wants_colour
from sitemapcrawler.urls.display import quoted

WIDTH = 100
"""Maximum columns of a page."""


def print_pages(names: Sequence[str], lists_all: bool) -> None:
    """Print the pages of rules, by id, family or first words of ids; before them, with `lists_all`, a line for each
    rule. Raises ValueError, one line, for a name that no rule has."""
    rules, paint = all_rules(), painter(wants_colour(sys.stdout))
    by_id = {rule.id: rule for rule in rules}
    if lists_all:
        put(catalogue.listed(by_id.values(), paint))
    width, pages = min(shutil.get_terminal_size((WIDTH, 0)).columns, WIDTH), []
    for name in names:
        if name in by_id:
            pages.append(catalogue.page(by_id[name], width, paint))
        elif alike := catalogue.beginning_with(name, by_id.values()):
            pages.append(catalogue.listed(alike, paint))
        else:
            near = catalogue.near(name, rules)
            meant = f"did you mean {', '.join(near)}?" if near else "--list-rules prints all"
            raise ValueError(f"--explain {quoted(name)}: no such rule; {meant}")
    put("\n".join(pages))
