"""Untrusted text made safe to display: control characters, terminal and CI commands, passwords, length."""

from __future__ import annotations

import re

from sitemapcrawler.urls.userinfo import masked_url

MAX_SHOWN = 100
"""Characters of a value that a message shows."""


def shown(value: str | None) -> str:
    """A value in quotes, without passwords, with escapes for what cannot be seen, and cut where it is long; `''` for
    none."""
    value = masked_url(value or "")
    return repr(value if len(value) <= MAX_SHOWN else value[:MAX_SHOWN] + "...")


MAX_TEXT = 1000
"""Characters of a message. Above 2,048, GitLab leaves the finding out.
Source: https://docs.gitlab.com/user/application_security/detect/sarif/#limits"""


CUT = "..."
"""Stands for the rest of a text that is too long."""


_COMMAND = re.compile(r"##(?=\w*\[)")
"""Sources: https://learn.microsoft.com/azure/devops/pipelines/scripts/logging-commands (`##vso[`), ActionCommand.cs of
https://github.com/actions/runner (`##[`)"""


def inert(text: str, limit: int = MAX_TEXT) -> str:
    r"""Text of a stranger as one line that shows all it holds: control characters, those that turn the direction of
    writing, and whatever else cannot be seen or encoded become escapes (`\u202e`), and so does what a CI server takes
    for a command wherever it stands in a line (`##vso[`)."""
    shown = text[: limit + 1]
    if not shown.isprintable():
        shown = "".join(char if char.isprintable() else char.encode("unicode_escape").decode() for char in shown)
    if "##" in shown:
        shown = _COMMAND.sub(r"#\\x23", shown)
    return shown if len(shown) <= limit else shown[: limit - len(CUT)] + CUT
