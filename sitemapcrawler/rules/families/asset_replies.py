"""Rules on image and video files: replies to requests, and robots.txt."""

from __future__ import annotations

from collections.abc import Iterator

from sitemapcrawler.replies import REACHED, Reason, ReplyKind
from sitemapcrawler.replies.kinds import CUT
from sitemapcrawler.replies.page import media_type
from sitemapcrawler.robots.agents import AI, agent
from sitemapcrawler.rules.facts.given import AssetFacts
from sitemapcrawler.rules.facts.languages import page_key
from sitemapcrawler.rules.facts.objects import IMAGES as IMAGES
from sitemapcrawler.rules.facts.objects import VIDEOS as VIDEOS
from sitemapcrawler.rules.facts.replied import line_of, trouble
from sitemapcrawler.rules.registry import ERROR, WARNING, Message, Of, Per, Severity, rule
from sitemapcrawler.urls.display import quoted

IMAGE, THUMBNAIL = "image", "thumbnail_loc"
"""Roles of assets that must be images."""
UNKNOWN_TYPES = frozenset(("application/octet-stream", "binary/octet-stream"))
"""Types that servers use for unknown content; readers inspect the bytes."""
PAGE_TYPES = frozenset(("text/html", "application/xhtml+xml"))
REFUSING = frozenset((401, 403))
"""Statuses that search engines may not get: many hosts refuse images to unknown clients."""
MAX_NAMED = 5
"""Crawlers that a message names."""


@rule("image-status", ERROR, IMAGES, Of.ASSET, per=Per.FILE("list images that do not work", by_value=True))
def image_status(asset: AssetFacts) -> Iterator[Message]:
    """An image does not work. It answers with an error, or not at all. A warning if it redirects, is truncated, or
    answers 401 or 403, since search engines may get another answer.

    Why: It is not indexed; if it redirects, it costs another request.
    Fix: Restore the image, list the URL that answers 200, or remove the `<image:image>`.
    Bad: `<image:loc>https://example.com/deleted.jpg</image:loc>`
    Good: the URL of an existing image
    """
    wrong = trouble(asset.reply) if asset.role == IMAGE and _not_an_image(asset) is None else None
    if wrong is not None:
        kind, status = asset.reply.kind, asset.reply.final_status
        mild = kind == ReplyKind.REDIRECTED or status in REFUSING or (kind in CUT and status is not None)
        yield _asset_message(asset, wrong, WARNING if mild else None)


@rule(
    "image-not-image", WARNING, IMAGES, Of.ASSET, per=Per.FILE("list an image URL that is not an image", by_value=True)
)
def image_not_image(asset: AssetFacts) -> Iterator[Message]:
    """The listed image is not an image. Its Content-Type says so.

    Why: Image search does not show it. The usual cause is a server that answers every path with its home page.
    Fix: List the URL of the image file; answer 404 for images that are missing.
    Bad: `Content-Type: text/html`
    Good: `Content-Type: image/webp`
    """
    kind = _not_an_image(asset) if asset.role == IMAGE else None
    if kind is not None and page_key(asset.url) != page_key(asset.record.loc):
        yield _asset_message(asset, f"is {kind}, not an image")


@rule(
    "image-blocked-by-robots", WARNING, IMAGES, Of.ASSET, per=Per.FILE("list images that robots.txt blocks for Google")
)
def image_blocked_by_robots(asset: AssetFacts) -> Iterator[Message]:
    """Listed image is blocked by robots.txt for Googlebot-Image.

    Why: Google cannot fetch it, so image search does not show it. The robots.txt of the image's host counts: that of
    the pages' host, and those that were read for another reason. If it was not read, the rule is skipped and counted as
    such, unless `verify_assets=yes` requests the image.
    Fix: Allow the path of the images in their host's robots.txt, or remove them from the sitemap.
    Bad: `Disallow: /media/` with `https://example.com/media/1.jpg` in the sitemap
    Good: a rule that allows the images
    """
    if asset.role == IMAGE:
        yield from _blocked_asset(asset)


@rule(
    "video-asset-status",
    WARNING,
    VIDEOS,
    Of.ASSET,
    per=Per.FILE("list files of videos that do not work", by_value=True),
)
def video_asset_status(asset: AssetFacts) -> Iterator[Message]:
    """A thumbnail or video file does not work. It answers with an error, with a page instead, or not at all.

    Why: Search engines must be able to fetch both, and do not show a video without a thumbnail. They follow redirects.
    Fix: Restore the file, list the URL that answers 200, or remove the video from its entry.
    Bad: `<video:thumbnail_loc>` with a URL that answers 404
    Good: files that exist as long as the entry does
    """
    if asset.role == IMAGE:
        return
    wrong = None if asset.reply.kind == ReplyKind.REDIRECTED else trouble(asset.reply)
    kind = _not_an_image(asset) if asset.role == THUMBNAIL else _page_type(asset)
    if wrong is not None or kind is not None:
        yield _asset_message(asset, wrong or f"is {kind}, not {'an image' if asset.role == THUMBNAIL else 'a video'}")


@rule(
    "video-asset-blocked", WARNING, VIDEOS, Of.ASSET, per=Per.FILE("list video files that robots.txt blocks for Google")
)
def video_asset_blocked(asset: AssetFacts) -> Iterator[Message]:
    """A thumbnail or video file is blocked by robots.txt. Googlebot-Image or Googlebot-Video may not fetch it.

    Why: Search engines must be able to fetch both. The robots.txt of the file's host counts; if it was not read, see
    `image-blocked-by-robots`.
    Fix: Allow the path of thumbnails and videos in their host's robots.txt.
    Bad: `Disallow: /videos/` with `https://cdn.example.com/videos/1.mp4` in the sitemap
    Good: a rule that allows them
    """
    if asset.role != IMAGE:
        yield from _blocked_asset(asset)


def _asset_message(asset: AssetFacts, said: str, severity: Severity | None = None) -> Message:
    element = "image:loc" if asset.role == IMAGE else f"video:{asset.role}"
    line = line_of(asset.element, lambda part: part.text == asset.url)
    return Message(f"<{element}> {quoted(asset.url)} {said}", line, value=asset.url, severity=severity)


def _content_type(asset: AssetFacts) -> str:
    """Media type of a response; empty if missing, malformed or meaningless."""
    kind = media_type(asset.reply.content_type) if asset.reply.kind in REACHED else None
    return "" if kind is None or kind.essence in UNKNOWN_TYPES else kind.essence[:100]


def _not_an_image(asset: AssetFacts) -> str | None:
    kind = _content_type(asset)
    return kind if kind and not kind.startswith("image/") else None


def _page_type(asset: AssetFacts) -> str | None:
    kind = _content_type(asset)
    return kind if kind in PAGE_TYPES else None


def _blocked_asset(asset: AssetFacts) -> Iterator[Message]:
    """Report an asset that robots.txt disallows for non-AI crawlers, or for this one if no others were checked."""
    names = [name for name in asset.blocked_for or () if not _is_of_ai(name)]
    if names:
        named = ", ".join(names[:MAX_NAMED]) + (", ..." if len(names) > MAX_NAMED else "")
        yield _asset_message(asset, f"is blocked by robots.txt for {named}")
    elif asset.blocked_for is None and asset.reply.reason == Reason.BLOCKED:
        yield _asset_message(
            asset,
            f"{'redirects to a URL that ' if asset.reply.redirects else ''}is blocked by robots.txt for this crawler",
        )


def _is_of_ai(name: str) -> bool:
    try:
        return agent(name).group == AI
    except ValueError:
        return False
