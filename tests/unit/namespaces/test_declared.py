"""A namespace that is declared from outside the package."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any

import pytest

from sitemapcrawler.items import UrlRecord, objects_in
from sitemapcrawler.namespaces import Namespace, declared, find, nested, plugged, plugins, register, uri_of
from sitemapcrawler.namespaces.declared import NAMESPACES
from tests.unit.namespaces.entry import URIS, page
from tests.unit.reader.reading import CORE, read
from tests.unit.rules.judging import judge

TOY = "https://toys.example/schemas/sitemap-toy/1.0"
SCHEMA = f"""<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema" targetNamespace="{TOY}" elementFormDefault="qualified">
<xs:element name="toy"><xs:complexType><xs:sequence>
<xs:element name="name" type="xs:string"/>
<xs:element name="age" type="xs:integer" minOccurs="0"/>
</xs:sequence></xs:complexType></xs:element>
</xs:schema>"""


@dataclass
class Toy:
    name: str | None = None
    age: str | None = None
    price: dict[str, str] | None = None
    maker: dict[str, str] | None = field(default=None, metadata={"read": nested})
    tag: list[str] = field(default_factory=list)
    extra: list[dict[str, Any]] = field(default_factory=list)


def toys(**given: Any) -> Namespace:
    return Namespace(**{"uri": TOY, "prefix": "toy", "field": "toys", "kind": Toy, "word": "sitemap-toy", **given})


@pytest.fixture(autouse=True)
def catalogue() -> Iterator[None]:
    """The namespaces as they were, afterwards."""
    before = dict(NAMESPACES)
    yield
    NAMESPACES.clear()
    NAMESPACES.update(before)
    for answer in (find, declared, plugged):
        answer.cache_clear()


def record(parts: str) -> UrlRecord:
    return page(parts, {**URIS, "toy": TOY})


def test_objects_are_dicts_in_extra_by_the_name_of_their_namespace() -> None:
    namespace = register(toys())
    found = record(
        "<toy:toy><toy:name> Ball </toy:name><toy:price currency='EUR'>5</toy:price><toy:tag>a</toy:tag><toy:tag>b</toy:tag>"
        "<toy:maker><toy:town>Oslo</toy:town></toy:maker><toy:odd/></toy:toy><toy:toy/><o:x/><toy:box/>"
    )
    ball = {
        "name": "Ball",
        "price": {"value": "5", "currency": "EUR"},
        "maker": {"town": "Oslo"},
        "tag": ["a", "b"],
        "extra": [{"name": "odd"}],
    }
    assert found.extra == {"toys": [ball, {}], "urn:other": [{"name": "x"}], TOY: [{"name": "box"}]}
    assert namespace.objects(found) == [ball, {}]
    assert objects_in(found) == {"toys": 2}
    assert (plugged(), namespace in declared(), uri_of("toy")) == ((namespace,), True, TOY)


def test_second_object_of_a_single_namespace_stays_a_tree() -> None:
    register(toys(single=True))
    found = record("<toy:toy><toy:name>a</toy:name></toy:toy><toy:toy><toy:name>b</toy:name></toy:toy>")
    assert found.extra == {
        "toys": [{"name": "a"}],
        TOY: [{"name": "toy", "children": [{"name": "name", "value": "b"}]}],
    }


def test_objects_beside_images_are_counted_in_the_file() -> None:
    register(toys())
    image = "<i:image><i:loc>https://e.com/i</i:loc></i:image>"
    uris = f'xmlns:t="{TOY}" xmlns:i="{URIS["image"]}"'
    reading = read(
        f'<urlset xmlns="{CORE}" {uris}>{f"<url><loc>https://e.com/1</loc>{image}<t:toy/></url>" * 3}</urlset>'
    )
    counts = reading.document.counts
    assert (counts.images, counts.extra, counts.number("toys"), counts.number("news")) == (3, {"toys": 3}, 3, 0)


def test_undeclared_prefix_means_the_namespace() -> None:
    register(toys())
    reading = read(
        f'<urlset xmlns="{CORE}"><url><loc>https://e.com/1</loc><toy:toy><toy:name>a</toy:name></toy:toy></url></urlset>'
    )
    [found] = reading.records
    assert isinstance(found, UrlRecord)
    assert (found.extra, found.recovered) == ({"toys": [{"name": "a"}]}, True)


def findings(parts: str, uri: str = TOY) -> list[tuple[str, str, int | None]]:
    text = f'<urlset xmlns="{CORE}" xmlns:toy="{uri}">\n<url><loc>https://example.com/1</loc>{parts}</url></urlset>'
    return [(one.rule, one.message, one.line) for one in judge(text.encode()) if one.rule.startswith("xml-")]


def test_misspelt_uri_is_read_and_reported() -> None:
    register(toys(noun="toy of the shop"))
    [(rule, message, _)] = findings("<toy:toy/>", TOY.replace("https:", "http:"))
    assert (rule, message.partition(":")[0]) == ("xml-ext-namespace-wrong", "1 toy of the shop is ignored")


def test_schema_of_a_plugin_is_applied_to_its_elements(tmp_path: Path) -> None:
    (tmp_path / "toy.xsd").write_text(SCHEMA)
    register(toys(schema=tmp_path / "toy.xsd"))
    assert findings("<toy:toy><toy:name>a</toy:name><toy:age>5</toy:age></toy:toy>") == []
    [(rule, message, line)] = findings("<toy:toy>\n<toy:name>a</toy:name>\n<toy:age>old</toy:age></toy:toy>")
    assert (rule, line) == ("xml-schema-violation", 4) and message.startswith("Element 'age': 'old' is not a valid")
    [(_, message, line)] = findings("\n<toy:toy><toy:age>5</toy:age></toy:toy>")
    assert line == 3 and "This element is not expected" in message


def test_without_a_schema_the_structure_is_not_checked() -> None:
    register(toys())
    assert findings("<toy:toy><toy:x/>text</toy:toy><toy:box a='b'/>") == []


@pytest.mark.parametrize(
    ("given", "why"),
    [
        ({"uri": URIS["image"]}, "two namespaces have the uri http://www.google.com/schemas/sitemap-image/1.1"),
        ({"prefix": "news"}, "two namespaces have the prefix news"),
        ({"field": "alternates"}, "two namespaces have the field alternates"),
        ({"field": "urn:toys"}, "the field 'urn:toys' of a namespace is not an identifier"),
    ],
)
def test_what_is_taken_is_refused(given: dict[str, str], why: str) -> None:
    with pytest.raises(ValueError) as error:
        register(toys(**given))
    assert str(error.value) == why
    assert plugged() == ()


def test_plugin_that_cannot_be_imported_is_an_error_each_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "toy_broken.py").write_text("raise RuntimeError('a\\nb')")
    metadata = tmp_path / "toy_broken-1.0.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: toy-broken\nVersion: 1.0\n")
    (metadata / "entry_points.txt").write_text("[toys.example]\nbroken = toy_broken\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setattr(plugins, "_all", entry_points)  # it may have been asked before
    for _ in range(2):
        with pytest.raises(ValueError) as error:
            plugins.load("toys.example")
        assert str(error.value) == "plug-in broken = 'toy_broken' in toys.example: RuntimeError: a b"
