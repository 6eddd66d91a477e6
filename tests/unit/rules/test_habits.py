"""Rules that report once per file or site: one finding with a count and an example, counted once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

import msgspec
import pytest

from sitemapcrawler.api.sitemaps import read_sitemap
from sitemapcrawler.items import SitemapRecord, UrlRecord
from sitemapcrawler.reader import Document
from sitemapcrawler.reader.entries import ChildRecord
from sitemapcrawler.reader.faults import MAX_KEPT
from sitemapcrawler.reader.notes import Notes
from sitemapcrawler.rules import Message, Of, Per, Rule, Severity, all_rules, rule
from sitemapcrawler.rules.catalogue import page, section
from sitemapcrawler.rules.choice import Allowance, Choice
from sitemapcrawler.rules.facts.given import Counted, Drawn, FileFacts
from sitemapcrawler.rules.finding_tally import FindingTally
from sitemapcrawler.rules.judge import Judge
from sitemapcrawler.rules.registry import RULES, SiteMessage
from sitemapcrawler.terminal.streams import plain
from sitemapcrawler.urls.expressions import Expression

from .judging import NOW, URL
from .replying import facts as reply_facts
from .replying import ok

MANY = "have a habit"


def habit(per: Per = Per.FILE, *needs: Of, severity: Severity = Severity.INFO, **more: Any) -> Rule:
    """A rule that speaks of every entry or file."""

    def check(given: Any) -> Iterator[Message]:
        values = getattr(getattr(given, "record", None), "lastmod", None)
        for value in values.split() if values else (None,):
            yield Message("as it is", value=value)

    return Rule("loc-x", severity, "", needs or (Of.ENTRY,), check, per=per, many=MANY, **more)


def facts(url: str = URL, site: str = "example.com") -> FileFacts:
    return FileFacts(url, SitemapRecord(url), Document(url), fetched_at=NOW, site=site)


def entries(start: int, end: int, url: str = URL) -> list[UrlRecord]:
    return [UrlRecord(f"https://example.com/{n}#x", sitemap=url, line=n) for n in range(start, end)]


def judged(judge: Judge, file: FileFacts, *batches: list[UrlRecord]) -> list[UrlRecord]:
    """Judge batches of entries; nothing must be found on one of them alone. Returns the entries."""
    for batch in batches:
        notes = Notes()
        judge.urls(batch, file, notes)
        assert notes.findings(batch) == []
    return [record for batch in batches for record in batch]


def test_a_file_has_one_finding_with_count_and_example() -> None:
    judge, file = Judge(Choice((habit(),)), 100), facts()
    records = judged(judge, file, entries(1, 4), entries(4, 9))
    [finding] = judge.file(file.record, file)
    assert finding.message == "8 of 8 entries have a habit, for example 'https://example.com/1#x': as it is"
    assert (finding.sitemap, finding.line, finding.url) == (URL, 1, "https://example.com/1#x")
    assert judge.counts == file.found.counts == {"loc-x": 1}
    assert judge.severities == file.found.severities == {"info": 1}
    assert all(record.issues == ["loc-x"] for record in records)


def test_only_entries_at_fault_are_counted() -> None:
    only = Allowance("loc-x", Expression("[2-9]#x$"), "known")
    judge, file = Judge(Choice((habit(),), allowances=(only,)), 100), facts()
    records = judged(judge, file, entries(1, 12))
    [finding] = judge.file(file.record, file)
    assert finding.message.startswith("3 of 11 entries have a habit")
    assert [record.line for record in records if record.issues] == [1, 10, 11]


def test_dates_of_a_feed_are_one_finding_and_each_row_has_it() -> None:
    items = "".join(
        f"<item><link>https://example.com/{n}</link><pubDate>2026-05-{n:02}</pubDate></item>" for n in range(1, 10)
    )
    sitemap = read_sitemap(f"<rss><channel>{items}</channel></rss>".encode(), URL, select="lastmod")
    assert [row.issues for row in sitemap] == [["lastmod-invalid"]] * 9
    found = [finding for finding in sitemap.findings if finding.rule == "lastmod-invalid"]
    assert [(finding.severity, finding.message.partition(" is not ")[0]) for finding in found] == [
        ("warning", "9 of 9 entries have a date in another format, for example 'https://example.com/1': '2026-05-01'")
    ]


def test_entries_that_are_ignored_are_one_finding_for_each_name() -> None:
    ignored = "<page><loc>https://example.com/y</loc></page>" + "<Url><loc>https://example.com/x</loc></Url>" * 900
    rest = "<url><loc>https://example.com/a</loc></url>" * 3000
    data = f'<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">{ignored}{rest}</urlset>'
    found = read_sitemap(data.encode(), URL, select="xml-entry-ignored").findings
    assert [finding.message.partition(", so search")[0] for finding in found] == [
        "<page> is not an entry",
        "900 entries have a wrong name or place: <Url> is not an entry",
    ]


def test_a_single_entry_keeps_its_own_message() -> None:
    judge, file = Judge(Choice((habit(),)), 100), facts()
    judged(judge, file, entries(7, 8))
    [finding] = judge.file(file.record, file)
    assert (finding.message, finding.line) == ("as it is", 7)


def test_no_rows_are_made_where_none_are_wanted() -> None:
    judge, file = Judge(Choice((habit(),)), 0), facts()
    judged(judge, file, entries(1, 5))
    assert judge.file(file.record, file) == []
    assert judge.counts == {"loc-x": 1}


def test_children_and_faults_are_summed_up_too() -> None:
    judge, file = Judge(Choice((habit(Per.FILE, Of.CHILD, Of.FAULT),)), 100), facts()
    for line in range(1, 4):
        file.list_child(ChildRecord("relative", line=line))
    [finding] = judge.file(file.record, file)
    assert (finding.message, finding.line) == ("3 of 3 entries have a habit, for example 'relative': as it is", 1)
    file = facts()
    for line in range(MAX_KEPT + 500):
        file.document.faults.add("loc-x", "a fault", line)
    [finding] = judge.file(file.record, file)
    assert finding.message.startswith(f"{MAX_KEPT + 500:,} entries have a habit")
    assert judge.counts == {"loc-x": 2}


def test_replies_of_a_list_are_summed_up_at_its_end() -> None:
    judge, file = Judge(Choice((habit(Per.FILE, Of.REPLY),)), 100), Counted(URL, entries=9)
    records = entries(1, 5)
    judge.replies((reply_facts(ok(), record) for record in records), file, Notes())
    [finding] = judge.conclude(file)
    assert finding.message.startswith("4 of 9 entries have a habit")
    assert judge.conclude(file) == []


def test_replies_of_a_sample_are_summed_up_by_those_asked() -> None:
    judge, file = Judge(Choice((habit(Per.FILE, Of.REPLY),)), 100), Drawn(URL)
    judge.replies((reply_facts(ok(), record) for record in entries(1, 5)), file, Notes())
    file.by_segment = {None: Counter({"ok": 6, "sampled-out": 500})}
    [finding] = judge.drawn(file)
    assert finding.message.startswith("4 of 6 entries have a habit")


def test_notes_of_a_rule_with_a_higher_severity_are_summed_up() -> None:
    def check(entry: Any) -> Iterator[Message]:
        yield Message("as it is", severity=Severity.INFO if entry.record.line > 2 else None)

    judge = Judge(Choice((Rule("loc-x", Severity.ERROR, "", (Of.ENTRY,), check),)), 100)
    file, notes, records = facts(), Notes(), entries(1, 6)
    judge.urls(records, file, notes)
    assert [finding.line for finding in notes.findings(records)] == [1, 2]
    [finding] = judge.file(file.record, file)
    assert (finding.severity, finding.line) == ("info", 3)
    assert finding.message == "3 of 5 entries, for example 'https://example.com/3#x': as it is"
    assert judge.severities == {"error": 2, "info": 1}


def test_a_configured_severity_changes_nothing_else() -> None:
    judge, file = Judge(Choice((habit(),), severities={"loc-x": Severity.ERROR}), 100), facts()
    judged(judge, file, entries(1, 5))
    [finding] = judge.file(file.record, file)
    assert finding.severity == "error"
    assert judge.severities == {"error": 1}


def valued(*values: str) -> list[UrlRecord]:
    return [UrlRecord(f"https://example.com/{n}#x", line=n, lastmod=value) for n, value in enumerate(values)]


def test_each_value_is_a_finding() -> None:
    judge, file = Judge(Choice((habit(by_value=True),)), 100), facts()
    judged(judge, file, valued("dead dead", "gone", "dead", "dead"))
    found = {finding.value: finding.message for finding in judge.file(file.record, file)}
    assert found == {
        "dead": "3 of 4 entries have a habit, for example 'https://example.com/0#x': as it is",
        "gone": "as it is",
    }
    assert judge.counts == {"loc-x": 2}


def test_values_beyond_the_limit_are_counted_only() -> None:
    judge, file = Judge(Choice((habit(by_value=True),)), 3), facts()
    judged(judge, file, valued(*(str(number) for number in range(10)), "0"))
    assert len(judge.file(file.record, file)) == 3
    assert judge.counts == {"loc-x": 10}


def of_two_files(judge: Judge, **more: Any) -> list[FileFacts]:
    files = [facts(f"https://example.com/{name}.xml", **more) for name in "ba"]
    for file, number in zip(files, (3, 5), strict=True):
        judged(judge, file, entries(1, number, file.url))
        assert judge.file(file.record, file) == []
    return files


def test_a_site_has_one_finding() -> None:
    judge = Judge(Choice((habit(Per.SITE),)), 100)
    of_two_files(judge)
    assert judge.counts == {}
    [finding] = judge.crawl({})
    assert finding.message.startswith("6 of 6 entries in 2 files have a habit, for example 'https://example.com/1#x'")
    assert finding.sitemap == "https://example.com/a.xml"
    assert judge.counts == {"loc-x": 1}


@pytest.mark.parametrize(
    ("of", "told"),
    [
        (Of.ENTRY, "2 of 2 entries in 2 files have a habit, for example 'https://example.com/1#x'"),
        (Of.FAULT, "2 files have a habit, for example 'https://example.com/a.xml': as it is"),
        (Of.FILE, "2 files have a habit, for example 'https://example.com/a.xml': as it is"),
    ],
)
def test_what_each_file_has_once_is_one_finding_of_the_site(of: Of, told: str) -> None:
    judge = Judge(Choice((habit(Per.SITE, of),)), 100)
    for name in "ba":
        file = facts(f"https://example.com/{name}.xml")
        if of is Of.ENTRY:
            judged(judge, file, entries(1, 2, file.url))
        if of is Of.FAULT:
            file.document.faults.add("loc-x", "a fault", 1)
        assert judge.file(file.record, file) == []
        assert of is not Of.FILE or file.record.issues == ["loc-x"]
    [finding] = judge.crawl({})
    assert finding.message.startswith(told)


def site_rule(**more: Any) -> Rule:
    """A rule on whole sites that speaks of example.com in place of `loc-x`."""

    def check(given: Any) -> Iterator[Message]:
        yield SiteMessage("of the site", value="example.com")

    return Rule("cross-x", Severity.INFO, "", (Of.WHOLE_SITE,), check, per=Per.SITE, instead_of="loc-x", **more)


class Complete:
    """The facts of a site that was crawled completely, as far as a rule without queries needs them."""

    per_file = None
    stopped = unjudged = staticmethod(lambda *_: False)
    serves = staticmethod(lambda _: True)


@pytest.mark.parametrize(("severity", "rules"), [("info", {"cross-x"}), ("error", {"cross-x", "loc-x"})])
def test_a_finding_on_a_whole_site_replaces_that_of_its_files_unless_that_is_worse(
    severity: str, rules: set[str]
) -> None:
    judge = Judge(Choice((habit(Per.SITE), site_rule()), severities={"loc-x": Severity(severity)}), 100)
    of_two_files(judge)
    other = facts("https://other.example/sitemap.xml", "other.example")
    judged(judge, other, entries(1, 3, other.url))
    judge.file(other.record, other)
    found = [*judge.site(Complete(), (Of.WHOLE_SITE,)), *judge.crawl({})]  # type: ignore[arg-type]  # a stand-in
    assert {one.rule for one in found if one.sitemap != other.url} == rules
    assert judge.replaced == ({} if "loc-x" in rules else {"loc-x": {"example.com"}}), "whose entries have no marks"
    assert [one.rule for one in found if one.sitemap == other.url] == ["loc-x"]


def test_a_rule_replaces_one_that_reports_once_per_site() -> None:
    by_id = {rule.id: rule for rule in all_rules()}
    replaced = {rule.id: by_id[rule.instead_of].per for rule in by_id.values() if rule.instead_of}
    assert replaced == {"cross-lastmod-coverage": Per.SITE}


def test_notes_of_a_rule_by_value_are_told_once() -> None:
    def check(entry: Any) -> Iterator[Message]:
        for value in (entry.record.lastmod, "another"):
            yield Message("as it is", value=value, severity=Severity.INFO)

    rule = Rule("loc-x", Severity.ERROR, "", (Of.ENTRY,), check, per=Per.FILE, many=MANY, by_value=True)
    judge, file = Judge(Choice((rule,)), 100), facts()
    judged(judge, file, valued("a", "b", "c"))
    [finding] = judge.file(file.record, file)
    assert finding.message.startswith("3 of 3 entries have a habit")


def test_each_site_has_its_own_finding() -> None:
    judge = Judge(Choice((habit(Per.SITE),)), 100)
    for site in ("b.example", "a.example"):
        file = facts(f"https://{site}/sitemap.xml", site)
        judged(judge, file, entries(1, 3, file.url))
        judge.file(file.record, file)
    assert [finding.sitemap for finding in judge.crawl({})] == [
        "https://a.example/sitemap.xml",
        "https://b.example/sitemap.xml",
    ]


def test_what_a_file_adds_to_its_site_survives_a_stop() -> None:
    rules = Choice((habit(Per.SITE),))
    first, second, whole = (Judge(rules, 100) for _ in range(3))
    for file in of_two_files(first):
        second.add(msgspec.json.decode(msgspec.json.encode(file.found), type=FindingTally))
    of_two_files(whole)
    assert second.crawl({}) == first.crawl({}) == whole.crawl({})
    assert second.counts == whole.counts


def test_sums_of_a_rule_that_is_gone_are_dropped() -> None:
    [file, _] = of_two_files(Judge(Choice((habit(Per.SITE),)), 100))
    judge = Judge(Choice(()), 100)
    judge.add(file.found)
    assert judge.crawl({}) == []


def test_a_sitemap_that_is_read_alone_has_the_findings_of_its_site() -> None:
    lines = "".join(
        f"<url><loc>https://example.com/{n}</loc><image:image><image:loc>https://cdn.example.net/{n}.png</image:loc>"
        "</image:image></url>\n"
        for n in range(500)
    )
    data = (
        '<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9" '
        f'xmlns:image="http://www.google.com/schemas/sitemap-image/1.1">\n{lines}</urlset>'
    )
    read = read_sitemap(data.encode(), "https://example.com/sitemap.xml", select="image")
    [finding] = read.findings
    assert read.counts == {"image-offsite": 1}
    assert (finding.line, finding.url, finding.value) == (2, "https://example.com/0", "cdn.example.net")
    assert finding.message == (
        "500 of 500 entries have images on another host, for example 'https://example.com/0': images on cdn.example.net"
    )
    assert all(entry.issues == ["image-offsite"] for entry in read_sitemap(data.encode(), URL, select="image"))


def test_a_rule_says_what_it_reports_one_finding_for() -> None:
    by_id = {rule.id: rule for rule in all_rules()}
    for id, scope in (
        ("loc-relative", "per entry"),
        ("loc-localhost", "per file and value"),
        ("doc-bom", "per site"),
        ("robots-crawl-delay", "per file"),
        ("image-status", "per file and value"),
        ("image-offsite", "per site"),
        ("robots-missing", "per site"),
        ("limit-urls-exceeded", "per file"),
    ):
        assert by_id[id].scope == scope
        assert page(by_id[id], 80, plain).splitlines()[0] == f"{id}  {by_id[id].severity}  {scope}"
        assert f"*{by_id[id].severity}, {scope}*" in section(by_id[id])


ON_ENTRIES = {Of.CHILD, Of.VERDICT, Of.REPLY, Of.ASSET}


@pytest.mark.parametrize(
    "one",
    [rule for rule in all_rules() if rule.per is not Per.ENTRY and (rule.judges_entries or ON_ENTRIES & set(rule.of))],
    ids=lambda rule: rule.id,
)
def test_a_rule_that_sums_up_says_what_many_entries_do(one: Rule) -> None:
    assert one.many.split()[0] in {
        "answer", "are", "differ", "do", "give", "have", "link", "list", "redirect", "say",
    }  # fmt: skip


def test_notes_on_entries_are_summed_up() -> None:
    per_entry = {
        rule.id for rule in all_rules()
        if rule.per is Per.ENTRY and rule.severity is Severity.INFO and (rule.judges_entries or ON_ENTRIES & set(rule.of))
    }  # fmt: skip
    assert per_entry == set()


def test_an_unknown_scope_is_refused() -> None:
    with pytest.raises(ValueError, match="galaxy"):

        @rule("loc-galaxy", Severity.INFO, "", per="galaxy")
        def check(entry: Any) -> Iterator[Message]:
            yield Message("")

    assert "loc-galaxy" not in RULES
