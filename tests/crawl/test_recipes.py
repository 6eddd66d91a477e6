"""docs/recipes.md, from top to bottom: its files written, its scripts run on the demo site, what they give looked at."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
import yaml

from demo.server import serving
from tests.crawl.crawling import AT_HOME, LOOPBACK, NO_DELAYS, ROOT
from tests.crawl.programs import OF_SHELL, run_shown, write_program, write_programs

pytestmark = pytest.mark.slow

pytest.importorskip("pyarrow")
pytest.importorskip("pandas")
pytest.importorskip("polars")
PAGE = (ROOT / "docs" / "recipes.md").read_text(encoding="utf-8")
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
NAMED = re.compile(r"`([\w.]+\.(?:py|cfg))`")
"""The file that a block of Python or of settings is: the last one named before it in its recipe, once."""
RUN = ("sh", "python")
"""Languages of blocks that are run; the commands in YAML are tried by the check of their recipe."""
PUBLISHED = "public/sitemap.xml"
OPTIONS = " ".join(f"-s {name}={value}" for name, value in {**NO_DELAYS, **AT_HOME, **LOOPBACK}.items())


@dataclass
class Step:
    """One block of a recipe that was run."""

    code: int
    output: str
    """Standard output."""
    log: str
    """Standard error."""

    @property
    def lines(self) -> list[str]:
        return self.output.splitlines()

    @property
    def rows(self) -> list[list[str]]:
        """Cells of its lines, separated by tabs."""
        return [line.split("\t") for line in self.lines]


@dataclass
class Kitchen:
    """A folder in which all recipes were tried, one after the other."""

    folder: Path
    base: str
    steps: dict[str, list[Step]] = field(default_factory=dict)
    """By title of the recipe."""

    def run(self, language: str, text: str) -> Step:
        """Run a block as it stands, but on the demo site."""
        text = (
            text.replace("domain=example.com", f"domain={self.base}")
            .replace("audit example.com", f"audit {self.base}")
            .replace("example.com", "museum.example")
        )
        if language == "python":
            text = f"python - <<'END'\n{text}\nEND"
        text = text.strip()
        if text.startswith(("sitemapcrawler ", "scrapy ")) and not OF_SHELL.search(text):
            text = f"{text} {OPTIONS}"  # started by no shell, and so without the scripts that have them
        done = run_shown(text, self.folder, self.folder / "bin")
        assert "Traceback" not in done.stderr, done.stderr
        return Step(done.returncode, done.stdout, done.stderr)

    def records(self, name: str) -> list[dict[str, Any]]:
        """Of a JSON lines feed."""
        return [json.loads(line) for line in (self.folder / name).read_text(encoding="utf-8").splitlines()]

    def urls(self, name: str) -> list[str]:
        """Pages that a JSON lines feed lists."""
        return [record["loc"] for record in self.records(name) if record["type"] == "url"]


def recipes() -> Iterator[tuple[str, str, str, str | None]]:
    """(title, language, text, name of the file or None) of each block of the page."""
    for part in PAGE.split("\n## ")[1:]:
        title, _, text = part.partition("\n")
        after, used = 0, set[str]()
        for block in BLOCK.finditer(text):
            language, code = block.groups()
            names = [
                name for name in NAMED.findall(text, after, block.start()) if language != "sh" and name not in used
            ]
            after = block.end()
            used.update(names[-1:])
            if language != "yaml":
                yield title, language, code, names[-1] if names else None


@pytest.fixture(scope="module")
def kitchen(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Kitchen]:
    if shutil.which("jq") is None:
        pytest.skip("jq is not installed")
    folder = tmp_path_factory.mktemp("recipes")
    with serving() as base:
        kitchen = Kitchen(folder, base)
        prepare(kitchen)
        for title, language, code, name in recipes():
            if name is not None:
                (folder / name).write_text(code)
            else:
                kitchen.steps.setdefault(title, []).append(kitchen.run(language, code))
        yield kitchen


def prepare(kitchen: Kitchen) -> None:
    """The programs, without delays, and the files that recipes start from."""
    programs, folder = kitchen.folder / "bin", kitchen.folder
    write_programs(programs)
    for name in ("scrapy", "sitemapcrawler"):
        (programs / name).write_text((programs / name).read_text().replace('"$@"', f'"$@" {OPTIONS}'))
    write_program(programs / "mail", 'printf "%s\\n" "$@" >mail.txt; cat >>mail.txt')
    (folder / "old-urls.txt").write_text(f"{kitchen.base}/visit\n{kitchen.base}/no-such-page\n")
    table = "loc,lastmod\nhttps://museum.example/,2026-05-01\nhttps://museum.example/blog/a,2026-05-02\n"
    (folder / "pages.csv").write_text(table)
    (folder / PUBLISHED).parent.mkdir()
    (folder / PUBLISHED).write_text(urlset("/visit"))
    rows = [
        {"type": "url", "loc": "https://example.com/a", "change": "changed", "changed_fields": ["lastmod", "images"]},
        {"type": "url", "loc": "https://example.com/b", "change": "added"},
        {"type": "summary"},
    ]
    (folder / "changes.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows))


def urlset(loc: str) -> str:
    return f'<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"><url><loc>{loc}</loc></url></urlset>'


def gate(steps: list[Step], kitchen: Kitchen) -> None:
    assert (steps[0].code, steps[0].lines[0].split(" ")[1:3]) == (1, ["error", "loc-relative"])
    in_ci = re.findall(r"^ +- (?:run: )?(sitemapcrawler .*)$", PAGE, re.MULTILINE)
    assert kitchen.run("sh", in_ci[0]).code == 1, "a relative URL is an error"
    log = json.loads((kitchen.folder / "sitemaps.sarif").read_text(encoding="utf-8"))
    assert "loc-relative" in {result["ruleId"] for result in log["runs"][0]["results"]}
    (kitchen.folder / PUBLISHED).write_text(urlset("https://museum.example/visit"))
    assert [kitchen.run("sh", command).code for command in in_ci] == [0, 0]
    assert '<testsuite name="' in (kitchen.folder / "sitemaps.xml").read_text(encoding="utf-8")


def test_workflow_gives_the_action_inputs_that_it_has() -> None:
    action = yaml.safe_load((ROOT / "action.yml").read_text("utf-8"))
    workflow = yaml.safe_load(re.findall(r"```yaml\n(# \.github/workflows/sitemaps\.yml.*?)```", PAGE, re.DOTALL)[0])
    [step] = [each for each in workflow["jobs"]["validate"]["steps"] if each["uses"] == "./tools/sitemapcrawler"]
    assert {*step["with"]} == {*action["inputs"]}


def after(steps: list[Step], kitchen: Kitchen) -> None:
    assert (steps[0].code, steps[0].lines[-1]) == (1, "false"), "the demo site has pages that do not answer"
    (kitchen.folder / "clean.json").write_text('{"type": "summary", "bad": {"bad": 0}}\n')
    [condition] = re.findall(r"^jq -e .*$", PAGE, re.MULTILINE)
    assert kitchen.run("sh", condition.replace("deployed/summary.json", "clean.json")).code == 0


def alert(steps: list[Step], kitchen: Kitchen) -> None:
    mail = kitchen.folder / "mail.txt"
    assert steps[0].code == 0
    assert "errors were found\n" in mail.read_text()
    script = next(code for title, _, code, _ in recipes() if title == "An alert by exit code")
    kitchen.run("sh", script.replace("audit example.com", "audit http://127.0.0.1:1"))
    assert "no sitemap could be read\n" in mail.read_text(), "and the subject says so"
    assert "127.0.0.1:1/" in mail.read_text()
    kitchen.run("sh", script.replace("max_time=3600", "max_urls=1"))
    assert "stopped before the end\n" in mail.read_text()


def changes(steps: list[Step], _: Kitchen) -> None:
    assert steps[0].rows == [
        ["changed", "https://example.com/a", "lastmod images"],
        ["added", "https://example.com/b", ""],
    ]


def moved(steps: list[Step], kitchen: Kitchen) -> None:
    assert sorted(row[:4] for row in steps[0].rows) == [
        ["200", "200", "ok", f"{kitchen.base}/visit"],
        ["404", "404", "http-error", f"{kitchen.base}/no-such-page"],
    ]


def sample(steps: list[Step], _: Kitchen) -> None:
    for found in map(json.loads, steps[0].lines[-2:]):
        assert 0 < found["bad"] <= found["checked"] <= found["population"] < 1000
        assert found["low"] <= found["share"] <= found["high"]


def from_database(steps: list[Step], kitchen: Kitchen) -> None:
    assert steps[0].code == 0
    assert "1 file read, 2 entries: 2 kept" in steps[0].output
    assert sorted(path.name for path in (kitchen.folder / "made/upload").iterdir()) == [
        "sitemap-blog.xml", "sitemap-root.xml", "sitemap.xml",
    ]  # fmt: skip


def with_jq(steps: list[Step], kitchen: Kitchen) -> None:
    lines = steps[1].lines
    rules = [line.split() for line in lines if re.fullmatch(r" *\d+ [a-z0-9-]+", line)]
    summary = kitchen.records("records.jsonl")[-1]
    assert sum(int(count) for count, _ in rules) == summary["severities"]["error"]
    assert "blocked" in {row[0] for row in steps[1].rows}
    assert f"{kitchen.base}/private/press-kit" in lines
    dated = [row for row in steps[1].rows if re.match(r"\d{4}-\d\d-\d\dT.*Z$", row[0])]
    assert len(dated) == 5 and dated == sorted(dated, key=lambda row: row[0], reverse=True)
    assert any(re.match(r"http.*defects\.xml:3: error: '/defects/1' is not absolute", line) for line in lines)


def parquet(steps: list[Step], _: Kitchen) -> None:
    assert [step.code for step in steps] == [0] * 4
    pandas, polars, duckdb = (step.output for step in steps[1:])
    assert re.search(r"catalogue\.xml\.gz +60 .*00:00", pandas)
    assert "priority-ignored" in polars or "loc-duplicate" in polars
    assert "image" in duckdb and "/collection/harbour-lamp" in duckdb


def spreadsheet(_: list[Step], kitchen: Kitchen) -> None:
    data = (kitchen.folder / "pages.csv").read_bytes()
    assert data.startswith(b"\xef\xbb\xbfloc,lastmod_at,sitemap,line,issues\r\n")
    assert data.count(b"\n") > 100


def spider(_: list[Step], kitchen: Kitchen) -> None:
    seeds = (kitchen.folder / "seeds.txt").read_text().splitlines()
    assert len(seeds) > 80 and f"{kitchen.base}/private/press-kit" not in seeds
    titles = kitchen.records("titles.jsonl")
    assert {item["url"] for item in titles} <= set(seeds)
    assert any(item["title"] and item["lastmod"] for item in titles)


def project(_: list[Step], kitchen: Kitchen) -> None:
    listed = kitchen.urls("records.jsonl")
    assert f"{kitchen.base}/visit" in listed, "other pages are there"
    assert f"{kitchen.base}/private/press-kit" not in listed, "the pipeline leaves out what Googlebot may not fetch"
    summary = kitchen.records("records.jsonl")[-1]
    assert summary["rules"]["shop-without-picture"] == 60 and "partial" not in summary


def own_rule(_: list[Step], kitchen: Kitchen) -> None:
    log = json.loads((kitchen.folder / "findings.sarif").read_text(encoding="utf-8"))["runs"][0]
    assert log["tool"]["driver"]["rules"][-1]["id"] == "shop-without-picture"
    assert {result["ruleId"] for result in log["results"]} == {"shop-without-picture"}


CHECKS: dict[str, Callable[[list[Step], Kitchen], None]] = {
    "A gate in CI": gate,
    "A gate after a deployment": after,
    "An alert by exit code": alert,
    "Every night the changes": changes,
    "The old addresses after a move": moved,
    "A sample of a large site": sample,
    "Sitemaps from a database": from_database,
    "With jq": with_jq,
    "In pandas, polars and DuckDB": parquet,
    "In a spreadsheet": spreadsheet,
    "In another spider": spider,
    "A rule of your own": own_rule,
    "A project of your own": project,
}


def test_every_recipe_that_is_run_is_looked_at() -> None:
    assert list(dict.fromkeys(title for title, language, _, name in recipes() if name is None)) == list(CHECKS)
    assert {language for _, language, _, name in recipes() if name is None} <= set(RUN)


@pytest.mark.parametrize("title", CHECKS)
def test_recipe_gives_what_it_promises(title: str, kitchen: Kitchen) -> None:
    CHECKS[title](kitchen.steps[title], kitchen)
