"""The format of a profile as JSON schema, for editors that complete and check TOML.

Everything in it comes from where the settings are declared.
"""

from typing import Any, Final

from gpupanel.domain.profile import SCHEMA_VERSION, Profile
from gpupanel.domain.setting import WORDS

_DIALECT: Final = "https://json-schema.org/draft/2020-12/schema"
_TITLE: Final = f"gpupanel profile, format {SCHEMA_VERSION}"


def profile_schema() -> dict[str, Any]:
    """The schema: each key with title, description, default, bounds, choices and unit."""
    schema = Profile.model_json_schema()
    schema["title"] = _TITLE
    return {"$schema": _DIALECT, **_spoken(schema)}


def _spoken(node: Any) -> Any:  # noqa: ANN401 - JSON
    """The same schema with the words of each setting in the standard's own keywords."""
    if isinstance(node, list):
        return [_spoken(each) for each in node]
    if not isinstance(node, dict):
        return node
    words: dict[str, Any] = node.get(WORDS) or {}
    spoken = {key: _spoken(value) for key, value in node.items() if key != WORDS}
    for key in ("unit", "off", "advanced"):
        if key in words:
            spoken[key] = words[key]
    if "choices" in words:
        spoken.pop("enum", None)
        spoken["oneOf"] = [
            {
                "const": choice["value"],
                "title": choice["label"],
                "description": choice["description"],
            }
            for choice in words["choices"]
        ]
    return spoken
