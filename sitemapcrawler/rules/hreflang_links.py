"""Rules on the links to language versions: their code, their URL, their `rel`.

All but one are told once for each entry, with the first link at fault and how many there are: what one link lacks, a
template has left out of all of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from sitemapcrawler.quoting import shown
from sitemapcrawler.rules.cluster import GOOGLE, Link, cluster_of
from sitemapcrawler.rules.facts import UrlFacts
from sitemapcrawler.rules.registry import Message, Severity, rule

CODES = f"{GOOGLE}#language-codes"
SITEMAP = f"{GOOGLE}#sitemap"
GUIDELINES = f"{GOOGLE}#all-method-guidelines"


def once(
    entry: UrlFacts,
    at_fault: Callable[[Link], bool],
    text: Callable[[Link], str],
    value: Callable[[Link], str | None] = lambda link: link.alternate.href,
) -> Iterator[Message]:
    """One message for all links of an entry that are `at_fault`: `text` and `value` are asked of the first."""
    cluster = cluster_of(entry)
    if cluster is None or not cluster.odd:
        return
    links = [link for link in cluster.odd if at_fault(link)]
    if links:
        more = f" (and {len(links) - 1} more of its links)" if len(links) > 1 else ""
        yield Message(text(links[0]) + more, cluster.line_of(links[0].position), value=value(links[0]))


def written(link: Link) -> str | None:
    """The code of a link as written."""
    return link.alternate.hreflang


@rule("hreflang-code-invalid", Severity.ERROR, CODES, also={"Screaming Frog": "Incorrect Language & Region Codes"})
def hreflang_code_invalid(entry: UrlFacts) -> Iterator[Message]:
    """The code is no language of ISO 639-1, with a script of ISO 15924 and a country of ISO 3166-1 at will.

    A warning where it is a language all the same: one of three letters such as `fil`, or a withdrawn code such as `iw`.

    Why: search engines ignore the link. A country alone says nothing of the language.
    Bad: `en-UK`, `jp`, `es-419`, `en-EU`, `zh-CN-Hans`
    Good: `en-GB`, `ja`, `es-MX`, `en`, `zh-Hans-CN`, `x-default`
    """
    cluster = cluster_of(entry)
    if cluster is None:
        return
    for link in cluster.odd:
        code = link.code
        if code.written and code.fault is not None:
            text = f"the hreflang {code.written!r} {code.fault}"
            severity = Severity.WARNING if code.counts else None
            yield Message(text, cluster.line_of(link.position), value=code.written, severity=severity)


@rule("hreflang-code-underscore", Severity.ERROR, CODES, also={"Screaming Frog": "Incorrect Language & Region Codes"})
def hreflang_code_underscore(entry: UrlFacts) -> Iterator[Message]:
    """The parts of the code are joined by an underscore. Once for an entry.

    Why: a language tag has dashes (RFC 5646); with an underscore it is another text, and the link is ignored.
    Bad: `hreflang="en_US"`
    Good: `hreflang="en-US"`
    """
    yield from once(
        entry,
        lambda link: link.code.underscore,
        lambda link: f"the hreflang {link.code.written!r} has an underscore; with a dash it is {link.code.canonical}",
        written,
    )


@rule("hreflang-code-case", Severity.INFO, "https://www.rfc-editor.org/rfc/rfc5646#section-2.1.1")
def hreflang_code_case(entry: UrlFacts) -> Iterator[Message]:
    """The code is not in its usual case: language small, script with a capital, country in capitals. Once for an entry.

    Why: case makes no difference to search engines, but it may to tools that compare codes as texts.
    Bad: `hreflang="en-gb"`
    Good: `hreflang="en-GB"`
    """
    yield from once(
        entry,
        lambda link: link.code.counts and link.code.canonical != link.code.written,
        lambda link: f"the hreflang {link.code.written!r} is usually written {link.code.canonical}",
        written,
    )


@rule("hreflang-code-missing", Severity.ERROR, SITEMAP)
def hreflang_code_missing(entry: UrlFacts) -> Iterator[Message]:
    """A link to an alternate has no `hreflang`, or an empty one. Once for an entry.

    Why: it does not say for whom the other page is. Links with a `media` or a `type`, and those into apps, need none.
    Bad: `<xhtml:link rel="alternate" href="https://example.com/de/"/>`
    Good: `<xhtml:link rel="alternate" hreflang="de" href="https://example.com/de/"/>`
    """

    def text(link: Link) -> str:
        other = next((name for name in link.alternate.attributes if name.lower() == "hreflang"), None)
        return f"{other} is another attribute than hreflang" if other else "no hreflang on a link to an alternate"

    yield from once(entry, lambda link: not link.code.written, text)


@rule("hreflang-href-missing", Severity.ERROR, SITEMAP)
def hreflang_href_missing(entry: UrlFacts) -> Iterator[Message]:
    """A link to a language version has no `href`, or an empty one. Once for an entry.

    Why: it leads nowhere.
    Bad: `<xhtml:link rel="alternate" hreflang="de"/>`
    Good: `<xhtml:link rel="alternate" hreflang="de" href="https://example.com/de/"/>`
    """
    yield from once(
        entry,
        lambda link: not link.alternate.href,
        lambda link: f"no href on the link for {_name(link)}",
        written,
    )


@rule("hreflang-href-relative", Severity.ERROR, GUIDELINES)
def hreflang_href_relative(entry: UrlFacts) -> Iterator[Message]:
    """The URL of a language version is not absolute. Once for an entry.

    Why: "alternate URLs must be fully-qualified, including the transport method".
    Bad: `href="/de/"`, `href="//example.com/de/"`
    Good: `href="https://example.com/de/"`
    """
    yield from once(
        entry,
        lambda link: _is_relative(link.alternate.href),
        lambda link: f"{shown(link.alternate.href)} is not absolute",
    )


@rule("hreflang-href-invalid", Severity.ERROR, GUIDELINES)
def hreflang_href_invalid(entry: UrlFacts) -> Iterator[Message]:
    """The URL of a language version is none that can be asked: another scheme, or a host that cannot be. Once for an
    entry.

    Why: the link leads nowhere.
    Bad: `href="https://"`, `href="htps://example.com/de/"`
    Good: `href="https://example.com/de/"`
    """
    yield from once(
        entry,
        lambda link: bool(link.alternate.href) and link.url is None and not _is_relative(link.alternate.href),
        lambda link: f"{shown(link.alternate.href)} is no http or https URL",
    )


@rule("hreflang-rel-missing", Severity.ERROR, SITEMAP)
def hreflang_rel_missing(entry: UrlFacts) -> Iterator[Message]:
    """A link with a `hreflang` is not `rel="alternate"`. Once for an entry.

    Why: what it links to is then no alternate of the page, and the link is ignored.
    Bad: `<xhtml:link hreflang="de" href="https://example.com/de/"/>`
    Good: `<xhtml:link rel="alternate" hreflang="de" href="https://example.com/de/"/>`
    """

    def text(link: Link) -> str:
        rel = link.alternate.rel
        return f"{f'rel is {shown(rel)}' if rel else 'no rel'} on the link for {_name(link)}"

    yield from once(
        entry,
        lambda link: link.alternate.rel is not None and "alternate" not in link.alternate.rel.lower().split(),
        text,
        lambda link: link.alternate.rel or None,
    )


def _name(link: Link) -> str:
    return link.code.written or (shown(link.alternate.href) if link.alternate.href else "nothing")


def _is_relative(href: str | None) -> bool:
    """True for a URL without scheme or without host; `www.example.com/` is one, as XML sees it."""
    return bool(href) and ":" not in (href or "").partition("/")[0]
