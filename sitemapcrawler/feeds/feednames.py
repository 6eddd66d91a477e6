"""Names of feeds with parts that are filled in when the crawl begins: `-O out-%(domain)s.csv`."""

from __future__ import annotations

import glob
import re
from hashlib import sha256
from pathlib import Path
from typing import Any

from scrapy import Spider

from sitemapcrawler.feeds.feedfile import NAME_IN_PART, parts_of
from sitemapcrawler.feeds.setup import is_stream

MAX_PART = 100
"""Bytes of a part: names of files end at 255."""
HASH_DIGITS = 8
"""Hexadecimal digits that tell two texts apart whose parts would be the same."""
_UNSAFE = re.compile(r"[^\w.,+-]+")
_FIELD = re.compile(r"%(?:%|\(\w+\)[-#0 +]*(?:\d+|\*)?(?:\.(?:\d+|\*))?[a-zA-Z])")


class Parts(dict[str, Any]):
    """What feeds may be named by: each text a part of a name, whatever it holds, and never a path."""

    def __getitem__(self, name: str) -> Any:
        value = super().__getitem__(name)
        return value if isinstance(value, (int, float)) else part_of_name(str(value))


def uri_params(params: dict[str, Any], spider: Spider) -> dict[str, Any]:
    """FEED_URI_PARAMS: what our spider's feeds may be named by. Those of other spiders are as ever."""
    # Imported here: the setting is read wherever feeds are, and parsing arguments needs all that knows of rules.
    from sitemapcrawler.audit.params import Params

    return Parts(params) if isinstance(getattr(spider, "params", None), Params) else params


def part_of_name(text: str) -> str:
    """A text as part of a file's name: letters, digits and `_ . , + -`. One that has to be changed for it, or cut, ends
    with digits of its hash."""
    safe = _UNSAFE.sub("-", text).strip(".-")
    if safe == text and 0 < len(safe.encode()) <= MAX_PART:
        return safe
    digits = sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:HASH_DIGITS]
    start = safe.encode()[: MAX_PART - len(digits) - 1].decode(errors="ignore")
    return f"{start}-{digits}".lstrip("-")


def parts_left(path: Path, pid: int) -> list[Path]:
    """The temporary files that a process has left of a feed, whatever was filled in when it began."""
    if not _FIELD.search(str(path)):
        return [] if is_stream(path) else parts_of(path.resolve(), pid)
    folder, name = map(_pattern, (str(path.parent.relative_to(path.anchor)), path.name))
    certain = name.partition("*")[0]
    return [*Path(path.anchor).glob(f"{folder}/.{certain[:NAME_IN_PART]}*.{pid}.*part")]


def _pattern(text: str) -> str:
    """What `glob` takes for all that a text may become."""
    literals, fields = _FIELD.split(text), _FIELD.findall(text)
    filled = ["%" if field == "%%" else "*" for field in fields]
    return "".join(glob.escape(one) + other for one, other in zip(literals, [*filled, ""], strict=True))
