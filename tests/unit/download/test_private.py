"""The private names of Scrapy and Twisted: they exist, no other module uses any, and what replaces theirs works."""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Iterator
from functools import cache
from importlib import import_module
from pathlib import Path
from textwrap import dedent
from typing import Any

import pytest
from scrapy.commands import BaseRunSpiderCommand
from scrapy.core.downloader.handlers import http11
from scrapy.core.engine import ExecutionEngine
from scrapy.downloadermiddlewares import cookies
from twisted.internet.defer import Deferred
from twisted.internet.testing import StringTransport
from twisted.python.failure import Failure
from twisted.web import _newclient, client
from twisted.web._newclient import Request as TwistedRequest
from twisted.web.http_headers import Headers

import sitemapcrawler
from sitemapcrawler.download import private
from sitemapcrawler.download.private import MAX_HEAD, HeadTooLong, LimitedProtocol
from sitemapcrawler.replies.kinds import cause_of

OK, END = b"HTTP/1.1 200 OK\r\n", b"\r\n"
INTERIM = b"HTTP/1.1 103 Early Hints\r\nLink: " + b"x" * 100_000 + 2 * END
CHUNK = 60_000
"""Bytes that arrive at once."""


class Exchanged:
    """A request on a connection to a server, and the answer to it."""

    def __init__(self, *sent: bytes) -> None:
        self.transport = StringTransport()
        self._protocol = LimitedProtocol(lambda _: None)
        self._protocol.makeConnection(self.transport)
        for data in sent:
            self.answer: Deferred[Any] = self._request()
            for at in range(0, len(data), CHUNK):
                self._protocol.dataReceived(data[at : at + CHUNK])

    def _request(self) -> Deferred[Any]:
        wanted = TwistedRequest(b"GET", b"/", Headers({b"Host": [b"example.com"]}), None, persistent=True)
        answer: Deferred[Any] = self._protocol.request(wanted)
        return answer

    @property
    def failure(self) -> BaseException:
        """Why there is no answer, which ends the connection."""
        failed: list[Failure] = []
        self.answer.addErrback(failed.append)
        assert self.transport.disconnected
        return cause_of(failed[0].value)

    @property
    def response(self) -> Any:
        answers: list[Any] = []
        self.answer.addCallback(answers.append)
        assert not self.transport.disconnected
        return answers[0]


def head(length: int, *lines: bytes) -> bytes:
    """The head of an answer without content, so many bytes long, with one long header."""
    around = b"".join([OK, *(line + END for line in lines), b"Content-Length: 0\r\nX: ", 2 * END])
    return around[: -2 * len(END)] + b"x" * (length - len(around)) + 2 * END


@pytest.mark.parametrize("name", ["Set-Cookie", "Link"])
def test_long_header_is_read(name: str) -> None:
    value = b"x" * 200_000
    response = Exchanged(OK + b"%b: %b\r\nContent-Length: 0\r\n\r\n" % (name.encode(), value)).response
    assert response.headers.getRawHeaders(name) == [value.decode()]


@pytest.mark.parametrize(
    "line",
    [
        b"nonsense",
        b"nonsense" + END + b" and its continuation",
        b" folded",
        b": nameless",
        b"X Y: blank in the name",
        b"\xff: x",
        b"{}",
    ],
)
def test_line_that_is_no_header_is_skipped(line: bytes) -> None:
    response = Exchanged(
        OK + line + END + b"ETag: x" + END + line.strip() + END + b"Content-Length: 0\r\n\r\n"
    ).response
    assert [*response.headers.getAllRawHeaders()] == [(b"ETag", [b"x"])]


@pytest.mark.parametrize("written", [b"Link: <a>;\r\n rel=canonical", b"Link \t: <a>; rel=canonical"])
def test_header_in_an_old_form_is_read(written: bytes) -> None:
    response = Exchanged(OK + written + END + b"Content-Length: 0\r\n\r\n").response
    assert response.headers.getRawHeaders("Link") == ["<a>; rel=canonical"]


@pytest.mark.parametrize(
    "answers",
    [
        pytest.param([head(MAX_HEAD)], id="line"),
        pytest.param([head(MAX_HEAD, *[b"A: b"] * 30_000)], id="lines"),
        pytest.param([head(MAX_HEAD).replace(END, b"\n")], id="line-feeds"),
        pytest.param([OK + b"Content-Length: 900000\r\n\r\n" + b"x" * 900_000, head(MAX_HEAD)], id="behind-a-body"),
        pytest.param([head(MAX_HEAD)] * 3, id="each-of-several"),
        pytest.param([INTERIM + head(MAX_HEAD - len(INTERIM))], id="interim"),
    ],
)
def test_head_of_the_limit_is_read(answers: list[bytes]) -> None:
    assert Exchanged(*answers).response.code == 200


@pytest.mark.parametrize(
    "sent",
    [
        pytest.param(head(MAX_HEAD + 2), id="line"),
        pytest.param(head(MAX_HEAD + 2, *[b"A: b"] * 30_000), id="lines"),
        pytest.param(OK + b"A: b\r\n" * MAX_HEAD, id="endless-lines"),
        pytest.param(OK + b"A: " + b"x" * (MAX_HEAD + CHUNK), id="endless-line"),
        pytest.param(b"HTTP/1.1 200 " + b"x" * (MAX_HEAD + CHUNK), id="endless-status"),
        pytest.param(3 * INTERIM, id="interim"),
    ],
)
def test_longer_head_ends_the_connection_and_says_so(sent: bytes) -> None:
    failure = Exchanged(sent).failure
    assert isinstance(failure, HeadTooLong)
    assert str(failure) == "more than 262,144 bytes of response headers"


# ---- which private names are used, and where

NAMES: dict[Any, tuple[str, ...]] = {
    http11: ("_LenientHTTP11ClientFactory", "_LenientHTTP11ClientProtocol", "_ResponseReader"),
    http11.HTTP11DownloadHandler: ("_contextFactory", "_pool"),
    http11._ResponseReader: ("_bodybuf",),
    cookies: ("_split_domain",),
    BaseRunSpiderCommand: ("_create_crawler",),
    ExecutionEngine: ("_slot",),
    client.HTTPConnectionPool: ("_factory",),
    client._HTTP11ClientFactory: ("_quiescentCallback",),
    _newclient: (),
    _newclient.HTTP11ClientProtocol: ("_parser",),
    _newclient.HTTPClientParser: ("_partialHeader",),
}
"""{what has them: the private names of Scrapy and Twisted in `private.py`}"""
THEIRS = ("scrapy", "twisted")
PRIVATE = re.compile(r"_[A-Za-z]\w*")
OURS = "download/private.py"
OTHERS = frozenset(("_exit", "_max_help_position", "_replace", "_write_item"))
"""Names of other libraries: os, argparse, named tuples and sh_scrapy."""


@pytest.mark.parametrize(("owner", "name"), [(owner, name) for owner, names in NAMES.items() for name in names])
def test_private_name_exists_in_the_installed_version(owner: Any, name: str) -> None:
    sources = [inspect.getsource(each) for each in getattr(owner, "__mro__", [owner]) if each is not object]
    assert hasattr(owner, name) or any(f"self.{name}" in source for source in sources)


def test_list_of_private_names_is_complete() -> None:
    listed = {name for names in NAMES.values() for name in names} | {"_newclient"}
    tree = ast.parse(inspect.getsource(private))
    assert {name for name in (*imported(tree), *attributes(tree)) if PRIVATE.fullmatch(name)} == listed


def imported(tree: ast.AST) -> Iterator[str]:
    """Names, and parts of names of modules, that are imported from Scrapy and Twisted."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and (node.module or "").partition(".")[0] in THEIRS:
            yield from (node.module or "").split(".")
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.Import):
            yield from (part for alias in node.names for part in alias.name.split(".") if alias.name.startswith(THEIRS))


def attributes(tree: ast.AST) -> Iterator[str]:
    return (node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute))


def defined(tree: ast.AST) -> Iterator[str]:
    """Names of functions, classes and attributes that a module defines."""
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield node.name
        elif isinstance(node, ast.Name | ast.Attribute) and isinstance(node.ctx, ast.Store):
            yield node.id if isinstance(node, ast.Name) else node.attr


@cache
def trees() -> dict[str, ast.Module]:
    """{path: module}, of those that import Scrapy or Twisted."""
    root = Path(inspect.getfile(sitemapcrawler)).parent
    texts = {path.relative_to(root).as_posix(): path.read_text() for path in root.rglob("*.py")}
    return {
        path: ast.parse(text)
        for path, text in texts.items()
        if re.search(r"^\s*(from|import) (scrapy|twisted)", text, re.M)
    }


def test_no_other_module_imports_a_private_name() -> None:
    found = {(path, name) for path, tree in trees().items() for name in imported(tree) if PRIVATE.fullmatch(name)}
    assert {path for path, _ in found} == {OURS}, found


def test_no_other_module_touches_a_private_name_of_objects_that_are_not_ours() -> None:
    ours = {name for tree in trees().values() for name in defined(tree)}
    found = {
        (path, name)
        for path, tree in trees().items()
        for name in attributes(tree)
        if PRIVATE.fullmatch(name) and name not in ours | OTHERS and path != OURS
    }
    assert found == set(), found


def test_no_class_uses_or_replaces_a_private_name_of_its_base_in_scrapy_or_twisted() -> None:
    found = set()
    for path, tree in trees().items():
        for node in tree.body if path != OURS else ():
            if isinstance(node, ast.ClassDef) and node.bases:
                theirs = {name for base in bases(path, node.name) for name in own_names(base)}
                found |= {(path, node.name, name) for name in {*attributes(node), *defined(node)} & theirs}
    assert found == set(), found


def bases(path: str, name: str) -> list[type]:
    """Classes of Scrapy and Twisted that a class of ours is built on."""
    module = import_module(f"sitemapcrawler.{path.removesuffix('.py').removesuffix('/__init__').replace('/', '.')}")
    return [base for base in getattr(module, name).__mro__ if base.__module__.partition(".")[0] in THEIRS]


@cache
def own_names(made: type) -> frozenset[str]:
    """Private names that a class of Scrapy or Twisted defines."""
    return frozenset(filter(PRIVATE.fullmatch, defined(ast.parse(dedent(inspect.getsource(made))))))
