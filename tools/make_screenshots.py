"""Takes the pictures of the report page in docs/images/: python tools/make_screenshots.py [REPORT.html]

Without a page, audits the demo site and shows its report under the name of SHOWN. Requires Debian's chromium, and
playwright (pip install '.[test-all]').
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from playwright.sync_api import sync_playwright

ROOT = Path(__file__).resolve().parent.parent
IMAGES = ROOT / "docs" / "images"
SHOWN = "https://museum.example"
"""Replaces the demo's address, whose port changes each time."""
MAX_BYTES = 300_000
"""Maximum size of a picture."""
SHOTS: dict[str, dict[str, Any]] = {
    "report-light": {"viewport": {"width": 1280, "height": 960}, "color_scheme": "light"},
    "report-dark": {"viewport": {"width": 1280, "height": 960}, "color_scheme": "dark"},
}
"""Browser options, by name of the picture."""
PLACES = {"report-dark": "#where"}
"""Section at the top of a picture, if it is not the first."""


def main() -> int:
    """Take all pictures; return 1 if one is too large."""
    with TemporaryDirectory() as folder:
        page = Path(sys.argv[1]).resolve() if len(sys.argv) > 1 else demo_report(Path(folder))
        sizes = {path: path.stat().st_size for path in shoot(page)}
    for path, size in sizes.items():
        print(f"{path.relative_to(ROOT)}: {size:,} bytes{' is too large' if size > MAX_BYTES else ''}")
    return int(max(sizes.values()) > MAX_BYTES)


def demo_report(folder: Path) -> Path:
    """Audit the demo site as the README does; return the page of the report."""
    command = [sys.executable, "-m", "demo", "audit", "--out", str(folder / "audit"), "--fail-on", "never"]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True)
    page = folder / "audit" / "report.html"
    text = page.read_text(encoding="utf-8")
    page.write_text(re.sub(r"http://127\.0\.0\.1:\d+", SHOWN, text), encoding="utf-8")
    return page


def shoot(page: Path) -> list[Path]:
    """Take each picture of the page; return their paths."""
    IMAGES.mkdir(exist_ok=True)
    taken = []
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        for name, options in SHOTS.items():
            tab = browser.new_page(**options)
            tab.goto(page.as_uri())
            tab.evaluate("place => document.querySelector(place)?.scrollIntoView()", PLACES.get(name, "body"))
            taken.append(IMAGES / f"{name}.png")
            tab.screenshot(path=taken[-1])
        browser.close()
    return taken


if __name__ == "__main__":
    sys.exit(main())
