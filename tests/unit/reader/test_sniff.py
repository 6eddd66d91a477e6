"""What a document is, by its content alone."""

from __future__ import annotations

import pytest

from sitemapcrawler.reader.sniff import blank_sections, later_root, skip_prolog, sniff
from tests.unit.reader.reading import CORE, END, GOOD, URLSET, read

HTML = "<html><head><title>Not found</title></head><body><p>Sorry</p></body></html>"


@pytest.mark.parametrize(
    ("text", "format"),
    [
        (f'<urlset xmlns="{CORE}">', "xml-urlset"),
        ("<urlset>", "xml-urlset"),
        ("<urlset/>", "xml-urlset"),
        ("<s:urlset xmlns:s='x'>", "xml-urlset"),
        ("<sitemapindex>", "xml-index"),
        ("<rss version='2.0'>", "rss"),
        ('<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#">', "rss"),
        ("<feed xmlns='http://www.w3.org/2005/Atom'>", "atom"),
        ("<feed version='0.3' xmlns='http://purl.org/atom/ns#'>", "atom"),
        ("https://e.com/1\nhttps://e.com/2", "text"),
        ("HTTPS://e.com/1", "text"),
        ("//e.com/1", "text"),
        ("  https://e.com/1", "text"),
        ("\n\n# our pages\nhttps://e.com/1", "text"),
        ("List of pages\nhttps://e.com/1\n", "text"),
        (HTML, "html"),
        ("<!DOCTYPE html>" + HTML, "html"),
        ("<!-- cached --><HTML LANG='de'>", "html"),
        ("<div>maintenance</div>", "html"),
        ("<?xml version='1.0'?><!DOCTYPE html PUBLIC '-//W3C//DTD XHTML 1.0'><html xmlns='x'>", "html"),
        ("<h1>404</h1><script>x</script>", "html"),
        ("<html><body><rss><channel><item><link>https://e.com/1</link></item></channel></rss></body></html>", "html"),
        ("https://e.com/?q=<locate>\nhttps://e.com/url/>\nhttps://e.com/1\n", "text"),
        ("Warning: mysql\n<html><body></body></html>", "html"),
        ("<error><code>404</code></error>", "unknown"),
        ("<urlsets>", "unknown"),
        ("<my-urlset>", "unknown"),
        ('{"urls": []}', "unknown"),
        ("User-agent: *\nSitemap: https://e.com/sitemap.xml", "unknown"),
        ("%PDF-1.7", "unknown"),
        ("", "unknown"),
        ("\ufeff \n", "unknown"),
    ],
)
def test_the_kind_is_told_by_the_content(text: str, format: str) -> None:
    head = sniff(text, complete=True)
    assert head is not None
    assert head.format == format


@pytest.mark.parametrize(
    "text", ["", "<", "<?xml version='1.0'", "<!-- a", "<urls", "<urlset", "<urlset xmlns='x", "<urlset a='>'", "hello"]
)
def test_a_beginning_that_may_become_anything_wants_more(text: str) -> None:
    assert sniff(text, complete=False) is None


def test_the_root_may_hold_a_greater_than_sign_in_its_attributes() -> None:
    text = "<urlset a='1 > 2' b=\"'>\">"
    head = sniff(text + GOOD, complete=False)
    assert head is not None
    assert (head.start, head.end) == (0, len(text))
    assert head.attributes == " a='1 > 2' b=\"'>\""


def test_prefix_and_name_are_told_apart() -> None:
    head = sniff("<sm:sitemapindex xmlns:sm='x'>", complete=True)
    assert head is not None
    assert (head.prefix, head.name, head.tag) == ("sm", "sitemapindex", "sm:sitemapindex")


PROLOG = '<?xml version="1.0"?>'
EXPANDED = '<!DOCTYPE u [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;"><!ENTITY c SYSTEM "file:///etc/passwd">]>'
FAKE = "<!ENTITY a '<urlset><url><loc>https://e.com/fake</loc></url></urlset>'>"
BEFORE_ENTRIES = {
    "stylesheet and comment": (f'{PROLOG}\n<?xml-stylesheet href="s.xsl"?>\n<!-- by > us -->\n<urlset>\n', {}),
    "DOCTYPE": (f"{PROLOG}<!DOCTYPE urlset><urlset>", {"doc-doctype": 1}),
    "DTD": (f"{PROLOG}<!DOCTYPE urlset SYSTEM 'http://127.0.0.1/x.dtd'><urlset>", {"doc-doctype": 1}),
    "declarations": (
        f'{PROLOG}<!DOCTYPE urlset [<!ENTITY x "a]>b"><!-- ]> --> <!ELEMENT urlset ANY> <?pi ]> ?>]><urlset>',
        {"doc-doctype": 1},
    ),
    "entries in an entity": (f"{PROLOG}<!DOCTYPE urlset [\n{FAKE}\n]><urlset>", {"doc-doctype": 1}),
    "lower case": (f"{PROLOG}<!doctype urlset><urlset>", {"doc-doctype": 1, "doc-xml-malformed": 1}),
    "entities that are used": (
        f"{EXPANDED}<urlset><url><loc>https://e.com/&b;</loc></url><url><loc>https://e.com/&c;</loc></url>",
        {"doc-doctype": 1, "doc-undeclared-entity": 2},
    ),
}


@pytest.mark.parametrize(("start", "rules"), BEFORE_ENTRIES.values(), ids=BEFORE_ENTRIES)
def test_what_stands_before_the_entries_is_skipped_whole(start: str, rules: dict[str, int]) -> None:
    reading = read(f"{start}{GOOD}{END}")
    assert reading.locs == ["https://e.com/good"]
    assert reading.lines == [start.count("\n") + 1]
    assert reading.rules == rules


def test_a_doctype_without_end_hides_no_entries_behind_nothing() -> None:
    reading = read(f"<!DOCTYPE urlset [\n<!ENTITY a 'b'>\n{URLSET}{GOOD}{END}")
    assert reading.locs == ["https://e.com/good"]
    assert reading.document.outcome == "recovered"


def test_a_root_inside_a_comment_is_none() -> None:
    hidden = f"<!-- <urlset>{GOOD.replace('good', 'hidden')}{END} -->"
    assert read(f"notice {hidden}{URLSET}{GOOD}{END}").locs == ["https://e.com/good"]
    assert read(f"<html>{hidden}</html>").document.format == "html"
    assert later_root(f"rest {hidden}") is None


def test_an_html_page_that_talks_of_sitemaps_is_no_sitemap() -> None:
    page = f"<!doctype html><html><body><pre>{URLSET.replace('<', '&lt;')}</pre><a href='/feed'>RSS</a></body></html>"
    reading = read(page)
    assert (reading.document.format, reading.document.outcome) == ("html", "failed")
    assert reading.document.error == "an HTML page, not a sitemap"


def test_the_prolog_ends_where_something_else_begins() -> None:
    assert skip_prolog("\ufeff <?xml version='1.0'?>\n<!-- c -->\nhello") == (35, False)
    assert skip_prolog("<!DOCTYPE a [<!ENTITY b ']>'>]><urlset>") == (31, True)


@pytest.mark.parametrize("tag", ["<loc>", "<s:url>", "<url\n a='b'>", "<urlset", "<sitemap>", "<s:loc>"])
def test_xml_with_a_url_alone_on_a_line_is_no_text(tag: str) -> None:
    reading = read(f"words {tag} words\nhttps://e.com/1\n")
    assert (reading.document.format, reading.locs) == ("unknown", [])
    assert list(reading.rules) == ["xml-root-unknown"]


def test_a_document_that_never_begins_is_given_up_after_the_limit() -> None:
    reading = read(b"<!-- " + b"x" * (3 << 20) + b" -->" + (URLSET + GOOD + END).encode(), size=1 << 16)
    assert reading.document.format == "unknown"
    assert reading.document.outcome == "failed"


@pytest.mark.parametrize(
    ("text", "hidden"),
    [
        ("a<!--b", "a     "),
        ("<?a>b<?c", "    b   "),
        ("<?a>b?>c<?d>e", "       c    e"),
        ("<?>b<!-->c", "   b      "),
        ("<![CDATA[a]]>b<![CDATA[<?c?>", "             b              "),
    ],
)
def test_sections_are_blanked_also_without_an_end(text: str, hidden: str) -> None:
    assert blank_sections(text) == hidden


class Searched(str):
    """A text that counts the characters that searches for the ends of sections pass over."""

    passed = 0

    def find(self, sub: str, start: int = 0, end: int | None = None) -> int:  # type: ignore[override]
        found = super().find(sub, start)
        self.passed += (len(self) if found < 0 else found) - start
        return found


@pytest.mark.parametrize("part", ["<?a>", "<?", "<!--", "<![CDATA[", "?><?"])
def test_sections_without_end_are_searched_once(part: str) -> None:
    text = Searched("<html>" + part * 2_000)
    blank_sections(text)
    assert text.passed <= len(text)
