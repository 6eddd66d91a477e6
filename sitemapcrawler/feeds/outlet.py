"""Where an exporter writes to: the file of a feed, whatever stands between."""

from __future__ import annotations

import codecs
import json
import os
import re
import sys
from typing import IO, Any

from scrapy.extensions.postprocessing import PostProcessingManager

from sitemapcrawler.terminal.streams import is_terminal, silence

_NOT_PLAIN = re.compile(r"[^\t\n\r -~]|\r(?!\n)")


class Outlet:
    r"""A feed's file, written in one encoding. On a terminal, what cannot be seen becomes escapes (`\u009b`), which in
    JSON mean the same; `painted`: not so, since the text has escape sequences of our own.

    `appending` is True where rows stand in the file already. When its reader has gone (`| head`), `deserted`
    becomes True, nothing more is written, and the crawl goes on.
    """

    def __init__(self, file: IO[bytes], encoding: str | None, errors: str, painted: bool = False) -> None:
        self._file = file
        self._target = _target(file)
        self._is_seen = not painted and is_terminal(self._target)
        self.appending = _appends(self._target)
        self.deserted = False
        self._is_utf8 = codecs.lookup(encoding or "utf-8").name == "utf-8"
        self._encoder = codecs.getincrementalencoder(encoding or "utf-8")(errors)
        if self.appending:
            self._encoder.setstate(0)  # no byte order mark
            self._end_line()

    def write_utf8(self, data: bytes | memoryview) -> None:
        """Write text that is UTF-8 so far."""
        if self._is_utf8 and not self._is_seen:
            self._write(data)
        else:
            self.write_text(str(data, "utf-8"))

    def write_text(self, text: str) -> None:
        """Write text."""
        self._write(self._encoder.encode(_NOT_PLAIN.sub(_seen, text) if self._is_seen else text))

    def finish(self) -> None:
        """Hand over what is buffered for standard output, while a reader that has gone can still be noticed."""
        if self._is_standard_output:
            self._attempt(self._target.flush)

    def _write(self, data: bytes | memoryview) -> None:
        if data and not self.deserted:
            self._attempt(self._file.write, data)

    def _attempt(self, action: Any, *arguments: Any) -> None:
        try:
            action(*arguments)
        except BrokenPipeError:
            self.deserted = True
            if self._is_standard_output:
                silence(self._target)

    @property
    def _is_standard_output(self) -> bool:
        """True where no storage of ours stands between."""
        return self._target is getattr(sys.stdout, "buffer", None)  # which is nothing where a log took its place

    def _end_line(self) -> None:
        """Feeds that another program wrote may lack the end of their last line."""
        tail: bytes = getattr(self._target, "tail", b"") if self._target is self._file else b""
        newline = self._encoder.encode("\n")
        if tail and not tail.endswith(newline):
            self._write(newline)


def _seen(found: re.Match[str]) -> str:
    char = found[0]
    return char if char.isprintable() else json.dumps(char)[1:-1].replace("\x7f", "\\u007f")


def _target(file: Any) -> Any:
    """The storage's file behind the plugins of `postprocessing`."""
    return file.file if isinstance(file, PostProcessingManager) else file


def _appends(file: Any) -> bool:
    """Our storage tells; of other files only those opened for appending, by their size: tell() counts gzip's header."""
    appending = getattr(file, "appending", None)
    if appending is None:
        return "a" in str(getattr(file, "mode", "")) and os.fstat(file.fileno()).st_size > 0
    return bool(appending)
