"""Options from a file: which file counts, what it may hold, and what the command line leaves of it."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Annotated

import pytest
from scrapy.settings import Settings

from sitemapcrawler.commands.validate import arguments_of
from sitemapcrawler.crawl import params
from sitemapcrawler.crawl.argument_values import COMMA
from sitemapcrawler.crawl.params import ARGUMENTS, Argument, Text, declare
from sitemapcrawler.options.configuration import MAX_BYTES, OPTIONS, Config, read_config
from sitemapcrawler.options.targets import Targets
from sitemapcrawler.pipelines.summary import LIMITED_BY

PAGE = (Path(__file__).parents[3] / "docs" / "commands.md").read_text("utf-8").partition("### Options in a file")[2]
FILES = Targets(sitemaps=["file:///a.xml"], names={"file:///a.xml": "a.xml"})
SITE = Targets(sites=["e.com"])


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The working directory, in a repository above it."""
    here = tmp_path / "repository" / "site"
    here.mkdir(parents=True)
    (here.parent / ".git").mkdir()
    monkeypatch.chdir(here)
    return here


def read(text: str | None = None) -> Config:
    if text is not None:
        Path("sitemapcrawler.toml").write_text(text, encoding="utf-8")
    return read_config(Settings())


def table(text: str) -> str:
    return f"[project]\nname = 'x'\n[tool.sitemapcrawler]\n{text}\n"


# Which file counts


def test_nearest_file_counts_and_files_are_not_merged(folder: Path) -> None:
    assert read() == Config()
    (folder.parent / "pyproject.toml").write_text(table("max-urls = 1\nquiet = true"))
    assert (read().path, read().arguments({})) == ("../pyproject.toml", {"max_urls": "1"})
    (folder / "pyproject.toml").write_text("[tool.ruff]\n")
    assert read().path == "../pyproject.toml", "one without the table is ignored"
    (folder / "pyproject.toml").write_text(table("max-urls = 2"))
    assert (read().path, read().arguments({}), read().options) == ("pyproject.toml", {"max_urls": "2"}, {})
    (folder / "sitemapcrawler.toml").write_text("max-urls = 3")
    assert (read().path, read().arguments({})) == ("sitemapcrawler.toml", {"max_urls": "3"})


def test_byte_order_mark_of_an_editor_is_no_part_of_the_file(folder: Path) -> None:
    assert read("\ufeffmax-urls = 3").arguments({}) == {"max_urls": "3"}


@pytest.mark.parametrize("root", [".git", ".hg", None])
def test_parents_count_within_a_repository_only(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, root: str | None
) -> None:
    here = tmp_path / "above" / "root" / "here"
    here.mkdir(parents=True)
    monkeypatch.chdir(here)
    (tmp_path / "above" / "sitemapcrawler.toml").write_text("max-urls = 1")
    if root is not None:
        (tmp_path / "above" / "root" / root).touch()  # a file in a work tree of git
    assert read() == Config(), "a folder above the repository belongs to others"
    (tmp_path / "above" / "root" / "sitemapcrawler.toml").write_text("max-urls = 2")
    assert read().arguments({}) == ({} if root is None else {"max_urls": "2"})


# What it holds


@pytest.mark.parametrize(
    ("text", "argument"),
    [
        ('select = ["loc", "doc-bom"]', {"select": "loc,doc-bom"}),
        ('select = "loc,doc-bom"', {"select": "loc,doc-bom"}),
        ("max_urls = 5", {"max_urls": "5"}),
        ("max-time = 2.5", {"max_time": "2.5"}),
        ("since = 2026-01-05", {"since": "2026-01-05"}),
        ("since = 2026-01-05T10:00:00Z", {"since": "2026-01-05T10:00:00+00:00"}),
        ('since = "2026-01"', {"since": "2026-01"}),
        ("include = '/a,b/'", {"include": "/a,b/"}),
        ('verify = "get"\nverify-assets = true', {"verify": "get", "verify_assets": "yes"}),
        ('verify = "get"\nverify-assets = false', {"verify": "get", "verify_assets": "no"}),
    ],
)
def test_values_become_arguments(folder: Path, text: str, argument: dict[str, str]) -> None:
    assert read(text).arguments({}) == argument


def test_segments_are_a_table_of_names_and_patterns(folder: Path) -> None:
    text = '[segments]\nshop = "/shop/"\nblog = ["/blog/", "https://blog.e.com/a,b"]'
    assert read(text).arguments({}) == {"segments": "shop=/shop/,blog=/blog/,blog=https://blog.e.com/a%2Cb"}
    assert read("[segments]").arguments({}) == {}
    (folder / "sitemapcrawler.toml").unlink()
    (folder / "pyproject.toml").write_text('[tool.sitemapcrawler.segments]\nshop = "/shop/"')
    assert read().arguments({}) == {"segments": "shop=/shop/"}


def test_policy_is_a_table_of_limits_for_the_site_and_for_segments(folder: Path) -> None:
    text = """
        [policy]
        max-removed = "5%"
        must-list = ["/$", "/a,b"]
        max-errors = {status-404 = 0, page = "1%"}
        [policy.shop]
        max-removed = 10
        [policy.shop.max-errors]
        status = 1"""
    assert read(text).arguments({}) == {
        "policy": "max-removed=5%,must-list=/$,must-list=/a%2Cb,max-errors.status-404=0,max-errors.page=1%,"
        "shop.max-removed=10,shop.max-errors.status=1"
    }
    assert read(text).arguments({"policy": "min-urls=1"}) == {"policy": "min-urls=1"}


@pytest.mark.parametrize(
    ("text", "policy", "name"),
    [
        ("exclude = '/old/'", "min-urls=1", "exclude"),
        ("max-urls = 5", "min-urls=1", "max-urls"),
        ("verify = 'head'", "min-urls=1", "verify"),
        ("ignore = 'status'", "max-errors=0", "ignore"),
        ("[segments]\nshop = '/'", "shop.max-removed=0", "segments"),
    ],
)
def test_file_cannot_make_a_policy_of_the_command_line_easier_to_keep(
    folder: Path, text: str, policy: str, name: str
) -> None:
    config, given = read(text), {"policy": policy}
    with pytest.raises(ValueError) as caught:
        config.arguments(given, defaults={"verify": "get"})
    assert str(caught.value) == (
        f"sitemapcrawler.toml: {name} limits what the policy of the command line checks; "
        f"name {name.replace('-', '_')} there too"
    )
    name = name.replace("-", "_")
    given |= {name: {"segments": "shop=/shop/", "verify": "get", "max_urls": "9"}.get(name, "none")}
    assert config.arguments(given, defaults={"verify": "get"})[name] == given[name]


def test_file_that_narrows_nothing_stands_beside_a_policy_of_the_command_line(folder: Path) -> None:
    config = read("max-depth = 12\nverify = 'get'\n[policy]\nmin-urls = 0\n[segments]\nshop = '/shop/'")
    of_file = {"max_depth": "12", "verify": "get", "segments": "shop=/shop/"}
    assert config.arguments({"policy": "min-urls=9"}) == {**of_file, "policy": "min-urls=9"}


def test_list_is_read_from_the_folder_of_the_file(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (folder / "lists").mkdir()
    (folder / "lists" / "rules.txt").write_text("loc  # a comment\n\ndoc-bom\n")
    (folder / "sitemapcrawler.toml").write_text('ignore = ["news", "@lists/rules.txt"]')
    monkeypatch.chdir(folder / "lists")
    config = read_config(Settings())
    assert (config.path, config.arguments({})) == ("../sitemapcrawler.toml", {"ignore": "news,loc,doc-bom"})


def test_list_behind_a_link_is_where_the_link_leads(folder: Path) -> None:
    (folder / "inside.txt").write_text("loc")
    (folder.parent / "outside.txt").write_text("a secret")
    (folder / "link.txt").symlink_to(folder / "inside.txt")
    assert read('select = "@link.txt"').arguments({}) == {"select": "loc"}
    for target in (folder.parent / "outside.txt", folder / "link.txt"):
        (folder / "link.txt").unlink()
        (folder / "link.txt").symlink_to(target)
        with pytest.raises(ValueError, match=r"cannot read 'link.txt', (is outside|no such file)"):
            read('select = "@link.txt"')
    (folder / "up").symlink_to(folder.parent)
    with pytest.raises(ValueError, match="base-dir = 'up': is outside the folder of this file"):
        read('base-dir = "up"')


def test_wrong_line_of_a_list_is_named_without_its_text(folder: Path) -> None:
    (folder / "token.txt").write_text("loc\ntoken=secret\n")
    with pytest.raises(
        ValueError, match=r"select = '@token\.txt': line 2 of 'token\.txt' is wrong; accepted: "
    ) as caught:
        read('select = "@token.txt"')
    assert "secret" not in str(caught.value)


def test_list_that_names_another_is_refused(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(params, "_models", [params.Params])
    monkeypatch.setitem(ARGUMENTS, "toys", Argument())  # declared next, and removed after the test
    declare("toys", Annotated[tuple[str, ...], Text(str, COMMA)], (), "Toys to look for.", Argument("names"))
    (folder / "toys.txt").write_text("ball\n@/etc/passwd\n")
    with pytest.raises(ValueError, match="cannot read '/etc/passwd', a list names no other list"):
        read('toys = "@toys.txt"')


def test_options_of_validate_are_kept_apart(folder: Path) -> None:
    config = read('format = "json"\nfail_on = "warning"\nquiet = false\nbase-url = "https://e.com/"\nbase-dir = "."')
    assert config.options == {
        "format": "json",
        "fail-on": "warning",
        "quiet": False,
        "base-url": "https://e.com/",
        "base-dir": str(folder),
    }
    assert config.arguments({}) == {}


WRONG = {
    "near key": ('fial-on = "error"', "fial-on: unknown key, did you mean fail-on?"),
    "near argument": ("max-url = 5", "max-url: unknown key, did you mean max-urls?"),
    "far key": ("x = 5", "x: unknown key; accepted: format, fail-on,"),
    "table": ("[validate]\nquiet = true", "validate: unknown key"),
    "twice": ("max-urls = 5\nmax_urls = 6", "max-urls: is given twice"),
    "target": ('domain = "e.com"', "domain: belongs on the command line"),
    "argument of one run": ("fresh = true", "fresh: belongs on the command line"),
    "place to write to": ('report = "out"', "report: belongs on the command line"),
    "setting": ('SITEMAP_RULES = "evil.py"', "SITEMAP_RULES: unknown key"),
    "number": ('max-urls = "many"', "max-urls = 'many': invalid value; accepted: a whole number from 1"),
    "flag": ("max-urls = true", "max-urls = True: is not a number; accepted:"),
    "list": ("max-urls = [5]", "max-urls = [5]: invalid value"),
    "mixed list": ('select = ["loc", 5]', "select = ['loc', 5]: is not text"),
    "rule": ('ignore = ["loc-relativ"]', "did you mean loc-relative?"),
    "text": ("format = 5", "format = 5: accepted: a text"),
    "quiet": ('quiet = "yes"', "quiet = 'yes': accepted: true, false"),
    "base URL": ('base-url = "/x"', "base-url = '/x': not a valid http or https URL"),
    "base folder": ('base-dir = "nosuch"', "base-dir = 'nosuch': no such folder"),
    "base folder above": ('base-dir = ".."', "base-dir = '..': is outside the folder of this file"),
    "base folder that is everything": ('base-dir = "/"', "base-dir = '/': is outside the folder of this file"),
    "base folder with a zero": ('base-dir = "a\\u0000b"', "is outside the folder of this file"),
    "lookahead": ('include = "a(?=b)"', "include = 'a(?=b)': RE2: invalid perl operator: (?=; accepted: a regular"),
    "list above": ('agents = "@../list.txt"', "agents = '@../list.txt': cannot read '../list.txt', is outside"),
    "list elsewhere": (
        'select = "loc,@/etc/passwd"',
        "cannot read '/etc/passwd', is outside the folder of this file",
    ),
    "list that is missing": ('select = "@nosuch.txt"', "cannot read 'nosuch.txt', no such file"),
    "segments that are no table": ("segments = 3", "segments: accepted: a table"),
    "limit without a value": ("[policy]\nmax-removed = []", "policy.max-removed: the list is empty"),
    "number as a pattern": ("[segments]\nshop = 5", "segments.shop = 5: does not begin with /, * or https://"),
    "flag as a pattern": ("[segments]\nshop = true", "segments.shop = True: accepted: a text or a number"),
    "table as a pattern": ("[[segments.shop]]\na = 1", "segments.shop = {'a': 1}: accepted: a text or"),
    "list of segments": ('[segments]\n"@/etc/passwd" = "/"', "segments.@/etc/passwd = '/': a segment's name has"),
    "nested segments": ("[segments.a.b.c.d.e]\nf = '/x'", "segments.a.b.c.d.e: nests too deeply"),
    "limit": ('[policy]\nmax-removd = "5%"', "policy.max-removd = '5%': unknown key, did you mean max-removed?"),
    "limit of a segment": (
        "[policy.shop]\nmin-url = 5",
        "policy.shop.min-url = 5: unknown key, did you mean min-urls?",
    ),
    "rule of a limit": ("[policy.max-errors]\nstatus-40 = 5", "policy.max-errors.status-40 = 5: no rule or family"),
    "share that is a number": (
        "[policy]\nmax-removed = 0.05",
        "policy.max-removed = 0.05: accepted: a whole number, or a share such as 2.5%",
    ),
    "policy of a file": (
        '[policy]\nmust-list = "@/etc/passwd"',
        "policy.must-list = '@/etc/passwd': does not begin with",
    ),
    "policy from a file": ('policy = "@/etc/passwd"', "policy: accepted: a table"),
    "TOML": ("a = =", "is not TOML in UTF-8: Invalid value (at "),
    "nested TOML": ("a = " + "[" * 100_000, "is not TOML in UTF-8: it nests too deeply"),
    "size": ("#" * (MAX_BYTES + 1), "is longer than 1,048,576 bytes"),
    "control character": ('"a\\u001b[2J" = 1', "unknown key"),
}


@pytest.mark.parametrize("name", WRONG)
def test_wrong_files_are_one_line(folder: Path, name: str) -> None:
    text, problem = WRONG[name]
    with pytest.raises(ValueError, match=r"^sitemapcrawler\.toml") as caught:
        read(text)
    assert problem in str(caught.value)
    assert str(caught.value).isprintable()


@pytest.mark.parametrize(
    ("data", "problem"),
    [
        (b"\xff", "pyproject.toml is not TOML in UTF-8"),
        (b"tool.sitemapcrawler = 5", "tool.sitemapcrawler is not a table"),
    ],
)
def test_pyproject_that_cannot_be_used(folder: Path, data: bytes, problem: str) -> None:
    (folder / "pyproject.toml").write_bytes(data)
    with pytest.raises(ValueError, match=problem):
        read()


def test_documentation_has_every_key_and_its_example_is_accepted(folder: Path) -> None:
    example = re.findall(r"```toml\n(.*?)```", PAGE, re.DOTALL)[0]
    (folder / "public").mkdir()
    (folder / "pyproject.toml").write_text(example)
    config = read()
    assert (config.path, config.options["fail-on"]) == ("pyproject.toml", "warning")
    rows = re.findall(r"^\| (`.*?) \|", PAGE.partition("### Output")[0], re.MULTILINE)
    keys = {key for row in rows for key in re.findall(r"`([a-z-]+)`", row)}
    with pytest.raises(ValueError, match="accepted") as caught:
        read("x = 5")
    assert keys == set(str(caught.value).partition("accepted: ")[2].split(", "))
    assert {*OPTIONS} < keys and len(keys - {*OPTIONS}) < len(ARGUMENTS)


# What the command line leaves of it


def test_command_line_wins(folder: Path) -> None:
    config = read('select = "loc"\nmax-urls = 5')
    assert config.arguments({"select": "doc"}) == {"select": "doc", "max_urls": "5"}


@pytest.mark.parametrize(
    ("given", "left"),
    [
        ({}, {}),
        ({"verify": "off"}, {"verify": "off"}),
        ({"verify": "head"}, {"verify": "head", "sample": "9", "seed": "3"}),
        ({"urls": "x"}, {"urls": "x", "sample": "9", "seed": "3"}),
        ({"urls": "x", "verify": "off"}, {"urls": "x", "verify": "off"}),
    ],
)
def test_argument_without_effect_is_left_out(folder: Path, given: dict[str, str], left: dict[str, str]) -> None:
    assert read("seed = 3\nsample = 9").arguments(given) == left


@pytest.mark.parametrize(
    ("text", "given", "limits"),
    [
        ('select = "none"\nfail-on = "never"', {}, "select = none, fail-on = never"),
        ('exclude = "/b"\nignore = ["loc", "news"]', {}, "exclude = /b, ignore = loc,news"),
        ('exclude = "/b"\nselect = "loc"', {"exclude": "/c"}, "select = loc"),
        ('agents = "bing"\nprobe = "never"\nmax-depth = 1', {}, "agents = bing, probe = never, max-depth = 1"),
        ('agents = "search,ai,baidu"\nprobe = "always"\nmax-depth = 99\nfindings = "all"', {}, None),
        ('fail-on = "warning"\nquiet = true\nverify = "get"', {}, None),
        ('verify = "head"', {}, "verify = head"),
        ('sample = "99.9%"', {}, "sample = 99.9%"),
        ('sample = "100 %"', {}, None),
        ('verify = "off"', {"verify": "get"}, None),
    ],
)
def test_what_a_file_leaves_out_is_named(folder: Path, text: str, given: dict[str, str], limits: str | None) -> None:
    config, settings = read(text), Settings()
    arguments = config.arguments(given, defaults={"verify": "get"})
    options = {"fail-on": config.options.get("fail-on", "error")}
    assert config.note_limits(settings, arguments, options, {"verify": "get"}) is (limits is not None)
    assert settings.get(LIMITED_BY) == (limits and f"sitemapcrawler.toml: {limits}")


def test_fail_on_of_the_command_line_is_no_limit_of_the_file(folder: Path) -> None:
    assert not read('fail-on = "never"').note_limits(Settings(), {}, {"fail-on": "error"})


def test_files_are_not_the_reason_for_a_request(folder: Path) -> None:
    config = read('verify = "head"\nagents = "ai"\nsample = 5\nbase-url = "https://e.com/"\nbase-dir = "."')
    of_files = arguments_of(FILES, {}, {}, config)
    assert of_files == {
        "sitemap": "file:///a.xml",
        "agents": "none",
        "offline": "yes",
        "base_url": "https://e.com/",
        "base_dir": str(folder),
    }
    asked = arguments_of(FILES, {"verify": "get"}, {}, config)
    assert (asked["verify"], asked["sample"], "offline" in asked) == ("get", "5", False)
    assert arguments_of(SITE, {}, {}, config) == {"domain": "e.com", "verify": "head", "agents": "ai", "sample": "5"}


def test_named_folder_and_options_win_over_places_of_the_file(folder: Path) -> None:
    config = read('base-url = "https://e.com/"\nbase-dir = "."')
    named = Targets(FILES.sites, FILES.sitemaps, FILES.names, folder="public")
    arguments = arguments_of(named, {"base_url": "https://f.com/"}, {}, config)
    assert (arguments["base_url"], arguments["base_dir"]) == ("https://f.com/", "public")
    assert arguments_of(named, {"base_dir": "."}, {})["base_dir"] == "."
