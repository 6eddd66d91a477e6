"""Parsing of robots.txt: groups, verdicts by RFC 9309 and by Google's parser, crawlers, Sitemap lines, usage
preferences.

May import `urls`. Fetches nothing. Start reading in `policy.py`.
"""

from sitemapcrawler.robots.agents import AGENTS, Agent, Purpose, parse_agents
from sitemapcrawler.robots.parser import Group, LineNote, NoteKind
from sitemapcrawler.robots.policy import (
    BatchVerdicts,
    Policy,
    RobotsOutcome,
    Timing,
    Verdict,
    is_robots_url,
    robots_url,
)
from sitemapcrawler.robots.ruleset import PathRule
from sitemapcrawler.robots.text import Content, Facts, RobotsSitemap

__all__ = [
    "AGENTS",
    "Agent",
    "BatchVerdicts",
    "Content",
    "Facts",
    "Group",
    "LineNote",
    "NoteKind",
    "PathRule",
    "Policy",
    "Purpose",
    "RobotsOutcome",
    "RobotsSitemap",
    "Timing",
    "Verdict",
    "is_robots_url",
    "parse_agents",
    "robots_url",
]
