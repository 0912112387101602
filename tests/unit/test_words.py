"""Names and words are those of the glossary: one meaning each, and plain."""

import ast
import re
from collections import defaultdict

import pytest

from tests.unit.parsed_package import PACKAGE, parsed_package

AVOIDED = re.compile(
    r"\b(tells?|told|judg(e|es|ed|ing)|wish(es|ed)?|pulse|taking[_ ]up"
    r"|looks?(ed|ing)? (at|through|into|whether)|a look)\b",
    re.IGNORECASE,
)
ALLOWED = re.compile(r'\.tell\(|"told/run_goes_on"')
"""A method of files; a key that the settings of windows were saved under."""


def avoided_in(text: str) -> list[str]:
    return [found.group() for found in AVOIDED.finditer(ALLOWED.sub("", text))]


@pytest.mark.parametrize("text", ["Tell which.", "# looked at once", "it is told", "a look"])
def test_that_a_word_to_avoid_is_found(text: str) -> None:
    assert avoided_in(text)


def test_that_words_to_avoid_are_not_used() -> None:
    found = {
        path: words
        for path in parsed_package()
        if (words := avoided_in((PACKAGE / path).read_text(encoding="utf-8")))
    }
    assert found == {}


def test_that_no_two_public_classes_share_a_name() -> None:
    places = defaultdict(list)
    for path, tree in parsed_package().items():
        for node in tree.body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                places[node.name].append(path)
    assert {name: paths for name, paths in places.items() if len(paths) > 1} == {}
