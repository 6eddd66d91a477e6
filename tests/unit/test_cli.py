from __future__ import annotations

import gc
import os
import pkgutil
import signal
import subprocess
import sys
from itertools import pairwise
from pathlib import Path
from subprocess import PIPE, CompletedProcess
from typing import Any

import pytest

from sitemapcrawler import __version__, cli, commands
from tests.crawl import forks

ROOT = Path(__file__).parents[2]


@pytest.fixture(autouse=True)
def settings_variable(monkeypatch: pytest.MonkeyPatch) -> None:
    """Puts the variable that the commands set back as it was."""
    monkeypatch.setenv("SCRAPY_SETTINGS_MODULE", "set.by.nobody")


def run(folder: Path, *arguments: str, module: str = "sitemapcrawler.cli", **variables: str) -> CompletedProcess[str]:
    """Run the console script in a folder, as its entry point does."""
    command = [sys.executable, "-m", module, *arguments]
    env = {**forks.environment(), **variables}
    return forks.run(command, cwd=folder, env=env, capture_output=True, text=True, timeout=60)


def foreign_project(folder: Path) -> None:
    """Make a folder another Scrapy project, whose settings cannot even be imported."""
    (folder / "scrapy.cfg").write_text("[settings]\ndefault = foreign.settings\n")
    (folder / "foreign").mkdir()
    (folder / "foreign" / "settings.py").write_text("raise RuntimeError('the settings of the other project')\n")


def test_little_is_imported_before_ctrl_c_ends_with_a_line() -> None:
    code = "import sys; before = set(sys.modules); import sitemapcrawler.cli; print(*set(sys.modules) - before)"
    done = subprocess.run([sys.executable, "-S", "-c", code], cwd=ROOT, capture_output=True, text=True, timeout=60)
    ours = {name for name in done.stdout.split() if name.startswith("sitemapcrawler")}
    assert ours == {"sitemapcrawler", "sitemapcrawler.cli", "sitemapcrawler.version"}
    assert {"asyncio", "difflib", "importlib.metadata"}.isdisjoint(done.stdout.split())


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("command", cli.COMMANDS)
def test_command_that_is_stopped_while_it_starts_ends_with_a_line(command: str, number: signal.Signals) -> None:
    starting = f"cli.spared_by_the_collector = lambda: signal.raise_signal({number})"
    code = f"import signal; from sitemapcrawler import cli; {starting}; cli.main(['sitemapcrawler', '{command}', 'x'])"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stdout, done.stderr) == (-number, "", "sitemapcrawler: stopped before the end\n")


def test_pages_of_rules_are_printed_without_scrapy() -> None:
    main = "cli.main(['sitemapcrawler', 'validate', '--explain', 'doc-bom', '--list-rules'])"
    code = f"import atexit, sys; from sitemapcrawler import cli; atexit.register(lambda: print('scrapy' in sys.modules)); {main}"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stderr, done.stdout.splitlines()[-1]) == (0, "", "False")
    assert "\ndoc-bom  " in done.stdout and "The sitemap does not answer with status 200" in done.stdout


def test_command_imports_no_other_command(tmp_path: Path) -> None:
    (tmp_path / "a.xml").write_text("<urlset xmlns='http://www.sitemaps.org/schemas/sitemap/0.9'/>")
    code = "import atexit, sys; from sitemapcrawler import cli; atexit.register(lambda: print(*sys.modules)); "
    code += "cli.main(['sitemapcrawler', 'validate', 'a.xml', '--fail-on', 'never'])"
    command = [sys.executable, "-c", code]
    done = forks.run(command, cwd=tmp_path, env=forks.environment(), capture_output=True, text=True, timeout=60)
    ours = {name.removeprefix("sitemapcrawler.") for name in done.stdout.splitlines()[-1].split()}
    assert {"cli", "commands.validate"} <= ours, done.stderr
    assert [name for name in sorted(ours) if name.startswith(("commands.", "fleet", "repair", "terminal.inspect"))] == [
        "commands.validate"
    ]


@pytest.mark.parametrize("enabled", [True, False])
def test_collector_spares_what_is_imported_and_is_as_before(enabled: bool) -> None:
    (gc.enable if enabled else gc.disable)()
    try:
        with cli.spared_by_the_collector():
            assert not gc.isenabled()
        assert (gc.isenabled(), gc.get_freeze_count() > 0) == (enabled, True)
    finally:
        gc.enable()
        gc.unfreeze()


def ended(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[object, str, str]:
    """The exit code, the output and the errors of a command that runs in this process."""
    with pytest.raises(SystemExit) as stop:
        cli.main(["sitemapcrawler", *words])
    return stop.value.code, *capsys.readouterr()


@pytest.mark.parametrize("word", ["--version", "version"])
def test_version_is_printed(word: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert ended(capsys, word) == (0, f"sitemapcrawler {__version__}\n", "")


@pytest.mark.parametrize(
    ("words", "code", "error"),
    [
        (["--explain", "doc-bom"], 0, ""),
        (["--explain", "doc-bo"], 2, "--explain 'doc-bo': no such rule; did you mean doc-bom"),
        (["--explain"], 2, "argument --explain: expected one argument"),
    ],
)
def test_pages_of_rules_are_the_same_with_settings(
    words: list[str], code: int, error: str, capfd: pytest.CaptureFixture[str]
) -> None:
    alone = ended(capfd, "validate", *words)
    assert alone == ended(capfd, "validate", "-s", "BOT_NAME=x", *words)
    assert (alone[0], error in alone[2], alone[2].count("\n")) == (code, True, code // 2)


def listed(output: str) -> list[str]:
    """The commands in a help."""
    return [line.split()[0] for line in output.splitlines() if line.startswith("  ")]


@pytest.mark.parametrize("words", [[], ["--help"], ["-h"], ["help"]])
def test_missing_command_lists_ours(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    code, output, _ = ended(capsys, *words)
    assert (code, listed(output)) == (0, [*cli.COMMANDS, "version"])


def test_all_commands_are_listed_on_demand(capsys: pytest.CaptureFixture[str]) -> None:
    code, output, _ = ended(capsys, "--help", "--all")
    assert code == 0
    assert {*cli.COMMANDS, "shell", "list", "settings"} < {*listed(output)}
    assert len(listed(output)) == len(set(listed(output)))


@pytest.mark.parametrize("width", [60, 72, 90, 100, 120])
@pytest.mark.parametrize("command", cli.COMMANDS)
def test_help_underlines_headings_alone(
    command: str, width: int, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", str(width))
    lines = ended(capsys, command, "-h")[1].splitlines()
    underlined = [above for above, line in pairwise(lines) if line and not line.strip("=-")]
    assert {"Usage", "Options", "Global Options"} <= {*underlined}
    assert {*underlined} <= {"Usage", "Options", "Global Options", "Arguments (-a NAME=VALUE)"}


def test_help_offers_only_what_a_command_takes(capsys: pytest.CaptureFixture[str]) -> None:
    assert "-a NAME=VALUE" in ended(capsys, "validate", "-h")[1]
    assert "-a NAME=VALUE" not in ended(capsys, "mcp", "-h")[1]


def test_reader_of_the_help_may_go_away(tmp_path: Path) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    command = [sys.executable, "-m", "sitemapcrawler.cli", "--help"]
    options: dict[str, Any] = {"stdout": writing, "stderr": PIPE, "text": True}
    done = forks.run(command, cwd=tmp_path, env=forks.environment(), timeout=60, **options)
    os.close(writing)
    assert (done.returncode, done.stderr) == (0, "")


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
    code, _, errors = ended(capsys, word)
    [line] = errors.splitlines()
    assert code == 2
    assert line.endswith(f"; {hint}")
    assert line.isprintable()


def test_every_command_of_ours_is_listed() -> None:
    modules = {module.name for module in pkgutil.iter_modules(commands.__path__)}
    assert modules == {*cli.COMMANDS, "fetching"}


def test_module_of_the_package_runs_the_console_script(tmp_path: Path) -> None:
    done = run(tmp_path, "--version", module="sitemapcrawler")
    assert (done.returncode, done.stdout, done.stderr) == (0, f"sitemapcrawler {__version__}\n", "")


def test_generated_spider_is_written_to_the_working_directory(tmp_path: Path) -> None:
    done = run(tmp_path, "genspider", "shop", "example.com")
    assert (done.returncode, [path.name for path in tmp_path.iterdir()]) == (0, ["shop.py"]), done.stderr


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


@pytest.mark.parametrize("is_foreign", [False, True], ids=["empty", "of another project"])
def test_any_folder_knows_the_spider(tmp_path: Path, is_foreign: bool) -> None:
    if is_foreign:
        foreign_project(tmp_path)
    done = run(tmp_path, "list", **({"SCRAPY_SETTINGS_MODULE": "foreign.settings"} if is_foreign else {}))
    assert (done.returncode, done.stdout) == (0, "sitemap\n"), done.stderr
    assert is_foreign or not list(tmp_path.iterdir())
