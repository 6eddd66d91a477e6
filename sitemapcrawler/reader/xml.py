"""Reads XML sitemaps and feeds: plain entries by one expression, others by the strict parser, faults by recovery."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence

from sitemapcrawler.items import UrlRecord
from sitemapcrawler.namespaces import CORE, find
from sitemapcrawler.namespaces.element import Element
from sitemapcrawler.reader.broken import HYPHENS, MAX_PLAIN, BrokenText
from sitemapcrawler.reader.entries import Entry, EntryBuilder, note_no_entry, note_text
from sitemapcrawler.reader.faults import MAX_NAME, Faults, Limits
from sitemapcrawler.reader.formats import FORMATS
from sitemapcrawler.reader.pieces import Pieces, Place, Stretch, place_of
from sitemapcrawler.reader.plain import BLANK, read_plain
from sitemapcrawler.reader.recovery import DECLARED, Builder, Recovery, readable_root, section_start
from sitemapcrawler.reader.rich import EXTENSIONS, RichReader
from sitemapcrawler.reader.sniff import DocumentHead, core_uri, later_root
from sitemapcrawler.reader.strict import GENERAL, ILLEGAL, Malformed, Scope, StrictParser, characters_in, unended

BLANKS = (" ", "\t", "\n")
ILLEGAL_IN_SECTION = {
    close: re.compile(f"{hyphens}[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]")
    for close, hyphens in (("-->", "--(?!>)|"), ("?>", ""), ("]]>", ""))
}
"""End of a section -> what it must not contain (XML 1.0, productions 2, 15, 16 and 20)."""


class XmlReader:
    """Reads the entries of one document, whatever the chunks of its text.

    Plain entries bypass the strict parser. They are complete and do not affect what follows, so reading can alternate
    between the two.
    """

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
        self._stretch = Stretch(place)
        self._builder = Builder(entries, keep_elements)
        self._broken = BrokenText(self._builder, faults)
        self._limits = limits
        self._checks_section = False
        self._reader = PieceReader(head, self._stretch, self._builder, self._broken, faults, limits)
        self.root = self._reader.opening.tag
        """Start tag of the root under which its entries are read."""
        self.namespaces = self._reader.scope.namespaces
        """URI -> its first prefix."""

    def read(self, texts: Iterable[str]) -> Iterator[list[Entry]]:
        """Yield the records, in lists as the text arrives."""
        for text in texts:
            if not text:
                yield []
                continue
            self._reader.pieces.trim(self._stretch.add(text))
            while self._advance():
                pass
            yield self._builder.pop_records()
            if self._reader.given_up:
                return
        self._finish()
        yield self._builder.pop_records()

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
        """Read one more piece; False if more text is needed."""
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
        """Read a piece that would be plain except for one fault, without the strict parser; False for other pieces."""
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
        """Skip a section that is larger than the limit, or give up if an element is open."""
        if self._reader.strict.is_between:
            self._reader.skip = self._reader.pieces.close
            self._checks_section = True
            self._go_on(self._stretch.at + (4 if self._reader.skip == "-->" else 2))
        else:
            self._reader.give_up(self._limits.max_element)

    def _pass_section(self) -> bool:
        """Continue after the section being skipped; False if its end has not arrived yet."""
        text, close = self._stretch.text, self._reader.skip
        end = text.find(close, self._stretch.at)
        if self._checks_section:
            self._check_section(text, end if end >= 0 else len(text) - 2)
        self._go_on(end + len(close) if end >= 0 else max(self._stretch.at, len(text) - 2))
        if end >= 0:
            self._reader.skip, self._checks_section = "", False
        return end >= 0

    def _check_section(self, text: str, end: int) -> None:
        """Note the first fault in a skipped section, up to `end`; the strict parser never sees it."""
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
        """Read entries that need no strict parser."""
        stretch, rich = self._stretch, self._reader.rich
        sitemap, records = self._builder.entries.sitemap, self._builder.records
        padded: list[tuple[UrlRecord, int]] = []
        notes = self._builder.entries.notes if self._builder.entries.keep_source else None
        end, line = read_plain(stretch.text, stretch.at, stretch.position.line, sitemap, records, padded, notes)
        while rich is not None:
            before = end
            end, line = rich.read(stretch.text, before, line, records)
            if end == before:
                break
            end, line = read_plain(stretch.text, end, line, sitemap, records, padded, notes)
        if end > stretch.at:
            self._go_on(end, line)
        for record, at in padded:
            self._builder.note_padding(record, at)


MAX_TAG = 8 * 1024
"""Characters of the root's start tag; real ones stay below 2,000. Each broken entry is parsed under it again."""
DEPTH_OF_RICH = 5
"""Elements open at once in an entry that `RichReader` reads: the root, `url`, `news`, `publication` and `name`."""
CONTAINERS = ("channel",)
"""Elements between the root and its entries."""


class Opening:
    """Creates strict parsers under the same root. They share `scope`, which outlives them."""

    def __init__(self, head: DocumentHead, build: Callable[[Element], None], max_depth: int, scope: Scope) -> None:
        self._head = head
        self._build = build
        self._max_depth = max_depth
        self._scope = scope
        self.tag = f"<{head.tag}{_missing_declaration(head)}{head.attributes}>"

    def first(self, faults: Faults, line: int) -> StrictParser:
        """Create the first parser. A malformed start tag is noted and replaced."""
        head = self._head
        try:
            if len(self.tag) > MAX_TAG:
                faults.add("limit-element", f"the start tag of the root has more than {MAX_TAG} characters", line)
                raise Malformed("too long", "limit-element", 0)
            return self.parser()
        except Malformed as fault:
            if fault.rule != "limit-element":
                faults.add(fault.rule, f"{fault}, in the start tag of the root", line)
        core = FORMATS[head.format].namespace
        self.tag = readable_root(head.tag[:MAX_TAG], head.attributes[:MAX_TAG], head.prefix, core)
        try:
            return self.parser()
        except Malformed:  # a declaration that XML reserves, or an invalid name
            self.tag = readable_root(head.name, "", "", core)
            return self.parser()

    def parser(self, inside: Sequence[str] = ()) -> StrictParser:
        """Create a parser under the root and the elements `inside` it, given by their start tags."""
        names = self._head.entries
        return StrictParser(self.tag, self._build, CONTAINERS, self._max_depth, self._scope, names, inside)

    def parse(self, text: str, line: int) -> Element:
        """Parse an entry that `RichReader` read, which begins on `line`."""
        found: list[Element] = []
        parser = StrictParser(self.tag, found.append, CONTAINERS, self._max_depth, None, self._head.entries)
        parser.feed(text, line)
        parser.close()
        return found[0]


def _missing_declaration(head: DocumentHead) -> str:
    """Return the declaration of an extension's prefix, if the root declares the extension in place of the protocol."""
    meant = find(core_uri(head)[:MAX_NAME]) if FORMATS[head.format].protocol_entry else None
    if meant is None or meant.prefix in DECLARED.findall(head.attributes):
        return ""
    return f' xmlns:{meant.prefix}="{meant.uri}"'


MAX_TAGS = 100_000
"""Tags and sections of one entry; 1,000 images with all their parts need 14,000. An element takes 200 bytes."""
MAX_DOCUMENTS = 50
"""Consecutive documents read from one file. Two occur; more would break linear time."""
TRAILING = "doc-trailing-content"
"""Rule for text after the root."""
RENEWED_AFTER = 256 * 1024
"""Bytes after which a strict parser is replaced, because it remembers every name."""


class PieceReader:
    """Reads the pieces of text that are not plain entries.

    The strict parser gets one entry at a time. After a fault, recovery reads the text since the last complete entry,
    and a new parser continues after it.
    """

    def __init__(
        self, head: DocumentHead, stretch: Stretch, builder: Builder, broken: BrokenText, faults: Faults, limits: Limits
    ) -> None:
        self._stretch = stretch
        self._builder = builder
        self._broken = broken
        self._faults = faults
        self._limits = limits
        self._trailing = False
        self._documents = 1
        self.scope = Scope()
        self.skip = ""
        """End marker of the section to skip; empty: none."""
        self.given_up = False
        """True if reading stopped before the end of the text."""
        builder.outside = head.fragment
        if builder.entries.keep_source:
            builder.source_of_last = self._source
        self._fed_to = 0
        self._enter(head)

    def _enter(self, head: DocumentHead) -> None:
        """Start under a root: the document's own, or that of a second document after it."""
        self.head = head
        self.pieces = Pieces(head, self._limits.max_element)
        self.plain = head.name == "urlset" and not head.prefix and not self._builder.outside
        """True if plain entries may occur under the root."""
        self.opening = Opening(head, self._builder.build, self._limits.max_depth, self.scope)
        self.strict = self.opening.first(self._faults, self._stretch.position.line)
        self.rich = self._rich_reader() if self.plain else None
        self._builder.entries.core = self.strict.root_uri
        self._recovery = Recovery(self.opening.tag, head.prefix, head.entries, head.doctype, self._limits.max_depth)
        self._begin()

    def _rich_reader(self) -> RichReader | None:
        """Return a reader of rich entries under the root; None if they would not be those of the protocol."""
        if self.strict.root_uri != CORE or self._limits.max_depth < DEPTH_OF_RICH:
            return None
        bound = self.scope.bound()
        prefixes = tuple(prefix for prefix, (uri, _) in EXTENSIONS.items() if bound.get(prefix) == uri)
        builder = self._builder
        return RichReader(prefixes, self.pieces.window, builder.entries, self.opening.parse, builder.keep_elements)

    def _begin(self) -> None:
        self.pieces.how = "whole"
        self.settle()

    def _reopen(self) -> None:
        """Replace the strict parser with a new one at the same depth."""
        replaced = self.strict
        self.strict = self.opening.parser(replaced.containers)
        replaced.close()
        self._begin()

    def settle(self) -> None:
        """Mark everything read so far as final."""
        self._stretch.settle()
        self._begin_fed = self.strict.fed.size

    def give_up(self, limit: int, unit: str = "characters") -> None:
        """Stop reading, because an entry exceeds the limit."""
        line = self._stretch.position.line
        self._faults.add("limit-element", f"an entry of more than {limit} {unit}", line, value=str(limit))
        self.given_up = True

    def read(self, end: int, final: bool = False) -> None:
        """Read the piece up to `end`. `final`: nothing follows."""
        stretch = self._stretch
        if self._trailing:
            begin, place = stretch.at, stretch.position.place
            stretch.move(end)
            self._behind(begin, place)
            return
        if end - stretch.begin > self.pieces.window and not self._is_bearable(end, final):
            return
        self._fed_to = end
        try:
            self.strict.feed(stretch.text[stretch.at : end], stretch.position.line, final)
        except Malformed as fault:
            fault.offset += stretch.at - stretch.begin
            stretch.move(end)
            self._recover(fault, final)
            return
        stretch.move(end)
        if self.strict.wrappers or self.strict.texts:
            self._note_others()
        if self.pieces.how == "entry" and self.strict.is_between and self.strict.fed.size < RENEWED_AFTER:
            self.settle()
        elif not final:
            self._judge_piece()

    def _source(self) -> str | None:
        """Return the text of the element that the parser read last, while it is being fed; None if containers around it
        may declare what it needs."""
        strict, stretch = self.strict, self._stretch
        if strict.containers:
            return None
        data = stretch.text[stretch.begin : self._fed_to].encode()
        return data[max(0, strict.entry_start - self._begin_fed) : strict.entry_end - self._begin_fed].decode()

    def _is_bearable(self, end: int, final: bool) -> bool:
        """Check the unsettled text before it grows; False if reading stops here."""
        if self.strict.in_entry and not final:
            self._recover(unended(), final)
        if self._stretch.text.count("<", self._stretch.begin, end) > MAX_TAGS:
            self.give_up(MAX_TAGS, "tags")
        return not self.given_up

    def _judge_piece(self) -> None:
        """Settle if nothing is open; give up or recover if an entry may never end."""
        how, size = self.pieces.how, self._stretch.at - self._stretch.begin
        if self._stretch.is_in_reference:
            self._recover(Malformed(ILLEGAL, GENERAL, size))
        elif self.strict.is_between and how not in ("torn", "endless"):
            self.settle()
            if self.strict.fed.size > RENEWED_AFTER and not self.strict.ended:
                self._reopen()
        elif how == "unended":
            self._recover(unended())
        elif how in ("giant", "endless") or size > self._limits.max_element:
            self.give_up(self._limits.max_element)

    def _note_others(self) -> None:
        """Note text and unknown elements around the entries."""
        for wrapper in self.strict.wrappers:
            note_no_entry(wrapper, self._faults)
        if FORMATS[self.head.format].protocol_entry and not self._builder.outside:
            for text, line in self.strict.texts:
                note_text(text.strip(), line, self._faults)
        self.strict.wrappers.clear()
        self.strict.texts.clear()

    def _recover(self, fault: Malformed, final: bool = False) -> None:
        """Read the entries in the unsettled text up to here, and continue after it."""
        self.strict.texts.clear()  # they may belong to the broken text
        self._note_others()
        if self.strict.ended and not fault.is_end:
            self._find_trailing(fault)
            return
        text, (line, column) = self._stretch.pending, self._stretch.begin_place
        done = characters_in(text, self.strict.entry_end - self._begin_fed)
        self._recovery.inside = [tag for tag in self.strict.containers if " " in tag]
        found = self._recovery.read(text[done:], line + text.count("\n", 0, done), self._salvaged())
        records = self._builder.recover(found)
        if fault.is_unended:
            fault.offset = done + self._recovery.first_start(text[done:])
        if not (final and self._builder.outside and fault.is_end):
            before = self._recovery.entries_until(text[done:], fault.offset - done)
            self._broken.note(fault, text, (line, column), records, before)
        if not final:
            self.skip = self._recovery.unclosed
            self._reopen()
        elif self._recovery.unclosed:
            self._broken.note_unclosed(self._recovery.unclosed, self._recovery.unclosed_line)

    def _salvaged(self) -> Element | None:
        """Return the entry that was open when parsing stopped."""
        element = self.strict.salvage()
        return element if element is not None and self._builder.entries.is_entry(element) else None

    def _find_trailing(self, fault: Malformed) -> None:
        text, place = self._stretch.pending, self._stretch.begin_place
        start = section_start(text, fault.offset)
        if start < fault.offset:
            self._broken.note(fault, text, place, (), 0)
        else:
            self._note_trailing(text, start, place)
        self._trailing = True
        self._behind(self._stretch.begin + start, place_of(text, start, place))

    def _note_trailing(self, text: str, offset: int, place: Place) -> None:
        self._broken.add(TRAILING, "text behind the end of the document", text, offset, place)

    def _behind(self, begin: int, place: Place) -> None:
        """Look for a second document or entries after the root, from `begin` (at `place`) to the current position."""
        text = self._stretch.text[begin : self._stretch.at]
        head = later_root(text) if self._documents < MAX_DOCUMENTS else None
        if head is not None:
            self._documents += 1
            self._trailing = False
            if TRAILING not in self._faults:
                self._note_trailing(text, head.start, place)
            self._stretch.move_back(begin + head.end, place_of(text, head.end, place))
            self.strict.close()
            self._enter(head)
            return
        self._builder.outside = True
        before = len(self._builder.records)
        self._builder.recover(self._recovery.read(text, place[0]))
        self.skip = self._recovery.unclosed
        if len(self._builder.records) > before:
            if TRAILING not in self._faults:
                self._note_trailing(text, self._recovery.first_start(text), place)
            self._trailing = self.plain = False
            self._reopen()
        else:
            self._builder.outside = self.head.fragment
            self.settle()
