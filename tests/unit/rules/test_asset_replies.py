"""The rules on images and video files that were asked for."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sitemapcrawler.items import Hop, UrlRecord
from sitemapcrawler.reader import Document
from sitemapcrawler.replies import Reason, ReplyKind, ReplyRecord
from sitemapcrawler.rules.facts.given import AssetFacts

from .replying import REPLIES, SITEMAP, URL, URLS, Told, error, failed, findings, made, message, moved, ok, told

JPG = "https://cdn.example.net/a.jpg"
BLOCKED = ReplyRecord(reason=Reason.BLOCKED)
HOPS = (Hop(301, JPG),)


def asset(reply: ReplyRecord, role: str = "image", url: str = JPG, blocked_for: list[str] | None = None) -> AssetFacts:
    return AssetFacts(UrlRecord(URL, sitemap=SITEMAP, line=3), url, role, reply, blocked_for)


def sent(content_type: str | None) -> ReplyRecord:
    return ok(final_url=JPG, content_type=content_type)


@pytest.mark.parametrize(
    ("reply", "rules"),
    [
        (sent("image/jpeg"), {}),
        (sent("IMAGE/SVG+XML; charset=utf-8"), {}),
        (sent("application/octet-stream"), {}),
        (sent(None), {}),
        (sent("jpeg"), {}),
        (sent("text/html, image/jpeg"), {}),
        (sent("text/html"), {"image-not-image": "warning"}),
        (sent("application/pdf"), {"image-not-image": "warning"}),
        (moved("https://cdn.example.net/b.jpg", content_type="image/jpeg"), {"image-status": "warning"}),
        (moved("https://example.com/", content_type="text/html"), {"image-not-image": "warning"}),
        (ok(final_url=JPG, final_status=204, content_type=None), {"image-status": "error"}),
        (error(404), {"image-status": "error"}),
        (error(410), {"image-status": "error"}),
        (error(500), {"image-status": "error"}),
        (error(301), {"image-status": "error"}),
        (error(403), {"image-status": "warning"}),
        (error(429), {}),
        (failed(ReplyKind.TLS), {"image-status": "error"}),
        (made(ReplyKind.TRUNCATED, final_status=200, final_url=JPG, error="cut"), {"image-status": "warning"}),
        (BLOCKED, {"image-blocked-by-robots": "warning"}),
        (ReplyRecord(reason=Reason.BLOCKED, redirects=HOPS), {"image-blocked-by-robots": "warning"}),
        (ReplyRecord(reason=Reason.STOPPED), {}),
        (
            made(ReplyKind.ADDRESS_REFUSED, final_url="http://10.0.0.1/a.jpg", error="not public"),
            {"security-address-refused": "warning"},
        ),
    ],
)
def test_an_image(reply: ReplyRecord, rules: Told) -> None:
    assert told(asset(reply)) == rules


def test_a_page_as_its_own_image_is_told_already() -> None:
    assert told(asset(ok(), url=URL)) == {}


@pytest.mark.parametrize(
    ("role", "reply", "rules"),
    [
        ("thumbnail_loc", sent("image/png"), {}),
        ("thumbnail_loc", sent("text/html"), {"video-asset-status": "warning"}),
        ("thumbnail_loc", sent("video/mp4"), {"video-asset-status": "warning"}),
        ("content_loc", sent("video/mp4"), {}),
        ("content_loc", sent("application/vnd.apple.mpegurl"), {}),
        ("content_loc", sent("text/html; charset=utf-8"), {"video-asset-status": "warning"}),
        ("content_loc", moved(JPG, content_type="video/mp4"), {}),
        ("content_loc", moved(JPG, content_type="text/html"), {"video-asset-status": "warning"}),
        ("content_loc", ok(final_url=JPG, final_status=204), {"video-asset-status": "warning"}),
        ("content_loc", error(404), {"video-asset-status": "warning"}),
        ("content_loc", error(429), {}),
        ("thumbnail_loc", failed(ReplyKind.DNS), {"video-asset-status": "warning"}),
        ("content_loc", BLOCKED, {"video-asset-blocked": "warning"}),
    ],
)
def test_a_file_of_a_video(role: str, reply: ReplyRecord, rules: Told) -> None:
    assert told(asset(reply, role)) == rules


@pytest.mark.parametrize(
    ("role", "rule"), [("image", "image-blocked-by-robots"), ("content_loc", "video-asset-blocked")]
)
def test_what_robots_denies_to_whom(role: str, rule: str) -> None:
    assert told(asset(sent("image/png") if role == "image" else sent("video/mp4"), role, blocked_for=[])) == {}
    assert told(asset(BLOCKED, role, blocked_for=[])) == {}
    assert told(asset(BLOCKED, role, blocked_for=["GPTBot"])) == {}
    denied = asset(BLOCKED, role, blocked_for=["GPTBot", "Googlebot-Image", "Bingbot"])
    assert message(denied, rule).endswith(" is blocked by robots.txt for Googlebot-Image, Bingbot")
    assert message(asset(BLOCKED, role), rule).endswith(" is blocked by robots.txt for this crawler")


def test_the_message_names_the_element_and_its_line() -> None:
    data = f"""<?xml version="1.0"?>
<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9" xmlns:i="http://www.google.com/schemas/sitemap-image/1.1">
<url><loc>{URL}</loc>
<i:image><i:loc>https://example.com/1.jpg</i:loc></i:image>
<i:image>
<i:loc>{JPG}</i:loc></i:image></url></urlset>"""
    document = Document(SITEMAP, keep_elements=True)
    [(record, element)] = [
        (note.record, note.element) for _ in document.read([data.encode()]) for note in document.notes.values()
    ]
    [found] = findings(AssetFacts(record, JPG, "image", error(404), element=element))
    assert (found.line, found.value) == (6, JPG)
    assert found.message == "<image:loc> 'https://cdn.example.net/a.jpg' answers 404"


@given(REPLIES, st.sampled_from(["image", "thumbnail_loc", "content_loc"]), URLS, st.none() | st.lists(st.text()))
def test_no_reply_makes_a_rule_fail_and_none_has_two_faults(
    reply: ReplyRecord, role: str, url: str, blocked_for: list[str] | None
) -> None:
    rules = [one.rule for one in findings(asset(reply, role, url, blocked_for))]
    assert "internal-rule-failed" not in rules
    assert len([rule for rule in rules if not rule.endswith(("-blocked", "-by-robots"))]) <= 1
