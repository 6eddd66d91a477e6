"""The report as one HTML page that needs nothing but itself."""

from __future__ import annotations

import base64
import hashlib
from functools import cache

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from sitemapcrawler import __version__
from sitemapcrawler.report import sections
from sitemapcrawler.report.model import Report
from sitemapcrawler.report.wording import FILTERS, shown


def page(report: Report) -> str:
    """The page, to be written as UTF-8.

    It loads nothing, opens from disk, and runs one script, which sorts and filters its tables. Whatever comes from
    the crawled site is text in it, or the address of a link.
    """
    environment = _environment()
    style, script = (Markup(_source(environment, name)) for name in ("page.css", "page.js"))
    return environment.get_template("page.html.j2").render(
        report=report,
        summary=report.summary,
        policy=policy(style, script),
        style=style,
        script=script,
        version=__version__,
        **sections.content(report),
    )


def policy(style: str, script: str) -> str:
    """The Content-Security-Policy of a page with one style sheet and one script.

    Source: https://www.w3.org/TR/CSP3/
    """
    return (
        f"default-src 'none'; style-src '{_hash(style)}'; script-src '{_hash(script)}'; img-src data:; "
        "base-uri 'none'; form-action 'none'"
    )


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader("sitemapcrawler.report"),
        autoescape=True,
        finalize=shown,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= FILTERS
    return environment


def _source(environment: Environment, name: str) -> str:
    """A file beside the templates, as it stands."""
    assert environment.loader is not None
    return environment.loader.get_source(environment, name)[0]


def _hash(text: str) -> str:
    digest = hashlib.sha256(text.encode()).digest()
    return f"sha256-{base64.b64encode(digest).decode()}"
