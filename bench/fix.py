"""Repairs a set of sitemaps, and reads the same set alone: processor time and peak memory of both, in turn.

    python -m bench.fix [--kind multilingual] [--entries 1000000] [--rounds 3]
    python -m bench.fix --repairs [--entries 20000]

With `--repairs`, each kind of repair is measured alone, in a file in which every entry needs it: milliseconds of
processor time an entry, the start of the command left out.

Otherwise, reading is `read_sitemap` over each file with all rules; repairing is the command `fix` with `--out`. The set
is that of `bench.generate`, uncompressed.
"""

from __future__ import annotations

import argparse
import json
import shutil
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

FILE = 50_000
"""Entries of a file."""
HOME = "https://www.example.com/"
READ = """
import sys
from pathlib import Path
from sitemapcrawler import read_sitemap
urls = 0
for path in sorted(Path(sys.argv[1]).glob("sitemap-*.xml")):
    with read_sitemap(path, sys.argv[2] + path.name, select=sys.argv[3]) as sitemap:
        for entry in sitemap:
            urls += 1
print(urls)
"""


VIDEO = (
    "<video:video><video:thumbnail_loc>{0}t.png</video:thumbnail_loc><video:title>t</video:title>"
    "<video:description>d</video:description><video:content_loc>{0}v.mp4</video:content_loc>{1}</video:video>"
)
ARTICLE = (
    "<news:news><news:publication><news:name>n</news:name><news:language>en</news:language></news:publication>"
    "<news:publication_date>2026-05-01</news:publication_date></news:news>"
)
IMAGE = "<image:image><image:loc>{0}{1}.png</image:loc></image:image>"
LINK = '<xhtml:link rel="alternate" hreflang="{1}" href="{0}{2}"/>'
CODES = ("de", "fr", "it", "es", "pl", "nl", "da", "sv", "fi", "el", "en")
REPAIRS = {
    "a value": "<lastmod>2026-05-01 10:00:00</lastmod><priority>9</priority>",
    "an element": "<title>t</title>",
    "an escape": "<!-- --> & ",
    "an image": IMAGE.format(HOME, 1) + "<image:image/>",
    "1 of 10 images": "".join(IMAGE.format(HOME, number) for number in range(9)) + "<image:image/>",
    "an article": ARTICLE,
    "a video": VIDEO.format(HOME, "").replace("<video:title>t</video:title>", ""),
    "part of a video": VIDEO.format(HOME, "<video:rating>9</video:rating>"),
    "a link": LINK.format(HOME, "de", "@") + LINK.format(HOME, "zz-QQ", "x"),
    "1 of 12 links": "".join(LINK.format(HOME, code, "@") for code in CODES) + LINK.format(HOME, "zz-QQ", "x"),
}
"""What is repaired -> what each entry has besides its URL; `@` stands for its number."""
ROOT = (
    '<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9" xmlns:xhtml="http://www.w3.org/1999/xhtml"'
    ' xmlns:image="http://www.google.com/schemas/sitemap-image/1.1"'
    ' xmlns:news="http://www.google.com/schemas/sitemap-news/0.9"'
    ' xmlns:video="http://www.google.com/schemas/sitemap-video/1.1">\n'
)


def measure_repairs(entries: int) -> None:
    """Print the processor time of each kind of repair."""
    with tempfile.TemporaryDirectory() as folder:
        seconds = {}
        for name, parts in {"nothing": None, **REPAIRS}.items():
            numbers = range(entries) if parts is not None else range(1)
            texts = (
                f"<url><loc>{HOME}{number}</loc>{(parts or '').replace('@', str(number))}</url>\n" for number in numbers
            )
            path = Path(folder, "sitemap.xml")
            path.write_text(f"{ROOT}{''.join(texts)}</urlset>\n")
            command = [sys.executable, "-m", "sitemapcrawler.cli", "fix", str(path), "--base-url", f"{HOME}sitemap.xml"]
            seconds[name], mb, _ = measured(command)
            if parts is not None:
                each = 1000 * (seconds[name] - seconds["nothing"]) / entries
                print(f"{name:16} {each:6.2f} ms an entry  {mb:6.0f} MB", flush=True)


def measured(command: list[str]) -> tuple[float, float, str]:
    """Run a command; return its processor time in seconds, its peak memory in MB, and what it printed."""
    program = [sys.executable, "-c", MEASURE, *command]
    done = subprocess.run(program, check=True, capture_output=True, text=True)
    figures = json.loads(done.stderr.splitlines()[-1])
    return figures["seconds"], figures["mb"], done.stdout


MEASURE = """
import json, resource, subprocess, sys
done = subprocess.run(sys.argv[1:])
used = resource.getrusage(resource.RUSAGE_CHILDREN)
print(json.dumps({"seconds": used.ru_utime + used.ru_stime, "mb": used.ru_maxrss / 1024}), file=sys.stderr)
sys.exit(done.returncode)
"""


def main() -> None:
    """Measure, and print a line for each round and the medians."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kind", default="multilingual")
    parser.add_argument("--entries", type=int, default=1_000_000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--repairs", action="store_true")
    options = parser.parse_args()
    if options.repairs:
        measure_repairs(min(options.entries, FILE))
        return
    with tempfile.TemporaryDirectory() as folder:
        site = Path(folder, "site")
        subprocess.run(
            [sys.executable, "-m", "bench.generate", options.kind, str(site), "--raw", "--host", HOME.rstrip("/"),
             "--files", str(-(-options.entries // FILE)), "--entries", str(min(FILE, options.entries))],
            check=True, stdout=subprocess.DEVNULL,
        )  # fmt: skip
        for path in [
            *site.glob("*.gz"),
            site / "index.xml",
            site / "index-raw.xml",
            site / "robots.txt",
            site / "set.json",
        ]:
            path.unlink(missing_ok=True)
        found: dict[str, list[tuple[float, float]]] = {}
        for _ in range(options.rounds):
            out = Path(folder, "out")
            shutil.rmtree(out, ignore_errors=True)
            commands = {
                "read": [sys.executable, "-c", READ, str(site), HOME, "none"],
                "read, all rules": [sys.executable, "-c", READ, str(site), HOME, ""],
                "fix": [
                    sys.executable,
                    "-m",
                    "sitemapcrawler.cli",
                    "fix",
                    str(site),
                    "--base-url",
                    HOME,
                    "--out",
                    str(out),
                ],
            }
            for name, command in commands.items():
                seconds, mb, said = measured(command)
                found.setdefault(name, []).append((seconds, mb))
                print(f"{name:16} {seconds:7.1f} s {mb:6.0f} MB  {said.splitlines()[0]}", flush=True)
        reading = statistics.median(seconds for seconds, _ in found["read"])
        for name, rounds in found.items():
            seconds, mb = (statistics.median(values) for values in zip(*rounds, strict=True))
            print(f"median {name:16} {seconds:7.1f} s  {seconds / reading:5.2f} times reading  {mb:6.0f} MB")


if __name__ == "__main__":
    main()
