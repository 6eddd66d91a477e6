"""Made-up URLs: which ones a site is asked, and what pages are compared with."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

import pytest

from sitemapcrawler import urls
from sitemapcrawler.replies.chase import Step
from sitemapcrawler.replies.page import read_page
from sitemapcrawler.verification import witnesses
from sitemapcrawler.verification.witnesses import MAX_DEPTH, MAX_FOLDERS, Witnesses, folders_of

HOST = "https://e.com"
WORDS = " ".join(f"word{letter}{other}" for letter in "abcdefgh" for other in "abcdefgh")
SHELL = "<title>App</title><body><p>Loading</p><script src=/app.js></script>"
MENU = f"<title>App</title><body><nav>{WORDS}</nav><div id=view></div><script src=/app.js></script>"
MOUNT = f"<title>App</title><body><p>{WORDS}</p><div id=root></div><script src=/app.js></script>"
LOST = f"<title>Shop</title><body><p>Not here</p><footer>{WORDS}</footer>"


def real(path: str) -> str:
    return f"<title>{path}</title><body><h1>{path}</h1><p>{WORDS}</p>"


def thin(path: str) -> str:
    return f"<title>{path}</title><body><p>Red shoes {path}</p>"


def checked(
    listed: list[str], answer: Callable[[str], str | None], at_once: int = 1000
) -> tuple[dict[str, bool], list[str]]:
    """Whether each listed path is a shell, and the paths that were made up. `answer`: the page of a path; None if the
    site answers 404. `at_once`: number of paths in a batch."""
    asked: list[str] = []

    async def send(url: str, method: str) -> Step:
        asked.append(url.removeprefix(HOST))
        html = answer(asked[-1])
        if html is None:
            return Step(404)
        return Step(200, page=read_page(html.encode(), {"content-type": ["text/html"]}, url))

    async def check() -> dict[str, bool]:
        known = Witnesses(send, lambda url, step: None, "seed")
        found: list[bool] = []
        for first in range(0, len(listed), at_once):
            batch = listed[first : first + at_once]
            known.expect([HOST + path for path in batch])
            found += await asyncio.gather(*(one(known, path) for path in batch))
        return dict(zip(listed, found, strict=True))

    async def one(known: Witnesses, path: str) -> bool:
        await known.obtain(HOST + path)
        step = await send(HOST + path, "GET")
        await known.obtain_of_folder(HOST + path, step)
        return known.judge(HOST + path, step).shell

    return asyncio.run(check()), [path for path in asked if path not in listed]


APPLICATIONS = {
    "pages in one folder": [f"/app/{number}" for number in range(5)],
    "its start page, too": ["/app/", "/app/1", "/app/2"],
    "folders of one page each": [f"/app/{number}/details" for number in range(5)],
    "below a language": [f"/en/app/{number}/" for number in range(5)],
}


@pytest.mark.parametrize("frame", [SHELL, MENU, MOUNT])
@pytest.mark.parametrize("shells", APPLICATIONS.values(), ids=APPLICATIONS)
def test_application_below_a_folder_of_a_site_that_answers_404(shells: list[str], frame: str) -> None:
    others = ["/", "/real", "/en/real", "/en/more"]

    def answer(path: str) -> str | None:
        return frame if "/app/" in path else real(path) if path in others else None

    found, made_up = checked([*shells, *others], answer)
    assert {path for path, shell in found.items() if shell} == set(shells)
    assert len([path for path in made_up if "/app/" in path]) == 1


def test_folder_of_which_each_batch_has_one_page() -> None:
    found, made_up = checked(["/app/1", "/a", "/app/2", "/b"], lambda path: MENU if "/app/" in path else None, 2)
    assert found == {"/app/1": False, "/a": False, "/app/2": True, "/b": False}, "the second page shows the folder"
    assert [path.rpartition("/")[0] for path in made_up] == ["", "/app"]


def test_url_that_comes_again_shares_no_folder() -> None:
    _, made_up = checked(["/app/1", "/app/1"], lambda path: MENU if "/app/" in path else None, 1)
    assert [path.rpartition("/")[0] for path in made_up] == [""]


def test_folders_are_forgotten_when_there_are_many(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(witnesses, "MAX_KNOWN_FOLDERS", 2)
    listed = ["/app/1", *(f"/{number}/" for number in range(3)), "/app/2", "/app/3"]
    found, _ = checked(listed, lambda path: MENU if "/app/" in path else None, 1)
    assert [path for path, shell in found.items() if shell] == ["/app/3"], "the first page was forgotten"


def test_two_applications_of_a_site() -> None:
    shells = [f"/{app}/{number}" for app in ("app", "shop") for number in range(3)]

    def answer(path: str) -> str | None:
        return MENU if path.startswith("/app/") else SHELL if path.startswith("/shop/") else None

    found, made_up = checked(shells, answer)
    assert all(found.values())
    assert sorted(path.rpartition("/")[0] for path in made_up) == ["", "/app", "/shop"]


def test_page_with_content_of_its_own_among_shells() -> None:
    found, _ = checked(["/app/1", "/app/2", "/app/help"], lambda path: thin(path) if "help" in path else SHELL)
    assert found == {"/app/1": True, "/app/2": True, "/app/help": False}


def test_site_whose_root_gives_the_shell_is_asked_once() -> None:
    found, made_up = checked([f"/app/{number}" for number in range(5)], lambda path: SHELL)
    assert all(found.values())
    assert [path.rpartition("/")[0] for path in made_up] == ["", ""], "a made-up URL and the home page"


def test_equal_pages_of_a_folder_that_answers_404_are_pages() -> None:
    listed = [f"/shop/{number}" for number in range(3)]
    found, made_up = checked(listed, lambda path: SHELL if path in listed else None)
    assert not any(found.values())
    assert len(made_up) == 2


def test_page_for_what_is_missing_in_a_folder_is_no_shell_of_others() -> None:
    listed = [f"/shop/{number}" for number in range(3)]
    found, _ = checked(listed, lambda path: thin(path) if path in listed else LOST if "/shop/" in path else None)
    assert not any(found.values())


def test_pages_with_content_cost_no_made_up_url_in_their_folder() -> None:
    listed = [f"/blog/{number}" for number in range(30)] + [f"/{number}/" for number in range(30)]
    _, made_up = checked(listed, lambda path: (thin if path.endswith("/") else real)(path) if path in listed else None)
    assert len(made_up) == 1


def test_few_folders_get_a_made_up_url() -> None:
    listed = [f"/{folder}/{number}" for folder in range(MAX_FOLDERS + 5) for number in range(2)]
    found, made_up = checked(listed, lambda path: thin(path) if path in listed else None)
    assert not any(found.values())
    assert len(made_up) == 1 + MAX_FOLDERS


@pytest.mark.parametrize(
    ("url", "folders"),
    [
        ("/", []), ("/a", []), ("/a/", ["/a/"]), ("/a/b/c?d=/e/f", ["/a/", "/a/b/"]), ("/a//b", ["/a/", "/a//"]),
        ("/a/%7Eb/#/c/d", ["/a/", "/a/~b/"]),
    ],
)  # fmt: skip
def test_folders_of_a_url(url: str, folders: list[str]) -> None:
    assert [folder.removeprefix(HOST) for folder in folders_of(HOST + url)] == folders
    assert all(urls.origin(folder) == HOST for folder in folders_of(HOST + url))


@pytest.mark.parametrize("depth", [MAX_DEPTH, MAX_DEPTH + 1, 100_000])
def test_folders_of_a_url_are_few_however_deep_it_is(depth: int) -> None:
    found = folders_of(f"{HOST}/{'a/' * depth}page")
    assert found == [f"{HOST}/{'a/' * number}" for number in range(1, MAX_DEPTH + 1)]


def test_folders_of_what_is_no_web_url() -> None:
    assert folders_of("file:///a/b/c") == folders_of("mailto:a@b.c") == folders_of("/a/b/c") == []
