"""Rules of a user's own: from modules and files that a setting names."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from importlib import invalidate_caches
from pathlib import Path

import pytest
from scrapy.settings import Settings

from sitemapcrawler import read_sitemap
from sitemapcrawler.crawl import params
from sitemapcrawler.crawl.configuring import choose
from sitemapcrawler.crawl.params import ARGUMENTS, Params
from sitemapcrawler.rules import all_rules
from sitemapcrawler.rules.choice import Choice
from sitemapcrawler.rules.registry import RULES, load_rules
from tests.unit.rules.judging import URL, judge

RULE = """
from dataclasses import dataclass
from sitemapcrawler.rules import Message, Of, Severity, UrlWith, rule

@dataclass
class Bound:
    text: str

@rule("{id}", Severity.WARNING, "", Of.ENTRY)
def every(entry):
    '''An entry.'''
    yield Message(Bound("{text}").text)
"""
THREE = b"""<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">
<url><loc>https://example.com/a</loc></url>
<url><loc>https://example.com/b</loc></url>
<url><loc>https://example.com/a b</loc></url>
</urlset>"""


@pytest.fixture(autouse=True)
def catalogue() -> Iterator[None]:
    """The rules, arguments and modules as they were, afterwards."""
    rules, arguments, modules = {rule.id: rule for rule in all_rules()}, dict(ARGUMENTS), set(sys.modules)
    yield
    RULES.clear()
    RULES.update(rules)
    ARGUMENTS.clear()
    ARGUMENTS.update(arguments)
    del params._models[1:]
    for name in set(sys.modules) - modules:
        del sys.modules[name]


def written(path: Path, id: str, text: str = "seen") -> Path:
    path.write_text(RULE.format(id=id, text=text))
    return path


def named(*names: object) -> Settings:
    return Settings({"SITEMAP_RULES": ",".join(map(str, names))})


def test_rules_of_a_file_stand_behind_the_catalogue_in_their_order(tmp_path: Path) -> None:
    last, first = written(tmp_path / "a.py", "zoo-a"), written(tmp_path / "b.py", "aaa-b")
    load_rules(named(first, last))
    assert [rule.id for rule in all_rules()[-2:]] == ["aaa-b", "zoo-a"]


def test_file_is_loaded_once_under_any_of_its_names(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    written(tmp_path / "a.py", "zoo-a")
    monkeypatch.chdir(tmp_path)
    load_rules(named("a.py", "./a.py", tmp_path / "a.py"))
    assert [rule.id for rule in choose(named("a.py")).all_rules].count("zoo-a") == 1


def test_rules_of_a_module_can_be_selected(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    written(tmp_path / "zoo_rules.py", "zoo-a")
    monkeypatch.syspath_prepend(str(tmp_path))
    choose(named("zoo_rules"))
    assert Params.parse({"domain": "example.com", "select": "zoo"}).select == ("zoo",)


def test_every_entry_is_given_the_plain_ones_too(tmp_path: Path) -> None:
    load_rules(named(written(tmp_path / "a.py", "zoo-a")))
    found = judge(THREE, choice=Choice(all_rules(), select=("zoo",)))
    assert [(finding.rule, finding.line, finding.url) for finding in found] == [
        ("zoo-a", 2, "https://example.com/a"),
        ("zoo-a", 3, "https://example.com/b"),
        ("zoo-a", 4, "https://example.com/a b"),
    ]


def test_every_entry_is_judged_without_a_crawl_and_knows_whether_it_is_repeated(tmp_path: Path) -> None:
    path = written(tmp_path / "a.py", "zoo-a")
    path.write_text(path.read_text().replace('Bound("seen").text', "str(entry.repeated)"))
    load_rules(named(path))
    sitemap = read_sitemap(THREE.replace(b"/b<", b"/a<"), URL, select="zoo")
    assert [finding.message for finding in sitemap.findings] == ["False", "True", "False"]
    assert (sitemap.counts, sitemap.skipped) == ({"zoo-a": 3}, {})


@pytest.mark.parametrize(
    ("name", "text", "why"),
    [
        ("no_such_module_zoo", None, "'no_such_module_zoo': ModuleNotFoundError: No module named"),
        ("gone.py", None, "'gone.py': FileNotFoundError"),
        (".", None, "'.': "),
        ("..zoo", None, "'..zoo': "),
        ("bad.py", "def", "'bad.py': SyntaxError: invalid syntax"),
        ("null.py", "\0", "'null.py': "),
        ("lines.py", "raise RuntimeError('a\\nb')", "'lines.py': RuntimeError: a b"),
        ("twice.py", RULE.format(id="loc-empty", text=""), "'twice.py': ValueError: two rules are named loc-empty"),
    ],
)
def test_one_line_says_what_cannot_be_loaded(
    name: str, text: str | None, why: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    if text is not None:
        Path(name).write_text(text)
    with pytest.raises(ValueError, match=r"^setting SITEMAP_RULES=") as told:
        choose(named(name))
    assert why in str(told.value) and "\n" not in str(told.value)


@pytest.mark.parametrize("name", ["zoo_half.py", "zoo_half"])
def test_module_that_fails_half_way_leaves_nothing(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    before = dict(RULES)
    path = written(tmp_path / "zoo_half.py", "zoo-a")
    whole = path.read_text()
    path.write_text(whole + "\n0 / 0\n")
    for _ in range(2):
        with pytest.raises(ValueError, match="ZeroDivisionError"):
            load_rules(named(name))
        assert before == RULES
    path.write_text(whole)
    invalidate_caches()
    load_rules(named(name))
    assert RULES.keys() - before == {"zoo-a"}


def test_module_that_fails_keeps_the_rules_of_modules_that_it_imported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Those stay imported, so that nobody would register them again."""
    monkeypatch.syspath_prepend(str(tmp_path))
    written(tmp_path / "zoo_whole.py", "zoo-a")
    (tmp_path / "zoo_half.py").write_text("import zoo_whole\n" + RULE.format(id="zoo-b", text="") + "\n0 / 0\n")
    with pytest.raises(ValueError, match="ZeroDivisionError"):
        load_rules(named("zoo_half"))
    assert ("zoo-a" in RULES, "zoo-b" in RULES) == (True, False)
    load_rules(named("zoo_whole"))


COUNTED_RULE = """
from sitemapcrawler.crawl.params import Count, declare
from sitemapcrawler.rules import Message, Of, Severity, rule

declare("zoo_animals", Count, 2, "Report entries with fewer animals.")

@rule("zoo-animals", Severity.WARNING, "", Of.ENTRY)
def animals(entry, *, zoo_animals, other="left"):
    '''An entry.'''
    yield Message(f"{zoo_animals} {other}")
"""


@pytest.mark.parametrize(("given", "text"), [({}, "2 left"), ({"zoo_animals": "7"}, "7 left")])
def test_rule_is_given_the_arguments_that_it_names(tmp_path: Path, given: dict[str, str], text: str) -> None:
    (tmp_path / "zoo.py").write_text(COUNTED_RULE)
    settings = named(tmp_path / "zoo.py")
    load_rules(settings)
    choice = choose(settings, Params.parse({"domain": "example.com", "select": "zoo", **given}))
    assert {finding.message for finding in judge(THREE, choice=choice)} == {text}
    assert [one.what for one in choice.all_rules if one.id == "zoo-animals"] == ["An entry."]


@pytest.mark.parametrize(
    ("of", "why"),
    [
        ("()", "it judges nothing"),
        ("UrlWith('a(?=b)')", "its expression"),
        (r"UrlWith(r'\pN')", "its expression"),
        ("'lastmod'", "it judges 'lastmod'; accepted: a member of Of"),
        ("replace(IMAGE_EXTENSION, prefix='zoo')", "the namespace zoo is not registered"),
    ],
)
def test_rule_that_can_never_report_anything_is_refused_with_one_line(tmp_path: Path, of: str, why: str) -> None:
    lines = RULE.format(id="zoo-silent", text="").replace("Of.ENTRY", of)
    (tmp_path / "silent.py").write_text(
        f"from dataclasses import replace\nfrom sitemapcrawler.namespaces.extensions import IMAGE_EXTENSION\n{lines}"
    )
    with pytest.raises(ValueError, match="rule zoo-silent can never report anything: ") as error:
        load_rules(named(tmp_path / "silent.py"))
    assert why in str(error.value)
    assert "\n" not in str(error.value)
    assert "zoo-silent" not in RULES


def test_rule_whose_function_takes_no_facts_is_refused(tmp_path: Path) -> None:
    (tmp_path / "silent.py").write_text(RULE.format(id="zoo-silent", text="").replace("every(entry)", "every()"))
    with pytest.raises(ValueError, match="its function does not take what it judges: too many positional arguments"):
        load_rules(named(tmp_path / "silent.py"))
