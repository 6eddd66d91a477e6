"""Targets of a command: URLs, local files and domains, distinguished by their form and by which files exist.

- `https://example.com/sitemap.xml` is a URL; without a path (`https://example.com/`) it is a domain.
- An existing file is a file, whatever its name. So is a `file:` URL.
- An existing folder stands for the sitemaps in it, for commands that read folders. One that is named like a host and
  has no slash is a domain.
- `example.com/sitemap.xml`, a host with a dot or a port before the first slash, is an https URL.
- Anything else with a slash or a sitemap's suffix (`sitemap.xml`), or a single word, is a file, and must exist.
- Anything else is a domain: `example.com`, `localhost`, `127.0.0.1:8000`.
- `-` is standard input, for commands that read it.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from sitemapcrawler import urls
from sitemapcrawler.crawl import argument_values as values
from sitemapcrawler.crawl.local_files import content_of
from sitemapcrawler.urls.display import inert, masked_argument

DOMAIN, FILE, URL = "domain", "file", "url"
"""Kinds of target."""
FILE_NAME = re.compile(r"\.(?:xml|txt|rss|atom|gz|html?|json|jsonl|csv|xsl)\Z", re.IGNORECASE)
"""Suffixes of file names, which are not domains."""
HOST = re.compile(r"localhost|.*[.:].*", re.IGNORECASE | re.DOTALL)
"""Possible hosts; a single word is a missing file."""
LABEL = re.compile(r"\w(?:[\w-]{0,61}\w)?")
STDIN = "-"
SHOWN_STDIN = "<stdin>"
"""Name of standard input in messages, as compilers write it."""
MAX_SHOWN = 300
"""Maximum characters of a target in a message."""
SEPARATORS = re.compile(r"[/\\]")


@dataclass(frozen=True, slots=True)
class Target:
    """Target of a command."""

    kind: str
    """domain, file or url."""
    text: str
    """As the user wrote it."""
    value: str
    """Value of the argument `domain` or `sitemap`, commas included."""

    @property
    def argument(self) -> str:
        """Spider argument that takes the target."""
        return "domain" if self.kind == DOMAIN else "sitemap"


@dataclass(slots=True)
class Targets:
    """Targets by kind, without duplicates."""

    sites: list[str] = field(default_factory=list)
    """Items of the argument `domain`."""
    sitemaps: list[str] = field(default_factory=list)
    """Items of the argument `sitemap`, in the order given: URLs, and `file:` URLs of files."""
    names: dict[str, str] = field(default_factory=dict)
    """{`file:` URL: path as the user gave it, or that begins with the folder as the user gave it}."""
    folder: str | None = None
    """The folder among the targets, as the user gave it."""
    unreadable: list[str] = field(default_factory=list)
    """Why files in the folder could not be read, a text with the path for each."""

    @property
    def reads_stdin(self) -> bool:
        return urls.STANDARD_INPUT in self.names

    @property
    def local(self) -> bool:
        """True if all targets are local files."""
        return not self.sites and len(self.names) == len(self.sitemaps)


def read_targets(named: Iterable[str]) -> Targets:
    """Parse targets, including standard input and one folder. Raises ValueError, one line, for an invalid one, and for
    a folder without a sitemap."""
    targets = Targets()
    for text in named:
        if (path := _folder(text)) is not None:
            if targets.folder not in (None, path):
                raise ValueError(f"{_display(text)}: is a second folder; accepted: one, and any files and URLs")
            targets.folder = path
            files = _files_in(path, targets)
        else:
            files = [Target(FILE, SHOWN_STDIN, urls.STANDARD_INPUT) if text == STDIN else target(text)]
        for found in files:
            items = targets.sites if found.kind == DOMAIN else targets.sitemaps
            items += [found.value] if found.value not in items else []
            if found.kind == FILE:
                targets.names.setdefault(found.value, found.text)
    return targets


def _folder(text: str) -> str | None:
    """The path of a target that is an existing folder; None for any other target."""
    text = text.strip()
    path = urls.local_path(text) if text.lower().startswith("file:") else text
    if not path or urls.is_web(text) or (path == text and not _is_there(text)):
        return None
    try:
        return path if Path(path).is_dir() else None
    except (OSError, ValueError):
        return None


def _files_in(folder: str, targets: Targets) -> list[Target]:
    """The robots.txt and the sitemaps of a folder. Raises ValueError if it has no sitemap."""
    content = content_of(folder)
    targets.unreadable += content.unreadable
    if not content.has_sitemaps:
        first = f"; {content.unreadable[0]}" if content.unreadable else ""
        raise ValueError(f"{_display(folder)}: no sitemap was found{inert(first, MAX_SHOWN)}")
    return [Target(FILE, path, urls.file_url(path)) for path in content.files]


def target(text: str) -> Target:
    """Parse a target. Raises ValueError, one line, if it is invalid."""
    text = text.strip()
    try:
        return _target(text)
    except ValueError as error:
        raise ValueError(f"{_display(text)}: {error}") from None


def site_of(found: Target) -> Target:
    """Return the site of a URL as a target. Raises ValueError, one line, for a file, which has no site."""
    if found.kind == FILE:
        raise ValueError(f"{_display(found.text)}: is a file; accepted: a URL or a domain whose sitemaps are found")
    if found.kind == DOMAIN:
        return found
    return Target(DOMAIN, found.text, urls.origin(found.value) or found.value)


def _display(text: str) -> str:
    return inert(masked_argument(text), MAX_SHOWN) or "''"


def _target(text: str) -> Target:
    if not text:
        raise ValueError("is empty")
    if text == STDIN:
        raise ValueError("standard input is not read here; accepted: a URL, a file or a domain")
    if values.CONTROL.search(text) and not os.path.lexists(text):
        raise ValueError("has a control character")
    if urls.is_web(text):
        return _of_url(text, text)
    if "://" in text and not text.lower().startswith("file:"):
        return _of_url(text, values.sitemap(text))  # raises ValueError with the reason
    if text.lower().startswith("file:") or _is_there(text):
        return of_file(text)
    if values.BARE_URL.match(text) and not FILE_NAME.search(text.partition("/")[0]):
        host, _, path = text.partition("/")
        return _of_url(text, f"https://{text}") if path else Target(DOMAIN, text, str(values.start(host)))
    if SEPARATORS.search(text) or FILE_NAME.search(text):
        return of_file(text)
    if not HOST.fullmatch(text):
        raise ValueError(f"no such file; as a host, write http://{text}/" if LABEL.fullmatch(text) else "no such file")
    return Target(DOMAIN, text, str(values.start(text)))


def _is_there(text: str) -> bool:
    """True for an existing path, except a folder named like a host, as tools that copy sites create them."""
    try:
        like_host = "." in text.strip(".") and not SEPARATORS.search(text)
        return os.path.lexists(text) and not (like_host and Path(text).is_dir())
    except (OSError, ValueError):
        return False


def _of_url(text: str, url: str) -> Target:
    plain = url.partition("#")[0]
    if not re.search(r"[/?].", plain.partition("://")[2]):
        return Target(DOMAIN, text, str(values.start(plain)))
    # A comma may start another item of the argument; to servers its escape is the same.
    return Target(URL, text, values.COMMA_BEFORE_URL.sub("%2C", values.sitemap(url)))


def of_file(text: str) -> Target:
    """The target of a readable file. Raises ValueError if there is none."""
    path = urls.local_path(text) if text.lower().startswith("file:") else text
    if path is None:
        raise ValueError("is not a local file")
    try:
        mode = Path(path).stat().st_mode
        if stat.S_ISDIR(mode):
            raise ValueError("is a folder; accepted: a file (sitemapcrawler validate checks folders)")
        if not stat.S_ISREG(mode):
            raise ValueError("is not a regular file")
        with Path(path).open("rb"):
            pass
    except OSError as error:
        missing = isinstance(error, (FileNotFoundError, NotADirectoryError))
        raise ValueError("no such file" if missing else f"cannot be read: {error.strerror or error}") from None
    return Target(FILE, text, urls.file_url(path))
