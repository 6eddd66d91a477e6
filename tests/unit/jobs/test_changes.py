"""Differences from the baseline in words."""

from __future__ import annotations

from typing import Any

import pytest

from sitemapcrawler.jobs.changes import MAX_TEXT, answer, differences

OK = {"kind": "ok", "status": 200, "final_status": 200}
MOVED = {
    "kind": "redirected", "status": 301, "final_status": 200, "final_url": "https://e.com/b",
    "redirects": [{"status": 301, "url": "https://e.com/a"}],
}  # fmt: skip
IMAGES = [{"loc": "https://e.com/1.png", "title": "One"}, {"loc": "https://e.com/2.png"}]


@pytest.mark.parametrize(
    ("reply", "words"),
    [
        (OK, "200"),
        ({"kind": "http-error", "status": 404}, "404"),
        (MOVED, "301 to https://e.com/b"),
        (MOVED | {"kind": "http-error", "final_status": 410}, "301 to https://e.com/b, 410"),
        ({"kind": "timeout"}, "no answer in time"),
        ({"kind": "truncated", "status": 200}, "200, answer truncated"),
        ({}, "not requested"),
    ],
)
def test_answer_in_words(reply: dict[str, Any], words: str) -> None:
    assert answer(reply) == words


@pytest.mark.parametrize(
    ("names", "before", "now", "found"),
    [
        (["lastmod"], ({"lastmod": "2026-01-01"}, {}), ({"lastmod": "2026-01-02"}, {}),
         [("lastmod", "2026-01-01", "2026-01-02")]),
        (["priority"], ({"priority": 0.5}, {}), ({}, {}), [("priority", "0.5", "none")]),
        (["reply.kind", "reply.status"], ({"indexability": "ok"}, OK),
         ({"indexability": "not found"}, {"kind": "http-error", "status": 404}),
         [("status", "200", "404"), ("indexability", "ok", "not found")]),
        (["reply.kind", "reply.final_url"], ({}, OK), ({}, MOVED), [("status", "200", "301 to https://e.com/b")]),
        (["reply.noindex"], ({}, {"noindex": False}), ({}, {"noindex": True}), [("noindex", "no", "yes")]),
        (["reply.noindex_agents"], ({}, {"noindex": False}), ({}, {"noindex_agents": ["Bingbot", "GPTBot"]}),
         [("noindex", "no", "for Bingbot, GPTBot")]),
        (["reply.canonical"], ({}, {"canonical": "https://e.com/c"}), ({}, {}),
         [("canonical", "https://e.com/c", "none")]),
        (["reply.refresh"], ({"indexability": "ok"}, {}), ({"indexability": "redirect"}, {"refresh": "https://e.com/c"}),
         [("refresh", "none", "https://e.com/c"), ("indexability", "ok", "redirect")]),
        (["reply.title", "reply.h1"], ({}, {"title": "Old"}), ({}, {"title": "New", "h1": "News"}),
         [("title", "Old", "New"), ("h1", "none", "News")]),
        (["reply.content_hash"], ({}, {"words": 250, "simhash": "00000000000000ff"}),
         ({}, {"words": 1251, "simhash": "00000000000000fe"}),
         [("content", "250 words", "1,251 words, changed a little (1 of 64 bits)")]),
        (["reply.content_hash"], ({}, {"words": 1, "simhash": "0000000000000000"}),
         ({}, {"words": 250, "simhash": "000000000001ffff"}),
         [("content", "1 word", "250 words, changed a lot (17 of 64 bits)")]),
        (["blocked_for"], ({"blocked_for": []}, {}), ({"blocked_for": ["GPTBot"]}, {}),
         [("blocked_for", "none", "GPTBot")]),
        (["images"], ({"images": IMAGES[:1]}, {}), ({"images": IMAGES}, {}),
         [("images", "none", "https://e.com/2.png")]),
        (["images"], ({"images": IMAGES}, {}), ({"images": IMAGES[1:]}, {}),
         [("images", "https://e.com/1.png One", "none")]),
        (["images"], ({"images": IMAGES}, {}), ({"images": IMAGES[::-1]}, {}), [("images", None, None)]),
        (["news"], ({"news": {"title": "Old"}}, {}), ({"news": {"title": "New"}}, {}), [("news", "Old", "New")]),
        (["extra.toy"], ({"extra": {"toy": [{"name": "a"}]}}, {}), ({}, {}), [("extra.toy", "a", "none")]),
        (["lastmod"], ({"lastmod": "x" * 2 * MAX_TEXT}, {}), ({}, {}),
         [("lastmod", "x" * (MAX_TEXT - 3) + "...", "none")]),
    ],
)  # fmt: skip
def test_old_and_new_values_in_words(names: list[str], before: Any, now: Any, found: list[Any]) -> None:
    assert list(differences(names, before, now)) == found
