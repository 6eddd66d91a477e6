from __future__ import annotations

import argparse
import os
import pkgutil
import subprocess
import sys
from pathlib import Path

import pytest

from sitemapcrawler import __version__, cli, commands
from sitemapcrawler.commands import bench

ROOT = Path(__file__).parents[2]


@pytest.fixture(autouse=True)
def settings_variable(monkeypatch: pytest.MonkeyPatch) -> None:
    """Puts the variable that the commands set back as it was."""
    monkeypatch.setenv("SCRAPY_SETTINGS_MODULE", "set.by.nobody")


ADAPTED = {"bench", "fetch", "parse", "shell", "view"}
"""Scrapy's commands that work in another way here."""


def run(
    folder: Path, *arguments: str, module: str = "sitemapcrawler.cli", **variables: str
) -> subprocess.CompletedProcess[str]:
    """Run the console script in a folder, as its entry point does."""
    path = os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])
    return subprocess.run(
        [sys.executable, "-m", module, *arguments],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": path, **variables},
        capture_output=True,
        text=True,
        timeout=60,
    )


def foreign_project(folder: Path) -> None:
    """Make a folder another Scrapy project, whose settings cannot even be imported."""
    (folder / "scrapy.cfg").write_text("[settings]\ndefault = foreign.settings\n")
    (folder / "foreign").mkdir()
    (folder / "foreign" / "settings.py").write_text("raise RuntimeError('the settings of the other project')\n")


def test_little_is_imported_before_ctrl_c_ends_quietly() -> None:
    code = "import sys; before = set(sys.modules); import sitemapcrawler.cli; print(*set(sys.modules) - before)"
    done = subprocess.run([sys.executable, "-S", "-c", code], cwd=ROOT, capture_output=True, text=True, timeout=60)
    ours = {name for name in done.stdout.split() if name.startswith("sitemapcrawler")}
    assert ours == {"sitemapcrawler", "sitemapcrawler.cli"}
    assert {"asyncio", "difflib", "importlib.metadata"}.isdisjoint(done.stdout.split())


def test_version_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stop:
        cli.main(["sitemapcrawler", "--version"])
    assert stop.value.code == 0
    assert capsys.readouterr().out == f"sitemapcrawler {__version__}\n"


@pytest.mark.parametrize("words", [[], ["--help"], ["-h"], ["help"]])
def test_missing_command_lists_ours(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stop:
        cli.main(["sitemapcrawler", *words])
    listed = [line.split()[0] for line in capsys.readouterr().out.splitlines() if line.startswith("  ")]
    assert stop.value.code == 0
    assert listed == [*cli.COMMANDS, "version"]


def test_all_commands_are_listed_on_demand(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stop:
        cli.main(["sitemapcrawler", "--help", "--all"])
    listed = [line.split()[0] for line in capsys.readouterr().out.splitlines() if line.startswith("  ")]
    assert stop.value.code == 0
    assert {*cli.COMMANDS, "shell", "list", "settings"} < {*listed}
    assert len(listed) == len(set(listed))


def test_reader_of_the_help_may_go_away(tmp_path: Path) -> None:
    path = os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])
    reading, writing = os.pipe()
    os.close(reading)
    done = subprocess.run(
        [sys.executable, "-m", "sitemapcrawler.cli", "--help"],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": path},
        stdout=writing,
        stderr=subprocess.PIPE,
        text=True,
        timeout=60,
    )
    os.close(writing)
    assert (done.returncode, done.stderr) == (0, "")


def test_version_of_ours_is_printed_by_the_command_too(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stop:
        cli.main(["sitemapcrawler", "version"])
    assert (stop.value.code, capsys.readouterr().out) == (0, f"sitemapcrawler {__version__}\n")


@pytest.mark.parametrize(
    ("word", "hint"),
    [
        ("crawll", "did you mean crawl?"),
        ("Audit", "did you mean audit?"),
        ("example.com", "did you mean audit example.com?"),
        ("http://127.0.0.1:8000/", "did you mean audit http://127.0.0.1:8000/?"),
        ("xyzzy", "--help lists all"),
        ("\x1b[31m", "--help lists all"),
    ],
)
def test_unknown_command_ends_with_2_and_a_hint(word: str, hint: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stop:
        cli.main(["sitemapcrawler", word])
    assert stop.value.code == 2
    [line] = capsys.readouterr().err.splitlines()
    assert line.endswith(f"; {hint}")
    assert line.isprintable()


def test_every_command_of_ours_is_listed() -> None:
    modules = {module.name for module in pkgutil.iter_modules(commands.__path__)}
    assert modules == {*cli.COMMANDS, *ADAPTED, "audited_files", "fetching", "running", "single", "targets"}


def test_module_of_the_package_runs_the_console_script(tmp_path: Path) -> None:
    done = run(tmp_path, "--version", module="sitemapcrawler")
    assert (done.returncode, done.stdout, done.stderr) == (0, f"sitemapcrawler {__version__}\n", "")


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (["parse", "--spider=sitemap", "http://127.0.0.1:1/"], "--spider sitemap: it audits sitemaps and parses no"),
        (["fetch", "--spider", "sitemap", "http://127.0.0.1:1/"], "to read one: inspect http://127.0.0.1:1/"),
        (["shell", "--spider", "nosuch"], "--spider 'nosuch': no such spider; accepted: sitemap"),
        (["parse", "example.com"], "parse example.com: no URL; accepted: one like https://example.com/"),
        (["parse", "http://127.0.0.1:1/"], "parse: no spider of this project is for http://127.0.0.1:1/; to read a"),
    ],
)
def test_spider_that_cannot_parse_a_page_is_one_line(tmp_path: Path, arguments: list[str], line: str) -> None:
    done = run(tmp_path, *arguments)
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1), done.stderr
    assert line in done.stderr


def test_generated_spider_is_written_to_the_working_directory(tmp_path: Path) -> None:
    done = run(tmp_path, "genspider", "shop", "example.com")
    assert (done.returncode, [path.name for path in tmp_path.iterdir()]) == (0, ["shop.py"]), done.stderr


def test_benchmark_has_the_settings_of_scrapy_and_opens_no_port() -> None:
    settings = cli.project_settings()
    command = bench.Command()
    command.settings = settings
    parser = argparse.ArgumentParser()
    command.add_options(parser)
    command.process_options([], parser.parse_args([]))
    assert (settings["DOWNLOAD_HANDLERS"], settings["EXTENSIONS"], settings["DOWNLOAD_DELAY"]) == ({}, {}, 0)
    assert (settings["REMOTE_CONTROL_ENABLED"], settings["TELNETCONSOLE_ENABLED"]) == (False, False)
    assert settings["CLOSESPIDER_TIMEOUT"] == 10


def test_arguments_default_to_those_of_the_process(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["sitemapcrawler", "--version"])
    with pytest.raises(SystemExit):
        cli.main()
    assert __version__ in capsys.readouterr().out


def test_arguments_of_the_caller_stay_as_they_are() -> None:
    arguments = ["sitemapcrawler", "crawll"]
    with pytest.raises(SystemExit):
        cli.main(arguments)
    assert arguments == ["sitemapcrawler", "crawll"]


def test_settings_of_this_project_replace_those_named_in_the_environment() -> None:
    settings = cli.project_settings()
    assert os.environ["SCRAPY_SETTINGS_MODULE"] == "sitemapcrawler.settings"
    assert settings["BOT_NAME"] == "sitemapcrawler"


def test_empty_folder_knows_the_spider(tmp_path: Path) -> None:
    done = run(tmp_path, "list")
    assert (done.returncode, done.stdout) == (0, "sitemap\n"), done.stderr
    assert not list(tmp_path.iterdir())


def test_folder_of_another_project_knows_our_spider(tmp_path: Path) -> None:
    foreign_project(tmp_path)
    done = run(tmp_path, "list", SCRAPY_SETTINGS_MODULE="foreign.settings")
    assert (done.returncode, done.stdout) == (0, "sitemap\n"), done.stderr
