"""Table of the crawlers that robots.txt is checked for, and parsing of crawler names.

Every crawler is documented by its operator at `source`. The exception is Bytespider, which is listed because so many
sites block it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

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


class Purpose(StrEnum):
    """What a crawler fetches pages for."""

    SEARCH = "search"
    """The index of a search engine, or of an assistant that cites its sources."""
    TRAINING = "training"
    """Training of AI models."""
    USER_FETCH = "user fetch"
    """A user requested this page, or an answer based on it."""
    ADS = "ads"
    """Placing or checking advertisements."""
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Agent:
    """A crawler as robots.txt identifies it."""

    name: str
    """Product token as its operator writes it; compared in full, ignoring case."""
    group: str = ""
    """`search`, `ai`, or empty for a crawler that must be selected by name."""
    operator: str = ""
    purpose: Purpose = Purpose.UNKNOWN
    source: str = ""
    """The operator's documentation."""
    fallbacks: tuple[str, ...] = ()
    """Tokens whose group the crawler follows if it has none of its own, in order, before `*`."""
    bound_by_star: bool = True
    """False if the crawler ignores the group `*`."""
    obeys: bool = True
    """False if its operator states that it may ignore robots.txt."""


_GOOGLE = "https://developers.google.com/crawling/docs/crawlers-fetchers/google-common-crawlers"
_GOOGLE_SPECIAL = "https://developers.google.com/crawling/docs/crawlers-fetchers/google-special-case-crawlers"
_OPENAI = "https://developers.openai.com/docs/bots"
_CLAUDE = "https://support.claude.com/en/articles/8896518"
_PERPLEXITY = "https://docs.perplexity.ai/docs/resources/perplexity-crawlers"
_AMAZON = "https://developer.amazon.com/amazonbot"
_META = "https://developers.facebook.com/docs/sharing/webmasters/web-crawlers"
_APPLE = "https://support.apple.com/en-us/119829"
_MISTRAL = "https://docs.mistral.ai/robots"
_DUCK = "https://duckduckgo.com/duckduckgo-help-pages/results"
_YANDEX = "https://yandex.com/support/webmaster/en/robot-workings/user-agent"
_BING = "https://www.bing.com/webmasters/help/which-crawlers-does-bing-use-8c184ec0"
_BAIDU = "https://www.baidu.com/search/robots_english.html"
_SEZNAM = "https://o-seznam.cz/napoveda/vyhledavani/en/crawling-control"
_NAVER = "https://searchadvisor.naver.com/guide/seo-basic-robots"
_YOU = "https://docs.you.com/youbot"
_COMMON_CRAWL = "https://commoncrawl.org/ccbot"
_BYTEDANCE = "no page; its User-Agent header names spider-feedback@bytedance.com"

_OF_GOOGLEBOT = ("Googlebot",)
AGENTS = (
    Agent("Googlebot", SEARCH, GOOGLE, Purpose.SEARCH, _GOOGLE),
    Agent("Bingbot", SEARCH, "Microsoft", Purpose.SEARCH, _BING),
    Agent("YandexBot", SEARCH, "Yandex", Purpose.SEARCH, _YANDEX, ("Yandex",)),
    Agent("Baiduspider", SEARCH, "Baidu", Purpose.SEARCH, _BAIDU),
    Agent("DuckDuckBot", SEARCH, "DuckDuckGo", Purpose.SEARCH, f"{_DUCK}/duckduckbot"),
    Agent("Applebot", SEARCH, "Apple", Purpose.SEARCH, _APPLE, _OF_GOOGLEBOT),
    Agent("SeznamBot", SEARCH, "Seznam.cz", Purpose.SEARCH, _SEZNAM),
    Agent("Yeti", SEARCH, "Naver", Purpose.SEARCH, _NAVER),
    Agent("GPTBot", AI, "OpenAI", Purpose.TRAINING, _OPENAI),
    Agent("OAI-SearchBot", AI, "OpenAI", Purpose.SEARCH, _OPENAI),
    Agent("ChatGPT-User", AI, "OpenAI", Purpose.USER_FETCH, _OPENAI, obeys=False),
    Agent("ClaudeBot", AI, "Anthropic", Purpose.TRAINING, _CLAUDE),
    Agent("Claude-SearchBot", AI, "Anthropic", Purpose.SEARCH, _CLAUDE),
    Agent("Claude-User", AI, "Anthropic", Purpose.USER_FETCH, _CLAUDE),
    Agent("Google-Extended", AI, GOOGLE, Purpose.TRAINING, f"{_GOOGLE}#google-extended"),
    Agent("PerplexityBot", AI, "Perplexity", Purpose.SEARCH, _PERPLEXITY),
    Agent("Perplexity-User", AI, "Perplexity", Purpose.USER_FETCH, _PERPLEXITY, obeys=False),
    Agent("CCBot", AI, "Common Crawl", Purpose.TRAINING, _COMMON_CRAWL),
    Agent("Bytespider", AI, "ByteDance", Purpose.TRAINING, _BYTEDANCE),
    Agent("Amazonbot", AI, "Amazon", Purpose.TRAINING, _AMAZON),
    Agent("Amzn-SearchBot", AI, "Amazon", Purpose.SEARCH, _AMAZON),
    Agent("Amzn-User", AI, "Amazon", Purpose.USER_FETCH, _AMAZON),
    Agent("Meta-ExternalAgent", AI, "Meta", Purpose.TRAINING, _META),
    Agent("Meta-WebIndexer", AI, "Meta", Purpose.SEARCH, _META),
    Agent("Meta-ExternalFetcher", AI, "Meta", Purpose.USER_FETCH, _META, obeys=False),
    Agent("Applebot-Extended", AI, "Apple", Purpose.TRAINING, _APPLE),
    Agent("DuckAssistBot", AI, "DuckDuckGo", Purpose.USER_FETCH, f"{_DUCK}/duckassistbot"),
    Agent("MistralAI-Index", AI, "Mistral AI", Purpose.SEARCH, _MISTRAL),
    Agent("MistralAI-User", AI, "Mistral AI", Purpose.USER_FETCH, _MISTRAL),
    Agent("YouBot", AI, "You.com", Purpose.SEARCH, _YOU),
    # Pages blocked for the following crawlers can still be found in a search, so these are selected by name only.
    Agent("Googlebot-Image", "", GOOGLE, Purpose.SEARCH, _GOOGLE, _OF_GOOGLEBOT),
    Agent("Googlebot-News", "", GOOGLE, Purpose.SEARCH, _GOOGLE, _OF_GOOGLEBOT),
    Agent("Googlebot-Video", "", GOOGLE, Purpose.SEARCH, _GOOGLE, _OF_GOOGLEBOT),
    Agent("AdsBot-Google", "", GOOGLE, Purpose.ADS, _GOOGLE_SPECIAL, bound_by_star=False),
    Agent("AdsBot-Google-Mobile", "", GOOGLE, Purpose.ADS, _GOOGLE_SPECIAL, bound_by_star=False),
    Agent("Mediapartners-Google", "", GOOGLE, Purpose.ADS, _GOOGLE_SPECIAL, bound_by_star=False),
)
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
    return f"no agent is named {name!r}: {_character(wrong)} cannot stand in a robots.txt product token"


def _character(wrong: str) -> str:
    if wrong.isspace():
        return "white space"
    return repr(wrong) if wrong.isprintable() else f"a control character ({wrong!r})"
