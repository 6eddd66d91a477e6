"""URLs: every reader sees the same host.

Our reading decides on robots.txt and credentials, Twisted's on the connection, and WHATWG's on a person's browser. Two
readers that see two hosts are a vulnerability.
"""

from __future__ import annotations

import ipaddress

import ada_url
from scrapy import Request

from fuzz.inputs import in_time
from sitemapcrawler.download.connections import host_and_port
from sitemapcrawler.urls import (
    Authority,
    as_sent,
    authority,
    host_of,
    local_path,
    origin,
    request_key,
    resolve,
    visit_key,
    without_user,
)
from sitemapcrawler.urls import grammar as uri

DICTIONARY = "urls.dict"
MAX_BYTES = 256
BASE = "https://base.example/folder/file?query"
DEFAULTS = {"http": 80, "https": 443}


def check(data: bytes) -> None:
    """Check the input as a URL in a document."""
    text = data.decode("utf-8", "surrogateescape")
    with in_time():
        url = resolve(BASE, text)
        _never_raises(text)
    if url is None:
        return
    place = authority(url)
    assert place is not None
    assert resolve(BASE, url) == url
    _check_keys(url, place)
    _check_request(url, place)
    _check_browser(url, place)


def _never_raises(text: str) -> None:
    uri.form_of(text), uri.fault_of(text), uri.path_of(text), uri.standing(text, BASE), uri.standing(BASE, text)
    visit_key(text), request_key(text), without_user(text), host_of(text), local_path(text), origin(text)


def _check_keys(url: str, place: Authority) -> None:
    """Check that a key names the same place, is its own key, and has no user name."""
    key = visit_key(url)
    assert authority(key) == place
    assert visit_key(key) == key
    assert origin(url) == origin(key)
    assert authority(without_user(url)) == place
    assert "@" not in without_user(url).split("://", 1)[1].split("/")[0].split("?")[0].split("#")[0]


def _check_request(url: str, place: Authority) -> None:
    """Check that the request goes to the host that we read, without a user name, and has the same key."""
    try:
        sent = Request(as_sent(without_user(url))).url
    except ValueError:
        return
    assert authority(sent) == place, sent
    assert request_key(sent) == request_key(url), sent
    assert _place(*host_and_port(sent)) == place, sent


def _check_browser(url: str, place: Authority) -> None:
    """Check that a browser that accepts the URL goes to the same host, or to an address, which is checked on
    connecting."""
    try:
        read = ada_url.URL(url)
    except ValueError:
        return
    if not read.host.isascii() or not url.isascii() or "xn--" in url.lower():
        return  # IDNA 2003 here, UTS 46 there
    found = _place(read.hostname, int(read.port or DEFAULTS[read.protocol[:-1]]))
    if read.host_type == ada_url.HostType.IPV4:
        assert uri.fault_of(url) or found.host == uri.parse(url).address or found == place
        found = found._replace(host=place.host)
    assert found == place, (found, place)


def _place(host: str, port: int) -> Authority:
    bare = host.lower().strip("[]").removesuffix(".")
    try:
        return Authority(str(ipaddress.ip_address(bare)) if ":" in bare else bare, port)
    except ValueError:
        return Authority(bare, port)
