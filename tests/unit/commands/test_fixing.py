"""What `fix` says of this machine."""

from __future__ import annotations

import pytest

from sitemapcrawler.commands import fix


def test_machine_without_a_folder_for_temporary_files(monkeypatch: pytest.MonkeyPatch) -> None:
    def gettempdir() -> str:
        raise FileNotFoundError(2, "No usable temporary directory found in ['/tmp']")

    monkeypatch.setattr(fix, "gettempdir", gettempdir)
    with pytest.raises(FileNotFoundError) as found:
        fix.gettempdir()
    assert fix._lost(found.value, "new") == (
        "new or temporary files cannot be written: No usable temporary directory found in ['/tmp']"
    )
