"""Feeds whose storage cannot work are refused before a crawl."""

from __future__ import annotations

import re
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest
from scrapy.exceptions import NotConfigured
from scrapy.settings import Settings

from sitemapcrawler.cli import main, project_settings
from sitemapcrawler.feeds.storages import AtomicFileStorage
from sitemapcrawler.feeds.writable import NEEDED, check_fields_of_names, check_writable

ROOT = Path(__file__).parents[3]
KEYS = {"AWS_ACCESS_KEY_ID": "key", "AWS_SECRET_ACCESS_KEY": "secret"}


@pytest.fixture(autouse=True)
def nobody(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A user without credentials, on a machine without a metadata service."""
    monkeypatch.chdir(tmp_path)
    for name in KEYS:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    monkeypatch.setenv("AWS_CONFIG_FILE", str(tmp_path / "none"))
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", str(tmp_path / "none"))
    monkeypatch.setenv("NO_GCE_CHECK", "true")
    monkeypatch.delenv("GOOGLE_APPLICATION_CREDENTIALS", raising=False)
    monkeypatch.delenv("STORAGE_EMULATOR_HOST", raising=False)


def settings(uri: str, options: dict[str, Any] | None = None, **others: object) -> Settings:
    changed = project_settings()
    changed.setdict({"FEEDS": {uri: {"format": "csv", **(options or {})}}, **others}, "cmdline")
    return changed


def refusal(*feed: Any, **others: object) -> str:
    with pytest.raises(ValueError) as caught:
        check_writable(settings(*feed, **others))
    assert "\n" not in str(caught.value)
    return str(caught.value)


@pytest.mark.parametrize(
    ("uri", "module", "extra"), [("s3://b/x.csv", "boto3", "s3"), ("gs://b/x.csv", "google.cloud.storage", "gcs")]
)
def test_library_that_is_missing_is_named_with_what_installs_it(
    uri: str, module: str, extra: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, module, None)
    wanted = f"{uri} cannot be written: {module} is missing: pip install 'scrapy-sitemapcrawler[{extra}]'"
    assert refusal(uri) == wanted


@pytest.mark.parametrize(
    ("uri", "problem"),
    [
        ("s3:///x.csv", "it names no bucket"),
        ("gs://bucket", "it names no file"),
        ("s3://bucket/folder/", "it names no file"),
        ("ftp:///x.csv", "it names no host"),
        ("ftp://host:abc/x.csv", "Port could not be cast"),
        ("ftp://[bad/x.csv", "Invalid IPv6 URL"),
        ("s3://bucket/x.csv", "no credentials are known; set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY"),
        ("gs://bucket/x.csv", "Your default credentials were not found"),
    ],
)
def test_place_that_is_certain_to_fail(uri: str, problem: str) -> None:
    assert refusal(uri).startswith(f"{uri} cannot be written: {problem}")


@pytest.mark.parametrize("uri", ["s3://key:secret@bucket/x.csv", "ftp://host/x.csv", "ftps://u:p@host:2121/x.csv"])
def test_place_that_may_work(uri: str) -> None:
    check_writable(changed := settings(uri))
    assert changed.getdict("FEEDS") == {uri: {"format": "csv"}}


@pytest.mark.parametrize(
    ("uri", "scheme", "storage"),
    [
        ("x.csv", "", "FileFeedStorage"),
        ("file:///tmp/x.csv", "file", "FileFeedStorage"),
        ("stdout:", "stdout", "StdoutFeedStorage"),
    ],
)
def test_local_storage_of_scrapy(uri: str, scheme: str, storage: str) -> None:
    check_writable(settings(uri, FEED_STORAGES={scheme: f"scrapy.extensions.feedexport.{storage}"}))


def test_credentials_of_the_settings_and_the_environment_are_known(monkeypatch: pytest.MonkeyPatch) -> None:
    check_writable(settings("s3://bucket/x.csv", **KEYS))
    for name, value in KEYS.items():
        monkeypatch.setenv(name, value)
    check_writable(settings("s3://bucket/x.csv"))
    with pytest.raises(ValueError, match=r"^s3://bucket/x\.csv cannot be written: Partial credentials"):
        check_writable(settings("s3://bucket/x.csv", AWS_ACCESS_KEY_ID="key"))


def test_temporary_folder_of_remote_feeds() -> None:
    assert refusal("ftp://host/x.csv", FEED_TEMPDIR="none").endswith("setting FEED_TEMPDIR='none': no such folder")
    check_writable(settings("x.csv", FEED_TEMPDIR="none"))


class Closed:
    """A storage of somebody else that is not configured."""

    def __init__(self, uri: str, *, feed_options: dict[str, Any] | None = None) -> None:
        raise NotConfigured("the shop is closed")


class NeedsACrawl(AtomicFileStorage):
    """A storage of somebody else that looks at the crawl."""

    @classmethod
    def from_crawler(cls, crawler: Any, uri: str, *, feed_options: dict[str, Any] | None = None) -> AtomicFileStorage:
        crawler.engine.pause()
        return cls(uri, feed_options=feed_options)


def test_storage_of_somebody_else() -> None:
    assert refusal("shop://x", FEED_STORAGES={"shop": Closed}) == "shop://x cannot be written: the shop is closed"
    check_writable(settings("shop://x", FEED_STORAGES={"shop": NeedsACrawl}))


def test_feed_in_several_files_has_a_number_in_its_name() -> None:
    wanted = "x.csv cannot be split into files (batch_item_count); add %(batch_id)d to its name"
    assert refusal("x.csv", {"batch_item_count": 5}) == wanted
    assert refusal("x.csv", FEED_EXPORT_BATCH_ITEM_COUNT="5") == wanted
    check_writable(settings("x-%(batch_id)d.csv", {"batch_item_count": 5}))


@pytest.mark.parametrize(
    "uri", ["%(domain)s.csv", "%(name)s-%(time)s.csv", "100%.csv", "%%(shop)s.csv", "%(batch_id)03d.csv"]
)
def test_field_of_a_name_has_a_value(uri: str) -> None:
    check_fields_of_names(settings(uri), ["domain", "name"])
    check_fields_of_names(settings(f"{uri}-%(shop)s.csv", FEED_URI_PARAMS="shop.params"), ["domain", "name"])
    wanted = f"{uri}-%(shop)s.csv cannot be written: %(shop)s has no value; name an argument"
    with pytest.raises(ValueError, match=f"^{re.escape(wanted)}$"):
        check_fields_of_names(settings(f"{uri}-%(shop)s.csv"), ["domain", "name"])


OF_THE_BUCKET = (
    "sitemapcrawler: s3://bucket/x.csv cannot be written: boto3 is missing: pip install 'scrapy-sitemapcrawler[s3]'"
)
NAMED = "sitemapcrawler: s3://***@bucket cannot be written: boto3 is missing: pip install 'scrapy-sitemapcrawler[s3]'"


@pytest.mark.parametrize(
    ("command", "line"),
    [
        (["crawl", "sitemap", "-a", "domain=127.0.0.1:1", "-O", "s3://bucket/x.csv", "-O", "local.csv"], OF_THE_BUCKET),
        (["crawl", "sitemap", "-a", "domain=127.0.0.1:1", "-O", "s3://key:secret@bucket:csv"], NAMED),
        (["validate", "127.0.0.1:1", "-o", "s3://bucket/x.csv", "--format", "json"], OF_THE_BUCKET),
        (["crawl", "sitemap", "-a", "domain=127.0.0.1:1", "-O", "x-%(since)s-%(shop)s.csv"],
         "sitemapcrawler: x-%(since)s-%(shop)s.csv cannot be written: %(since)s has no value; name an argument"),
        (["audit", "127.0.0.1:1", "--out", "s3://b/x"],
         "sitemapcrawler: --out s3://b/x: is a URL; accepted: a local folder"),
        (["fix", "127.0.0.1:1", "--out", "s3://b/x"],
         "sitemapcrawler: --out 's3://b/x': is a URL; accepted: a local folder"),
        (["crawl", "sitemap", "-a", "domain=127.0.0.1:1", "-s", "JOBDIR=s3://b/x"],
         "sitemapcrawler: setting JOBDIR='s3://b/x': accepted: a local folder"),
    ],
)  # fmt: skip
def test_commands_refuse_it_in_one_line_and_write_nothing(
    command: list[str], line: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "boto3", None)
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SystemExit) as ended:
        main(["sitemapcrawler", *command])
    assert (ended.value.code, *capfd.readouterr()) == (2, "", f"{line}\n")
    assert list(tmp_path.iterdir()) == []


def test_extras_bring_what_storages_of_scrapy_import() -> None:
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["optional-dependencies"]
    for module, extra in NEEDED.values():
        package = module.replace(".", "-")
        assert any(re.match(rf"{package}\b(?!-)", requirement) for requirement in extras[extra])
