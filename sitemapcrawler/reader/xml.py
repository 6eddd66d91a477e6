"""Reads XML sitemaps and feeds: usual entries by expressions, all others by expat in pieces, faults by recovery."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import cast

from sitemapcrawler.items import UrlRecord
from sitemapcrawler.namespaces import CORE, find
from sitemapcrawler.reader.diagnosis import (
    ILLEGAL,
    MAX_SHOWN,
    TRAILING,
    UNENDED,
    Malformed,
    worded,
)
from sitemapcrawler.reader.entries import Entry, EntryBuilder, note_text
from sitemapcrawler.reader.faults import CUT_BYTES, MAX_NAME, Faults, Limits, Place, place_of
from sitemapcrawler.reader.formats import FORMATS
from sitemapcrawler.reader.pieces import (
    CONTAINERS,
    MAX_NESTED,
    Contents,
    Piece,
    PieceParser,
    Scope,
    first_fault,
    wrapper,
)
from sitemapcrawler.reader.recovery import DECLARED, Builder, Recovery, outcome, readable_root
from sitemapcrawler.reader.repair import ENDS, section_start
from sitemapcrawler.reader.rich import BLANK, ENTRY, EXTENSIONS, LONGEST, PADDED_ENTRY, RichReader, read_plain
from sitemapcrawler.reader.sniff import DocumentHead, core_uri, later_root
from sitemapcrawler.urls.display import masked_part

MAX_REFERENCE = 48
"""Characters of a reference; the longest name of HTML has 31."""
BEGUN = re.compile(r"(?:&[^\s;<>]*|<[^\s<>]*)\Z")
"""Beginning of a reference or of a tag."""


class Window:
    """Text that has arrived, and the place in it from which it has not been read."""

    def __init__(self, place: Place) -> None:
        """`place`: where the text begins in the document."""
        self.text = ""
        self.at = 0
        """Position in `text` up to which it was read."""
        self.line, self._column = place
        self.section = self.passed = 0
        """The last section that `outside` met, and its end."""
        self.unclosed = -1
        """Where it begins, if it has no end; else -1."""

    @property
    def place(self) -> Place:
        return self.line, self._column

    def add(self, text: str) -> int:
        """Add text, and drop what was read. Return by how much positions become smaller."""
        dropped = self.at
        self.text = self.text[dropped:] + text
        self.at = 0
        return dropped

    def move(self, end: int, line: int | None = None) -> None:
        """Advance to `end`. `line`: the line reached, if it is known."""
        if line is None:
            self.line, self._column = place_of(self.text[self.at : end], end - self.at, self.place)
        else:
            break_ = self.text.rfind("\n", self.at, end)
            self.line, self._column = line, self._column + end - self.at if break_ < 0 else end - break_ - 1
        self.at = end

    def outside(self, pattern: re.Pattern[str], limit: int, begin: int = 0) -> Iterator[re.Match[str]]:
        """Yield the matches outside of sections from here, or from `begin`, to `limit`. The first group of `pattern` is
        the start of a section. Sets `section`, `passed` and `unclosed`."""
        position = self.section = self.passed = max(self.at, begin)
        self.unclosed = -1
        while mark := pattern.search(self.text, position, limit):
            position = mark.end()
            if not mark[1]:
                yield mark
                continue
            self.section = mark.start()
            end = self.text.find(ENDS[mark[1]], position)
            if end < 0:
                self.unclosed = mark.start()
                return
            position = self.passed = end + len(ENDS[mark[1]])

    def end_before(self, limit: int) -> int:
        """Return where text must be cut before `limit`, so that no reference and no tag is cut in two."""
        begun = BEGUN.search(self.text, limit - MAX_REFERENCE, limit)
        return begun.start() if begun and begun.start() > self.at else limit


PIECE_SIZE = 256 * 1024
"""Characters of a piece; a single entry may be larger."""
MAX_TAG = 8 * 1024
"""Characters of the root's start tag, and of those between it and entries; real ones stay below 2,000. Each piece is
parsed under them again."""
DEPTH_OF_RICH = 5
"""Elements open at once in an entry that `RichReader` reads: the root, `url`, `news`, `publication` and `name`."""
MAX_TAGS = 100_000
"""Tags and sections of one entry; 1,000 images with all their parts need 14,000. An element takes 200 bytes."""
MAX_DOCUMENTS = 50
"""Consecutive documents read from one file. Two occur; more would break linear time."""
BLANKS = " \t\n"
TAG = re.compile(r"<(?:(!--|\?|!\[CDATA\[)|(/?)((?:[^\s<>/:!?]+:)?([^\s<>/:!?]+)))")
"""Beginning of a section or a tag."""


@dataclass(frozen=True, slots=True)
class Cut:
    """Where a piece ends."""

    end: int
    fault: Malformed | None = None
    """Why the piece is not well formed, if that is known."""


UNFINISHED = re.compile(r"&[^\s;<>]*\Z")
"""Reference that lacks only its semicolon."""


class Marks:
    """Expressions for what cuts the text under one root."""

    def __init__(self, head: DocumentHead) -> None:
        prefix = f"(?:{re.escape(head.prefix)}:)?" if head.prefix else ""
        name = f"{prefix}(?:{'|'.join(head.entries)})"
        section = r"(!--|\?|!\[CDATA\[)"
        attributes = r"""(?:\s[^<>"']*+(?:(?:"[^"<]*+"|'[^'<]*+')[^<>"']*+)*+(?<=/)|/)"""
        self.end = re.compile(rf"<(?:{section}|(?:/{name}\s*+|{name}{attributes})>[ \t\n]*+)")
        """Beginning of a section, or the end of an entry with the white space after it."""
        self.start = re.compile(rf"<(?:{section}|{name}(?=[\s/>]))")
        """Beginning of a section or an entry."""
        self.tag = re.compile(rf"<(?:{section}|(/?){name}(?=[\s/>]))")
        """Beginning of a section, or of a tag of an entry."""


class XmlReader:
    """Reads the entries of one document, whatever the chunks of its text."""

    def __init__(
        self,
        head: DocumentHead,
        place: Place,
        entries: EntryBuilder,
        faults: Faults,
        limits: Limits,
        keep_elements: bool,
    ) -> None:
        """`place`: end of the root's start tag."""
        self._window = Window(place)
        self._builder = Builder(entries, keep_elements)
        self._builder.outside = head.fragment
        self._faults = faults
        self._limits = limits
        self._scope = Scope()
        self._parser = PieceParser(limits.max_depth, self._scope, entries.keep_source)
        self._documents = 1
        self._skip = ""
        self._alone_until = 0
        self._given_up = False
        self._enter(head)
        self.namespaces = self._scope.namespaces
        """URI -> its first prefix."""

    def read(self, texts: Iterable[str]) -> Iterator[list[Entry]]:
        """Yield the records, in lists as the text arrives."""
        for text in texts:
            if text:
                dropped = self._window.add(text)
                self._alone_until -= dropped
                self._beyond -= dropped
                self._scanned -= dropped
                while self._advance(False):
                    pass
            yield self._builder.pop_records()
            if self._given_up:
                return
        while self._advance(True):
            pass
        yield self._builder.pop_records()

    def _enter(self, head: DocumentHead) -> None:
        """Start under a root: the document's own, or that of a second document after it."""
        self._head = head
        self._marks = Marks(head)
        self._size = min(PIECE_SIZE, self._limits.max_element)
        self._beyond = self._scanned = 0
        self._is_trailing = self._has_strays = False
        self.root = self._root_tag(head)
        """Start tag of the root under which entries are read."""
        self._root = self._parser.enter(head.entries, self.root)
        self._around = [] if self.root.endswith("/>") else [self._root]
        self._is_plain = head.name == "urlset" and not head.prefix and not self._builder.outside
        self._rich = self._rich_reader() if self._is_plain and self._parser.root_uri == CORE else None
        self._recovery = Recovery(self._parser, self._root, head.prefix, head.entries, head.doctype)
        self._builder.entries.core = self._parser.root_uri

    def _rich_reader(self) -> RichReader | None:
        """Return a reader of rich entries under the root, with the namespaces of its prefixes; None if entries may not
        be as deep."""
        if self._limits.max_depth < DEPTH_OF_RICH:
            return None
        prefixes = tuple(prefix for prefix, (uri, _) in EXTENSIONS.items() if self._parser.bound.get(prefix) == uri)
        builder = self._builder
        parse = partial(self._parser.only, self._root)
        return RichReader(prefixes, min(LONGEST, self._size), builder.entries, parse, builder.keep_elements)

    def _root_tag(self, head: DocumentHead) -> str:
        """Return the start tag of the root, and its namespace. A malformed one is noted and replaced."""
        tag = f"<{head.tag}{_missing_declaration(head)}{head.attributes}>"
        if len(tag) > MAX_TAG:
            self._faults.add(
                "limit-element", f"the start tag of the root has more than {MAX_TAG} characters", self._window.line
            )
        else:
            fault = first_fault(tag, is_end=False)
            if fault is None:
                return tag
            self._faults.add(fault.rule, f"{fault}, in the start tag of the root", self._window.line)
        core = FORMATS[head.format].namespace
        tag = readable_root(head.tag[:MAX_TAG], head.attributes[:MAX_TAG], head.prefix, core)
        if first_fault(tag, is_end=False) is not None:  # a declaration that XML reserves, or a wrong name
            tag = readable_root(head.name, "", "", core)
        return tag

    def _advance(self, is_last: bool) -> bool:
        """Read one more piece; False if more text is needed. `is_last`: no more text comes."""
        window = self._window
        if self._given_up or (self._skip and not self._pass_section(is_last)):
            return False
        if self._is_plain and len(self._around) == 1:
            self._read_usual()
            while self._read_repaired():
                self._read_usual()
        else:
            window.move(BLANK.match(window.text, window.at).end())  # type: ignore[union-attr]  # it also matches nothing
        if window.at == len(window.text) and not (is_last and self._around):
            return False
        before = window.at
        cut = self._cut(is_last)
        return (cut is not None and self._read(cut, is_last)) or window.at > before

    def _give_up(self, limit: int, unit: str = "characters") -> None:
        """Stop reading, because an entry exceeds the limit."""
        self._faults.add("limit-element", f"an entry of more than {limit} {unit}", self._window.line, value=str(limit))
        self._given_up = True

    def _open(self, starts: Sequence[str]) -> None:
        """Read on inside the elements below the root with these start tags, or stop if they exceed the limit."""
        self._around = [self._around[0], *starts]
        if sum(map(len, starts)) > MAX_TAG:
            text = f"the start tags of the elements around entries have more than {MAX_TAG} characters"
            self._faults.add("limit-element", text, self._window.line, value=str(MAX_TAG))
            self._given_up = True

    def _cut(self, is_last: bool) -> Cut | None:
        """Return where the next piece ends; None if more text is needed, or reading is given up."""
        window = self._window
        cut = self._last_end(window.at + self._size)
        if cut is not None:
            return cut
        if len(window.text) < window.at + self._size:
            return Cut(len(window.text)) if is_last else None
        return self._cut_without_end(is_last)

    def _last_end(self, limit: int, is_first: bool = False) -> Cut | None:
        """Return the end of the last entry that ends before `limit`, of those before a plain one; None if none does.
        `is_first`: that of the first one."""
        window = self._window
        text, end = window.text, 0
        is_first = is_first or window.at < self._alone_until or self._is_trailing or not self._around
        may_be_usual = self._is_plain and len(self._around) == 1
        for mark in window.outside(self._marks.end, limit, self._scanned):
            if mark.end() > self._beyond:
                end = mark.end()
                if is_first or (may_be_usual and self._is_usual(end)):
                    break
        if not end:
            last = window.unclosed if window.unclosed >= 0 else text.rfind("<", window.at, limit)
            self._scanned = max(window.passed if window.unclosed < 0 else 0, last)
            return None
        self._scanned = 0
        return Cut(end)

    def _is_usual(self, at: int) -> bool:
        """Return whether an entry begins at `at` that needs no parser."""
        window = self._window
        is_plain = (ENTRY.match(window.text, at) or PADDED_ENTRY.match(window.text, at)) is not None
        return is_plain or (self._rich is not None and self._rich.is_next(window.text, at))

    def _cut_without_end(self, is_last: bool) -> Cut | None:
        """Cut where no entry ends in a whole window."""
        window = self._window
        if not self._around or self._is_trailing:
            return self._cut_behind()
        starts = [start.start() for start in window.outside(self._marks.start, window.at + self._size)]
        if starts and starts[0] > window.at:
            return Cut(starts[0])
        if len(starts) > 1:
            return Cut(starts[-1], fault=Malformed(UNENDED))
        cut = None if starts else self._cut_between()
        if self._skip or not self._around:
            return None
        cut = cut or self._last_end(window.at + self._limits.max_element, is_first=True)
        if cut is not None:
            return cut
        if len(window.text) >= window.at + self._limits.max_element:
            self._give_up(self._limits.max_element)
            return None
        return Cut(len(window.text)) if is_last else None

    def _cut_between(self) -> Cut | None:
        """Cut where no entry begins in a whole window: behind an element like the first, or before what has no end."""
        window = self._window
        text, limit = window.text, window.at + self._size
        first = next(window.outside(TAG, limit), None)
        if first is not None and first.end() == limit and first.start() > window.at:
            return Cut(first.start())
        if first is not None and first[2]:
            end = text.find(">", first.end(), limit) + 1
            if not end or first[4] != self._head.name or len(self._around) > 1:
                return Cut(end) if end else None
            self._around = []
            window.move(end)
            return None
        if first is not None:
            end_tag = f"</{first[3]}>"
            end = text.rfind(end_tag, first.end(), limit) + len(end_tag)
            if end < len(end_tag):
                end = text.rfind(f"<{first[3]}", first.end(), limit)
            return Cut(end) if end >= 0 else None
        if window.passed <= limit and window.unclosed < 0:
            return Cut(window.end_before(limit))
        if text[window.at : window.section].strip(BLANKS):
            return Cut(window.section)
        return self._cut_section()

    def _cut_behind(self) -> Cut | None:
        """Cut text behind the root."""
        window = self._window
        limit = window.at + self._size
        for _ in window.outside(TAG, limit):
            pass
        if window.passed <= limit and window.unclosed < 0:
            return Cut(max(window.text.rfind("<", window.at + 1, limit), 0) or window.end_before(limit))
        return Cut(window.section) if window.text[window.at : window.section].strip(BLANKS) else self._cut_section()

    def _cut_section(self) -> Cut | None:
        """Cut behind a section that reaches beyond the window, or begin to skip one that is larger than the limit."""
        window = self._window
        start, limit = window.section, window.section + self._limits.max_element
        mark = cast("re.Match[str]", TAG.match(window.text, start))
        close = ENDS[mark[1]]
        end = window.text.find(close, mark.end(), limit)
        if end >= 0:
            return Cut(end + len(close))
        if len(window.text) >= limit:
            self._skip = close
            window.move(mark.end())
        return None

    def _pass_section(self, is_last: bool) -> bool:
        """Continue behind the section being skipped; False if its end has not arrived yet."""
        window = self._window
        text, close = window.text, self._skip
        end = text.find(close, window.at)
        window.move(end + len(close) if end >= 0 else max(window.at, len(text) - (0 if is_last else 2)))
        if end >= 0 or is_last:
            self._skip = ""
        return not self._skip

    def _read_usual(self) -> None:
        """Read entries that need no parser."""
        window = self._window
        text, rich = window.text, self._rich
        builder, entries = self._builder, self._builder.entries
        padded: list[tuple[UrlRecord, int]] = []
        notes = entries.notes if entries.keep_source else None
        end, line = read_plain(text, window.at, window.line, entries.sitemap, builder.records, padded, notes)
        while rich is not None:
            before = end
            end, line = rich.read(text, before, line, builder.records)
            if end == before:
                break
            end, line = read_plain(text, end, line, entries.sitemap, builder.records, padded, notes)
        window.move(end, line)
        for record, at in padded:
            builder.note_padding(record, at)

    def _read_repaired(self) -> bool:
        """Read an entry that needs no parser once its text is repaired; False if the next one is another."""
        window = self._window
        found = self._recovery.usual(window.text, window.at, window.line)
        if found is None:
            return False
        fault, entry = found
        place = window.place
        window.move(window.at + len(entry.text))
        records = self._builder.recover([entry])
        self._note_fault(fault, entry.text, place, records, records)
        return True

    def _read(self, cut: Cut, is_last: bool) -> bool:
        """Read a piece; False if more text is needed. `is_last`: no more text comes."""
        text = self._window.text[self._window.at : cut.end]
        if self._is_trailing:
            self._behind(cut.end)
        elif not self._around:
            self._read_behind_root(text, cut.end)
        elif len(text) > PIECE_SIZE and text.count("<") > MAX_TAGS:
            self._give_up(MAX_TAGS, "tags")
        else:
            return self._read_entries(cut, text, is_last)
        return True

    def _read_entries(self, cut: Cut, text: str, is_last: bool) -> bool:
        """Read a piece with entries, or decide where it must end instead; False if more text is needed."""
        window = self._window
        is_end = is_last and cut.end == len(window.text)
        piece = self._parse(text, is_end)
        fault = cut.fault or piece.fault
        is_open = any(map(self._parser.is_entry, piece.opened[1:]))
        if fault is None and not is_open:
            self._build(piece, text)
            return True
        if cut.fault is None and window.at >= self._alone_until and (fault is not None or piece.nested >= 0):
            is_full = is_end or len(window.text) >= window.at + self._size
            if fault is None and not is_full and cut.end > self._beyond:
                self._beyond = cut.end  # what follows may end the entry around the others
                return True
            self._beyond = self._scanned = 0
            first = self._last_end(cut.end, is_first=True)
            if first is not None and first.end < cut.end:
                self._alone_until = cut.end
                return True
        if cut.fault is None and piece.nested >= 0:
            end = self._outer_end(window.at + piece.nested, is_last)
            if end is None:
                return False
            if end > max(cut.end, self._beyond + 1):
                self._beyond, self._alone_until = end - 1, max(self._alone_until, end)
                return True
            if end == 0:
                fault = Malformed(UNENDED)
        if fault is None and cut.end <= self._beyond:
            fault = Malformed(UNENDED)  # the entry does not end within the limits
        if fault is not None:
            self._recover(piece, fault, text, is_end)
        else:
            self._beyond = cut.end  # the end of another element with the name of an entry, within one
        return True

    def _outer_end(self, nested: int, is_last: bool) -> int | None:
        """Return where the next entry ends, with the entries inside it, the first of which is at `nested`.

        0: its end tag is missing; 1: it has another prefix; None: more text is needed to know.
        """
        window = self._window
        limit, count, depth = window.at + self._size, 0, 0
        for mark in window.outside(self._marks.tag, limit):
            if mark.start() == nested and not depth:
                return 1
            end = self._marks.end.match(window.text, mark.start())
            if mark[2]:
                depth -= 1
                if not depth or end is None:
                    return end.end() if end is not None else 0
            else:
                depth += end is None
                count += 1
                if count > MAX_NESTED + 1:
                    return 0
        return 0 if is_last or len(window.text) >= limit else None

    def _parse(self, text: str, is_end: bool) -> Piece:
        """Parse a piece, and see to what expat waits for: the rest of a reference, or of a literal behind the root."""
        piece = self._parser.parse(self._around, text, self._window.line, is_end)
        if is_end or piece.fault is not None:
            return piece
        if not piece.opened:
            return self._parser.parse(self._around, text, self._window.line, is_end=True)
        if UNFINISHED.search(text, text.rfind(">") + 1):
            return replace(piece, fault=Malformed(ILLEGAL, offset=len(text)))
        return piece

    def _build(self, piece: Piece, text: str) -> None:
        """Build the records of a piece that is well formed."""
        contents = Contents.of(piece, text, self._parser, self._builder.entries)
        if starts := piece.starts:
            self._open(starts[1:])
        elif not piece.opened:
            self._around = []
        self._window.move(self._window.at + len(text))
        for element in contents.wrappers:
            self._builder.unwrap(element)
        apart = {*contents.around.values()}
        for element in contents.elements:
            source = piece.sources.get(element) if element not in apart else None
            self._builder.build(element, source, contents.around.get(element))
        if FORMATS[self._head.format].protocol_entry and not self._builder.outside:
            for stray, end in piece.texts:
                note_text(stray.strip(BLANKS).split("\n")[0], end - stray.lstrip(BLANKS).count("\n"), self._faults)

    def _recover(self, piece: Piece, fault: Malformed, text: str, is_end: bool) -> None:
        """Read the entries of a piece that has a fault."""
        window = self._window
        place = window.place
        end = window.at + len(text)
        if fault.is_behind and (not fault.is_end or not is_end):
            self._find_trailing(fault, text, end)
            return
        first = self._recovery.first_start(text)
        if first < 0 and self._has_strays and not is_end:
            self._has_strays = False  # what is left of an entry that contained others
            window.move(end)
            return
        self._has_strays = str(fault) == UNENDED
        if self._has_strays:
            fault.offset = max(0, first)
        self._read_gap(piece, is_entered=fault.offset > text.find(">", first) >= 0 or self._has_strays)
        records = self._builder.recover(
            self._recovery.read(text, window.line, self._around[1:], None if is_end else piece)
        )
        if not (is_end and self._builder.outside and fault.is_end):
            before = records[: self._recovery.entries_until(text, fault.offset)]
            self._note_fault(fault, text, place, records, before)
        window.move(end)
        if not is_end:
            self._skip = self._recovery.unclosed
            return
        self._around = []
        if self._recovery.unclosed and not self._faults.first(*CUT_BYTES):
            message = f"no {self._recovery.unclosed} follows: the rest was not read"
            self._faults.add("doc-truncated", message, self._recovery.unclosed_line)

    def _read_gap(self, piece: Piece, is_entered: bool) -> None:
        """Note the elements before an entry that is not well formed. `is_entered`: its start tag was read, so that the
        elements that are open are around it."""
        parser, around = self._parser, list[str]()
        for child in piece.begun[-1].children:
            if child not in piece.opened and not parser.is_entry(child):
                self._builder.build(child, piece.sources.get(child))
        is_noted = False
        for depth, element in enumerate(piece.opened[1:], 1):
            if parser.is_entry(element):
                break
            is_new = element not in piece.begun
            if is_new and not is_entered and element.name not in CONTAINERS:
                continue
            if is_new and not is_noted and element.name not in CONTAINERS:
                last = next(reversed([*element.children]), None)
                self._builder.unwrap(wrapper(element, last, parser))
            is_noted = is_noted or is_new
            around.append(piece.start(depth))
        if piece.opened and piece.opened != piece.begun:
            self._open(around[: self._limits.max_depth - 1])

    def _note_fault(
        self,
        fault: Malformed,
        text: str,
        place: Place,
        records: Sequence[Entry | None] = (),
        before: Sequence[Entry | None] = (),
    ) -> None:
        """Note a fault in `text`, which begins at `place`, and the result of recovery. `records`: those of its entries;
        `before`: those of the entries that begin before the fault."""
        if fault.is_end and self._faults.first(*CUT_BYTES):
            return
        rule, message, offset = worded(fault, text)
        record = next((one for one in before[::-1] if one is None or one.recovered), None)
        self._add_fault(rule, message + outcome(records), text, offset, place, record)

    def _add_fault(
        self, rule: str, message: str, text: str, offset: int, place: Place, record: Entry | None = None
    ) -> None:
        """Note a fault at `offset` in `text`, which begins at `place`. `record`: the entry that contains it."""
        self._faults.recent.clear()
        if self._faults.is_full(rule):
            self._faults.add(rule, message)
        else:
            line, column = place_of(text, offset, place)
            value = masked_part(text, offset, offset + MAX_SHOWN).strip()
            self._faults.add(rule, message, line, column + 1, value)
        if record is not None:
            self._builder.blame(record)

    def _read_behind_root(self, text: str, end: int) -> None:
        """Pass blanks and comments behind the end of the root; look for entries in anything else."""
        fault = self._parser.parse([EMPTY], text, self._window.line).fault
        if fault is None:
            self._window.move(end)
        else:
            self._find_trailing(fault, text, end)

    def _find_trailing(self, fault: Malformed, text: str, end: int) -> None:
        window = self._window
        start = section_start(text, fault.offset)
        if start < fault.offset:
            self._note_fault(fault, text, window.place)
        else:
            message = TRAILING_TEXT if later_root(text[start:]) is None else SECOND
            self._add_fault(TRAILING, message, text, start, window.place)
        self._is_trailing, self._around = True, []
        window.move(window.at + start)
        self._behind(end)

    def _behind(self, end: int) -> None:
        """Look for a second document or entries behind the root, from here to `end`."""
        window = self._window
        text = window.text[window.at : end]
        head = later_root(text) if self._documents < MAX_DOCUMENTS else None
        if head is not None:
            self._documents += 1
            if TRAILING not in self._faults:
                self._add_fault(TRAILING, SECOND, text, head.start, window.place)
            window.move(window.at + head.end)
            self._enter(head)
            return
        self._builder.outside = True
        before = len(self._builder.records)
        self._builder.recover(self._recovery.read(text, window.line, ()))
        self._skip = self._recovery.unclosed
        if len(self._builder.records) > before:
            if TRAILING not in self._faults:
                first = max(0, self._recovery.first_start(text))
                self._add_fault(TRAILING, TRAILING_TEXT, text, first, window.place)
            self._is_trailing = self._is_plain = False
            self._around = [self._root.replace("/>", ">")]
        else:
            self._builder.outside = self._head.fragment
        window.move(end)


EMPTY = "<root/>"
TRAILING_TEXT = "text after the end of the document"
SECOND = "a second document after the end of the first"


def _missing_declaration(head: DocumentHead) -> str:
    """Return the declaration of an extension's prefix, if the root declares the extension in place of the protocol."""
    meant = find(core_uri(head)[:MAX_NAME]) if FORMATS[head.format].protocol_entry else None
    if meant is None or meant.prefix in DECLARED.findall(head.attributes):
        return ""
    return f' xmlns:{meant.prefix}="{meant.uri}"'
