"""Reads sitemaps from bytes: gzip, encodings, XML, feeds, text, and recovery of broken files, as a stream.

May import `namespaces`, `urls` and `items`, never Scrapy. Start reading in `document.py`.
"""

from sitemapcrawler.reader.document import Document
from sitemapcrawler.reader.entries import ChildRecord
from sitemapcrawler.reader.faults import Limits

__all__ = ["ChildRecord", "Document", "Limits"]
