"""Rules on lists of pages beside the sitemap: llms.txt, and the RSL and schemamap files that robots.txt names."""

from __future__ import annotations

from collections.abc import Iterator

from sitemapcrawler.replies.indexability import Indexability
from sitemapcrawler.replies.link_files import CheckedLink, LinkFile
from sitemapcrawler.rules.facts.languages import page_key
from sitemapcrawler.rules.facts.replied import trouble
from sitemapcrawler.rules.facts.site import PAGES, SiteFacts
from sitemapcrawler.rules.registry import INFO, Of, SiteMessage, rule
from sitemapcrawler.urls import site_of
from sitemapcrawler.urls.display import quoted

LLMS = "https://llmstxt.org"
BESIDE = ("beside-dead-link", "beside-noindex-link", "beside-not-listed", "beside-html")
"""Rules that need these files."""


@rule("beside-dead-link", INFO, LLMS, Of.SITE)
def beside_dead_link(site: SiteFacts) -> Iterator[SiteMessage]:
    """llms.txt or a similar list has a dead link. Similar lists are the files that License and Schemamap lines of
    robots.txt name. Also reported if that file itself cannot be read.

    Checks links to other sites only with `verify_offsite=yes`.

    Why: Language models and agents follow these links; they report the error, or invent the content.
    Fix: Correct the links, or remove them from the file.
    Bad: `- [Prices](https://example.com/prices-2019)`, which answers 404
    Good: `- [Prices](https://example.com/prices)`
    """
    for file in site.link_files:
        if file.problem is not None:
            yield SiteMessage(f"robots.txt names this {file.kind} file, which {file.problem}", sitemap=file.url)
        for link in file.links:
            if link.is_dead:
                why = trouble(link.reply) or "is a soft 404"
                yield _on_link(file, link, f"{quoted(link.url)} {why}")


@rule("beside-noindex-link", INFO, LLMS, Of.SITE)
def beside_noindex_link(site: SiteFacts) -> Iterator[SiteMessage]:
    """llms.txt or a similar list links to a noindex page. Similar lists are the files that License and Schemamap lines
    of robots.txt name.

    Why: Assistants also find pages through search engines, which do not have this one. One of the two is a mistake.
    Fix: Remove the noindex from the page, or the link from the file.
    Bad: `- [Guide](https://example.com/guide)`, whose page has `<meta name="robots" content="noindex">`
    Good: links to pages that search engines may index
    """
    for file in site.link_files:
        for link in file.links:
            if link.indexability == Indexability.NOINDEX:
                yield _on_link(file, link, f"{quoted(link.url)} is noindex")


@rule("beside-not-listed", INFO, LLMS, Of.WHOLE_SITE)
def beside_not_listed(site: SiteFacts) -> Iterator[SiteMessage]:
    """llms.txt or a similar list links to an unlisted page. The page can be indexed, but no sitemap lists it. Files
    that a sitemap need not list, such as Markdown, do not count.

    Why: The page matters enough for such a list, but search engines do not learn of it from a sitemap.
    Fix: Add the page to a sitemap, or set noindex if people should not find it.
    Bad: `- [Guide](https://example.com/guide)` in llms.txt, and no entry for it
    Good: an entry for `https://example.com/guide`
    """
    pages = [
        (file, link)
        for file in site.link_files
        for link in file.links
        if link.indexability == Indexability.OK
        and link.is_html
        and not link.is_misplaced
        and site_of(link.url) in site.whole_sites
    ]
    if not pages:
        return
    site.need(PAGES)
    keys = sorted({page_key(link.url) for _, link in pages})
    listed = {key for (key,) in site.query("SELECT key FROM temp.site_pages WHERE list_contains(?, key)", keys)}
    for file, link in pages:
        if page_key(link.url) not in listed:
            yield _on_link(file, link, f"{quoted(link.url)} is in no sitemap")


@rule("beside-html", INFO, LLMS, Of.SITE)
def beside_html(site: SiteFacts) -> Iterator[SiteMessage]:
    """llms.txt or a similar file is an HTML page. It is llms.txt, a file that robots.txt names, or a Markdown,
    text, XML or JSON file that one of them links to.

    Why: The server answers with a page instead of the file, usually a soft 404. Programs read its markup as text.
    Fix: Serve the file as text, or answer 404 if it does not exist.
    Bad: `<!doctype html>` for `/llms.txt`
    Good: Markdown, or status 404
    """
    for file in site.link_files:
        if file.is_html:
            yield SiteMessage(f"{file.kind}: an HTML page instead of the file", sitemap=file.url)
        for link in file.links:
            if link.is_misplaced and not link.is_dead:
                yield _on_link(file, link, f"{quoted(link.url)} is an HTML page by its Content-Type, not a text file")


def _on_link(file: LinkFile, link: CheckedLink, text: str) -> SiteMessage:
    return SiteMessage(text, link.line, value=link.url, sitemap=file.url)
