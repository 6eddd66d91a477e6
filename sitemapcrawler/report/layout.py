"""What the pages for people have in common: their frame, style, script and policy."""

from __future__ import annotations

import base64
import hashlib
from functools import cache
from typing import Any

from jinja2 import ChoiceLoader, Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from sitemapcrawler import __version__
from sitemapcrawler.report.wording import FILTERS, shown

PACKAGE = "sitemapcrawler.report"
"""Has the templates that all pages share, and those of the report on a crawl."""


def render(template: str, package: str = PACKAGE, **variables: Any) -> str:
    """The page of a template, to be written as UTF-8. `package`: has templates of its own beside those of the report.

    It loads nothing, opens from disk, and runs one script, which sorts and filters its tables. All text is only text
    in it, or the address of a link.
    """
    environment = _environment(package)
    style, script = (Markup(_source(environment, name)) for name in ("page.css", "page.js"))
    return environment.get_template(template).render(
        policy=policy(style, script), style=style, script=script, version=__version__, **variables
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
def _environment(package: str) -> Environment:
    environment = Environment(
        loader=ChoiceLoader([PackageLoader(name) for name in dict.fromkeys([package, PACKAGE])]),
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
