"""The arguments as a form: every one, with its kind, its default and its help, as scrapy-spider-metadata has them."""

from __future__ import annotations

import enum
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from pydantic import BaseModel, Field
from scrapy import Spider
from scrapy_spider_metadata import Args, get_spider_metadata

from sitemapcrawler.audit.argument_schema import schema
from sitemapcrawler.audit.params import ARGUMENTS, ArgumentError, Params
from sitemapcrawler.verification.sampling import MAX_SEED

PROPERTIES: dict[str, dict[str, Any]] = schema()["properties"]
CHOICES = {"probe": ["auto", "always", "never"], "verify": ["off", "head", "get"], "only": ["changes"]}
SWITCHES = {"offline", "verify_offsite", "verify_assets", "fresh", "force"}
NUMBERS = {
    "max_urls": {"type": "integer", "minimum": 1},
    "max_sitemaps": {"type": "integer", "minimum": 1},
    "max_depth": {"type": "integer", "minimum": 0},
    "max_time": {"type": "number", "exclusiveMinimum": 0},
    "seed": {"type": "integer", "minimum": 0, "maximum": MAX_SEED},
}


def kind(name: str) -> dict[str, Any]:
    """What the property says of a value that is given."""
    told = PROPERTIES[name]
    given = {**told["anyOf"][0], **told} if "anyOf" in told else told
    return {key: value for key, value in given.items() if key not in ("anyOf", "default", "title", "description")}


class Probe(enum.Enum):
    AUTO = "auto"
    ALWAYS = "always"
    NEVER = "never"


class Only(enum.Enum):
    CHANGES = "changes"


def like(name: str, default: object, **bounds: int) -> Any:
    """A field of a model that says the same of an argument."""
    told = PROPERTIES[name]
    return Field(default=default, title=told["title"], description=told["description"], **bounds)


class Model(BaseModel):
    domain: str | None = like("domain", None)
    probe: Probe = like("probe", Probe.AUTO)
    max_urls: int | None = like("max_urls", None, ge=1)
    max_depth: int = like("max_depth", 10, ge=0)
    max_time: float | None = like("max_time", None, gt=0)
    agents: str = like("agents", "search,ai")
    only: Only | None = like("only", None)
    fresh: bool = like("fresh", False)


class Modelled(Args[Model], Spider):
    name = "modelled"


def test_shape_is_that_of_a_model() -> None:
    modelled = get_spider_metadata(Modelled, normalize=True)["param_schema"]
    assert {name: PROPERTIES[name] for name in modelled["properties"]} == modelled["properties"]
    assert schema().keys() == modelled.keys()


def test_every_argument_is_a_property_with_its_help() -> None:
    Draft202012Validator.check_schema(schema())
    assert list(PROPERTIES) == [argument.name for argument in ARGUMENTS]
    for argument in ARGUMENTS:
        told = PROPERTIES[argument.name]["description"]
        assert told.lower().startswith(argument.help.lower()) and PROPERTIES[argument.name]["title"]
        assert argument.name in SWITCHES or argument.accepted in told


def test_kinds_are_those_that_are_accepted() -> None:
    texts = PROPERTIES.keys() - CHOICES.keys() - SWITCHES - NUMBERS.keys()
    assert all(kind(name) == {"type": "string"} for name in texts)
    assert all(kind(name) == {"type": "boolean"} for name in SWITCHES)
    assert {name: kind(name) for name in NUMBERS} == NUMBERS
    assert {name: kind(name) for name in CHOICES} == {
        name: {"type": "string", "enum": choices} for name, choices in CHOICES.items()
    }


def test_defaults_are_those_without_an_argument() -> None:
    defaults = {name: told["default"] for name, told in PROPERTIES.items() if told["default"] is not None}
    assert defaults.keys() == {argument.name for argument in ARGUMENTS if argument.default}
    assert Params.parse({"domain": "e.com", **defaults}) == Params.parse({"domain": "e.com"})
    for name, default in defaults.items():
        Draft202012Validator(kind(name)).validate(default)


@pytest.mark.parametrize("name", NUMBERS)
def test_bounds_are_those_of_the_argument(name: str) -> None:
    beside = {"domain": "e.com", "verify": "head", "sample": "5"}
    bounds = NUMBERS[name]
    low, high = bounds.get("minimum", 0), bounds.get("maximum")
    for fits in [low + 0.5 if "exclusiveMinimum" in bounds else low, *([high] if high else [])]:
        assert Params.parse({**beside, name: fits})
    for wrong in [low if "exclusiveMinimum" in bounds else low - 1, *([high + 1] if high else [])]:
        with pytest.raises(ArgumentError):
            Params.parse({**beside, name: wrong})
