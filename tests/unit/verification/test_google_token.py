"""Credentials for Search Console: which files are taken, and what is said of others."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from sitemapcrawler.verification import google_token
from sitemapcrawler.verification.google_token import FILE, NoTokenError, Token, credentials

SECRET = "secret-of-the-file"
USER = {"type": "authorized_user", "client_id": "a", "client_secret": SECRET, "refresh_token": SECRET}


@pytest.fixture
def path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    path = tmp_path / "credentials.json"
    monkeypatch.setenv(FILE, str(path))
    return path


def test_file_of_a_user_is_taken(path: Path) -> None:
    path.write_text(json.dumps(USER))
    assert vars(credentials())["_refresh_token"] == SECRET


@pytest.mark.parametrize(
    "content",
    ["", "{", "[]", "{}", SECRET, f'{{"{SECRET}": 1}}', "[" * 100_000, json.dumps({"type": ["service_account"]}),
     json.dumps({"type": "service_account", "private_key": SECRET}),
     json.dumps({"type": "service_account", "private_key": SECRET, "client_email": "a", "token_uri": "https://e.com"}),
     json.dumps({"type": "authorized_user", "client_secret": SECRET}), json.dumps(USER | {"type": "external_account"})],
    ids=range(12),
)  # fmt: skip
def test_file_without_credentials_is_one_line_without_what_it_says(path: Path, content: str) -> None:
    path.write_text(content)
    with pytest.raises(ValueError, match=FILE) as caught:
        credentials()
    assert SECRET not in str(caught.value)
    assert "\n" not in str(caught.value)


def test_file_that_is_missing_or_not_named_is_one_line(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ValueError, match=f"cannot read the credentials that {FILE} names: No such file"):
        credentials()
    monkeypatch.delenv(FILE)
    with pytest.raises(ValueError, match=f"needs credentials: set {FILE} to"):
        credentials()


def test_missing_package_is_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(name: str) -> Any:
        raise ImportError(name)

    monkeypatch.setattr(google_token, "import_module", missing)
    with pytest.raises(ValueError, match=r"needs other packages: pip install 'scrapy-sitemapcrawler\[gsc\]'"):
        credentials()


def test_token_that_is_refused_once_is_not_requested_again(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path.write_text(json.dumps(USER))
    requests = []

    async def use() -> None:
        token = Token()

        def refresh(request: object) -> None:
            requests.append(request)
            raise ConnectionError(SECRET)

        monkeypatch.setattr(token._credentials, "refresh", refresh)
        for _ in range(3):
            with pytest.raises(NoTokenError, match="ConnectionError") as caught:
                await token.get()
            assert SECRET not in str(caught.value)

    asyncio.run(use())
    assert len(requests) == 1
