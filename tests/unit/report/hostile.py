"""Text that strangers may write into a sitemap to hurt those who read a report, a way to put it everywhere, and the check
that a page is not hurt."""

from __future__ import annotations

import dataclasses
import re
import unicodedata
from collections.abc import Mapping
from typing import Any

from lxml import html as lxml_html

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


def parsed(text: str) -> Any:
    return lxml_html.document_fromstring(text)


def check_inert(text: str) -> Any:
    """Nothing of a page runs but its script, nothing loads, and all links are of the web, the page or its folder. Returns
    the parsed page."""
    text.encode("utf-8")
    assert not [
        char for char in {*text} - {"\n"} if unicodedata.category(char) in ("Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp")
    ]
    tree = parsed(text)
    assert len(tree.findall(".//script")) == len(tree.findall(".//style")) == 1
    assert not tree.xpath(
        "//iframe | //object | //embed | //base | //form | //img | //audio | //video | //foreignobject"
    )
    assert len(tree.xpath("//link")) == 1
    assert len(tree.xpath("//meta[@http-equiv]")) == 1
    for element in tree.iter("*"):
        for name, value in element.items():
            assert not name.startswith("on"), (element.tag, name)
            assert name not in ("style", "src", "srcset", "action", "formaction", "background", "ping"), (
                element.tag,
                name,
            )
            if name in ("href", "xlink:href"):
                check_reference(element, value)
    return tree


def check_reference(element: Any, value: str) -> None:
    if element.tag == "link":
        assert value == "data:,"
    elif element.tag == "a" and value.startswith(("http://", "https://")):
        assert element.get("rel") == "noreferrer noopener"
    else:
        assert element.tag == "a"
        assert re.fullmatch(r"#[a-z]+(\?[\w.~%+=&*-]*)?|[\w.~%-]*", value, re.ASCII), value
