"""The pages of problems have every code that the package can have, and no other."""

import ast
import re
from pathlib import Path

import pytest

from gpupanel.planning.findings import registry as findings
from tests.unit import problem_codes
from tests.unit.problem_codes import codes, unknown_codes

GUIDE = Path(__file__).parents[3] / "resources/guide"
PAGE = "\n".join(
    (GUIDE / name).read_text(encoding="utf-8")
    for name in ("problems.md", "problems-data.md", "problems-programs.md", "problems-hours.md")
)
CHAPTERS = {
    title: re.findall(r"^### (\w+)$", text, re.MULTILINE)
    for title, text in re.findall(r"^## ([^\n]+)\n(.*?)(?=^## |\Z)", PAGE, re.MULTILINE | re.DOTALL)
}
LISTED = [code for chapter in CHAPTERS.values() for code in chapter]


def test_that_every_code_of_the_package_has_its_entry() -> None:
    missing = sorted(codes().difference(LISTED))
    assert missing == [], "give them a meaning, a cause and a fix in resources/guide/problems.md"


def test_that_no_entry_is_of_a_code_that_is_gone() -> None:
    assert sorted(set(LISTED) - codes()) == []


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


def test_that_no_code_stands_in_two_places() -> None:
    assert len(set(LISTED)) == len(LISTED)


def test_that_every_code_has_its_meaning_cause_and_fix() -> None:
    entry = re.compile(
        r"### (\w+)\n\n(.+?)\n\n- \*\*Cause:\*\* (.+?)\n- \*\*Fix:\*\* (.+?)\n+", re.S
    )
    entries = [part for part in re.split(r"^(?=##)", PAGE, flags=re.M) if part.startswith("###")]
    assert len(entries) == len(LISTED)
    for part in entries:
        found = entry.fullmatch(part)
        assert found is not None, part
        for text in found.groups()[1:]:
            assert len(text) > 7, part
            assert text[0].isupper() or text[0] == "`", text
            # A command may be all of a fix.
            assert text.endswith((".", "`")), text
            assert text.count("`") % 2 == 0, text


def test_that_what_findings_are_called_stands_in_their_chapter() -> None:
    source = "".join(
        path.read_text(encoding="utf-8")
        for path in Path(findings.__file__).parent.glob("*_findings.py")
    )
    for code in CHAPTERS["Why a training is slow"]:
        assert f'"{code}"' in source
