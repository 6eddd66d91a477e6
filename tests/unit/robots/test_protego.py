"""protego as referee: the same verdicts on thousands of files, but for what is listed, where the RFC decides otherwise."""

from __future__ import annotations

import re
from collections.abc import Iterator
from random import Random

import pytest
from protego import Protego

from sitemapcrawler.robots import Policy
from sitemapcrawler.robots.ruleset import Clause, clauses, path_of

from .saying import FILES, at, policy

AGENTS = ("Googlebot", "Bingbot", "GPTBot", "CCBot", "Nutch", "Yandex", "Otherbot")
EQUAL = "2.2.2, third example: in a query they are equal"
DIFFERENT = [
    # text, path, agent, our verdict, protego's, why ours
    ("User-agent: bot\nDisallow: /", "/", "botty", True, False, "2.2.1: a product token is compared whole"),
    ("User-agent: bot\nDisallow: /", "/", "a.bot", True, False, "2.2.1: a product token is compared whole"),
    ("User-agent: a/1.0\nDisallow: /", "/", "a", False, True, "2.2: `/` is of no product token, it ends one"),
    ("User-agent: a b\nDisallow: /", "/", "a", False, True, "2.2: a blank is of no product token, it ends one"),
    ("User-agent: *a\nDisallow: /", "/", "a", True, False, "2.2: `*` is of no product token"),
    ("User-agent: a\nCrawl-delay: 1\nUser-agent: b\nDisallow: /", "/", "a", False, True, "2.2.4: a rule ends a group"),
    ("User-agent: a\nUnknown: 1\nUser-agent: b\nDisallow: /", "/", "a", False, True, "2.2.4: a rule ends a group"),
    ("User-agent: a\nDisallow: /x$", "/x$y", "a", True, False, "2.2.3: `$` ends the pattern; verbatim it is %24"),
    ("User-agent: a\nDisallow: /x?y", "/x%3Fy", "a", True, False, "2.2.2: an escaped delimiter is none"),
    ("User-agent: a\nDisallow: /*?", "/x%3Fy", "a", True, False, "2.2.2: an escaped delimiter is none"),
    ("User-agent: a\nDisallow: /?u=/x", "/?u=%2Fx", "a", False, True, EQUAL),
    ("User-agent: a\nDisallow: /?u=a%2Fb", "/?u=a/b", "a", False, True, EQUAL),
    ("User-agent: a\nDisallow: /*2", "/a,b", "a", True, False, "2.2.2: what is not escaped has no digits to match"),
    ("User-agent: a\nDisallow: /a%", "/a,b", "a", True, False, "2.2.2: what is not escaped has no % to match"),
    ("User-agent: a\nDisallow: /%E9", "/%E8", "a", True, False, "2.2.2: two octets that are no UTF-8 are two octets"),
    ("User-agent: a\nDisallow: http://x", "/http://x", "a", True, False, "2.2: a pattern begins with `/`"),
    ("User-agent: a\nAllow: /x?a&b\nDisallow: /x*a*b*c", "/x?a&bc", "a", False, True, "2.2.2: octets are counted"),
    ("User-agent: a\x0bDisallow: /", "/", "a", True, False, "2.2: CR and LF end a line, VT does not"),
    ("User-agent: a\u2028Disallow: /", "/", "a", True, False, "2.2: CR and LF end a line, no other character does"),
    ("\ufeffUser-agent: a\nDisallow: /", "/", "a", False, True, "2.3: UTF-8, whose mark is not part of the text"),
    ("User-agent: a\nDisallow /x y", "/x%20y", "a", True, False, "2.2: no colon, no rule; one word, as Google has it"),
]
COUNTED_AS_THREE = set(":@!&'()+,;[]?")
"""What protego escapes before it counts octets."""


@pytest.mark.parametrize(("text", "path", "agent", "ours", "protegos", "why"), DIFFERENT)
def test_listed_difference(text: str, path: str, agent: str, ours: bool, protegos: bool, why: str) -> None:
    assert policy(text).allows(at(path), agent) is ours
    assert Protego.parse(text).can_fetch(at(path), agent) is protegos
    assert ours is not protegos, why


@pytest.mark.parametrize("name", FILES)
def test_no_difference_on_files_like_real_ones(name: str) -> None:
    check(FILES[name], Random(name), urls=200)


@pytest.mark.parametrize("seed", range(7))
def test_no_difference_on_changed_files(seed: int) -> None:
    chance = Random(seed)
    for _ in range(60):
        lines = chance.choice([*FILES.values()]).splitlines()
        for _ in range(chance.randrange(1, 12)):
            change(lines, chance)
        check("\n".join(lines), chance, urls=12)


@pytest.mark.parametrize("seed", range(7))
def test_no_difference_on_generated_files(seed: int) -> None:
    chance = Random(seed)
    for _ in range(150):
        check("\n".join(generated(chance)), chance, urls=8)


@pytest.mark.parametrize(
    "records",
    [
        "Crawl-delay: 10", "crawl delay: 2.5", "Crawl-delay: -1", "Crawl-delay: nan", "Crawl-delay: soon",
        "Crawl-delay: 1\nCrawl-delay: x\nCrawl-delay: 3", "Request-rate: 1/5", "Request-rate: 30/10m 0900-1730",
        "Request-rate: 1/0",
        "Disallow: /x\nCrawl-delay: 4\nVisit-time: 100-2330\nRequest-rate: 2/1h",
    ],
)  # fmt: skip
def test_timing_is_protegos(records: str) -> None:
    text = f"User-agent: a\n{records}\nDisallow: /\n\nUser-agent: *\nCrawl-delay: 99\n"
    ours, theirs = policy(text), Protego.parse(text)
    for agent in ("a", "z"):
        found = ours.timing(agent)
        assert found.crawl_delay == theirs.crawl_delay(agent)
        assert found.request_rate == theirs.request_rate(agent)
    assert policy("User-agent: a\nDisallow: /\nCrawl-delay: 1").timing("z").crawl_delay is None


def check(text: str, chance: Random, urls: int) -> None:
    """Compare verdicts on URLs that the rules are about."""
    ours, theirs = policy(text), Protego.parse(text)
    for path in paths(text, chance, urls):
        if is_listed(text, path):
            continue
        for agent in AGENTS:
            allowed = theirs.can_fetch(at(path), agent)
            if ours.allows(at(path), agent) is not allowed:
                assert heaviest_as_protego_counts(ours, path, agent).allow is allowed, (text, path, agent)


def heaviest_as_protego_counts(robots: Policy, path: str, agent: str) -> Clause:
    """What decides of the clauses that match, if octets are counted in protego's way; the last listed difference."""
    group = robots.group_of(agent)
    assert group is not None, (path, agent)
    matching = [each for rule in group.rules for each in clauses(rule) if each.pattern.matches(path_of(at(path)))]
    return max(matching, key=protegos_weight)


def protegos_weight(clause: Clause) -> int:
    return clause.weight + 4 * sum(character in COUNTED_AS_THREE for part in clause.pattern.parts for character in part)


def paths(text: str, chance: Random, count: int) -> Iterator[str]:
    """Paths that match the patterns of a file, or nearly so."""
    patterns = re.findall(r"(?i)(?:dis)?allow:[ \t]*([^\s#]+)", text) or ["/"]
    for _ in range(count):
        pattern = chance.choice(patterns).removesuffix("$")
        path = "".join(
            chance.choice(("", "x", "/x/", "a-b", "?q=1")) if part == "*" else part
            for part in re.split(r"(\*)", pattern)
        )
        end = chance.choice(("", "", "", "x", "/", "?x=1", "&y=2", ".html", "\xe9"))
        cut = chance.choice((None, None, None, -1, -2))
        yield (path if path.startswith("/") else f"/{path}")[:cut] + end


def is_listed(text: str, path: str) -> bool:
    """True where a listed difference is to be seen."""
    if re.search(r"\$|%3f|%(?![0-9a-f]{2})", path, re.IGNORECASE):
        return True
    return "?" in path and "%2F" in (path + text).upper()


def change(lines: list[str], chance: Random) -> None:
    """Do to a file what its owners do."""
    place = chance.randrange(len(lines))
    kind = chance.randrange(5)
    if kind == 0 and len(lines) > 2:
        del lines[place]
    elif kind == 1:
        lines.insert(place, chance.choice(lines))
    elif kind == 2:
        lines[place] = lines[place].upper() if lines[place].lower().startswith("user") else lines[place].swapcase()
    elif kind == 3:
        other = chance.randrange(len(lines))
        lines[place], lines[other] = lines[other], lines[place]
    else:
        lines.insert(place, f"{chance.choice(('Allow', 'Disallow'))}: {pattern(chance)}")
    # Other records between User-agent lines are a listed difference.
    lines[:] = [line for line in lines if not line.lower().startswith("crawl-delay")]


ATOMS = (
    "/", "/", "/", "a", "b", "ab", "*", "*", "?", "=", "&", "%2F", "%61", "%7e", "~", "\xe9", "%C3%A9", "%c3%a9", ":",
    "%3A", "index.html", ".php", "-", "_", "+", "%2B", ";", ",", "@", "%20", "%25", "%2A", "!", "(",
)  # fmt: skip


def pattern(chance: Random) -> str:
    """A pattern without a listed difference."""
    made = "".join(chance.choice(ATOMS) for _ in range(chance.randrange(1, 6)))
    made = f"/{made}" if chance.random() < 0.9 else made
    return "" if chance.random() < 0.04 else made + ("$" if chance.random() < 0.2 else "")


def generated(chance: Random) -> Iterator[str]:
    """The lines of a file with every kind of record."""
    for _ in range(chance.randrange(1, 5)):
        for _ in range(chance.randrange(1, 3)):
            yield f"User-agent: {chance.choice(('*', *AGENTS)).swapcase()}"
        for _ in range(chance.randrange(0, 6)):
            name = chance.choice(("Allow", "Disallow", "disallow", "dissallow", "Sitemap", "ALLOW "))
            blank, comment = chance.choice(("", " ", "\t ")), chance.choice(("", "", "", " # no"))
            yield f"{name}:{blank}{pattern(chance)}{comment}"
        if chance.random() < 0.3:
            yield ""
