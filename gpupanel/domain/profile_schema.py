"""The format of a profile as JSON schema, for editors that complete and check TOML.

Everything in it comes from where the settings are declared. It is what pydantic makes, for TOML and
for the editors that there are:

- TOML has no null: a key that may be null is one that may be left out.
- Nothing is a reference: taplo (Even Better TOML) takes a reference for all there is and passes
  over the title and the description beside it, as JSON schema did before draft 2019-09.
- What JSON schema has no keyword for stands under ``x-gpupanel``, which other programs pass over:
  ``unit`` of a number, ``off`` what leaving the key out, or 0, means, ``advanced`` few need it.

A profile that fits the schema is read by ``parse_profile``, apart from ``nan``, which JSON does not
have. ``parse_profile`` also takes what has one meaning in another type (``epochs = "3"``).
"""

from typing import Any, Final

from gpupanel.domain.choice import Choice
from gpupanel.domain.profile import SCHEMA_VERSION, Profile
from gpupanel.domain.setting import WORDS
from gpupanel.domain.value import Value

EXTENSION: Final = "x-gpupanel"
"""The keyword of what JSON schema has none for."""
EXTENDED: Final = ("unit", "off", "advanced")
"""What stands under it, as :class:`~gpupanel.domain.setting.Setting` has it."""
_DIALECT: Final = "https://json-schema.org/draft/2020-12/schema"
_NULL: Final = {"type": "null"}

_Schema = dict[str, Any]


def profile_schema(profile: type[Value] = Profile) -> dict[str, Any]:
    """The schema: each key with title, description, default, bounds, choices and unit.

    Args:
        profile: The type of the value that is described.
    """
    made = profile.model_json_schema()
    definitions: _Schema = made.pop("$defs", {})
    return {
        "$schema": _DIALECT,
        "$id": f"urn:gpupanel:profile:{SCHEMA_VERSION}",
        **_published(made, definitions),
        "title": f"gpupanel profile, format {SCHEMA_VERSION}",
    }


def first_paragraph(docstring: str) -> str:
    """What a docstring says first, as one line of Markdown."""
    return " ".join(docstring.strip().partition("\n\n")[0].split()).replace("``", "`")


def _published(schema: _Schema, definitions: _Schema) -> _Schema:
    """The same schema as an editor of TOML needs it; data in it, such as defaults, stays."""
    schema = _with_equal_items(_resolved(schema, definitions))
    for keyword in ("oneOf", "anyOf", "prefixItems"):
        if keyword in schema:
            schema[keyword] = [_published(each, definitions) for each in schema[keyword]]
    for keyword in ("items", "additionalProperties"):
        if isinstance(schema.get(keyword), dict):
            schema[keyword] = _published(schema[keyword], definitions)
    if "properties" in schema:
        schema["properties"] = {
            name: _of_key(name, _published(each, definitions))
            for name, each in schema["properties"].items()
        }
    if "description" in schema:
        schema["description"] = first_paragraph(schema["description"])
    return _with_words(_without_null(_with_required_tag(schema)))


def _resolved(schema: _Schema, definitions: _Schema) -> _Schema:
    """The schema with what it refers to in its place; what stands beside the reference counts."""
    if "$ref" not in schema:
        return dict(schema)
    name = schema["$ref"].removeprefix("#/$defs/")
    definition = dict(definitions[name])
    # The name of a class, which nobody chose for people.
    del definition["title"]
    return definition | {key: value for key, value in schema.items() if key != "$ref"}


def _of_key(name: str, schema: _Schema) -> _Schema:
    """The schema of a key: with a title, and without a default that says what its keys' say."""
    schema.setdefault("title", name.replace("_", " ").capitalize())
    keys = schema.get("properties")
    if keys is not None and "default" in schema:
        # A key without a default is a table of tables, which is empty unless they are given.
        said = {key: each.get("default", {}) for key, each in keys.items()}
        if all(said[key] == value for key, value in schema["default"].items()):
            del schema["default"]
    return schema


def _without_null(schema: _Schema) -> _Schema:
    if schema.get("default", ...) is None:
        del schema["default"]
    elif isinstance(schema.get("default"), dict):
        given = schema["default"].items()
        schema["default"] = {key: value for key, value in given if value is not None}
    if _NULL not in schema.get("anyOf", []):
        return schema
    left = [each for each in schema.pop("anyOf") if each != _NULL]
    return left[0] | schema if len(left) == 1 else schema | {"anyOf": left}


def _with_required_tag(schema: _Schema) -> _Schema:
    """Each table of several kinds with the key that says which one it is: it must be there."""
    tag = schema.pop("discriminator", {}).get("propertyName")
    if tag is not None:
        for kind in schema["oneOf"]:
            kind["required"] = [tag, *(key for key in kind.get("required", []) if key != tag)]
    return schema


def _with_equal_items(schema: _Schema) -> _Schema:
    """An array of several equal items in the keyword that editors of older drafts know, too."""
    items = schema.get("prefixItems", [])
    if items and all(each == items[0] for each in items):
        del schema["prefixItems"]
        schema["items"] = items[0]
    return schema


def _with_words(schema: _Schema) -> _Schema:
    words: _Schema = schema.pop(WORDS, {})
    extended = {key: words[key] for key in EXTENDED if key in words}
    if extended:
        schema[EXTENSION] = extended
    if "choices" in words:
        choices = [Choice(**choice).json_schema() for choice in words["choices"]]
        if "anyOf" in schema:  # words, or a number
            schema["anyOf"] = [*choices, *schema["anyOf"][1:]]
        elif "path" in words:
            schema["anyOf"] = [*choices, {"type": schema.pop("type")}]
        else:
            schema.pop("enum", None)
            schema["oneOf"] = choices
    return schema
