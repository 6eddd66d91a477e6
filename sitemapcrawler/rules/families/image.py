"""Rules on images of an entry, in Google's image namespace."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from sitemapcrawler.namespaces.extensions import IMAGE_EXTENSION
from sitemapcrawler.rules.facts.given import UrlFacts
from sitemapcrawler.rules.facts.objects import (
    IMAGES,
    are_usual,
    flaw,
    images,
    lacks,
    left_entity,
    line_of,
    origin_of,
    stray,
)
from sitemapcrawler.rules.registry import ERROR, ESCAPING, INFO, WARNING, Message, Objects, Per, rule
from sitemapcrawler.urls import authority, resolve
from sitemapcrawler.urls.display import counted, quoted

RETIREMENT = "https://developers.google.com/search/blog/2022/05/spring-cleaning-sitemap-extensions"
RETIRED = ("caption", "geo_location", "title", "license")
"""Elements without effect since 2022-08-06. Source: `RETIREMENT`"""
MAX_IMAGES = 1000
"""Maximum number of images in an entry. Source: `GOOGLE`"""
MAX_HOSTS = 5
"""Hosts that a message names."""


def has_usual_images(entry: UrlFacts) -> bool:
    """True for an entry with a few different images whose URLs are valid and absolute."""
    page = entry.record.loc.partition("#")[0]
    locs = [image.loc or "" for image in entry.record.images]
    if len(locs) > MAX_IMAGES or page in locs or not are_usual(locs, origin_of(page)):
        return False
    return len(locs) == 1 or len(set(locs)) == len(locs)


def has_images_at_home(entry: UrlFacts) -> bool:
    """True for an entry whose images are on the host of its page."""
    home = f"{origin_of(entry.record.loc)}/"
    return all(image.loc is not None and image.loc.startswith(home) for image in entry.record.images)


def has_images_of_today(entry: UrlFacts) -> bool:
    """True for an entry whose images have no retired elements."""
    return all(
        image.title is None and image.caption is None and image.geo_location is None and image.license is None
        for image in entry.record.images
    )


image_rule = partial(rule, of=Objects(IMAGE_EXTENSION, usual=has_usual_images))
"""Registers a rule on entries with images that are not all usual."""


@image_rule("image-loc-missing", ERROR, IMAGES, also={"Search Console": "Missing XML tag"})
def image_loc_missing(entry: UrlFacts) -> Iterator[Message]:
    """An image has no `<image:loc>`, or an empty one.

    Why: Without its URL the image cannot be indexed.
    Fix: Add an `<image:loc>`, or remove the `<image:image>`.
    Bad: `<image:image><image:title>Logo</image:title></image:image>`
    Good: `<image:image><image:loc>https://example.com/logo.png</image:loc></image:image>`
    """
    for image, element in images(entry):
        if not image.loc and lacks(element, "loc"):
            yield Message(f"an image without <image:loc>{stray(element, 'loc')}", line_of(element, "loc"))


@image_rule("image-loc-relative", ERROR, IMAGES, also={"Search Console": "Invalid URL"})
def image_loc_relative(entry: UrlFacts) -> Iterator[Message]:
    """The URL of an image is not absolute.

    Why: Search engines need the full URL; the protocol does not define a base for relative ones.
    Fix: Write the full URL of the image with scheme and host.
    Bad: `<image:loc>/images/logo.png</image:loc>`
    Good: `<image:loc>https://example.com/images/logo.png</image:loc>`
    """
    for image, element in images(entry):
        found = flaw(entry.decoded(image.loc)) if image.loc else None
        if found is not None and found.kind == "relative":
            yield Message(found.text, line_of(element, "loc"), value=image.loc)


@image_rule("image-loc-invalid", ERROR, IMAGES, also={"Search Console": "Invalid URL"})
def image_loc_invalid(entry: UrlFacts) -> Iterator[Message]:
    """The URL of an image is not valid. It must be a valid http or https URL. A warning if the only fault is whitespace
    in it.

    Why: Readers interpret it differently; a search engine may not fetch the image at all. Search engines escape a
    space; other readers end the URL there.
    Fix: Percent-encode spaces and other special characters in the image's URL, or correct it.
    Bad: `<image:loc>https://example.com/summer sale.jpg</image:loc>`, or a `data:` URL
    Good: `<image:loc>https://example.com/summer%20sale.jpg</image:loc>`
    """
    for image, element in images(entry):
        found = flaw(entry.decoded(image.loc)) if image.loc else None
        if found is not None and found.kind != "relative":
            severity = WARNING if found.blank else None
            yield Message(found.text, line_of(element, "loc"), value=image.loc, severity=severity)


@image_rule("image-loc-double-escaped", WARNING, ESCAPING, per=Per.FILE("have an image whose URL was escaped twice"))
def image_loc_double_escaped(entry: UrlFacts) -> Iterator[Message]:
    """The URL of an image was escaped twice for XML.

    Why: It names a URL that contains the characters `&amp;`, which is a different file.
    Fix: Escape the URL once: write `&amp;` for `&`, not `&amp;amp;`.
    Bad: `<image:loc>https://example.com/logo.png?w=1&amp;amp;h=2</image:loc>`
    Good: `<image:loc>https://example.com/logo.png?w=1&amp;h=2</image:loc>`
    """
    for image, element in images(entry, entry.brief):
        text = left_entity(image.loc)
        if text is not None:
            yield Message(text, line_of(element, "loc"), value=image.loc)


@image_rule("image-loc-equals-page", WARNING, IMAGES)
def image_loc_equals_page(entry: UrlFacts) -> Iterator[Message]:
    """The URL of an image is that of its page.

    Why: A page is not an image. Generators write this if a page has none.
    Fix: Write the URL of the image file, or remove `<image:image>` from pages without an image.
    Bad: `<loc>https://example.com/a</loc><image:image><image:loc>https://example.com/a</image:loc></image:image>`
    Good: `<loc>https://example.com/a</loc><image:image><image:loc>https://example.com/a.jpg</image:loc></image:image>`
    """
    page = entry.record.loc.partition("#")[0]
    for image, element in images(entry):
        if image.loc and image.loc.partition("#")[0] == page:
            yield Message(f"{quoted(image.loc)} is the page itself", line_of(element, "loc"), value=image.loc)


@image_rule("image-too-many", ERROR, IMAGES)
def image_too_many(entry: UrlFacts) -> Iterator[Message]:
    """An entry has more than 1,000 images.

    Why: Search engines read only the first 1,000.
    Fix: List at most 1,000 images per entry; move others to a page of their own.
    Bad: a gallery of 1,200 images in one `<url>`
    Good: an entry for each page of the gallery, with the images of that page
    """
    found = [element for _, element in images(entry)]
    if len(found) > MAX_IMAGES:
        text = f"{len(found):,} images; {MAX_IMAGES:,} are allowed in an entry"
        yield Message(text, line_of(found[MAX_IMAGES]), value=str(len(found)))


@image_rule("image-duplicate", INFO, IMAGES, per=Per.FILE("list an image more than once"))
def image_duplicate(entry: UrlFacts) -> Iterator[Message]:
    """An entry lists an image more than once.

    Why: The repetition has no effect, but counts towards the limits. Listing the same image for several pages is fine.
    Fix: Remove the repeated `<image:image>` from the entry.
    Bad: two `<image:image>` of the same `<image:loc>` in one `<url>`
    Good: each image of the page once
    """
    seen: dict[str, list[int | None]] = {}
    for image, element in images(entry):
        url = _absolute(image.loc, entry.file.place) if image.loc else None
        if url:
            seen.setdefault(url, []).append(None if element is None else element.line)
    for url, lines in seen.items():
        if len(lines) > 1:
            yield Message(f"{quoted(url)} is listed {len(lines)} times in this entry", lines[1], value=url)


def _absolute(loc: str, base: str) -> str | None:
    """Resolve the URL of an image against `base`; None if it is invalid."""
    found = flaw(loc)
    if found is None:
        return loc
    return resolve(base, loc) if found.kind == "relative" else None


@rule("image-offsite", INFO, IMAGES, IMAGE_EXTENSION, per=Per.SITE("have images on another host"))
def image_offsite(entry: UrlFacts) -> Iterator[Message]:
    """Images are on another host than their page.

    Why: That is common and allowed, if both hosts are verified in Search Console.
    Fix: Verify the image host in Search Console as well.
    Bad: images on `cdn.example.net`, which is not verified
    Good: images on `cdn.example.net`, which is verified
    """
    place = None if has_images_at_home(entry) else authority(entry.record.loc)
    others: dict[str, int | None] = {}
    for image, element in images(entry, entry.brief) if place else ():
        there = authority(image.loc) if image.loc else None
        if place and there and there.host not in others and there.bare_host != place.bare_host:
            others[there.host] = line_of(element, "loc")
    if others:
        hosts = ", ".join([*others][:MAX_HOSTS]) + (", ..." if len(others) > MAX_HOSTS else "")
        yield Message(f"images on {hosts}", next(iter(others.values())), value=next(iter(others)))


@rule("image-deprecated-tag", INFO, RETIREMENT, IMAGE_EXTENSION, per=Per.SITE("have deprecated image elements"))
def image_deprecated_tag(entry: UrlFacts) -> Iterator[Message]:
    """Images have deprecated elements: caption, geo_location, title, license.

    Why: Google has not read them since 6 August 2022. They do no harm, but the page is the place for this information.
    Fix: Remove caption, geo_location, title and license from the images.
    Bad: `<image:image><image:loc>...</image:loc><image:title>Logo</image:title></image:image>`
    Good: `<image:image><image:loc>...</image:loc></image:image>`
    """
    used: dict[str, int | None] = {}
    count = 0
    for image, element in () if has_images_of_today(entry) else images(entry, entry.brief):
        names = [name for name in RETIRED if getattr(image, name) is not None]
        count += bool(names)
        for name in names:
            if name not in used:
                used[name] = line_of(element, name)
    if used:
        tags = ", ".join(f"<image:{name}>" for name in used)
        text = f"{tags}: no effect since 2022-08-06 ({counted(count, 'image')})"
        yield Message(text, next(iter(used.values())), value=next(iter(used)))
