"""robots.txt as text: groups, verdicts by RFC 9309 and by Google's parser, crawlers, sitemap lines.

May import `urls`. Fetches nothing. Start reading in `policy.py`.
"""

from sitemapcrawler.robots.agents import AGENTS, Agent, Purpose, parse_agents
from sitemapcrawler.robots.decode import Content, Facts
from sitemapcrawler.robots.judge import Judge
from sitemapcrawler.robots.parse import Group, Kind, Note
from sitemapcrawler.robots.patterns import Rule
from sitemapcrawler.robots.policy import Outcome, Policy, Timing, Verdict, by_robots, is_robots_url, robots_url
from sitemapcrawler.robots.sitemaps import RobotsSitemap

__all__ = [
    "AGENTS",
    "Agent",
    "Content",
    "Facts",
    "Group",
    "Judge",
    "Kind",
    "Note",
    "Outcome",
    "Policy",
    "Purpose",
    "RobotsSitemap",
    "Rule",
    "Timing",
    "Verdict",
    "by_robots",
    "is_robots_url",
    "parse_agents",
    "robots_url",
]
