"""Findings as lines of a compiler: in order, one each, inert, with a summary."""

from __future__ import annotations

import json
import re
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sitemapcrawler.feeds.lines import GitHubExporter, LinesExporter
from sitemapcrawler.items import Reach, SitemapRecord, SummaryRecord, UrlRecord

from .exporting import export, write
from .findings_written import SITEMAP, a_finding, peak, with_findings

TEXT = st.text(st.characters(exclude_categories=[]))
COMMANDS = Path(__file__).parents[3] / "docs" / "commands.md"
MATCHER = re.compile(json.loads(re.findall(r"```json\n(.*?)```", COMMANDS.read_text("utf-8"), re.DOTALL)[0])["regexp"])
"""What the documentation gives to editors."""


def lines(*items: Any, **options: Any) -> list[str]:
    exporter = options.pop("exporter", LinesExporter)
    return export(exporter, *items, **options).decode(options.get("encoding", "utf-8")).split("\n")[:-1]


def github(*items: Any, **options: Any) -> list[str]:
    return lines(*items, exporter=GitHubExporter, **options)


def commands(line: str) -> list[tuple[str, dict[str, str], str]]:
    """The commands that GitHub's runner finds in a line of a log: name, properties and message. After ActionCommand.cs of
    https://github.com/actions/runner."""
    if old := re.search(r"##\[([\w.-]+)[ \]]", line):
        return [(old[1], {}, line)]
    if not line.lstrip().startswith("::") or (end := line.lstrip().find("::", 2)) < 0:
        return []
    name, _, rest = line.lstrip()[2:end].partition(" ")
    properties = dict(each.split("=", 1) for each in rest.split(",") if "=" in each)
    return [(name, properties, line.lstrip()[end + 2 :])]


def unescaped(text: str) -> str:
    for escape, char in (("%0D", "\r"), ("%0A", "\n"), ("%3A", ":"), ("%2C", ","), ("%25", "%")):
        text = text.replace(escape, char)
    return text


@pytest.mark.parametrize(
    ("fields", "line"),
    [
        ({"line": 123, "column": 7}, f"{SITEMAP}:123:7 error loc-relative '/x' is not absolute"),
        ({"line": 123}, f"{SITEMAP}:123 error loc-relative '/x' is not absolute"),
        ({"column": 7}, f"{SITEMAP} error loc-relative '/x' is not absolute"),
        ({"line": 0, "column": 0}, f"{SITEMAP} error loc-relative '/x' is not absolute"),
        ({"sitemap": None}, "crawl error loc-relative '/x' is not absolute"),
        ({"severity": "info", "line": 1}, f"{SITEMAP}:1 info loc-relative '/x' is not absolute"),
        ({"url": "https://e.com/x"}, f"{SITEMAP} error loc-relative '/x' is not absolute (https://e.com/x)"),
        ({"url": f"/{'y' * 300}"}, f"{SITEMAP} error loc-relative '/x' is not absolute (/{'y' * 196}...)"),
        ({"url": "/x"}, f"{SITEMAP} error loc-relative '/x' is not absolute"),
        ({"message": "a\nb\x1b[31m\u202e"}, f"{SITEMAP} error loc-relative a\\nb\\x1b[31m\\u202e"),
    ],
)
def test_line_of_a_finding(fields: dict[str, Any], line: str) -> None:
    assert lines(a_finding(**fields)) == [line]
    found = MATCHER.match(line)
    assert found
    place = [part and int(part) for part in found.group(2, 3)]
    known = [fields.get("line") or None, fields.get("column") if fields.get("line") else None]
    assert (found[1], place, found[5]) == (fields.get("sitemap", SITEMAP) or "crawl", known, "loc-relative")


def test_files_stand_together_in_the_order_they_were_named() -> None:
    names = {"file:///b.xml": "b.xml", "file:///a.xml": "sub/../a.xml"}
    found = [
        a_finding(sitemap=file, line=line)
        for line in (10, 9, 100, None)
        for file in ("https://e.com/2.xml", "file:///a.xml", None, "https://e.com/1.xml", "file:///b.xml")
    ]
    places = [line.split(" ")[0] for line in lines(*found, names=names)]
    of_each = [f"{{0}}{line}" for line in ("", ":9", ":10", ":100")]
    files = ["b.xml", "sub/../a.xml", "https://e.com/1.xml", "https://e.com/2.xml"]
    assert places == [place.format(file) for file in files for place in of_each] + ["crawl"] + [
        "crawl:9",
        "crawl:10",
        "crawl:100",
    ]


def test_errors_stand_before_warnings_of_all_files() -> None:
    found = [
        a_finding(severity=severity, sitemap=f"https://e.com/{file}.xml", line=line, message="m")
        for severity in ("info", "odd", "warning", "error")
        for file in (2, 1)
        for line in (9, 3)
    ]
    places = [f"https://e.com/{file}.xml:{line}" for file in (1, 2) for line in (3, 9)]
    wanted = [f"{place} {each} loc-relative m" for each in ("error", "warning", "info", "odd") for place in places]
    assert lines(*found) == wanted


def test_findings_ride_on_batches_and_files() -> None:
    batch = with_findings(UrlRecord(loc="https://e.com/x"), a_finding(line=2, message="on the entry"))
    file = with_findings(SitemapRecord(sitemap=SITEMAP), a_finding(line=1, message="on the file"))
    assert [line.partition("relative ")[2] for line in lines(batch, file)] == ["on the file", "on the entry"]


def test_file_of_this_machine_that_was_not_named_is_a_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    found = [a_finding(sitemap=path.as_uri()) for path in (tmp_path / "sub" / "a b.xml", Path("/else/c.xml"))]
    assert [line.partition(" error")[0] for line in lines(*found)] == ["/else/c.xml", "sub/a b.xml"]


def test_messages_name_files_as_the_user_does() -> None:
    names = {"file:///dir/b.xml": "b.xml"}
    [line] = lines(a_finding(message="is listed in 'file:///dir/b.xml' too"), names=names)
    assert line.endswith("is listed in 'b.xml' too")


def test_colours_are_those_of_the_severity() -> None:
    [line] = lines(a_finding(line=1), colour=True)
    assert line == f"\x1b[1m{SITEMAP}:1\x1b[0m \x1b[1;31merror\x1b[0m loc-relative '/x' is not absolute"


def test_characters_that_cannot_be_written_become_escapes() -> None:
    [line] = lines(
        a_finding(message="caf\u00e9", sitemap="file:///x"), names={"file:///x": "\u4e2d.xml"}, encoding="ascii"
    )
    assert line == "\\u4e2d.xml error loc-relative caf\\xe9"


REACH = {
    "error": Reach("error", 300, None, 2), "warning": Reach("warning", 1, None, 1), "info": Reach("info", 0, None, 1),
}  # fmt: skip
EVERYWHERE = "errors on 300 URLs in 2 files, warnings on 1 URL, notes in 1 file"
SUMMARIES: dict[str, tuple[dict[str, Any], list[str]]] = {
    "clean": ({"sitemaps": 1, "urls": 1}, ["1 file, 1 URL: nothing found"]),
    "counts": (
        {"sitemaps": 3, "urls": 1234, "severities": {"info": 1, "error": 1, "warning": 2}, "severity_reach": REACH},
        [f"3 files, 1,234 URLs: {EVERYWHERE}", "4 more findings not shown"],
    ),
    "offline": (
        {"skipped": {"offline": 2}},
        ["0 files, 0 URLs: nothing found", "not read: 2 sitemaps that an index lists"],
    ),
    "stopped": ({"partial": "max_time"}, ["0 files, 0 URLs: nothing found", "stopped before the end: max_time"]),
    "file": (
        {"sitemaps": 1, "limited_by": "pyproject.toml: select = none"},
        ["1 file, 0 URLs: nothing found", "limited by pyproject.toml: select = none"],
    ),
    "limit": (
        {"sitemaps": 1, "urls": 3, "partial": "max_urls"},
        ["1 file, 3 URLs: nothing found; the rest was not read (max_urls)"],
    ),
}


@pytest.mark.parametrize("name", SUMMARIES)
def test_summary(name: str) -> None:
    fields, wanted = SUMMARIES[name]
    told = lines(SummaryRecord(**fields))
    assert len(told) == len(wanted)
    assert all(line.startswith(beginning) for line, beginning in zip(told, wanted, strict=True)), told


def test_findings_that_are_shown_are_not_said_to_be_hidden() -> None:
    summary = SummaryRecord(sitemaps=1, severities={"error": 1}, severity_reach={"error": Reach("error", 1, None, 1)})
    assert lines(a_finding(), summary)[1:] == ["1 file, 0 URLs: errors on 1 URL"]


@given(
    st.builds(a_finding, rule=TEXT, severity=TEXT, message=TEXT, sitemap=TEXT, url=TEXT, line=st.none() | st.integers())
)
def test_whatever_a_stranger_wrote_is_one_line(finding: Any) -> None:
    [line] = lines(finding)
    assert line.isprintable()


@pytest.mark.slow
def test_memory_does_not_grow_with_the_findings() -> None:
    few, _ = peak(partial(write, LinesExporter), 200)
    many, size = peak(partial(write, LinesExporter), 600)
    assert size > 2_000_000
    assert many < 1.3 * few


def test_lines_are_sorted_whatever_the_order_in_which_they_come() -> None:
    numbers = [number * 7919 % 10_007 for number in range(10_007)]
    found = lines(*(a_finding(line=number + 1, message="m") for number in numbers))
    assert found == [f"{SITEMAP}:{number + 1} error loc-relative m" for number in range(10_007)]


# Workflow commands of GitHub


@pytest.mark.parametrize(
    ("fields", "command"),
    [
        ({"line": 3, "column": 7}, "error file=public/a.xml,line=3,col=7,title=loc-relative::m"),
        ({"line": 3, "severity": "warning"}, "warning file=public/a.xml,line=3,title=loc-relative::m"),
        ({"column": 7, "severity": "info"}, "notice file=public/a.xml,title=loc-relative::m"),
        ({"severity": "odd"}, "warning file=public/a.xml,title=loc-relative::m"),
        ({"message": "50%\r\n::x,y"}, "error file=public/a.xml,title=loc-relative::50%25\\r\\n::x,y"),
        ({"url": "https://e.com/a%20b"}, "error file=public/a.xml,title=loc-relative::m (https://e.com/a%2520b)"),
        ({"sitemap": SITEMAP, "line": 3}, f"error title=loc-relative::{SITEMAP}:3: m"),
        ({"sitemap": None}, "error title=loc-relative::crawl: m"),
        ({"sitemap": "file:///dev/stdin", "line": 3}, "error title=loc-relative::<stdin>:3: m"),
    ],
)
def test_workflow_command_of_a_finding(
    fields: dict[str, Any], command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("GITHUB_WORKSPACE", raising=False)
    file = (tmp_path / "public/a.xml").as_uri()
    names = {"file:///dev/stdin": "<stdin>", file: "./public/../public/a.xml"}
    assert github(a_finding(**{"message": "m", "sitemap": file, **fields}), names=names) == [f"::{command}"]


def test_properties_escape_what_ends_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("GITHUB_WORKSPACE", raising=False)
    [line] = github(a_finding(sitemap=(tmp_path / "a,line=9::100%.xml").as_uri(), line=2, message="m"))
    assert line == "::error file=a%2Cline=9%3A%3A100%25.xml,line=2,title=loc-relative::m"
    [(name, properties, _)] = commands(line)
    assert (name, unescaped(properties["file"]), properties["line"]) == ("error", "a,line=9::100%.xml", "2")


def test_paths_are_relative_to_the_checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "checkout" / "site").mkdir(parents=True)
    (tmp_path / "link").symlink_to(tmp_path / "checkout")
    monkeypatch.chdir(tmp_path / "checkout" / "site")
    inside, outside = tmp_path / "checkout/site/a.xml", tmp_path / "b.xml"
    for workspace, wanted in (("checkout", "site/a.xml"), ("link", "site/a.xml"), (None, "a.xml")):
        if workspace is None:
            monkeypatch.delenv("GITHUB_WORKSPACE")
        else:
            monkeypatch.setenv("GITHUB_WORKSPACE", str(tmp_path / workspace))
        written = github(*(a_finding(sitemap=path.as_uri()) for path in (inside, outside)))
        assert [commands(line)[0][1]["file"] for line in written] == [str(outside), wanted]


def test_errors_are_the_first_commands_and_the_summary_the_last_line() -> None:
    found = [a_finding(severity=each, message="m") for each in ("info", "warning", "error")]
    summary = SummaryRecord(sitemaps=1, severities={"error": 1, "warning": 1, "info": 1}, severity_reach=REACH)
    written = github(*found, summary)
    assert [commands(line)[0][0] for line in written[:-1]] == ["error", "warning", "notice"]
    assert (written[-1], commands(written[-1])) == (f"1 file, 0 URLs: {EVERYWHERE}", [])


COMMAND = st.sampled_from(
    ["::add-mask::x", " ::stop-commands::x", "\n::set-output name=a::b", "##[group]", "%0A::error::", "a,b"]
)


@given(
    st.builds(
        a_finding,
        rule=TEXT | COMMAND,
        severity=TEXT | COMMAND,
        message=TEXT | COMMAND,
        sitemap=TEXT | COMMAND | COMMAND.map(lambda text: f"file:///{text}"),
        url=TEXT | COMMAND,
        line=st.none() | st.integers(),
    ),
    TEXT | COMMAND,
)
def test_untrusted_text_is_never_a_workflow_command(finding: Any, name: str) -> None:
    names = {finding.sitemap: name} if name else {}
    [line] = lines(finding, names=names)
    assert commands(line) == []
    [line] = github(finding, names=names)
    [(command, properties, message)] = commands(line)
    assert command in ("error", "warning", "notice")
    assert properties.keys() <= {"file", "line", "col", "title"}
    assert line.isprintable() and not re.search("%(?!25|0A|0D)", message)


# Less of it


def test_quiet_run_has_no_summary_but_says_that_it_was_stopped() -> None:
    summary = SummaryRecord(sitemaps=1, severities={"error": 1}, skipped={"offline": 1})
    assert lines(a_finding(line=1), summary, quiet=True) == [f"{SITEMAP}:1 error loc-relative '/x' is not absolute"]
    assert lines(summary, quiet=True) == []
    assert lines(SummaryRecord(partial="max_time"), quiet=True) == ["stopped before the end: max_time"]


def test_findings_below_the_least_severity_are_counted_and_not_said_to_be_hidden() -> None:
    summary = SummaryRecord(sitemaps=1, severities={"error": 1, "warning": 2, "info": 3}, severity_reach=REACH)
    assert lines(a_finding(), summary, least="error")[1:] == [f"1 file, 0 URLs: {EVERYWHERE}"]
    told = lines(a_finding(), summary, least="warning")[2]
    assert told.startswith("2 more findings not shown: ")
