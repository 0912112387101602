"""The JSON schema of a profile says the same as what reads profiles."""

import math
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from jsonschema import Draft202012Validator

from gpupanel.domain.optimizer import Optimizer
from gpupanel.domain.problem import ProblemError
from gpupanel.domain.profile import Profile
from gpupanel.domain.profile_schema import EXTENDED, EXTENSION, profile_schema
from gpupanel.domain.profile_toml import dump_profile, parse_profile, profile_from_document
from tests.fakes.every_setting import UnknownProfile
from tests.fuzz.mutations import with_odd_values
from tests.guide.pages import guide_blocks
from tests.unit.domain.test_profile_toml import profiles

ROOT = Path(__file__).parents[3]
EXAMPLES = sorted((ROOT / "resources" / "profiles").glob("*.toml"))
GUIDE_BLOCKS = [block.text for block in guide_blocks("toml")]
SCHEMA = profile_schema()
VALIDATOR = Draft202012Validator(SCHEMA)

KEYWORDS = {
    *("type", "title", "description", "default", "examples", "const", "enum", "oneOf", "anyOf"),
    *("properties", "required", "additionalProperties", "items", "minItems", "maxItems"),
    *("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "minLength", "maxLength"),
    "maxProperties",
}
"""What draft 7, which taplo reads, means by these is what draft 2020-12 does."""

WRONG = {
    "an unknown key": "bogus = 1",
    "an unknown key of a table": "[training]\nepoch = 3",
    "a key of another kind": '[data]\nsource = "digits"\nlabels = "y"',
    "a key of another kind of memory": '[memory.default]\npolicy = "growth"\nlimit_mib = 4096',
    "a key of another kind of model": '[model]\nsource = "mlp"\nfilters = [32]',
    "a text for a number": '[training]\nepochs = "many"',
    "a fraction for a count": "[training]\nepochs = 2.5",
    "a number for a text": "name = 7",
    "a number for a table": "training = 3",
    "a table for a number": "[training.epochs]\nmany = 1",
    "a text for a list": '[model]\nsource = "mlp"\nhidden = "128"',
    "a list of lists": '[model]\nsource = "mlp"\nhidden = [[128]]',
    "below its bound": "[training]\nepochs = 0",
    "above its bound": "[training]\nmax_restarts = 101",
    "at a bound that is not allowed": "[training]\nmomentum = 1.0",
    "below the bound of a key that may be left out": "[strategy]\nworkers = 0",
    "infinite": "[training]\nlearning_rate = inf",
    "an item out of bounds": "[strategy]\nshares = [48, -1]",
    "a list that is too short": '[model]\nsource = "cnn"\nfilters = []',
    "a list that is too long": f'[model]\nsource = "cnn"\nfilters = {[1] * 15}',
    "a size of three": '[data]\nsource = "images"\npath = "x"\nimage_size = [8, 8, 8]',
    "a size out of bounds": '[data]\nsource = "images"\npath = "x"\nimage_size = [8, 0]',
    "an empty name": 'name = ""',
    "an unknown choice of an enum": '[training]\noptimizer = "adamm"',
    "an unknown choice of words": '[inference]\noutput = "xlsx"',
    "an unknown task": 'task = "sleep"',
    "an unknown source": '[data]\nsource = "npy"',
    "an unknown policy": '[memory.default]\npolicy = "quota"',
    "no source": "[data]\nshuffle = true",
    "no policy": "[memory.default]\n",
    "no path": '[data]\nsource = "npz"',
    "no limit": '[memory.default]\npolicy = "limit"',
    "another version": "schema_version = 9",
    "an unknown word for shares": '[strategy]\nshares = "even"',
    "a device that cannot be": "[strategy]\nplacement = { dense_1 = 1024 }",
}


def complaints(document: dict[str, Any]) -> list[str]:
    return [f"{error.json_path}: {error.message}" for error in VALIDATOR.iter_errors(document)]


def nodes(schema: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """The schema and each schema in it."""
    yield schema
    inner = [*schema.get("oneOf", []), *schema.get("anyOf", [])]
    inner += schema.get("properties", {}).values()
    inner += [schema[key] for key in ("items", "additionalProperties") if key in schema]
    for each in inner:
        if isinstance(each, dict):
            yield from nodes(each)


def is_beyond_toml(node: object) -> bool:
    if isinstance(node, dict):
        return any(map(is_beyond_toml, node.values()))
    if isinstance(node, list | tuple):
        return any(map(is_beyond_toml, node))
    return isinstance(node, int) and not -(2**63) <= node < 2**63


def has_nan(node: Any) -> bool:
    if isinstance(node, dict | list):
        return any(map(has_nan, node.values() if isinstance(node, dict) else node))
    return isinstance(node, float) and math.isnan(node)


def every(profile: str = "every") -> dict[str, Any]:
    keys: dict[str, Any] = profile_schema(UnknownProfile)["properties"][profile]["properties"]
    return keys


@pytest.mark.parametrize("schema", [SCHEMA, profile_schema(UnknownProfile)])
def test_that_the_schema_is_one_of_draft_2020_12(schema: dict[str, Any]) -> None:
    Draft202012Validator.check_schema(schema)
    assert schema["$schema"] == Draft202012Validator.META_SCHEMA["$id"]
    assert schema["$id"] == "urn:gpupanel:profile:1"
    assert schema["title"] == "gpupanel profile, format 1"


def test_that_there_are_examples() -> None:
    assert len(EXAMPLES) >= 14
    assert len(GUIDE_BLOCKS) >= 20


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_that_each_example_profile_fits(path: Path) -> None:
    assert complaints(tomllib.loads(path.read_text(encoding="utf-8"))) == []


@pytest.mark.parametrize("text", GUIDE_BLOCKS)
def test_that_each_profile_of_the_guide_fits(text: str) -> None:
    assert complaints(tomllib.loads(text)) == []
    assert parse_profile(text)


@pytest.mark.parametrize("text", ["", "[training]", '[data]\nsource = "digits"'])
def test_that_what_has_a_default_may_be_left_out(text: str) -> None:
    assert complaints(tomllib.loads(text)) == []
    assert parse_profile(text)


@settings(max_examples=100)
@given(profiles)
def test_that_every_profile_that_is_saved_fits(profile: Profile) -> None:
    assert complaints(tomllib.loads(dump_profile(profile))) == []


@pytest.mark.parametrize("text", WRONG.values(), ids=WRONG.keys())
def test_that_what_is_wrong_is_refused_by_the_schema_and_by_the_reader(text: str) -> None:
    assert complaints(tomllib.loads(text)) != []
    with pytest.raises(ProblemError):
        parse_profile(text)


@settings(max_examples=200)
@given(with_odd_values([Profile().model_dump(mode="json", exclude_none=True)]))
def test_that_what_fits_is_read(document: dict[str, Any]) -> None:
    # JSON has no nan, so that no bound of a schema refuses it; and TOML no whole number beyond 64
    # bits, which a schema allows where any number may stand.
    if not has_nan(document) and not is_beyond_toml(document) and VALIDATOR.is_valid(document):
        profile_from_document(document)


@pytest.mark.parametrize("schema", [SCHEMA, profile_schema(UnknownProfile)])
def test_that_it_needs_nothing_that_editors_of_toml_lack(schema: dict[str, Any]) -> None:
    for node in nodes(schema):
        known = KEYWORDS | {EXTENSION, "$schema", "$id", "prefixItems"}
        assert set(node) <= known, node
        assert node.get("type") != "null"
        assert node.get("default", 0) is not None
        if node.get("type") == "object" and "properties" in node:
            assert node["additionalProperties"] is False
    assert not any("prefixItems" in node for node in nodes(SCHEMA))


@pytest.mark.parametrize("schema", [SCHEMA, profile_schema(UnknownProfile)])
def test_that_each_key_has_a_title_and_none_has_the_name_of_a_class(schema: dict[str, Any]) -> None:
    keys = [key for node in nodes(schema) for key in node.get("properties", {}).values()]
    assert all(key["title"] for key in keys)
    titles = {node.get("title", "") for node in nodes(schema)}
    assert not {title for title in titles if re.fullmatch(r"([A-Z][a-z]+){2,}", title)}


def test_that_the_title_of_an_enum_is_that_of_its_setting() -> None:
    strategy = SCHEMA["properties"]["strategy"]["properties"]
    assert strategy["kind"]["title"] == "Strategy"
    optimizer = SCHEMA["properties"]["training"]["properties"]["optimizer"]
    assert optimizer["title"] == "Optimizer"
    assert optimizer["default"] == "adam"
    assert optimizer["description"].startswith("The algorithm that updates")
    assert [choice["const"] for choice in optimizer["oneOf"]] == list(Optimizer)


def test_that_each_kind_of_a_table_is_known_by_its_first_key() -> None:
    data = SCHEMA["properties"]["data"]
    assert [kind["required"][0] for kind in data["oneOf"]] == ["source"] * len(data["oneOf"])
    (npz,) = [kind for kind in data["oneOf"] if kind["properties"]["source"].get("const") == "npz"]
    assert npz["required"] == ["source", "path"]
    assert data["default"]["validation_fraction"] == 0.2


@pytest.mark.parametrize(
    ("key", "said"),
    [
        ("switch", {"type": "boolean", "default": False, EXTENSION: {"advanced": True}}),
        ("count", {"type": "integer", "exclusiveMinimum": 0, "default": 3}),
        ("count", {EXTENSION: {"unit": "epoch", "off": "never"}}),
        ("optional_count", {"type": "integer", "exclusiveMinimum": 0}),
        ("optional_count", {EXTENSION: {"unit": "worker", "off": "as many"}}),
        ("number", {"type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": 1}),
        ("choice", {"type": "string", "default": "dark", "title": "Choice title"}),
        ("counts", {"type": "array", "maxItems": 4, "default": [8]}),
        ("size", {"type": "array", "minItems": 2, "maxItems": 2, "default": [64, 32]}),
        ("size", {"items": {"type": "integer", "exclusiveMinimum": 0, "maximum": 512}}),
        ("mixed", {"prefixItems": [{"type": "integer"}, {"type": "string"}]}),
        ("text", {"type": "string", "default": "x"}),
        ("path", {"type": "string", "description": "Path description."}),
        ("folder", {"type": "string", "default": ""}),
    ],
)
def test_that_a_new_setting_of_each_type_is_in_the_schema(key: str, said: dict[str, Any]) -> None:
    assert said.items() <= every()[key].items()
    assert every()[key]["title"].endswith(" title")
    assert every()[key]["description"].endswith(" description.")


def test_that_a_new_key_that_may_be_left_out_has_no_default() -> None:
    assert "default" not in every()["optional_count"]
    assert len(every()["places"]["anyOf"]) == 2


def test_that_the_choices_of_a_new_setting_have_their_words() -> None:
    assert every()["literal"]["oneOf"] == [
        {"const": "left", "title": "To the left", "description": "Where the heart is."},
        {"const": "right", "title": "To the right"},
    ]
    assert "enum" not in every()["literal"]
    assert [each["title"] for each in every()["choice"]["oneOf"]] == ["Light grey", "dark"]
    assert every()["undescribed"]["enum"] == ["up", "down"]


def test_that_a_default_of_a_table_that_says_what_its_keys_say_is_left_out() -> None:
    properties = profile_schema(UnknownProfile)["properties"]
    assert "default" not in properties["quiet"]
    assert properties["every"]["default"]["path"] == "x"
    assert properties["shape"]["default"]["radius"] == 9


def test_that_a_default_of_a_table_has_no_null() -> None:
    assert "optional_count" not in profile_schema(UnknownProfile)["properties"]["every"]["default"]


def test_that_a_table_is_described_by_the_first_paragraph_of_its_docstring() -> None:
    shape = profile_schema(UnknownProfile)["properties"]["shape"]
    assert shape["oneOf"][0]["description"] == "A `point` of no extent."
    assert (
        profile_schema(UnknownProfile)["properties"]["every"]["description"] == "One of each type."
    )


def test_that_one_prefix_holds_what_json_schema_has_no_keyword_for() -> None:
    extended = {key for node in nodes(SCHEMA) for key in node.get(EXTENSION, {})}
    assert extended == set(EXTENDED)
