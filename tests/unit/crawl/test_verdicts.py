"""Verdicts on images and video files: what is kept of the hosts that sitemaps name."""

from __future__ import annotations

from unittest.mock import Mock

import pytest

from sitemapcrawler import urls
from sitemapcrawler.crawl.verdicts import ASSET_AGENTS, Verdicts
from sitemapcrawler.items import Image, UrlRecord
from sitemapcrawler.reader.notes import Notes
from sitemapcrawler.robots import Policy

HOSTS = 50
RECORDS = [UrlRecord(loc=f"https://e.com/{one}", images=[Image(loc=f"https://i{one}.com/a")]) for one in range(HOSTS)]


def verdicts(policies: dict[str, Policy]) -> Verdicts:
    """Verdicts that know these policies, by origin, and find whatever is denied."""
    found: list[object] = []
    rules = Mock(judges=lambda names: True, assets=lambda facts, file, notes: found.extend(facts), found=found)
    policies_at = Mock(at=lambda url: policies.get(urls.origin(url) or ""))
    return Verdicts(policies_at, [], ASSET_AGENTS["image"], rules)


def test_nothing_is_kept_of_hosts_whose_robots_txt_is_not_known() -> None:
    judged = verdicts({})
    judged.judge_assets(RECORDS, Mock(), Notes(), count_skipped=True)
    assert not judged._rules.found  # type: ignore[attr-defined]  # of the mock
    assert not judged._asset_judges


@pytest.mark.parametrize("count_skipped", [True, False])
def test_host_that_becomes_known_is_judged_unless_its_files_are_requested(count_skipped: bool) -> None:
    policies: dict[str, Policy] = {}
    judged = verdicts(policies)
    judged.judge_assets(RECORDS, Mock(), Notes(), count_skipped)
    robots = "https://i0.com/robots.txt"
    policies["https://i0.com"] = Policy.from_response(robots, 200, b"User-agent: *\nDisallow: /")
    judged.judge_assets(RECORDS, Mock(), Notes(), count_skipped)
    assert bool(judged._rules.found) is count_skipped  # type: ignore[attr-defined]  # of the mock
    assert judged.asset_denied_to("https://i0.com/a", "image") == ([] if count_skipped else ["Googlebot-Image"])


def test_file_that_was_requested_is_denied_to_the_crawler_of_its_kind() -> None:
    robots = b"User-agent: *\nDisallow: /ours\nUser-agent: Googlebot-Image\nDisallow: /image"
    judged = verdicts({"https://i0.com": Policy.from_response("https://i0.com/robots.txt", 200, robots)})
    roles = {"image": ["Googlebot-Image"], "content_loc": []}
    assert {role: judged.asset_denied_to("https://i0.com/image", role) for role in roles} == roles
    assert judged.asset_denied_to("https://i0.com/ours", "image") == []
    assert judged.asset_denied_to("https://i1.com/image", "image") is None
