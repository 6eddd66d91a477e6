"""robots.txt: the same verdicts for single URLs, for batches, and from a slow implementation of RFC 9309."""

from __future__ import annotations

import re
from collections.abc import Iterator

from protego import Protego

from fuzz.inputs import chance, in_time
from sitemapcrawler import urls
from sitemapcrawler.robots import BatchVerdicts, Policy, parse_agents
from sitemapcrawler.robots.parser import MAX_NOTES

DICTIONARY = "robots.dict"
MAX_BYTES = 1024
ROBOTS = "https://e.com/robots.txt"
AGENTS = parse_agents("search,ai")
NAMES = ("GPTBot", "foobot")
PATTERN = re.compile(r"allow\s*:?\s*([^\s#]+)", re.IGNORECASE)
FEW = 12
"""URLs to judge."""
PLAIN_LINE = re.compile(r"(User-agent|Allow|Disallow): ([A-Za-z0-9/._*$-]*)|")
"""Lines that all parsers read alike."""
LISTED = re.compile(r"[$]|^User-agent: (?![a-z_-]+$|[*]$)", re.MULTILINE | re.IGNORECASE)
"""Lines on which protego differs for a reason: tests/unit/robots/test_protego.py."""
SITE = "https://e.com"
PLAIN_PATH = re.compile(r"/[A-Za-z0-9/._-]*")


def check(data: bytes) -> None:
    """Check that verdicts agree, and that notes stay within their limits."""
    with in_time():
        policy = Policy.from_response(ROBOTS, 200, data)
        asked = list(_urls(data))
        judge = BatchVerdicts(policy, AGENTS)
        blocked = judge.judge(asked)
    for url, names in zip(asked, blocked, strict=True):
        denied = {agent.name for agent in AGENTS if not policy.allows(url, agent)}
        assert set(names) == denied, (url, names, denied)
    assert all(urls.is_web(sitemap.url) for sitemap in policy.sitemaps)
    assert len(policy.notes) <= MAX_NOTES * len(policy.note_counts)
    assert all(agent.name in judge.blocked for agent in AGENTS if any(agent.name in names for names in blocked))
    for agent in AGENTS:
        policy.timing(agent), policy.group_of(agent)
    policy.denying_groups()
    _check_plain(data, policy)


def _urls(data: bytes) -> Iterator[str]:
    """Yield URLs that the rules match, or nearly so."""
    draw = chance(data)
    patterns = PATTERN.findall(data.decode("utf-8", "replace")) or ["/"]
    for _ in range(FEW):
        pattern = draw.choice(patterns).removesuffix("$")
        parts = re.split(r"(\*)", pattern)
        path = "".join(draw.choice(("", "x", "/x/", "?q=1")) if part == "*" else part for part in parts)
        path = (path if path.startswith("/") else f"/{path}") + draw.choice(("", "", "x", "/", "?x=1", "%2F", "\xe9"))
        yield f"{SITE}{path[: draw.choice((None, None, -1))]}"


def _check_plain(data: bytes, policy: Policy) -> None:
    """Check that plain files are judged as by protego and by the RFC."""
    try:
        lines = data.decode("ascii").split("\n")
    except UnicodeDecodeError:
        return
    if not all(PLAIN_LINE.fullmatch(line) for line in lines) or "\0" in data.decode("ascii"):
        return
    text = "\n".join(lines)
    protego = None if LISTED.search(text) else Protego.parse(text)
    for path in filter(PLAIN_PATH.fullmatch, (url.removeprefix(SITE) for url in _urls(data))):
        for name in NAMES:
            allowed = policy.allows(SITE + path, name)
            assert path == "/robots.txt" or allowed is slow_verdict(lines, path, name), (path, name)
            assert protego is None or allowed is protego.can_fetch(SITE + path, name), (path, name)


def slow_verdict(lines: list[str], path: str, name: str) -> bool:
    """Apply RFC 9309, 2.2.1 and 2.2.2, literally: the agent's own group or `*`, the longest match, Allow wins ties."""
    rules: dict[str, list[tuple[bool, str]]] = {}
    agents: list[str] = []
    in_rules = True
    for field, value in (PLAIN_LINE.fullmatch(line).groups() for line in lines):  # type: ignore[union-attr]  # they all do
        if field == "User-agent":
            agents = [] if in_rules else agents
            in_rules = False
            token = value if value == "*" else re.match("[A-Za-z_-]*", value)[0].lower()  # type: ignore[index]  # or nothing
            agents += [token] if token else []
            rules.setdefault(token, [])
        elif field is not None:
            in_rules = True
            for agent in dict.fromkeys(agents) if value.startswith(("/", "*")) else ():
                rules[agent].append((field == "Allow", value))
    mine = rules.get(name.lower(), rules.get("*", []))
    found = [(length, allow) for allow, pattern in mine for length in _matches(pattern, path, allow)]
    return max(found, default=(0, True))[1]


def _matches(pattern: str, path: str, allow: bool) -> Iterator[int]:
    """Yield the length of a pattern that matches a path; for an allowed index page, also that of its folder."""
    readings = [pattern]
    if allow and pattern.endswith("/index.html"):
        readings.append(pattern.removesuffix("index.html") + "$")
    for reading in readings:
        body = reading.removesuffix("$")
        expression = re.sub(r"(?:\\\*)+", ".*", re.escape(body.replace("$", "%24")))
        if re.match(expression + ("$" if body != reading else ""), path, re.DOTALL):
            yield len(body.replace("$", "%24")) + (body != reading)
