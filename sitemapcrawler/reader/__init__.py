"""Reading sitemaps: bytes in, records out, as a stream, with no I/O of its own."""

from sitemapcrawler.reader.document import Document
from sitemapcrawler.reader.entries import ChildRecord
from sitemapcrawler.reader.limits import Limits

__all__ = ["ChildRecord", "Document", "Limits"]
