"""Crawlers by host."""

from __future__ import annotations

from sitemapcrawler.items import RobotsRecord, SummaryRecord
from sitemapcrawler.report.matrix import FEW, matrix
from sitemapcrawler.report.model import Report


def robots(number: int) -> list[RobotsRecord]:
    return [
        RobotsRecord(robots=f"https://{at}.example.com/robots.txt", urls=10, agents={"GPTBot": at})
        for at in range(number)
    ]


def test_matrix_has_crawlers_in_rows_where_hosts_are_few() -> None:
    made = matrix(Report(SummaryRecord(), robots=robots(2), judged_agents=["Googlebot", "GPTBot", "MyBot"]))
    assert made is not None
    assert (made.corner, made.columns) == ("Crawler", ["0.example.com", "1.example.com"])
    assert [(row.name, row.note) for row in made.rows] == [
        ("GPTBot", "OpenAI, training"),
        ("Googlebot", "Google, search"),
        ("MyBot", ""),
    ]
    assert [(cell.text, cell.step) for cell in made.rows[0].cells] == [("0 %", "none"), ("10 % (1)", "few")]


def test_matrix_has_hosts_in_rows_where_they_are_many() -> None:
    made = matrix(Report(SummaryRecord(), robots=robots(FEW + 1), judged_agents=["Googlebot", "GPTBot"]))
    assert made is not None
    assert (made.corner, made.columns, made.free) == ("Host", ["GPTBot"], ["Googlebot"])
    assert [row.cells[0].text for row in made.rows] == ["60 %", "50 %", "40 %", "30 %", "20 %", "10 %", "0 %"]


def test_matrix_is_none_where_nothing_was_judged() -> None:
    assert matrix(Report(SummaryRecord(), robots=robots(1))) is None
    assert matrix(Report(SummaryRecord(), judged_agents=["GPTBot"])) is None
    assert matrix(Report(SummaryRecord(), robots=[RobotsRecord(robots="x")], judged_agents=["GPTBot"])) is None
