"""Policies from a few lines, and files as shops, newspapers, wikis and small sites have them, for the tests."""

from __future__ import annotations

from pathlib import Path

from sitemapcrawler.robots import Policy

ROBOTS = "https://example.com/robots.txt"
REAL_ONES = Path(__file__).parents[2] / "data" / "robots"
FILES = {path.stem: path.read_bytes().decode() for path in sorted(REAL_ONES.iterdir())}
"""{kind of site: its robots.txt}"""


def policy(text: str | bytes, url: str = ROBOTS) -> Policy:
    """The policy of a robots.txt that was answered with status 200."""
    return Policy.from_response(url, 200, text.encode() if isinstance(text, str) else text)


def rules(*lines: str, agent: str = "foobot") -> Policy:
    """The policy of a robots.txt with one group."""
    return policy("\n".join([f"User-agent: {agent}", *lines]))


def at(path: str) -> str:
    """A URL on the host of the tests."""
    return f"https://example.com{path}"


def decided(robots: Policy, path: str, agent: str = "foobot") -> tuple[bool, int | None]:
    """Whether a path is allowed, and the line that says so."""
    verdict = robots.verdict(at(path), agent)
    return verdict.allowed, verdict.rule.line if verdict.rule is not None else None
