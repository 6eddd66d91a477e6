"""A set takes the place of the one before as a whole, on systems with and without a way to exchange two folders."""

from __future__ import annotations

from pathlib import Path

import pytest

from sitemapcrawler.feeds.scratch import prefix_of
from sitemapcrawler.repair import publishing
from sitemapcrawler.repair.publishing import FolderError, publish, staged, write_manifest


@pytest.fixture(params=[True, False], ids=["exchange", "rename"])
def exchanges(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whether the system can exchange two folders."""
    if not request.param:
        monkeypatch.setattr(publishing, "_exchange", lambda one, other: False)


def write(out: Path, text: str) -> None:
    """Publish a set of one file."""
    with staged(out) as part:
        (part / "upload").mkdir()
        (part / "upload" / "a.xml").write_text(text)
        write_manifest(part, ["upload/a.xml"])
        publish(part, out)


@pytest.mark.usefixtures("exchanges")
def test_new_set_replaces_the_one_before_and_keeps_what_others_put_there(tmp_path: Path) -> None:
    out = tmp_path / "out"
    write(out, "old")
    (out / "notes").mkdir()
    (out / "notes" / "mine.txt").write_text("mine")
    (out / "upload" / "theirs.xml").write_text("theirs")
    (out / "upload" / "link").symlink_to("nowhere")
    write(out, "new")
    assert (out / "upload" / "a.xml").read_text() == "new"
    assert (out / "notes" / "mine.txt").read_text() == "mine"
    assert (out / "upload" / "theirs.xml").read_text() == "theirs"
    assert (out / "upload" / "link").is_symlink()
    assert list(tmp_path.iterdir()) == [out]


@pytest.mark.usefixtures("exchanges")
def test_file_of_another_program_in_the_way_leaves_the_set_before(tmp_path: Path) -> None:
    out = tmp_path / "out"
    write(out, "old")
    write_manifest(out, [])
    with pytest.raises(FolderError, match=r"holds 'upload/a\.xml', which was not written by `fix`"):
        write(out, "new")
    assert (out / "upload" / "a.xml").read_text() == "old"
    assert list(tmp_path.iterdir()) == [out]


def test_file_of_others_that_cannot_be_kept_leaves_the_set_before(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = tmp_path / "out"
    write(out, "old")
    (out / "mine.txt").write_text("mine")

    def fails(source: object, target: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(publishing, "_link", fails)
    with pytest.raises(OSError, match="No space left"):
        write(out, "new")
    assert (out / "upload" / "a.xml").read_text() == "old"
    assert (out / "mine.txt").read_text() == "mine"
    assert list(tmp_path.iterdir()) == [out]


def test_set_that_cannot_be_renamed_to_its_place_leaves_the_one_before(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out, rename = tmp_path / "out", Path.rename
    write(out, "old")

    def fails(path: Path, target: Path) -> Path:
        if path.name == "new":
            raise OSError(5, "Input/output error")
        return rename(path, target)

    monkeypatch.setattr(publishing, "_exchange", lambda one, other: False)
    monkeypatch.setattr(Path, "rename", fails)
    with pytest.raises(OSError, match="Input/output error"):
        write(out, "new")
    assert (out / "upload" / "a.xml").read_text() == "old"


@pytest.mark.parametrize("is_there", [True, False])
def test_next_run_puts_back_what_one_killed_between_two_renames_left(tmp_path: Path, is_there: bool) -> None:
    out = tmp_path / "out"
    write(out, "old")
    left = tmp_path / f"{prefix_of('.out')}left"
    left.mkdir()
    out.rename(left / publishing.BEFORE)
    if is_there:
        write(out, "newer")
    with staged(out):
        assert (out / "upload" / "a.xml").read_text() == ("newer" if is_there else "old")
    assert list(tmp_path.iterdir()) == [out]
