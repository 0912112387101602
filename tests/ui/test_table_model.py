"""The model behind every table: what it sorts, finds, keeps and says."""

from dataclasses import dataclass

import pytest
from PySide6.QtCore import Qt

from gpupanel.ui.widgets.table_model import Column, TableModel
from gpupanel.ui.widgets.table_view import TableView


@dataclass(frozen=True, slots=True)
class Pet:
    name: str
    weight: float | None = None


NAME: Column[Pet] = Column("Name", "What it is called.", lambda pet: pet.name)
WEIGHT: Column[Pet] = Column(
    "Weight",
    "In kilograms.",
    lambda pet: "–" if pet.weight is None else f"{pet.weight:g}",  # noqa: RUF001 - a dash
    lambda pet: pet.weight,
    is_number=True,
    cell_tip=lambda _pet: "weighed today",
)
CAT, DOG, HEN = Pet("cat", 4.0), Pet("dog", 30.0), Pet("hen")


@pytest.fixture
def model() -> TableModel[Pet]:
    model = TableModel((NAME, WEIGHT), lambda pet: pet.name, lambda pet: f"a {pet.name}")
    model.set_rows((CAT, HEN, DOG))
    return model


def names(model: TableModel[Pet]) -> list[str]:
    return [model.index(row, 0).data() for row in range(model.rowCount())]


@pytest.mark.parametrize(
    ("order", "expected"),
    [
        (Qt.SortOrder.AscendingOrder, ["cat", "dog", "hen"]),
        (Qt.SortOrder.DescendingOrder, ["dog", "cat", "hen"]),
    ],
)
def test_that_what_is_not_known_is_last_in_either_direction(model, order, expected):
    model.sort(1, order)
    assert names(model) == expected


def test_that_a_column_without_an_order_leaves_rows_as_they_were_given(model):
    model.sort(1)
    model.sort(0)
    assert names(model) == ["cat", "hen", "dog"]


def test_that_the_choice_follows_its_row_while_others_come_go_and_move(qtbot, model):
    table = TableView(model, "pets", "Pets", 24)
    qtbot.addWidget(table)
    table.selectRow(2)
    for rows in [(DOG, CAT), (HEN, DOG), (CAT, HEN, Pet("dog", 31.0))]:
        model.set_rows(rows)
        assert [pet.name for pet in table.chosen_rows()] == ["dog"]
    model.sort(1, Qt.SortOrder.DescendingOrder)
    assert table.chosen_rows() == (Pet("dog", 31.0),)
    assert table.selectionModel().currentIndex().row() == 0


def test_that_no_neighbour_of_a_row_that_goes_is_chosen(qtbot, model):
    table = TableView(model, "pets", "Pets", 24)
    qtbot.addWidget(table)
    table.selectRow(2)
    table.clearSelection()  # the row stays the current one
    for rows in [(CAT, HEN), (HEN,), ()]:
        model.set_rows(rows)
        assert table.chosen_rows() == ()
    model.set_rows((CAT, HEN, DOG))
    table.selectRow(1)
    model.set_rows((CAT, DOG))
    assert table.chosen_rows() == ()


def test_that_other_columns_are_not_sorted_by_a_place_of_those_before(model):
    model.sort(1)
    model.set_columns((NAME,), (HEN, CAT))
    assert names(model) == ["hen", "cat"]


def test_that_rows_keep_their_places_only_while_the_same_ones_are_there(model):
    model.sort(1)
    light = Pet("dog", 1.0)
    model.set_rows((CAT, HEN, light), keep_order=True)
    assert names(model) == ["cat", "dog", "hen"]
    assert model.row(1) is light
    model.set_rows((CAT, light), keep_order=True)
    assert names(model) == ["dog", "cat"]


def test_that_a_search_holds_for_rows_that_come_later(model):
    model.set_search(lambda pet: pet.weight is not None)
    model.set_rows((HEN, DOG))
    assert names(model) == ["dog"]
    assert model.all_rows == (HEN, DOG)
    assert model.place_of("hen") is None
    assert model.place_of("dog") == 0


def test_that_titles_and_cells_have_tips_and_stand_on_one_side(model):
    across = Qt.Orientation.Horizontal
    tip, side = Qt.ItemDataRole.ToolTipRole, Qt.ItemDataRole.TextAlignmentRole
    assert [model.headerData(place, across) for place in (0, 1)] == ["Name", "Weight"]
    assert model.headerData(1, across, tip) == "<qt>In kilograms.</qt>"
    assert "a cat" in model.index(0, 0).data(tip)
    assert "weighed today" in model.index(0, 1).data(tip)
    for place, expected in enumerate((Qt.AlignmentFlag.AlignLeft, Qt.AlignmentFlag.AlignRight)):
        assert model.headerData(place, across, side) & expected.value
        assert model.index(0, place).data(side) & expected.value
    assert model.headerData(0, Qt.Orientation.Vertical) is None


def test_that_other_columns_come_with_their_rows(model):
    model.set_columns((NAME,), (DOG,))
    assert model.columnCount() == 1
    assert names(model) == ["dog"]
