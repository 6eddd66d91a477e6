"""Builds the parts of a crawl from its settings and arguments."""

from __future__ import annotations

import re
import sys
from dataclasses import replace
from functools import partial, update_wrapper
from inspect import signature
from pathlib import Path

from scrapy.crawler import Crawler
from scrapy.settings import SETTINGS_PRIORITIES, BaseSettings

from sitemapcrawler import settings as ours
from sitemapcrawler import urls
from sitemapcrawler.crawl.frontier import Frontier, Patience
from sitemapcrawler.crawl.local_files import Published
from sitemapcrawler.crawl.params import ALL, ARGUMENTS, Params
from sitemapcrawler.crawl.reading import Children
from sitemapcrawler.crawl.site_discovery import Sites
from sitemapcrawler.crawl.verdicts import Verdicts
from sitemapcrawler.download.policies import Policies, own_agent
from sitemapcrawler.download.shared import Stop
from sitemapcrawler.jobs.job import Job
from sitemapcrawler.reader import Limits
from sitemapcrawler.rules import Rule, all_rules
from sitemapcrawler.rules.choice import Allowance, Choice, parse, severities
from sitemapcrawler.rules.judge import Judge
from sitemapcrawler.rules.registry import load_rules
from sitemapcrawler.verification.asking import Asker, Memo, Sender
from sitemapcrawler.verification.beside import BesideSitemap
from sitemapcrawler.verification.url_status import Status
from sitemapcrawler.verification.verifying import Admission, Targets, VerificationScope, Verifier
from sitemapcrawler.version import __version__

MAX_FAULTS = 50_000
"""Faults of one kind that the reader keeps in full if all findings are listed, as many as a sitemap may have entries.
A fault takes about 500 bytes of memory."""
MAX_ALLOWLIST_BYTES = 2**20
"""Maximum size of an allowlist: about 5,000 entries."""


def choose(settings: BaseSettings, params: Params | None = None) -> Choice:
    """The active rules with their severities. Raises ValueError, one line, for a bad setting."""
    load_rules(settings)
    rules = all_rules() if params is None else tuple(with_arguments(rule, params) for rule in all_rules())
    try:
        levels = severities(settings.getdict("SITEMAP_SEVERITIES"), rules)
    except ValueError as error:
        raise ValueError(f"setting SITEMAP_SEVERITIES: {error}") from None
    select, ignore = (params.select, params.ignore) if params else ((), ())
    return Choice(rules, select, ignore, levels, _allowances(settings.get("SITEMAP_ALLOW")))


def with_arguments(rule: Rule, params: Params) -> Rule:
    """The rule, called with the arguments that its function names as keyword-only parameters. Ours take none."""
    if rule.is_built_in:
        return rule
    check = rule.check
    named = [name for name, one in signature(check).parameters.items() if one.kind is one.KEYWORD_ONLY]
    given = {name: params[name] for name in named if name in ARGUMENTS}
    return replace(rule, check=update_wrapper(partial(check, **given), check)) if given else rule


def _allowances(path: str | None) -> tuple[Allowance, ...]:
    if not path:
        return ()
    try:
        with Path(path).open("rb") as file:
            data = file.read(MAX_ALLOWLIST_BYTES + 1)
        if len(data) > MAX_ALLOWLIST_BYTES:
            raise ValueError(f"more than {MAX_ALLOWLIST_BYTES} bytes")
        return parse(data.decode("utf-8-sig"), all_rules())
    except OSError as error:
        raise ValueError(f"setting SITEMAP_ALLOW={path!r}: {error.strerror or error}") from None
    except ValueError as error:
        raise ValueError(f"setting SITEMAP_ALLOW={path!r}: {error}") from None


SWITCHED = {
    "scrapy.downloadermiddlewares.cookies.CookiesMiddleware": "COOKIES_ENABLED",
    "scrapy.extensions.remote_control.RemoteControl": "REMOTE_CONTROL_ENABLED",
}
"""{Scrapy component: setting that enables it}. Even when disabled, these import whole HTTP clients, an eighth of the
start-up time."""


def leave_out(settings: BaseSettings) -> None:
    """Remove the disabled components in `SWITCHED`, so that Scrapy does not import them."""
    for setting in ("DOWNLOADER_MIDDLEWARES_BASE", "EXTENSIONS_BASE"):
        parts = settings.getdict(setting)
        off = {part for part in parts if part in SWITCHED and not settings.getbool(SWITCHED[part])}
        if off:
            settings.set(setting, {part: order for part, order in parts.items() if part not in off}, "spider")


def at_least_one(settings: BaseSettings, name: str) -> int:
    """A concurrency setting, at least 1: with 0 the crawl would hang."""
    return max(1, settings.getint(name))


def max_fetched(settings: BaseSettings) -> int:
    """Maximum size of a sitemap in bytes: DOWNLOAD_MAXSIZE, with this project's default instead of Scrapy's."""
    chosen = (settings.getpriority("DOWNLOAD_MAXSIZE") or 0) > SETTINGS_PRIORITIES["default"]
    return settings.getint("DOWNLOAD_MAXSIZE") if chosen else ours.DOWNLOAD_MAXSIZE


def findings_per_rule(settings: BaseSettings, params: Params) -> int:
    """Maximum number of findings per rule and file that become records."""
    return sys.maxsize if params.findings == ALL else settings.getint("SITEMAP_FINDINGS_PER_RULE")


def limits(settings: BaseSettings) -> Limits:
    return Limits(max_bytes=settings.getint("SITEMAP_MAX_BYTES"))


MAX_SITEMAPS = 100_000
"""Sitemaps of one crawl, without the argument `max_sitemaps`: twice what one index may list."""
FETCH_AHEAD = 8
"""Sitemaps that are fetched or wait to be read at a time, on all hosts: enough to keep reading, little on disk."""


def new_frontier(settings: BaseSettings, params: Params) -> Frontier:
    return Frontier(
        params.max_sitemaps or MAX_SITEMAPS,
        params.max_depth,
        FETCH_AHEAD,
        at_least_one(settings, "CONCURRENT_REQUESTS_PER_DOMAIN"),
        Patience(settings.getfloat("SITEMAP_MAX_SITE_TIME", 0)),
    )


def new_children(params: Params, frontier: Frontier, files: set[str]) -> Children:
    """What queues the sitemaps that files list. `files`: see `Named.files`."""
    published = None if params.base_dir is None else Published(params.base_dir, params.base_url)
    return Children(frontier, params.follow, params.offline, published, files)


def limits_of_findings(settings: BaseSettings, params: Params) -> Limits:
    """Limits of reading, with as many faults as become records."""
    return replace(limits(settings), faults_kept=min(findings_per_rule(settings, params), MAX_FAULTS))


def new_status(
    crawler: Crawler,
    params: Params,
    policies: Policies,
    judge: Judge,
    verdicts: Verdicts,
    job: Job | None,
    sites: Sites,
) -> Status | None:
    """The verification of listed URLs; None for verify=off."""
    if params.verify == "off":
        return None
    settings, head = crawler.settings, params.verify == "head"
    own = own_agent(settings) if settings.getbool("ROBOTSTXT_OBEY") else None
    sender = Sender(crawler, not head, settings.getint("SITEMAP_MAX_HOST_ERRORS"), params.links != "no")
    records = None if job is None else job.records
    is_kept = job is not None and (job.folder is not None or params.links != "no")  # else no run needs replies again
    asker = Asker(sender, Memo(), head, settings["BOT_NAME"], records if is_kept else None)
    at_once, per_host = (at_least_one(settings, f"CONCURRENT_REQUESTS{of}") for of in ("", "_PER_DOMAIN"))
    verifier = Verifier(asker, at_once, per_host, Stop.of(crawler))
    hosts = frozenset(host for host, _ in params.named_authorities)
    segments = params.segments if params.sample is not None and params.sample.count is not None else ()
    scope = VerificationScope(hosts, params.verify_offsite, params.verify_assets, params.sample, params.seed, segments)
    admission = Admission(scope, policies, own)
    targets = Targets(admission, verifier, asker, verdicts, records)
    return Status(scope, admission, verifier, asker, judge, verdicts, targets, sites)


def new_beside(
    crawler: Crawler, params: Params, policies: Policies, verdicts: Verdicts, status: Status | None
) -> BesideSitemap | None:
    """What requests llms.txt and the like; None without verification, and for probe=never."""
    if status is None or params.probe == "never":
        return None
    return BesideSitemap(crawler, status.verifier, status.admission, status.scope, policies, verdicts)


CONTACT = "SITEMAP_CONTACT_URL"
ACCEPTED = "a URL such as https://example.com/bot or mailto:audit@example.com"
MAX_CONTACT = 256
"""Maximum length in characters; servers limit headers, and logs cut them."""
IN_A_COMMENT = re.compile(r"[!#-'*-;=?-\[\]-~]+")
"""URL characters allowed unescaped in a header comment. Source: RFC 9110, 5.6.5; RFC 3986, 2"""
MAILBOX = re.compile(r"mailto:[^@/?]+@[^@/?.]+(?:\.[^@/?.]+)*(?:\?.*)?", re.IGNORECASE)
"""One address. Source: RFC 6068, 2"""


def contact_of(settings: BaseSettings) -> str:
    """The URL in SITEMAP_CONTACT_URL, or an empty string. Raises ValueError, one line, if it is invalid."""
    given = settings.get(CONTACT) or ""
    if not given:
        return ""
    if not isinstance(given, str) or len(given) > MAX_CONTACT or not IN_A_COMMENT.fullmatch(given):
        raise ValueError(_refusal(given, "is not a URL of at most 256 ASCII characters without spaces or parentheses"))
    if urls.has_user(given):
        raise ValueError(f"setting {CONTACT}: contains a user name or password; accepted: {ACCEPTED}")
    if not urls.is_web(given) and not MAILBOX.fullmatch(given):
        raise ValueError(_refusal(given, "is neither a web URL nor an email address"))
    return given


def add_contact(settings: BaseSettings) -> None:
    """Add the contact URL to the default USER_AGENT; a user agent chosen by the user stays.
    The product token, which robots.txt rules match, does not change. Raises ValueError for an invalid contact."""
    contact = contact_of(settings)
    if contact and settings["USER_AGENT"] == ours.USER_AGENT:
        # Scrapy's commands set their settings again after the spider did, so this needs a higher priority.
        priority = max((settings.getpriority("USER_AGENT") or 0) + 1, SETTINGS_PRIORITIES["spider"])
        settings.set("USER_AGENT", f"{ours.BOT_NAME}/{__version__} (+{contact})", priority)


def _refusal(given: object, what: str) -> str:
    return f"setting {CONTACT}={str(given)[:MAX_CONTACT]!r}: {what}; accepted: {ACCEPTED}"
