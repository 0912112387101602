"""The page of problems has every code that the package can have, and no other."""

import ast
import re
from pathlib import Path

import pytest

from gpupanel.domain.problem_reference import page
from gpupanel.domain.problem_reference.entry import ProblemChapter, ProblemEntry
from gpupanel.domain.problem_reference.page import CHAPTERS, problem_reference
from gpupanel.planning.findings import registry as findings
from tests.unit import problem_codes
from tests.unit.problem_codes import codes, unknown_codes

GUIDE = Path(__file__).parents[3] / "resources" / "guide"
ENTRIES = {code: entry for chapter in CHAPTERS for code, entry in chapter.entries.items()}


def test_that_the_page_in_the_repository_is_current() -> None:
    is_current = (GUIDE / "problems.md").read_text(encoding="utf-8") == problem_reference()
    assert is_current, "problems.md was not written since a text changed: make docs"


def test_that_every_code_of_the_package_has_its_entry() -> None:
    missing = sorted(codes() - ENTRIES.keys())
    assert missing == [], "give them a meaning, a cause and a fix in domain/problem_reference"


def test_that_no_entry_is_of_a_code_that_is_gone() -> None:
    assert sorted(ENTRIES.keys() - codes()) == []


def test_that_no_code_is_made_of_parts_that_nobody_knows() -> None:
    assert unknown_codes() == [], "list its codes in tests/unit/problem_codes.py"


def test_that_codes_are_found_in_all_their_forms() -> None:
    for code in (
        "device_lost",  # handed to Problem
        "data_labels_negative",  # to a method
        "table_no_text",  # to a function of another file
        "profile_key_unknown",  # in a variable, with others
        "data_files_missing",  # in a loop over several
        "memory_limit_cancels_growth",  # one of two
        "thermal_throttling",  # in a value of several
        "preview_too_slow",  # of a process that answers
        "scan_test_leak",  # made of parts
    ):
        assert code in codes()
    assert len(codes()) > 450


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ('Problem(code="new_code", message="x")', {"new_code"}),
        ('def f(code: str) -> None: ...\nf("new_code")', {"new_code"}),
        ('code = "a_code" if x else "b_code"', {"a_code", "b_code"}),
        ('for code, x in (("a_code", 1), ("b_code", 2)): ...', {"a_code", "b_code"}),
    ],
)
def test_that_a_new_code_is_seen(monkeypatch, source: str, found: set[str]) -> None:
    package = {
        **problem_codes.parsed_package(),
        "new.py": ast.parse(f"from gpupanel.domain.problem import Problem\n{source}"),
    }
    before = codes()
    monkeypatch.setattr(problem_codes, "parsed_package", lambda: package)
    assert codes.__wrapped__() - before == found


def test_that_a_new_code_of_parts_is_seen(monkeypatch) -> None:
    source = 'from gpupanel.domain.problem import Problem\nProblem(code=f"{a}_b", message="x")'
    package = {**problem_codes.parsed_package(), "new.py": ast.parse(source)}
    monkeypatch.setattr(problem_codes, "parsed_package", lambda: package)
    assert unknown_codes() == [("new.py", "f'{a}_b'")]


def test_that_no_code_stands_in_two_chapters() -> None:
    assert sum(len(chapter.entries) for chapter in CHAPTERS) == len(ENTRIES)


def test_that_every_chapter_is_on_the_page() -> None:
    folder = Path(page.__file__).parent
    files = {path.stem for path in folder.glob("*.py")} - {"__init__", "entry", "page"}
    assert len(CHAPTERS) == len(files)
    assert len({chapter.title for chapter in CHAPTERS}) == len(CHAPTERS)


def test_that_every_entry_is_made_of_sentences() -> None:
    for code, entry in ENTRIES.items():
        for text in entry:
            assert len(text) > 7, code
            assert text[0].isupper() or text[0] == "`", text
            # A command may be all of a fix.
            assert text.endswith((".", "`")), text
            assert text.count("`") % 2 == 0, text


def test_that_what_findings_are_called_stands_in_their_chapter() -> None:
    (chapter,) = [each for each in CHAPTERS if each.title == "Why a training is slow"]
    source = "".join(
        path.read_text(encoding="utf-8")
        for path in Path(findings.__file__).parent.glob("*_findings.py")
    )
    for code in chapter.entries:
        assert f'"{code}"' in source


def test_that_a_code_has_a_heading_of_its_own_and_three_sentences() -> None:
    entry = ProblemEntry("It is so.", "It came so. " * 20, "Do so.")
    text = problem_reference([ProblemChapter("Some", "Of some.", {"some_code": entry})])
    assert text.startswith("<!-- Written by `make docs`")
    assert re.search(
        r"\n## Some\n\nOf some\.\n\n### some_code\n\nIt is so\.\n\n- \*\*Cause:\*\* It came so\.",
        text,
    )
    assert text.endswith("\n- **Fix:** Do so.\n")
    assert max(map(len, text.splitlines())) <= 100
    assert "\n  came so. It" in text
