"""Expressions of users: the same with google-re2 and with DuckDB's copy of RE2, in linear time, or one line."""

from __future__ import annotations

import re

import pytest

from sitemapcrawler.urls import expressions
from sitemapcrawler.urls.expressions import Expression


@pytest.fixture(autouse=True, params=["google-re2", "DuckDB"])
def engine(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    if request.param == "DuckDB":
        monkeypatch.setattr(expressions, "re2", None)
    else:
        assert expressions.re2 is not None


@pytest.mark.parametrize(
    ("source", "text", "expected"),
    [
        ("/blog/", "https://e.com/blog/7", True),
        ("^/blog/", "https://e.com/blog/7", False),
        (r"(?i)\.PDF$", "https://e.com/a.pdf", True),
        ("é", "https://e.com/é", True),
        ("^a.c$", "a\ud800c", True),
        ("c$", "\x00\nc", True),
    ],
)
def test_expression_is_searched_in_a_text(source: str, text: str, expected: bool) -> None:
    assert Expression(source).matches(text) is expected


@pytest.mark.parametrize("source", ["(a+)+$", "(a|aa)+$", "(.*a){20}$"])
def test_expression_made_to_backtrack_ends(source: str) -> None:
    assert Expression(source).matches("a" * 5_000 + "!") is False


@pytest.mark.parametrize(
    ("source", "problem"),
    [
        ("(?=a)", "RE2: invalid perl operator: (?="),
        (r"(a)\1", r"RE2: invalid escape sequence: \1"),
        ("(a", "RE2: missing ): (a"),
        ("((a{100}){100}){100}", "RE2: invalid repetition size: {100}"),
        ("a{,5}", "RE2: invalid repetition: {,5}, write {0,5}"),
    ],
)
def test_what_the_engine_cannot_do_is_one_line(capfd: pytest.CaptureFixture[str], source: str, problem: str) -> None:
    with pytest.raises(ValueError, match=re.escape(problem)) as raised:
        Expression(source)
    assert "\n" not in str(raised.value)
    assert capfd.readouterr() == ("", "")


def test_expression_of_python_code_stays_with_python() -> None:
    expression = Expression(re.compile("A(?=b)", re.IGNORECASE))
    assert (expression.matches("xab"), expression.matches("xac"), str(expression)) == (True, False, "A(?=b)")
