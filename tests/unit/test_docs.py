"""The documentation names all there is, nothing else, and with the values that the code has."""

from __future__ import annotations

import argparse
import ast
import builtins
import dataclasses
import json
import re
import subprocess
from collections import defaultdict
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import asdict
from functools import cache
from importlib import import_module
from itertools import pairwise
from operator import attrgetter
from pathlib import Path
from pkgutil import resolve_name
from typing import Any, get_args

import duckdb
import pytest
from scrapy.settings import Settings, default_settings

from sitemapcrawler import __version__, settings
from sitemapcrawler.commands import fix, inspect, validate
from sitemapcrawler.crawl.params import ARGUMENTS
from sitemapcrawler.crawl.wiring import FORMER
from sitemapcrawler.feeds.columns import URLS
from sitemapcrawler.items import (
    EXTENSIONS,
    ChangeCounts,
    Counts,
    Coverage,
    Hop,
    IndexCounts,
    IndexStatus,
    Lastmods,
    LinkGraph,
    Record,
    ReplyRecord,
    Revisits,
    RobotsChange,
    SegmentCounts,
    Share,
    UrlBatch,
    UrlRecord,
)
from sitemapcrawler.jobs.store.schema import RECORDS as STORED
from sitemapcrawler.jobs.store.schema import VIEWS, columns, statements, tables
from sitemapcrawler.namespaces.extensions import Alternate, Image, News, Video
from sitemapcrawler.reader.faults import Limits
from sitemapcrawler.spiders import running
from sitemapcrawler.terminal.inspect import screen
from sitemapcrawler.terminal.inspect.as_json import document
from sitemapcrawler.terminal.inspect.inspection import MAX_VALUES
from tests.unit.terminal.inspect.shown import inspection, record

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "sitemapcrawler"
FIELDS, FORMATS = "docs/records.md", "docs/formats.md"
SETTINGS, ARCHITECTURE, JOBS = "docs/settings.md", "docs/architecture.md", "docs/jobs.md"
PYTHON = "docs/python.md"
OURS, CHOSEN = "Settings of this project", "Settings of Scrapy that this project chooses"
COMMANDS, FIX = "docs/commands.md", "docs/fix.md"
WRITTEN = sorted(f"docs/{path.name}" for path in (ROOT / "docs").glob("*.md") if path.name != "rules.md")
PAGES = ("README.md", "CONTRIBUTING.md", "SECURITY.md", *WRITTEN)
FOR_DEVELOPERS = ("CONTRIBUTING.md", "docs/architecture.md", "docs/security.md")
FOLDERS = (".ci", ".github", "bench", "demo", "docs", "fuzz", "release", "sitemapcrawler", "tests", "tools")
FILES = (
    ".dockerignore", ".gitattributes", ".gitignore", ".pre-commit-config.yaml", ".pre-commit-hooks.yaml", "CHANGELOG.md",
    "CONTRIBUTING.md", "Dockerfile", "LICENSE", "MANIFEST.in", "Makefile", "README.md", "SECURITY.md", "action.yml",
    "mkdocs.yml", "pyproject.toml", "requirements.txt", "scrapinghub.yml", "scrapy.cfg", "setup.py",
)  # fmt: skip
"""What the root may hold."""
DOTTED = re.compile(r"`([a-z_]+(?:\.[a-z_]+)*\.[A-Z]\w+(?:\.\w+)*)(?:\(\))?`")
"""A class or constant with its module, in a docstring."""
MAX_WORDS = 45_000
"""Words of README.md and `docs/*.md`, as `wc -w` counts them: a page that says more is split or shortened."""
TO_WRITE = {
    "catalogue.py", "depth_rules.py", "jsonlists.py", "locs.py", "pages.py", "shop_pipelines.py", "shop_rules.py",
    "shop_settings.py", "sitemapcrawler.toml", "toypaths.py", "toys.py",
}  # fmt: skip
"""Files that a reader writes."""
RECORDS: dict[str, type] = {record().type: record for record in get_args(Record)}
OTHER_RECORDS = [title for title, record in RECORDS.items() if record not in EXTENSIONS]
EXTENSION_TITLE = "image, video, news and alternate"
OBJECTS: dict[str, type] = {"images": Image, "videos": Video, "news": News, "alternates": Alternate}
REPLIES: dict[str, type] = {
    "reply": ReplyRecord,
    "bad": Share,
    "lastmod": Lastmods,
    "revisits": Revisits,
    "graph": LinkGraph,
    "changes": ChangeCounts,
    "robots_change": RobotsChange,
    "coverage": Coverage,
    "google": IndexStatus,
    "google in the summary": IndexCounts,
    "segments": SegmentCounts,
}
PARTS: dict[str, type] = {"hops": Hop, "counts": Counts}
"""Objects that are described in the row of their field."""
OWN = {name: value for name, value in vars(settings).items() if name.isupper()}
OF_SCRAPY = {name for name in vars(default_settings) if name.isupper()} | {"FEEDS"}
TAKEN_OVER = {"SITEMAP_JOBDIR"}
"""Settings that the spider sets itself."""
NO_NAMES_OF_OURS = {"CrawlerProcess", *dir(builtins)}

FENCED = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
INLINE = re.compile(r"`([^`\n]+)`")
LINK = re.compile(r"\]\(([^)\s]+)\)")
FILE = re.compile(r"[\w./-]+\.(?:py|md|toml|cfg)|(?:docs|demo|tests|bench)/[\w./-]+")
NAME = re.compile(r"((?:[a-z_]\w*\.)*)([A-Z][A-Za-z]*[a-z](?:\.[a-z_]\w*)?|[a-z_]\w*(?=\())(?:\(.*\))?")
"""A class, `Class.member`, or a function, which has parentheses, each perhaps behind its module."""
CONSTANT = re.compile(r"[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+")
BLOCK_END = re.compile(r"\n\s*\n|\n(?=\s*(?:\d+\. |- |\|))")


@cache
def page(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


@cache
def prose(name: str) -> str:
    return FENCED.sub("", page(name))


def section(name: str, title: str) -> str:
    """What stands below a title, up to the next title of any level."""
    found = re.search(rf"^#+ {re.escape(title)}\n(.*?)(?=^#+ |\Z)", prose(name), re.MULTILINE | re.DOTALL)
    assert found, f"{name} has no section {title}"
    return found[1]


def rows(text: str) -> list[list[str]]:
    """The cells of each table row, without the heads."""
    lines = [line for line in text.splitlines() if line.startswith("|")]
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    heads = {at - 1 for at, row in enumerate(cells) if row[0].startswith("---")}
    return [row for at, row in enumerate(cells) if at not in heads and not row[0].startswith("---")]


def bare(cell: str) -> str:
    return cell.strip("`")


def fenced(name: str, language: str) -> list[str]:
    return [block[2] for block in FENCED.finditer(page(name)) if block[1] == language]


def slug(title: str) -> str:
    """The anchor that a title has on the usual code hosts."""
    return re.sub(r"[^\w -]", "", title.lower()).replace(" ", "-")


@cache
def parsed() -> dict[str, ast.Module]:
    """The modules of the package by their path in it."""
    paths = sorted(PACKAGE.rglob("*.py"))
    return {path.relative_to(PACKAGE).as_posix(): ast.parse(path.read_text(encoding="utf-8")) for path in paths}


@cache
def definitions() -> dict[str, set[str]]:
    """{`function`, `Class` or `Class.member`: the files of the package that define it}."""
    found: defaultdict[str, set[str]] = defaultdict(set)
    for file, tree in parsed().items():
        for node in tree.body:
            for name in names_of(node):
                found[name].add(file)
    return found


def names_of(node: ast.stmt) -> Iterator[str]:
    if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        return
    yield node.name
    for member in node.body if isinstance(node, ast.ClassDef) else []:
        if isinstance(member, ast.FunctionDef | ast.AsyncFunctionDef):
            yield f"{node.name}.{member.name}"
        elif isinstance(member, ast.AnnAssign):
            yield f"{node.name}.{ast.unparse(member.target)}"


@cache
def constants() -> set[str]:
    """All words of the package's sources."""
    return {word for path in PACKAGE.rglob("*.py") for word in CONSTANT.findall(path.read_text(encoding="utf-8"))}


def named(name: str) -> Iterator[tuple[str, set[str], set[str]]]:
    """Each class, member and function of ours that a page names: with the file of the module before it, and the files
    that the same paragraph names."""
    for block in BLOCK_END.split(prose(name)):
        words: list[str] = INLINE.findall(block)
        files = {word.removeprefix("sitemapcrawler/") for word in words if FILE.fullmatch(word)}
        for place, thing in (match.groups() for word in words if (match := NAME.fullmatch(word))):
            if thing not in NO_NAMES_OF_OURS and not place.startswith("scrapy."):
                module = place.removeprefix("sitemapcrawler.").rstrip(".").replace(".", "/")
                yield thing, {f"{module}.py"} if module else set(), files


# Settings and arguments


def test_every_setting_is_in_its_table() -> None:
    plain = {name for name, value in OWN.items() if name.startswith("SITEMAP_") or not isinstance(value, dict)}
    ours = [bare(row[0]) for row in rows(section(SETTINGS, OURS))]
    chosen = [bare(row[0]) for row in rows(section(SETTINGS, CHOSEN))]
    assert sorted(ours) == sorted(name for name in plain if name.startswith("SITEMAP_"))
    assert sorted(chosen) == sorted(name for name in plain if not name.startswith("SITEMAP_"))


def test_defaults_are_those_of_the_code() -> None:
    tables = section(SETTINGS, OURS), section(SETTINGS, CHOSEN)
    told = {bare(row[0]): bare(row[1]).replace("VERSION", __version__) for table in tables for row in rows(table)}
    assert {name: ast.literal_eval(default) for name, default in told.items()} == {name: OWN[name] for name in told}


def test_fixed_limits_are_those_of_the_code() -> None:
    told = rows(section(SETTINGS, "Limits that are no settings"))
    assert told
    of_limits = {f"reader.faults.Limits.{name}": value for name, value in asdict(Limits()).items()}
    for constant, value, *_ in told:
        found = of_limits.get(bare(constant)) or resolve_name(f"sitemapcrawler.{bare(constant)}")
        assert found == ast.literal_eval(bare(value)), constant


def test_arguments_are_those_of_the_code() -> None:
    told = [[bare(row[0]), bare(row[1]), *row[2:]] for row in rows(section(SETTINGS, "Arguments"))]
    assert told == [[name, one.default_text, one.help, one.accepted] for name, one in ARGUMENTS.items()]


def test_the_pages_are_short() -> None:
    assert sum(len(page(name).split()) for name in ("README.md", "docs/rules.md", *WRITTEN)) <= MAX_WORDS


def test_readme_is_short() -> None:
    assert len(page("README.md").splitlines()) <= 120


# Commands


def test_readme_states_the_speed_that_was_measured() -> None:
    stated = re.search(r"take ([\d.]+) times as long as a bare lxml loop, and ([\d.]+) times", prose("README.md"))
    measured = re.findall(
        r"^\|.*\| (?:with all rules, no database|a default crawl), x the loop \| ([\d.]+)",
        page("bench/README.md"),
        re.M,
    )
    assert stated
    assert list(stated.groups()) == [f"{float(number):.1f}" for number in measured]


OF_A_CRAWL = {running.FEED_LOST, running.BAD_ARGUMENT, running.STOPPED, running.NOTHING_READ}
EXIT_CODES = [
    (SETTINGS, "Exit codes", {0, running.NOT_STARTED, *OF_A_CRAWL}),
    (COMMANDS, "Exit codes of inspect", {0, *OF_A_CRAWL}),
    (COMMANDS, "Exit codes", {validate.CLEAN, validate.FOUND, validate.NOT_RUN}),
    (FIX, "Exit codes", {fix.DONE, fix.LOST, running.BAD_ARGUMENT, fix.PARTLY, fix.NOTHING_READ, fix.STOPPED}),
]


@pytest.mark.parametrize(("name", "title", "codes"), EXIT_CODES)
def test_exit_codes_are_those_of_the_code(name: str, title: str, codes: set[int]) -> None:
    assert [int(row[0]) for row in rows(section(name, title))] == sorted(codes)


@pytest.mark.parametrize(
    ("name", "title", "module"),
    [(COMMANDS, "Options of inspect", inspect), (COMMANDS, "Options", validate), (FIX, "Options", fix)],
    ids=["inspect", "validate", "fix"],
)
def test_options_are_those_of_the_command(name: str, title: str, module: Any) -> None:
    command, parser = module.Command(), argparse.ArgumentParser(add_help=False)
    command.settings = Settings({"FEED_EXPORTERS": settings.FEED_EXPORTERS})
    command.add_options(parser)
    own = (action for action in parser._actions if action.container.title != "Global Options")
    options = {option for action in own for option in action.option_strings}
    named = {word.split()[0] for row in rows(section(name, title)) for word in INLINE.findall(row[0])}
    assert options <= named
    assert {word for word in named - options if word.startswith("-")} <= {"-L", "--logfile", "-s"}


def test_formats_and_thresholds_of_validate_are_described() -> None:
    cells = " ".join(row[0] for row in rows(section(COMMANDS, "Options")))
    formats = validate.formats_in(Settings({"FEED_EXPORTERS": settings.FEED_EXPORTERS}))
    assert {*formats, *validate.THRESHOLDS} <= set(re.findall(r"\w+", cells))


def test_arguments_of_inspect_are_named() -> None:
    [row] = [row for row in rows(section(COMMANDS, "Options of inspect")) if row[0].startswith("`-a name=value`")]
    assert re.findall(r"`(\w+)`", "|".join(row)) == list(inspect.PASSED)


def test_fields_of_the_document_of_inspect_are_described() -> None:
    made = document(inspection(record("/a.xml")), inspect.json_row)
    named = [name for row in rows(section(COMMANDS, "The JSON document")) for name in INLINE.findall(row[0])]
    assert named == [*made, *made["urls"]]


def test_limits_of_inspect_are_those_of_the_code() -> None:
    for limit in (
        f"more than {screen.ALL} files",
        f"at most {screen.MOST} children per index",
        f"up to {screen.MAX_PROBLEMS} files that could not be read",
        f"first {MAX_VALUES:,} languages",
    ):
        assert limit in " ".join(page(COMMANDS).split())


# Records and feeds


@pytest.mark.parametrize("title", [*OTHER_RECORDS, *OBJECTS, *REPLIES])
def test_every_field_is_in_its_table(title: str) -> None:
    fields = [field.name for field in dataclasses.fields((RECORDS | OBJECTS | REPLIES)[title])]
    assert [bare(row[0]) for row in rows(section(FIELDS, title))] == fields


def test_fields_that_records_of_objects_have_besides_are_in_one_table() -> None:
    fields = {field.name for kind in EXTENSIONS for field in dataclasses.fields(kind)}
    of_objects = {field.name for one in EXTENSIONS.values() for field in dataclasses.fields(one.kind)}
    table = section(FIELDS, EXTENSION_TITLE).partition("`returns` compares")[0]
    assert {bare(row[0]) for row in rows(table)} == fields - of_objects | {"loc"}
    assert of_objects - fields == {"publication"}


@pytest.mark.parametrize("title", PARTS)
def test_small_objects_are_described_where_they_occur(title: str) -> None:
    row = next(row for row in rows(section(FIELDS, "sitemap")) if bare(row[0]) == title)
    fields = [field.name for field in dataclasses.fields(PARTS[title])]
    assert INLINE.findall(row[2]) == fields


def test_no_other_record_is_described() -> None:
    between = re.search(r"^## Records\n(.*?)^## ", prose(FIELDS), re.MULTILINE | re.DOTALL)
    titles = [OTHER_RECORDS[0], EXTENSION_TITLE, *OTHER_RECORDS[1:]]
    assert between and re.findall(r"^### (.+)", between[1], re.MULTILINE) == titles


@pytest.mark.parametrize("example", fenced(FIELDS, "json"))
def test_example_has_fields_that_exist(example: str) -> None:
    def check(value: Any, kind: type) -> None:
        assert set(value) <= {field.name for field in dataclasses.fields(kind)}

    record = json.loads(example)
    check(record, RECORDS[record["type"]])
    for name, kind in (OBJECTS | PARTS | REPLIES).items():
        value = record.get(name, [])
        for part in value if isinstance(value, list) else [value]:
            check(part, kind)


def test_head_of_the_table_is_that_of_the_code() -> None:
    assert fenced(FORMATS, "csv") == [",".join(column.name for column in URLS) + "\n"]


def test_every_flat_column_is_described() -> None:
    told = [name for row in rows(section(FORMATS, "CSV")) for name in INLINE.findall(row[0])]
    assert {*told} | {field.name for field in dataclasses.fields(RECORDS["url"])} >= {column.name for column in URLS}
    assert {*told} <= {column.name for column in URLS}


def test_pipeline_of_the_example_sees_the_records_of_a_batch(capsys: pytest.CaptureFixture[str]) -> None:
    names: dict[str, Any] = {}
    exec(next(block for block in fenced(FORMATS, "python") if "Printing" in block), names)
    batch = UrlBatch("https://e.com/s.xml", [UrlRecord(), UrlRecord()])
    assert names["Printing"]().process_item(batch) is batch
    assert capsys.readouterr().out == "url\nurl\n"


def test_every_feed_format_is_described() -> None:
    cells = "".join(row[0] for row in rows(section(FORMATS, "Feeds")))
    written = {name for name, path in settings.FEED_EXPORTERS.items() if path is not None}
    assert set(re.findall(r"`\.(\w+)`", cells)) == written


# The database


FOR_USERS = {*STORED, "contents", "replies", "job"}
"""Tables that the page describes; the others are internal."""


def test_every_column_for_users_besides_records_is_described() -> None:
    told = [(bare(name), kind) for name, kind, _ in rows(section(FORMATS, "Tables"))]
    own = {name: columns(record).keys() for name, record in STORED.items()}
    kept = [
        (f"{table}.{column}", kind)
        for table, held in tables().items()
        for column, kind in held.items()
        if table in FOR_USERS and column not in own.get(table, ())
    ]
    assert told == kept + [(f"{view}.{column}", kind) for view, column, kind in viewed()]


def viewed() -> Iterator[tuple[str, str, str]]:
    """(view, column, type) of all views."""
    with duckdb.connect(":memory:") as database:
        for statement in statements():
            database.execute(statement)
        for view in VIEWS:
            for column, kind, *_ in database.execute(f"DESCRIBE {view}").fetchall():
                yield view, column, kind


def test_tables_of_records_are_named() -> None:
    told = section(FORMATS, "Tables").partition("\n|")[0]
    assert set(STORED) <= set(INLINE.findall(told))


def test_what_is_said_of_the_job_is_described() -> None:
    [row] = [row for row in rows(section(FORMATS, "Tables")) if bare(row[0]) == "job.name"]
    said = [
        name.arg
        for file, tree in parsed().items()
        if ".set(" in (PACKAGE / file).read_text("utf-8")
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and re.search(r"store\.set$|^self\.set$", ast.unparse(node.func))
        for name in node.keywords
    ]
    assert {"run", "state"} <= set(said)
    assert set(INLINE.findall(row[2])) == {*said, "version"}


# Names that must exist


@pytest.mark.parametrize("name", PAGES)
def test_settings_that_are_named_exist(name: str) -> None:
    words = {word for word in INLINE.findall(prose(name)) if CONSTANT.fullmatch(word)}
    words |= set(re.findall(r"-s (\w+)=", page(name)))
    assert words <= OWN.keys() | OF_SCRAPY | TAKEN_OVER | constants() | FORMER.keys() | {"NAME"}
    former = FORMER.keys() if name == "CHANGELOG.md" else set()
    assert set(re.findall(r"\bSITEMAP_\w+", page(name))) <= OWN.keys() | TAKEN_OVER | former


@pytest.mark.parametrize("name", PAGES)
def test_arguments_that_are_named_exist(name: str) -> None:
    words = set(re.findall(r"-a \"?(\w+)=", page(name)))
    words |= {match[1] for word in INLINE.findall(prose(name)) if (match := re.fullmatch(r"([a-z_]+)=\S*", word))}
    of_plugins = set(re.findall(r"^declare\(\"(\w+)\"", page(name), re.MULTILINE))
    assert words <= ARGUMENTS.keys() | of_plugins | {"as", "name", "NAME"}


def test_the_root_holds_nothing_else() -> None:
    """Output of a crawl that is run here goes to `out/`."""
    listed = subprocess.run(
        ["git", "ls-files"], cwd=ROOT, check=True, capture_output=True, text=True
    ).stdout.splitlines()
    assert sorted({name.partition("/")[0] for name in listed} - {*FOLDERS}) == sorted(FILES)


def test_the_tests_of_internals_are_listed() -> None:
    listed = re.findall(r"^\| `(.+?)` \|", page("tests/INTERNALS.md"), re.M)
    assert listed == sorted(set(listed), key=listed.index)
    assert [name for name in listed if not (ROOT / "tests" / name).is_file()] == []


@cache
def docstrings() -> list[tuple[str, ast.AST, str]]:
    """The texts that describe something in the package: what is described, the statement before, the text."""
    found: list[tuple[str, ast.AST, str]] = []
    for file, tree in parsed().items():
        for node in ast.walk(tree):
            if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)):
                for before, line in pairwise([node, *node.body]):
                    match line:
                        case ast.Expr(value=ast.Constant(value=str(text))):
                            found.append((f"{file}:{line.lineno}", before, text))
    return found


def test_each_docstring_follows_what_it_describes() -> None:
    assert [
        place for place, before, _ in docstrings() if isinstance(before, ast.Expr) and not is_ellipsis(before)
    ] == []


def is_ellipsis(statement: ast.Expr) -> bool:
    return isinstance(statement.value, ast.Constant) and statement.value.value is ...


def test_classes_and_constants_that_docstrings_name_exist() -> None:
    named = [(place, name) for place, _, text in docstrings() for name in DOTTED.findall(text)]
    assert len(named) > 20
    assert [(place, name) for place, name in named if not is_defined(name)] == []


@cache
def modules() -> list[str]:
    paths = (path.relative_to(ROOT).with_suffix("") for path in PACKAGE.rglob("*.py"))
    return [".".join(path.parts).removesuffix(".__init__") for path in paths]


@cache
def is_defined(name: str) -> bool:
    """Whether a dotted name is that of a module, here by the end of its path, and of something in it."""
    path = name.split(".")
    for length in range(len(path) - 1, 0, -1):
        end = ".".join(path[:length])
        for module in [module for module in modules() if module.endswith(f".{end}")] or [end]:
            with suppress(ImportError, AttributeError):
                attrgetter(".".join(path[length:]))(import_module(module))
                return True
    return False


@pytest.mark.parametrize("name", [*PAGES, "CHANGELOG.md"])
def test_nobody_is_sent_to_the_package_of_another_project(name: str) -> None:
    """On PyPI the name belongs to somebody else: this project is installed from a checkout."""
    assert not re.search(r"pip install\b[^`\n]*(?<![/\w.-])sitemapcrawler", page(name))


@pytest.mark.parametrize("name", PAGES)
def test_files_that_are_named_exist(name: str) -> None:
    words = {word for word in INLINE.findall(prose(name)) if FILE.fullmatch(word)} - TO_WRITE
    places = (ROOT, PACKAGE, PACKAGE / "namespaces")
    assert [word for word in sorted(words) if not any((place / word).exists() for place in places)] == []


@pytest.mark.parametrize("name", [name for name in PAGES if name not in FOR_DEVELOPERS])
def test_pages_for_users_name_no_source_files(name: str) -> None:
    words = {word for word in INLINE.findall(prose(name)) if word.endswith(".py")} - TO_WRITE
    assert [word for word in sorted(words) if (ROOT / word).exists() or (PACKAGE / word).exists()] == []


@pytest.mark.parametrize("name", PAGES)
def test_links_lead_somewhere(name: str) -> None:
    for link in LINK.findall(prose(name)):
        if not link.startswith("http"):
            path, _, anchor = link.partition("#")
            target = (ROOT / name).parent / path if path else ROOT / name
            assert target.exists(), link
            titles = re.findall(r"^#+ (.+)", target.read_text(encoding="utf-8"), re.MULTILINE) if anchor else []
            assert not anchor or anchor in map(slug, titles), link


@pytest.mark.parametrize("name", PAGES)
def test_functions_and_classes_that_are_named_exist(name: str) -> None:
    for thing, module, _ in named(name):
        found = definitions()[thing] | definitions()[thing.rpartition(".")[2]]
        assert found & module if module else found, thing


@pytest.mark.parametrize("name", [SETTINGS, ARCHITECTURE])
def test_functions_and_classes_stand_in_the_file_that_is_named(name: str) -> None:
    found = list(named(name))
    assert found
    for thing, module, files in found:
        assert definitions()[thing] & (module or files), f"{thing} is in {definitions()[thing]}, not in {files}"
