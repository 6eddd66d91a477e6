"""Rules see the entries that they declare, and the shortcut for plain entries hides no finding."""

from __future__ import annotations

import gzip
import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from random import Random
from unittest.mock import patch

import pytest

from bench.entries import CORE, GOOGLE, plain, rich, unusual
from sitemapcrawler import read_sitemap
from sitemapcrawler.items import FindingRecord, SitemapRecord, UrlRecord
from sitemapcrawler.namespaces import Namespace
from sitemapcrawler.namespaces.extensions import IMAGE_EXTENSION, Image
from sitemapcrawler.reader import Document
from sitemapcrawler.reader.dates import utc
from sitemapcrawler.reader.entries import Entry, EntryBuilder
from sitemapcrawler.reader.faults import Faults
from sitemapcrawler.reader.formats import FORMATS, InputFormat, register
from sitemapcrawler.rules import Message, Objects, Of, Rule, Severity, UrlWith, all_rules, rule
from sitemapcrawler.rules.choice import Choice
from sitemapcrawler.rules.facts import suspects
from sitemapcrawler.rules.facts.given import ChildFacts, EntryFacts, FileFacts, UrlFacts
from sitemapcrawler.rules.judge import MAX_VALUES, Judge
from sitemapcrawler.rules.registry import FIELDS, RULES, Subject
from sitemapcrawler.urls.expressions import re2
from tests.unit.rules.expecting import keywords
from tests.unit.rules.judging import NOW, URL, judge

DATA = Path(__file__).parents[2] / "data"
FILES = [path for folder in ("good", "bad", "hard", "pitfalls") for path in sorted((DATA / folder).glob("*.*"))]
REAL = sorted((Path(__file__).parents[4] / "shared" / "real").glob("[0-9]*"))
"""Files of real sites, if they lie next to the repository (`tests/crawl/test_real_files.py`)."""
HOME = re.compile(rb"<(?:loc|link)>\s*(https?://[^/<\s]+)")
KINDS = {"plain": plain, "unusual": unusual, "rich": rich}
NUMBER = 300
"""Entries of a generated file."""


def judged(data: bytes, rules: tuple[Rule, ...], **given: object) -> Counter[tuple[object, ...]]:
    found: list[FindingRecord] = judge(data, choice=Choice(rules), **given)  # type: ignore[arg-type]  # as the file says
    return Counter((one.rule, one.severity, one.message, one.line, one.url, one.value) for one in found)


def same(data: bytes, **given: object) -> None:
    """Assert that every rule finds the same if it is called with all entries."""
    everywhere = tuple(replace(one, of=tuple(dict.fromkeys(map(widened, one.of)))) for one in all_rules())
    found = judged(data, all_rules(), **given)
    # As which rules on URLs pass over them.
    with patch.object(EntryFacts, "usual", False), patch.object(ChildFacts, "usual", False):
        assert found == judged(data, everywhere, **given)


def widened(of: Subject) -> Subject:
    """What a rule judges without any shortcut."""
    return Of.ENTRY if of in FIELDS or isinstance(of, Objects | UrlWith) else of


@pytest.mark.parametrize("path", FILES, ids=lambda path: f"{path.parent.name}/{path.name}")
def test_shortcut_hides_no_finding_on_a_file(path: Path) -> None:
    data = path.read_bytes()
    same(data, **keywords(data))


@pytest.mark.slow
@pytest.mark.parametrize("path", REAL, ids=lambda path: path.name)
def test_shortcut_hides_no_finding_on_a_real_file(path: Path) -> None:
    data = path.read_bytes()
    home = HOME.search(gzip.decompress(data) if path.suffix == ".gz" else data)
    same(data, url=f"{home[1].decode()}/sitemap.xml" if home else URL)


@pytest.mark.parametrize("kind", KINDS)
def test_shortcut_hides_no_finding_on_generated_entries(kind: str) -> None:
    chance = Random(21)
    entries = "".join(KINDS[kind](chance, "https://example.com", number) for number in range(NUMBER))
    same(f"<urlset {CORE} {GOOGLE}>{entries}</urlset>".encode())


ODD = {
    "loc": (
        "https://example.com/{n}", "https://example.com/{n}", "https://example.com/{n}", "http://example.com/{n}",
        "/{n}", "//example.com/{n}", " https://example.com/{n} ", "https://EXAMPLE.com/{n}", "https://example.com/a b",
        "https://example.com/same", "https://example.com/Same/", "https://other.example/{n}", "https://example.com/ä",
        "https://example.com/a%zz", "https://example.com/{n}?a=1&amp;utm_source=x", "https://example.com//{n}",
        "https://example.com/site.css", "https://example.com/login", "https://example.com/s.xml", "", "undefined",
    ),
    "lastmod": (
        None, None, "2024-05-01", "2024-05-01T10:00:00Z", "2024-5-1", "01.05.2024", "2024-13-01", "1969-12-31", "",
        "2999-01-01", " 2024-05-01 ", "2024-05-01 10:00:00", "2024-05-01T10:00", "yesterday", "2024-05-01T25:00:00Z",
        "2024-05", "2024", "x" * 120, "2024-05-01T10:00:00+0200", "2024-05-01T10:00:00.123456789Z",
    ),
    "changefreq": (None, None, "daily", "Daily", " daily ", "biweekly", "", "y" * 120, "always\n"),
    "priority": (None, None, "0.5", "1", "1.0", "0,5", "2", "-1", "high", "", " 0.5 ", "0.55555", "1e-1", "z" * 120),
}  # fmt: skip
"""Values that entries have, usual ones first."""
FORMS = ("<{0}>{1}</{0}>",) * 6 + ("<{0} a='1'>{1}</{0}>", "<{0}><![CDATA[{1}]]></{0}>", "<{0}>{1}<!-- --></{0}>")


def odd(chance: Random, number: int) -> str:
    """One `<url>` of which any field may be odd, missing, in another place, or there twice."""
    values = {name: chance.choice(among) for name, among in ODD.items()}
    parts = [
        chance.choice(FORMS).format(name, value.format(n=number)) for name, value in values.items() if value is not None
    ]
    if chance.random() < 0.1:
        chance.shuffle(parts)
    if chance.random() < 0.05:
        parts.append(chance.choice(parts))
    start = "<url a='1'>" if chance.random() < 0.02 else "<url>"
    return f"{start}{chance.choice(('', chr(10))).join(parts)}</url>\n"


@pytest.mark.parametrize("seed", range(4))
def test_shortcut_hides_no_finding_on_odd_fields(seed: int) -> None:
    chance = Random(seed)
    entries = "".join(odd(chance, number) for number in range(NUMBER))
    same(f"<urlset {CORE} {GOOGLE}>{entries}</urlset>".encode())


CHILD = ("loc", "lastmod")
"""Fields of an entry of an index."""


@pytest.mark.parametrize("seed", range(2))
def test_shortcut_hides_no_finding_on_entries_of_an_index(seed: int) -> None:
    chance = Random(seed)
    entries = []
    for number in range(NUMBER):
        values = {name: chance.choice(ODD[name]) for name in CHILD}
        parts = (f"<{name}>{text.format(n=number)}</{name}>" for name, text in values.items() if text is not None)
        entries.append(f"<sitemap>{''.join(parts)}</sitemap>\n")
    same(f"<sitemapindex {CORE}>{''.join(entries)}</sitemapindex>".encode())


@pytest.fixture
def toy_format() -> Iterator[None]:
    """A format of a plug-in that has no XML: lists of pages as JSON, each with any fields of a record."""

    def read(texts: Iterable[str], entries: EntryBuilder, faults: Faults) -> Iterator[list[Entry]]:
        for page in json.loads("".join(texts))["pages"]:
            loc, written = entries.locate(page["loc"], 1)
            record = UrlRecord(loc, written, entries.sitemap, 1, page["lastmod"])
            record.lastmod_at = utc(record.lastmod) if record.lastmod else None
            record.changefreq, record.priority = page["changefreq"], page["priority"]
            record.images = [Image(image) for image in page["images"]]
            yield [record]

    register(InputFormat("toy-pages", "", "", "pages", sniff=lambda start: '{"pages":' in start.text, read=read))
    yield
    del FORMATS["toy-pages"]


IMAGES = ([], [], ["https://example.com/i.png"], ["", "/relative.png"], ["ftp://example.com/i.png"])


@pytest.mark.usefixtures("toy_format")
@pytest.mark.parametrize("seed", range(2))
def test_shortcut_hides_no_finding_on_entries_of_a_plug_in_s_format(seed: int) -> None:
    chance = Random(seed)
    pages = []
    for number in range(NUMBER):
        fields = {name: chance.choice(among) for name, among in ODD.items()}
        loc = (fields["loc"] or "").format(n=number) if chance.random() < 0.2 else f"https://example.com/{number}"
        priority = chance.choice((None, 0.5, 2, -1))
        pages.append({**fields, "loc": loc, "priority": priority, "images": chance.choice(IMAGES)})
    data = json.dumps({"pages": pages}).encode()
    same(data)
    assert {"lastmod-invalid", "changefreq-invalid", "priority-out-of-range", "image-loc-relative"} <= {
        str(key[0]) for key in judged(data, all_rules())
    }


DATES = (
    "{y}-{m:02}-{d:02}", "{y}-{m}-{d}", "{d:02}.{m:02}.{y}", "{d:02}/{m:02}/{y}", "{y}-{m:02}-{d:02} {H:02}:{M:02}:{S:02}",
    "{y}-{m:02}-{d:02}T{H:02}:{M:02}:{S:02}Z", "{y}-{m:02}-{d:02}T{H:02}:{M:02}Z", "{y}-{m:02}", "{y}{m:02}{d:02}",
    "{y}-{m:02}-{d:02}T{H:02}:{M:02}:{S:02}", "{y}-{m:02}-{d:02}T{H:02}:{M:02}:{S:02}+{H:02}:{M:02}", "{y}",
    "{y}-{m:02}-{d:02}T{H:02}:{M:02}:{S:02}.{S}{M}Z", "{y}-{m:02}-{d:02}+{H:02}:00", "{m:02}/{d:02}/{y} {H}:{M:02} PM",
    "{y}-{m:02}-{d:02}T{H:02}:{M:02}:{S:02}+{H:02}{M:02}", " {y}-{m:02}-{d:02} ", "\u00a0{y}-{m:02}-{d:02}",
    "Mon, {d:02} Jan {y} {H:02}:{M:02}:{S:02} GMT", "{d} January {y}", "1{H:02}{M:02}{S:02}{d:02}0", "{y}-{m:02}-{d:02}Z",
)  # fmt: skip


def counted(data: bytes, values: int, monkeypatch: pytest.MonkeyPatch) -> list[object]:
    """Judge a file of which two findings of each rule become records. Returns all that is counted, and the issues."""
    monkeypatch.setattr("sitemapcrawler.rules.judge.MAX_VALUES", values)
    judging = Judge(Choice(all_rules()), per_rule=2)
    document = Document(URL, keep_elements=True)
    file = FileFacts(URL, SitemapRecord(URL), document, fetched_at=NOW)
    issues = []
    for records in document.read([data]):
        urls = [record for record in records if isinstance(record, UrlRecord)]
        judging.urls(urls, file, document.notes)
        issues += [(record.loc, record.issues) for record in urls]
    assert (len(file.values) > 0) is (values > 0)
    return [judging.found, file.found, issues]


@pytest.mark.parametrize("seed", range(2))
def test_entries_with_known_values_are_counted_as_if_judged(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    chance = Random(seed)
    entries = []
    for number in range(2000):
        ranges = {"y": (1995, 2030), "m": (0, 14), "d": (0, 32), "H": (0, 25), "M": (0, 61), "S": (0, 61)}
        lastmod = chance.choice(DATES).format(**{name: chance.randint(*most) for name, most in ranges.items()})
        hints = {
            name: chance.choice(ODD[name]) if chance.random() < 0.2 else None for name in ("changefreq", "priority")
        }
        page = chance.randint(0, number) if chance.random() < 0.05 else number
        fields = {"loc": f"https://example.com/{page}", "lastmod": lastmod, **hints}
        content = "".join(f"<{name}>{text}</{name}>" for name, text in fields.items() if text is not None)
        if chance.random() < 0.1:
            content += f"<image:image><image:loc>{chance.choice(('/i.png', 'https://example.com/i.png'))}</image:loc></image:image>"
        entries.append(f"<url>{content}</url>\n")
    data = f"<urlset {CORE} {GOOGLE}>{''.join(entries)}</urlset>".encode()
    assert counted(data, MAX_VALUES, monkeypatch) == counted(data, 0, monkeypatch)


def test_rules_of_this_project_say_that_plain_entries_do_not_concern_them() -> None:
    """Otherwise each entry of a large file is judged one by one."""
    ours = [one for one in all_rules() if one.check.__module__.startswith("sitemapcrawler.")]
    assert [one.id for one in ours if Of.ENTRY in one.of] == []


@pytest.fixture
def toy_rules() -> Iterator[None]:
    """Rules on entries as a plug-in declares them: without a word, on odd ones, and on those with images."""
    all_rules()
    before = dict(RULES)

    def listed(entry: UrlFacts) -> Iterator[Message]:
        """An entry."""
        yield Message("listed")

    rule("toy-every", Severity.INFO, "")(listed)
    for field in FIELDS:
        rule(f"toy-{field}", Severity.INFO, "", field)(listed)
    rule("toy-image", Severity.INFO, "", IMAGE_EXTENSION)(listed)
    rule("image-toy", Severity.INFO, "")(listed)
    rule("toy-child", Severity.INFO, "", Of.CHILD)(listed)
    for field in (Of.LOC, Of.LASTMOD):
        rule(f"toy-child-{field}", Severity.INFO, "", (field, Of.CHILD))(listed)
    yield
    RULES.clear()
    RULES.update(before)


def lines_of(data: str) -> dict[str, list[int | None]]:
    """Lines of the findings of each toy rule."""
    lines: dict[str, list[int | None]] = {}
    for one in judge(data.encode(), choice=Choice(all_rules(), select=("toy", "image-toy"))):
        lines.setdefault(one.rule, []).append(one.line)
    return lines


@pytest.mark.usefixtures("toy_rules")
def test_rule_sees_the_entries_of_an_index_that_it_declares() -> None:
    data = f"""<sitemapindex {CORE}>
<sitemap><loc>https://example.com/plain.xml</loc></sitemap>
<sitemap><loc>https://example.com/o d d.xml</loc></sitemap>
<sitemap><loc>https://example.com/date.xml</loc><lastmod>today</lastmod></sitemap>
<sitemap><loc>https://example.com/plain.xml</loc></sitemap>
</sitemapindex>"""
    assert lines_of(data) == {"toy-child": [2, 3, 4, 5], "toy-child-loc": [2, 3, 5], "toy-child-lastmod": [4]}


@pytest.mark.usefixtures("toy_rules")
def test_rule_is_not_called_where_its_test_is_true_and_called_where_that_fails() -> None:
    called: list[str] = []

    def check(entry: UrlFacts) -> Iterator[Message]:
        called.append(entry.record.loc[-1])
        yield from ()

    def was_read(entry: UrlFacts) -> bool:
        return {"a": True, "b": False}[entry.record.loc[-1]]

    rule("toy-usual", Severity.INFO, "", Objects(IMAGE_EXTENSION, was_read))(check)
    image = "<image:image><image:loc>https://example.com/i.png</image:loc></image:image>"
    entries = "".join(f"<url><loc>https://example.com/{name}</loc>{image}</url>" for name in "abc")
    found = judge(f"<urlset {CORE} {GOOGLE}>{entries}</urlset>".encode(), choice=Choice(all_rules(), select=("toy",)))
    assert "".join(called) == "bc"
    assert sum(one.rule == "toy-image" for one in found) == 3


@pytest.mark.usefixtures("toy_rules")
def test_rule_sees_the_entries_that_it_declares_whatever_its_family() -> None:
    image = "<image:image><image:loc>https://example.com/i.png</image:loc></image:image>"
    data = f"""<urlset {CORE} {GOOGLE}>
<url><loc>https://example.com/plain</loc></url>
<url><loc>https://example.com/o d d</loc></url>
<url><loc>https://example.com/image</loc>{image}</url>
<url><loc>https://example.com/date</loc><lastmod>today</lastmod></url>
<url><loc>https://example.com/hints</loc><changefreq>Daily</changefreq><priority>2</priority></url>
</urlset>"""
    assert lines_of(data) == {
        "toy-every": [2, 3, 4, 5, 6],
        "toy-child-loc": [3],
        "toy-child-lastmod": [5],
        "image-toy": [2, 3, 4, 5, 6],
        "toy-image": [4],
        "toy-place": [3],
        "toy-loc": [3],
        "toy-lastmod": [5],
        "toy-changefreq": [6],
        "toy-priority": [6],
    }


@pytest.mark.usefixtures("toy_rules")
@pytest.mark.parametrize(
    ("expression", "lines"),
    [("/sale$", [3]), ("(?i)SHOES", [2]), ("/.$", [4, 5]), ("^https", [2, 3, 4, 5]), ("/x|/y", [4, 5]), ("[^/]y$", [])],
)
@pytest.mark.parametrize("engine", [re2, None], ids=["re2", "re"])
def test_rule_sees_usual_urls_with_the_expression_that_it_declares(
    expression: str, lines: list[int], engine: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(suspects, "re2", engine)
    monkeypatch.setattr(suspects, "_search_for", suspects._search_for.__wrapped__)

    def listed(entry: UrlFacts) -> Iterator[Message]:
        yield Message("listed")

    rule("toy-words", Severity.INFO, "", (Of.LASTMOD, UrlWith(expression)))(listed)
    pages = "\n".join(f"<url><loc>https://example.com/{name}</loc></url>" for name in ("shoes", "a/sale", "x", "y"))
    assert lines_of(f"<urlset {CORE}>\n{pages}\n</urlset>").get("toy-words", []) == lines


@pytest.mark.usefixtures("toy_rules")
@pytest.mark.parametrize(
    "of", [(Of.LASTMOD, Of.CHANGEFREQ), (Of.LASTMOD, Of.LOC), (Of.ENTRY, Of.LASTMOD), (Of.LASTMOD, IMAGE_EXTENSION)]
)
def test_rule_that_judges_more_than_one_value_sees_each_entry_once(of: tuple[Of | Namespace, ...]) -> None:
    seen: Counter[str] = Counter()

    def check(entry: UrlFacts) -> Iterator[Message]:
        seen[entry.record.loc] += 1
        if entry.record.changefreq == "daily":
            yield Message("daily")

    rule("toy-pair", Severity.ERROR, "", of)(check)
    image = "<image:image><image:loc>https://example.com/i.png</image:loc></image:image>"
    entries = "".join(
        f"<url><loc>https://example.com/{number}</loc><lastmod>5 May 2025</lastmod>"
        f"<changefreq>{'weekly' if number % 2 else 'daily'}</changefreq>{image}</url>"
        for number in range(NUMBER)
    )
    data = f"<urlset {CORE} {GOOGLE}>{entries}</urlset>".encode()
    sitemap = read_sitemap(data, URL, select="toy-pair", findings_per_rule=2)
    assert sitemap.counts == {"toy-pair": NUMBER // 2}
    assert {*seen.values()} == {1}
    assert len(seen) == NUMBER
