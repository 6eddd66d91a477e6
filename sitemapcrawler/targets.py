"""What a command is to look at, as a person names it: a URL, a file, a site, or `-` for standard input."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from sitemapcrawler import argument_values as values
from sitemapcrawler import urls

STDIN = "-"
SHOWN_STDIN = "<stdin>"
"""How compilers call it."""
_WEB = re.compile(r"https?://", re.IGNORECASE)
_OTHER_SCHEME = re.compile(r"(?!https?:|file:)[a-z][a-z0-9+.-]*://", re.IGNORECASE)
_SITE = re.compile(r"(?:https?://)?[^/?#]*/?", re.IGNORECASE)
_FILE_NAME = re.compile(r"[^/]*\.(?:xml|gz|txt|rss|atom|xhtml|csv|jsonl?)\Z", re.IGNORECASE)
"""Names that belong to a file, since no host ends like this."""
_HOST = re.compile(
    r"(?:(?:localhost|\[[^\]/]+\]|[^/:]*[^/:.]\.[^/:]+)(?::[0-9]+)?|[^/:]+:[0-9]+)(?:/.*)?", re.IGNORECASE | re.DOTALL
)
"""What may begin with a host: a name with a dot, one with a port, or an address in brackets."""


@dataclass
class Targets:
    """What was named, sorted by kind."""

    sites: list[str] = field(default_factory=list)
    """Hosts and URLs of sites, as the argument `domain` takes them."""
    sitemaps: list[str] = field(default_factory=list)
    """URLs of sitemaps, and `file:` URLs of files, in the order in which they were named."""
    names: dict[str, str] = field(default_factory=dict)
    """{`file:` URL: the path as it was named}."""

    @property
    def reads_stdin(self) -> bool:
        """True where standard input is one of the files."""
        return urls.STANDARD_INPUT in self.names

    @property
    def local(self) -> bool:
        """True where there are files only."""
        return not self.sites and len(self.names) == len(self.sitemaps)


def read(named: Iterable[str]) -> Targets:
    """Sort what was named. ValueError, one line, for what is nothing of all that."""
    targets = Targets()
    for text in named:
        try:
            _add(targets, text)
        except ValueError as error:
            raise ValueError(f"{values.shown(text)}: {error}") from None
    return targets


def _add(targets: Targets, text: str) -> None:
    if text == STDIN:
        _add_file(targets, urls.STANDARD_INPUT, SHOWN_STDIN)
    elif _OTHER_SCHEME.match(text):
        raise ValueError("no http or https URL")
    elif _is_file(text):
        _check_file(text)
        _add_file(targets, values.named_file(text), text)
    elif values.CONTROL.search(text):
        raise ValueError("has a control character")
    elif _SITE.fullmatch(text):
        values.start(text)
        targets.sites.append(text)
    else:
        url = values.web_url(text)
        targets.sitemaps += [url] if url not in targets.sitemaps else []


def _add_file(targets: Targets, url: str, name: str) -> None:
    if url not in targets.names:
        targets.sitemaps.append(url)
        targets.names[url] = name


def _is_file(text: str) -> bool:
    """True for what exists, and for what is named like a file or like nothing else."""
    if _WEB.match(text):
        return False
    return text[:5].lower() == "file:" or _exists(text) or not _HOST.fullmatch(text) or bool(_FILE_NAME.match(text))


def _exists(text: str) -> bool:
    try:
        return os.path.lexists(text)
    except ValueError:
        return False


def _check_file(text: str) -> None:
    """ValueError that says what is wrong with a file."""
    path = urls.local_path(text) if text[:5].lower() == "file:" else text
    if not path:
        raise ValueError("no such file")
    try:
        mode = Path(path).stat().st_mode
    except (FileNotFoundError, NotADirectoryError, ValueError):
        raise ValueError("no such file") from None
    except OSError as error:
        raise ValueError(f"cannot be read: {error.strerror}") from None
    if stat.S_ISDIR(mode):
        raise ValueError("is a folder; name the files in it")
    if not stat.S_ISREG(mode):
        raise ValueError("is no regular file; - reads standard input")
    if not os.access(path, os.R_OK):
        raise ValueError("cannot be read: Permission denied")
