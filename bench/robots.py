"""Measures the cost of verdicts for 24 agents, under robots.txt files of several kinds, compared with protego.

    python -m bench.robots [--urls N]

The URLs are those of the generated plain set, in batches as the crawler judges them. Prints a table.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterable
from random import Random
from time import perf_counter

from protego import Protego

from bench.entries import PATHS, WORDS
from sitemapcrawler.robots import Agent, BatchVerdicts, Policy, parse_agents

HOST = "https://www.example.com"
BATCH = 1_000
AGENTS = 24
PROTEGO_CHECKS = 3_000
RULES = 500
SMALL = """User-agent: *
Disallow: /wp-admin/
Allow: /wp-admin/admin-ajax.php
Disallow: /?s=
Disallow: /search/

User-agent: GPTBot
User-agent: CCBot
User-agent: Bytespider
Disallow: /

Sitemap: https://www.example.com/sitemap.xml
"""


def rules(chance: Random, hits: Iterable[str] = ()) -> list[str]:
    """Return 500 rules like those of large shops: two thirds folders and files, the rest with wildcards."""
    made = [f"Disallow: /{chance.choice(WORDS)}/{chance.choice(PATHS)}/" for _ in range(RULES // 2)]
    made += [f"Disallow: /{chance.choice(WORDS)}.php{number}" for number in range(RULES // 8)]
    made += [f"Allow: /{chance.choice(WORDS)}/{chance.choice(PATHS)}/help" for _ in range(RULES // 16)]
    wild = ("/*?{}=", "/*&{}=", "/*/{}/print$", "/{}/*/sort-", "/*.{}$", "*;{}_id=", "/*/filter-{}/*/page-")
    made += [
        f"Disallow: {wild[number % len(wild)].format(chance.choice(PATHS))}" for number in range(RULES - len(made))
    ]
    chance.shuffle(made)
    return [*made, *hits]


def large(chance: Random, groups: int, hits: Iterable[str] = ()) -> str:
    """Return a file of 500 rules for `*`; with more groups, other crawlers have as many rules of their own."""
    names = ["*", "Googlebot", "Bingbot", "YandexBot", "GPTBot", "ClaudeBot", "CCBot"][:groups]
    return "\n\n".join(f"User-agent: {name}\n" + "\n".join(rules(chance, hits)) for name in names) + "\n"


def files(chance: Random) -> dict[str, str]:
    """Return the robots.txt files to measure, by name."""
    return {
        "none": "",
        "small": SMALL,
        "500 rules": large(chance, 1),
        "500 rules, a tenth blocked": large(
            chance, 1, ["Disallow: /amber-", "Disallow: /*7.html$", "Disallow: /b*4.h"]
        ),
        "500 rules each for 7 groups": large(chance, 7),
        "everything denied but some": "User-agent: *\nDisallow: /\nAllow: /a\nAllow: /*1.html$\n",
    }


def seconds(work: Callable[[], object]) -> float:
    """Measure the best time of three."""
    times = []
    for _ in range(3):
        start = perf_counter()
        work()
        times.append(perf_counter() - start)
    return min(times)


def ours(text: str, agents: list[Agent], batches: list[list[str]]) -> tuple[float, float]:
    """Measure microseconds per URL for all agents, compiling included, and the share of verdicts that deny."""
    total = sum(map(len, batches))

    def judge() -> BatchVerdicts:
        made = BatchVerdicts(Policy.from_response(f"{HOST}/robots.txt", 200, text.encode()), agents)
        for batch in batches:
            made.judge(batch)
        return made

    return seconds(judge) / total * 1e6, sum(judge().blocked.values()) / total / len(agents)


def protegos(text: str, agents: list[Agent], urls: list[str]) -> float:
    """Measure the same with protego's `can_fetch` for each URL and agent, on fewer URLs."""
    robots = Protego.parse(text)
    few = urls[: max(1, PROTEGO_CHECKS // len(agents))]
    return seconds(lambda: [robots.can_fetch(url, agent.name) for url in few for agent in agents]) / len(few) * 1e6


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.robots", description="Measure verdicts of robots.txt.")
    parser.add_argument("--urls", type=int, default=200_000, help="how many URLs to judge")
    count = parser.parse_args().urls
    chance = Random(1)
    urls = [f"{HOST}/{chance.choice(PATHS)}/{number:08}.html" for number in range(count)]
    batches = [urls[start : start + BATCH] for start in range(0, count, BATCH)]
    agents = parse_agents("search,ai")[:AGENTS]
    print(f"{count:,} URLs, {len(agents)} agents; microseconds for one URL and all agents\n")
    print("| robots.txt | denied | ours | protego |\n|---|---:|---:|---:|")
    for name, text in files(chance).items():
        spent, denied = ours(text, agents, batches)
        print(f"| {name} | {denied:.0%} | {spent:.2f} | {protegos(text, agents, urls):,.0f} |")


if __name__ == "__main__":
    main()
