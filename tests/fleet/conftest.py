"""Ray asks for the metadata of a cloud machine when it starts, at an address that is none of this machine's: every test
of a fleet runs in a network namespace that has nothing but `lo`, all of them in the same one."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest

from tests.namespace import alone_or_skipped
from tests.processes import stop_server


@pytest.fixture(scope="package", autouse=True)
def alone(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    folder = tmp_path_factory.mktemp("path")
    # As in tests/conftest.py, for eight processes of each fleet.
    (folder / "rfc3987_syntax.py").write_text("raise ImportError\n")
    stop_server()  # one that was started before is in another network
    with alone_or_skipped(), pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", str(folder), prepend=os.pathsep)
        yield
    stop_server()
