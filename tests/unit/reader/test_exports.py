"""Lists of other programs: recognised by content, in any encoding, with the URLs of their pages."""

from __future__ import annotations

import gzip
import io
import json
from pathlib import Path
from zipfile import ZipFile

import pytest

from sitemapcrawler.feeds.columns import Cells, cell_reader
from sitemapcrawler.items import IndexStatus
from sitemapcrawler.reader.lists import LEFT_OUT, UNREAD, ExportRow, cleaned, read_export
from sitemapcrawler.reader.rows import MAX_LINE, Rows
from sitemapcrawler.replies.indexability import UNKNOWN, Indexability

SITE = "https://example.com"
FROG = (
    '"Address","Content Type","Status Code","Status","Indexability","Title 1"\n'
    f'"{SITE}/a","text/html; charset=utf-8","200","OK","Indexable","A, and\nmore"\n'
    f'"{SITE}/b","text/html","301","Moved Permanently","Non-Indexable",""\n'
    f'"{SITE}/c","text/html","200","OK","Non-Indexable",""\n'
    f'"{SITE}/d.png","image/png","200","OK","Indexable",""\n'
    f'"{SITE}/e","text/html","404","Not Found","Non-Indexable",""\n'
)
GA4 = (
    "# ----------------------------------------\n# Pages and screens: Page path and screen class\n# Account: Example\n"
    "# Start date: 20260101\n# ----------------------------------------\n\n"
    "Page path and screen class,Views,Users\n/,120,80\n/shop/?utm_source=mail&x=1,3,2\n(not set),1,1\n"
)
LONG = "x" * 140_000
FROG_ROWS = [f"{SITE}/a", *(f"{LEFT_OUT}{SITE}/{path}" for path in ("b", "c", "d.png", "e"))]
LISTS = {
    "frog": (FROG, "Screaming Frog", FROG_ROWS),
    **{
        f"frog, {language}": (
            FROG.replace(FROG.partition("\n")[0], header).replace("Non-Indexable", no), "CSV", FROG_ROWS)
        for language, header, no in (
            ("German", "Adresse,Inhaltstyp,Statuscode,Status,Indexierbarkeit,Titel 1", "Nicht indexierbar"),
            ("French", "Adresse,Type de contenu,Code de réponse,Statut,Indexabilité,Titre 1", "Non indexable"),
            ("Spanish", "Dirección,Tipo de contenido,Código de respuesta,Estado,Indexabilidad,Título 1", "No indexable"),
            ("Italian", "Indirizzo,Tipo di contenuto,Codice di stato,Stato,Indicizzabilità,Titolo 1", "Non indicizzabile"),
        )
    },
    "frog with a title": (f'"Internal - HTML"\n{FROG}', "Screaming Frog", FROG_ROWS),
    "search console, performance": (
        f"Top pages,Clicks,Impressions,CTR,Position\n{SITE}/a,10,100,10%,1.2\n", "Search Console", [f"{SITE}/a"]),
    "search console, indexing": (f"URL,Last crawled\n{SITE}/a,2026-05-01\n", "Search Console", [f"{SITE}/a"]),
    "search console, in another language": (
        f"Die häufigsten Seiten,Klicks,Impressionen\n{SITE}/a,10,100\n{SITE}/b,1,2\n", "CSV", [f"{SITE}/a", f"{SITE}/b"]),
    "another language, with cells of several lines": (
        f'"Adresse";"Titel";"Aufrufe"\n"{SITE}/a";"A; und\nmehr";"1"\n"{SITE}/b";"B";"2"\n', "CSV", [f"{SITE}/a", f"{SITE}/b"]),
    "another language, the last column": (
        f'リンク,タイトル,アドレス\n1,"A\nB",{SITE}/a\n2,,{SITE}/b\n', "CSV", [f"{SITE}/a", f"{SITE}/b"]),
    "another language, behind the line for Excel": (f"sep=;\nAdresse;Titel\n{SITE}/a;A\n", "CSV", [f"{SITE}/a"]),
    "no header, with cells of several lines": (
        f'"{SITE}/a","A\nB","1"\n"{SITE}/b","B","2"\n', "CSV", [f"{SITE}/a", f"{SITE}/b"]),
    "quotes of an unknown table": (f'"{SITE}/a";"A"\n"{SITE}/b";"B"\n', "text", [UNREAD, UNREAD]),
    "ga4, in another language": (
        "# ----\n# Seiten\n# ----\n\nSeitenpfad und Bildschirmklasse,Aufrufe\n/,120\n\"/a,b\",3\n,123\n", "GA4",
        ["/", "/a,b", UNREAD]),
    "paths below a title": ("My pages\n/a,b\n/c,d\n", "text", [UNREAD, "/a,b", "/c,d"]),
    "ga4": (GA4, "GA4", ["/", "/shop/?x=1", UNREAD]),
    "semicolons": (f"Titel;URL;Aufrufe\nA;{SITE}/a;1\n", "CSV", [f"{SITE}/a"]),
    "tabs": (f"url\tviews\n{SITE}/a\t1\n", "CSV", [f"{SITE}/a"]),
    "our own feed": (f"type,loc\nurl,{SITE}/a\nsitemap,{SITE}/s.xml\n", "CSV", [f"{SITE}/a", f"{LEFT_OUT}{SITE}/s.xml"]),
    "backlinks of Ahrefs": (
        '"Referring page URL","Domain rating","Target URL","Anchor"\n'
        f'"https://other.example/","72","{SITE}/a","x"\n"https://third.example/","2","{SITE}/b","x"\n',
        "CSV", [f"{SITE}/a", f"{SITE}/b"]),
    "audit of Ahrefs": (
        f"PR\tURL\tHTTP status code\tIs indexable page\n50\t{SITE}/a\t200\ttrue\n5\t{SITE}/b\t200\tfalse\n",
        "CSV", [f"{SITE}/a", f"{LEFT_OUT}{SITE}/b"]),
    "rows that are not indexable": (
        f"loc,indexable\n{SITE}/a,true\n{SITE}/b,false\n{SITE}/c,\n", "CSV", [f"{SITE}/a", f"{LEFT_OUT}{SITE}/b", f"{SITE}/c"]),
    "statuses of other crawlers": (
        f"url,status,HTTP Status Code\n{SITE}/a,1,200\n{SITE}/b,301,\n{SITE}/c,,503\n{SITE}/d,live,\n", "CSV",
        [f"{SITE}/a", f"{LEFT_OUT}{SITE}/b", f"{LEFT_OUT}{SITE}/c", f"{SITE}/d"]),
    "a feed with URLs that only the baseline listed": (
        f"loc,indexable,change\n{SITE}/a,true,unchanged\n{SITE}/b,,removed\n", "CSV", [f"{SITE}/a", f"{LEFT_OUT}{SITE}/b"]),
    "a content system": (
        f"id,type,url,Content Type\n1,page,{SITE}/a,News/Press\n2,page,{SITE}/b,application/pdf\n", "CSV",
        [f"{SITE}/a", f"{LEFT_OUT}{SITE}/b"]),
    "no header": (f"{SITE}/a,12\n{SITE}/b,3\n", "CSV", [f"{SITE}/a", f"{SITE}/b"]),
    "text": (f"# mine\n{SITE}/a,b\n\n{SITE}/c#d\nno url\n", "text", [f"{SITE}/a,b", f"{SITE}/c", UNREAD]),
    "names with underscores": (f"status_code,Page_Location\n200,{SITE}/a\n404,{SITE}/b\n", "CSV", [f"{SITE}/a", f"{LEFT_OUT}{SITE}/b"]),
    "names with capitals": (
        f"pageUrl,statusCode,isIndexable\n{SITE}/a,200,1\n{SITE}/b,404,1\n{SITE}/c,200,0\n", "CSV",
        [f"{SITE}/a", f"{LEFT_OUT}{SITE}/b", f"{LEFT_OUT}{SITE}/c"]),
    "numbered rows, statuses with their reasons": (
        f'"#","URL","Status-Code"\n"1","{SITE}/a","200 OK"\n"2","{SITE}/b","404 Not Found"\n', "CSV",
        [f"{SITE}/a", f"{LEFT_OUT}{SITE}/b"]),
    "numbered rows without quotes": (f"#;URL\n1;{SITE}/a\n# 2;{SITE}/b\n#\n", "CSV", [f"{SITE}/a"]),
    "hosts before paths": (f"hostname,pathname,views\n{SITE},/a,3\n", "CSV", ["/a"]),
    "a content system with two addresses": (f"guid,permalink\n{SITE}/?p=1,{SITE}/a\n", "CSV", [f"{SITE}/a"]),
    "paths": ("/a\n/b\n", "text", ["/a", "/b"]),
    "lines of JSON": (f'{{"url": "{SITE}/a"}}\n\n{{"keys": ["{SITE}/b", "DESKTOP"]}}\n{{"url": 1}}\nbroken\n', "JSON lines",
                      [f"{SITE}/a", f"{SITE}/b", UNREAD, UNREAD]),
    "a title longer than the csv module takes by itself": (
        f"Adresse,Titel\n{SITE}/a,{LONG}\n{SITE}/b,x\n", "CSV", [f"{SITE}/a", f"{SITE}/b"]),
    "such a title without a header": (f"{SITE}/a,{LONG},1\n{SITE}/b,x,2\n", "CSV", [f"{SITE}/a", f"{SITE}/b"]),
    "such a comment": (f"# {LONG}\n{SITE}/a\n", "text", [f"{SITE}/a"]),
    "such a line": (f"/a\n{LONG}\n/b\n", "text", ["/a", UNREAD, "/b"]),
    "quotes without an end": (
        f'Address,Title 1,Status Code\n{SITE}/a,"open,200\n{SITE}/b,x,200\n{SITE}/c,"y, z",404\n', "Screaming Frog",
        [f"{SITE}/a", f"{SITE}/b", f"{LEFT_OUT}{SITE}/c"]),
    "a title with a URL": (f"Pages of {SITE}/\nURL,Views\n{SITE}/a,1\n", "CSV", [f"{SITE}/a"]),
    "text with more behind a URL": (f"'{SITE}/a' b\n  # mine\n\"{SITE}/b\"\n", "text", [f"{SITE}/a", f"{SITE}/b"]),
    "statuses as numbers": (f'{{"url": "{SITE}/a", "Status Code": 404}}\n', "JSON lines", [f"{LEFT_OUT}{SITE}/a"]),
    "JSON lines, the first damaged": (f'{{"page": \n{{"page": "{SITE}/b"}}\n', "JSON lines", [UNREAD, f"{SITE}/b"]),
    "JSON": (f'[{{"page": "{SITE}/a"}}, "{SITE}/b"', "JSON", [f"{SITE}/a", f"{SITE}/b", UNREAD]),
}  # fmt: skip


def zipped(files: dict[str, str]) -> bytes:
    """A ZIP file with these tables, not compressed."""
    data = io.BytesIO()
    with ZipFile(data, "w") as archive:
        for name, text in files.items():
            archive.writestr(name, text)
    return data.getvalue()


def urls(export: Rows[ExportRow]) -> list[str]:
    return [row.url for row in export.rows]


@pytest.mark.parametrize("name", LISTS)
@pytest.mark.parametrize("form", ["utf-8", "utf-8-sig", "utf-16", "gzip", "crlf"])
def test_lists_are_recognised(name: str, form: str) -> None:
    text, format, rows = LISTS[name]
    data = text.replace("\n", "\r\n").encode() if form == "crlf" else text.encode("utf-8" if form == "gzip" else form)
    export = read_export(io.BytesIO(gzip.compress(data) if form == "gzip" else data))
    assert export.format == format
    assert urls(export) == rows


def test_own_feed_is_read_as_it_was_before_it_was_protected() -> None:
    url = f"{SITE}/?a=1;-b"
    data = f"type,loc\nurl,{Cells().disarmed(url)}\n".encode()
    assert url.encode() not in data
    assert urls(read_export(io.BytesIO(data), cells=cell_reader)) == [url]


def test_parquet(tmp_path: Path) -> None:
    pyarrow = pytest.importorskip("pyarrow")
    path = tmp_path / "list [1]*?.parquet"
    rows = {"Page": [f"{SITE}/a", None], "type": ["url", "url"]}
    pytest.importorskip("pyarrow.parquet").write_table(pyarrow.table(rows), path)
    with path.open("rb") as file:
        export = read_export(file, str(path))
        assert (export.format, urls(export)) == ("Parquet", [f"{SITE}/a", UNREAD])


PERFORMANCE = {
    "Chart.csv": "Date,Clicks\n2026-11-01,5\n",
    "Queries.csv": "Top queries,Clicks\nshoes,5\n",
    "Pages.csv": f"Top pages,Clicks,Impressions,CTR,Position\n{SITE}/a?utm_source=x,5,60,8%,4.1\n{SITE}/b,0,9,0%,40\n",
    "Filters.csv": "Filter,Value\nSearch type,Web\nDate,Last 3 months\n",
}
ISSUE = {
    "Diagramm.csv": "Datum,Betroffene Seiten\n2026-11-01,1\n2026-11-02,1\n",
    "Tabelle.csv": f"URL,Last crawled\n{SITE}/a,2026-11-01\n",
    "Metadaten.csv": f"\ufeffEigenschaft,Wert\nSitemap,{SITE}/sitemap.xml\nProblem,Nicht gefunden (404)\n",
}


@pytest.mark.parametrize(
    ("files", "rows"),
    [
        (PERFORMANCE, [ExportRow(f"{SITE}/a", None, 5), ExportRow(f"{SITE}/b", None, 0)]),
        (ISSUE, [ExportRow(f"{SITE}/a", IndexStatus(None, "Nicht gefunden (404)", None, "2026-11-01T00:00:00Z"))]),
        (
            {**ISSUE, "Metadaten.csv": "Eigenschaft\n"},
            [ExportRow(f"{SITE}/a", IndexStatus(last_crawl="2026-11-01T00:00:00Z"))],
        ),
    ],
    ids=["performance", "pages with an issue", "pages without a reason"],
)
def test_archive_of_search_console(files: dict[str, str], rows: list[ExportRow]) -> None:
    assert list(read_export(io.BytesIO(zipped(files))).rows) == rows


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"", "is empty"),
        (b"\n \n", "is empty"),
        (b"<urlset/>", "is XML or HTML"),
        (b"PK\x03\x04", "is an archive that cannot be read: File is not a zip file"),
        (zipped({"Queries.csv": "Top queries,Clicks\nshoes,5\n"}), "has no table of pages; it contains 'Queries.csv'"),
        (zipped({"Queries.json": "{}"}), "has no table of pages; it contains no CSV files"),
        (zipped({"[Content_Types].xml": "", "xl/workbook.xml": ""}), "is a spreadsheet; save it as CSV"),
        (zipped({"Pages.csv": f"Top pages\n{SITE}/a\n"}).replace(b"/a", b"/b"), "cannot be read: Bad CRC-32"),
        (b"name,views\na,1\n", "has no column with URLs; its columns are 'name', 'views'"),
        (b"hello world\n", "has no column with URLs"),
        (b'{"name": "a", "views": 1}\n' * 3, "has no column with URLs; its columns are 'name', 'views'"),
        (b'[{"name": "a"}, {"name": "b"}]', "has no column with URLs; its columns are 'name'"),
        (b'{"keys": ["shoes"]}\n', "has no column with URLs; its columns are 'keys'"),
        (
            json.dumps({"urls": [SITE]}, indent=2).encode(),
            "is a JSON object over several lines; accepted: a JSON array",
        ),
        (b"# only comments\n", "comments alone"),
        (b"PAR1 broken", "is damaged Parquet"),
        (LONG.encode(), "has no column with URLs; its columns are 'xxx"),
        (bytes(MAX_LINE + 1), "has a first line of more than 16,777,216 characters"),
    ],
)
def test_what_is_no_list_is_refused(data: bytes, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        read_export(io.BytesIO(data))


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("https://example.com/a?utm_source=x&utm_medium=y", "https://example.com/a"),
        ("https://example.com/a?b=1&fbclid=2#top", "https://example.com/a?b=1"),
        ("https://example.com/a?gclid=1&b=2", "https://example.com/a?b=2"),
        ("https://example.com/a?not_utm_source=1", "https://example.com/a?not_utm_source=1"),
        (" HTTPS://example.com/a ", "HTTPS://example.com/a"),
        ("ftp://example.com/", UNREAD),
        ("mailto:a@example.com", UNREAD),
        ("(other)", UNREAD),
        ("/a b", UNREAD),
    ],
)
def test_urls_lose_what_is_no_part_of_the_page(written: str, read: str) -> None:
    assert cleaned(written) == read


def test_a_damaged_end_and_a_huge_line_are_rows_without_a_url() -> None:
    data = gzip.compress(f"url\n{SITE}/a\n{'x' * 100_000}\n{SITE}/b\n".encode())
    assert urls(read_export(io.BytesIO(data))) == [f"{SITE}/a", UNREAD, f"{SITE}/b"]
    assert urls(read_export(io.BytesIO(data[:-12])))[:1] == [f"{SITE}/a"]


def test_clicks_of_search_console_are_read() -> None:
    data = f'Top pages,Clicks,Impressions\n{SITE}/a,"1,204",9\n{SITE}/b,0,1\n{SITE}/c,many,1\n{SITE}/d\n'.encode()
    assert [row.clicks for row in read_export(io.BytesIO(data)).rows] == [1204, 0, None, None]


@pytest.mark.parametrize(
    "table",
    [
        'Pages les plus populaires,Clics,Impressions,CTR,Position\n{url},"1\u202f204","30\u202f512","3,9 %","7,4"',
        "Die häufigsten Seiten,Klicks,Impressionen,CTR,Position\n{url},1.204,3000,6.67%,5.1",
        "Páginas principales,Clics,Impresiones,CTR,Posición\n{url},1204,120,2.5%,14.2",
        "Самые популярные страницы,Клики,Показы,CTR,Позиция\n{url},1\xa0204,40,7.5%,8",
        '上位のページ,クリック数,表示回数,CTR,掲載順位\n{url},"1,204",1400,6.86%,4.1',
        "Top pages,Last 28 days Clicks,Previous 28 days Clicks\n{url},1204,1",
    ],
    ids=["French", "German", "Spanish", "Russian", "Japanese", "comparison"],
)
def test_clicks_are_read_in_other_languages(table: str) -> None:
    [row] = read_export(io.BytesIO(table.format(url=f"{SITE}/a").encode())).rows
    assert (row.url, row.clicks) == (f"{SITE}/a", 1204)


@pytest.mark.parametrize("value", Indexability)
def test_reasons_of_our_own_records(value: Indexability) -> None:
    known = {Indexability.OK: "true", **dict.fromkeys(UNKNOWN, "")}
    text = f"loc,indexability,indexable\n{SITE}/a,{value},\n{SITE}/b,,{known.get(value, 'false')}\n"
    one, other = read_export(io.BytesIO(text.encode())).rows
    assert one.url.startswith(LEFT_OUT) is other.url.startswith(LEFT_OUT) is (value not in known)
