"""Files of this machine that stand for what is not on the web yet: those beside an index that will live there."""

from __future__ import annotations

import os
from pathlib import Path
from urllib.parse import unquote_to_bytes

from sitemapcrawler import urls
from sitemapcrawler.uri import folder_of


def file_beside(index: str, place: str, url: str) -> str | None:
    """The `file:` URL of what an index lists as `url`, in the folder of the index or below; None where there is none.

    `index`: its own `file:` URL; `place`: the URL at which it will live. Nothing outside of the folder is ever named,
    whatever the URL and whatever links the folder holds.
    """
    here, start = urls.local_path(index), urls.origin(place)
    if here is None or start is None or url.partition("?")[0] != url:
        return None
    home = urls.visit_key(start + folder_of(place))
    key = urls.visit_key(url)
    if not key.startswith(home):
        return None
    folder = Path(here).parent
    try:
        # `..` goes by the text, as in any URL: what is looked at is what is named, whatever links stand before it
        path = Path(os.path.normpath(folder / os.fsdecode(unquote_to_bytes(key.removeprefix(home)))))
        inside = path.resolve().is_relative_to(folder.resolve()) and path.is_file()
    except (OSError, ValueError):
        return None
    return urls.file_url(str(path)) if inside else None
