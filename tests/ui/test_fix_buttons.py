import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QTextDocumentFragment
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QPushButton

from gpupanel.domain.problem import Change, Fix, Problem
from gpupanel.domain.strategy import StrategyKind
from gpupanel.ui.widgets.problem_row import ProblemRow

FIXES = tuple(
    Fix(label=label, changes=(Change(path=("memory", "GPU-1"), value=number),))
    for number, label in enumerate(
        ("Let every chosen GPU grow", "Give each GPU a process of its own", "Use one of them")
    )
)
PROBLEM = Problem(
    code="memory_growth_differs",
    field="memory",
    message="Memory growth is on for one GPU only.",
    fix=FIXES[0],
    alternatives=FIXES[1:],
)


@pytest.fixture
def row(qtbot) -> ProblemRow:
    row = ProblemRow(PROBLEM)
    qtbot.addWidget(row)
    row.setFixedWidth(360)
    row.show()
    row.resize(360, row.heightForWidth(360))
    return row


def buttons(row: ProblemRow) -> list[QPushButton]:
    return [each for each in row.findChildren(QPushButton) if not each.isHidden()]


def test_that_every_fix_has_a_button_and_the_obvious_one_comes_first(row, qtbot):
    assert [each.text() for each in buttons(row)] == [fix.label for fix in FIXES]
    for each, fix in zip(buttons(row), FIXES, strict=True):
        with qtbot.waitSignal(row.fixes.fixRequested) as reported:
            QTest.mouseClick(each, Qt.MouseButton.LeftButton)
        assert reported.args == [fix]
        assert "Memory of GPU-1: " in each.toolTip()
    assert [each.property("role") for each in buttons(row)] == ["fix", "alternative", "alternative"]


def test_that_the_buttons_stay_inside_the_row_below_one_another(row):
    places = [each.geometry() for each in buttons(row)]
    for one, place in enumerate(places):
        assert not any(place.intersects(other) for other in places[one + 1 :])
    for each in buttons(row):
        corner = each.mapTo(row, each.rect().bottomRight())
        assert row.rect().contains(corner)


def test_that_a_row_keeps_the_buttons_that_its_next_problem_needs(row, qtbot):
    first = buttons(row)[0]
    row.setProblem(PROBLEM.model_copy(update={"fix": FIXES[2], "alternatives": ()}))
    assert buttons(row) == [first]
    with qtbot.waitSignal(row.fixes.fixRequested) as reported:
        QTest.mouseClick(first, Qt.MouseButton.LeftButton)
    assert reported.args == [FIXES[2]]
    row.setProblem(PROBLEM.model_copy(update={"fix": None, "alternatives": ()}))
    assert buttons(row) == []


def test_that_a_button_says_its_changes_in_the_words_of_their_settings(row):
    fix = Fix(
        label="Use two workers",
        changes=(
            Change(path=("strategy", "kind"), value=StrategyKind.MULTI_WORKER),
            Change(path=("strategy", "shares"), value=[48, 16]),
            Change(path=("training", "jit_compile"), value=True),
            Change(path=("memory", "GPU-1"), value={"policy": "growth"}),
            Change(path=("strategy", "placement")),
        ),
    )
    row.setProblem(PROBLEM.model_copy(update={"fix": fix, "alternatives": ()}))

    tip = QTextDocumentFragment.fromHtml(buttons(row)[0].toolTip()).toPlainText()

    assert tip == (
        "Use two workers\nStrategy: A copy in each process\nShares: 48 + 16\n"
        "XLA (jit_compile): on\nMemory of GPU-1: grow as needed\nRemove placement"
    )
