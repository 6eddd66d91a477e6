"""Crawlers that robots.txt is checked for, from the table `crawlers.toml`, and parsing of crawler names."""

from __future__ import annotations

import difflib
import re
import tomllib
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from importlib.resources import files

SEARCH, AI = "search", "ai"
"""Names of the groups."""
GOOGLE = "Google"
"""Operator whose crawlers use google/robotstxt."""
EVERYBODY = "*"
"""Name of the group for crawlers without their own (RFC 9309, 2.2.1)."""
TOKEN = re.compile(r"[A-Za-z0-9_.-]+")
"""A product token: letters, `_` and `-` (RFC 9309, 2.2.1); some also have digits and dots (360Spider,
archive.org_bot)."""
MAX_NAME = 100  # characters; the longest known ones have about 30

ANY_CHROME, CHROME = "W.X.Y.Z", "140.0.0.0"
"""What operators write for the version of Chrome in a User-Agent header, and what is sent in its place."""
MAX_NEAR = 3
"""Similar names that a message suggests."""


class Purpose(StrEnum):
    """What a crawler fetches pages for."""

    SEARCH = "search"
    """The index of a search engine, or of an assistant that cites its sources."""
    TRAINING = "training"
    """Training of AI models."""
    USER_FETCH = "user fetch"
    """A user requested this page, or an answer based on it."""
    INPUT = "input"
    """Answers that a customer of the operator bases on pages of his choice."""
    ADS = "ads"
    """Placing or checking advertisements."""
    RESEARCH = "research"
    """Work of the operator that it does not describe further."""
    UNKNOWN = "unknown"


ANSWERS = frozenset((Purpose.SEARCH, Purpose.USER_FETCH, Purpose.INPUT))
"""Purposes of crawlers that assistants need to answer with what a page says."""


@dataclass(frozen=True, slots=True)
class Agent:
    """A crawler as robots.txt identifies it."""

    name: str
    """Product token as its operator writes it; compared in full, ignoring case."""
    group: str = ""
    """`search`, `ai`, or empty for a crawler that must be selected by name."""
    operator: str = ""
    purpose: Purpose = Purpose.UNKNOWN
    page: str = ""
    """URL of the operator's documentation; empty if there is none."""
    addresses: str = ""
    """URL of a JSON file with the address ranges that the crawler uses; empty if the operator publishes none."""
    fallbacks: tuple[str, ...] = ()
    """Tokens whose group the crawler follows if it has none of its own, in order, before `*`."""
    bound_by_star: bool = True
    """False if the crawler ignores the group `*`."""
    obeys: bool = True
    """False if its operator states that it may ignore robots.txt."""
    user_agent: str = ""
    """User-Agent header as its operator publishes it; empty if the operator publishes none."""
    fetched_by: str = ""
    """Crawler that makes the requests, for a token that only robots.txt knows, such as Google-Extended."""

    @property
    def header(self) -> str:
        """User-Agent header to send in its name; made up of token and page if the operator publishes none."""
        if self.user_agent:
            return self.user_agent.replace(ANY_CHROME, CHROME)
        return f"Mozilla/5.0 (compatible; {self.name}/1.0{f'; +{self.page}' if self.page else ''})"


def _read() -> tuple[Agent, ...]:
    """Read the table. Each row has the fields of `Agent`."""
    rows = tomllib.loads((files(__package__) / "crawlers.toml").read_text("utf-8"))["crawlers"]
    return tuple(
        Agent(**{**row, "purpose": Purpose(row["purpose"]), "fallbacks": tuple(row.get("fallbacks", ()))})
        for row in rows
    )


AGENTS = _read()
BY_NAME = {agent.name.lower(): agent for agent in AGENTS}
"""Crawlers by product token in lower case."""
_GROUPS = {group: tuple(agent for agent in AGENTS if agent.group == group) for group in (SEARCH, AI)}


def agent(name: str) -> Agent:
    """Return the crawler of that name, ignoring case. An unknown one has no fallbacks and follows `*`.

    Raises ValueError if the name is not a valid product token.
    """
    known = BY_NAME.get(name.lower())
    if known is not None:
        return known
    if name != EVERYBODY and (len(name) > MAX_NAME or TOKEN.fullmatch(name) is None):
        raise ValueError(_problem(name))
    return Agent(name)


def named(text: str) -> tuple[Agent, ...]:
    """Return the crawlers of a group, or the crawler of that name.

    Raises ValueError if the name is not a valid product token.
    """
    word = text.strip()
    return _GROUPS.get(word.lower()) or (agent(word),)


def requesting(text: str) -> tuple[Agent, ...]:
    """Return the crawlers of a group that make requests of their own, or the known crawler of that name.

    Raises ValueError for an unknown name, and for a token whose pages another crawler fetches.
    """
    found = named(text)
    if len(found) > 1:
        return tuple(each for each in found if not each.fetched_by)
    if found[0].name.lower() not in BY_NAME:
        near = [BY_NAME[name].name for name in difflib.get_close_matches(text.strip().lower(), BY_NAME, MAX_NEAR)]
        hint = f", did you mean {' or '.join(near)}?" if near else ""
        raise ValueError(f"no such crawler is known{hint}")
    if found[0].fetched_by:
        raise ValueError(f"{found[0].name} makes no requests: {found[0].fetched_by} fetches the pages")
    return found


def parse_agents(text: str) -> list[Agent]:
    """Parse a list such as `search,ai,MyBot`, in order and without duplicates. Raises ValueError as `named` does."""
    return distinct(each for word in text.split(",") for each in named(word))


def distinct(agents: Iterable[Agent]) -> list[Agent]:
    """Remove duplicates by name, ignoring case."""
    found: dict[str, Agent] = {}
    for each in agents:
        found.setdefault(each.name.lower(), each)
    return list(found.values())


def _problem(name: str) -> str:
    if not name:
        return "an agent without a name"
    if len(name) > MAX_NAME:
        return f"an agent's name has at most {MAX_NAME} characters, not {len(name)}"
    wrong = TOKEN.sub("", name)[0]
    return f"{name!r} cannot be an agent: {_character(wrong)} is not allowed in a robots.txt product token"


def _character(wrong: str) -> str:
    if wrong.isspace():
        return "white space"
    return repr(wrong) if wrong.isprintable() else f"a control character ({wrong!r})"
