"""Parsers of argument values: each takes a string and raises ValueError if it is invalid."""

from __future__ import annotations

import ast
import io
import os
import re
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import BinaryIO

from sitemapcrawler import urls
from sitemapcrawler.feeds.folder import BASELINES as OF_A_REPORT
from sitemapcrawler.jobs.index_status import DOMAIN, check
from sitemapcrawler.reader.lists import files_of, read_export
from sitemapcrawler.robots.addresses import read_ranges
from sitemapcrawler.robots.agents import named, requesting
from sitemapcrawler.rules import all_rules
from sitemapcrawler.rules.choice import NONE, check_names
from sitemapcrawler.urls.display import masked_argument, masked_url
from sitemapcrawler.urls.expressions import Expression
from sitemapcrawler.verification.browser import lacking
from sitemapcrawler.verification.google_token import credentials
from sitemapcrawler.verification.sampling import Sample

MAX_SHOWN = 80  # characters of a value in a message
MAX_LIST_BYTES = 16 * 2**20  # of an @file: some 500,000 hosts
_COMMENT = re.compile(r"(?:^|\s)#")

CONTROL = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]")
_SCHEME = re.compile(r"([a-z][a-z0-9+.-]*)://", re.IGNORECASE)
_WITHOUT_PATH = re.compile(r"https?://[^/?#]*", re.IGNORECASE)
_SITEMAP_FILE = re.compile(r"(?<!robots)\.(?:xml|txt)(?:\.gz)?\Z", re.IGNORECASE)
# host.tld/, host:port/, localhost/ or [::1]/
BARE_URL = re.compile(r"(?:[^/.]+\.[^/]*|[^/:]+:\d+|localhost|\[[^/]*)/", re.IGNORECASE)
COMMA = re.compile(",")
# URLs may contain commas. A comma separates if a URL, a path, an @file, host.tld/ or [::1]/ follows.
COMMA_BEFORE_URL = re.compile(
    r",\s*(?=https?://|file:|\.{0,2}/|@|(?:[\w-]+(?:\.[\w-]+)+|\[[0-9a-f:.]+\])(?::\d+)?/|,|\Z)", re.IGNORECASE
)
COMMA_BEFORE_CHANNEL = re.compile(r",\s*(?=[a-z][a-z0-9.+-]*://|@)", re.IGNORECASE)
"""A comma before an address of Apprise or an @file; others may be part of an address."""
BASELINES = ("audit.duckdb", *OF_A_REPORT)
"""Files of a job or report folder that serve as a baseline, the most complete first."""
BASELINE_SUFFIXES = (".duckdb", ".parquet", ".csv", ".jsonl", ".jsonl.gz")
MAX_COMPARED = 32
"""Lists to compare with, each of which has a bit of a number."""
_WRITTEN_LIST = re.compile(r"""\[\s*["']""")
PASSWORD = "contains a user name or password; use the setting or environment variable SITEMAP_AUTH"


@dataclass(frozen=True, slots=True)
class Start:
    """A site to discover."""

    url_candidates: tuple[str, ...]
    """Origins to try in order: https, then http for a bare host; a URL has only its own."""

    def __str__(self) -> str:
        """The item of `domain` that yields this start."""
        if len(self.url_candidates) == 1:
            return self.url_candidates[0]
        # A port that is the default of one scheme shows only in the other's origin.
        return max((url.partition("://")[2] for url in self.url_candidates), key=len)


def read_list(path: str) -> str:
    """The text of an @file, at most `MAX_LIST_BYTES`. Raises OSError or UnicodeDecodeError."""
    with io.TextIOWrapper(open_list(path, MAX_LIST_BYTES), "utf-8-sig") as file:
        return file.read()


def open_list(path: str, max_bytes: int) -> BinaryIO:
    """Open an @file. Raises OSError if the file is missing, or larger than `max_bytes`."""
    file = Path(path)
    if not file.is_file():
        raise OSError("no such file")
    if file.stat().st_size > max_bytes:
        raise OSError(f"larger than {max_bytes} bytes")
    return file.open("rb")


def without_comment(line: str) -> str:
    """The value in a line of an @file, stripped; empty for blank lines and comments."""
    return _COMMENT.split(line, maxsplit=1)[0].strip()


def quoted(value: object) -> str:
    """A value for messages: quoted, passwords masked, cut to `MAX_SHOWN` characters."""
    value = masked_argument(value) if isinstance(value, str) else value
    text = repr(value[:MAX_SHOWN] if isinstance(value, str) else value)
    whole = len(text) <= MAX_SHOWN and not (isinstance(value, str) and len(value) > MAX_SHOWN)
    return text if whole else f"{text[: MAX_SHOWN - 4]}...{text[-1]}"


def start(item: str) -> Start:
    """Parse a host or URL into a start. Only the origin counts: discovery ignores paths."""
    scheme = _SCHEME.match(item)
    if scheme is not None and scheme[1].lower() not in urls.DEFAULT_PORTS:
        raise ValueError(f"scheme {quoted(scheme[1])} is not crawled")
    place, _, path = re.split(r"[?#]", item[scheme.end() if scheme else 0 :])[0].partition("/")
    if "@" in place:
        raise ValueError(PASSWORD)
    if _SITEMAP_FILE.search(path):
        raise ValueError("is a file; use the argument sitemap")
    origins = [urls.origin(f"{name}://{place}") for name in ([scheme[1]] if scheme else ["https", "http"])]
    found = tuple(url for url in origins if url is not None)
    if not found:
        bare = urls.is_web(f"http://[{place}]")
        raise ValueError("not a valid host and port" + (": write an IPv6 address in brackets, [::1]" if bare else ""))
    return Start(found)


def sitemap(item: str) -> str:
    """Parse a web URL or the path of a readable file. `host.tld/path` is https; other bare text is a path."""
    scheme = _SCHEME.match(item)
    if item[:5].lower() == "file:" or (scheme is None and not BARE_URL.match(item)):
        return named_file(item)
    return web_url(item)


def web_url(item: str) -> str:
    """Parse a web URL, https by default, and remove its fragment."""
    written = item if _SCHEME.match(item) else f"https://{item}"
    if masked_url(written) != written:
        raise ValueError(PASSWORD)
    url = urls.resolve("", written)
    if url is None:
        raise ValueError("not a valid http or https URL")
    return url.partition("#")[0].replace(" ", "%20")


def base_url(text: str) -> str:
    """Parse the web URL of a file, or of a folder if it ends in `/`; a bare host is its root folder."""
    url = web_url(text)
    return f"{url}/" if url == _WITHOUT_PATH.match(url)[0] else url  # type: ignore[index]  # it matches every web URL


def named_file(item: str) -> str:
    """The `file:` URL of a readable file, given by path or URL."""
    path = urls.local_path(item) if item[:5].lower() == "file:" else item
    try:
        readable = path is not None and Path(path).is_file() and os.access(path, os.R_OK)
    except (OSError, ValueError):
        readable = False
    if path is None or not readable:
        raise ValueError("no such file, or not readable")
    return urls.file_url(path)


def directory(text: str) -> str:
    """The absolute path of a folder, without `..`."""
    try:
        if Path(text).is_dir():
            return os.path.normpath(Path(text).absolute())
    except (OSError, ValueError):
        pass
    raise ValueError("no such folder")


def expression(text: str) -> Expression:
    try:
        return Expression(text)
    except ValueError as error:
        raise ValueError(str(error)[:MAX_SHOWN]) from None


def moment(text: str) -> datetime:
    """Parse an ISO 8601 date or time, UTC by default; a year or month is its first day."""
    date = text + {len("2024"): "-01-01", len("2024-05"): "-01"}.get(len(text), "")
    try:
        moment = datetime.fromisoformat(date.upper())
        return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).astimezone(UTC)
    except (ValueError, OverflowError):
        raise ValueError("no such date or time") from None


def joined(value: object) -> object:
    """Join a list of strings with commas; return any other value unchanged.

    Also accepts the text of a Python or JSON list, which is how Scrapy Cloud passes lists.
    """
    items = value
    if isinstance(value, str) and _WRITTEN_LIST.match(value):
        with suppress(SyntaxError, ValueError, MemoryError, RecursionError):
            items = ast.literal_eval(value)
    if isinstance(items, (list, tuple)) and all(isinstance(item, str) for item in items):
        return ",".join(items)
    return value


def list_file(text: str) -> str:
    """The `file:` URL of a list, given with or without `@`."""
    return named_file(text.removeprefix("@"))


def compared(text: str) -> tuple[str, ...]:
    """The paths of lists to compare with, separated by commas, each with or without `@`. All of them are recognised
    already."""
    found = dict.fromkeys(_recognised(item.strip().removeprefix("@")) for item in text.split(","))
    if len(found) > MAX_COMPARED:
        raise ValueError(f"more than {MAX_COMPARED} lists")
    names = [Path(path).name for path in found]
    if len(set(names)) < len(names):
        raise ValueError("two lists have the same file name")
    return tuple(found)


def _recognised(path: str) -> str:
    """The absolute path of a list, or the pattern of its files. Raises ValueError if one has an unknown format, or no
    URLs."""
    found = _files(path)
    for file in found:
        try:
            with Path(file).open("rb") as opened:
                read_export(opened, file)
        except OSError as error:
            raise ValueError(f"{quoted(file)} cannot be read, {error.strerror or error}") from None
        except ValueError as error:
            raise ValueError(f"{quoted(file)} {error}") from None
    return str(Path(found[0] if len(found) == 1 else path).absolute())


def _files(path: str) -> list[str]:
    """The files that a path or a pattern stands for, at least one; raises ValueError."""
    found = [] if path[:5].lower() == "file:" else files_of(path)
    return found or [urls.local_path(named_file(path)) or path]


def address_files(text: str) -> tuple[str, ...]:
    """The absolute paths of files with address ranges, separated by commas, each with or without `@`, or patterns of
    them. Raises ValueError if one is no such file, or its name is that of no crawler."""
    paths = dict.fromkeys(
        str(Path(one).absolute()) for item in text.split(",") for one in _files(item.strip().removeprefix("@"))
    )
    read_ranges(paths)
    return tuple(paths)


def baseline(text: str) -> str:
    """The path of a baseline database or feed; for a folder, the first of `BASELINES` in it."""
    try:
        return str(_baseline(Path(text).resolve()))
    except OSError as error:
        raise ValueError(f"cannot be read, {error.strerror or error}") from None


def _baseline(path: Path) -> Path:
    if path.is_dir():
        held = [path / name for name in BASELINES if (path / name).is_file()]
        if not held:
            raise ValueError(f"the folder contains none of {', '.join(BASELINES)}")
        return held[0]
    if not path.is_file():
        raise ValueError("no such file or folder")
    if not path.name.endswith(BASELINE_SUFFIXES):
        raise ValueError(f"the name does not end with one of {', '.join(BASELINE_SUFFIXES)}")
    return path


def rule(text: str) -> str:
    check_names([text], all_rules())
    return text


def crawler(text: str) -> str:
    """Parse the name of a known crawler that makes requests, or of a group of crawlers."""
    found = requesting(text)
    return found[0].name if len(found) == 1 else text.lower()


def crawler_of_robots(text: str) -> str:
    """Parse the name of one crawler."""
    found = named(agent(text)) if text != NONE else ()
    if len(found) != 1:
        raise ValueError("names no crawler, or several")
    return found[0].name


def sample_to_render(text: str) -> Sample:
    """Parse how many pages to render. Raises ValueError too if there is no browser."""
    if not text.strip("0"):
        raise ValueError("renders no page")
    sample = Sample.parse(text)
    if (why := lacking()) is not None:
        raise ValueError(why)
    return sample


def agent(text: str) -> str:
    """Parse the name of a crawler or group of crawlers, or `none`."""
    if text != NONE:
        named(text)
    return text


def channel(item: str) -> str:
    """Parse the address of a channel for messages, a secret, which no message quotes."""
    if find_spec("apprise") is None:
        raise ValueError("needs another package: pip install 'scrapy-sitemapcrawler[notify]'")
    if import_module("apprise").Apprise.instantiate(item) is None:
        raise ValueError("has an address that Apprise does not know")
    return item


def search_property(text: str) -> str:
    """Parse the name of a property of Search Console. Raises ValueError also without credentials for it."""
    domain = text.removeprefix(DOMAIN)
    is_domain = text != domain and urls.authority(f"http://{domain}/") is not None and not {*"/?@:"} & {*domain}
    if not is_domain and not (urls.is_web(text) and text.endswith("/") and masked_url(text) == text):
        raise ValueError("is not the name of a property")
    credentials()
    return f"{DOMAIN}{domain.lower()}" if is_domain else text


def answers_file(text: str) -> str:
    """The absolute path of a file of answers, given with or without `@`. Raises ValueError if it cannot be used."""
    path = Path(text.removeprefix("@")).absolute()
    check(path)
    return str(path)
