"""Charts as drawings."""

from __future__ import annotations

from lxml import etree

from sitemapcrawler.report.blocks import Block
from sitemapcrawler.report.charts import treemap


def drawn(*blocks: Block) -> list[tuple[str | None, str | None]]:
    """(tooltip, label) of each rectangle of a treemap on a screen."""
    screen = etree.fromstring(f"<div>{treemap(blocks, 'Files')}</div>")[0]
    groups = [group for group in screen.iter("{*}g") if group.get("class") == "rect"]
    return [(group.findtext("{*}title"), group.findtext("{*}text")) for group in groups]


def test_files_with_one_tooltip_keep_their_own_labels() -> None:
    cut = "https://example.com/very/long...: 10 URLs"
    blocks = [Block("ok", 10, "one", cut), Block("error", 5, "three", "3"), Block("ok", 10, "two", cut)]
    assert sorted(str(label) for _, label in drawn(*blocks)) == ["one", "three", "two"]


def test_label_stands_on_the_rectangle_of_its_file() -> None:
    blocks = [Block(("ok", "error")[at % 2], 3 + at * 7 % 5, f"file {at}", f"tip {at}") for at in range(12)]
    assert dict(drawn(*blocks)) == {f"tip {at}": f"file {at}" for at in range(12)}
