"""XML sitemaps and feeds: plain entries by one expression, all others by the strict parser, faults by recovery."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any

from sitemapcrawler.element import Element
from sitemapcrawler.items import UrlRecord
from sitemapcrawler.reader.diagnose import GENERAL, diagnose, rule_of
from sitemapcrawler.reader.entries import CORE, Entries
from sitemapcrawler.reader.faults import CUT_BYTES, Faults
from sitemapcrawler.reader.limits import Limits
from sitemapcrawler.reader.plain import read_plain, read_repaired
from sitemapcrawler.reader.recover import Recovery, readable_root
from sitemapcrawler.reader.repair import ENDS, FAULT, is_trusted, repair
from sitemapcrawler.reader.sniff import Head, later_root
from sitemapcrawler.reader.strict import Malformed, StrictParser, TooDeep

SITEMAP_ENTRIES, RSS_ENTRIES = ("url", "sitemap"), ("item",)
NAMES = {
    "urlset": SITEMAP_ENTRIES,
    "sitemapindex": SITEMAP_ENTRIES,
    "rss": RSS_ENTRIES,
    "RDF": RSS_ENTRIES,
    "feed": ("entry",),
}
"""Root element -> the elements that are read as entries."""
MAX_DOCUMENTS = 50
"""Documents one behind the other that are read from one file; two occur, more is an attack on linear time."""
Place = tuple[int, int]
"""Line, counted from 1, and characters of it that come before."""
MAX_PLAIN = 4096
"""Characters of an entry that is tried as a plain one after repair: the longest URL allowed, and all the rest."""
MAX_SHOWN = 40
"""Characters that show where a fault is."""
ILLEGAL = "not well formed (illegal character)"
CONTAINERS = ("channel",)
"""Elements between the root and its entries."""


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
        self._line, self._column = place
        self._entries = entries
        self._faults = faults
        self._limits = limits
        self._keep_elements = keep_elements
        self._buffer = ""
        self._pending: list[str] = []
        self._pending_place = place
        self._pending_size = 0
        self._records: list[Any] = []
        self._outside = head.fragment
        self._trailing = False
        self._skip = ""
        self._built = 0
        self._documents = 1
        self._names: dict[str, tuple[str, str]] = {}
        self.namespaces: dict[str, str] = {}
        self._enter(head)

    def read(self, texts: Iterable[str]) -> Iterator[list[Any]]:
        """The records, in lists as the text arrives."""
        for text in texts:
            self._feed(text)
            yield self._take()
            if "limit-element" in self._faults:
                return
        self._finish()
        yield self._take()

    # Documents

    def _enter(self, head: Head) -> None:
        """Begin with a root: the document's own, or that of a second document behind it."""
        self._head = head
        self._mark = mark_of(NAMES[head.name])
        self._usual_close = (
            f"</{head.prefix + ':' if head.prefix else ''}{NAMES[head.name][head.name == 'sitemapindex']}>"
        )
        self._plain = head.name == "urlset" and not head.prefix and not self._outside
        root = f"<{head.tag}{head.attributes}>"
        try:
            self._open(root)
        except Malformed as fault:
            self._faults.add(fault.rule, f"the start tag of the root is not well formed: {fault}", self._line)
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
        """Go on behind a fault, at the same depth, and behind a comment or CDATA section that is open there."""
        self._skip = self._recovery.unclosed
        replaced = self._strict
        self._open(self.root + "".join(f"<{name}>" for name in replaced.containers))
        replaced.close()

    def _open(self, root: str) -> None:
        entries = NAMES[self._head.name]
        self._strict = StrictParser(root, self._build, CONTAINERS, self._limits.max_depth, self._names, entries)
        self.namespaces.update(self._strict.namespaces)
        self._strict.namespaces = self.namespaces
        self._reset()

    def _finish(self) -> None:
        rest, self._buffer = self._buffer, ""
        while True:
            again = self._strictly(rest, final=True)
            if not again:
                return
            self._feed(again)
            rest, self._buffer = self._buffer, ""

    # Entries

    def _take(self) -> list[Any]:
        records, self._records = self._records, []
        return records

    def _build(self, element: Element) -> None:
        self._built += 1
        for entry in self._entries.entries_of(element):
            record = self._entries.build(entry)
            if record is not None:
                record.recovered = record.recovered or self._outside
                if self._keep_elements and isinstance(record, UrlRecord):
                    record.element = entry
                self._records.append(record)

    def _feed(self, text: str) -> None:
        buffer = self._buffer + text
        position = 0
        while True:
            if self._skip:
                position = self._skipped(buffer, position)
            if self._skip:
                break
            if self._plain and self._strict.at_boundary and not self._strict.containers:
                records: list[UrlRecord] = self._records
                end, line = read_plain(buffer, position, self._line, self._entries.sitemap, records)
                self._move(buffer, position, end, line)
                position = end
            end = self._end_of_entry(buffer, position)
            if end < 0:
                break
            if end - position > self._limits.max_element and self._is_giant(buffer[position:end]):
                self._give_up()
                return
            again = "" if self._repaired(buffer[position:end]) else self._strictly(buffer[position:end])
            buffer, position = (again + buffer[end:], 0) if again else (buffer, end)
        self._buffer = buffer[position:]
        if len(self._buffer) + self._pending_size > self._limits.max_element:
            self._overflow()

    def _skipped(self, buffer: str, position: int) -> int:
        """Where the section ends that was open at a fault; behind all but its last characters where it does not."""
        end = buffer.find(self._skip, position)
        end, self._skip = (end + len(self._skip), "") if end >= 0 else (max(position, len(buffer) - 2), self._skip)
        self._move(buffer, position, end)
        return end

    def _end_of_entry(self, buffer: str, position: int) -> int:
        """Behind the next end tag of an entry that no comment, instruction or CDATA section hides; -1 without one.

        So expat is given such a section whole: it would read it from its beginning with every piece.
        """
        end = buffer.find(self._usual_close, position)
        if end >= 0 and buffer.find("<!", position, end) < 0 and buffer.find("<?", position, end) < 0:
            return end + len(self._usual_close)
        while mark := self._mark.search(buffer, position):
            if mark[1] is None:
                return mark.end()
            position = buffer.find(ENDS[mark[1]], mark.end())
            if position < 0:
                return -1
        return -1

    def _is_giant(self, piece: str) -> bool:
        """True where the last entry of a piece is by itself larger than the limit."""
        return len(piece) - self._recovery.last_start(piece) > self._limits.max_element

    def _give_up(self) -> None:
        limit = self._limits.max_element
        self._faults.add("limit-element", f"an entry of more than {limit} characters", self._line, value=str(limit))

    def _repaired(self, piece: str) -> bool:
        """Read a piece that would be a plain entry but for its characters. The strict parser need not see it fail."""
        plain = self._plain and self._strict.at_boundary and not self._strict.containers
        if not plain or len(piece) > MAX_PLAIN:
            return False
        fault = FAULT.search(piece)
        record = fault and read_repaired(repair(piece, self._head.doctype), self._line, self._entries.sitemap)
        if not fault or not record:
            return False
        kept = is_trusted(record.loc)
        if kept:
            record.loc, record.loc_raw = self._entries.locate(record.loc, record.line)
            self._records.append(record)
        self._faults.lost += not kept
        at, place = fault.start(), (self._line, self._column)
        self._add(rule_of(piece, at), ILLEGAL, piece, at, place, outcome(int(kept), int(not kept)))
        self._move(piece, 0, len(piece))
        return True

    def _overflow(self) -> None:
        """Without the end of an entry for too long: broken text is recovered, a giant element ends the reading."""
        rest = self._buffer
        if self._strict.at_boundary and not rest.strip():
            self._move(rest, 0, len(rest))
            self._buffer = ""
            return
        last = self._recovery.last_start(rest)
        piece, self._buffer = (rest[:last], rest[last:]) if last else (rest, "")
        before, place = (len(self._faults), self._built), (self._line, self._column)
        self._buffer = self._strictly(piece) + self._buffer
        if (len(self._faults), self._built) != before or self._trailing:
            return
        if last and self._recovery.last_start(piece) != last:
            self._line, self._column = place
            self._buffer = self._recover(Malformed("an entry without an end tag", GENERAL, 0, 0), False) + self._buffer
        else:
            self._give_up()

    # Faults

    def _strictly(self, piece: str, final: bool = False) -> str:
        """Give a piece to the strict parser; returns text that is to be read again, after a second root."""
        if self._trailing:
            self._move(piece, 0, len(piece))
            return self._behind(piece)
        if not self._pending:
            self._pending_place = self._line, self._column
        self._pending.append(piece)
        self._pending_size += len(piece)
        try:
            self._strict.feed(piece, self._line, final)
        except (Malformed, TooDeep) as fault:
            return self._recover(fault, final)
        self._move(piece, 0, len(piece))
        self._note_wrappers()
        if self._strict.at_boundary:
            self._reset()
        return ""

    def _move(self, text: str, start: int, end: int, line: int | None = None) -> None:
        """Go on from `start` to `end`; `line` is the line reached, where it is known."""
        break_ = text.rfind("\n", start, end)
        self._column = self._column + end - start if break_ < 0 else end - break_ - 1
        self._line = self._line + text.count("\n", start, end) if line is None else line

    def _note_wrappers(self) -> None:
        for wrapper in self._strict.wrappers:
            text = f"<{wrapper.name}> is no entry"
            self._faults.add("xml-unknown-element", text, wrapper.line, value=wrapper.name)
        self._strict.wrappers.clear()

    def _reset(self) -> None:
        self._pending = []
        self._pending_size = 0
        self._pending_start = self._strict.fed

    def _recover(self, fault: Malformed | TooDeep, final: bool) -> str:
        text = "".join(self._pending)
        place = self._pending_place
        self._move(self._pending[-1], 0, len(self._pending[-1]))
        self._note_wrappers()
        offset = len(text) - len(self._pending[-1]) + fault.offset
        done = self._strict.characters_done(text, self._pending_start)
        if isinstance(fault, Malformed) and self._strict.ended and not final_end(fault):
            self._add("doc-trailing-content", "text behind the end of the document", text, offset, place, "")
            self._trailing = True
            return self._behind(text[done:])
        what = self._entries_in(text[done:], place[0] + text.count("\n", 0, done), self._broken())
        if not (final and self._outside and final_end(fault)):
            self._note(fault, text, offset, place, what)
        if not final:
            self._reopen()
        return ""

    def _broken(self) -> Element | None:
        """The entry in which parsing ended."""
        element = self._strict.salvage()
        return element if element is not None and self._entries.is_entry(element) else None

    def _entries_in(self, text: str, line: int, broken: Element | None = None) -> str:
        """Read the entries of broken text; what came of them, for the message. `broken`: where parsing it ended."""
        kept = lost = 0
        for found in self._recovery.read(text, line, broken):
            record = None
            if found is not None and self._entries.has_url(found.element, found.whole):
                record = self._entries.build(found.element)
            if found is None or record is None or not is_trusted(record.loc):
                lost += 1
                continue
            record.recovered = found.changed or self._outside
            self._records.append(record)
            kept += record.recovered
        self._faults.lost += lost
        return outcome(kept, lost)

    def _behind(self, text: str) -> str:
        """Look for a second document, or for entries, behind the end of the root."""
        head = later_root(text) if self._documents < MAX_DOCUMENTS else None
        if head is not None:
            self._documents += 1
            self._trailing = False
            behind = text[head.end :]
            if "\n" in behind:
                self._column = head.end - text.rfind("\n", 0, head.end) - 1
            else:
                self._column -= len(behind)
            self._line -= behind.count("\n")
            self._strict.close()
            self._enter(head)
            return text[head.end :]
        kept = len(self._records)
        self._outside = True
        self._entries_in(text, self._line - text.count("\n"))
        self._skip = self._recovery.unclosed
        if len(self._records) > kept:
            self._trailing = self._plain = False
            self._reopen()
        else:
            self._outside = self._head.fragment
        return ""

    def _note(self, fault: Malformed | TooDeep, text: str, offset: int, place: Place, what: str) -> None:
        if fault.rule == "doc-truncated" and self._faults.first(*CUT_BYTES):
            return
        rule, offset = diagnose(fault.rule, text, offset)
        message = "the file ends before the document does" if final_end(fault) else str(fault)
        self._add(rule, message, text, offset, place, what)

    def _add(self, rule: str, message: str, text: str, offset: int, place: Place, what: str) -> None:
        """Note a fault at `offset` in `text`, which begins at `place`."""
        line, column = place
        break_ = text.rfind("\n", 0, offset)
        column = column + offset if break_ < 0 else offset - break_ - 1
        value = text[offset : offset + MAX_SHOWN].strip()
        self._faults.add(rule, message + what, line + text.count("\n", 0, offset), column + 1, value)


def mark_of(names: tuple[str, ...]) -> re.Pattern[str]:
    """The end tag of an entry, whatever its prefix, or the beginning of a section that may hide one."""
    return re.compile(rf"<(!--|\?|!\[CDATA\[)|</(?:[A-Za-z_][\w.-]*:)?(?:{'|'.join(names)})\s*>")


def final_end(fault: Malformed | TooDeep) -> bool:
    """True for the fault that the document has no end."""
    return fault.rule == "doc-truncated"


def outcome(kept: int, lost: int) -> str:
    """How a fault ended, for its message."""
    parts = [f"{kept} read after repair"] if kept else []
    parts += [f"{lost} left out"] if lost else []
    return f": {', '.join(parts)}" if parts else ""
