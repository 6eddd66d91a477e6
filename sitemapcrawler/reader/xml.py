"""XML sitemaps and feeds: plain entries by one expression, all others by the strict parser, faults by recovery."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any

from sitemapcrawler.element import Element
from sitemapcrawler.items import UrlRecord
from sitemapcrawler.reader.diagnose import diagnose, rule_of
from sitemapcrawler.reader.entries import CORE, Entries
from sitemapcrawler.reader.faults import CUT_BYTES, Faults
from sitemapcrawler.reader.limits import Limits
from sitemapcrawler.reader.plain import read_plain, read_repaired
from sitemapcrawler.reader.recover import Recovery, readable_root
from sitemapcrawler.reader.repair import FAULT, is_trusted, repair
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
LONGEST_CLOSE = 256
"""Characters of an end tag that may still come with the next text: prefix, name and blanks."""
MAX_DOCUMENTS = 50
"""Documents one behind the other that are read from one file; two occur, more is an attack on linear time."""
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
        self, head: Head, line: int, entries: Entries, faults: Faults, limits: Limits, keep_elements: bool
    ) -> None:
        self._line = line
        self._entries = entries
        self._faults = faults
        self._limits = limits
        self._keep_elements = keep_elements
        self._buffer = ""
        self._searched = 0
        self._pending: list[str] = []
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
        self._close = close_tag(NAMES[head.name])
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
        container = self._strict.container
        self._open(f"{self.root}<{container}>" if container else self.root)

    def _open(self, root: str) -> None:
        self._strict = StrictParser(root, self._build, CONTAINERS, self._limits.max_depth, self._names)
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
            if self._plain and self._strict.at_boundary:
                records: list[UrlRecord] = self._records
                position, self._line = read_plain(buffer, position, self._line, self._entries.sitemap, records)
            end = self._end_of_entry(buffer, max(position, self._searched))
            self._searched = 0
            if end < 0:
                break
            again = "" if self._repaired(buffer[position:end]) else self._strictly(buffer[position:end])
            buffer, position = (again + buffer[end:], 0) if again else (buffer, end)
        self._buffer = buffer[position:]
        self._searched = max(0, len(self._buffer) - LONGEST_CLOSE)
        if len(self._buffer) + self._pending_size > self._limits.max_element:
            self._overflow()

    def _skipped(self, buffer: str, position: int) -> int:
        """Where the section ends that was open at a fault; behind all but its last characters where it does not."""
        end = buffer.find(self._skip, position)
        end, self._skip = (end + len(self._skip), "") if end >= 0 else (max(position, len(buffer) - 2), self._skip)
        self._line += buffer.count("\n", position, end)
        return end

    def _end_of_entry(self, buffer: str, position: int) -> int:
        """Behind the next end tag of an entry; -1 where there is none. The usual way to write it is looked for first."""
        end = buffer.find(self._usual_close, position)
        if end >= 0:
            return end + len(self._usual_close)
        close = self._close.search(buffer, position)
        return close.end() if close else -1

    def _repaired(self, piece: str) -> bool:
        """Read a piece that would be a plain entry but for its characters. The strict parser need not see it fail."""
        if not (self._plain and self._strict.at_boundary) or len(piece) > MAX_PLAIN:
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
        place = fault.start()
        self._add(rule_of(piece, place), ILLEGAL, piece, place, self._line, outcome(int(kept), int(not kept)))
        self._line += piece.count("\n")
        return True

    def _overflow(self) -> None:
        """Without the end of an entry for too long: broken text is recovered, a giant element ends the reading."""
        rest = self._buffer
        last = self._recovery.last_start(rest)
        before = len(self._faults), self._built
        self._searched = 0
        self._buffer = rest[last:] if last else ""
        self._buffer = self._strictly(rest[:last] if last else rest) + self._buffer
        if (len(self._faults), self._built) == before and not self._trailing:
            limit = self._limits.max_element
            self._faults.add("limit-element", f"an entry of more than {limit} characters", self._line, value=str(limit))

    # Faults

    def _strictly(self, piece: str, final: bool = False) -> str:
        """Give a piece to the strict parser; returns text that is to be read again, after a second root."""
        if self._trailing:
            self._line += piece.count("\n")
            return self._behind(piece)
        self._pending.append(piece)
        self._pending_size += len(piece)
        try:
            self._strict.feed(piece, self._line, final)
        except (Malformed, TooDeep) as fault:
            return self._recover(fault, final)
        self._line += piece.count("\n")
        if self._strict.at_boundary:
            self._reset()
        return ""

    def _reset(self) -> None:
        self._pending = []
        self._pending_size = 0
        self._pending_start = self._strict.fed

    def _recover(self, fault: Malformed | TooDeep, final: bool) -> str:
        text = "".join(self._pending)
        line = self._line - text.count("\n", 0, len(text) - len(self._pending[-1]))
        self._line = line + text.count("\n")
        offset = len(text) - len(self._pending[-1]) + fault.offset
        done = self._strict.characters_done(text, self._pending_start)
        if isinstance(fault, Malformed) and self._strict.ended and not final_end(fault):
            self._add("doc-trailing-content", "text behind the end of the document", text, offset, line, "")
            self._trailing = True
            return self._behind(text[done:])
        what = self._entries_in(text[done:], line + text.count("\n", 0, done), self._broken())
        if not (final and self._outside and final_end(fault)):
            self._note(fault, text, offset, line, what)
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
            self._line -= text.count("\n", head.end)
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

    def _note(self, fault: Malformed | TooDeep, text: str, offset: int, line: int, what: str) -> None:
        if fault.rule == "doc-truncated" and self._faults.first(*CUT_BYTES):
            return
        rule, offset = diagnose(fault.rule, text, offset)
        self._add(rule, str(fault), text, offset, line, what)

    def _add(self, rule: str, message: str, text: str, offset: int, line: int, what: str) -> None:
        column = offset - text.rfind("\n", 0, offset)
        value = text[offset : offset + MAX_SHOWN].strip()
        self._faults.add(rule, message + what, line + text.count("\n", 0, offset), column, value)


def close_tag(names: tuple[str, ...]) -> re.Pattern[str]:
    """How an entry may end, whatever its prefix."""
    return re.compile(rf"</(?:[A-Za-z_][\w.-]*:)?(?:{'|'.join(names)})\s*>")


def final_end(fault: Malformed | TooDeep) -> bool:
    """True for the fault that the document has no end."""
    return fault.rule == "doc-truncated"


def outcome(kept: int, lost: int) -> str:
    """How a fault ended, for its message."""
    parts = [f"{kept} read after repair"] if kept else []
    parts += [f"{lost} left out"] if lost else []
    return f": {', '.join(parts)}" if parts else ""
