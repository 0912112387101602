"""Names and words are those of the glossary: one meaning each, and plain."""

import ast
import re
from collections import defaultdict

import pytest

from tests.guide.pages import PAGES, source_of
from tests.unit.parsed_package import PACKAGE, nodes, parsed_package

AVOIDED = re.compile(
    r"\b(tells?|told|judg(e|es|ed|ing)|wish(es|ed)?|pulse|taking[_ ]up"
    r"|looks?(ed|ing)? (at|through|into|whether)|a look)\b",
    re.IGNORECASE,
)
ALLOWED = re.compile(r'\.tell\(|"told/run_goes_on"')
"""A method of files; a key that the settings of windows were saved under."""


SHOWN_AVOIDED = re.compile(
    r"\b(mend(s|ed)?|anew|so many|by heart|broken off|cut short|found by itself|passe[sd] over"
    r"|go(es|ing)? on|went on|likewise|embedded (digits|wines)|all the same)\b"
    # "is not a TFRecord file", as people say it.
    r"|(?<!here )\b(is|are) no (?!(longer|more|one)\b)",
    re.IGNORECASE,
)
"""In words that people see."""
IMAGE = re.compile(r"\bpictures?\b", re.IGNORECASE)
SAVED_IMAGES = (
    "ui/bindings/curve_files.py",
    "ui/panels/comparison_panel/",
    "ui/panels/live_panel.py",
    "ui/plots/picture.py",
)
"""Of curves; what data holds are images."""
SCRIPTS = "planning/script/"


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


def literal_text(node: ast.expr) -> str:
    """The text of a literal; what is put into it is left out."""
    if isinstance(node, ast.JoinedStr):
        return "...".join(map(literal_text, node.values))
    is_text = isinstance(node, ast.Constant) and isinstance(node.value, str)
    return node.value if is_text else ""


def shown_texts(path: str, tree: ast.Module) -> list[str]:
    """What people may see of a file: its literals but for documentation, and what verbs print."""
    unseen = {
        id(inner)
        for node in nodes(tree)
        if isinstance(node, ast.Expr | ast.FormattedValue | ast.JoinedStr)
        for inner in ast.iter_child_nodes(node)
        if isinstance(inner, ast.Constant | ast.JoinedStr)
    }
    texts = [literal_text(node) for node in nodes(tree) if id(node) not in unseen]
    if path.startswith("cli/verbs/"):
        functions = (node for node in tree.body if isinstance(node, ast.FunctionDef))
        texts += [ast.get_docstring(function) or "" for function in functions if _is_verb(function)]
    return [text for text in texts if " " in text or text[:1].isupper()]


def _is_verb(function: ast.FunctionDef) -> bool:
    return not function.name.startswith("_")


def avoided_on_screen(path: str, text: str) -> list[str]:
    words = [found.group() for found in SHOWN_AVOIDED.finditer(text)]
    if not path.startswith(SAVED_IMAGES):
        words += IMAGE.findall(text)
    return words


@pytest.mark.parametrize(
    "text", ["Mend the labels.", "It goes on.", "It is no text.", "A picture.", "Found by itself"]
)
def test_that_a_word_to_avoid_on_screen_is_found(text: str) -> None:
    assert avoided_on_screen("ui/session.py", text)


@pytest.mark.parametrize("text", ["There is no GPU.", "It is no longer there.", "Save picture…"])
def test_that_plain_words_on_screen_are_allowed(text: str) -> None:
    assert not avoided_on_screen("ui/panels/comparison_panel/tools.py", text)


def test_that_words_on_screen_are_plain() -> None:
    found = {
        f"{path}: {text}": words
        for path, tree in parsed_package().items()
        if not path.startswith(SCRIPTS)
        for text in shown_texts(path, tree)
        if (words := avoided_on_screen(path, text))
    }
    assert found == {}


@pytest.mark.parametrize("page", PAGES)
def test_that_words_of_the_guide_are_plain(page: str) -> None:
    """The window shows its pages; pictures are saved of curves there, too."""
    text = source_of(page).replace("as a table or a picture", "")
    lines = text.replace("as a\ntable or a picture", "").splitlines()
    found = {line: [*avoided_in(line), *avoided_on_screen("", line)] for line in lines}
    assert {line: words for line, words in found.items() if words} == {}


def test_that_no_two_public_classes_share_a_name() -> None:
    places = defaultdict(list)
    for path, tree in parsed_package().items():
        for node in tree.body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                places[node.name].append(path)
    assert {name: paths for name, paths in places.items() if len(paths) > 1} == {}
