"""Where expat's byte positions are in the text it was given."""

from __future__ import annotations


class Fed:
    """The text that one parser was given, of which only the last part is kept."""

    __slots__ = ("_before", "_data", "_next_line", "line_offset", "size")

    def __init__(self) -> None:
        self.size = 0
        """Bytes given."""
        self.line_offset = 0
        """What the parser's line lacks to that of the document."""
        self._next_line = 1
        self._data = b""
        self._before = 0

    def add(self, text: str, line: int) -> bytes:
        """The bytes of `text`, which begins on `line` of the document."""
        self.line_offset = line - self._next_line
        self._next_line += text.count("\n")
        self._before = self.size
        self._data = text.encode("utf-8", "surrogatepass")
        self.size += len(self._data)
        return self._data

    def characters_before(self, index: int) -> int:
        """Characters of the part added last before byte `index` of all."""
        return len(self._data[: max(0, index - self._before)].decode("utf-8", "replace"))

    def end_of_tag(self, index: int) -> int:
        """Where the end tag ends that begins at byte `index`. Of `<url/>` expat gives the end by itself."""
        start = index - self._before
        if start >= 0 and not self._data.startswith(b"</", start):
            return index
        return self._before + self._data.find(b">", max(0, start)) + 1

    def forget(self) -> None:
        """Let go of the text."""
        self._data = b""


def characters_in(text: str, size: int) -> int:
    """Characters of `text` that its first `size` bytes are."""
    return len(text.encode("utf-8", "surrogatepass")[: max(0, size)].decode("utf-8", "surrogatepass"))
