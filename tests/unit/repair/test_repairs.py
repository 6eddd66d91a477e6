"""What each repair changes, what it keeps, and which row says so."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from sitemapcrawler.namespaces import CORE
from sitemapcrawler.repair import writing
from sitemapcrawler.repair.edits import bare
from sitemapcrawler.repair.streaming import Verdict, Verified, judge_of, repairable
from sitemapcrawler.rules import all_rules
from sitemapcrawler.rules.families import file_bytes
from tests.unit.repair.repairing import HOME, Outcome, check, index, nowhere, repair, urlset


def link(code: str, path: str) -> str:
    return f'<xhtml:link rel="alternate" hreflang="{code}" href="{HOME}{path}"/>'


IMAGE = "<image:image><image:loc>https://example.com/{}.png</image:loc></image:image>"
NEWS = (
    "<news:news><news:publication><news:name>n</news:name><news:language>en</news:language></news:publication>"
    "<news:publication_date>2026-05-01</news:publication_date><news:title>t</news:title></news:news>"
)

VIDEO = (
    "<video:video><video:thumbnail_loc>https://example.com/a.jpg</video:thumbnail_loc><video:title>t</video:title>"
    "<video:description>d</video:description><video:content_loc>https://example.com/a.mp4</video:content_loc></video:video>"
)


def page(path: str, *parts: str) -> str:
    return f"<url><loc>{HOME}{path}</loc>{''.join(parts)}</url>"


def written(outcome: Outcome, name: str = "sitemap.xml") -> str:
    return outcome.data(name).decode()


def told(outcome: Outcome, *columns: str) -> list[tuple[str, ...]]:
    """The list of changes: these columns of its rows, action and rule by default."""
    return [tuple(row[name].removeprefix(HOME) for name in columns or ("action", "rule")) for row in outcome.rows]


def video(part: str) -> str:
    """An entry with a video that has this optional part."""
    return page(
        "a",
        f"<video:video><video:thumbnail_loc>{HOME}t.png</video:thumbnail_loc><video:title>A</video:title>"
        f"<video:description>B</video:description><video:content_loc>{HOME}1.mp4</video:content_loc>{part}</video:video>",
    )


@pytest.mark.parametrize(
    ("entry", "rule", "old", "new"),
    [
        ("<url><loc>/a</loc></url>", "loc-relative", "/a", "https://example.com/a"),
        ("<url><loc>example.com/a</loc></url>", "loc-relative", "example.com/a", "https://example.com/a"),
        ("<url><loc>https//example.com/a</loc></url>", "loc-relative", "https//example.com/a", f"{HOME}a"),
        ("<url><loc>https;//example.com/a</loc></url>", "loc-relative", "https;//example.com/a", f"{HOME}a"),
        (f'<url><loc>"{HOME}a"</loc></url>', "loc-invalid-uri", f'"{HOME}a"', f"{HOME}a"),
        (f"<url><loc>[{HOME}a]({HOME}a)</loc></url>", "loc-invalid-uri", f"[{HOME}a]({HOME}a)", f"{HOME}a"),
        (f"<url><loc>[{HOME}a/]({HOME}a/)17</loc></url>", "loc-invalid-uri", f"[{HOME}a/]({HOME}a/)17", f"{HOME}a/17"),
        (f"<url><loc>https://{HOME}a</loc></url>", "loc-invalid-uri", f"https://{HOME}a", f"{HOME}a"),
        ("<url><loc>http://https//example.com/a</loc></url>", "loc-invalid-uri", "http://https//example.com/a",
         f"{HOME}a"),
        (f"<url><loc>https://example.com{HOME}a</loc></url>", "loc-invalid-uri", f"https://example.com{HOME}a",
         f"{HOME}a"),
        (page("a b"), "loc-whitespace", f"{HOME}a b", f"{HOME}a%20b"),
        (page("a|b"), "loc-invalid-uri", f"{HOME}a|b", f"{HOME}a%7Cb"),
        (page("a?x=1&amp;amp;y=2"), "loc-double-escaped", f"{HOME}a?x=1&amp;y=2", f"{HOME}a?x=1&y=2"),
        (page("a", f"<image:image><image:loc>{HOME}1.png?x=1&amp;amp;y=2</image:loc></image:image>"),
         "image-loc-double-escaped", f"{HOME}1.png?x=1&amp;y=2", f"{HOME}1.png?x=1&y=2"),
        (page("a", f"<video:video><video:thumbnail_loc>{HOME}t.png</video:thumbnail_loc><video:title>A</video:title>"
              f"<video:description>B</video:description><video:content_loc>{HOME}1.mp4?x=1&amp;amp;y=2</video:content_loc>"
              "</video:video>"),
         "video-loc-double-escaped", f"{HOME}1.mp4?x=1&amp;y=2", f"{HOME}1.mp4?x=1&y=2"),
        (video("<video:duration>PT1H17M57S</video:duration>"), "video-duration-range", "PT1H17M57S", "4677"),
        (video("<video:duration>00:23:51</video:duration>"), "video-duration-range", "00:23:51", "1431"),
        (video("<video:rating>4,5</video:rating>"), "video-rating-range", "4,5", "4.5"),
        (video("<video:view_count>8,469</video:view_count>"), "video-view-count-invalid", "8,469", "8469"),
        (video("<video:live>false</video:live>"), "video-yesno-invalid", "false", "no"),
        (video("<video:requires_subscription>1</video:requires_subscription>"), "video-yesno-invalid", "1", "yes"),
        (page("a", link("en", "a"), link("de", "b?x=1&amp;amp;y=2")), "hreflang-href-double-escaped",
         f"href={HOME}b?x=1&amp;y=2", f"href={HOME}b?x=1&y=2"),
        (page("a#b"), "loc-fragment", f"{HOME}a#b", f"{HOME}a"),
        (page("é"), "loc-non-ascii", f"{HOME}é", f"{HOME}%C3%A9"),
        ("<url><loc>https://EXAMPLE.com/a</loc></url>", "loc-uppercase-host", "https://EXAMPLE.com/a", f"{HOME}a"),
        ("<url><loc>https://example.com:443/a</loc></url>", "loc-default-port", "https://example.com:443/a", f"{HOME}a"),
        (page("a", "<lastmod>2026-05-01 10:00:00</lastmod>"), "lastmod-invalid", "2026-05-01 10:00:00",
         "2026-05-01T10:00:00Z"),
        (page("a", "<lastmod>2025-02-30</lastmod>"), "lastmod-impossible", "<lastmod>2025-02-30</lastmod>", ""),
        (page("a", "<lastmod>2099-05-01</lastmod>"), "lastmod-future", "<lastmod>2099-05-01</lastmod>", ""),
        (page("a", "<lastmod>2026-05-01+02:00</lastmod>"), "lastmod-invalid", "2026-05-01+02:00", "2026-05-01"),
        (page("a", "<lastmod>1777629600</lastmod>"), "lastmod-invalid", "1777629600", "2026-05-01T10:00:00Z"),
        (page("a", "<lastmod>undefined</lastmod>"), "lastmod-invalid", "<lastmod>undefined</lastmod>", ""),
        (page("a", "<changefreq>Daily</changefreq>"), "changefreq-invalid", "Daily", "daily"),
        (page("a", "<priority>0,5</priority>"), "priority-invalid", "0,5", "0.5"),
        (page("a", "<priority>0.5</priority><lastmod>2026-05-01</lastmod>"), "xml-element-order",
         "loc priority lastmod", "loc lastmod priority"),
        (page("a", "<title>t</title>"), "xml-unknown-element", "<title>t</title>", ""),
        (f'<url xml:lang="de"><loc>{HOME}a</loc></url>', "xml-unknown-attribute",
         "{http://www.w3.org/XML/1998/namespace}lang=de", ""),
        (page("a", VIDEO.replace("<video:title>", '<video:title relationship="allow">')), "xml-unknown-attribute",
         "relationship=allow", ""),
        (page("a", "<image:image><image:loc>/i.png</image:loc></image:image>"), "image-loc-relative", "/i.png",
         f"{HOME}i.png"),
        (page("a", NEWS.replace(">en<", ">en-US<")), "news-language-invalid", "en-US", "en"),
        (page("a", link("de", "a"), link("en_GB", "b")), "hreflang-code-underscore", "hreflang=en_GB",
         "hreflang=en-GB"),
        (page("a", link("de", "a"), link("en", "b").replace("hreflang", "hrefLang")), "hreflang-code-missing",
         "hrefLang=en", "hreflang=en"),
        (page("a", NEWS.replace(">en<", ">zh-CN<")), "news-language-invalid", "zh-CN", "zh-cn"),
        (page("a", NEWS.replace(">en<", ">zh-Hans-HK<")), "news-language-invalid", "zh-Hans-HK", "zh-cn"),
        (page("a", NEWS.replace(">en<", ">zh-HK<")), "news-language-invalid", "zh-HK", "zh-tw"),
        (page("a", NEWS.replace(">en<", ">iw<")), "news-language-invalid", "iw", "he"),
    ],
    ids=lambda value: value if "-" in str(value) and "<" not in str(value) and "/" not in str(value) else "",
)  # fmt: skip
def test_one_right_answer(entry: str, rule: str, old: str, new: str, tmp_path: Path) -> None:
    outcome = repair(tmp_path, urlset(entry))
    assert [(row["action"], row["rule"], row["old"], row["new"], row["line"]) for row in outcome.rows] == [
        ("changed", rule, old, new, "3")
    ]
    assert outcome.result.changed == 1
    assert outcome.errors() == outcome.violations() == []


def test_a_choice_of_rules_changes_nothing_else(tmp_path: Path) -> None:
    wrong = page("a b", "<lastmod>soon</lastmod>", "<priority>9</priority>")
    outcome = repair(tmp_path, urlset(wrong), only=["priority-out-of-range"])
    assert outcome.rules == {"priority-out-of-range"}
    assert "a b" in written(outcome)
    assert "<lastmod>soon</lastmod>" in written(outcome)


def test_what_stands_behind_the_url_of_a_line_has_a_row(tmp_path: Path) -> None:
    lines = [f"{HOME}a 2026-05-01 0.8", f"{HOME}b {HOME}c", f"{HOME}d"]
    outcome = repair(tmp_path, "\n".join(lines).encode(), names=["sitemap.txt"])
    assert written(outcome, "sitemap.txt").split() == [f"{HOME}{name}" for name in "abcd"]
    assert told(outcome, "action", "rule", "line") == [("changed", "txt-has-metadata", "1")]
    assert outcome.rows[0]["old"] == lines[0]
    assert (outcome.result.read, outcome.result.kept) == (4, 4)


def test_quotation_marks_without_end_take_linear_time() -> None:
    start = time.process_time()
    assert bare(f"https://example.com/a{50_000 * chr(0x2019)} b").endswith(" b")
    assert time.process_time() - start < 2  # seconds; were it quadratic, more than 8


def test_all_rules_that_repair_are_in_the_catalogue() -> None:
    assert set(repairable()) - {rule.id for rule in all_rules()} == set()


@pytest.mark.parametrize(
    ("bad", "rule"),
    [
        (page("{slug}").encode(), "loc-placeholder"),
        (page("a?id={id}").encode(), "loc-placeholder"),
        (b"<url><loc>undefined/about</loc></url>", "loc-placeholder"),
        (page("caf").encode().replace(b"caf", b"caf\xe9"), "doc-encoding-not-utf8"),
        (page("caf\ufffd").encode(), "loc-invalid-uri"),
    ],
)
def test_a_url_with_an_unknown_part_is_dropped_and_not_escaped(bad: bytes, rule: str, tmp_path: Path) -> None:
    outcome = repair(tmp_path, urlset(page("a"), "~").replace(b"~", bad))
    assert outcome.locs == [f"{HOME}a"]
    assert [row["rule"] for row in outcome.rows if row["action"] == "dropped"] == [rule]
    assert outcome.result.dropped == 1


def test_a_hash_that_belongs_to_the_path_does_not_cut_it(tmp_path: Path) -> None:
    outcome = repair(tmp_path, urlset(page("learn/c#/arrays"), page("product-#1.html"), page("a#b")))
    assert outcome.locs == [f"{HOME}learn/c#/arrays", f"{HOME}product-#1.html", f"{HOME}a"]
    assert [row["rule"] for row in outcome.rows] == ["loc-fragment"]


@pytest.mark.parametrize(
    ("entry", "rule"),
    [
        ("<url><loc>example.com:8080/shop/</loc></url>", "loc-relative"),
        ("<url><loc>www.example.net/a</loc></url>", "loc-relative"),
        ("<url><loc>https//example.net/a</loc></url>", "loc-relative"),
        ("<url><loc>[https://example.net]/a</loc></url>", "loc-invalid-uri"),
        (r"<url><loc>https:\\example.com\a</loc></url>", "loc-invalid-uri"),
        (page("a" * 2048), "loc-too-long"),
        (page("a", "<lastmod><date>2026-01-05</date></lastmod>"), "xml-schema-violation"),
        (page("a", "<lastmod>17. Mai 2024</lastmod>"), "lastmod-invalid"),
        (page("a", "<lastmod>05/06/2026</lastmod>"), "lastmod-invalid"),
    ],
)
def test_an_entry_that_cannot_be_repaired_stays_as_it_was(entry: str, rule: str, tmp_path: Path) -> None:
    outcome = repair(tmp_path, urlset(page("b"), entry))
    assert outcome.data("sitemap.xml") == urlset(page("b"), entry)
    assert [(row["action"], row["rule"], row["old"], row["line"]) for row in outcome.rows] == [
        ("not repaired", rule, entry, "4")
    ]
    assert (outcome.result.kept, outcome.result.unrepaired, outcome.result.dropped) == (1, 1, 0)


@pytest.mark.parametrize("names", [["sitemap.xml", "news.xml"], ["news.xml", "sitemap.xml"]])
def test_an_article_is_listed_once_in_each_of_news_and_pages(names: list[str], tmp_path: Path) -> None:
    files = {"sitemap.xml": urlset(page("a"), page("a")), "news.xml": urlset(page("a", NEWS), page("a", NEWS))}
    outcome = repair(tmp_path, *map(files.get, names), names=names)  # type: ignore[arg-type]  # each is there
    assert outcome.data("sitemap.xml") == urlset(page("a"))
    assert outcome.data("news.xml") == urlset(page("a", NEWS))
    assert told(outcome) == [("dropped", "loc-duplicate")] * 2


@pytest.mark.parametrize(
    "entry",
    [page("a", "<lastmod>soon</lastmod>"), page("a?x=1&y=2"), page("a", "<b/>", link("zz-QQ", "b")), page("a#b")],
    ids=["date", "ampersand", "object", "URL"],
)
def test_an_entry_that_is_changed_and_then_dropped_has_one_row_with_its_old_text(entry: str, tmp_path: Path) -> None:
    first = page("a?x=1&amp;y=2") if "?" in entry else page("a")
    outcome = repair(tmp_path, urlset(first, entry))
    assert outcome.data("sitemap.xml") == urlset(first)
    assert [(row["action"], row["rule"], row["old"], row["line"]) for row in outcome.rows] == [
        ("dropped", "loc-duplicate", entry, "4")
    ]
    moved = repair(
        tmp_path / "moved", urlset(page("new"), page("old", "<lastmod>soon</lastmod>")), verified=moving(old="new")
    )
    assert [(row["rule"], row["old"]) for row in moved.rows] == [
        ("status-redirect", page("old", "<lastmod>soon</lastmod>"))
    ]


def test_an_entry_read_after_a_repair_has_a_row_with_both_texts(tmp_path: Path) -> None:
    broken = page("a?x=1&y=2")
    outcome = repair(tmp_path, urlset(broken))
    assert [(row["rule"], row["old"], row["new"]) for row in outcome.rows] == [
        ("doc-unescaped-ampersand", broken, broken.replace("&", "&amp;"))
    ]


def test_verdicts_of_an_audit(tmp_path: Path) -> None:
    def verified(listed: object) -> dict[str, Verdict]:
        return {
            f"{HOME}gone": Verdict("status-404"),
            f"{HOME}old": Verdict("status-redirect", f"{HOME}new"),
            f"{HOME}copy": Verdict("page-canonical-other", f"{HOME}a"),
        }

    outcome = repair(tmp_path, urlset(*map(page, ("a", "gone", "old", "copy"))), verified=verified)
    assert outcome.locs == [f"{HOME}a", f"{HOME}new"]
    assert [(row["action"], row["rule"], row["url"], row["new"]) for row in outcome.rows] == [
        ("dropped", "status-404", f"{HOME}gone", ""),
        ("changed", "status-redirect", f"{HOME}old", f"{HOME}new"),
        ("dropped", "page-canonical-other", f"{HOME}copy", ""),
    ]


def moving(**targets: str | None) -> Verified:
    """Verdicts of an audit: {path of a page: path of the page that it redirects to, None for a missing one}."""
    found = {f"{HOME}{path}": Verdict("status-404" if to is None else "status-redirect", None if to is None else HOME + to)
             for path, to in targets.items()}  # fmt: skip
    return lambda listed: {url: found[url] for url in listed if url in found}


def test_a_problem_of_links_that_go_has_no_row(tmp_path: Path) -> None:
    entries = page("a", link("de", "a"), link("en", "b"), link("en", "c")), page("c", link("de", "a"), link("en", "c"))
    outcome = repair(tmp_path, urlset(*entries, page("b")), verified=moving(b=None))
    assert {(row["action"], row["rule"]) for row in outcome.rows} == {
        ("dropped", "status-404"), ("changed", "hreflang-target-status"),
    }  # fmt: skip


def test_entries_that_are_equal_once_links_are_gone_become_one(tmp_path: Path) -> None:
    image = IMAGE.format(1)
    first = link("de", "b").replace(' rel="alternate"', "").replace("/>", ' rel="alternate"/>')
    entries = page("a", image), page("a", image, first), page("a", image, link("de", "c"))
    outcome = repair(tmp_path, urlset(*entries), verified=moving(b=None))
    assert told(outcome, "action", "rule", "line")[:1] == [("dropped", "loc-duplicate", "4")]
    assert len(outcome.locs) == 2


def in_languages(*paths: str) -> list[str]:
    """Entries of pages that list each other, in as many languages."""
    links = [link(code, path) for code, path in zip(("en", "de", "fr", "x-default"), paths, strict=False)]
    return [page(path, *links) for path in dict.fromkeys(paths)]


@pytest.mark.parametrize(
    ("entries", "becomes"),
    [
        (in_languages("old", "b", "c"), in_languages("new", "b", "c")),
        (in_languages("old", "b", "c", "old"), in_languages("new", "b", "c", "new")),
        (in_languages("old", "old2"), [page("new")]),
        ([*in_languages("old", "b"), page("new")], [page("b", link("de", "b")), page("new")]),
        (in_languages("old", "b")[1:], [page("b", link("de", "b"))]),
    ],
    ids=["moved", "also the default", "both to one page", "to a page with an entry", "not listed"],
)
def test_language_versions_follow_a_page_that_has_moved(entries: list[str], becomes: list[str], tmp_path: Path) -> None:
    outcome = repair(tmp_path, urlset(*entries), verified=moving(old="new", old2="new"))
    check(outcome)
    assert outcome.data("sitemap.xml") == urlset(*becomes)
    assert [row for row in outcome.rows if row["action"] == "not repaired"] == []


@pytest.mark.parametrize(
    ("files", "kept"),
    [
        ([[page("old", IMAGE.format(1)), page("new")]], [[page("new")]]),
        ([[page("new"), page("old", IMAGE.format(1))]], [[page("new")]]),
        ([[page("old", IMAGE.format(1)), page("x")], [page("new")]], [[page("x")], [page("new")]]),
        ([[page("old"), page("old2", IMAGE.format(1))]], [[page("new", IMAGE.format(1))]]),
        ([[page("x"), page("old")], [page("y"), page("old2")]], [[page("x"), page("new")], [page("y")]]),
        ([[page("old")], [page("new")]], [None, [page("new")]]),
    ],
    ids=["before", "behind", "other file", "two in one file", "two in two files", "only entry"],
)
def test_a_page_that_moved_makes_way_for_the_entry_of_its_target(
    files: list[list[str]], kept: list[list[str] | None], tmp_path: Path
) -> None:
    outcome = repair(tmp_path, *(urlset(*file) for file in files), verified=moving(old="new", old2="new"))
    names = ["sitemap.xml", "sitemap1.xml"][: len(files)]
    assert [outcome.data(name) if name in outcome.names else None for name in names] == [
        urlset(*file) if file is not None else None for file in kept
    ]
    dropped = [row for row in outcome.rows if row["action"] == "dropped"]
    assert [row["rule"] for row in dropped] == ["status-redirect"]
    assert dropped[0]["url"].startswith(f"{HOME}old")
    assert f"<loc>{dropped[0]['url']}</loc>" in dropped[0]["old"]
    result = outcome.result
    assert result.read == result.kept + result.changed + result.dropped


OTHER = "<url><loc>https://other.example/x</loc></url>"
DATED = "<lastmod>2026-05-02</lastmod>"
AGAIN = page("a", DATED, IMAGE.format(2))
FTP = "<url><loc>ftp://example.com/a</loc><lastmod>soon</lastmod></url>"
DE, EN, ZZ = link("de", "de"), link("en", "en"), link("zz-QQ", "d")
CDATA = f"{IMAGE.format(1)[:-14]}<image:title><![CDATA[ <!-- ]]></image:title></image:image>"
PLACEHOLDER = IMAGE.format("{id}")
Files = list[list[str]]
SETS: dict[str, tuple[Files, Files, list[tuple[str, str, str]]]] = {
    "another host": ([[page("a"), OTHER]], [[page("a")]], [("dropped", "loc-offsite", OTHER)]),
    "a page again with the same image": (
        [[page("a", IMAGE.format(2)), page("b"), AGAIN]], [[page("b"), AGAIN]],
        [("dropped", "loc-duplicate", page("a", IMAGE.format(2)))],
    ),
    "a page again with another image, and with none": (
        [[page("a", IMAGE.format(1)), page("b"), AGAIN, page("a", DATED)]],
        [[page("a", IMAGE.format(1)), page("b"), AGAIN]],
        [("dropped", "loc-duplicate", page("a", DATED))],
    ),
    "an entry for each video of a page": (
        [[page("a", VIDEO), page("a", VIDEO.replace("a.mp4", "b.mp4"))]],
        [[page("a", VIDEO), page("a", VIDEO.replace("a.mp4", "b.mp4"))]], [],
    ),
    "a page of which the second entry has a date": (
        [[page("a"), page("a", DATED), page("a")]], [[page("a", DATED)]], [("dropped", "loc-duplicate", page("a"))] * 2,
    ),
    "a page of which the last entry has an image": (
        [[page("a"), page("a", DATED), page("a", IMAGE.format(1))]], [[page("a", IMAGE.format(1))]],
        [("dropped", "loc-duplicate", page("a")), ("dropped", "loc-duplicate", page("a", DATED))],
    ),
    "a page of several files, in one with a date": (
        [[page("a"), page("b")], [page("a", DATED)]], [[page("b")], [page("a", DATED)]],
        [("dropped", "cross-duplicate-url", page("a"))],
    ),
    "another spelling": ([[page("~a"), page("%7Ea")]], [[page("~a")]], [("dropped", "loc-duplicate", page("%7Ea"))]),
    "a page of several files, in one with an image": (
        [[page("a")], [page("a"), page("b")], [page("a", IMAGE.format(1))]],
        [[page("a")], [page("b")], [page("a", IMAGE.format(1))]],
        [("dropped", "cross-duplicate-url", page("a"))],
    ),
    "changed, and still of no page": ([[page("a"), FTP]], [[page("a")]], [("dropped", "loc-bad-scheme", FTP)]),
    "placeholder in an image": (
        [[page("a", PLACEHOLDER)]], [[page("a")]], [("changed", "image-loc-invalid", PLACEHOLDER)],
    ),
    "wrong objects among others": (
        [[page("a", link("de", "a"), EN, ZZ, IMAGE.format(1), "<image:image/>", link("fr", "c"))]],
        [[page("a", link("de", "a"), EN, IMAGE.format(1), link("fr", "c"))]],
        [("changed", "hreflang-code-invalid", ZZ), ("changed", "image-loc-missing", "<image:image/>")],
    ),
    "link to a page of which another entry stays": (
        [[page("de", DE, EN), page("en", DE, EN), page("de")]], [[page("de", DE, EN), page("en", DE, EN)]],
        [("dropped", "loc-duplicate", page("de"))],
    ),
    "code whose right form another link has": (
        [[page("a", link("de", "a"), link("en-GB", "b"), link("en-UK", "c"))]],
        [[page("a", link("de", "a"), link("en-GB", "b"))]],
        [("changed", "hreflang-code-invalid", link("en-UK", "c"))],
    ),
    "versions in a sitemap of their own": (
        [[page("de"), page("en")], [page("de", DE, EN), page("en", DE, EN)]],
        [[page("de"), page("en")], [page("de", DE, EN), page("en", DE, EN)]], [],
    ),
    "comment in a text": (
        [[page("a", CDATA), "<!-- c -->", page("b", "<!-- d -->")]],
        [[page("a", CDATA), "<!-- c -->", page("b", "<!-- d -->")]], [],
    ),
    "comments of entries that go": (
        [[page("a"), "<!-- 1 -->", page("a"), "<!-- 2 -->", OTHER, page("b"), "<!-- 3 -->", page("b"), "<!-- 4 -->"]],
        [[page("a"), "<!-- 1 -->", "<!-- 2 -->", page("b"), "<!-- 3 -->", "<!-- 4 -->"]],
        [("dropped", "loc-offsite", OTHER), *(("dropped", "loc-duplicate", page(path)) for path in "ab")],
    ),
    **{
        f"{around} around entries": (
            [[page("a"), f"<{around}>", page("b"), page("c"), f"</{around}>", page("d")]], [[*map(page, "abcd")]],
            [("changed", "xml-unknown-element", f"<{around}>")],
        )
        for around in ("urlset", "group")
    },
}  # fmt: skip
"""{what: (files before, files after, rows: action, rule, old value)}."""


@pytest.mark.parametrize("what", SETS)
def test_what_stays_and_what_goes(what: str, tmp_path: Path) -> None:
    before, after, rows = SETS[what]
    outcome = repair(tmp_path, *(urlset(*file) for file in before), may_list=nowhere)
    assert [outcome.data(f"sitemap{number or ''}.xml") for number in range(len(after))] == [
        urlset(*file) for file in after
    ]
    assert [(row["action"], row["rule"], row["old"]) for row in outcome.rows] == rows
    assert outcome.result.dropped == [action for action, *_ in rows].count("dropped")


def test_a_comment_that_no_parser_reads_goes_with_a_row(tmp_path: Path) -> None:
    outcome = repair(tmp_path, urlset(page("a"), "<!-- b -- c -->", page("b")))
    assert outcome.data("sitemap.xml") == urlset(page("a"), page("b"))
    assert ("changed", "doc-xml-malformed", "<!-- b -- c -->", "4") in told(outcome, "action", "rule", "old", "line")


def test_a_moved_article_stays_in_the_news_if_only_pages_list_its_target(tmp_path: Path) -> None:
    outcome = repair(tmp_path, urlset(page("new")), urlset(page("old", NEWS)), verified=moving(old="new"))
    assert outcome.data("sitemap1.xml") == urlset(page("new", NEWS))


def test_a_link_to_a_missing_page_that_only_a_feed_lists_goes(tmp_path: Path) -> None:
    outcome = repair(tmp_path, urlset(page("de", DE, link("fr", "fr"))), verified=moving(fr=None))
    assert outcome.data("sitemap.xml") == urlset(page("de", DE))


def test_links_to_versions_that_are_gone_go_and_no_others(tmp_path: Path) -> None:
    links = [link("de", "de"), link("en", "en"), link("fr", "fr"), link("es", "unlisted"), link("it", "it")]
    other = "<url><loc>https://other.example/it</loc></url>"
    links[4] = links[4].replace(f"{HOME}it", "https://other.example/it")  # it only may not stand in this sitemap
    entries = [page(path, *links) for path in ("de", "en", "fr")]
    outcome = repair(tmp_path, urlset(*entries, other), verified=moving(fr=None, en="uk"), may_list=nowhere)
    kept = [links[0], link("en", "uk"), links[3], links[4]]
    assert outcome.data("sitemap.xml") == urlset(page("de", *kept), page("uk", *kept))
    rows = told(outcome, "action", "rule", "url")
    assert rows[:2] == [("dropped", "status-404", "fr"), ("dropped", "loc-offsite", "https://other.example/it")]
    assert sorted(rows[2:]) == [
        ("changed", "hreflang-target-redirect", "de"),
        ("changed", "hreflang-target-redirect", "uk"),
        ("changed", "hreflang-target-status", "de"),
        ("changed", "hreflang-target-status", "uk"),
        ("changed", "status-redirect", "en"),
    ]


@pytest.mark.parametrize(
    ("entries", "rows"),
    [
        ([page("", ""), page("de", link("de", "de"), link("en", "en"), link("x-default", "")),
          page("en", link("de", "de"), link("en", "en"), link("x-default", ""))],
         [("hreflang-return-missing", "", "3")]),
        ([page("de", link("de", "de"), link("en", "en")), page("en", link("de", "de"), link("en-GB", "en"))],
         [("hreflang-return-inconsistent", "de", "3")]),
        ([page("de", link("de", "de"), link("en-GB", "en")), page("en", link("de", "de"))],
         [("hreflang-self-missing", "en", "4")]),
        ([page("a"), page("en", link("de", "de"))], [("hreflang-self-missing", "en", "4")]),
        ([page("de", link("de-DEU", "de"), link("en", "b"))], [("hreflang-code-invalid", "de", "3")]),
        ([page("a", link("de", "a"), link("en", "b"), link("en", "c"))], [("hreflang-duplicate-code", "a", "3")]),
        ([page("a", link("de", "a"), link("x-default", "b"), link("x-default", "c"))],
         [("hreflang-x-default-multiple", "a", "3")]),
    ],
    ids=lambda value: value[0][0] if isinstance(value[0], tuple) else "",
)  # fmt: skip
def test_links_without_a_right_answer_stay(
    entries: list[str], rows: list[tuple[str, str, str]], tmp_path: Path
) -> None:
    outcome = repair(tmp_path, urlset(*entries))
    assert outcome.data("sitemap.xml") == urlset(*entries)
    assert told(outcome, "action", "rule", "url", "line") == [("not repaired", *row) for row in rows]
    assert (outcome.result.unrepaired, outcome.result.kept) == (len(rows), len(entries) - len(rows))


def test_a_path_that_is_not_of_another_version_becomes_no_second_link_to_the_page(tmp_path: Path) -> None:
    path = link("fr", "a").replace(HOME, "/")
    outcome = repair(tmp_path, urlset(page("a", link("de", "a"), path), page("b", link("de", "b").replace(HOME, "/"))))
    assert outcome.data("sitemap.xml") == urlset(page("a", link("de", "a")), page("b", link("de", "b")))
    assert told(outcome, "action", "rule") == [("changed", "hreflang-href-relative")] * 2


@pytest.mark.parametrize(
    ("written", "right"),
    [("iw", "he"), ("in", "id"), ("ji", "yi"), ("iw_IL", "he-IL"), ("en-UK", "en-GB"), ("gr_EL", "el-GR"), ("eng-US", "en-US"),
     ("zh-CN-Hans", "zh-Hans-CN"), ("fil", "fil"), ("jp", None), ("es-419", None), ("en-EU", None)],
)  # fmt: skip
def test_a_code_with_one_right_form_is_written_so(written: str, right: str | None, tmp_path: Path) -> None:
    entry = page("a", link("de", "a"), link("{}", "b"))
    kept = entry.format(right) if right is not None else page("a", link("de", "a"))
    outcome = repair(tmp_path, urlset(entry.format(written)))
    assert outcome.data("sitemap.xml") == urlset(kept)
    assert {row["action"] for row in outcome.rows} == ({"changed"} if written != right else set())


@pytest.mark.parametrize("codes", [("he", "iw"), ("iw", "iw"), ("iw", "iw", "iw")])
@pytest.mark.parametrize("lost", ["ftp://example.com/", f"{HOME}lost"], ids=["invalid", "dropped"])
def test_a_link_that_is_removed_leaves_its_code_to_another(codes: tuple[str, ...], lost: str, tmp_path: Path) -> None:
    links = [f'<xhtml:link rel="alternate" hreflang="{codes[0]}" href="{lost}"/>']
    links += [link(code, name) for code, name in zip(codes[1:], "bc", strict=False)]
    others = [page("b"), page("c")]
    outcome = repair(tmp_path / "once", urlset(page("a", *links), *others), verified=moving(lost=None))
    right = [link(code, name) for code, name in zip(("he", "iw")[: len(codes) - 1], "bc", strict=False)]
    assert outcome.data("sitemap.xml") == urlset(page("a", *right), *others)
    again = repair(tmp_path / "again", outcome.data("sitemap.xml"))
    assert again.data("sitemap.xml") == outcome.data("sitemap.xml")


@pytest.mark.parametrize("prefix", ["", "s:"])
def test_entries_with_the_same_image_are_duplicates_whatever_their_dates(prefix: str, tmp_path: Path) -> None:
    image = "<image:image><image:loc>https://example.com/{}.png</image:loc></image:image>"
    entries = "".join(
        f"<{prefix}url><{prefix}loc>{HOME}a</{prefix}loc><{prefix}lastmod>2026-05-0{day}</{prefix}lastmod>"
        f"{image.format(name)}</{prefix}url>"
        for day, name in ((1, "x"), (2, "x"), (3, "y"))
    )
    declared = f'xmlns{":s" if prefix else ""}="{CORE}" xmlns:image="http://www.google.com/schemas/sitemap-image/1.1"'
    outcome = repair(tmp_path, f"<{prefix}urlset {declared}>{entries}</{prefix}urlset>".encode())
    assert [(row["action"], row["rule"]) for row in outcome.rows] == [("dropped", "loc-duplicate")]


def test_a_note_on_a_feed_leaves_it_a_feed(tmp_path: Path) -> None:
    entries = "".join(
        f"<entry><title>t</title><id>{link}</id><link href='{link}'/></entry>" for link in (f"{HOME}a", "b")
    )
    feed = f"<feed xmlns='http://www.w3.org/2005/Atom'><title>t</title><id>f</id>{entries}</feed>".encode()
    outcome = repair(tmp_path, feed, names=["feed.xml"])
    assert outcome.data("feed.xml") == feed
    assert outcome.rows == []


@pytest.mark.parametrize("name", ["feed.rss", "feed.xml"])
def test_a_feed_is_copied_and_a_broken_one_stays_on_the_server(name: str, tmp_path: Path) -> None:
    items = "".join(
        f"<item><link>{HOME}{path}</link><pubDate>Fri, 01 May 2026 10:00:00 GMT</pubDate></item>" for path in "ab"
    )
    feed = f'<rss version="2.0"><channel><title>t</title><link>{HOME}</link>{items}</channel></rss>'.encode()
    whole = repair(tmp_path / "whole", feed, names=[name])
    assert [whole.data(one) for one in whole.names] == [feed]
    assert whole.rows == []
    packed = repair(tmp_path / "packed", feed, names=[name], compress=True, verified=moving(b=None))
    assert packed.names == []  # it stays where it is renewed
    assert told(packed, "action", "rule", "url")[0] == ("not repaired", "status-404", "b")
    assert (packed.result.read, packed.result.kept, packed.result.unrepaired) == (2, 1, 1)
    undated = repair(tmp_path / "undated", feed.replace(b"Fri, 01 May 2026 10:00:00 GMT", b"soon"), names=[name])
    assert undated.names == [name]
    assert told(undated, "action", "rule", "url") == [("not repaired", "lastmod-invalid", one) for one in "ab"]
    broken = repair(tmp_path / "broken", feed.replace(b"<title>t", b"<title>t & u"), names=[name])
    assert (broken.names, broken.result.kept, broken.result.unread) == ([], 2, 0)
    assert told(broken, "action", "rule", "url") == [("not repaired", "doc-unescaped-ampersand", "")]


CUT_FEEDS = {
    "in the head": ("<rss version='2.0'><channel><title>t</title><li", 0),
    "in the first entry": (f"<rss version='2.0'><channel><title>t</title><item><link>{HOME}a</li", 0),
    "in the second entry": (f"<rss version='2.0'><channel><item><link>{HOME}a</link></item><item><link>{HOME}b", 1),
    "between entries": (f"<rss version='2.0'><channel><item><link>{HOME}a</link></item>", 1),
    "in the first entry of Atom": (f"<feed xmlns='http://www.w3.org/2005/Atom'><entry><link href='{HOME}a'", 0),
}


@pytest.mark.parametrize(("text", "kept"), CUT_FEEDS.values(), ids=CUT_FEEDS)
def test_a_feed_that_is_cut_stays_on_the_server_with_a_row_for_what_is_missing(
    text: str, kept: int, tmp_path: Path
) -> None:
    cut = repair(tmp_path, text.encode(), names=["feed.xml"])
    assert (cut.result.unread, cut.result.kept, cut.names) == (1, kept, [])
    assert told(cut, "action", "rule") == [("unread", "doc-truncated")]
    assert f"{HOME}feed.xml: the file ends" in cut.readme


@pytest.mark.slow
def test_a_file_beyond_the_limits_is_split_and_its_url_becomes_their_index(tmp_path: Path) -> None:
    entries = [page(f"p/{number}", f"<lastmod>2026-05-{number % 20 + 1:02}</lastmod>") for number in range(50_001)]
    outcome = repair(tmp_path, urlset(*entries), names=["big.xml"])
    assert outcome.names == ["big-1.xml", "big-2.xml", "big.xml"]
    assert [written(outcome, name).count("<loc>") for name in outcome.names] == [50_000, 1, 2]
    assert [(row["rule"], row["old"], row["new"]) for row in outcome.rows] == [
        ("limit-urls-exceeded", f"{HOME}big.xml", f"{HOME}big-1.xml {HOME}big-2.xml")
    ]
    index = written(outcome, "big.xml")
    assert f"<loc>{HOME}big-1.xml</loc><lastmod>2026-05-20</lastmod>" in index
    assert f"<loc>{HOME}big-2.xml</loc><lastmod>2026-05-01</lastmod>" in index
    assert outcome.violations() == []


def test_a_file_of_many_bytes_is_split(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert writing.MAX_BYTES == file_bytes.MAX_BYTES, "what is written has no error"
    monkeypatch.setattr(writing, "MAX_BYTES", 100_000)
    outcome = repair(tmp_path, urlset(*(page(f"{number}{'x' * 1900}") for number in range(60))), names=["big.xml"])
    assert outcome.rules == {"doc-too-large"}
    sizes = [len(outcome.data(name)) for name in outcome.names if name != "big.xml"]
    assert len(sizes) == 2
    assert 98_000 < max(sizes) <= 100_000
    assert len(outcome.locs) == 60


def test_gzip_stays_gzip_and_all_on_request(tmp_path: Path) -> None:
    outcome = repair(tmp_path, urlset(page("a")), compress=True)
    assert outcome.names == ["sitemap.xml.gz"]
    assert outcome.locs == [f"{HOME}a"]


@pytest.mark.parametrize(
    ("uri", "rule"),
    [
        (b"http://www.google.com/schemas/sitemap/0.84", "xml-namespace-legacy"),
        (b"https://www.sitemaps.org/schemas/sitemap/0.9", "xml-namespace-legacy"),
        (b"http://www.example.com/sitemap", "xml-namespace-wrong"),
    ],
)
def test_a_root_with_a_wrong_namespace(uri: bytes, rule: str, tmp_path: Path) -> None:
    data = urlset(page("a")).replace(b"http://www.sitemaps.org/schemas/sitemap/0.9", uri, 1)
    outcome = repair(tmp_path, data)
    assert outcome.rules == {rule}
    assert outcome.violations() == outcome.errors() == []


OBJECT = IMAGE.format("i")
IMAGES = "http://www.google.com/schemas/sitemap-image/1.1"


@pytest.mark.parametrize(
    ("uri", "entry"),
    [
        (IMAGES, page("a", OBJECT)),
        (IMAGES, page("a?b&c", OBJECT)),
        (f'{IMAGES}" xmlns:image="{IMAGES}', page("a?b&c", OBJECT)),
        (IMAGES.replace("http:", "https:"), page("a?b&c", OBJECT)),
        ("https://www.sitemaps.org/schemas/sitemap/0.9", page("a?b&c", OBJECT)),
        ("urn:other", page("a", "<lastmod>2024-01-01</url>")[:-6]),
    ],
    ids=["undeclared prefix", "ampersand", "declared prefix", "https of images", "https", "unknown"],
)
def test_a_recovered_entry_below_a_root_with_a_wrong_namespace_is_kept(uri: str, entry: str, tmp_path: Path) -> None:
    outcome = repair(tmp_path, f'<urlset xmlns="{uri}">\n{entry}\n{page("b")}\n</urlset>'.encode())
    assert [loc.partition("?")[0] for loc in outcome.locs] == [f"{HOME}a", f"{HOME}b"]
    assert written(outcome).count("<image:loc>https://example.com/i.png</image:loc>") == entry.count("<image:loc>")
    assert [row for row in outcome.rows if row["action"] == "dropped"] == []
    assert outcome.violations() == outcome.errors() == []


@pytest.mark.parametrize(
    "entry",
    [
        page("a", f"<image:image><image:loc>{HOME}a.png</image:loc>{page('b')}</image:image>"),
        page("a", page("b")),
        page("a", "<lastmod>2026-05-01</lastmod>", page("b", page("c"))),
    ],
    ids=["in an image", "in an entry", "in two entries"],
)
def test_a_nested_entry_becomes_one_of_its_own(entry: str, tmp_path: Path) -> None:
    outcome = repair(tmp_path, urlset(entry))
    assert outcome.locs == [f"{HOME}{path}" for path in "abc"[: entry.count("<url>")]]
    assert outcome.result.dropped == 0
    assert outcome.errors() == outcome.violations() == []


def test_a_nested_sitemap_of_an_index_becomes_one_of_its_own(tmp_path: Path) -> None:
    inner = f"<sitemap><loc>{HOME}2.xml</loc></sitemap>"
    data = f'<sitemapindex xmlns="{CORE}"><sitemap><loc>{HOME}1.xml</loc>{inner}</sitemap></sitemapindex>'
    outcome = repair(tmp_path, data.encode())
    assert written(outcome).count("<sitemap>") == 2
    assert f"\n{inner}\n" in written(outcome)


def test_rules_are_chosen_once_however_many_objects_are_removed(tmp_path: Path) -> None:
    judge_of.cache_clear()
    outcome = repair(tmp_path, urlset(*(page(f"{number}", "<image:image/>") for number in range(200))))
    assert [row["rule"] for row in outcome.rows] == ["image-loc-missing"] * 200
    assert judge_of.cache_info().misses == 2  # of all rules, and of the one that found an error


def test_comments_before_the_first_entry_stay(tmp_path: Path) -> None:
    comments = "<!-- made by x & y -->\n<!-- again -->\n"
    data = (
        urlset(page("a"))
        .decode()
        .replace("<urlset", "<?s x?>\n<!-- top -->\n<urlset")
        .replace("<url>", f"{comments}<url>")
    )
    outcome = repair(tmp_path, data.encode())
    assert written(outcome) == data
    assert outcome.rows == []


def test_comments_around_entries_stay_where_they_were(tmp_path: Path) -> None:
    lines = [
        "<!-- a -->",
        page("a"),
        "<!-- of b: <url> & <loc> -->",
        page("b"),
        "<?x?>",
        "<!-- end -->",
        "</urlset>",
        "<!-- made by x -->",
    ]
    data = urlset(*lines).replace(b"<!-- made by x -->\n</urlset>", b"<!-- made by x -->")
    outcome = repair(tmp_path, data)
    assert outcome.data("sitemap.xml") == data
    assert outcome.rows == []


def test_comments_in_an_index_stay_where_they_were(tmp_path: Path) -> None:
    data = index(f"{HOME}1.xml", f"{HOME}2.xml", f"{HOME}2.xml", f"{HOME}3.xml").decode()
    for number in range(1, 4):
        data = data.replace(f"<sitemap><loc>{HOME}{number}", f"<!-- {number} -->\n<sitemap><loc>{HOME}{number}")
    data = data.replace("</sitemapindex>\n", "<!-- end -->\n</sitemapindex>\n<!-- made by x -->\n")
    outcome = repair(tmp_path, data.encode())
    double = f"<!-- 2 -->\n<sitemap><loc>{HOME}2.xml</loc></sitemap>\n"
    assert written(outcome) == data.replace(double * 2, double + "<!-- 2 -->\n")


@pytest.mark.parametrize(
    "front", ["<?php echo ?>", "<!-- c -->", '<!-- c --><?xml-stylesheet href="s"?>', "<br/>", "PHP notice"]
)
def test_what_may_not_stand_in_front_goes_with_a_row(front: str, tmp_path: Path) -> None:
    data = urlset(page("a"))
    outcome = repair(tmp_path, front.encode() + data)
    assert outcome.data("sitemap.xml") == data
    assert [(row["rule"], row["old"]) for row in outcome.rows] == [("doc-leading-content", front)]


def test_what_is_cut_off_is_told(tmp_path: Path) -> None:
    outcome = repair(tmp_path, urlset(page("a"), page("b"))[:-25])
    assert outcome.result.unread == 1
    assert ("unread", "doc-truncated") in told(outcome)
    assert outcome.locs[:1] == [f"{HOME}a"]
