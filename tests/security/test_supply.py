"""What the program is made of: nothing in it runs what a stranger wrote, and what it depends on is bounded and known."""

from __future__ import annotations

import ast
import re
import runpy
import sys
import tomllib
from collections.abc import Iterable, Iterator
from functools import cache
from importlib.metadata import distribution
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from packaging.requirements import Requirement
from packaging.version import Version

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "sitemapcrawler"
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]

NEVER = {
    "pickle", "_pickle", "cPickle", "dill", "cloudpickle", "marshal", "shelve", "dbm", "jsonpickle", "joblib", "yaml",
    "xml", "pty", "code", "codeop", "telnetlib", "socketserver", "http.server", "xmlrpc", "asyncore", "ftplib", "smtplib",
    "twisted.conch", "twisted.manhole", "twisted.spread", "twisted.internet.protocol.ServerFactory", "webbrowser", "zipimport",
}  # fmt: skip
"""Modules that run what they read, resolve entities, wait for connections, or start other programs."""
CALLS = {
    "eval", "exec", "compile", "__import__", "input", "breakpoint", "os.system", "os.popen", "tempfile.mktemp", "os.mkfifo",
    "os.execv", "os.execve", "os.execvp", "os.spawnv", "os.posix_spawn", "os.fork", "os.forkpty", "reactor.listenTCP",
    "asyncio.start_server", "asyncio.create_subprocess_exec", "asyncio.create_subprocess_shell", "socket.create_server",
    "ctypes.CDLL", "import_module", "load_object", "spec_from_file_location", "runpy.run_path", "Markup", "Unpickler",
}  # fmt: skip
"""Functions that run, load or start something, or mark text as harmless."""
HARMLESS = {"xml.parsers.expat", *(f"xml.sax.saxutils.{name}" for name in ("escape", "quoteattr", "unescape"))}
"""Of these modules: the strict parser, which loads nothing, and functions on texts."""
IMPORTS = {
    ("verification/backlog.py", "pickle"): "what it wrote itself, to a file that no other process can open",
    ("feeds/worksheets.py", "pickle"): "rows that it wrote itself, in a folder that is open to no other user",
}
"""Where such a module is imported all the same, and why that is no door."""
REASONS = {
    ("feeds/jsontext.py", "eval"): "names of fields of record types, which stand in code",
    ("__init__.py", "import_module"): "modules of ours, by their names",
    ("feeds/arrow.py", "import_module"): "pyarrow, by its name",
    ("rules/__init__.py", "import_module"): "modules of ours, by their names",
    ("rules/registry.py", "import_module"): "SITEMAP_RULES: code of the user's own",
    ("rules/registry.py", "spec_from_file_location"): "the same, by the path of a file",
    ("rules/registry.py", "signature.bind"): "checks what a rule of the user takes; nothing is called",
    ("pipelines/store.py", "load_object"): "ITEM_PIPELINES, a setting",
    ("feeds/setup.py", "load_object"): "options of FEEDS, and settings that name components",
    ("feeds/writable.py", "import_module"): "boto3 and google.cloud.storage, by their names",
    ("feeds/exporters.py", "load_object"): "the same",
    ("urls/expressions.py", "import_module"): "re2 and duckdb, by their names",
    ("report/page.py", "Markup"): "our own style and script",
    ("report/wording.py", "Markup"): "our own elements; what is put into them is escaped",
    ("report/advice.py", "Markup"): "our own elements; what is put into them is escaped",
    ("report/trend.py", "Markup"): "SVG that lxml has written",
    ("api/audits.py", "import_module"): "pyarrow and pandas, by their names",
    ("api/child.py", "import_module"): "modules of ours, by their names",
    ("reader/duck.py", "import_module"): "duckdb, by its name",
    ("crawl/argument_values.py", "import_module"): "Apprise, by its name",
    ("extensions/notifying.py", "import_module"): "Apprise, by its name",
    ("verification/google_token.py", "import_module"): "modules of google-auth, by their names",
    ("assistants/tools.py", "import_module"): "modules of mcp, by their names",
    (
        "api/child.py",
        "subprocess.Popen",
    ): "this interpreter, no shell; what comes from outside goes through standard input",
    ("report/charts.py", "Markup"): "the same, and SVG that lxml has written",
    ("fleet/cluster.py", "import_module"): "Ray and a module of it, by their names",
    ("cli.py", "import_module"): "the commands listed in the help, by their names",
    ("feeds/workbook.py", "load_object"): "record types in the options of a feed",
    ("fleet/output.py", "import_module"): "fsspec and gcsfs, by their names",
    ("fleet/task.py", "import_module"): "pyarrow, by its name",
    ("feeds/scratch.py", "import_module"): "fcntl, which Windows has not, by its name",
    ("download/private.py", "import_module"): "a module of Scrapy, by its name",
    ("fleet/preload.py", "load_object"): "settings, before any crawl begins",
    ("fleet/preload.py", "__import__"): "modules of ours, by their names",
    ("processes.py", "multiprocessing.get_context"): "functions of ours, in processes of this interpreter",
    ("processes.py", "multiprocessing.parent_process"): "the same",
    ("repair/publishing.py", "ctypes.CDLL"): "renameat2(2), so that two folders change places in one step",
}
"""Where such a call stands all the same, and why that is no door."""


@cache
def trees() -> dict[str, ast.AST]:
    """The modules of the package."""
    return {path.relative_to(PACKAGE).as_posix(): ast.parse(path.read_bytes()) for path in PACKAGE.rglob("*.py")}


@cache
def nodes(tree: ast.AST) -> list[ast.AST]:
    return [*ast.walk(tree)]


def called(tree: ast.AST) -> Iterator[tuple[str, ast.Call]]:
    """(dotted name, call) of every call of a name, or of a method of something."""
    for node in nodes(tree):
        if isinstance(node, ast.Call):
            yield dotted(node.func), node


def dotted(node: ast.AST) -> str:
    if isinstance(node, ast.Attribute):
        return f"{dotted(node.value)}.{node.attr}"
    return node.id if isinstance(node, ast.Name) else ""


def imported(tree: ast.AST) -> Iterator[str]:
    for node in nodes(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def is_never(module: str) -> bool:
    return any(f"{module}.".startswith(f"{one}.") for one in NEVER)


def is_watched(name: str) -> bool:
    return (
        name in CALLS
        or name.startswith(("subprocess.", "multiprocessing."))
        or name.rpartition(".")[2] in {"listen", "bind", "listenTCP"}
    )


def test_package_is_read() -> None:
    assert len(trees()) > 150 and "spiders/sitemap.py" in trees()


def test_nothing_runs_what_a_stranger_wrote() -> None:
    found = {(path, call) for path, tree in trees().items() for call, _ in called(tree) if is_watched(call)}
    assert found == set(REASONS), "add a reason, or do without"
    modules = {(path, module) for path, tree in trees().items() for module in imported(tree)}
    assert {(path, module) for path, module in modules if module not in HARMLESS and is_never(module)} == set(IMPORTS)


OF_PAGES = ("replace",)
"""Calls whose argument `shell` is a field of a record: the page has the HTML of a made-up URL."""


def test_no_shell_reads_a_command() -> None:
    for tree in trees().values():
        for name, call in called(tree):
            assert name in OF_PAGES or "shell" not in {keyword.arg for keyword in call.keywords}


@pytest.mark.slow
def test_xml_parsers_resolve_nothing() -> None:
    """expat loads nothing from outside by itself, and is told of no handler that would; lxml is told not to.
    Lexbor, which reads pages, cannot load anything."""
    parsers = [call for tree in trees().values() for name, call in called(tree) if name.endswith("XMLParser")]
    assert parsers
    for call in parsers:
        options = {keyword.arg: ast.unparse(keyword.value) for keyword in call.keywords}
        assert (options["resolve_entities"], options["no_network"]) == ("False", "True")
    read = [call for tree in trees().values() for name, call in called(tree) if re.search(r"fromstring$|\.XML$", name)]
    assert read and all(len(call.args) == 2 for call in read), "with a parser of ours"
    others = [
        name
        for tree in trees().values()
        for name, _ in called(tree)
        if re.search(r"iterparse|(?<!^Lexbor)HTMLParser|XMLPull", name)
    ]
    assert others == []
    text = "".join(ast.unparse(tree) for tree in trees().values())
    assert "ExternalEntityRefHandler" not in text and "SetParamEntityParsing" not in text


def test_templates_escape() -> None:
    made = [call for tree in trees().values() for name, call in called(tree) if name.endswith("Environment")]
    assert made
    for call in made:
        options = {keyword.arg: ast.unparse(keyword.value) for keyword in call.keywords}
        assert options["autoescape"] == "True"
    written = "".join(path.read_text("utf-8") for path in PACKAGE.rglob("templates/*"))
    assert not re.search(r"autoescape\s+false", written)


def bounds() -> Iterator[Any]:
    extras = [extra for extra in PROJECT["optional-dependencies"] if extra not in ("test", "test-all", "docs", "dev")]
    for line in [
        *PROJECT["dependencies"],
        *(one for extra in extras for one in PROJECT["optional-dependencies"][extra]),
    ]:
        yield pytest.param(Requirement(line), id=line.partition(";")[0])


@pytest.mark.parametrize("needed", [*bounds()])
def test_dependency_is_bounded(needed: Requirement) -> None:
    below = [Version(one.version) for one in needed.specifier if one.operator == "<"]
    above = [Version(one.version) for one in needed.specifier if one.operator == ">="]
    assert len(above) == 1
    assert needed.name == "certifi" or (len(below) == 1 and below[0] > above[0])


MENDED = {
    "twisted": "24.7", "jinja2": "3.1.6", "certifi": "2026.10.19", "pyarrow": "14.0.1", "ray": "2.52",
    "setuptools": "78.1.1", "scrapy": "2.14.2",
}  # fmt: skip
"""Versions from which known holes are mended that could matter here."""


@pytest.mark.parametrize("name", MENDED)
def test_versions_with_known_holes_are_left_out(name: str) -> None:
    needed = [one.values[0] for one in bounds() if one.values[0].name == name]
    assert needed
    for requirement in needed:
        least = min(Version(one.version) for one in requirement.specifier if one.operator == ">=")
        assert least >= Version(MENDED[name])


def test_recipe_of_a_release_names_what_exists() -> None:
    recipe = (ROOT / "CONTRIBUTING.md").read_text("utf-8").partition("## A release")[2].partition("\n## ")[0]
    makefile = (ROOT / "Makefile").read_text("utf-8")
    targets = re.findall(r"`make (\w+)", recipe)
    assert {"audit", "sbom", "dist"} <= set(targets)
    for target in targets:
        assert re.search(rf"^{target}:", makefile, re.MULTILINE)
    for script in re.findall(r"release/\w+\.py", makefile):
        assert (ROOT / script).is_file()
    assert re.search(r"^together .*\baudit\b", (ROOT / ".ci" / "run").read_text("utf-8"), re.MULTILINE)


LISTED = ("duckdb", "lxml", "zope-interface")
"""Packages of a small environment."""


@pytest.mark.slow
def test_list_of_parts_has_every_direct_dependency(tmp_path: Path) -> None:
    if find_spec("cyclonedx_py") is None:
        pytest.skip("cyclonedx-bom is not installed")
    sbom = runpy.run_path(str(ROOT / "release" / "sbom.py"))
    named = sbom["direct"]()
    assert {"scrapy", "duckdb", "lxml", "ray", "zope-interface"} <= named
    interpreter = small_environment(tmp_path, LISTED)
    assert sbom["write"](str(interpreter), tmp_path / "build" / "sbom.json") == named - set(LISTED)


def small_environment(folder: Path, names: Iterable[str]) -> Path:
    """The interpreter of an environment that has these packages alone, as far as their metadata tell: to list one takes
    half a second."""
    (folder / "lib").mkdir()
    for name in names:
        (folder / "lib" / f"{name}.dist-info").symlink_to(Path(str(distribution(name).locate_file(""))) / info_of(name))
    interpreter = folder / "python"
    interpreter.write_text(f'#!/bin/sh\nPYTHONPATH="{folder / "lib"}" exec "{sys.executable}" -S "$@"\n')
    interpreter.chmod(0o700)
    return interpreter


def info_of(name: str) -> str:
    """The folder with what is known of a package."""
    return next(file.parts[0] for file in distribution(name).files or () if file.parts[0].endswith(".dist-info"))


def test_audit_says_what_it_could_not_ask(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    main = runpy.run_path(str(ROOT / "release" / "audit.py"))["main"]
    answers: list[list[dict[str, Any]]] = [[], [{"name": "a", "skip_reason": "not found"}]]
    monkeypatch.setitem(main.__globals__, "asked", lambda service: answers[service == "osv"])
    assert (main([]), main(["--strict"])) == (0, 1)
    assert capsys.readouterr().out.count("SKIPPED") == 2
    answers[1] = [{"name": "a", "version": "1", "vulns": [{"id": "CVE-1", "fix_versions": ["2"]}]}, *answers[1]]
    assert main([]) == 1
    assert capsys.readouterr().out == "a 1: CVE-1, mended in 2\naudit: 1 of 2 packages are known to osv, 1 holes\n"
    answers[0] = [{"name": "a", "version": "2", "vulns": []}]
    assert main(["--strict"]) == 0
