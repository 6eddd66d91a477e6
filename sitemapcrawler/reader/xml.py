"""XML sitemaps and feeds: plain entries by one expression, all others by the strict parser, faults by recovery."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from sitemapcrawler.element import Element
from sitemapcrawler.items import UrlRecord
from sitemapcrawler.reader.broken import ILLEGAL, MAX_PLAIN, Broken, final_end
from sitemapcrawler.reader.diagnose import GENERAL
from sitemapcrawler.reader.entries import CORE, Entries
from sitemapcrawler.reader.faults import Faults
from sitemapcrawler.reader.limits import Limits
from sitemapcrawler.reader.pieces import NAMES, Pieces
from sitemapcrawler.reader.plain import BLANK, read_plain
from sitemapcrawler.reader.position import Place, Position, place_of
from sitemapcrawler.reader.recover import Recovery, readable_root
from sitemapcrawler.reader.sniff import Head, later_root
from sitemapcrawler.reader.strict import UNENDED, Malformed, StrictParser

MAX_TAGS = 100_000
"""Tags and sections of one entry; 1,000 images with all they may have need 14,000. An element takes 200 bytes."""
MAX_DOCUMENTS = 50
"""Documents one behind the other that are read from one file; two occur, more is an attack on linear time."""
BLANKS = (" ", "\t", "\n")
CONTAINERS = ("channel",)
"""Elements between the root and its entries."""
UNFINISHED = re.compile(r"&[^\s;<>]*\Z")
"""A reference that only lacks its semicolon."""
RENEWED_AFTER = 256 * 1024
"""Bytes after which a strict parser is replaced: it remembers every name that it meets."""


class XmlReader:
    """Reads the entries of one document, whatever pieces its text comes in.

    The strict parser is given one entry at a time and never sees the plain ones in between, since they are complete
    and change nothing for what follows. So reading can go back and forth between the two, and where the strict parser
    meets a fault, the text since the last complete entry goes to recovery and a new parser goes on behind it.
    """

    def __init__(
        self, head: Head, place: Place, entries: Entries, faults: Faults, limits: Limits, keep_elements: bool
    ) -> None:
        """`place`: where the root's start tag ends."""
        self._position = Position(place)
        self._broken = Broken(entries, faults)
        self._entries = entries
        self._faults = faults
        self._limits = limits
        self._keep_elements = keep_elements
        self._buffer = ""
        self._begin = self._at = 0
        self._records: list[Any] = []
        self._outside = head.fragment
        self._trailing = False
        self._skip = ""
        self._given_up = False
        self._documents = 1
        self._names: dict[str, tuple[str, str]] = {}
        self.namespaces: dict[str, str] = {}
        self._enter(head)

    def read(self, texts: Iterable[str]) -> Iterator[list[Any]]:
        """The records, in lists as the text arrives."""
        for text in texts:
            self._take_in(text)
            while self._advance():
                pass
            yield self._take()
            if self._given_up:
                return
        self._finish()
        yield self._take()

    # Documents

    def _enter(self, head: Head) -> None:
        """Begin with a root: the document's own, or that of a second document behind it."""
        self._head = head
        self._pieces = Pieces(head, self._limits.max_element)
        self._plain = head.name == "urlset" and not head.prefix and not self._outside
        root = f"<{head.tag}{head.attributes}>"
        try:
            self._open(root)
        except Malformed as fault:
            self._faults.add(fault.rule, f"the start tag of the root is not well formed: {fault}", self._position.line)
            root = self._open_readable(head)
        self.root = root
        self._entries.core = self._strict.root_uri
        self._recovery = Recovery(root, head.prefix, NAMES[head.name], head.doctype, self._limits.max_depth)

    def _open_readable(self, head: Head) -> str:
        root = readable_root(head.tag, head.attributes, head.prefix, CORE)
        try:
            self._open(root)
        except Malformed:  # a declaration that XML reserves, or a name that is none
            root = readable_root(head.name, "", "", CORE)
            self._open(root)
        return root

    def _reopen(self) -> None:
        """Go on with a new strict parser at the same depth."""
        replaced = self._strict
        self._open(self.root, replaced.containers)
        replaced.close()

    def _open(self, root: str, inside: Sequence[str] = ()) -> None:
        self._strict = StrictParser(
            root, self._build, CONTAINERS, self._limits.max_depth, self._names, NAMES[self._head.name], inside
        )
        self.namespaces.update(self._strict.namespaces)
        self._strict.namespaces = self.namespaces
        self._pieces.how = "whole"
        self._settle()

    # Text

    def _take_in(self, text: str) -> None:
        """Put more text behind what has not been settled yet."""
        gone = self._begin
        self._buffer = self._buffer[gone:] + text
        self._begin = 0
        self._at -= gone
        self._pieces.trim(gone)

    def _settle(self) -> None:
        """Say that nothing before this place will be looked at again."""
        self._begin = self._at
        self._begin_place = self._position.place
        self._begin_fed = self._strict.fed

    def _move(self, end: int) -> None:
        self._position.move(self._buffer, self._at, end)
        self._at = end

    def _take(self) -> list[Any]:
        records, self._records = self._records, []
        return records

    def _finish(self) -> None:
        while not self._given_up:
            if self._skip:
                self._move(len(self._buffer))
            self._strictly(len(self._buffer), final=True)
            if self._at == len(self._buffer):
                return
            while self._advance():
                pass

    # Entries

    def _advance(self) -> bool:
        """Read on as far as one piece; False where more text must come."""
        if self._given_up or (self._skip and not self._pass_section()):
            return False
        is_plain = False
        if self._begin == self._at:
            is_plain = self._plain and self._strict.depth == 1
            if is_plain:
                self._read_plain()
            elif self._buffer.startswith(BLANKS, self._at):
                self._pass_blanks()
        end = self._pieces.next(self._buffer, self._at)
        if end < 0:
            return False
        if self._pieces.how == "hidden" and self._strict.is_between:
            self._skip = self._pieces.close
        elif self._pieces.how == "hidden":
            self._give_up(self._limits.max_element, "characters")
        elif not (is_plain and self._is_repaired(end)):
            self._strictly(end)
        return True

    def _pass_section(self) -> bool:
        """Go on behind the section that is passed over; False where its end has not come yet."""
        end = self._buffer.find(self._skip, self._at)
        self._move(end + len(self._skip) if end >= 0 else max(self._at, len(self._buffer) - 2))
        self._settle()
        if end >= 0:
            self._skip = ""
        return end >= 0

    def _pass_blanks(self) -> None:
        self._move(BLANK.match(self._buffer, self._at).end())  # type: ignore[union-attr]  # it also matches nothing
        self._settle()

    def _read_plain(self) -> None:
        position = self._position
        records: list[UrlRecord] = self._records
        end, line = read_plain(self._buffer, self._at, position.line, self._entries.sitemap, records)
        if end > self._at:
            position.move(self._buffer, self._at, end, line)
            self._at = end
            self._settle()

    def _is_repaired(self, end: int) -> bool:
        """Read a piece that would be a plain entry but for its characters. The strict parser need not see it fail."""
        if end - self._at > MAX_PLAIN:
            return False
        records = self._broken.plain(self._buffer[self._at : end], self._position.place, self._head.doctype)
        if records is None:
            return False
        self._records += records
        self._move(end)
        self._settle()
        return True

    def _build(self, element: Element) -> None:
        for entry in self._entries.entries_of(element):
            record = self._entries.build(entry)
            if record is not None:
                record.recovered = record.recovered or self._outside
                if self._keep_elements and isinstance(record, UrlRecord):
                    record.element = entry
                self._records.append(record)

    def _give_up(self, limit: int, unit: str) -> None:
        text = f"an entry of more than {limit} {unit}"
        self._faults.add("limit-element", text, self._position.line, value=str(limit))
        self._given_up = True

    # Strict reading

    def _strictly(self, end: int, final: bool = False) -> None:
        """Give the piece up to `end` to the strict parser."""
        if self._trailing:
            begin, place = self._at, self._position.place
            self._move(end)
            self._behind(begin, place)
            return
        if end - self._begin > self._pieces.window and not self._is_bearable(end, final):
            return
        try:
            self._strict.feed(self._buffer[self._at : end], self._position.line, final)
        except Malformed as fault:
            fault.offset += self._at - self._begin
            self._move(end)
            self._recover(fault, final)
            return
        self._move(end)
        if self._strict.wrappers:
            self._note_wrappers()
        if self._pieces.how == "entry" and self._strict.is_between and self._strict.fed < RENEWED_AFTER:
            self._settle()
        elif not final:
            self._judge_piece()

    def _is_open_reference(self) -> bool:
        """True where a piece is cut before a tag and in a reference: a fault that expat would tell late."""
        if not self._buffer.startswith("<", self._at):
            return False
        start = self._buffer.rfind("&", self._begin, self._at)
        return start >= 0 and UNFINISHED.match(self._buffer, start, self._at) is not None

    def _is_bearable(self, end: int, final: bool) -> bool:
        """Look at what is not settled yet before it grows; False where reading ends here."""
        if self._strict.in_entry and not final:
            self._recover(Malformed(UNENDED, GENERAL, 0, 0), final)
        if self._buffer.count("<", self._begin, end) > MAX_TAGS:
            self._give_up(MAX_TAGS, "tags")
        return not self._given_up

    def _judge_piece(self) -> None:
        """Settle where nothing is open; see that what is open will be closed some day."""
        how = self._pieces.how
        if self._is_open_reference():
            self._recover(Malformed(ILLEGAL, GENERAL, self._at - self._begin, 0), False)
        elif self._strict.is_between and how not in ("torn", "endless"):
            self._settle()
            if self._strict.fed > RENEWED_AFTER and not self._strict.ended:
                self._reopen()
        elif how == "unended":
            self._recover(Malformed(UNENDED, GENERAL, 0, 0), False)
        elif how in ("giant", "endless") or self._at - self._begin > self._limits.max_element:
            self._give_up(self._limits.max_element, "characters")

    def _note_wrappers(self) -> None:
        for wrapper in self._strict.wrappers:
            text = f"<{wrapper.name}> is no entry"
            self._faults.add("xml-unknown-element", text, wrapper.line, value=wrapper.name)
        self._strict.wrappers.clear()

    # Faults

    def _recover(self, fault: Malformed, final: bool) -> None:
        """Read the entries of the text that is not settled, up to here, and go on behind it."""
        self._note_wrappers()
        if self._strict.ended and not final_end(fault):
            self._find_trailing(fault)
            return
        text = self._buffer[self._begin : self._at]
        done = self._strict.characters_done(text, self._begin_fed)
        self._recovery.inside = [tag for tag in self._strict.containers if " " in tag]
        line = self._begin_place[0] + text.count("\n", 0, done)
        what = self._entries_in(text[done:], line, self._salvaged())
        if str(fault) == UNENDED:
            fault.offset = done + self._recovery.first_start(text[done:])
        if not (final and self._outside and final_end(fault)):
            self._broken.note(fault, text, fault.offset, self._begin_place, what)
        if not final:
            self._skip = self._recovery.unclosed
            self._reopen()

    def _salvaged(self) -> Element | None:
        """The entry in which parsing ended."""
        element = self._strict.salvage()
        return element if element is not None and self._entries.is_entry(element) else None

    def _entries_in(self, text: str, line: int, broken: Element | None = None) -> str:
        """Read the entries of broken text; what came of them, for the message. `broken`: where parsing it ended."""
        records, what = self._broken.entries(self._recovery, text, line, broken, self._outside)
        self._records += records
        return what

    def _find_trailing(self, fault: Malformed) -> None:
        text = self._buffer[self._begin : self._at]
        message = "text behind the end of the document"
        self._broken.add("doc-trailing-content", message, text, fault.offset, self._begin_place, "")
        self._trailing = True
        self._behind(self._begin + fault.offset, place_of(text, fault.offset, self._begin_place))

    def _behind(self, begin: int, place: Place) -> None:
        """Look for a second document, or for entries, behind the end of the root: from `begin`, at `place`, to here."""
        text = self._buffer[begin : self._at]
        head = later_root(text) if self._documents < MAX_DOCUMENTS else None
        if head is not None:
            self._documents += 1
            self._trailing = False
            self._at = begin + head.end
            self._position = Position(place_of(text, head.end, place))
            self._strict.close()
            self._enter(head)
            return
        kept = len(self._records)
        self._outside = True
        self._entries_in(text, place[0])
        self._skip = self._recovery.unclosed
        if len(self._records) > kept:
            self._trailing = self._plain = False
            self._reopen()
        else:
            self._outside = self._head.fragment
            self._settle()
