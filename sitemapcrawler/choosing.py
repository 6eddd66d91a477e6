"""The rules of a crawl, from its arguments and settings."""

from __future__ import annotations

from json import JSONDecodeError
from pathlib import Path

from scrapy.settings import BaseSettings

from sitemapcrawler.own_rules import load_rules
from sitemapcrawler.params import Params
from sitemapcrawler.rules import all_rules
from sitemapcrawler.rules.allowlist import parse
from sitemapcrawler.rules.choice import Allowance, Choice, severities

MAX_ALLOWLIST_BYTES = 2**20
"""Size of an allowlist: some 5,000 entries."""


def choose(settings: BaseSettings, params: Params | None = None) -> Choice:
    """The choice of a crawl; ValueError, one line, for a setting that cannot be used."""
    load_rules(settings)
    rules = all_rules()
    try:
        levels = severities(settings.getdict("SITEMAP_SEVERITIES"), rules)
    except JSONDecodeError:
        raise ValueError("""setting SITEMAP_SEVERITIES: no JSON such as '{"lastmod": "info"}'""") from None
    except ValueError as error:
        raise ValueError(f"setting SITEMAP_SEVERITIES: {error}") from None
    select, ignore = (params.select, params.ignore) if params else ((), ())
    return Choice(rules, select, ignore, levels, _allowances(settings.get("SITEMAP_ALLOW")))


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
