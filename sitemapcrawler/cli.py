"""The console script: our commands and Scrapy's, with this project's settings, from any folder.

Little is imported before `ended_in_a_line`: until then, Ctrl-C prints a traceback.
"""

from __future__ import annotations

import gc
import os
import signal
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext, suppress
from importlib import import_module
from typing import TYPE_CHECKING, NoReturn

from sitemapcrawler.version import __version__

if TYPE_CHECKING:
    from scrapy.settings import Settings

SETTINGS_MODULE = "sitemapcrawler.settings"
PACKAGE = "sitemapcrawler.commands"
"""Package of our commands, a module each."""
COMMANDS = ("audit", "inspect", "validate", "fix", "crawl", "fleet", "mcp")
"""Our commands, in the order of the help. They exit with one line on Ctrl-C while they start; others, such as `shell`,
need Python's own handler."""
HELP = ("-h", "--help", "help")
ALL = "--all"
"""Option that lists Scrapy's commands as well."""
VERSION = "version"
PAGES = ("--explain", "--list-rules")
"""Options with which `validate` prints the pages of rules."""
BAD_COMMAND = 2


def main(argv: Sequence[str] | None = None) -> None:
    """Run a command; `argv` starts with the program's name and defaults to `sys.argv`.

    `sitemapcrawler audit example.com` works in an empty folder, and in the folder of another Scrapy project. Without a
    command, lists the commands. Raises `SystemExit` with the exit code of the command.
    """
    arguments = list(sys.argv if argv is None else argv)
    if arguments[1:] in (["--version"], [VERSION]):
        print(f"sitemapcrawler {__version__}")
        sys.exit(0)
    command = next((word for word in arguments[1:] if not word.startswith("-")), None)
    if command is None or command in HELP:
        print_help(ALL in arguments)
    if command not in COMMANDS and command not in (known := scrapy_commands()):
        refuse(command, known)
    with ended_in_a_line() if command in COMMANDS else nullcontext():
        if arguments[1:2] == ["validate"] and any(word.startswith(PAGES) for word in arguments):
            print_rules(arguments[2:])
        with spared_by_the_collector():
            import scrapy.core.downloader.contextfactory  # noqa: F401 - it walks the stack of its importers, slow if deep
            from scrapy.cmdline import execute

            settings = project_settings()
            if command in _modules(PACKAGE):  # of a package, Scrapy imports all modules
                import_module(f"{PACKAGE}.{command}")
                settings.set("COMMANDS_MODULE", f"{PACKAGE}.{command}", priority="project")
        execute(arguments, settings)


@contextmanager
def spared_by_the_collector() -> Iterator[None]:
    """Context for imports: without garbage collection, which would visit their objects again and again, also later."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        if enabled:
            gc.enable()


@contextmanager
def ended_in_a_line() -> Iterator[None]:
    """Context in which Ctrl-C and SIGTERM end the process as the system does, with one line instead of a traceback: the
    shell sees code 130 or 143. A signal that is handled or ignored already stays so."""
    ours = threading.current_thread() is threading.main_thread()
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM) if ours}
    by_default = (signal.default_int_handler, signal.SIG_DFL)
    handled = {number: handler for number, handler in before.items() if handler in by_default}
    for number in handled:
        signal.signal(number, _end)
    try:
        yield
    finally:
        for number, handler in handled.items():
            if signal.getsignal(number) is _end:
                signal.signal(number, handler)


def _end(number: int, frame: object) -> None:
    signal.signal(number, signal.SIG_DFL)
    if sys.stderr is not None:
        with suppress(OSError):
            os.write(sys.stderr.fileno(), b"sitemapcrawler: stopped before the end\n")
    signal.raise_signal(number)


def print_help(all_commands: bool) -> NoReturn:
    """List our commands, with a line each, and Scrapy's on request."""
    lines = ["Usage: sitemapcrawler COMMAND [options] [arguments]", "", "Commands:"]
    shown = [(name, PACKAGE) for name in COMMANDS]
    shown += [(name, "scrapy.commands") for name in _modules("scrapy.commands") if all_commands]
    for name, package in shown:
        if package == "scrapy.commands" and name in (*COMMANDS, VERSION):
            continue
        lines.append(f"  {name:<13} {import_module(f'{package}.{name}').Command().short_desc()}")
    lines.append(f"  {VERSION:<13} Print the version")
    more = "" if all_commands else "; sitemapcrawler --help --all lists Scrapy's commands too"
    lines += ["", f"sitemapcrawler COMMAND -h lists the options of a command{more}."]
    try:
        print("\n".join(lines), flush=True)
    except BrokenPipeError:  # the reader, such as `head`, has gone; Python flushes again when it ends
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    sys.exit(0)


def print_rules(options: Sequence[str]) -> None:
    """Print the pages of rules and exit, without Scrapy. Returns if there are options that need it, such as settings.

    Raises `SystemExit` with the exit code of `validate`.
    """
    import argparse

    parser = argparse.ArgumentParser(add_help=False, allow_abbrev=False, exit_on_error=False)
    parser.add_argument(PAGES[0], dest="names", action="append", default=[])
    parser.add_argument(PAGES[1], dest="lists_all", action="store_true")
    try:
        asked, others = parser.parse_known_args(options)
    except argparse.ArgumentError:
        return
    if others or sys.stdout is None or sys.stderr is None:
        return
    from sitemapcrawler.rules.registry import load_plugins
    from sitemapcrawler.terminal.rule_pages import print_pages
    from sitemapcrawler.urls.display import inert

    try:
        load_plugins()
        print_pages(asked.names, asked.lists_all)
    except ValueError as error:
        print(f"sitemapcrawler: {inert(str(error))}", file=sys.stderr)
        sys.exit(BAD_COMMAND)
    sys.exit(0)


def refuse(command: str, known: Sequence[str]) -> NoReturn:
    """Exit with one line that suggests the nearest command, or `audit` for what looks like a site."""
    import difflib

    from sitemapcrawler.urls.display import inert

    near = difflib.get_close_matches(command.lower(), [*COMMANDS, *known], 1)
    looks_like_site = "." in command or ":" in command
    meant = f"audit {command}" if looks_like_site and not near else next(iter(near), "")
    hint = f"did you mean {inert(meant)}?" if meant else "--help lists all"
    print(f"sitemapcrawler: no command {inert(command)!r}; {hint}", file=sys.stderr)
    sys.exit(BAD_COMMAND)


def scrapy_commands() -> list[str]:
    """Names of Scrapy's commands, and of those that installed packages add."""
    from importlib.metadata import entry_points

    return [*_modules("scrapy.commands"), *(entry.name for entry in entry_points(group="scrapy.commands"))]


def _modules(package: str) -> list[str]:
    import pkgutil

    return [module.name for module in pkgutil.iter_modules(import_module(package).__path__)]


def project_settings() -> Settings:
    """Return the settings of this project, and make Scrapy find them.

    Scrapy takes the settings module from the environment before it looks for a `scrapy.cfg` nearby. A module set there
    for another project is therefore overwritten, for this process and its children.
    """
    from scrapy.settings import Settings

    os.environ["SCRAPY_SETTINGS_MODULE"] = SETTINGS_MODULE
    settings = Settings()
    settings.setmodule(SETTINGS_MODULE, priority="project")
    return settings


if __name__ == "__main__":
    main()
