"""The GitHub Action and the hook of pre-commit, from a copy of what a tag holds: scripts run as a runner runs them."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.crawl.crawling import ROOT
from tests.crawl.documents import index, urlset

pytestmark = pytest.mark.slow

ACTION: dict[str, Any] = yaml.safe_load((ROOT / "action.yml").read_text("utf-8"))
INSTALL, VALIDATE = ACTION["runs"]["steps"]
INPUT = re.compile(r"\$\{\{ inputs\.([\w-]+) \}\}")
TAGGED = (
    "action.yml", ".pre-commit-hooks.yaml", "pyproject.toml", "setup.py", "README.md", "LICENSE", "sitemapcrawler",
)  # fmt: skip
"""What of a checkout the action and the hook need."""
SHELL = ("bash", "--noprofile", "--norc", "-eo", "pipefail")
"""How a runner starts a step with `shell: bash`. Source:
https://docs.github.com/en/actions/reference/workflows-and-actions/workflow-syntax#jobsjob_idstepsshell"""
OFFLINE = {"PIP_NO_INDEX": "1", "PIP_NO_BUILD_ISOLATION": "0", "PIP_DISABLE_PIP_VERSION_CHECK": "1"}
"""pip asks no registry; what builds the package is installed already. Of a switch that begins with `no`, 0 is on."""
HOME = "https://pages.example"
DEADLINE_S = 120


@dataclass
class Runner:
    """A runner that has installed the action."""

    source: Path
    """The action's own checkout."""
    temp: Path
    workspace: Path
    """The checkout of the job."""

    def step(self, step: dict[str, Any], **inputs: str) -> subprocess.CompletedProcess[str]:
        """Run a step, its inputs as environment variables."""
        given = {name: str(each["default"]) for name, each in ACTION["inputs"].items()} | inputs
        env = {name: INPUT.sub(lambda found: given[found[1]], text) for name, text in step["env"].items()}
        env = {name: text.replace("${{ github.action_path }}", str(self.source)) for name, text in env.items()}
        script = self.temp / "script.sh"
        script.write_text(step["run"])
        return subprocess.run(
            [*SHELL, str(script)],
            cwd=self.workspace,
            env=self.environment() | env,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=DEADLINE_S,
        )

    def validate(self, path: str = "public", base_url: str = "", args: str = "") -> subprocess.CompletedProcess[str]:
        return self.step(VALIDATE, path=path, args=args, **{"base-url": base_url})

    def environment(self) -> dict[str, str]:
        """Variables of a step. None of them makes this checkout importable."""
        path = os.pathsep.join([str(self.temp / "bin"), os.environ.get("PATH", os.defpath)])
        variables = {"GITHUB_WORKSPACE": self.workspace, "RUNNER_TEMP": self.temp, "HOME": self.temp}
        return OFFLINE | {"PATH": path, "GITHUB_ACTIONS": "true"} | {name: str(at) for name, at in variables.items()}


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Runner:
    """A runner after the first step, whose environment sees the packages that are installed here: nothing is fetched."""
    folder = tmp_path_factory.mktemp("runner")
    runner = Runner(folder / "action", folder / "temp", folder / "workspace")
    for path in (runner.source, runner.temp / "bin", runner.workspace):
        path.mkdir(parents=True)
    for name in TAGGED:
        left_out = shutil.ignore_patterns("__pycache__")
        copy = shutil.copytree if (ROOT / name).is_dir() else shutil.copy
        options = {"ignore": left_out} if (ROOT / name).is_dir() else {}
        copy(ROOT / name, runner.source / name, **options)
    python = runner.temp / "bin" / "python3"
    here = f"import sys; sys.path.insert(0, {sysconfig.get_path('purelib')!r})"
    python.write_text(
        f'#!/bin/sh\n"{sys.executable}" "$@" || exit\n'
        f'[ "$3" != venv ] || echo "{here}" >"$(echo "$4"/lib/python*/site-packages)/here.pth"\n'
    )
    python.chmod(0o755)
    (runner.workspace / "venv.py").write_text("raise SystemExit('imported from the checkout')\n")
    (runner.workspace / "pip.py").write_text("raise SystemExit('imported from the checkout')\n")
    done = runner.step(INSTALL)
    assert done.returncode == 0, done.stdout + done.stderr
    return runner


@pytest.fixture
def runner(installed: Runner) -> Iterator[Runner]:
    """A runner whose job has checked out a site."""
    shutil.rmtree(installed.workspace)
    public = installed.workspace / "public"
    (public / "maps").mkdir(parents=True)
    (installed.workspace / "shlex.py").write_text("raise SystemExit('imported from the checkout')\n")
    (public / "sitemap.xml").write_bytes(index(f"{HOME}/maps/a.xml", f"{HOME}/gone.xml"))
    (public / "maps" / "a.xml").write_bytes(urlset(f"{HOME}/maps/1", "/maps/2"))
    yield installed


def annotations(done: subprocess.CompletedProcess[str]) -> list[str]:
    """The start of each workflow command, up to its message."""
    return [line.split("::")[1] for line in done.stdout.splitlines() if line.startswith("::")]


GONE = "error file=public/sitemap.xml,line=4,title=index-child-missing"
RELATIVE = "error file=public/maps/a.xml,line=4,title=loc-relative"


def test_action_installs_its_own_checkout(installed: Runner) -> None:
    program = installed.temp / "sitemapcrawler" / "bin" / "python"
    where = "import sitemapcrawler.report as r; print(*sorted(p.name for p in __import__('pathlib').Path(r.__file__).parent.iterdir()), r.__file__)"
    done = subprocess.run([program, "-I", "-c", where], capture_output=True, text=True, timeout=DEADLINE_S)
    assert f"{installed.temp}/sitemapcrawler/lib/" in done.stdout, done.stderr
    assert "templates" in done.stdout


def test_findings_are_annotations_and_the_step_fails(runner: Runner) -> None:
    done = runner.validate(base_url=f"{HOME}/", args="--min-severity error")
    assert (done.returncode, done.stderr) == (1, "")
    assert sorted(annotations(done)) == sorted([GONE, RELATIVE])
    assert done.stdout.splitlines()[-2].startswith("2 files, 2 URLs: errors on 1 URL in 2 files")


def test_several_targets_and_quoted_options(runner: Runner) -> None:
    (runner.workspace / "a dir").mkdir()
    (runner.workspace / "a dir" / "-b.xml").write_bytes(urlset("/1"))
    (runner.workspace / "-c.xml").write_bytes(urlset("/1"))
    done = runner.validate("public\n\na dir/-b.xml\n-c.xml\n", args="--min-severity 'error'\n--ignore \"index, doc\" ")
    found = [line.partition(",")[0] for line in annotations(done)]
    assert sorted(found) == ["error file=-c.xml", "error file=a dir/-b.xml", "error file=public/maps/a.xml"]
    assert done.returncode == 1


def test_clean_site_passes(runner: Runner) -> None:
    (runner.workspace / "public" / "sitemap.xml").unlink()
    (runner.workspace / "public" / "maps" / "a.xml").write_bytes(urlset(f"{HOME}/maps/1"))
    done = runner.validate(base_url=HOME, args="--quiet --min-severity error")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


@pytest.mark.parametrize(
    ("inputs", "says"),
    [
        ({"path": ""}, "sitemapcrawler: name a URL, a file"),
        ({"args": "--base-url '' --quiet"}, "sitemapcrawler: argument base_url='': is empty"),
        ({"args": "--ignore 'x\n--quiet'"}, "sitemapcrawler: argument ignore='x\\n--quiet': has a control character"),
        ({"args": "--ignore 'x"}, "::error title=sitemapcrawler::The input args has a quote that is not closed."),
    ],
)
def test_wrong_inputs_are_one_line(runner: Runner, inputs: dict[str, str], says: str) -> None:
    done = runner.validate(**inputs)
    assert done.returncode == 2
    assert (done.stdout + done.stderr).startswith(says)
    assert len((done.stdout + done.stderr).splitlines()) == 1


def test_inputs_are_never_run(runner: Runner) -> None:
    text = "\"; touch run; \"\n$(touch run)`touch run` > run\n'; touch run; '\ntouch run"
    runner.validate(path=text, base_url=text, args=text)
    assert sorted(path.name for path in runner.workspace.iterdir()) == ["public", "shlex.py"]


def test_scripts_take_inputs_from_the_environment() -> None:
    assert ACTION["runs"]["using"] == "composite"
    assert {*ACTION["inputs"]} == {"path", "base-url", "args"}
    assert all(each["description"] for each in ACTION["inputs"].values())
    for step in (INSTALL, VALIDATE):
        assert step["shell"] == "bash" and "${{" not in step["run"]
    assert {found for text in VALIDATE["env"].values() for found in INPUT.findall(text)} == {*ACTION["inputs"]}


def test_old_python_is_an_annotation(runner: Runner) -> None:
    python = runner.temp / "bin" / "python3"
    text = python.read_text()
    python.write_text("#!/bin/sh\nexit 1\n")
    done = runner.step(INSTALL)
    python.write_text(text)
    assert (done.returncode, annotations(done)) == (2, ["error title=sitemapcrawler"])


def test_entry_of_the_hook_runs_on_staged_files(runner: Runner) -> None:
    """As pre-commit does: the program of the entry from the environment of the tag, the files that the hook takes."""
    [hook] = yaml.safe_load((runner.source / ".pre-commit-hooks.yaml").read_text("utf-8"))
    (runner.workspace / "public" / "maps" / "a.xml").rename(runner.workspace / "public" / "maps" / "sitemap-a.xml")
    staged = [str(path.relative_to(runner.workspace)) for path in sorted(runner.workspace.rglob("*")) if path.is_file()]
    taken = [name for name in staged if re.search(hook["files"], name)]
    assert taken == ["public/maps/sitemap-a.xml", "public/sitemap.xml"]
    path = os.pathsep.join([str(runner.temp / "sitemapcrawler" / "bin"), os.environ["PATH"]])
    options = ("--base-url", f"{HOME}/", "--base-dir", "public", "--min-severity", "error")
    done = subprocess.run(
        [*hook["entry"].split(), *options, *hook["args"], *taken],
        cwd=runner.workspace,
        env=runner.environment() | {"PATH": path},
        capture_output=True,
        text=True,
        timeout=DEADLINE_S,
    )
    found = [line.split(" ")[:3] for line in done.stdout.splitlines() if " error " in line]
    assert ["public/maps/sitemap-a.xml:4", "error", "loc-relative"] in found
    assert "(https://pages.example/maps/2)" in done.stdout, "a file of the base folder lives at its path"
    assert (done.returncode, done.stderr) == (1, "")
