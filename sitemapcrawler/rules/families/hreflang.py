"""Rules on links to language versions: code, URL and `rel`, and the replies of the linked pages.

All rules but one report once per entry: the first faulty link and the number of others, since templates usually repeat
a mistake in all links.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import NamedTuple

from sitemapcrawler import urls
from sitemapcrawler.namespaces.extensions import HREFLANG_EXTENSION, Alternate
from sitemapcrawler.replies import ReplyKind, ReplyRecord, is_unanswered
from sitemapcrawler.replies.indexability import Indexability, indexability
from sitemapcrawler.rules.facts.given import ReplyFacts, UrlFacts
from sitemapcrawler.rules.facts.languages import (
    DEFAULT,
    LOCALIZED,
    AlternateLink,
    Cluster,
    cluster_of,
    has_usual_default,
    has_usual_versions,
    page_key,
)
from sitemapcrawler.rules.facts.objects import left_entity
from sitemapcrawler.rules.facts.replied import line_of, trouble
from sitemapcrawler.rules.facts.site import SiteFacts
from sitemapcrawler.rules.facts.site_links import NOT_INDEXED, names_canonical, on_targets
from sitemapcrawler.rules.registry import (
    ERROR,
    ESCAPING,
    INFO,
    WARNING,
    Check,
    Message,
    Objects,
    Of,
    Once,
    Per,
    Severity,
    row,
    rule,
)
from sitemapcrawler.urls import is_web
from sitemapcrawler.urls.display import quoted

GUIDELINES = f"{LOCALIZED}#all-method-guidelines"
X_DEFAULT = f"{LOCALIZED}#xdefault"
MAX_NAMED = 5
"""Codes that a message names."""
UNUSUAL_VERSIONS = Objects(HREFLANG_EXTENSION, usual=has_usual_versions)
hreflang_rule = partial(rule, of=UNUSUAL_VERSIONS)
"""Registers a rule on entries with language versions that are not all usual."""


@hreflang_rule("hreflang-self-missing", ERROR, GUIDELINES, also={"Screaming Frog": "Missing Self Reference"})
def hreflang_self_missing(entry: UrlFacts) -> Iterator[Message]:
    """The entry does not list itself as a language version.

    Why: Each version must list itself and all the others; search engines may ignore a set that does not. `x-default`
    counts. URLs that differ only in how host, port or escapes are written are the same.
    Fix: Add a link to the page itself, with its own language code, to each entry.
    Bad: `<loc>https://example.com/en/</loc>` with a link to `https://example.com/de/` only
    Good: links to `https://example.com/en/` and to `https://example.com/de/`
    """
    cluster = cluster_of(entry)
    if cluster is None or not cluster.urls or entry.record.recovered or cluster.lists_self:
        return
    if is_web(entry.record.loc):
        near = cluster.nearly_self
        but = f", though {quoted(near)} is" if near else ""
        many = f"the {len(cluster.urls)} versions" if len(cluster.urls) > 1 else "the versions"
        yield Message(f"{quoted(entry.record.loc)} is not among {many} that it lists{but}", value=near)


@hreflang_rule("hreflang-duplicate-code", ERROR, GUIDELINES, also={"Screaming Frog": "Multiple Entries"})
def hreflang_duplicate_code(entry: UrlFacts) -> Iterator[Message]:
    """One language code names two pages. Once per code of an entry.

    Why: Search engines cannot tell which one is meant.
    Fix: Give each page a code of its own, such as `en-GB` and `en-US`.
    Bad: `hreflang="en"` for `https://example.com/uk/` and for `https://example.com/us/`
    Good: `hreflang="en-GB"` for the one and `hreflang="en-US"` for the other
    """
    cluster = cluster_of(entry)
    if cluster is not None and len(set(cluster.codes)) < len(cluster.codes):
        yield from (message for code, message in _doubled(cluster) if code != DEFAULT)


@hreflang_rule("hreflang-x-default-multiple", ERROR, X_DEFAULT, also={"Screaming Frog": "Multiple Entries"})
def hreflang_x_default_multiple(entry: UrlFacts) -> Iterator[Message]:
    """Several pages have the code `x-default`.

    Why: Only one page can serve the users whom no other version matches.
    Fix: Keep one link with `hreflang="x-default"`.
    Bad: two links with `hreflang="x-default"` to different pages
    Good: one of them
    """
    cluster = cluster_of(entry)
    if cluster is not None and cluster.codes.count(DEFAULT) > 1:
        yield from (message for code, message in _doubled(cluster) if code == DEFAULT)


@rule(
    "hreflang-x-default-missing",
    INFO,
    X_DEFAULT,
    HREFLANG_EXTENSION,
    per=Per.SITE("list language versions without an x-default"),
    also={"Screaming Frog": "Missing X-Default"},
)
def hreflang_x_default_missing(entry: UrlFacts) -> Iterator[Message]:
    """No language version has the code `x-default`. Such a page serves all other languages.

    Why: It is recommended, not required. Without it, search engines choose a page for those users.
    Fix: Add a link with `hreflang="x-default"` to the page for all other languages.
    Bad: links for `en` and `de`
    Good: links for `en`, `de` and `x-default`
    """
    cluster = None if has_usual_default(entry) else cluster_of(entry)
    if cluster is None or entry.record.recovered or DEFAULT in cluster.codes or len(set(cluster.codes)) < 2:
        return
    if not any("default" in link.code.written.lower() for link in cluster.odd):
        yield Message(f"none of the {len(cluster.codes)} versions is {DEFAULT}")


@hreflang_rule("hreflang-same-url-many-codes", INFO, GUIDELINES, per=Per.FILE("give one page several codes"))
def hreflang_same_url_many_codes(entry: UrlFacts) -> Iterator[Message]:
    """Several language codes name the same page. The code `x-default` does not count.

    Why: It is fine if one page serves several countries. Otherwise two links have the same URL by mistake.
    Fix: Check that one page is meant for all these codes; otherwise link to the right page.
    Bad: `en-GB` and `en-US` for `https://example.com/en/`, where there are pages for each
    Good: a page for each, or `en` alone
    """
    cluster = cluster_of(entry)
    if cluster is None:
        return
    pages = [url for code, url in zip(cluster.codes, cluster.urls, strict=True) if code != DEFAULT]
    if len(set(pages)) == len(pages):
        return
    shared = [(url, codes) for url, codes in _codes_of_pages(cluster).items() if len(codes) > 1]
    if shared:
        url, codes = shared[0]
        named = ", ".join(codes[:MAX_NAMED]) + (" and others" if len(codes) > MAX_NAMED else "")
        more = f" (and {len(shared) - 1} more of its URLs)" if len(shared) > 1 else ""
        yield Message(f"{quoted(url)} has the codes {named}{more}", value=url)


@hreflang_rule("hreflang-single-member", INFO, GUIDELINES, per=Per.FILE("list no language version but themselves"))
def hreflang_single_member(entry: UrlFacts) -> Iterator[Message]:
    """The entry lists no language version but itself.

    Why: Such a link has no effect; the other versions may have been forgotten.
    Fix: Add links to the other language versions, or remove this one.
    Bad: `<loc>https://example.com/en/</loc>` with a link to `https://example.com/en/` only
    Good: no links, or links to all versions
    """
    cluster = cluster_of(entry)
    if cluster is None or not cluster.urls or entry.record.recovered:
        return
    page = page_key(entry.record.loc)
    if all(page_key(url) == page for url in cluster.urls) and all(link.counts for link in cluster.odd):
        text = f"{quoted(entry.record.loc)} is the only version that it lists"
        yield Message(text, cluster.line_of(cluster.positions[0]))


@hreflang_rule(
    "hreflang-mixed-protocol", WARNING, GUIDELINES, per=Per.FILE("list language versions on http and on https")
)
def hreflang_mixed_protocol(entry: UrlFacts) -> Iterator[Message]:
    """Some language versions are on http, others on https.

    Why: Https sites usually redirect from http, and a link to a page that redirects does not count.
    Fix: Use https in all links to language versions.
    Bad: `href="https://example.com/en/"` and `href="http://example.com/de/"`
    Good: https in all of them
    """
    cluster = cluster_of(entry)
    if cluster is None:
        return
    plain = [url for url in cluster.urls if url.startswith("http:")]
    if plain and len(plain) < len(cluster.urls) and not _self_on_other_protocol(cluster):
        at = cluster.positions[cluster.urls.index(plain[0])]
        are = "is" if len(plain) == 1 else "are"
        text = f"{len(plain)} of {len(cluster.urls)} versions {are} on http, such as {quoted(plain[0])}"
        yield Message(text, cluster.line_of(at), value=plain[0])


def _doubled(cluster: Cluster) -> Iterator[tuple[str, Message]]:
    """Yield (code, message) for each code with several pages, in document order."""
    first: dict[str, str] = {}
    told: set[str] = set()
    for code, url, position in zip(cluster.codes, cluster.urls, cluster.positions, strict=True):
        earlier = first.setdefault(code, url)
        if code not in told and earlier != url and page_key(earlier) != page_key(url):
            told.add(code)
            text = f"{code} names both {quoted(earlier)} and {quoted(url)}"
            yield code, Message(text, cluster.line_of(position), value=url)


def _codes_of_pages(cluster: Cluster) -> dict[str, list[str]]:
    """Codes of each URL without duplicates and `x-default`, in document order."""
    codes: dict[str, list[str]] = {}
    for code, url in dict.fromkeys(zip(cluster.codes, cluster.urls, strict=True)):
        if code != DEFAULT:
            codes.setdefault(url, []).append(code)
    return codes


def _self_on_other_protocol(cluster: Cluster) -> bool:
    """True if the entry lists itself with the other protocol, which a separate rule reports."""
    near = cluster.nearly_self
    return near is not None and near.partition(":")[0] != cluster.loc.partition(":")[0]


CODES = f"{LOCALIZED}#language-codes"
SITEMAP = f"{LOCALIZED}#sitemap"


Describe = Callable[[AlternateLink], str | None]


def link_rule(
    id: str,
    severity: Severity,
    source: str,
    at_fault: Callable[[AlternateLink], bool],
    text: Describe,
    value: Describe = lambda link: link.alternate.href,
    per: Once | None = None,
    also: dict[str, str] | None = None,
) -> Callable[[str], Check]:
    """A rule with one message for all links of an entry that are `at_fault`. `text` and `value` describe the first."""

    def check(entry: UrlFacts) -> Iterator[Message]:
        cluster = cluster_of(entry)
        links = [link for link in cluster.odd if at_fault(link)] if cluster is not None else []
        if cluster is not None and links:
            more = f" (and {len(links) - 1} more of its links)" if len(links) > 1 else ""
            yield Message(f"{text(links[0])}{more}", cluster.line_of(links[0].position), value=value(links[0]))

    return row(check, id, severity, source, UNUSUAL_VERSIONS, per, also)


def _written_code(link: AlternateLink) -> str | None:
    return link.alternate.hreflang


def _lacks_code(link: AlternateLink) -> str:
    other = next((name for name in link.alternate.attributes if name.lower() == "hreflang"), None)
    return f"{other} is not the attribute hreflang" if other else "a link to an alternate has no hreflang"


def _written_rel(link: AlternateLink) -> str:
    return f"rel is {quoted(link.alternate.rel)}" if link.alternate.rel else "no rel"


def _link_name(link: AlternateLink) -> str:
    return link.code.written or (quoted(link.alternate.href) if link.alternate.href else "nothing")


def _is_relative(href: str | None) -> bool:
    """True for a URL without scheme or host. `www.example.com/` is relative, too."""
    return bool(href) and ":" not in (href or "").partition("/")[0]


@hreflang_rule(
    "hreflang-code-invalid",
    ERROR,
    CODES,
    per=Per.FILE("have an invalid language code", by_value=True),
    also={"Screaming Frog": "Incorrect Language & Region Codes"},
)
def hreflang_code_invalid(entry: UrlFacts) -> Iterator[Message]:
    """The language code is not valid. A code is a language of ISO 639-1, with an optional script of ISO 15924 and an
    optional country of ISO 3166-1.

    A warning if it still names a language: a code of three letters such as `fil`, or a withdrawn one such as `iw`.

    Why: Search engines ignore the link. A country alone does not tell the language.
    Fix: Write a language of ISO 639-1, optionally with a country of ISO 3166-1, such as `en-GB`.
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
            severity = WARNING if code.counts else None
            yield Message(text, cluster.line_of(link.position), value=code.written, severity=severity)


link_rule(
    "hreflang-code-underscore",
    ERROR,
    CODES,
    lambda link: link.code.underscore,
    lambda link: f"the hreflang {link.code.written!r} has an underscore; with a hyphen it is {link.code.canonical}",
    _written_code,
    Per.FILE("have a language code with an underscore", by_value=True),
    {"Screaming Frog": "Incorrect Language & Region Codes"},
)("""
    The language code has an underscore.

    Why: Language tags use hyphens (RFC 5646). Search engines ignore a link with any other code.
    Fix: Join language and country with a hyphen instead of an underscore.
    Bad: `hreflang="en_US"`
    Good: `hreflang="en-US"`
""")


link_rule(
    "hreflang-code-case",
    INFO,
    "https://www.rfc-editor.org/rfc/rfc5646#section-2.1.1",
    lambda link: link.code.counts and link.code.canonical != link.code.written,
    lambda link: f"the hreflang {link.code.written!r} is usually written {link.code.canonical}",
    _written_code,
    Per.FILE("have a language code in an unusual case"),
)("""
    The language code has an unusual case. The convention is a lowercase language, a capitalised script and an
    uppercase country.

    Why: Case makes no difference to search engines, but may to tools that compare codes as strings.
    Fix: Write the language in lowercase and the country in uppercase.
    Bad: `hreflang="en-gb"`
    Good: `hreflang="en-GB"`
""")


link_rule("hreflang-code-missing", ERROR, SITEMAP, lambda link: not link.code.written, _lacks_code)("""
    A link to a language version has no `hreflang`. It is missing or empty. Once per entry.

    Why: Without it the language of the other page is unknown. Links with a `media` or a `type`, and links to apps, need
    none.
    Fix: Add a `hreflang` with the language of the linked page, or remove the link.
    Bad: `<xhtml:link rel="alternate" href="https://example.com/de/"/>`
    Good: `<xhtml:link rel="alternate" hreflang="de" href="https://example.com/de/"/>`
""")


link_rule(
    "hreflang-href-missing",
    ERROR,
    SITEMAP,
    lambda link: not link.alternate.href,
    lambda link: f"no href on the link for {_link_name(link)}",
    _written_code,
)("""
    A link to a language version has no `href`. It is missing or empty. Once per entry.

    Why: It leads nowhere.
    Fix: Add an `href` with the URL of the language version, or remove the link.
    Bad: `<xhtml:link rel="alternate" hreflang="de"/>`
    Good: `<xhtml:link rel="alternate" hreflang="de" href="https://example.com/de/"/>`
""")


link_rule(
    "hreflang-href-relative",
    ERROR,
    GUIDELINES,
    lambda link: _is_relative(link.alternate.href),
    lambda link: f"{quoted(link.alternate.href)} is not absolute",
)("""
    The URL of a language version is not absolute. Once per entry.

    Why: "alternate URLs must be fully-qualified, including the transport method".
    Fix: Write the full URL with scheme and host.
    Bad: `href="/de/"`, `href="//example.com/de/"`
    Good: `href="https://example.com/de/"`
""")


link_rule(
    "hreflang-href-invalid",
    ERROR,
    GUIDELINES,
    lambda link: bool(link.alternate.href) and link.url is None and not _is_relative(link.alternate.href),
    lambda link: f"{quoted(link.alternate.href)} is not an http or https URL",
)("""
    The URL of a language version cannot be requested. It has another scheme, or an invalid host. Once per entry.

    Why: The link leads nowhere.
    Fix: Correct the URL of the language version, or remove the link.
    Bad: `href="https://"`, `href="htps://example.com/de/"`
    Good: `href="https://example.com/de/"`
""")


link_rule(
    "hreflang-href-double-escaped",
    WARNING,
    ESCAPING,
    lambda link: left_entity(link.alternate.href) is not None,
    lambda link: left_entity(link.alternate.href) or "",
    per=Per.FILE("link to a language version whose URL was escaped twice"),
)("""
    A language version has a URL that was escaped twice.

    Why: It names a URL that contains the characters `&amp;`, which is a different page.
    Fix: Escape the URL once: write `&amp;` for `&`, not `&amp;amp;`.
    Bad: `href="https://example.com/?a=1&amp;amp;lang=de"`
    Good: `href="https://example.com/?a=1&amp;lang=de"`
""")


link_rule(
    "hreflang-rel-missing",
    ERROR,
    SITEMAP,
    lambda link: link.alternate.rel is not None and "alternate" not in link.alternate.rel.lower().split(),
    lambda link: f"{_written_rel(link)} on the link for {_link_name(link)}",
    lambda link: link.alternate.rel or None,
)("""
    A link with a `hreflang` is not `rel="alternate"`. Once per entry.

    Why: Without it the link does not name an alternate of the page, and search engines ignore it.
    Fix: Add `rel="alternate"` to the link.
    Bad: `<xhtml:link hreflang="de" href="https://example.com/de/"/>`
    Good: `<xhtml:link rel="alternate" hreflang="de" href="https://example.com/de/"/>`
""")


ON = (Of.REPLY, Of.SITE)
"""`SITE` covers targets that were requested after their entry was judged."""


def _is_soft_404(reply: ReplyRecord) -> bool:
    return reply.kind == ReplyKind.OK and reply.soft_404 is not None


def _is_broken(reply: ReplyRecord) -> bool:
    return reply.kind in (ReplyKind.HTTP_ERROR, ReplyKind.REDIRECT_LOOP) or is_unanswered(reply) or _is_soft_404(reply)


def _status_fault(reply: ReplyRecord) -> str | None:
    if _is_soft_404(reply):
        return f"is a soft 404: {reply.soft_404}"
    return trouble(reply) if _is_broken(reply) else None


def _redirect_fault(reply: ReplyRecord) -> str | None:
    if reply.kind == ReplyKind.OK and reply.refresh is not None:
        return f"redirects to {quoted(reply.refresh)}"
    return trouble(reply) if reply.kind == ReplyKind.REDIRECTED else None


def _noindex_fault(reply: ReplyRecord) -> str | None:
    return NOT_INDEXED if indexability(reply) is Indexability.NOINDEX else None


def _noncanonical_fault(reply: ReplyRecord) -> str | None:
    return names_canonical(reply.canonical or "") if indexability(reply) is Indexability.CANONICALISED else None


class AlternateReply(NamedTuple):
    """The reply to a language version other than the page itself."""

    alternate: Alternate
    reply: ReplyRecord


def target_rule(
    id: str, severity: Severity, what: str, frog: str, fault: Callable[[ReplyRecord], str | None]
) -> Callable[[str], Check]:
    """A rule on the replies to language versions. `what`: what these do; `frog`: its name in Screaming Frog."""

    def check(facts: ReplyFacts | SiteFacts) -> Iterator[Message]:
        return on_targets(facts, id) if isinstance(facts, SiteFacts) else _once_for_targets(facts, fault)

    per = Per.FILE(f"link to language versions that {what}")
    return row(check, id, severity, GUIDELINES, ON, per, {"Screaming Frog": frog})


target_rule("hreflang-target-status", ERROR, "do not work", "Non-200 Hreflang URLs", _status_fault)("""
    A language version does not work. It answers with an error, is a soft 404, or does not answer at all.

    Why: Search engines ignore the link, and send visitors of that language to another page.
    Fix: Link to a page that answers 200, or remove the link in all versions.
    Bad: `hreflang="de"` with a URL that answers 404
    Good: the URL of the German page, or no link
""")


target_rule("hreflang-target-redirect", WARNING, "redirect", "Non-200 Hreflang URLs", _redirect_fault)("""
    A language version that the entry links to redirects.

    Why: The page at the end does not link back to this URL, so the link may not count.
    Fix: Link to the redirect target if it is the same page in that language. Otherwise remove the link.
    Bad: `https://example.com/de`, which redirects to `https://example.com/de/`
    Good: `https://example.com/de/`
""")


target_rule("hreflang-target-noindex", ERROR, "are noindex", "Noindex Return Links", _noindex_fault)("""
    A language version is noindex. It tells all search engines, or Googlebot, not to index it.

    Why: A page that is not indexed cannot be shown instead of this one.
    Fix: Remove `noindex` from the page, or the link from all versions.
    Bad: `hreflang="de"` with the URL of a page that has `noindex`
    Good: a page that may be indexed, or no link
""")


target_rule(
    "hreflang-target-noncanonical", WARNING, "have another canonical", "Non-Canonical Return Links", _noncanonical_fault
)("""
    A language version names another URL as its canonical.

    Why: Search engines index the canonical, which may have other links.
    Fix: Let the language version name itself as canonical, or link to its canonical.
    Bad: `https://example.com/de/?ref=menu`, whose canonical is `https://example.com/de/`
    Good: `https://example.com/de/`
""")


def _once_for_targets(facts: ReplyFacts, fault: Callable[[ReplyRecord], str | None]) -> Iterator[Message]:
    """Yield one message for all targets with this fault. `fault` returns a phrase that follows the URL."""
    found = [(target, said) for target in _alternate_replies(facts) if (said := fault(target.reply)) is not None]
    if not found:
        return
    (alternate, _), said = found[0]
    href, more = alternate.href, len({target.alternate.href for target, _ in found}) - 1
    rest = f" (and {more} more of its language versions)" if more else ""
    line = line_of(facts.element, lambda element: element.attributes.get("href", "").strip() == href)
    yield Message(f"the {alternate.hreflang or 'alternate'} version {quoted(href)} {said}{rest}", line, value=href)


def _alternate_replies(facts: ReplyFacts) -> Iterator[AlternateReply]:
    """Yield the replies to an entry's language versions. A broken page of the entry itself is reported separately."""
    if not facts.targets or _is_broken(facts.reply):
        return
    own = page_key(facts.record.loc)
    for alternate in facts.record.alternates:
        url = urls.resolve(facts.record.sitemap, alternate.href or "")
        if url is None or page_key(url) == own:
            continue
        reply = facts.targets.get(alternate.href or "") or facts.targets.get(url)
        if reply is not None:
            yield AlternateReply(alternate, reply)
