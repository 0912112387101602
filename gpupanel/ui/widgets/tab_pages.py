"""Turning to a page of tabs without a person who pressed one."""

from PySide6.QtWidgets import QApplication, QTabWidget, QWidget


def turn_to(tabs: QTabWidget, page: QWidget) -> None:
    """Show that page; a focus on the page before goes to the tabs.

    Qt would give it to the first button of the page, which the next press of a key would click.
    """
    before, focused = tabs.currentWidget(), QApplication.focusWidget()
    is_there = focused is not None and (focused is before or before.isAncestorOf(focused))
    if is_there and before is not page:
        tabs.tabBar().setFocus()
    tabs.setCurrentWidget(page)
