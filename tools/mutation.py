"""Measures how many faults the unit tests notice: python -m tools.mutation RESULTS.jsonl [--sample EARLIER.jsonl]

Changes one expression of a function at a time, and runs the tests that cover its lines. A mutant is killed if a test
fails. With `--sample`, tries the mutants of an earlier run whose code still exists, so that two states of the tests are
compared by the same faults. Not part of CI.

The tests are collected once. Each mutant is a fork of that process in which the code of the function is exchanged, so
its tests begin at once, and nothing is written into the checkout.
"""

from __future__ import annotations

import argparse
import ast
import contextlib
import copy
import gc
import json
import os
import random
import select
import signal
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from types import CodeType, FunctionType
from typing import Any

import coverage
import pytest

ROOT = Path(__file__).resolve().parent.parent
MODULES = {
    "crawl/frontier.py": "crawl/test_frontier.py",
    "download/addresses.py": "download/test_addresses.py",
    "feeds/findings.py": "feeds/test_sarif.py feeds/test_junit.py",
    "fleet/queueing.py": "fleet/test_queueing.py",
    "reader/dates.py": "reader/test_dates.py",
    "repair/edits.py": "repair/test_repairs.py repair/test_places.py",
    "replies/chase.py": "replies/test_chase.py",
    "robots/parser.py": "robots/test_rfc9309.py robots/test_bad_input.py robots/test_sitemap_lines.py",
    "rules/families/hreflang.py": "rules/test_hreflang.py rules/test_bad_files.py rules/test_any_values.py",
    "rules/families/lastmod.py": "rules/test_lastmod.py rules/test_bad_files.py",
    "rules/families/news.py": "rules/test_news.py rules/test_bad_files.py rules/test_any_values.py",
    "urls/authority.py": "urls/test_authority.py",
}
"""{module below sitemapcrawler/: its tests below tests/unit/}: modules of different packages that they cover well."""
PER_MODULE = 30
LIMIT = 120
"""Seconds of wall time that the tests of a mutant may take."""
SEED = 38
"""Draws the same sample each time."""
OPPOSITES: dict[type[ast.AST], type[ast.AST]] = {
    ast.Eq: ast.NotEq, ast.NotEq: ast.Eq, ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt,
    ast.In: ast.NotIn, ast.NotIn: ast.In, ast.Is: ast.IsNot, ast.IsNot: ast.Is,
    ast.And: ast.Or, ast.Or: ast.And, ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.FloorDiv,
}  # fmt: skip
UNCHANGED = ("annotation", "returns", "decorator_list", "defaults", "kw_defaults")
"""Fields of nodes whose values do nothing while the function runs."""


@dataclass(frozen=True)
class Mutant:
    """One change to one function."""

    module: str
    scope: str
    """Function, with the classes and functions around it."""
    before: str
    after: str
    number: int
    """Distinguishes equal changes in one scope."""


@dataclass(frozen=True)
class Change:
    """A mutant, the lines that it concerns and the source of the module with it."""

    mutant: Mutant
    lines: range
    source: str


@dataclass
class Trial:
    """Plug-in for pytest that runs the collected tests for each mutant instead of once."""

    results: Path
    wanted: set[Mutant] | None
    """Mutants to try; `None` draws a sample."""
    answer: int = -1
    """File descriptor to which a fork writes its result."""
    covered: coverage.Coverage | None = None
    """Counts the lines of each test, in the fork that does that."""

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool | None:
        """Try all mutants. In a fork, return `None`, with which pytest runs the tests that are left."""
        if self._forked(self._measure):
            return None
        covering, _ = self._result(limit=None)
        assert covering, "the tests do not pass"
        tests = {item.nodeid: item for item in session.items}
        for module in MODULES:
            for change in self._changes(module):
                lines = covering[module]
                names = sorted({name for line in change.lines for name in lines.get(str(line), ())})
                if names and self._forked(partial(_exchange, change)):
                    session.items[:] = [tests[name] for name in names]
                    session.config.option.maxfail = 1  # one failure kills a mutant
                    return None
                failed, seconds = self._result(LIMIT) if names else (False, 0.0)
                row = {"mutant": vars(change.mutant), "killed": failed, "tests": len(names), "seconds": seconds}
                with self.results.open("a", encoding="utf-8") as file:
                    file.write(json.dumps(row) + "\n")
        return True

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[None]:
        if self.covered:
            self.covered.switch_context(item.nodeid)
        return (yield)

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """End a fork with its result."""
        if self.answer < 0:
            return
        result: Any = session.testsfailed > 0
        if self.covered:
            self.covered.stop()
            data = self.covered.get_data()
            lines = {module: data.contexts_by_lineno(str(_path(module))) for module in MODULES}
            result = None if session.testsfailed else lines
        with os.fdopen(self.answer, "w") as pipe:
            json.dump(result, pipe)
        os.killpg(0, signal.SIGKILL)

    def _measure(self) -> None:
        self.covered = coverage.Coverage(
            data_file=None, config_file=False, include=[str(_path(name)) for name in MODULES]
        )
        self.covered.start()

    def _changes(self, module: str) -> list[Change]:
        changes = list(changes_of(module, _path(module).read_text(encoding="utf-8")))
        if self.wanted is None:
            return random.Random(SEED).sample(changes, min(PER_MODULE, len(changes)))
        return [change for change in changes if change.mutant in self.wanted]

    def _forked(self, prepare: Callable[[], None]) -> bool:
        """Fork; return whether this is the fork, in a session of its own and prepared."""
        receiving, sending = os.pipe()
        self.process = os.fork()
        if self.process:
            os.close(sending)
            self.receiving = receiving
            return False
        os.close(receiving)
        os.setsid()
        silent = os.open(os.devnull, os.O_RDWR)
        for stream in range(3):
            os.dup2(silent, stream)
        self.answer = sending
        prepare()
        return True

    def _result(self, limit: float | None) -> tuple[Any, float]:
        """Return what the last fork wrote, and its seconds. It failed if it wrote nothing, or not within the limit."""
        begin = time.monotonic()
        with os.fdopen(self.receiving) as pipe:
            text = pipe.read() if select.select([pipe], [], [], limit)[0] else ""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.process, signal.SIGKILL)
        os.waitpid(self.process, 0)
        return json.loads(text) if text else True, round(time.monotonic() - begin, 1)


def main() -> None:
    """Try the mutants and print the shares that were killed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("results", type=Path, help="file to which a line for each mutant is appended")
    parser.add_argument("--sample", type=Path, help="results whose mutants to try again")
    arguments = parser.parse_args()
    wanted = None
    if arguments.sample:
        wanted = {Mutant(**row["mutant"]) for row in _rows(arguments.sample)}
    results = arguments.results.resolve()
    tests = [f"tests/unit/{test}" for tests in MODULES.values() for test in tests.split()]
    options = ["-q", "-p", "no:cacheprovider", "-m", "not slow", "--rootdir", str(ROOT)]
    os.chdir(ROOT)
    pytest.main([*options, *tests], plugins=[Trial(results, wanted)])
    _print_summary(results)


def _path(module: str) -> Path:
    return ROOT / "sitemapcrawler" / module


def _rows(results: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in results.read_text(encoding="utf-8").splitlines()]


def changes_of(module: str, source: str) -> Iterator[Change]:
    """Yield the mutants of a module."""
    lines = source.encode().splitlines(keepends=True)
    seen: Counter[tuple[str, str, str]] = Counter()
    for scope, node in _nodes(ast.parse(source), "", runs=False):
        for changed in _changed(node):
            before, after = ast.unparse(node), ast.unparse(changed)
            seen[scope, before, after] += 1
            mutated = _replaced(lines, node, f"({after})" if isinstance(node, ast.expr) else after)
            with contextlib.suppress(SyntaxError):
                compile(mutated, module, "exec")
                mutant = Mutant(module, scope, before, after, seen[scope, before, after])
                yield Change(mutant, range(node.lineno, (node.end_lineno or node.lineno) + 1), mutated)


def _nodes(parent: ast.AST, scope: str, runs: bool) -> Iterator[tuple[str, ast.expr | ast.stmt]]:
    """Yield the nodes of functions, with the name of the function."""
    for name, value in ast.iter_fields(parent):
        for node in value if isinstance(value, list) else [value]:
            if name in UNCHANGED or not isinstance(node, ast.AST) or _is_idle(node):
                continue
            is_function = isinstance(node, ast.FunctionDef)
            inner = f"{scope}.{node.name}".lstrip(".") if isinstance(node, (ast.FunctionDef, ast.ClassDef)) else scope
            if runs and isinstance(node, (ast.expr, ast.stmt)):
                yield inner, node
            yield from _nodes(node, inner, runs or is_function)


def _is_idle(node: ast.AST) -> bool:
    """Return whether a node is a docstring or a formatted text, whose parts have no positions in Python 3.11."""
    return isinstance(node, ast.JoinedStr) or (isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant))


def _changed(node: ast.AST) -> Iterator[ast.AST]:
    match node:
        case ast.Compare(ops=[op]) if type(op) in OPPOSITES:
            yield _with(node, ops=[OPPOSITES[type(op)]()])
        case ast.BoolOp(op=op) | ast.BinOp(op=op) if type(op) in OPPOSITES:
            yield _with(node, op=OPPOSITES[type(op)]())
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            yield operand
        case ast.Constant(value=bool(value)):
            yield ast.Constant(not value)
        case ast.Constant(value=int(value)):
            yield ast.Constant(value + 1)
        case ast.Constant(value=str(value)) if value:
            yield ast.Constant("")
        case ast.Return(value=ast.expr()) if ast.unparse(node) != "return None":
            yield ast.Return(ast.Constant(None))
        case ast.IfExp(test=test):
            yield _with(node, test=ast.UnaryOp(ast.Not(), test))
        case ast.Continue():
            yield ast.Break()
        case ast.Break():
            yield ast.Continue()


def _with(node: ast.AST, **fields: object) -> ast.AST:
    changed = copy.copy(node)
    vars(changed).update(fields)
    return changed


def _replaced(lines: list[bytes], node: ast.expr | ast.stmt, text: str) -> str:
    first, last = node.lineno - 1, (node.end_lineno or node.lineno) - 1
    before, after = lines[first][: node.col_offset], lines[last][node.end_col_offset :]
    return b"".join([*lines[:first], before, text.encode(), after, *lines[last + 1 :]]).decode()


def _exchange(change: Change) -> None:
    """Give all functions of the module, wherever they are stored, the code of the mutant."""
    gc.unfreeze()  # what tests/conftest.py has frozen is not among the objects otherwise
    path = str(_path(change.mutant.module))
    codes = dict(_codes(compile(change.source, path, "exec")))
    for function in gc.get_objects():
        if isinstance(function, FunctionType) and function.__code__.co_filename == path:
            name = function.__code__.co_qualname
            if name in codes and "<lambda>" not in name:
                function.__code__ = codes[name]


def _codes(code: CodeType) -> Iterator[tuple[str, CodeType]]:
    for inner in code.co_consts:
        if isinstance(inner, CodeType):
            yield inner.co_qualname, inner
            yield from _codes(inner)


def _print_summary(results: Path) -> None:
    counts: dict[str, Counter[bool]] = defaultdict(Counter)
    for row in _rows(results):
        for module in (row["mutant"]["module"], "all"):
            counts[module][row["killed"]] += 1
    for module, found in sorted(counts.items()):
        print(f"{module:30} {found[True]:4} of {found.total():4} killed, {found[True] / found.total():6.1%}")


if __name__ == "__main__":
    main()
