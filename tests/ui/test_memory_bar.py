import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QColor
from PySide6.QtTest import QTest

from gpupanel.ui import theme
from gpupanel.ui.widgets.memory_bar import STEP_MIB, MemoryBar
from gpupanel.ui.widgets.memory_use import MemoryUse

GIB = 1024


@pytest.fixture
def bar(qtbot) -> MemoryBar:
    bar = MemoryBar(0)
    qtbot.addWidget(bar)
    bar.resize(407, bar.sizeHint().height())
    bar.setMovable(True)
    bar.show()
    return bar


def heard_of(bar: MemoryBar) -> list[tuple[int, ...]]:
    """What is reported while borders move; the bar is shown each, as its owner would."""
    heard: list[tuple[int, ...]] = []

    def take(limits: tuple[int, ...]) -> None:
        heard.append(limits)
        use = bar.use()
        bar.setUse(
            MemoryUse(use.total_mib, use.other_processes_mib, use.ours_mib, limits_mib=limits)
        )

    bar.limitsMoved.connect(take)
    return heard


def drag(bar: MemoryBar, start: float, *stops: float) -> None:
    y = bar.height() // 2
    QTest.mousePress(bar, Qt.MouseButton.LeftButton, pos=QPoint(round(start), y))
    for stop in stops:
        QTest.mouseMove(bar, QPoint(round(stop), y))
    QTest.mouseRelease(bar, Qt.MouseButton.LeftButton, pos=QPoint(round(stops[-1]), y))


def pixel(bar: MemoryBar, part: float) -> QColor:
    """The colour at that part of the bar's length, between its hatching."""
    return bar.grab().toImage().pixelColor(round(3.5 + part * 400), bar.height() // 2)


def near(one: QColor, other: QColor) -> bool:
    pairs = zip(one.getRgb()[:3], other.getRgb()[:3], strict=True)
    return all(abs(a - b) <= 12 for a, b in pairs)


def test_that_other_processes_come_first_then_ours_then_what_may_be_taken_then_free(bar):
    bar.setMovable(False)
    bar.setUse(
        MemoryUse(1000, other_processes_mib=200, ours_mib=200, limits_mib=(400,), context_mib=50)
    )
    colors, own = theme.current(), theme.device_color(0)
    assert near(pixel(bar, 0.3), own)
    assert near(pixel(bar, 0.9), colors.color("track"))
    allowed = pixel(bar, 0.5)
    assert not near(allowed, own)
    assert not near(allowed, colors.color("track"))
    assert not near(pixel(bar, 0.1), own)
    # The run's memory begins behind that of the others: 200 + 400 of 1000.
    top = bar.grab().toImage()
    assert any(near(top.pixelColor(x, 2), colors.color("text")) for x in (242, 243, 244))


def test_that_the_context_is_drawn_behind_the_cap(bar):
    bare = MemoryUse(1000, limits_mib=(400,))
    bar.setUse(bare)
    without = bar.grab(bar.rect().adjusted(170, 0, 0, 0)).toImage()
    bar.setUse(MemoryUse(1000, limits_mib=(400,), context_mib=100))
    assert bar.grab(bar.rect().adjusted(170, 0, 0, 0)).toImage() != without


def test_that_the_same_is_said_in_words(bar):
    use = MemoryUse(8192, 1024, 2048, reserved_mib=512, limits_mib=(2048, 2048), context_mib=500)
    bar.setUse(use)
    for words in (
        *("2.0 GiB held by this run", "1.0 GiB by other processes", "4.5 GiB free of 8.0 GiB"),
        *("512 MiB reserved by the driver", "2 logical devices of 2.0 GiB + 2.0 GiB"),
        *("500 MiB for the CUDA context", "arrow keys"),
    ):
        assert words in bar.words()
    bar.setMovable(False)
    assert "arrow keys" not in bar.words()


def test_that_a_cap_beyond_the_memory_is_drawn_at_its_end():
    assert MemoryUse(1000, other_processes_mib=500, limits_mib=(900,)).borders_mib == (1000,)
    assert MemoryUse(1000).borders_mib == ()
    assert MemoryUse(limits_mib=(5,)).borders_mib == ()


def test_that_the_cap_is_dragged_and_reported_while_it_moves(bar):
    bar.setUse(MemoryUse(16 * GIB, other_processes_mib=4 * GIB, limits_mib=(4 * GIB,)))
    heard = heard_of(bar)
    (border,) = bar.border_positions()
    drag(bar, border, border + 50, border + 100)
    assert heard == [(6 * GIB,), (8 * GIB,)]


def test_that_dragging_to_the_end_takes_what_other_processes_leave_and_never_less_than_a_step(bar):
    bar.setUse(MemoryUse(16 * GIB, other_processes_mib=4 * GIB, limits_mib=(4 * GIB,)))
    heard = heard_of(bar)
    (border,) = bar.border_positions()
    drag(bar, border, 500)
    drag(bar, bar.border_positions()[0], 0)
    assert heard == [(12 * GIB,), (STEP_MIB,)]


def test_that_a_border_between_parts_takes_from_one_and_gives_to_the_other(bar):
    bar.setUse(MemoryUse(16 * GIB, limits_mib=(4 * GIB, 4 * GIB, 4 * GIB)))
    heard = heard_of(bar)
    first, _, last = bar.border_positions()
    drag(bar, first, first + 25)
    drag(bar, last, last - 50)
    assert heard == [(5 * GIB, 3 * GIB, 4 * GIB), (5 * GIB, 3 * GIB, 2 * GIB)]


@settings(max_examples=50, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    parts=st.lists(st.integers(1, 6 * GIB), min_size=2, max_size=8),
    border=st.integers(0, 7),
    stops=st.lists(st.integers(-20, 430), min_size=1, max_size=4),
)
def test_that_no_drag_loses_memory_or_a_part(bar, parts, border, stops):
    bar.setUse(MemoryUse(24 * GIB, other_processes_mib=GIB, limits_mib=tuple(parts)))
    heard = heard_of(bar)
    positions = bar.border_positions()
    drag(bar, positions[border % len(positions)], *stops)
    for before, limits in zip([tuple(parts), *heard], heard, strict=False):
        assert len(limits) == len(parts)
        assert all(limit > 0 for limit in limits)
        changed = [place for place in range(len(parts)) if limits[place] != before[place]]
        if changed != [len(parts) - 1]:
            assert sum(limits) == sum(before)
            assert len(changed) == 2
    bar.limitsMoved.disconnect()


def test_that_keys_move_the_chosen_border(bar):
    bar.setUse(MemoryUse(16 * GIB, limits_mib=(4 * GIB, 4 * GIB)))
    heard = heard_of(bar)
    bar.setFocus()
    QTest.keyClick(bar, Qt.Key.Key_Right)
    QTest.keyClick(bar, Qt.Key.Key_Left, Qt.KeyboardModifier.ShiftModifier)
    QTest.keyClick(bar, Qt.Key.Key_Down)
    QTest.keyClick(bar, Qt.Key.Key_Right)
    assert heard == [
        (4 * GIB + STEP_MIB, 4 * GIB - STEP_MIB),
        (3 * GIB + STEP_MIB, 5 * GIB - STEP_MIB),
        (3 * GIB + STEP_MIB, 5 * GIB),
    ]


def test_that_nothing_slips_under_the_pointer_while_readings_change(bar):
    bar.setUse(MemoryUse(16 * GIB, other_processes_mib=2 * GIB, limits_mib=(4 * GIB,)))
    (border,) = bar.border_positions()
    y = bar.height() // 2
    QTest.mousePress(bar, Qt.MouseButton.LeftButton, pos=QPoint(round(border), y))
    bar.setUse(MemoryUse(16 * GIB, other_processes_mib=8 * GIB, limits_mib=(4 * GIB,)))
    assert bar.border_positions() == (border,)
    QTest.mouseRelease(bar, Qt.MouseButton.LeftButton, pos=QPoint(round(border), y))
    assert bar.use().other_processes_mib == 8 * GIB
    assert bar.border_positions() != (border,)


def test_that_a_bar_that_is_only_shown_neither_moves_nor_takes_the_focus(bar):
    bar.setUse(MemoryUse(16 * GIB, limits_mib=(4 * GIB,)))
    heard = heard_of(bar)
    (border,) = bar.border_positions()
    bar.setMovable(False)
    drag(bar, border, border + 50)
    QTest.keyClick(bar, Qt.Key.Key_Right)
    assert heard == []
    assert bar.focusPolicy() == Qt.FocusPolicy.NoFocus
    bar.setMovable(True)
    bar.setUse(MemoryUse(16 * GIB))
    assert bar.focusPolicy() == Qt.FocusPolicy.NoFocus
