"""Plans where the files of a set go: the path of each in the folder to upload, and the URL that it then has.

The folder mirrors the paths of the site, so a file keeps its URL. Other files get a name that follows from their own
URL: those whose URL is no file name (`/sitemap.xml?page=1`), and the parts of a file that is split.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from hashlib import blake2b
from pathlib import PurePosixPath
from urllib.parse import quote, unquote

from sitemapcrawler import urls
from sitemapcrawler.urls.authority import DEFAULT_PORTS

MAX_NAME_BYTES = 255
"""Bytes of the name of a file or folder; file systems allow no more."""
MAX_PATH_BYTES = 2000
"""Bytes of a whole path. Linux allows 4,096 with the folders above."""
MAX_STEM_BYTES = 100
"""Bytes that are kept of a stem that is too long."""
DIGEST_BYTES = 4
"""Bytes of a URL's digest in a name that would not be unique without it."""
UNSAFE = re.compile(r'[\x00-\x1f\x7f-\x9f\\/:*?"<>|\ud800-\udfff]')
"""Characters that a file system or an upload program may refuse in a name."""
ODD = re.compile(r"[^\w.,+~@() -]+")
"""Characters that do not go into a made-up name; `\\w` has the letters of all scripts."""
RESERVED = re.compile(r"(?:con|prn|aux|nul|com\d|lpt\d)(?:\.|\Z)", re.IGNORECASE)
"""Names that Windows does not allow."""
PUBLISHED = ".well-known"
"""The one hidden folder that is published (RFC 8615). Others hold settings of the server."""
SUFFIX = re.compile(r"(?:\.[A-Za-z][A-Za-z0-9]{0,4})?(?:\.gz)?\Z")
LASTING = re.compile(r"\.(?:xml|txt|rss|atom)(?:\.gz)?|\.gz", re.IGNORECASE)
"""Suffixes that a made-up name keeps. Others are those of programs, such as `.php`."""
SAFE = "/+,~@()"
"""Characters of a path that need no escape in a URL."""
GZ = ".gz"
DEFAULT_NAME = "sitemap"


@dataclass(frozen=True, slots=True)
class SetFile:
    """A file that was read, and what is left of it."""

    url: str
    """URL at which it lives; a path that begins with `/` where its host is unknown."""
    parts: int = 1
    """Files that its entries need by the limits of the protocol; 0 if it is not written."""
    indexes_parts: bool = False
    """True if its URL becomes an index of its parts where it needs several, since no other index lists them."""
    suffix: str = ".xml"
    """Suffix of a made-up name."""
    stays: bool = False
    """True for a feed as it is: it is not written where it would get another URL, at which nothing would renew it."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where a file goes."""

    path: str
    """Path in the folder to upload."""
    url: str
    """URL that it has then; a path that begins with `/` where its host is unknown."""
    root: str = ""
    """Folder in the folder to upload that mirrors its host; empty if the set has one host."""

    @property
    def is_compressed(self) -> bool:
        return self.path.lower().endswith(GZ)


@dataclass(frozen=True, slots=True)
class Placed:
    """Where a file and its parts go."""

    own: Place
    """At the URL of the file, unless that is no file name: the file, its first part, or the index of its parts."""
    parts: tuple[Place, ...]
    """The files with its entries, in order."""

    @property
    def index(self) -> Place | None:
        """Where the index of its parts goes; None if it needs none."""
        return None if self.own in self.parts else self.own


def plan(files: Sequence[SetFile], compress: bool = False, others: Iterable[str] = ()) -> list[Placed | None]:
    """Return the place of each file; None for those that are not written. `compress`: give all files the suffix `.gz`;
    `others`: URLs that other files of the site have, which no made-up name may take.

    A file keeps its URL if that is a file name, and no other file of the set has the same path: in another spelling, in
    upper and lower case, or as the name of its folder. Files go before later ones of the list.
    """
    files = [replace(file, parts=0) if file.stays and not _ideal(file, (), compress)[1] else file for file in files]
    hosts = list(dict.fromkeys(host for file in files if file.parts and (host := _host(file.url))))
    ideal = {number: _ideal(file, hosts, compress) for number, file in enumerate(files) if file.parts}
    names = Names(path for path, _ in ideal.values())
    owns: dict[int, Place] = {}
    for number, (path, is_exact) in ideal.items():
        if is_exact and names.claim(path):
            owns[number] = Place(path, files[number].url, _root(files[number].url, hosts))
    for url in [*others, *(file.url for file in files if not file.parts)]:
        if not hosts or _host(url) in ("", *hosts):
            names.claim(_ideal(SetFile(url), hosts, compress=False)[0])
    # In the order of their URLs, so that a name does not depend on when a file was found.
    moved = (number for number in ideal.keys() - owns.keys() if not files[number].stays)
    for number in sorted(moved, key=lambda number: files[number].url):
        file, (path, is_exact) = files[number], ideal[number]
        folder, slash, name = path.rpartition("/")
        if is_exact and "." not in name:
            path = f"{folder}{slash}{_fitting(name, '', file.suffix)}"
        owns[number] = _place(names.free(path, file.url), file.url, hosts)
    return [_with_parts(file, owns[number], names, hosts) if number in owns else None
            for number, file in enumerate(files)]  # fmt: skip


def _ideal(file: SetFile, hosts: Sequence[str], compress: bool) -> tuple[str, bool]:
    """The path that a file gets if it is free, and whether it mirrors the URL."""
    rest = urls.visit_key(file.url).removeprefix(urls.origin(file.url) or "")
    path, _, query = rest.partition("?")
    *folders, name = map(_decoded, path.removeprefix("/").split("/"))
    is_exact = not query and "?" not in rest and all(map(_is_name, [*folders, name]))
    is_exact = is_exact and len(path.encode()) <= MAX_PATH_BYTES
    if not is_exact:
        folders = [made_up(folder) for folder in folders if folder.strip(" .")]
        name = _name(name, _decoded(query), file.suffix)
        while len("/".join(folders).encode()) > MAX_PATH_BYTES:
            folders.pop()
    if compress and not name.lower().endswith(GZ):
        stem, suffix = _split(name)
        name, is_exact = _fitting(stem, "", suffix + GZ), False
    return "/".join([*filter(None, [_root(file.url, hosts)]), *folders, name]), is_exact


def _decoded(text: str) -> str:
    """Decode percent-escapes. Bytes that are no UTF-8 become characters that no name has."""
    return unicodedata.normalize("NFC", unquote(text, errors="surrogateescape"))


def _is_name(text: str) -> bool:
    """True for the name of a file or folder on any system."""
    return (
        text.strip(" .") != ""
        and text == text.rstrip(" .")
        and (not text.startswith(".") or text == PUBLISHED)
        and UNSAFE.search(text) is None
        and RESERVED.match(text) is None
        and len(text.encode("utf-8", "surrogatepass")) <= MAX_NAME_BYTES
    )


def made_up(text: str) -> str:
    """Return a safe name without suffix: visible, in its folder, and not too long."""
    stem = ODD.sub("-", text).strip(" .-") or DEFAULT_NAME
    if RESERVED.match(stem):
        stem = f"{DEFAULT_NAME}-{stem}"
    if len(stem.encode()) > MAX_STEM_BYTES:
        stem = f"{stem.encode()[:MAX_STEM_BYTES].decode(errors='ignore').strip(' .-')}-{_digest(text)}"
    return stem


def _name(name: str, query: str, suffix: str) -> str:
    """Make up the name of a file from the last part of its path, and its query."""
    stem, found = _split(name)
    kept = found.lower() if LASTING.fullmatch(found) else suffix
    return made_up(f"{stem}-{query.replace('=', '-')}" if query else stem) + kept


def _split(name: str) -> tuple[str, str]:
    """Split a name into stem and suffix."""
    found = SUFFIX.search(name)
    assert found is not None
    return name[: found.start()], found[0]


def _fitting(stem: str, addition: str, suffix: str) -> str:
    """Put a name together, with a stem short enough for a file system."""
    room = MAX_NAME_BYTES - len(f"{addition}{suffix}".encode())
    return f"{stem.encode()[:room].decode(errors='ignore')}{addition}{suffix}"


def _digest(text: str) -> str:
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=DIGEST_BYTES).hexdigest()


def _host(url: str) -> str:
    """Name of the folder that mirrors a host; empty if the host is unknown."""
    place = urls.authority(url)
    if place is None:
        return ""
    host = place.host.replace(":", "-")
    return host if place.port in DEFAULT_PORTS.values() else f"{host}_{place.port}"


def _root(url: str, hosts: Sequence[str]) -> str:
    """The folder of a host, if there are several. Files of an unknown host go to the first one."""
    return (_host(url) or hosts[0]) if len(hosts) > 1 else ""


def _place(path: str, url: str, hosts: Sequence[str]) -> Place:
    """The place of a file with a made-up name, on the host of a URL."""
    root = _root(url, hosts)
    inside = path.removeprefix(f"{root}/") if root else path
    return Place(path, f"{urls.origin(url) or ''}/{quote(inside, SAFE)}", root)


def _with_parts(file: SetFile, own: Place, names: Names, hosts: Sequence[str]) -> Placed:
    """Name the parts of a file after it: `sitemap-1.xml`, or from `sitemap-2.xml` if it is the first itself."""
    if file.parts == 1:
        return Placed(own, (own,))
    folder, slash, name = own.path.rpartition("/")
    stem, suffix = _split(name)
    numbers = range(1 if file.indexes_parts else 2, file.parts + 1)
    paths = [names.free(f"{folder}{slash}{_fitting(stem, f'-{number}', suffix)}", file.url) for number in numbers]
    parts = tuple(_place(path, file.url, hosts) for path in paths)
    return Placed(own, parts if file.indexes_parts else (own, *parts))


class Names:
    """The paths of a set. Those that differ in upper and lower case alone are one."""

    def __init__(self, paths: Iterable[str]) -> None:
        """`paths`: all that may be used, whose folders no file may have as its name."""
        self._folders = {str(parent).casefold() for path in paths for parent in PurePosixPath(path).parents}
        self._taken: set[str] = set()

    def claim(self, path: str) -> bool:
        """Take a path. False if it is taken already, or is a folder."""
        key = path.casefold()
        if key in self._taken or key in self._folders:
            return False
        self._taken.add(key)
        return True

    def free(self, path: str, url: str) -> str:
        """Take a path, with the digest of a URL in its name if it is taken already."""
        tried, number = path, 0
        folder, slash, name = path.rpartition("/")
        stem, suffix = _split(name)
        while not self.claim(tried):
            digest = _digest(f"{url}#{number}" if number else url)
            tried = f"{folder}{slash}{_fitting(stem, f'-{digest}', suffix)}"
            number += 1
        return tried
