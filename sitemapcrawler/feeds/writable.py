"""Checks before a crawl that the storage of each feed works: if one does not, Scrapy writes none of them."""

from __future__ import annotations

import re
from collections.abc import Collection
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from urllib.parse import urlsplit

from scrapy import Spider
from scrapy.crawler import Crawler
from scrapy.exceptions import NotConfigured
from scrapy.extensions.feedexport import BlockingFeedStorage, GCSFeedStorage, S3FeedStorage
from scrapy.settings import BaseSettings, Settings
from scrapy.utils.misc import build_from_crawler

from sitemapcrawler import settings as ours
from sitemapcrawler.feeds.exporters import FeedOptions
from sitemapcrawler.feeds.setup import components_in, imported
from sitemapcrawler.feeds.uris import local_path, scheme_of

NEEDED = {"s3": ("boto3", "s3"), "gs": ("google.cloud.storage", "gcs")}
"""{URI scheme: (module that Scrapy's storage imports, extra of this project that installs it)}."""
PLACES = {"ftp": "host", "ftps": "host", "s3": "bucket", "gs": "bucket"}
"""{URI scheme: what its authority names}. Files and standard output have none."""
OF_SCRAPY = "scrapy."
"""Import path prefix of Scrapy's own storages."""
OF_A_FEED = ("time", "batch_time", "batch_id")
"""Names that Scrapy adds to the attributes of a spider for `%(name)s` in the URI of a feed."""
_FIELD = re.compile(r"%(?:%|\((\w+)\))")
_BATCH = re.compile(r"%\(batch_(?:id|time)\)")


def check_writable(settings: Settings) -> None:
    """Raise ValueError, one line, for a feed whose storage cannot be created, or is certain to fail."""
    feeds = settings.getdict("FEEDS")
    if not feeds:
        return
    crawler = Crawler(Spider, settings)  # never runs: storages take their settings from one
    storages = components_in(settings, "FEED_STORAGES")
    for uri, options in feeds.items():
        _check_batches(str(uri), options, settings)
        scheme = "" if local_path(uri) is not None else scheme_of(str(uri))
        try:
            _check_storage(imported(storages[scheme], f"setting FEED_STORAGES: {scheme}"), crawler, str(uri), scheme)
        except ValueError as error:
            raise ValueError(f"{uri} cannot be written: {error}") from None


def check_fields_of_names(settings: BaseSettings, known: Collection[str]) -> None:
    """Raise ValueError, one line, for a feed whose URI has a field `%(name)s` without a value.

    `known`: names of the spider's attributes and arguments. A function of the user (FEED_URI_PARAMS) may add others, so
    nothing is checked then.
    """
    for uri, options in settings.getdict("FEEDS").items():
        if (options.get("uri_params") or settings["FEED_URI_PARAMS"]) != ours.FEED_URI_PARAMS:
            continue
        for name in filter(None, _FIELD.findall(str(uri))):
            if name not in known and name not in OF_A_FEED:
                raise ValueError(f"{uri} cannot be written: %({name})s has no value; name an argument")


def _check_batches(uri: str, options: FeedOptions, settings: Settings) -> None:
    size = options.get("batch_item_count", settings.getint("FEED_EXPORT_BATCH_ITEM_COUNT"))
    if size and not _BATCH.search(uri):
        raise ValueError(f"{uri} cannot be split into files (batch_item_count); add %(batch_id)d to its name")


def _check_storage(kind: object, crawler: Crawler, uri: str, scheme: str) -> None:
    """Create the storage of a feed as Scrapy does. Raises ValueError."""
    assert isinstance(kind, type)
    own = kind.__module__.startswith(OF_SCRAPY)
    if own:
        _check_library(scheme)
        if scheme in PLACES:
            _check_parts(uri, scheme)
    try:
        storage = build_from_crawler(kind, crawler, uri, feed_options=None)
        if own:
            _check_login(storage)
    except NotConfigured as error:
        raise ValueError(str(error) or "its storage is not configured") from None
    except Exception as error:  # botocore and google.auth raise errors of many types
        if own:
            raise ValueError(str(error)) from None
        return  # it may need a crawl that runs
    folder = crawler.settings["FEED_TEMPDIR"]
    if isinstance(storage, BlockingFeedStorage) and folder and not Path(folder).is_dir():
        raise ValueError(f"setting FEED_TEMPDIR={folder!r}: no such folder")


def _check_library(scheme: str) -> None:
    module, extra = NEEDED.get(scheme, ("", ""))
    try:
        missing = bool(module) and find_spec(module) is None
    except ImportError:  # a package above it is missing
        missing = True
    if missing:
        raise ValueError(f"{module} is missing: pip install 'scrapy-sitemapcrawler[{extra}]'")


def _check_parts(uri: str, scheme: str) -> None:
    parts = urlsplit(uri)
    if not parts.hostname:
        raise ValueError(f"it names no {PLACES[scheme]}")
    if not parts.path.strip("/") or parts.path.endswith("/"):
        raise ValueError("it names no file")


def _check_login(storage: object) -> None:
    """Raise an exception if no credentials are known, where the storage will look for them."""
    if isinstance(storage, S3FeedStorage) and not storage.access_key:
        if import_module("boto3.session").Session().get_credentials() is None:
            raise ValueError("no credentials are known; set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY")
    elif isinstance(storage, GCSFeedStorage):
        import_module("google.cloud.storage").Client(project=storage.project_id)
