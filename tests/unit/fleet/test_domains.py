"""What a list of domains names, and what is known of each before it is asked."""

from __future__ import annotations

import pickle
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sitemapcrawler.crawl import argument_values as values
from sitemapcrawler.fleet import domains
from sitemapcrawler.fleet.domains import BUCKETS, Domain, DomainList, domain, read_domains

IPV6 = "[2001:db8::1]"


def names(listed: DomainList) -> list[str]:
    return [each.name for each in listed.domains]


def a_list(folder: Path, content: str | bytes) -> str:
    path = folder / "list.txt"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return f"@{path}"


def refusal(*items: str) -> str:
    with pytest.raises(ValueError, match=r"\A[^\n]*\Z") as caught:
        read_domains(items)
    return str(caught.value)


@pytest.mark.parametrize(
    ("text", "name", "host", "site"),
    [
        ("example.com", "example.com", "example.com", "example.com"),
        ("WWW.Example.COM.", "www.example.com", "www.example.com", "example.com"),
        ("https://www.example.com/a/b?c#d", "https://www.example.com", "www.example.com", "example.com"),
        ("http://example.com:80", "http://example.com", "example.com", "example.com"),
        ("example.com:8080", "example.com:8080", "example.com", "example.com"),
        ("example.com:443", "example.com:443", "example.com", "example.com"),
        ("müller.example", "xn--mller-kva.example", "xn--mller-kva.example", "xn--mller-kva.example"),
        ("www.", "www", "www", "www"),
        ("wwwx.example", "wwwx.example", "wwwx.example", "wwwx.example"),
        ("127.0.0.1:81", "127.0.0.1:81", "127.0.0.1", "127.0.0.1"),
        ("[2001:DB8:0::1]:81", f"{IPV6}:81", "2001:db8::1", "2001:db8::1"),
    ],
)
def test_name_host_and_site(text: str, name: str, host: str, site: str) -> None:
    found = domain(text)
    assert (found.name, found.host, found.site) == (name, host, site)
    assert domain(found.name) == found


def test_bucket_and_file_never_change() -> None:
    assert domain("example.com") == Domain(
        "example.com", "example.com", "example.com", 71, "example.com-a379a6f6eeafb9a5"
    )
    assert domain(IPV6).file == "2001-db8--1-ecda91ca4e05f8c7"


@pytest.mark.parametrize(
    ("text", "stem"),
    [
        ("_dmarc.example.com", "dmarc.example.com"),
        ("-a.example", "a.example"),
        ("[::1]", "1"),
        ("_", "host"),
        (f"{'a' * 60}.{'b' * 60}", "a" * 60 + "." + "b" * 39),
    ],
)
def test_file_name_suits_every_file_system(text: str, stem: str) -> None:
    assert domain(text).file.rpartition("-")[0] == stem


@given(st.from_regex(r"[a-z0-9_-]{1,63}(\.[a-z0-9_-]{1,63}){0,3}(:[1-9][0-9]{0,3})?", fullmatch=True))
def test_file_name_is_short_and_never_hidden(text: str) -> None:
    found = domain(text)
    assert found.file[0].isalnum()
    assert set(found.file) <= set("abcdefghijklmnopqrstuvwxyz0123456789.-_")
    assert len(found.file) <= domains.MAX_STEM + 1 + domains.HASH_DIGITS
    assert 0 <= found.bucket < BUCKETS


def test_buckets_are_even() -> None:
    count = 20 * BUCKETS
    buckets = [domain(f"shop-{number}.example").bucket for number in range(count)]
    sizes = [buckets.count(bucket) for bucket in range(BUCKETS)]
    assert min(sizes) > 0
    assert max(sizes) < 3 * count / BUCKETS


def test_every_name_has_files_of_its_own() -> None:
    spellings = ["e.com", "https://e.com", "http://e.com", "e.com:81", "https://e.com:81", "www.e.com"]
    assert len({domain(text).file for text in spellings}) == len(spellings)
    assert {domain(text).site for text in spellings} == {"e.com"}


def test_domain_travels_to_another_process() -> None:
    assert pickle.loads(pickle.dumps(domain("e.com:81"))) == domain("e.com:81")


@pytest.mark.parametrize(
    "text", ["ftp://e.com", "me:secret@e.com", "e.com/sitemap.xml", "a b", "", "e.com:99999", "@x"]
)
def test_refused_as_the_argument_of_a_crawl_is(text: str) -> None:
    with pytest.raises(ValueError) as expected:
        values.start(text)
    with pytest.raises(ValueError) as caught:
        domain(text)
    assert str(caught.value) == str(expected.value)


def test_items_and_files_in_order_each_name_once(tmp_path: Path) -> None:
    item = a_list(tmp_path, "b.example\nA.example\nc.example")
    listed = read_domains(["a.example", item, "https://a.example/", " www.a.example "])
    assert names(listed) == ["a.example", "b.example", "c.example", "https://a.example", "www.a.example"]
    assert listed.repeated == 1


@pytest.mark.parametrize(
    "content",
    [
        "\ufeffa.example\r\n\r\nb.example # the second\r\n",
        "# all of them\n\t a.example \n   # none\nb.example",
        "a.example\n\ufeffb.example\n\n\n",
    ],
)
def test_what_editors_leave_in_a_list_is_no_matter(tmp_path: Path, content: str) -> None:
    assert names(read_domains([a_list(tmp_path, content)])) == ["a.example", "b.example"]


def test_first_bad_line_and_how_many_more(tmp_path: Path) -> None:
    item = a_list(tmp_path, "a.example\n\n# none\nb example\nc.example\nftp://d.example\n")
    told = refusal(item, "e e")
    assert told.endswith("', line 4: 'b example': not a valid host and port (and 2 more items that cannot be used)")


def test_a_list_without_its_at_sign_is_no_host(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("list.txt").write_text("list.txt\n")
    (tmp_path / "example.com").mkdir()
    with pytest.raises(ValueError, match=r"'list.txt': is a file here; accepted: @list.txt for the list in it, https:"):
        read_domains(["list.txt"])
    listed = read_domains(["@list.txt", "https://list.txt", "example.com"])
    assert [domain.name for domain in listed.domains] == ["list.txt", "https://list.txt", "example.com"]


def test_bad_item_of_the_command_line() -> None:
    assert refusal("a.example", "b b") == "'b b': not a valid host and port"
    assert refusal("") == "'': is empty"
    assert refusal("a\x1b[2Jb") == r"'a\x1b[2Jb': has a control character"
    assert len(refusal("a b" * 1000)) < 200


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (b"a.example\nm\xfcller.example\n", "line 2 is not UTF-8 text"),
        ("a.example\n".encode("utf-16"), "line 1 is not UTF-8 text"),
        (b"", "lists nothing"),
        (b"# a.example\n\n", "lists nothing"),
        (b"a.example\n@b.txt\n", "line 2: '@b.txt': contains a user name or password"),
    ],
)
def test_list_that_cannot_be_used(tmp_path: Path, content: bytes, told: str) -> None:
    assert told in refusal(a_list(tmp_path, content))


def test_endless_line_is_one_bad_item(tmp_path: Path) -> None:
    told = refusal(a_list(tmp_path, b"a" * 200_000 + b"\nb b\nc.example"))
    assert "line 1: 'aaaa" in told
    assert len(told) < 400
    assert told.endswith("(and 1 more item that cannot be used)")


def test_list_that_cannot_be_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert refusal(f"@{tmp_path / 'none.txt'}").endswith("', no such file")
    assert refusal(f"@{tmp_path}").endswith("', no such file")
    item = a_list(tmp_path, "a.example")
    monkeypatch.setattr(domains, "MAX_LIST_BYTES", 4)
    assert refusal(item).endswith("larger than 4 bytes")


def test_hosts_are_not_kept_twice() -> None:
    found = domain("shop.example")
    assert found.name is found.host is found.site
