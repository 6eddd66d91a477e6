"""Links of llms.txt and of the files that robots.txt names."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sitemapcrawler.replies.link_files import MAX_LINKS, LinkFileKind, links_of_file

BASE = "https://e.com/llms.txt"
LLMS, RSL, MAP = LinkFileKind


def urls_of(text: str, kind: LinkFileKind = LLMS) -> list[str]:
    return [link.url.removeprefix("https://e.com") for link in links_of_file(kind, text, BASE)]


@pytest.mark.parametrize(
    ("text", "urls"),
    [
        ("- [A](/a)\n- [B](b.md): notes", ["/a", "/b.md"]),
        ("[A](</a> 'Title') [B]( /b ) [C](https://e.com/c#top)", ["/a", "/b", "/c"]),
        ("[Wiki](/Lamp_(light)) text (see [x](/x))", ["/Lamp_(light)", "/x"]),
        ("![image](/i.png) [](/empty) [mail](mailto:a@e.com) [none]()", ["/empty"]),
        ("```\n[code](/code)\n```\n[after](/after)\n~~~ md\n[code](/code)", ["/after"]),
        ("[again](/a) [again](/a#part)", ["/a"]),
        ("https://e.com/bare <https://e.com/auto> [ref][1]\n[1]: /one", []),
    ],
)  # fmt: skip
def test_links_in_markdown(text: str, urls: list[str]) -> None:
    assert urls_of(text) == urls


def test_links_in_xml() -> None:
    assert urls_of('<rsl:content server="x" url="/a?b=1&amp;c=2">\n<content url="/b/*"/><content id=1>', RSL) == [
        "/a?b=1&c=2"
    ]
    assert urls_of("<urlset><url><loc> https://e.com/a.json\n</loc></url><s:loc>/b</s:loc>", MAP) == ["/a.json", "/b"]


def test_lines_and_the_limit() -> None:
    found = links_of_file(LLMS, "".join(f"- [x](/{number})\n" for number in range(2 * MAX_LINKS)), BASE)
    assert [link.line for link in found] == list(range(1, MAX_LINKS + 1))
    assert [link.line for link in links_of_file(MAP, "\n\n<loc>/a</loc>\n<loc>/b</loc>", BASE)] == [3, 4]


@given(st.text(st.sampled_from("[](<>)! \n`~ax/\"'=\\#*$&;:.")), st.sampled_from(LinkFileKind))
def test_any_text_is_read(text: str, kind: LinkFileKind) -> None:
    for link in links_of_file(kind, text, BASE):
        assert link.url.startswith(("https://", "http://"))
        assert 1 <= link.line <= text.count("\n") + len(text.splitlines()) + 1


@pytest.mark.parametrize(
    "unit", ["[", "[a](", "[](x", "<content ", "<content url=", "<loc>", "<loc> ", "```\n", "[a](x(", "![a]("]
)
@pytest.mark.parametrize("kind", LinkFileKind)
def test_hostile_text_takes_linear_time(kind: LinkFileKind, unit: str) -> None:
    start = time.process_time()
    links_of_file(kind, unit * (2**19 // len(unit)), BASE)
    assert time.process_time() - start < 3  # seconds; were it quadratic, hours
