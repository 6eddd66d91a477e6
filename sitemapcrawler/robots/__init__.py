"""robots.txt: what it says, to whom, and which line says it. RFC 9309, with Google's parser where that is silent.

Verdicts are ours for every file, small ones too: protego neither tells the line that decides nor follows the RFC in all
(tests/unit/robots/test_protego.py lists where), and one way to decide is easier to trust than two.
"""

from sitemapcrawler.robots.agents import AGENTS, Agent, Purpose, parse_agents
from sitemapcrawler.robots.authorities import by_robots, robots_url
from sitemapcrawler.robots.decode import Content, Facts
from sitemapcrawler.robots.groups import Group, Kind, Note
from sitemapcrawler.robots.judge import Judge
from sitemapcrawler.robots.patterns import Rule
from sitemapcrawler.robots.policy import Outcome, Policy, Verdict
from sitemapcrawler.robots.sitemaps import RobotsSitemap
from sitemapcrawler.robots.timing import Timing

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
    "parse_agents",
    "robots_url",
]
