"""Text that strangers may write into a sitemap to hurt those who read a report, and a way to put it everywhere."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

PWN = "window.pwned=1"
HOSTILE = {
    "script": f"</script><script>{PWN}</script>",
    "end of every element": f"</title></style></textarea></noscript></svg></h1>--><script>{PWN}</script>",
    "event handler": f"<img src=x onerror={PWN}><svg/onload={PWN}>",
    "attribute": f'" onmouseover="{PWN}" style="position:fixed" x=\'',
    "unquoted attribute": f" onclick={PWN} autofocus onfocus={PWN} ",
    "javascript URL": f"javascript:{PWN}//https://example.com/",
    "javascript URL in disguise": f"java\tscript:{PWN}",
    "data URL": f"data:text/html,<script>{PWN}</script>",
    "http URL with markup": f'https://example.com/"><script>{PWN}</script>',
    "http URL with a line break": f"https://example.com/\njavascript:{PWN}",
    "URL without host": "https://",
    "URL that cannot be split": "https://[::1/",
    "template": "{{ 7 * 7 }}{% raw %}{# #}",
    "entities": "&lt;script&gt;&#x3c;script&#x3e;",
    "frame": '<iframe src="https://evil.example/"></iframe><base href="https://evil.example/"><link rel=stylesheet href="//evil.example/x">',
    "refresh": '<meta http-equiv="refresh" content="0;url=https://evil.example/">',
    "terminal": "\x1b]0;title\x07\x1b[31mred\x9b31m",
    "direction of writing": "\u202egnp.exe\u2066\u2069\u200f",
    "invisible": "a\u200bb\ufeffc\u00add",
    "lone surrogates": "\ud800a\udfff",
    "NUL": "a\x00b",
    "controls": "".join(map(chr, range(32))) + "\x7f\x85\u2028\u2029",
    "no characters of XML": "\ufffe\uffff\x0b",
    "CDATA": "]]><![CDATA[<script>",
    "empty": "",
    "blank": " \n ",
    "number": "9" * 5000,
    "enormous": "<b>" * 35_000,
}


def spoiled(value: Any, text: str, keep: bool) -> Any:
    """A model with `text` for each text in it, or behind each."""
    if isinstance(value, str):
        return value + text if keep else text
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        fields = [field.name for field in dataclasses.fields(value) if field.init]
        return type(value)(**{name: spoiled(getattr(value, name), text, keep) for name in fields})
    if isinstance(value, Mapping):
        return {
            spoiled(key, text, keep) or str(at): spoiled(of, text, keep) for at, (key, of) in enumerate(value.items())
        }
    if isinstance(value, list | tuple):
        return [spoiled(each, text, keep) for each in value]
    return value
