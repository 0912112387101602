import itertools

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QColor, QGuiApplication
from PySide6.QtWidgets import QLabel

from gpupanel.ui import theme
from gpupanel.ui.theme import DARK, LIGHT, Theme

# Machado, Oliveira and Fernandes 2009, severity 1.0, on linear RGB.
SIGHTS = {
    "protanopia": (
        (0.152286, 1.052583, -0.204868),
        (0.114503, 0.786281, 0.099216),
        (-0.003882, -0.048116, 1.051998),
    ),
    "deuteranopia": (
        (0.367322, 0.860646, -0.227968),
        (0.280085, 0.672501, 0.047413),
        (-0.011820, 0.042940, 0.968881),
    ),
}


def linear(color: str) -> tuple[float, ...]:
    parts = QColor(color).getRgbF()[:3]
    return tuple(p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts)


def contrast(one: str, other: str) -> float:
    light, dark = sorted(
        (
            sum(w * p for w, p in zip((0.2126, 0.7152, 0.0722), linear(c), strict=True))
            for c in (one, other)
        ),
        reverse=True,
    )
    return (light + 0.05) / (dark + 0.05)


def lab(rgb: tuple[float, ...]) -> tuple[float, float, float]:
    rows = ((0.4124, 0.3576, 0.1805), (0.2126, 0.7152, 0.0722), (0.0193, 0.1192, 0.9505))
    xyz = [sum(w * p for w, p in zip(row, rgb, strict=True)) for row in rows]
    x, y, z = (
        t ** (1 / 3) if t > 0.008856 else 7.787 * t + 16 / 116
        for t in (max(0.0, v / n) for v, n in zip(xyz, (0.9505, 1.0, 1.089), strict=True))
    )
    return 116 * y - 16, 500 * (x - y), 200 * (y - z)


def seen(color: str, sight: str) -> tuple[float, float, float]:
    rgb = linear(color)
    return lab(tuple(sum(w * p for w, p in zip(row, rgb, strict=True)) for row in SIGHTS[sight]))


@pytest.mark.parametrize("colors", [LIGHT, DARK], ids=lambda each: each.name)
def test_that_texts_can_be_read_on_every_surface(colors: Theme):
    for surface in (colors.window, colors.surface, colors.raised):
        assert contrast(colors.text, surface) >= 7.0
        for tone in (colors.muted, colors.good, colors.warning, colors.error):
            assert contrast(tone, surface) >= 4.5, (tone, surface)
    assert contrast(colors.accent_text, colors.accent) >= 4.5


@pytest.mark.parametrize("colors", [LIGHT, DARK], ids=lambda each: each.name)
def test_that_every_device_colour_stands_out_from_its_surface(colors: Theme):
    for color in (*colors.devices, colors.processor):
        assert contrast(color, colors.surface) >= 3.0, color


@pytest.mark.parametrize("colors", [LIGHT, DARK], ids=lambda each: each.name)
@pytest.mark.parametrize("sight", SIGHTS)
def test_that_people_who_see_fewer_hues_distinguish_devices(colors: Theme, sight: str):
    for one, other in itertools.combinations((*colors.devices, colors.processor), 2):
        distance = sum(
            (a - b) ** 2 for a, b in zip(seen(one, sight), seen(other, sight), strict=True)
        )
        assert distance**0.5 >= 8.0, (one, other)


def test_that_a_device_keeps_its_colour_and_more_devices_begin_again(restored_theme, qapp):
    theme.show(qapp, DARK)
    assert theme.device_color(1).name() == DARK.devices[1]
    assert theme.device_color(8) == theme.device_color(0)
    assert theme.device_color(theme.PROCESSOR_COLOR).name() == DARK.processor


def test_that_the_window_follows_the_system_at_once(restored_theme, qapp, qtbot):
    theme.show(qapp, LIGHT)
    hints = QGuiApplication.styleHints()
    with qtbot.waitSignal(theme.changes.changed):
        hints.colorSchemeChanged.emit(Qt.ColorScheme.Dark)
    assert theme.current() is DARK
    assert qapp.palette().window().color().name() == DARK.window
    hints.colorSchemeChanged.emit(Qt.ColorScheme.Light)
    assert theme.current() is LIGHT


def test_that_the_style_sheet_reaches_texts_by_their_tone(restored_theme, qapp, qtbot):
    theme.show(qapp, DARK)
    label = QLabel("bad news")
    label.setProperty("tone", "error")
    qtbot.addWidget(label)
    label.ensurePolished()
    assert label.palette().windowText().color().name() == DARK.error


@pytest.mark.parametrize("colors", [LIGHT, DARK], ids=lambda each: each.name)
def test_that_every_icon_of_the_style_sheet_is_shipped(colors: Theme, qapp):
    import re
    from pathlib import Path

    sheet = theme.style_sheet(colors, qapp.font())
    assert "$" not in sheet
    icons = re.findall(r"url\((.+?)\)", sheet)
    assert icons
    assert [icon for icon in icons if not Path(icon).is_file()] == []
