"""XML sitemaps and feeds: plain entries by one expression, all others by the strict parser, faults by recovery."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any

from sitemapcrawler.items import UrlRecord
from sitemapcrawler.reader.broken import HYPHENS, ILLEGAL, MAX_PLAIN, Broken
from sitemapcrawler.reader.entries import Entries
from sitemapcrawler.reader.faults import Faults
from sitemapcrawler.reader.limits import Limits
from sitemapcrawler.reader.piecewise import PieceReader
from sitemapcrawler.reader.plain import BLANK, read_plain
from sitemapcrawler.reader.position import Place, Stretch
from sitemapcrawler.reader.recovery import Builder
from sitemapcrawler.reader.sniff import Head

BLANKS = (" ", "\t", "\n")
ILLEGAL_IN_SECTION = {
    close: re.compile(f"{hyphens}[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]")
    for close, hyphens in (("-->", "--(?!>)|"), ("?>", ""), ("]]>", ""))
}
"""End of a section -> what may not stand in it (XML 1.0, productions 2, 15, 16 and 20)."""


class XmlReader:
    """Reads the entries of one document, whatever pieces its text comes in.

    The strict parser never sees the plain entries, since they are complete and change nothing for what follows. So
    reading can go back and forth between the two.
    """

    def __init__(
        self, head: Head, place: Place, entries: Entries, faults: Faults, limits: Limits, keep_elements: bool
    ) -> None:
        """`place`: where the root's start tag ends."""
        self._stretch = Stretch(place)
        self._builder = Builder(entries, keep_elements)
        self._broken = Broken(self._builder, faults)
        self._limits = limits
        self._checks_section = False
        self._reader = PieceReader(head, self._stretch, self._builder, self._broken, faults, limits)
        self.root = self._reader.opening.tag
        """Start tag of the root, as its entries are read under."""
        self.namespaces = self._reader.scope.namespaces
        """URI -> its first prefix."""

    def read(self, texts: Iterable[str]) -> Iterator[list[Any]]:
        """The records, in lists as the text arrives."""
        for text in texts:
            if not text:
                yield []
                continue
            self._reader.pieces.trim(self._stretch.add(text))
            while self._advance():
                pass
            yield self._builder.take()
            if self._reader.given_up:
                return
        self._finish()
        yield self._builder.take()

    def _finish(self) -> None:
        stretch = self._stretch
        while not self._reader.given_up:
            if self._reader.skip:
                stretch.move(len(stretch.text))
            self._reader.read(len(stretch.text), final=True)
            if stretch.at == len(stretch.text):
                return
            while self._advance():
                pass

    def _advance(self) -> bool:
        """Read on as far as one piece; False where more text must come."""
        reader, stretch = self._reader, self._stretch
        if reader.given_up or (reader.skip and not self._pass_section()):
            return False
        is_plain = False
        if stretch.is_settled:
            is_plain = reader.plain and reader.strict.depth == 1
            if is_plain:
                self._read_plain()
            elif stretch.text.startswith(BLANKS, stretch.at):
                self._pass_blanks()
        end = reader.pieces.next(stretch.text, stretch.at)
        if end < 0:
            return False
        if reader.pieces.how == "hidden":
            self._pass_hidden()
        elif not (is_plain and self._is_repaired(end)):
            reader.read(end)
        return True

    def _is_repaired(self, end: int) -> bool:
        """Read a piece that would be a plain entry but for one fault. The strict parser need not see it fail."""
        stretch = self._stretch
        if end - stretch.at > MAX_PLAIN:
            return False
        if not self._broken.read(stretch.text[stretch.at : end], stretch.position.place, self._reader.head.doctype):
            return False
        self._go_on(end)
        return True

    def _go_on(self, end: int, line: int | None = None) -> None:
        self._stretch.move(end, line)
        self._reader.settle()

    def _pass_hidden(self) -> None:
        """Pass over a section that is larger than the limit, where that is safe."""
        if self._reader.strict.is_between:
            self._reader.skip = self._reader.pieces.close
            self._checks_section = True
            self._go_on(self._stretch.at + (4 if self._reader.skip == "-->" else 2))
        else:
            self._reader.give_up(self._limits.max_element)

    def _pass_section(self) -> bool:
        """Go on behind the section that is passed over; False where its end has not come yet."""
        text, close = self._stretch.text, self._reader.skip
        end = text.find(close, self._stretch.at)
        if self._checks_section:
            self._check_section(text, end if end >= 0 else len(text) - 2)
        self._go_on(end + len(close) if end >= 0 else max(self._stretch.at, len(text) - 2))
        if end >= 0:
            self._reader.skip, self._checks_section = "", False
        return end >= 0

    def _check_section(self, text: str, end: int) -> None:
        """Note the first fault in the section that is passed over, up to `end`: the strict parser never sees it."""
        stretch = self._stretch
        illegal = ILLEGAL_IN_SECTION[self._reader.skip].search(text, stretch.at)
        if illegal is None or illegal.start() >= end:
            return
        self._checks_section = False
        rule, message = ("doc-xml-malformed", HYPHENS) if illegal[0] == "--" else ("doc-control-character", ILLEGAL)
        self._broken.add(rule, message, text[stretch.at :], illegal.start() - stretch.at, stretch.position.place)

    def _pass_blanks(self) -> None:
        self._go_on(BLANK.match(self._stretch.text, self._stretch.at).end())  # type: ignore[union-attr]  # it also matches nothing

    def _read_plain(self) -> None:
        stretch = self._stretch
        sitemap, records = self._builder.entries.sitemap, self._builder.records
        padded: list[tuple[UrlRecord, int]] = []
        end, line = read_plain(stretch.text, stretch.at, stretch.position.line, sitemap, records, padded)
        if end > stretch.at:
            self._go_on(end, line)
        for record, at in padded:
            self._builder.note_padding(record, at)
