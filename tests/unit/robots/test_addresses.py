"""Address ranges of crawlers: which files are read, and which addresses are in them."""

from __future__ import annotations

from pathlib import Path

import pytest

from sitemapcrawler.robots.addresses import crawlers_of, parse_ranges, read_ranges

JSON = '{"creationTime": "2026", "prefixes": [{"ipv4Prefix": "66.249.64.0/19"}, {"ipv6Prefix": "2001:4860:4801::/48"}]}'


@pytest.mark.parametrize(
    ("address", "is_known"),
    [
        ("66.249.66.1", True), ("66.249.66.1:443", True), ("::ffff:66.249.66.1", True), ("203.0.113.9", False),
        ("2001:4860:4801::9", True), ("[2001:4860:4801::9]:443", True), ("2001:db8::1", False), ("host.example", False),
        ("", False), (None, False),
    ],
)  # fmt: skip
def test_an_address_is_in_the_ranges_of_the_crawler(tmp_path: Path, address: str | None, is_known: bool) -> None:
    (tmp_path / "Googlebot.json").write_text(f"\ufeff{JSON}", "utf-8")
    ranges = read_ranges([str(tmp_path / "Googlebot.json")])
    assert ranges.has("googlebot", address) is is_known
    assert ranges.has("bingbot", address) is None


@pytest.mark.parametrize(
    ("file", "names"),
    [
        ("googlebot.txt", ["Googlebot"]), ("GPTBot.json", ["GPTBot"]), ("bingbot.json", ["Bingbot"]),
        ("searchbot.json", ["OAI-SearchBot"]), ("other.json", []),
    ],
)  # fmt: skip
def test_a_file_has_the_name_of_the_crawler_or_of_its_operators_file(file: str, names: list[str]) -> None:
    assert [agent.name for agent in crawlers_of(file)] == names


def test_files_of_an_operator_may_be_of_several_crawlers() -> None:
    assert len(crawlers_of("common-crawlers.json")) > 1


def test_a_text_has_one_range_or_address_per_line() -> None:
    assert list(map(str, parse_ranges("# mine\n192.0.2.0/24\n\n2001:db8::1  # one\n"))) == [
        "192.0.2.0/24",
        "2001:db8::1/128",
    ]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "has no address ranges"), ('{"prefixes": []}', "has no address ranges"), ("{", "is not a JSON object"),
        ('{"prefixes": 1}', "is not a JSON object"), ("nonsense", "has 'nonsense', which is not an address range"),
        ('{"prefixes": [{"ipv4Prefix": 7}]}', "has '7'"),
    ],
)  # fmt: skip
def test_what_is_no_file_of_ranges_is_refused(tmp_path: Path, text: str, said: str) -> None:
    (tmp_path / "googlebot.json").write_text(text)
    with pytest.raises(ValueError, match=f"googlebot.json {said}"):
        read_ranges([str(tmp_path / "googlebot.json")])


def test_a_file_without_the_name_of_a_crawler_is_refused(tmp_path: Path) -> None:
    (tmp_path / "ranges.json").write_text(JSON)
    with pytest.raises(ValueError, match=r"ranges\.json is not named after a crawler"):
        read_ranges([str(tmp_path / "ranges.json")])
