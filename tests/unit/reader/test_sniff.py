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
    "text",
    [
        "",
        "<",
        "<?xml version='1.0'",
        "<!-- a comment",
        "<urls",
        "<urlset",
        "<urlset xmlns='x",
        "<urlset a='>'",
        "hello",
    ],
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


def test_what_may_stand_before_the_root_is_no_fault() -> None:
    reading = read(f'<?xml version="1.0"?>\n<?xml-stylesheet href="s.xsl"?>\n<!-- by > us -->\n<urlset>\n{GOOD}{END}')
    assert reading.rules == {}
    assert reading.lines == [5]


@pytest.mark.parametrize(
    "doctype",
    [
        "<!DOCTYPE urlset>",
        "<!DOCTYPE urlset SYSTEM 'http://127.0.0.1/x.dtd'>",
        '<!DOCTYPE urlset [<!ENTITY x "a]>b"><!-- ]> --> <!ELEMENT urlset ANY> <?pi ]> ?>]>',
        "<!DOCTYPE urlset [\n<!ENTITY a '<urlset><url><loc>https://e.com/fake</loc></url></urlset>'>\n]>",
    ],
)
def test_a_doctype_is_skipped_whole_and_noted(doctype: str) -> None:
    reading = read(f'<?xml version="1.0"?>{doctype}<urlset>{GOOD}{END}')
    assert reading.locs == ["https://e.com/good"]
    assert reading.rules == {"doc-doctype": 1}


def test_a_doctype_in_lower_case_is_skipped_and_is_an_error() -> None:
    reading = read(f'<?xml version="1.0"?><!doctype urlset><urlset>{GOOD}{END}')
    assert reading.locs == ["https://e.com/good"]
    assert reading.rules == {"doc-doctype": 1, "doc-xml-malformed": 1}


def test_a_doctype_without_end_hides_no_entries_behind_nothing() -> None:
    reading = read(f"<!DOCTYPE urlset [\n<!ENTITY a 'b'>\n{URLSET}{GOOD}{END}")
    assert reading.locs == ["https://e.com/good"]
    assert reading.document.outcome == "recovered"


def test_entities_are_never_expanded() -> None:
    bomb = '<!DOCTYPE u [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;"><!ENTITY c SYSTEM "file:///etc/passwd">]>'
    reading = read(
        f"{bomb}<urlset><url><loc>https://e.com/&b;</loc></url><url><loc>https://e.com/&c;</loc></url>{GOOD}{END}"
    )
    assert reading.locs == ["https://e.com/good"]
    assert reading.rules == {"doc-doctype": 1, "doc-undeclared-entity": 2}


def test_a_root_inside_a_comment_is_none() -> None:
    hidden = f"<!-- <urlset>{GOOD.replace('good', 'hidden')}{END} -->"
    assert read(f"notice {hidden}{URLSET}{GOOD}{END}").locs == ["https://e.com/good"]
    assert read(f"<html>{hidden}</html>").document.format == "html"
    assert later_root(f"rest {hidden}") is None


def test_an_html_page_that_talks_of_sitemaps_is_no_sitemap() -> None:
    page = f"<!doctype html><html><body><pre>{URLSET.replace('<', '&lt;')}</pre><a href='/feed'>RSS</a></body></html>"
    reading = read(page)
    assert (reading.document.format, reading.document.outcome) == ("html", "failed")
    assert reading.document.error == "an HTML page, no sitemap"


def test_an_html_page_with_an_inline_feed_or_svg_is_html() -> None:
    page = "<html><body><rss><channel><item><link>https://e.com/1</link></item></channel></rss></body></html>"
    assert read(page).document.format == "html"


def test_the_prolog_ends_where_something_else_begins() -> None:
    assert skip_prolog("\ufeff <?xml version='1.0'?>\n<!-- c -->\nhello") == (35, False)
    assert skip_prolog("<!DOCTYPE a [<!ENTITY b ']>'>]><urlset>") == (31, True)


@pytest.mark.parametrize("tag", ["<loc>", "<s:url>", "<url\n a='b'>", "<urlset", "<sitemap>", "<s:loc>"])
def test_xml_with_a_url_alone_on_a_line_is_no_text(tag: str) -> None:
    reading = read(f"words {tag} words\nhttps://e.com/1\n")
    assert (reading.document.format, reading.locs) == ("unknown", [])
    assert list(reading.rules) == ["xml-root-unknown"]


def test_a_text_file_that_talks_of_tags_in_its_urls_is_text() -> None:
    assert read("https://e.com/?q=<locate>\nhttps://e.com/url/>\nhttps://e.com/1\n").document.format == "text"


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
