"""Kills jobs at random moments, resumes them, and compares their feeds with those of undisturbed jobs.

    python -m bench.kills [--kills 300] [--seed 1] [--delay 0.005] [--only JOB]

The site is that of `tests/crawl/test_resume.py`, as are the kinds of jobs, with a few more. Each job is killed one to
four times: at any time after its start, after a number of requests, or after the last one, while it finishes and writes
its feeds. A kill comes at once, soon after SIGTERM, or after a silent server gave the job time to save all it knows.
`--seed` and the number of a job reproduce its moments.
"""

from __future__ import annotations

import argparse
import random
import signal
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from tests.crawl.job_kinds import KINDS, MORE_KINDS, asked_again
from tests.crawl.job_site import JobSite
from tests.crawl.jobs import KEPT, Job, Moment, Undisturbed

ONCE_TO_FOUR_TIMES = (1, 1, 1, 2, 2, 3, 4)
PHASES = ("any time", "at a request", "at a request", "at the end", "at the end", "after SIGTERM", "settled")
LATER = 1.1
"""Latest moment of a kill, as a share of the time of an undisturbed job."""
ALL_KINDS = KINDS | MORE_KINDS
BETWEEN_S = 0.05
"""Maximum seconds from a request to a kill; ten times as many after SIGTERM."""


@dataclass(frozen=True)
class Kill:
    """Way to end a run."""

    phase: str
    moment: Moment
    grace_s: float = 0.0
    """Seconds from SIGTERM to SIGKILL."""

    def __str__(self) -> str:
        told = f"{self.phase}: {self.moment.requests} requests and {self.moment.delay_s:.3f} s"
        return f"{told}, {self.grace_s:.3f} s later" if self.grace_s else told

    def strike(self, job: Job) -> bool:
        """Start a job and kill it; False if it ended by itself."""
        if self.phase == "settled":
            return job.kill_settled(self.moment)
        if not self.grace_s:
            return job.kill(self.moment)
        before = len(job.site.exchanges)
        with job.start() as running:
            job.wait(running, self.moment, before)
            running.process.send_signal(signal.SIGTERM)
            time.sleep(self.grace_s)  # time between SIGTERM and SIGKILL
            return job.end(running)


def chosen(chance: random.Random, known: Undisturbed) -> Iterator[Kill]:
    """Yield the kills of one job."""
    total = len(known.asked)
    for place in range(chance.choice(ONCE_TO_FOUR_TIMES)):
        phase = chance.choice(PHASES) if place == 0 else "any time"
        requests = chance.randint(1, max(1, total // (place + 1)))
        moments = {
            "any time": Moment(0, chance.uniform(0, known.crawl.seconds * LATER)),
            "at the end": Moment(total, chance.uniform(0, known.tail_s * LATER)),
        }
        moment = moments.get(phase, Moment(requests, chance.uniform(0, BETWEEN_S)))
        yield Kill(phase, moment, chance.uniform(0, 10 * BETWEEN_S) if phase == "after SIGTERM" else 0.0)


def faults(job: Job, known: Undisturbed) -> Iterator[str]:
    """Complete a job; yield one line per difference from an undisturbed one."""
    done = job.run()
    if done.code != known.crawl.code:
        yield f"exit code {done.code}, not {known.crawl.code}: {done.log.splitlines()[-1:]}"
        return
    yield from job.differences(known.rows).splitlines()
    if job.left != KEPT:
        yield f"left in the folder: {job.left}"
    if again := asked_again(job, known.asked):
        yield f"asked again: {again}"


class Bench:
    """Runs jobs one after the other."""

    def __init__(self, site: JobSite, folder: Path, seed: int) -> None:
        self.kills: Counter[str] = Counter()
        """Kills by phase; late ones as `too late`."""
        self.failed: list[int] = []
        """Numbers of failed jobs."""
        self._site, self._folder, self._seed = site, folder, seed
        self._known: dict[str, Undisturbed] = {}

    def attempt(self, number: int) -> None:
        """Run, kill and complete a job; print a line if something is wrong."""
        chance = random.Random(f"{self._seed} {number}")
        name = chance.choice(list(ALL_KINDS))
        known = self._undisturbed(name)
        job = ALL_KINDS[name].job(self._site, self._new(f"job-{number}"))
        kills = list(chosen(chance, known))
        self._site.forget()
        told = list(self._disturb(job, known, kills))
        if told:
            self.failed.append(number)
            print(f"job {number} ({name}; {'; '.join(map(str, kills))}) FAILED in {job.folder}", flush=True)
            print("\n".join(f"    {line}" for line in told), flush=True)

    def _disturb(self, job: Job, known: Undisturbed, kills: list[Kill]) -> Iterator[str]:
        try:
            for kill in kills:
                self.kills[kill.phase if kill.strike(job) else "too late"] += 1
            yield from faults(job, known)
        except Exception as error:  # whatever it is, the other jobs continue
            yield f"{type(error).__name__}: {error}"

    def _undisturbed(self, name: str) -> Undisturbed:
        if name not in self._known:
            self._known[name] = ALL_KINDS[name].job(self._site, self._new(name.replace(" ", "-"))).undisturbed()
        return self._known[name]

    def _new(self, name: str) -> Path:
        folder = self._folder / name
        folder.mkdir()
        return folder


def main() -> None:
    """Kill as often as the command line says; exit code 1 if a job failed."""
    parser = argparse.ArgumentParser(prog="python -m bench.kills", description="Kill jobs at random moments.")
    parser.add_argument("--kills", type=int, default=300, help="default: %(default)s")
    parser.add_argument("--seed", type=int, default=1, help="default: %(default)s")
    parser.add_argument("--delay", type=float, default=0.005, help="seconds of an answer (default: %(default)s)")
    parser.add_argument("--only", type=int, action="append", metavar="JOB", help="number; may be repeated")
    arguments = parser.parse_args()
    started, folder = time.monotonic(), Path(tempfile.mkdtemp(prefix="kills-"))
    with JobSite(arguments.delay) as site:
        bench = Bench(site, folder, arguments.seed)
        number = 0
        for number in arguments.only or ():
            bench.attempt(number)
        while not arguments.only and bench.kills.total() < arguments.kills:
            number += 1
            bench.attempt(number)
    struck = ", ".join(f"{count} {phase}" for phase, count in bench.kills.most_common())
    jobs, seconds = len(arguments.only or range(number)), time.monotonic() - started
    print(f"{bench.kills.total()} kills ({struck}) of {jobs} jobs in {seconds:.0f} s")
    print(f"{len(bench.failed)} failed {bench.failed or ''}; folders in {folder}")
    sys.exit(bool(bench.failed))


if __name__ == "__main__":
    main()
