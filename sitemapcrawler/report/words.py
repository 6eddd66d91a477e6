"""What the names in records mean, in words of people."""

from __future__ import annotations

READING = {
    "ok": "complete",
    "recovered": "with repairs",
    "truncated": "cut short",
    "failed": "not at all",
    "blocked": "forbidden",
    "unchanged": "unchanged, from before",
}
"""How far a file was read, by outcome."""
FORMATS = {
    "xml-urlset": "XML",
    "xml-index": "index",
    "rss": "RSS",
    "atom": "Atom",
    "text": "text",
    "html": "HTML",
    "list": "list of URLs",
}
"""Formats of files."""
HAPPENED = {
    "ok": "answered",
    "redirected": "redirects to",
    "http-error": "HTTP error",
    "timeout": "no answer in time",
    "dns": "host not found",
    "tls": "no secure connection",
    "refused": "connection refused",
    "reset": "connection broke off",
    "truncated": "answer broke off",
    "too-large": "answer too large",
    "redirect-loop": "redirects without end",
    "address-refused": "address is not asked",
    "unchecked": "not asked",
}
"""What asking for one URL came to, by kind of reply."""
REPLIES = HAPPENED | {
    "ok": "answered with a page at once",
    "redirected": "redirected to another URL",
    "http-error": "answered with an HTTP error",
    "blocked": "not asked: robots.txt forbids us to",
    "sampled-out": "not asked: not in the sample",
    "off-site": "not asked: on another host",
    "stopped": "not asked: the crawl ended, or left the host alone, before",
}
"""What asking for many came to, by kind, unchecked ones by their reason."""
ROBOTS = {
    "parsed": "read",
    "unavailable": "not there: everything is allowed",
    "too-many-redirects": "too many redirects: everything is allowed",
    "unreachable": "no answer: everything is denied",
}
"""What asking for a robots.txt came to, by outcome."""
EVIDENCE = {
    "future": "lie in the future",
    "epoch": "are the zero of a clock",
    "at_fetch": "were made by the request itself",
    "identical": "were made in one batch",
    "older_than_header": "are older than the server says",
    "newer_than_header": "are newer than the server says",
    "older_than_page": "are older than the page says",
    "newer_than_page": "are newer than the page says",
}
"""What speaks against dates, by kind of evidence."""
SEVERITIES = {"error": "Error", "warning": "Warning", "info": "Note"}
LEFT_OUT = "Not computed: the crawl was stopped, or there was no room for it. The crawl can be run on, or again."
