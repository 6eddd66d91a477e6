"""What may be connected to: names the user gave, networks he allowed, and addresses in every spelling."""

from __future__ import annotations

from typing import Any

import pytest
from scrapy import Spider
from scrapy.utils.test import get_crawler

from sitemapcrawler.download.refusals import AddressCheck, AddressRefused, spelt


def check(**settings: Any) -> AddressCheck:
    crawler = get_crawler(settings_dict=settings)
    crawler.spider = Spider("a")
    crawler.spider.named_authorities = {("a.test", 80)}
    return AddressCheck(crawler)


@pytest.mark.parametrize(
    ("host", "address"),
    [
        ("127.0.0.1", "127.0.0.1"),
        ("[::1]", "[::1]"),
        ("::ffff:127.0.0.1", "::ffff:127.0.0.1"),
        ("127.1", "127.0.0.1"),
        ("0x7f.1", "127.0.0.1"),
        ("0177.0.0.1", "127.0.0.1"),
        ("2130706433", "127.0.0.1"),
        ("0", "0.0.0.0"),
        ("a.test", None),
        ("0x7g.1", None),
        ("256.1.1.1", None),
        ("4294967296", None),
        ("127.0.0.1.", "127.0.0.1"),
        ("0x7f.1.", "127.0.0.1"),
        ("127.0.0.1..", None),
        ("1.2.3.4.5", None),
        ("::g", None),
        ("a\0b", None),
        ("\u0661", None),
        ("", None),
    ],
)
def test_address_that_a_host_spells(host: str, address: str | None) -> None:
    assert spelt(host) == address


@pytest.mark.parametrize("host", ["10.0.0.1", "10.1", "0xa000001", "[fd00::1]", "::ffff:10.0.0.1", "169.254.169.254"])
def test_literal_that_is_not_public_is_refused(host: str) -> None:
    with pytest.raises(AddressRefused, match="not public"):
        check().literal(host, 80)


@pytest.mark.parametrize("host", ["93.184.216.34", "93.12114978", "2606:2800:220:1::1", "a.test", "intranet"])
def test_public_literal_and_any_name_pass(host: str) -> None:
    check().literal(host, 80)


def test_named_authority_is_reached_on_its_port_only() -> None:
    check()("A.test.", 80, "10.0.0.1")
    with pytest.raises(AddressRefused, match=r"^a\.test:81 is at 10\.0\.0\.1"):
        check()("a.test", 81, "10.0.0.1")


def test_allowed_network_is_reached_in_another_spelling() -> None:
    check(SITEMAP_ALLOW_NETWORKS="10.0.0.0/8").literal("10.1", 80)
    with pytest.raises(AddressRefused):
        check(SITEMAP_ALLOW_NETWORKS="10.0.0.0/8").literal("127.1", 80)


@pytest.mark.parametrize("address", ["169.254.169.254", "0.0.0.0", "fe80::1", "224.0.0.1", "fd00:ec2::254"])
def test_name_of_a_site_is_at_no_metadata_service(address: str) -> None:
    with pytest.raises(AddressRefused, match="allow its network"):
        check()("a.test", 80, address)


def test_named_name_that_was_public_does_not_come_home() -> None:
    checked = check()
    checked("a.test", 80, "93.184.216.34")
    with pytest.raises(AddressRefused, match=r"10\.0\.0\.1"):
        checked("a.test", 80, "10.0.0.1")


@pytest.mark.parametrize(
    "host",
    ["localhost", "LOCALHOST.", "db.internal", "metadata.google.internal", "metadata", "router.local", "%31%32%37.0.0.1",
     "127.0.0.1.", "0x7f.1.", "\uff11\uff12\uff17.0.0.1"],
)  # fmt: skip
def test_proxy_is_not_sent_home(host: str) -> None:
    with pytest.raises(AddressRefused, match="not public"):
        check().behind_proxy(host, 80)


def test_proxy_resolves_other_names_and_what_is_named() -> None:
    checked = check()
    checked.behind_proxy("example.com", 80)
    checked.behind_proxy("local.example.com", 80)
    checked._crawler.spider.named_authorities = {("localhost", 80)}  # type: ignore[union-attr]  # it has a spider
    checked.behind_proxy("localhost", 80)


def test_refusal_is_counted() -> None:
    checked = check()
    for address in ("10.0.0.1", "10.0.0.2"):
        with pytest.raises(AddressRefused):
            checked("b.test", 80, address)
    assert checked._crawler.stats.get_value("sitemap/addresses_refused") == 2  # type: ignore[union-attr]  # it has stats


def test_bad_network_is_told() -> None:
    with pytest.raises(ValueError, match="'everything' is no network"):
        check(SITEMAP_ALLOW_NETWORKS="everything")


@pytest.mark.parametrize("host", ["a.test", "b.test"], ids=["named", "unnamed"])
@pytest.mark.parametrize("order", [1, -1])
@pytest.mark.parametrize("public", ["93.184.216.34", "2606:2800:220:1::1"])
@pytest.mark.parametrize(
    "private", ["10.0.0.1", "::1", "fe80::1%lo", "::ffff:10.0.0.1", "64:ff9b::a00:1", "2002:a00:1::1"]
)
def test_name_with_public_and_private_addresses_is_refused(host: str, order: int, public: str, private: str) -> None:
    checked = check()
    if host == "a.test" and private == "10.0.0.1":
        assert checked.usable(host, 80, [private]) == [private]
    with pytest.raises(AddressRefused, match=f"is at {private}, which is not public .*: allow its network"):
        checked.usable(host, 80, [public, private][::order])


def test_name_with_public_and_private_addresses_may_be_allowed() -> None:
    addresses = ["10.0.0.1", "93.184.216.34"]
    assert check(SITEMAP_ALLOW_NETWORKS="10.0.0.0/8").usable("b.test", 80, addresses) == addresses


def test_of_private_addresses_only_the_allowed_ones_are_used() -> None:
    addresses = ["10.0.0.1", "fd00::1", "::1"]
    assert check(SITEMAP_ALLOW_NETWORKS="fd00::/8").usable("b.test", 80, addresses) == ["fd00::1"]
    with pytest.raises(AddressRefused, match=r"name b\.test:80 in the arguments"):
        check().usable("b.test", 80, addresses)


def test_name_without_addresses_is_not_refused() -> None:
    assert check().usable("b.test", 80, []) == []
