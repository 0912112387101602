"""A tool that asks one question is a file in each room that has to do with it, and in no other."""

import re

from gpupanel.cli import verb_group
from tests.unit.parsed_package import PACKAGE

ROOMS = ("domain", "trainer/tools", "runs/questions", "cli/verbs", "ui/tools/session_tools")


def code_that_names(tool: str) -> set[str]:
    named = re.compile(tool.replace("_", "[_-]"))
    return {
        str(path.relative_to(PACKAGE))
        for path in PACKAGE.rglob("*.py")
        if named.search(path.read_text(encoding="utf-8"))
    }


def test_that_a_tool_is_five_files_with_its_verb_and_its_button() -> None:
    found = code_that_names("read_speed")
    # The order of the help may name a verb; one that it does not name stands last.
    assert found - {"cli/verb_group.py"} == {f"{room}/read_speed.py" for room in ROOMS}


def test_that_a_verb_that_the_order_does_not_name_stands_last(monkeypatch) -> None:
    order = tuple(verb for verb in verb_group.VERBS if verb != "scan")
    monkeypatch.setattr(verb_group, "ORDER", order)
    assert verb_group.found_verbs() == (*order, "scan")


def test_that_the_order_names_verbs_only() -> None:
    assert set(verb_group.ORDER) <= set(verb_group.VERBS)
