"""Rules on the values that videos have: texts, numbers, dates, lists. Google's video namespace."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from sitemapcrawler.rules.facts.given import UrlFacts
from sitemapcrawler.rules.facts.languages import RESERVED, is_country
from sitemapcrawler.rules.facts.objects import line_of, videos
from sitemapcrawler.rules.facts.written import Form, Standard, span, written
from sitemapcrawler.rules.families.assets import flaw
from sitemapcrawler.rules.families.video import GOOGLE, text
from sitemapcrawler.rules.registry import Message, Severity, rule
from sitemapcrawler.urls import authority
from sitemapcrawler.urls.display import shown

DATES = ("publication_date", "expiration_date")
YES_OR_NO = ("family_friendly", "requires_subscription", "live")
ANSWERS = frozenset(("yes", "Yes", "YES", "no", "No", "NO"))
"""Source: Google's schema of the namespace."""
RELATIONSHIPS = ("allow", "deny")
PLATFORMS = ("web", "mobile", "tv")
MAX_DESCRIPTION = 2048
"""Characters. Source: `GOOGLE`"""
MAX_TITLE = 100
"""Characters. Source: an earlier version of `GOOGLE`"""
MAX_UPLOADER = 255
"""Characters. Source: `GOOGLE`"""
MAX_DURATION = 28_800
"""Seconds, eight hours. Source: `GOOGLE`"""
MAX_RATING = 5.0
"""Source: `GOOGLE`"""
MAX_NAMED = 5
"""Wrong codes that a message names."""
INTEGER = re.compile(r"\+?[0-9]{1,18}")
"""A number without sign, of a size that videos may have (seconds, views)."""
DECIMAL = re.compile(r"[+-]?(?:[0-9]{1,18}\.?[0-9]{0,18}|\.[0-9]{1,18})")


@rule("video-description-too-long", Severity.ERROR, GOOGLE)
def video_description_too_long(entry: UrlFacts) -> Iterator[Message]:
    """A description has more than 2,048 characters.

    Why: search engines take no more.
    Bad: the text of the whole page
    Good: some sentences about the video
    """
    yield from too_long(entry, "description", MAX_DESCRIPTION)


@rule("video-title-too-long", Severity.WARNING, GOOGLE)
def video_title_too_long(entry: UrlFacts) -> Iterator[Message]:
    """A title has more than 100 characters.

    Why: earlier versions of Google's documentation name that limit, the present one none; results cut titles long
    before.
    Bad: a title of 150 characters
    Good: `<video:title>How to grill</video:title>`
    """
    yield from too_long(entry, "title", MAX_TITLE)


def too_long(entry: UrlFacts, name: str, limit: int) -> Iterator[Message]:
    """A message for each video of whose element the text is longer than a limit in characters."""
    for video, element in videos(entry):
        value = text(video, name)
        if len(value) > limit:
            long = f"<video:{name}> has {len(value):,} characters; {limit:,} are allowed"
            yield Message(long, line_of(element, name), value=value)


@rule("video-duration-range", Severity.ERROR, GOOGLE, also={"Search Console": "Invalid tag value"})
def video_duration_range(entry: UrlFacts) -> Iterator[Message]:
    """A duration is no whole number of seconds from 1 to 28,800. A warning where it is empty.

    Why: search engines do not read it otherwise.
    Bad: `<video:duration>05:30</video:duration>`
    Good: `<video:duration>330</video:duration>`
    """
    for video, element in videos(entry):
        value = video.duration
        if value is not None and not (INTEGER.fullmatch(value) and 1 <= int(value) <= MAX_DURATION):
            wanted = f"whole seconds from 1 to {MAX_DURATION:,}"
            yield unfit("duration", value, wanted, line_of(element, "duration"))


@rule("video-rating-range", Severity.ERROR, GOOGLE, also={"Search Console": "Invalid tag value"})
def video_rating_range(entry: UrlFacts) -> Iterator[Message]:
    """A rating is no number from 0.0 to 5.0. A warning where it is empty.

    Why: search engines do not read it otherwise.
    Bad: `<video:rating>4,5</video:rating>`, `<video:rating>87%</video:rating>`
    Good: `<video:rating>4.5</video:rating>`
    """
    for video, element in videos(entry):
        value = video.rating
        if value is not None and not (DECIMAL.fullmatch(value) and 0 <= float(value) <= MAX_RATING):
            yield unfit("rating", value, f"a number from 0.0 to {MAX_RATING}", line_of(element, "rating"))


@rule("video-view-count-invalid", Severity.ERROR, GOOGLE, also={"Search Console": "Invalid tag value"})
def video_view_count_invalid(entry: UrlFacts) -> Iterator[Message]:
    """A number of views is no whole number from 0 on. A warning where it is empty.

    Why: search engines do not read it otherwise.
    Bad: `<video:view_count>1,234</video:view_count>`
    Good: `<video:view_count>1234</video:view_count>`
    """
    for video, element in videos(entry):
        value = video.view_count
        if value is not None and not INTEGER.fullmatch(value):
            yield unfit("view_count", value, "a whole number without separators", line_of(element, "view_count"))


def unfit(name: str, value: str, wanted: str, line: int | None, severity: Severity | None = None) -> Message:
    """A message on a value that is not what it must be. One that is empty says nothing, and harms little."""
    if not value:
        return Message(f"<video:{name}> is empty; it can be left out", line, value=value, severity=Severity.WARNING)
    return Message(f"<video:{name}> is {shown(value)}, not {wanted}", line, value=value, severity=severity)


@rule("video-date-invalid", Severity.ERROR, GOOGLE, also={"Search Console": "Invalid date"})
def video_date_invalid(entry: UrlFacts) -> Iterator[Message]:
    """A date is neither `YYYY-MM-DD` nor `YYYY-MM-DDThh:mm:ss` with a zone. A warning where it is empty, or legal by
    one of the standards (W3C Datetime without seconds, XML Schema's day with a zone).

    Why: search engines do not read it otherwise.
    Bad: `<video:publication_date>2026-01-05T10:00:00</video:publication_date>`
    Good: `<video:publication_date>2026-01-05T10:00:00+01:00</video:publication_date>`
    """
    for video, element in videos(entry):
        for name in DATES:
            value = getattr(video, name)
            form = Form.LEGAL if value is None else written(value, Standard.W3C).form
            if form is Form.LEGAL:
                continue
            wanted = {
                Form.IMPOSSIBLE: "a day and time that exist",
                Form.NO_ZONE: "a time with its zone, such as 2026-01-05T10:00:00+01:00",
            }.get(form, "YYYY-MM-DD or YYYY-MM-DDThh:mm:ss with a zone")
            severity = Severity.WARNING if form in (Form.NO_SECONDS, Form.ZONED_DAY) else None
            yield unfit(name, value, wanted, line_of(element, name), severity)


@rule("video-expired", Severity.WARNING, GOOGLE)
def video_expired(entry: UrlFacts) -> Iterator[Message]:
    """The expiration date of a video is in the past.

    Why: the video is not shown any more. A day counts as over when it is over everywhere.
    Bad: `<video:expiration_date>2019-12-31</video:expiration_date>`
    Good: a date to come, or no `<video:video>` any more
    """
    for video, element in videos(entry):
        value = video.expiration_date
        when = span(value) if value else None
        if when is not None and when[1] < entry.file.fetched_at:
            message = f"the video expired on {value}; the file was fetched on {entry.file.fetched_at:%Y-%m-%d}"
            yield Message(message, line_of(element, "expiration_date"), value=value)


@rule("video-yesno-invalid", Severity.ERROR, GOOGLE, also={"Search Console": "Invalid tag value"})
def video_yesno_invalid(entry: UrlFacts) -> Iterator[Message]:
    """family_friendly, requires_subscription or live is neither yes nor no. A warning where it is empty.

    Why: search engines do not read it otherwise.
    Bad: `<video:live>true</video:live>`
    Good: `<video:live>yes</video:live>`
    """
    for video, element in videos(entry):
        for name in YES_OR_NO:
            value = getattr(video, name)
            if value is not None and value not in ANSWERS:
                yield unfit(name, value, "yes or no", line_of(element, name))


@dataclass(frozen=True, slots=True)
class Codes:
    """The codes that a list may hold."""

    known: Callable[[str], bool]
    usual: Callable[[str], str]
    """Gives the case in which they are written."""
    what: str
    """Ends the sentence on a code that is not known."""


COUNTRIES = Codes(is_country, str.upper, "which is no country of ISO 3166-1; codes are parted by blanks")
DEVICES = Codes(PLATFORMS.__contains__, str.lower, "which is none of web, mobile and tv; they are parted by blanks")


@rule("video-restriction-invalid", Severity.ERROR, GOOGLE, also={"Search Console": "Invalid attribute value"})
def video_restriction_invalid(entry: UrlFacts) -> Iterator[Message]:
    """A restriction is no list of countries (ISO 3166-1, parted by blanks) with a relationship. A warning where the
    list is empty, for information where only upper and lower case are not as they should be.

    Why: where the video is shown, and where not, cannot be told.
    Bad: `<video:restriction>UK,US</video:restriction>`
    Good: `<video:restriction relationship="allow">GB US</video:restriction>`
    """
    for video, element in videos(entry):
        if video.restriction is not None:
            yield from listed("restriction", video.restriction, COUNTRIES, line_of(element, "restriction"))


@rule("video-platform-invalid", Severity.ERROR, GOOGLE, also={"Search Console": "Invalid attribute value"})
def video_platform_invalid(entry: UrlFacts) -> Iterator[Message]:
    """A platform is no list of web, mobile and tv, parted by blanks, with a relationship. A warning where the list is
    empty, for information where only upper and lower case are not as they should be.

    Why: on which devices the video is shown, and on which not, cannot be told.
    Bad: `<video:platform relationship="allow">desktop, mobile</video:platform>`
    Good: `<video:platform relationship="allow">web mobile</video:platform>`
    """
    for video, element in videos(entry):
        if video.platform is not None:
            yield from listed("platform", video.platform, DEVICES, line_of(element, "platform"))


def listed(name: str, given: Mapping[str, str], codes: Codes, line: int | None) -> Iterator[Message]:
    """Messages on a list of codes and its relationship: {`value`, `relationship`}."""
    written = given.get("value", "")
    if not written:
        yield unfit(name, "", "", line)
        return
    unknown = [code for code in written.split() if not codes.known(codes.usual(code))]
    if unknown:
        named = ", ".join(shown(code) + _meant(code) for code in unknown[:MAX_NAMED])
        yield Message(f"<video:{name}> has {named}, {codes.what}", line, value=written)
    elif codes.usual(written) != written:
        message = f"<video:{name}> is {shown(written)}; it is written {shown(codes.usual(written))}"
        yield Message(message, line, value=written, severity=Severity.INFO)
    relationship = given.get("relationship")
    if relationship not in RELATIONSHIPS:
        told = "no relationship" if relationship is None else f"the relationship {shown(relationship)}"
        severity = Severity.INFO if relationship and relationship.lower() in RELATIONSHIPS else None
        yield Message(f"<video:{name}> has {told}, not allow or deny", line, value=relationship, severity=severity)


def _meant(code: str) -> str:
    meant = RESERVED.get(code.upper())
    return f" ({meant} is meant)" if meant else ""


@rule("video-uploader-too-long", Severity.ERROR, GOOGLE)
def video_uploader_too_long(entry: UrlFacts) -> Iterator[Message]:
    """The name of an uploader has more than 255 characters.

    Why: search engines take no more.
    Bad: a biography
    Good: `<video:uploader>Ann</video:uploader>`
    """
    yield from too_long(entry, "uploader", MAX_UPLOADER)


@rule("video-uploader-offsite", Severity.WARNING, GOOGLE)
def video_uploader_offsite(entry: UrlFacts) -> Iterator[Message]:
    """The info URL of an uploader is not of the domain of the page.

    Why: it must be; it is not used otherwise.
    Bad: `<video:uploader info="https://www.youtube.com/@ann">Ann</video:uploader>` for a page of `example.com`
    Good: `<video:uploader info="https://example.com/ann">Ann</video:uploader>`
    """
    for video, element in videos(entry):
        info = (video.uploader or {}).get("info", "").strip()
        place, there = authority(entry.record.loc), authority(info)
        found = flaw(info) if info else None
        if found is not None and found.kind != "invalid":  # what is no URI at all, the schema names
            message = f"the info of <video:uploader>: {found.text}"
            yield Message(message, line_of(element, "uploader"), value=info)
        elif place and there and _domain(place.host) != _domain(there.host):
            message = f"the info of <video:uploader> is on {there.host}, the page on {place.host}"
            yield Message(message, line_of(element, "uploader"), value=info)


def _domain(host: str) -> str:
    """The last two labels: a domain, or more than one (`co.uk`), so that no two hosts of one domain are told apart."""
    return host if host.replace(".", "").isdecimal() else ".".join(host.split(".")[-2:])
