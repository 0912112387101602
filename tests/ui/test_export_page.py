"""The tab of a run's page from which it is exported."""

import pytest
from PySide6.QtWidgets import QPushButton, QRadioButton

from gpupanel.runs.tools.export.export_format import ExportFormat, ModelExportFormat
from gpupanel.ui.run_actions import RunActions
from gpupanel.ui.run_page.export_page import ExportPage


@pytest.fixture
def page(qtbot):
    page = ExportPage()
    qtbot.addWidget(page)
    page.resize(900, 520)
    page.show()
    return page


def button(page, name):
    return page.findChild(QPushButton, name)


@pytest.mark.parametrize("wanted", [*ExportFormat, *ModelExportFormat])
def test_that_each_format_has_a_button_that_says_what_it_is_good_for(qtbot, page, wanted):
    page.setActions(RunActions(has_model=True))
    found = button(page, f"export_{wanted.value}")
    assert wanted.title in found.text()
    with qtbot.waitSignal(page.chosen, check_params_cb=lambda chosen: chosen is wanted):
        found.click()


def test_that_a_model_is_exported_only_where_one_was_saved(page):
    assert not button(page, "export_keras").isEnabled()
    assert button(page, "export_report").isEnabled()
    page.setActions(RunActions(has_model=True))
    assert button(page, "export_keras").isEnabled()


def test_that_the_weights_that_were_not_kept_are_chosen_until_another_run_is_shown(qtbot, page):
    kept, other = (page.findChild(QRadioButton, f"export_{each}") for each in ("kept", "other"))
    page.setActions(RunActions(has_model=True))
    assert not other.isVisible()
    page.setActions(RunActions(has_model=True, other_weights="last"))
    assert (kept.text(), other.text()) == ("Of the best epoch", "Of the last epoch")
    other.click()
    with qtbot.waitSignal(page.otherChosen), qtbot.assertNotEmitted(page.chosen):
        button(page, "export_tflite").click()
    with qtbot.waitSignal(page.chosen):
        button(page, "export_report").click()  # of the run there is only one
    page.begin()
    with qtbot.waitSignal(page.chosen):
        button(page, "export_tflite").click()
    page.setActions(RunActions(has_model=True, other_weights="best"))
    assert (kept.text(), other.text()) == ("Of the last epoch", "Of the best epoch")


def test_that_tensorboard_is_offered_where_there_are_curves(qtbot, page):
    board = button(page, "tensorboard_button")
    assert not board.isEnabled()
    assert "no steps" in board.toolTip()
    page.setActions(RunActions(offers_tensorboard=True))
    with qtbot.waitSignal(page.tensorboardRequested):
        board.click()
    with qtbot.waitSignal(page.folderRequested):
        button(page, "open_folder_button").click()
