"""Wrong values of settings are one line before a crawl runs."""

from __future__ import annotations

import re
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path

import pytest
import scrapy
from scrapy.settings import Settings, default_settings

from sitemapcrawler.cli import project_settings
from sitemapcrawler.crawl import wiring
from sitemapcrawler.crawl.setting_values import DEFAULTS, check_settings
from sitemapcrawler.crawl.wiring import FORMER, complete_for_pages


def settings(name: str, value: object) -> Settings:
    changed = project_settings()
    changed.set(name, value, priority="cmdline")
    return changed


SELECT = "twisted.internet.selectreactor.SelectReactor"
HTTP2 = "scrapy.core.downloader.handlers.http2.H2DownloadHandler"
WRONG = [
    ("CONCURRENT_REQUESTS", "zero", "='zero': accepted: a whole number"),
    ("RETRY_TIMES", "1.5", "='1.5': accepted: a whole number"),
    ("RETRY_TIMES", [1], "=[1]: accepted: a whole number"),
    ("CONCURRENT_ITEMS", "0", "='0': accepted: a number from 1"),
    ("DOWNLOAD_DELAY", "abc", "='abc': accepted: a number"),
    ("DOWNLOAD_DELAY", "nan", "='nan': accepted: a number"),
    ("COOKIES_ENABLED", "maybe", "='maybe': accepted: True, False"),
    ("RETRY_HTTP_CODES", "500,x", "='500,x': accepted: whole numbers, separated by commas"),
    ("HTTPERROR_ALLOWED_CODES", "x", "='x': accepted: whole numbers, separated by commas"),
    ("HTTPCACHE_IGNORE_SCHEMES", 5, "=5: accepted: a list"),
    ("SITEMAP_SEVERITIES", "abc", "='abc': accepted: a dictionary, on the command line as JSON"),
    ("DOWNLOAD_TLS_MIN_VERSION", "9", "='9': accepted: TLSv1.0, TLSv1.1, TLSv1.2, TLSv1.3"),
    ("RETRY_GIVE_UP_LOG_LEVEL", "loud", "='loud': accepted: CRITICAL, "),
    ("SCHEDULER", "no_such.Scheduler", "='no_such.Scheduler': No module named 'no_such'"),
    ("SCHEDULER", "scrapy.core.scheduler.Schedular", "='scrapy.core.scheduler.Schedular': Module "),
    ("STATS_CLASS", "stats", "='stats': Error loading object 'stats': not a full path"),
    ("STATS_CLASS", "os.path", "='os.path': os.path is not a class or function"),
    ("TWISTED_REACTOR", SELECT, f"='{SELECT}': accepted: twisted.internet.asyncioreactor.AsyncioSelectorReactor"),
    ("TWISTED_REACTOR_ENABLED", False, "=False: accepted: True"),
    ("RETRY_EXCEPTIONS", ["no_such.Error"], ": No module named 'no_such'"),
    ("ADDONS", {"no_such.Addon": 1}, ": No module named 'no_such'"),
    ("EXTENSIONS", {"no_such.Extension": None}, ": No module named 'no_such'"),
    ("EXTENSIONS", {"scrapy.extensions.closespider.CloseSpider": "1"}, ": scrapy.extensions.closespider.CloseSpider has the order '1'; accepted: a number, None"),
    ("DOWNLOAD_HANDLERS", {"http": "no_such.Handler"}, ": http: No module named 'no_such'"),
    ("DOWNLOAD_HANDLERS", {"http": [1]}, ": http: Unexpected argument type"),
    ("DOWNLOAD_HANDLERS", {"https": HTTP2}, ": https: H2DownloadHandler checks no address; accepted: sitemapcrawler."),
    ("FEED_STORAGES", {"x": "no_such.Storage"}, ": x: No module named 'no_such'"),
    ("SITEMAP_STORE", "perhaps", "='perhaps': accepted: True, False"),
    ("SITEMAP_PROGRESS", "perhaps", "='perhaps': accepted: True, False"),
    ("LOGSTATS_INTERVAL", "often", "='often': accepted: a number"),
    ("SITEMAP_ITEMS", "xml", "='xml': accepted: auto, batches, records"),
    ("SITEMAP_ALLOW_NETWORK", "10.0.0.0/8", "='10.0.0.0/8': unknown, did you mean SITEMAP_ALLOW_NETWORKS?"),
    ("SITEMAP_FINDING_PER_RULE", 5, "=5: unknown, did you mean SITEMAP_FINDINGS_PER_RULE?"),
]  # fmt: skip


@pytest.mark.parametrize(("name", "value", "problem"), WRONG)
def test_wrong_value_is_one_line(name: str, value: object, problem: str) -> None:
    with pytest.raises(ValueError, match=f"^{re.escape(f'setting {name}{problem}')}.*$") as error:
        check_settings(settings(name, value))
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("handler", [HTTP2, type("H2DownloadHandler", (), {})])
def test_http2_is_refused_for_spiders_of_pages_too(handler: object) -> None:
    with pytest.raises(ValueError, match=r"^setting DOWNLOAD_HANDLERS: https: H2DownloadHandler checks no address"):
        complete_for_pages(settings("DOWNLOAD_HANDLERS", {"https": handler}))


def test_other_reactor_is_refused_for_spiders_of_pages_too() -> None:
    with pytest.raises(ValueError, match=r"^setting TWISTED_REACTOR='twisted\.internet\.selectreactor.*': accepted: "):
        complete_for_pages(settings("TWISTED_REACTOR", SELECT))


@pytest.mark.parametrize(("installed", "refused"), [(False, True), (True, False)])
def test_no_named_reactor_is_that_of_the_process(
    installed: bool, refused: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(wiring, "is_reactor_installed", lambda: installed)
    monkeypatch.setattr(wiring, "is_asyncio_reactor_installed", lambda: installed)
    with pytest.raises(ValueError, match=r"^setting TWISTED_REACTOR=None") if refused else nullcontext():
        wiring.refuse_reactor(settings("TWISTED_REACTOR", None))


@pytest.mark.parametrize("name", FORMER)
@pytest.mark.parametrize("check", [check_settings, complete_for_pages])
def test_former_setting_is_one_line_that_names_what_to_use(name: str, check: Callable[[Settings], None]) -> None:
    with pytest.raises(ValueError, match=f"^setting {name}='1': no longer exists: ") as error:
        check(settings(name, "1"))
    assert "\n" not in str(error.value)
    for other in re.findall(r"\b[A-Z]+_[A-Z_]+\b", FORMER[name]):
        assert other in DEFAULTS, other


RIGHT = [
    ("CONCURRENT_REQUESTS", "8"),
    ("RETRY_TIMES", None),
    ("DOWNLOAD_TIMEOUT", "0.5"),
    ("TELNETCONSOLE_PORT", "6023,6073"),
    ("REFERRER_POLICY", "no-referrer"),
    ("DOWNLOAD_TLS_MIN_VERSION", "TLSv1.2"),
    ("SCHEDULER", "scrapy.core.scheduler.Scheduler"),
    ("STATS_CLASS", Settings),
    ("EXTENSIONS", {"scrapy.extensions.memusage.MemoryUsage": None, Settings: 5}),
    ("DOWNLOAD_HANDLERS", {"s3": None}),
    ("OF_ANOTHER_PACKAGE", "anything"),
    ("SITEMAP_URLS", "of a spider of the project"),
    ("COUNTRY_CODES", ["de"]),
    *((name, value) for name in ("SITEMAP_STORE", "SITEMAP_PROGRESS") for value in (True, "False", "1", "0")),
    *(("SITEMAP_ITEMS", word) for word in ("auto", "batches", "records")),
]


@pytest.mark.parametrize(("name", "value"), RIGHT)
def test_right_value_is_accepted(name: str, value: object) -> None:
    changed = settings(name, value)
    check_settings(changed)
    assert changed[name] == value or changed.getdict(name) == value


READ = re.compile(r"get(int|float|bool)\(\s*\"([A-Z_0-9]+)\"")
SEVERAL_TYPES = {"PERIODIC_LOG_DELTA", "PERIODIC_LOG_STATS"}
"""They are True or a dictionary."""


def test_every_number_and_switch_is_checked_as_scrapy_reads_it() -> None:
    """Scrapy reads some settings as another type than that of their default."""
    sources = (path.read_text("utf-8") for path in Path(scrapy.__file__).parent.rglob("*.py"))
    read = {match for source in sources for match in READ.findall(source) if match[1] in vars(default_settings)}
    assert len(read) > 50
    for kind, name in sorted(read):
        if name not in SEVERAL_TYPES:
            with pytest.raises(ValueError, match=f"^setting {name}='perhaps': accepted: "):
                check_settings(settings(name, "perhaps"))
        if kind == "float":
            check_settings(settings(name, "0.5"))


@pytest.mark.parametrize(
    ("place", "problem"),
    [
        (".", "Is a directory"),
        ("nosuch/crawl.log", "No such file or directory"),
        ("file/crawl.log", "Not a directory"),
        ("/proc/crawl.log", "[A-Z].*"),
    ],
)
def test_log_that_cannot_be_written(tmp_path: Path, place: str, problem: str) -> None:
    (tmp_path / "file").touch()
    path = tmp_path / place
    with pytest.raises(ValueError, match=f"^the log {path} cannot be written: {problem}$"):
        check_settings(settings("LOG_FILE", str(path)))


def test_earlier_log_stays_as_it_is(tmp_path: Path) -> None:
    log = tmp_path / "crawl.log"
    log.write_text("earlier\n")
    check_settings(settings("LOG_FILE", str(log)))
    assert log.read_text() == "earlier\n"


@pytest.mark.parametrize(
    ("address", "priority"),
    [
        ("https://example.com", "cmdline"), ("https://127.0.0.1.example.com", "cmdline"), ("127.0.0.1", "cmdline"),
        ("http://user@example.com@127.0.0.1:1", "cmdline"), ("http://127.0.0.1:8000", "project"), ("", "cmdline"),
    ],
)  # fmt: skip
def test_credentials_go_to_google_or_to_a_test_server_of_the_command_line(address: str, priority: str) -> None:
    changed = project_settings()
    changed.set("SITEMAP_GSC_ENDPOINT", "http://127.0.0.1:8000", priority="cmdline")
    check_settings(changed)
    changed = project_settings()
    changed.set("SITEMAP_GSC_ENDPOINT", address, priority=priority)
    with pytest.raises(ValueError, match=r"SITEMAP_GSC_ENDPOINT=.*: only the command line may name a loopback address"):
        check_settings(changed)
