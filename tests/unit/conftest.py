"""Unit tests run in a folder where names that commands and users give to their files are taken: none may depend on it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import chdir

import pytest

FOLDERS = ("audit", "build", "demo", "docs", "e.com", "example.com", "jobs", "maps", "out", "tests")
FILES = ("a.xml", "b.xml", "findings.csv", "out.csv", "out.txt", "records.jsonl", "report.html", "robots.txt", "sitemap.xml",
         "urls.csv", "urls.txt")  # fmt: skip


@pytest.fixture(scope="session", autouse=True)
def crowded_folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    folder = tmp_path_factory.mktemp("crowded")
    for name in FOLDERS:
        (folder / name).mkdir()
    for name in FILES:
        (folder / name).write_text("<")
    with chdir(folder):
        yield
