"""Rules on an entry's URL: host, location relative to the sitemap, duplicates, and telltale words."""

from __future__ import annotations

import re
from collections.abc import Iterator

from sitemapcrawler.items import READ
from sitemapcrawler.reader.formats import format_names
from sitemapcrawler.rules.facts.given import EntryFacts, FileFacts, UrlFacts, loc_message
from sitemapcrawler.rules.facts.objects import is_in_feed
from sitemapcrawler.rules.facts.site import ALONE, ENTRIES, SiteFacts, Table, on_entry, page_key_of, row_of
from sitemapcrawler.rules.registry import ERROR, INFO, LOCS, PLACES, WARNING, Message, Of, Per, Severity, rule
from sitemapcrawler.urls.display import HIDDEN, counted, quoted
from sitemapcrawler.urls.grammar import Form, Standing, folder_of, path_of

PROTOCOL = "https://www.sitemaps.org/protocol.html"
LOC = f"{PROTOCOL}#locdef"
URI = "https://www.rfc-editor.org/rfc/rfc3986"
LOCATION = f"{PROTOCOL}#location"
MISMATCH = {"Search Console": "Path mismatch"}
NOT_ALLOWED = {"Search Console": "URL not allowed", "Yandex": "Incorrect URL (doesn't match location)"}
PRIVATE_NAMES = re.compile(r"(?:.*\.)?(?:localhost|local|test|internal|invalid|localdomain)")
"""Host names that are valid on one machine or network only. Source: RFC 6761, RFC 6762, and ICANN for `internal`"""
SITEMAP_NAMES = (".xml", ".xml.gz")
"""Suffixes of sitemap files, if the file name also contains `sitemap`."""
MASKED = re.compile(rf"\s*(?:https?:)?[\\/]*{re.escape(HIDDEN)}@", re.IGNORECASE)
"""Notation of the reader for a URL with a password."""
EXTENSION = re.compile(r"\.[A-Za-z0-9]{1,5}\Z")


@rule("loc-credentials", WARNING, f"{URI}#section-3.2.1", LOCS)
def loc_credentials(entry: EntryFacts) -> Iterator[Message]:
    """The URL contains a user name or password. It is neither sent nor written to any output.

    Why: A sitemap is public, and so is the password. Search engines do not log in.
    Fix: Remove user name and password from the URL, and change the password.
    Bad: `https://user:secret@example.com/`
    Good: `https://example.com/`
    """
    if entry.uri is not None and (entry.uri.user is not None or MASKED.match(entry.written)):
        yield loc_message(entry, "a user name or password in front of the host", f"{HIDDEN}@")


@rule("loc-port", INFO, f"{URI}#section-3.2.3", LOCS, per=Per.FILE("have a URL with a port"))
def loc_port(entry: EntryFacts) -> Iterator[Message]:
    """The URL has an unusual port. It is neither the default of its scheme nor the port of the sitemap.

    Why: Public pages rarely have one. It usually comes from the machine that generated the sitemap.
    Fix: List the public URL without the port. Correct the generator's base URL.
    Bad: `https://example.com:8443/`
    Good: `https://example.com/`
    """
    uri = entry.uri
    if uri is not None and uri.authority.port != uri.default_port and not entry.file.is_home(uri.authority):
        yield loc_message(entry, f"port {uri.port}", uri.port)


@rule("loc-default-port", INFO, f"{URI}#section-6.2.3", LOCS, per=Per.FILE("have a URL with its default port"))
def loc_default_port(entry: EntryFacts) -> Iterator[Message]:
    """The URL names the default port of its scheme.

    Why: The URL without it means the same, and is the usual form.
    Fix: Remove the port from the URL.
    Bad: `https://example.com:443/`
    Good: `https://example.com/`
    """
    uri = entry.uri
    if uri is not None and uri.port and int(uri.port) == uri.default_port:
        yield loc_message(entry, f"port {uri.port} is the default and can be omitted", uri.port)


@rule("loc-ip-host", WARNING, LOC, LOCS, per=Per.FILE("have an IP address as their host", by_value=True))
def loc_ip_host(entry: EntryFacts) -> Iterator[Message]:
    """The host is an IP address, not a name. A note if it is another site's. The sitemap's own host does not count, on
    any port, since you chose it for the crawl.

    Why: Search engines know sites by name. An address usually comes from the machine that generated the sitemap. If it
    is not the sitemap's host, see `loc-offsite` too.
    Fix: Write the public host name. Correct the generator's base URL.
    Bad: `http://192.0.2.7/`, `http://0x7f.1/`
    Good: `https://example.com/`
    """
    uri = entry.uri
    if uri is not None and uri.address is not None and not entry.file.is_home_host(uri.authority):
        meant = "" if uri.address == uri.host else f", which browsers read as {uri.address}"
        yield loc_message(entry, f"the host {uri.host} is an IP address{meant}", uri.host, _milder_offsite(entry))


@rule(
    "loc-localhost",
    WARNING,
    "https://www.rfc-editor.org/rfc/rfc6761",
    LOCS,
    per=Per.FILE("are on a local host", by_value=True),
)
def loc_localhost(entry: EntryFacts) -> Iterator[Message]:
    """The host exists only on one machine or network. A note if it is another site's. The sitemap's own host does not
    count, on any port, since you chose it for the crawl.

    Why: No crawler can reach it. The sitemap was probably generated on a development machine. If it is not the
    sitemap's host, see `loc-offsite` too.
    Fix: Write the public host name. Correct the generator's base URL.
    Bad: `http://localhost:3000/`, `http://shop.local/`, `http://backend/`
    Good: `https://example.com/`
    """
    uri = entry.uri
    if uri is None or uri.address is not None or entry.file.is_home_host(uri.authority):
        return
    host = uri.authority.host
    if "." not in host or PRIVATE_NAMES.fullmatch(host):
        yield loc_message(entry, f"the host {host} is not on the public internet", host, _milder_offsite(entry))


def _milder_offsite(entry: EntryFacts) -> Severity | None:
    return None if entry.standing is Standing.INSIDE or is_in_feed(entry) else INFO


@rule("loc-uppercase-host", INFO, f"{URI}#section-6.2.2.1", LOCS, per=Per.FILE("have a host with uppercase letters"))
def loc_uppercase_host(entry: EntryFacts) -> Iterator[Message]:
    """The host has uppercase letters.

    Why: Host names are case-insensitive, but tools that compare URLs as strings see two different ones.
    Fix: Write the host in lowercase.
    Bad: `https://Example.com/`
    Good: `https://example.com/`
    """
    if entry.uri is not None and entry.uri.host != entry.uri.host.lower():
        host = entry.uri.host
        yield loc_message(entry, f"the host {host} is usually written {host.lower()}", host)


@rule("loc-offsite", ERROR, LOCATION, Of.PLACE, also=NOT_ALLOWED)
def loc_offsite(entry: UrlFacts) -> Iterator[Message]:
    """The URL is on another host than the sitemap. Or on another port. No robots.txt that was read allows it. A
    note in a feed, which may link anywhere.

    Why: "all URLs in a Sitemap must be from a single host": search engines ignore the others. A host may let another
    list its URLs by naming the sitemap in its own robots.txt.
    Fix: Remove the entry, move it to a sitemap on its own host, or name this sitemap in that host's robots.txt.
    Bad: `https://shop.example.net/` in `https://example.com/sitemap.xml`
    Good: the sitemap on `https://shop.example.net/`, or named in its robots.txt
    """
    if entry.standing is Standing.OTHER_AUTHORITY:
        severity = INFO if is_in_feed(entry) else None
        yield loc_message(
            entry, f"{_listed_place(entry)} is not {_sitemap_place(entry)}, the sitemap's host", severity=severity
        )


@rule(
    "loc-www-mismatch",
    WARNING,
    LOCATION,
    PLACES,
    per=Per.SITE("differ from the sitemap's host by a leading www."),
    also=MISMATCH,
)
def loc_www_mismatch(entry: EntryFacts) -> Iterator[Message]:
    """The URL and the sitemap differ by a leading `www.`.

    Why: These are two hosts, and usually one redirects to the other: either the sitemap or the URL has the wrong one.
    Fix: Use the host that does not redirect, with or without `www.`, for the sitemap and its URLs.
    Bad: `https://www.example.com/` in `https://example.com/sitemap.xml`
    Good: one of the two in both places
    """
    if entry.standing is Standing.OTHER_WWW:
        yield loc_message(entry, f"{_listed_place(entry)}, but the sitemap is on {_sitemap_place(entry)}")


@rule(
    "loc-protocol-mismatch",
    WARNING,
    LOCATION,
    PLACES,
    per=Per.SITE("are on another protocol than the sitemap"),
    also=MISMATCH,
)
def loc_protocol_mismatch(entry: EntryFacts) -> Iterator[Message]:
    """The URL and the sitemap use different protocols.

    Why: The two are different sites to a search engine, and http usually redirects to https.
    Fix: Use https for the sitemap and for its URLs.
    Bad: `http://example.com/` in `https://example.com/sitemap.xml`
    Good: `https://example.com/`
    """
    if entry.standing is Standing.OTHER_SCHEME:
        here, there = (url.partition(":")[0] for url in (entry.file.place, entry.record.loc))
        yield loc_message(entry, f"{there}, but the sitemap is on {here}", there)


@rule(
    "loc-outside-sitemap-dir",
    WARNING,
    LOCATION,
    Of.PLACE,
    per=Per.SITE("are outside the sitemap's folder"),
    also=NOT_ALLOWED,
)
def loc_outside_sitemap_dir(entry: UrlFacts) -> Iterator[Message]:
    """The URL is outside the sitemap's folder. No robots.txt that was read allows it. A note if none was read, as with
    `offline=yes`.

    Why: A sitemap in `/catalog/` may list URLs in `/catalog/` only, unless robots.txt names it.
    Fix: Move the sitemap to the root of the site, or name it in robots.txt.
    Bad: `https://example.com/about` in `https://example.com/catalog/sitemap.xml`
    Good: the sitemap in `/`, or named in robots.txt
    """
    if entry.standing is Standing.OUTSIDE_FOLDER:
        path, folder = path_of(entry.record.loc), folder_of(entry.file.place)
        severity = INFO if entry.file.prove is None else None
        yield loc_message(entry, f"{path} is not below {folder}, the sitemap's folder", severity=severity)


def _listed_place(entry: EntryFacts) -> str:
    return entry.uri.place if entry.uri is not None else entry.record.loc


def _sitemap_place(entry: EntryFacts) -> str:
    parts = entry.file.parts
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}"


@rule("loc-duplicate", WARNING, PROTOCOL, Of.LOC)
def loc_duplicate(entry: UrlFacts) -> Iterator[Message]:
    """The URL is listed earlier in the same file. Compares the first 200,000 URLs of a file.

    Why: The protocol does not define which entry counts; often the first one wins, whatever the others say.
    Fix: Remove all but one of the entries.
    Bad: two entries with `https://example.com/a`
    Good: one entry for each page
    """
    if entry.repeated:
        yield loc_message(entry, "the file lists the same URL earlier")


@rule(
    "loc-duplicate-normalised",
    INFO,
    f"{URI}#section-6",
    Of.LOC,
    per=Per.FILE("differ from an earlier one only by case, escapes or trailing slashes"),
)
def loc_duplicate_normalised(entry: UrlFacts) -> Iterator[Message]:
    """The URL is a variant of an earlier one. They differ only in case, needless escapes or trailing slashes.

    Why: The two may be one page. Compares the first 5,000 URLs of a file.
    Fix: List one variant, the page's canonical URL.
    Bad: `https://example.com/a` and `https://example.com/A/`
    Good: one of them
    """
    earlier = entry.file.suspects.similar.get(entry.record.loc)
    if earlier is not None and not entry.repeated:
        yield loc_message(entry, f"differs from {earlier} only by case, escapes or trailing slashes")


@rule("loc-is-sitemap", WARNING, f"{PROTOCOL}#index", (Of.LOC, Of.SITE))
def loc_is_sitemap(entry: UrlFacts | SiteFacts) -> Iterator[Message]:
    """The URL is that of a sitemap. Its name says so, it is this file's own URL, or this crawl read it as one.

    Why: A urlset lists pages; sitemaps belong in an index, and search engines do not read them as sitemaps here.
    Fix: Move the URL to a sitemap index, or remove the entry.
    Bad: `<url><loc>https://example.com/sitemap-2.xml</loc></url>`
    Good: `<sitemap><loc>https://example.com/sitemap-2.xml</loc></sitemap>` in an index
    """
    if isinstance(entry, SiteFacts):
        yield from _read_as_sitemaps(entry)
        return
    if entry.uri is None or entry.form is not Form.ABSOLUTE:
        return
    name = entry.uri.path.rpartition("/")[2].lower()
    if (name.endswith(SITEMAP_NAMES) and "sitemap" in name) or entry.record.loc in entry.file.places:
        yield loc_message(entry, "a sitemap, listed as a page")


def _sitemaps(_: SiteFacts) -> tuple[str]:
    formats = tuple(format_names(lambda format: format.is_sitemap))
    files = f"SELECT unnest([sitemap, final_url]) AS url FROM sitemaps WHERE outcome IN {READ} AND format IN {formats}"
    return (f"SELECT DISTINCT '' AS base, url FROM ({files}) WHERE url IS NOT NULL",)


SITEMAPS = Table("site_read", _sitemaps, of=(ENTRIES,), key=page_key_of)
"""Page keys of the files that were read as sitemaps or feeds."""


def _read_as_sitemaps(site: SiteFacts) -> Iterator[Message]:
    """Report entries that list such a file, unless they are already reported."""
    site.need(SITEMAPS)
    faults = f"""
        SELECT e.place FROM temp.site_entries e JOIN urls u ON u.rowid = {row_of("e.place")}
        WHERE e.key IN (SELECT key FROM temp.site_read)
          AND NOT coalesce(list_has_any(u.issues, ['loc-is-sitemap', 'loc-asset']), false)"""
    for fault in site.faults(faults, entries=ALONE):
        yield on_entry(fault, f"{quoted(fault.url)} is listed as a page, but is a sitemap", fault.url)


@rule(
    "loc-trailing-slash-inconsistent",
    INFO,
    f"{URI}#section-6.2.3",
    Of.FILE,
    per=Per.SITE("mix URLs with and without a trailing slash"),
)
def loc_trailing_slash_inconsistent(file: FileFacts) -> Iterator[Message]:
    """URLs in one folder differ in their trailing slash. Some have one and others do not.

    Why: Usually one form answers and the other redirects. Checks the first 5,000 URLs of a file; names with an
    extension and the folder itself do not count.
    Fix: List the form that answers without a redirect, with or without a trailing slash.
    Bad: `https://example.com/a/` and `https://example.com/b`
    Good: `https://example.com/a/` and `https://example.com/b/`
    """
    with_slash: dict[str, tuple[str, int | None]] = {}
    without: dict[str, tuple[str, int | None]] = {}
    for url, line in file.suspects.first.values():
        folder, _, name = url.rstrip("/").rpartition("/")
        if "?" not in url and "#" not in url and name and folder.count("/") > 1 and not EXTENSION.search(name):
            (with_slash if url.endswith("/") else without).setdefault(folder, (url, line))
    both = [folder for folder in with_slash if folder in without]
    if both:
        (ends, at), (other, line) = with_slash[both[0]], without[both[0]]
        text = f"{ends} ends in a slash, {other} does not; the file has {counted(len(both), 'such folder')}"
        url, line = (ends, at) if (at or 0) > (line or 0) else (other, line)
        yield Message(text, line, url=url)
