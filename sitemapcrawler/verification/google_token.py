"""The access token for Search Console, by Google's own library, which is imported on first use.

Source: https://google-auth.readthedocs.io/en/stable/user-guide.html
"""

from __future__ import annotations

import asyncio
import json
import os
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Protocol

SCOPE = "https://www.googleapis.com/auth/webmasters.readonly"
"""What the token is for: reading alone."""
FILE = "GOOGLE_APPLICATION_CREDENTIALS"
"""Variable of the environment with the path of the credentials, as all of Google's libraries read it."""
TIMEOUT_S = 30
MAX_FILE = 100_000
"""Bytes of a file with credentials; usual ones have 2,400."""


class NoTokenError(Exception):
    """Google gives no token."""


class Credentials(Protocol):
    """Credentials of the library, which may not be installed."""

    valid: bool
    token: str | None

    def refresh(self, request: object) -> None: ...


def credentials() -> Credentials:
    """The credentials in the file that the environment names. Raises ValueError, one line without any secret."""
    try:
        service_account, oauth2 = map(import_module, ("google.oauth2.service_account", "google.oauth2.credentials"))
        import_module("google.auth.transport.requests")
    except ImportError:
        raise ValueError("needs other packages: pip install 'scrapy-sitemapcrawler[gsc]'") from None
    path = os.environ.get(FILE, "")
    if not path:
        raise ValueError(f"needs credentials: set {FILE} to the file of a service account or an authorised user")
    try:
        with Path(path).open("rb") as file:
            found = json.loads(file.read(MAX_FILE))
        kind = found["type"]
        made: Credentials | None = None
        if kind == "service_account":
            made = service_account.Credentials.from_service_account_info(found, scopes=[SCOPE])
        elif kind == "authorized_user":
            made = oauth2.Credentials.from_authorized_user_info(found)
    except OSError as error:
        raise ValueError(f"cannot read the credentials that {FILE} names: {error.strerror}") from None
    except Exception:  # the library's own errors quote what is in the file
        raise ValueError(f"finds no credentials in the file that {FILE} names") from None
    if made is None:
        raise ValueError(f"finds credentials of another type than service_account and authorized_user in {FILE}")
    return made


class Token:
    """Gives a valid token to many callers. Raises ValueError where `credentials` does."""

    def __init__(self) -> None:
        self._credentials = credentials()
        self._lock = asyncio.Lock()
        self._failure: str | None = None

    async def get(self, refused: str | None = None) -> str:
        """The token; another one than `refused`. Raises NoTokenError if Google gives none."""
        async with self._lock:
            if self._failure is None and (not self._credentials.valid or self._credentials.token == refused):
                request = partial(import_module("google.auth.transport.requests").Request(), timeout=TIMEOUT_S)
                try:
                    await asyncio.to_thread(self._credentials.refresh, request)
                except Exception as error:  # those of the library, and of what is below it
                    self._failure = type(error).__name__
            if self._failure is not None:
                raise NoTokenError(self._failure)
            return str(self._credentials.token)
