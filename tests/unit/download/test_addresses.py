"""Which addresses are public, and what the user's arguments and settings add to them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from scrapy import Spider
from scrapy.utils.test import get_crawler

from sitemapcrawler.download.addresses import (
    AddressCheck,
    AddressForbidden,
    AddressGuard,
    authority,
    is_public,
    parse_address,
    spelt,
    why_refused,
)
from sitemapcrawler.download.shared import Named
from sitemapcrawler.urls import Authority

PUBLIC = (
    "1.1.1.1", "9.255.255.255", "11.0.0.0", "93.184.216.34", "100.63.255.255", "100.128.0.0", "126.255.255.255", "128.0.0.0",
    "169.253.255.255", "169.255.0.0", "172.15.255.255", "172.32.0.0", "192.167.255.255", "192.169.0.0", "198.17.255.255",
    "198.20.0.0", "223.255.255.255", "2606:4700:4700::1111", "2001:200::1", "2001:4860:4860::8888", "2a00:1450:4001:81b::200e",
)  # fmt: skip

REFUSED = {
    "unspecified": ("0.0.0.0", "0.1.2.3", "::"),
    "private": ("10.0.0.1", "10.255.255.255", "172.16.0.1", "172.31.255.255", "192.168.1.1"),
    "shared (carrier-grade NAT)": ("100.64.0.1", "100.127.255.255"),
    "loopback": ("127.0.0.1", "127.255.255.254", "::1"),
    "link-local": ("169.254.169.254", "fe80::1", "fe80::1%eth0"),
    "benchmarking": ("198.18.0.1", "198.19.255.255"),
    "documentation": ("192.0.2.1", "198.51.100.1", "203.0.113.1", "2001:db8::1", "3fff::1"),
    "multicast": ("224.0.0.1", "239.255.255.250", "ff02::1"),
    "unique-local": ("fc00::1", "fd00:ec2::253"),
    "metadata": ("fd00:ec2::254", "100.100.100.200", "168.63.129.16", "192.0.0.192", "::ffff:168.63.129.16"),
    "site-local": ("fec0::1",),
    "reserved": ("192.0.0.8", "192.88.99.1", "240.0.0.1", "255.255.255.255", "100::1", "2001:2::1", "2001:10::1", "4000::1",
                 "5f00::1", "64:ff9b:1::a00:1"),
}  # fmt: skip
"""{kind: addresses of it}"""

EMBEDDING = [
    "::ffff:{v4}",
    "::{v4}",
    "64:ff9b::{v4}",
    "2002:{hex}::1",
    "2001:0:{hex}:0:ffff:f7f7:f7f7",  # Teredo: the server; the client, inverted, is 8.8.8.8
    "2001:0:808:808:0:ffff:{inverted}",  # Teredo: the client; the server is 8.8.8.8
]


def embed(form: str, v4: str) -> str:
    """An IPv6 address of this form with this IPv4 address inside."""
    number = int.from_bytes(int(part) for part in v4.split("."))
    inverted = number ^ 0xFFFFFFFF
    return form.format(
        v4=v4,
        hex=f"{number >> 16:x}:{number & 0xFFFF:x}",
        inverted=f"{inverted >> 16:x}:{inverted & 0xFFFF:x}",
    )


@pytest.mark.parametrize("ip", PUBLIC)
def test_public_address(ip: str) -> None:
    assert is_public(ip)
    assert why_refused(ip) is None


@pytest.mark.parametrize(("ip", "kind"), [(ip, kind) for kind, found in REFUSED.items() for ip in found])
def test_refused_address_says_its_kind(ip: str, kind: str) -> None:
    assert not is_public(ip)
    assert why_refused(ip) == kind


@pytest.mark.parametrize("text", ["", "example.com", "127.1", "0x7f.1", "2130706433", "127.0.0.01", "1.1.1.1:80"])
def test_what_is_no_full_address_is_refused(text: str) -> None:
    assert parse_address(text) is None
    assert why_refused(text) == "unreadable"


@pytest.mark.parametrize("form", EMBEDDING)
def test_embedded_address_decides(form: str) -> None:
    assert is_public(embed(form, "93.184.216.34"))
    assert why_refused(embed(form, "127.0.0.1")) == "loopback"
    assert why_refused(embed(form, "169.254.169.254")) == "link-local"
    assert why_refused(embed(form, "10.0.0.1")) == "private"


@pytest.mark.parametrize(
    ("host", "name"),
    [
        *((host, "example.com") for host in ("Example.COM", "example.com.", "EXAMPLE.com.", "example.com")),
        *((host, "::1") for host in ("[::1]", "::1", "[0:0:0:0:0:0:0:1]", "0::1")),
    ],
)
def test_spellings_of_a_host_are_one_authority(host: str, name: str) -> None:
    assert authority(host, 443) == (name, 443)


PRIVATE = ("10.0.0.0/8", " fd00::/8 ")
LOOPBACK = ("127.0.0.0/8",)
TEREDO = embed("2001:0:a00:1:0:ffff:{inverted}", "127.0.0.1")
"""From a private server to a loopback client."""


@pytest.mark.parametrize(
    ("named", "networks", "host", "port", "address", "allowed"),
    [
        pytest.param(None, (), "stranger.example", 80, "93.184.216.34", True, id="public"),
        pytest.param("Intranet.Example.", (), "intranet.example", 8080, "10.0.0.1", True, id="named"),
        pytest.param("Intranet.Example.", (), "INTRANET.example", 8080, "127.0.0.1", True, id="named in capitals"),
        pytest.param("127.0.0.1", (), "127.0.0.1", 8081, "127.0.0.1", False, id="another port"),
        pytest.param("127.0.0.1", (), "localhost", 8080, "127.0.0.1", False, id="another name"),
        pytest.param("127.0.0.1", (), "2130706433", 8080, "127.0.0.1", False, id="another spelling"),
        pytest.param(None, PRIVATE, "a.example", 80, "10.1.2.3", True, id="network"),
        pytest.param(None, PRIVATE, "a.example", 80, "fd00::1", True, id="network of IPv6"),
        pytest.param(None, PRIVATE, "a.example", 80, "192.168.0.1", False, id="another network"),
        pytest.param(None, PRIVATE, "a.example", 80, "fc00::1", False, id="another network of IPv6"),
        pytest.param(None, LOOPBACK, "a.example", 80, "::ffff:127.0.0.1", True, id="embedded"),
        pytest.param(None, LOOPBACK, "a.example", 80, "::ffff:10.0.0.1", False, id="another embedded"),
        pytest.param(None, LOOPBACK, "a.example", 80, "::1", False, id="loopback of IPv6"),
        pytest.param(None, LOOPBACK, "a.example", 80, TEREDO, False, id="one address of Teredo"),
        pytest.param(None, (*LOOPBACK, "10.0.0.0/8"), "a.example", 80, TEREDO, True, id="both addresses of Teredo"),
        pytest.param(None, ("0.0.0.0/0", "::/0"), "a.example", 80, "127.1", False, id="no address"),
    ],
)
def test_guard(named: str | None, networks: Sequence[str], host: str, port: int, address: str, allowed: bool) -> None:
    guard = AddressGuard([authority(named, 8080)] if named else (), networks)
    assert guard.allows(host, port, address) is allowed


@pytest.mark.parametrize("network", ["10.0.0.1/8", "intranet", "", "10.0.0.0/33", "::1/129"])
def test_bad_network_is_named(network: str) -> None:
    with pytest.raises(ValueError, match="SITEMAP_ALLOW_NETWORKS") as raised:
        AddressGuard(networks=["10.0.0.0/8", network])
    assert repr(network) in str(raised.value)


def check(**settings: Any) -> AddressCheck:
    crawler = get_crawler(settings_dict=settings)
    crawler.spider = Spider("a")
    Named.of(crawler).authorities.add(Authority("a.test", 80))
    return AddressCheck(crawler)


@pytest.mark.parametrize(
    ("host", "address"),
    [
        *((host, host) for host in ("127.0.0.1", "[::1]", "::ffff:127.0.0.1")),
        *((host, "127.0.0.1") for host in ("127.1", "0x7f.1", "0177.0.0.1", "2130706433", "127.0.0.1.", "0x7f.1.")),
        ("0", "0.0.0.0"),
        *((host, None) for host in ("a.test", "0x7g.1", "256.1.1.1", "4294967296", "127.0.0.1..", "1.2.3.4.5", "::g", "a\0b",
                                    "\u0661", "")),
    ],
)  # fmt: skip
def test_address_that_a_host_spells(host: str, address: str | None) -> None:
    assert spelt(host) == address


@pytest.mark.parametrize("host", ["10.0.0.1", "10.1", "0xa000001", "[fd00::1]", "::ffff:10.0.0.1", "169.254.169.254"])
def test_literal_that_is_not_public_is_refused(host: str) -> None:
    with pytest.raises(AddressForbidden, match="not public"):
        check().literal(host, 80)


@pytest.mark.parametrize("host", ["93.184.216.34", "93.12114978", "2606:2800:220:1::1", "a.test", "intranet"])
def test_public_literal_and_any_name_pass(host: str) -> None:
    check().literal(host, 80)


def test_named_authority_is_reached_on_its_port_only() -> None:
    check()("A.test.", 80, "10.0.0.1")
    with pytest.raises(AddressForbidden, match=r"^a\.test:81 is at 10\.0\.0\.1"):
        check()("a.test", 81, "10.0.0.1")


def test_allowed_network_is_reached_in_another_spelling() -> None:
    check(SITEMAP_ALLOW_NETWORKS="10.0.0.0/8").literal("10.1", 80)
    with pytest.raises(AddressForbidden):
        check(SITEMAP_ALLOW_NETWORKS="10.0.0.0/8").literal("127.1", 80)


@pytest.mark.parametrize("address", ["169.254.169.254", "0.0.0.0", "fe80::1", "224.0.0.1", "fd00:ec2::254"])
def test_name_of_a_site_is_at_no_metadata_service(address: str) -> None:
    with pytest.raises(AddressForbidden, match="allow its network"):
        check()("a.test", 80, address)


def test_named_name_that_was_public_does_not_come_home() -> None:
    checked = check()
    checked("a.test", 80, "93.184.216.34")
    with pytest.raises(AddressForbidden, match=r"10\.0\.0\.1"):
        checked("a.test", 80, "10.0.0.1")


@pytest.mark.parametrize(
    "host",
    ["localhost", "LOCALHOST.", "db.internal", "metadata.google.internal", "metadata", "router.local", "%31%32%37.0.0.1",
     "127.0.0.1.", "0x7f.1.", "\uff11\uff12\uff17.0.0.1"],
)  # fmt: skip
def test_proxy_is_not_sent_home(host: str) -> None:
    with pytest.raises(AddressForbidden, match="not public"):
        check().behind_proxy(host, 80)


def test_proxy_resolves_other_names_and_what_is_named() -> None:
    checked = check()
    checked.behind_proxy("example.com", 80)
    checked.behind_proxy("local.example.com", 80)
    Named.of(checked._crawler).authorities.add(Authority("localhost", 80))
    checked.behind_proxy("localhost", 80)


def test_refusal_is_counted() -> None:
    checked = check()
    for address in ("10.0.0.1", "10.0.0.2"):
        with pytest.raises(AddressForbidden):
            checked("b.test", 80, address)
    assert checked._crawler.stats.get_value("sitemap/addresses_refused") == 2  # type: ignore[union-attr]  # it has stats


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
    with pytest.raises(AddressForbidden, match=f"is at {private}, which is not public .*: allow its network"):
        checked.usable(host, 80, [public, private][::order])


@pytest.mark.parametrize(
    ("networks", "addresses", "used"),
    [
        ("10.0.0.0/8", ["10.0.0.1", "93.184.216.34"], ["10.0.0.1", "93.184.216.34"]),
        ("fd00::/8", ["10.0.0.1", "fd00::1", "::1"], ["fd00::1"]),
        ("", [], []),
    ],
    ids=["all", "the allowed one", "none"],
)
def test_addresses_that_are_used(networks: str, addresses: list[str], used: list[str]) -> None:
    assert check(SITEMAP_ALLOW_NETWORKS=networks).usable("b.test", 80, addresses) == used


def test_name_with_private_addresses_alone_is_refused() -> None:
    with pytest.raises(AddressForbidden, match=r"name b\.test:80 in the arguments"):
        check().usable("b.test", 80, ["10.0.0.1", "fd00::1", "::1"])
