"""Rules on the URL of an entry: the host it names, where it may stand, and whether it stands there once."""

from __future__ import annotations

import re
from collections.abc import Iterator

from sitemapcrawler.items import READ
from sitemapcrawler.rules.facts.cluster import page_key
from sitemapcrawler.rules.facts.fields import is_in_feed
from sitemapcrawler.rules.facts.given import FileFacts, Listed, UrlFacts
from sitemapcrawler.rules.facts.site import SiteFacts, on_entry
from sitemapcrawler.rules.facts.site_pages import ENTRIES, Database, Table, row_of, spell
from sitemapcrawler.rules.families.loc import LOC, PROTOCOL, URI, told
from sitemapcrawler.rules.registry import Message, Needs, Severity, entry_rule, rule
from sitemapcrawler.urls.display import HIDDEN, shown
from sitemapcrawler.urls.grammar import Form, Standing, folder_of, path_of
from sitemapcrawler.words import counted

LOCATION = f"{PROTOCOL}#location"
CROSS = "https://developers.google.com/search/docs/crawling-indexing/sitemaps/build-sitemap#cross-submit"
MISMATCH = {"Search Console": "Path mismatch"}
NOT_ALLOWED = {"Search Console": "URL not allowed", "Yandex": "Incorrect URL (doesn't match location)"}
PRIVATE_NAMES = re.compile(r"(?:.*\.)?(?:localhost|local|test|internal|invalid|localdomain)")
"""Names that are known on one machine or network only. Source: RFC 6761, RFC 6762, and ICANN for `internal`"""
SITEMAP_NAMES = (".xml", ".xml.gz")
"""Ends of names that are those of sitemaps where they hold that word."""
NO_SITEMAPS = ("html", "unknown", "list")
"""Formats of files that the crawl asked for as sitemaps, and that are none."""
MASKED = re.compile(rf"\s*(?:https?:)?[\\/]*{re.escape(HIDDEN)}@", re.IGNORECASE)
"""How the reader writes a URL with a password."""
EXTENSION = re.compile(r"\.[A-Za-z0-9]{1,5}\Z")


@entry_rule("loc-credentials", Severity.WARNING, f"{URI}#section-3.2.1")
def loc_credentials(entry: Listed) -> Iterator[Message]:
    """The URL has a user name in front of its host, perhaps with a password. Neither is sent, nor told anywhere.

    Why: a sitemap is public, and so is the password. Search engines do not log in.
    Bad: `https://user:secret@example.com/`
    Good: `https://example.com/`
    """
    if entry.uri is not None and (entry.uri.user is not None or MASKED.match(entry.written)):
        yield told(entry, "a user name or a password in front of the host", f"{HIDDEN}@")


@entry_rule("loc-port", Severity.INFO, f"{URI}#section-3.2.3")
def loc_port(entry: Listed) -> Iterator[Message]:
    """The URL names a port that is neither the usual one nor that of the sitemap.

    Why: public pages rarely have one; it comes from the machine on which the sitemap was made.
    Bad: `https://example.com:8443/`
    Good: `https://example.com/`
    """
    uri = entry.uri
    if uri is not None and uri.authority.port != uri.default_port and not entry.file.is_home(uri.authority):
        yield told(entry, f"port {uri.port}", uri.port)


@entry_rule("loc-default-port", Severity.INFO, f"{URI}#section-6.2.3")
def loc_default_port(entry: Listed) -> Iterator[Message]:
    """The URL names the port that it has anyway.

    Why: the URL without it means the same, and is the usual one.
    Bad: `https://example.com:443/`
    Good: `https://example.com/`
    """
    uri = entry.uri
    if uri is not None and uri.port and int(uri.port) == uri.default_port:
        yield told(entry, f"port {uri.port} is the usual one and can be left out", uri.port)


@entry_rule("loc-ip-host", Severity.WARNING, LOC)
def loc_ip_host(entry: Listed) -> Iterator[Message]:
    """The host is an address instead of a name. For information where it is that of another site.

    Why: search engines know sites by name; an address comes from the machine on which the sitemap was made. Where it
    is not the sitemap's host, `loc-offsite` says what follows.
    Bad: `http://192.0.2.7/`, `http://0x7f.1/`
    Good: `https://example.com/`
    """
    uri = entry.uri
    if uri is not None and uri.address is not None and not entry.file.is_home(uri.authority):
        meant = "" if uri.address == uri.host else f", which browsers read as {uri.address}"
        yield told(entry, f"the host {uri.host} is an address{meant}", uri.host, _minor(entry))


@entry_rule("loc-localhost", Severity.WARNING, "https://www.rfc-editor.org/rfc/rfc6761")
def loc_localhost(entry: Listed) -> Iterator[Message]:
    """The host has a name that only one machine or network knows. For information where it is not the sitemap's.

    Why: nobody else can ask it. The sitemap was made on a machine for development. Where it is not the sitemap's host,
    `loc-offsite` says what follows.
    Bad: `http://localhost:3000/`, `http://shop.local/`, `http://backend/`
    Good: `https://example.com/`
    """
    uri = entry.uri
    if uri is None or uri.address is not None or entry.file.is_home(uri.authority):
        return
    host = uri.authority.host
    if "." not in host or PRIVATE_NAMES.fullmatch(host):
        yield told(entry, f"the host {host} is not known on the internet", host, _minor(entry))


def _minor(entry: Listed) -> Severity | None:
    return None if entry.standing is Standing.INSIDE or is_in_feed(entry) else Severity.INFO


@entry_rule("loc-uppercase-host", Severity.INFO, f"{URI}#section-6.2.2.1")
def loc_uppercase_host(entry: Listed) -> Iterator[Message]:
    """The host has capital letters.

    Why: hosts are the same in either case, but readers that compare URLs as texts see two.
    Bad: `https://Example.com/`
    Good: `https://example.com/`
    """
    if entry.uri is not None and entry.uri.host != entry.uri.host.lower():
        host = entry.uri.host
        yield told(entry, f"the host {host} is usually written {host.lower()}", host)


@rule("loc-offsite", Severity.ERROR, LOCATION, also=NOT_ALLOWED)
def loc_offsite(entry: UrlFacts) -> Iterator[Message]:
    """The URL is on another host or port than the sitemap, and nothing is known that allows it. For information in a
    feed, which may link anywhere.

    Why: "all URLs in a Sitemap must be from a single host": search engines ignore the others. A host may let another
    list its URLs by naming the sitemap in its own robots.txt.
    Bad: `https://shop.example.net/` in `https://example.com/sitemap.xml`
    Good: the sitemap on `https://shop.example.net/`, or named in its robots.txt
    """
    if entry.standing is Standing.OTHER_AUTHORITY:
        severity = Severity.INFO if is_in_feed(entry) else None
        yield told(entry, f"{_place(entry)} is not {_home(entry)}, the sitemap's host", severity=severity)


@entry_rule("loc-www-mismatch", Severity.WARNING, LOCATION, also=MISMATCH)
def loc_www_mismatch(entry: Listed) -> Iterator[Message]:
    """The host differs from that of the sitemap by a leading `www.`.

    Why: these are two hosts, and one of them redirects to the other as a rule: either the sitemap or the URL is the
    wrong one.
    Bad: `https://www.example.com/` in `https://example.com/sitemap.xml`
    Good: one of the two in both places
    """
    if entry.standing is Standing.OTHER_WWW:
        yield told(entry, f"{_place(entry)}, but the sitemap is on {_home(entry)}")


@entry_rule("loc-protocol-mismatch", Severity.WARNING, LOCATION, also=MISMATCH)
def loc_protocol_mismatch(entry: Listed) -> Iterator[Message]:
    """The URL is http where the sitemap is https, or the other way round.

    Why: they are two places, and http redirects to https as a rule.
    Bad: `http://example.com/` in `https://example.com/sitemap.xml`
    Good: `https://example.com/`
    """
    if entry.standing is Standing.OTHER_SCHEME:
        here, there = (url.partition(":")[0] for url in (entry.file.place, entry.record.loc))
        yield told(entry, f"{there}, but the sitemap is on {here}", there)


@rule("loc-outside-sitemap-dir", Severity.WARNING, LOCATION, also=NOT_ALLOWED)
def loc_outside_sitemap_dir(entry: UrlFacts) -> Iterator[Message]:
    """The URL is not in the sitemap's folder or below, and nothing is known that allows it. For information if no
    robots.txt was read, as with `offline=yes`.

    Why: a sitemap in `/catalog/` speaks for `/catalog/` only, unless robots.txt names it.
    Bad: `https://example.com/about` in `https://example.com/catalog/sitemap.xml`
    Good: the sitemap in `/`, or named in robots.txt
    """
    if entry.standing is Standing.OUTSIDE_FOLDER:
        path, folder = path_of(entry.record.loc), folder_of(entry.file.place)
        severity = Severity.INFO if entry.file.prove is None else None
        yield told(entry, f"{path} is not below {folder}, the sitemap's folder", severity=severity)


def _place(entry: Listed) -> str:
    return entry.uri.place if entry.uri is not None else entry.record.loc


def _home(entry: Listed) -> str:
    parts = entry.file.parts
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}"


@rule("loc-duplicate", Severity.WARNING, PROTOCOL)
def loc_duplicate(entry: UrlFacts) -> Iterator[Message]:
    """The URL stands earlier in the same file. Of a file the first 1,000,000 URLs are compared.

    Why: which of the two entries counts is not defined; often the first one wins, whatever the others say.
    Bad: two entries with `https://example.com/a`
    Good: one entry for each page
    """
    if entry.repeated:
        yield told(entry, "the same URL stands earlier in the file")


@rule("loc-duplicate-normalised", Severity.INFO, f"{URI}#section-6")
def loc_duplicate_normalised(entry: UrlFacts) -> Iterator[Message]:
    """The URL differs from an earlier one only by case, needless escapes or final slashes.

    Why: the two may be one page. The first 5,000 URLs of a file are compared so.
    Bad: `https://example.com/a` and `https://example.com/A/`
    Good: one of them
    """
    earlier = entry.file.suspects.similar.get(entry.record.loc)
    if earlier is not None and not entry.repeated:
        yield told(entry, f"differs from {earlier} only by case, escapes or final slashes")


@rule("loc-is-sitemap", Severity.WARNING, f"{PROTOCOL}#index", (Needs.URL, Needs.SITE))
def loc_is_sitemap(entry: UrlFacts | SiteFacts) -> Iterator[Message]:
    """The URL is that of a sitemap: by its name, as this file's own, or because this crawl read it as one.

    Why: an entry of a urlset is a page; sitemaps are listed in an index, and are not read as such here.
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
        yield told(entry, "a sitemap, listed as if it were a page")


def _spell_sitemaps(database: Database) -> None:
    read = f"outcome IN {READ} AND format NOT IN {NO_SITEMAPS}"
    files = f"SELECT unnest([sitemap, final_url]) AS url FROM sitemaps WHERE {read}"
    spell(database, "site_read", f"SELECT DISTINCT '' AS base, url FROM ({files}) WHERE url IS NOT NULL", _key_of)


def _key_of(_: str, url: str) -> str:
    return page_key(url)


SITEMAPS = Table(
    "site_read",
    ("CREATE TEMP TABLE site_read (base VARCHAR, url VARCHAR, key VARCHAR)",),
    of=(ENTRIES,),
    fill=_spell_sitemaps,
)
"""The keys of the files that were read as sitemaps or feeds."""


def _read_as_sitemaps(site: SiteFacts) -> Iterator[Message]:
    """Entries that lead to such files, but for those that were told of already."""
    site.need(SITEMAPS)
    faults = f"""
        SELECT e.place FROM temp.site_entries e JOIN urls u ON u.rowid = {row_of("e.place")}
        WHERE e.key IN (SELECT key FROM temp.site_read)
          AND NOT coalesce(list_contains(u.issues, 'loc-is-sitemap'), false)"""
    for fault in site.faults(faults):
        yield on_entry(fault, f"{shown(fault.url)} is listed as a page, and was read as a sitemap", fault.url)


@rule("loc-trailing-slash-inconsistent", Severity.INFO, f"{URI}#section-6.2.3", Needs.FILE)
def loc_trailing_slash_inconsistent(file: FileFacts) -> Iterator[Message]:
    """In one folder some URLs end in a slash and others do not.

    Why: a site answers one of the two ways as a rule and redirects the other. The first 5,000 URLs of a file are
    looked at; files with an extension and the folder itself do not count.
    Bad: `https://example.com/a/` and `https://example.com/b`
    Good: `https://example.com/a/` and `https://example.com/b/`
    """
    with_slash: dict[str, str] = {}
    without: dict[str, str] = {}
    for url in file.suspects.first.values():
        folder, _, name = url.rstrip("/").rpartition("/")
        if "?" not in url and "#" not in url and name and folder.count("/") > 1 and not EXTENSION.search(name):
            (with_slash if url.endswith("/") else without).setdefault(folder, url)
    both = [folder for folder in with_slash if folder in without]
    if both:
        text = f"{with_slash[both[0]]} ends in a slash, {without[both[0]]} does not"
        yield Message(f"{text}; the file has {counted(len(both), 'such folder')}")
