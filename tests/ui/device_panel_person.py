"""What a person does with the device panel, for the tests of it."""

from PySide6.QtCore import Qt
from PySide6.QtGui import QAction
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QAbstractButton, QApplication, QLabel, QWidget

from gpupanel.ui.inputs.quiet_inputs import ComboBox
from gpupanel.ui.panels.device_panel import DevicePanel
from gpupanel.ui.panels.device_panel.device_card import DeviceCard
from gpupanel.ui.panels.device_panel.memory_menu import MemoryMenu
from gpupanel.ui.widgets.memory_bar import MemoryBar


def card(panel: DevicePanel, key: str) -> DeviceCard:
    """The card of a device."""
    return next(each for each in panel.findChildren(DeviceCard) if each.device.key == key)


def seen(parent: QWidget, kind: type) -> list:
    """Children of a kind that are on the screen, once the layout had its turn."""
    QApplication.processEvents()
    return [child for child in parent.findChildren(kind) if child.isVisible()]


def seen_texts(widget: QWidget) -> str:
    """What can be read."""
    return "\n".join(label.text() for label in seen(widget, QLabel))


def click(widget: QWidget) -> None:
    QTest.mouseClick(widget, Qt.MouseButton.LeftButton)


def button(widget: QWidget, text: str) -> QAbstractButton:
    """The button on the screen with that text or accessible name."""
    return next(
        each
        for each in seen(widget, QAbstractButton)
        if text in (each.text(), each.accessibleName())
    )


def choose(box: ComboBox, policy: str) -> None:
    """Choose with the keyboard."""
    box.setFocus()
    wanted = box.findData(policy)
    while box.currentIndex() != wanted:
        QTest.keyClick(box, Qt.Key.Key_Down if box.currentIndex() < wanted else Qt.Key.Key_Up)


def policy_box(panel: DevicePanel, key: str) -> ComboBox:
    return card(panel, key).findChild(ComboBox)


def bar(panel: DevicePanel, key: str) -> MemoryBar:
    return card(panel, key).findChild(MemoryBar)


def menu_actions(panel: DevicePanel, key: str) -> dict[str, QAction]:
    """The entries of a device's menu, those below each other included, as they read when open."""
    menu = card(panel, key).findChild(MemoryMenu).menu()
    menu.aboutToShow.emit()
    entries = {action.text(): action for action in menu.actions() if action.text()}
    for action in menu.actions():
        if action.menu() is not None:
            entries |= {each.text(): each for each in action.menu().actions()}
    return entries


def drag(bar: MemoryBar, border: int, pixels: int) -> None:
    """Drag one of its borders by so many pixels."""
    start, y = round(bar.border_positions()[border]), bar.height() // 2
    place = bar.rect().topLeft()
    place.setX(start)
    place.setY(y)
    QTest.mousePress(bar, Qt.MouseButton.LeftButton, pos=place)
    place.setX(start + pixels)
    QTest.mouseMove(bar, place)
    QTest.mouseRelease(bar, Qt.MouseButton.LeftButton, pos=place)
