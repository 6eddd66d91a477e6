"""URLs: authorities and keys, their grammar, expressions that select them, and how people read them and other untrusted
text, numbers and durations.

Imports nothing from the rest of the package. Start reading in `authority.py`.
"""

from sitemapcrawler.urls.authority import (
    DEFAULT_PORTS,
    STANDARD_INPUT,
    Authority,
    as_sent,
    authority,
    bare_host,
    file_url,
    has_scheme,
    has_user,
    host_of,
    is_web,
    local_path,
    origin,
    request_key,
    resolve,
    site_of,
    visit_key,
    without_user,
)

__all__ = [
    "DEFAULT_PORTS",
    "STANDARD_INPUT",
    "Authority",
    "as_sent",
    "authority",
    "bare_host",
    "file_url",
    "has_scheme",
    "has_user",
    "host_of",
    "is_web",
    "local_path",
    "origin",
    "request_key",
    "resolve",
    "site_of",
    "visit_key",
    "without_user",
]
