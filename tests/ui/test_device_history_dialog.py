"""The last hour of the devices, as a person sees it."""

import time

import numpy as np
import pytest
from PySide6.QtCore import QSettings
from PySide6.QtWidgets import QToolButton

from gpupanel.domain.telemetry import DeviceReading, DeviceState, TelemetrySample
from gpupanel.ui import theme
from gpupanel.ui.dialogs.device_history_dialog import DeviceHistoryDialog
from tests.fakes.devices import CPU, RTX_3060, RTX_4090, TWO_UNEQUAL
from tests.fakes.person import Person
from tests.ui.device_panel_person import click
from tests.ui.new_window import new_window

pytestmark = pytest.mark.usefixtures("preview_without_process", "undressed")

BEGIN_S = 1_700_000_000.0


def sample(time_s: float, state: DeviceState = DeviceState.OK) -> TelemetrySample:
    wave = 50.0 + 40.0 * np.sin(time_s / 300.0)
    return TelemetrySample(
        time_s=time_s,
        readings=(
            DeviceReading(
                key=RTX_4090.key,
                state=state,
                gpu_utilization_percent=float(wave),
                memory_used_mib=12_282,
                memory_total_mib=24_564,
                temperature_c=40.0 + float(wave) / 3,
                power_w=4.0 * float(wave),
            ),
            DeviceReading(key=RTX_3060.key, gpu_utilization_percent=10.0, temperature_c=40.0),
            DeviceReading(key=CPU.key, gpu_utilization_percent=5.0),
        ),
    )


@pytest.fixture
def window(qtbot, tmp_path, runs_dir):
    settings = QSettings(str(tmp_path / "settings.ini"), QSettings.Format.IniFormat)
    window = new_window(settings, runs_dir, Person())
    qtbot.addWidget(window)
    with qtbot.waitExposed(window):
        window.show()
    window.session.set_inventory(TWO_UNEQUAL)
    yield window
    window.close()


def an_hour(window) -> None:
    """Devices read every five seconds, without a run."""
    for place in range(720):
        window.core.device_watch.sampled.emit(sample(BEGIN_S + 5.0 * place))


def opened(window, qtbot) -> DeviceHistoryDialog:
    click(window.devices.findChild(QToolButton, "history_button"))
    dialog = window.findChild(DeviceHistoryDialog)
    qtbot.waitExposed(dialog)
    return dialog


def test_that_the_last_hour_is_shown_without_a_run_a_curve_for_each_device(window, qtbot):
    an_hour(window)
    dialog = opened(window, qtbot)
    dialog.resize(1000, 600)  # as on a screen of people, which is wider than that of tests
    plots = dialog.plots
    entries = {name: plot.legend.entries() for name, plot in plots.items()}
    assert [entry.label for entry in entries["utilization"]] == ["RTX 4090", "RTX 3060", "a CPU"]
    assert [entry.label for entry in entries["memory"]] == ["RTX 4090"]
    assert [entry.label for entry in entries["temperature"]] == ["RTX 4090", "RTX 3060"]
    assert [entry.label for entry in entries["power"]] == ["RTX 4090"]
    assert entries["memory"][0].value == "50 %"
    assert entries["utilization"][1].color == theme.device_color(1)
    canvas = plots["utilization"].canvas
    assert canvas.time_range == (BEGIN_S, BEGIN_S + 3600.0)
    curve = next(each for each in canvas.drawn_curves() if each.label == "RTX 4090")
    qtbot.waitUntil(lambda: curve.points()[0].size == 360)
    places, values = curve.points()
    expected = 50.0 + 40.0 * np.sin((places - 2.5) / 300.0)
    assert np.abs(values - expected).max() < 0.1
    ticks = canvas.ticks("bottom")
    assert len(ticks) >= 3
    assert all(place % 600 == 0 for place, _ in ticks)
    assert all(text == time.strftime("%H:%M", time.localtime(place)) for place, text in ticks)


def test_that_the_dialog_goes_on_and_a_lost_gpu_leaves_a_gap(window, qtbot):
    an_hour(window)
    dialog = opened(window, qtbot)
    for place in range(12):
        window.core.device_watch.sampled.emit(
            sample(BEGIN_S + 3600.0 + 10.0 * place, DeviceState.LOST)
        )
    window.core.device_watch.sampled.emit(sample(BEGIN_S + 3720.0))
    canvas = dialog.plots["power"].canvas
    assert canvas.time_range == (BEGIN_S + 130.0, BEGIN_S + 3730.0)
    [curve] = canvas.drawn_curves()
    qtbot.waitUntil(lambda: np.isnan(curve.points()[1]).any())
    places, values = curve.points()
    assert places[np.isnan(values)] == [BEGIN_S + 3605.0]
    assert places[np.isfinite(values)].max() == BEGIN_S + 3725.0


def test_that_all_plots_zoom_together_and_a_double_click_shows_the_hour_again(window, qtbot):
    an_hour(window)
    dialog = opened(window, qtbot)
    chosen = (BEGIN_S + 600.0, BEGIN_S + 1200.0)
    dialog.plots["power"].canvas.setTimeRange(*chosen)
    dialog.plots["power"].canvas.timeRangeChosen.emit(*chosen)
    ranges = {plot.canvas.time_range for plot in dialog.plots.values()}
    assert ranges == {chosen}
    window.core.device_watch.sampled.emit(sample(BEGIN_S + 3610.0))
    assert dialog.plots["memory"].canvas.time_range == chosen
    dialog.plots["memory"].canvas.timeRangeReset.emit()
    assert dialog.plots["power"].canvas.time_range == (BEGIN_S + 20.0, BEGIN_S + 3620.0)


def test_that_a_device_is_hidden_in_all_plots_by_its_legend(window, qtbot):
    an_hour(window)
    dialog = opened(window, qtbot)
    dialog.plots["temperature"].legend.toggled.emit("RTX 4090")
    for plot in dialog.plots.values():
        assert "RTX 4090" not in [each.label for each in plot.canvas.drawn_curves()]


def test_that_an_empty_history_says_so_and_fills_while_it_is_open(window, qtbot):
    dialog = opened(window, qtbot)
    assert dialog.plots["power"].legend.entries() == ()
    window.core.device_watch.sampled.emit(sample(BEGIN_S))
    labels = [entry.label for entry in dialog.plots["power"].legend.entries()]
    assert labels == ["RTX 4090"]


def test_that_a_young_window_shows_no_empty_hour(window, qtbot):
    dialog = opened(window, qtbot)
    canvas = dialog.plots["power"].canvas
    spans = []
    for minute in (0, 4, 12, 25, 50):
        window.core.device_watch.sampled.emit(sample(BEGIN_S + 60.0 * minute))
        begin_s, end_s = canvas.time_range
        assert begin_s <= BEGIN_S
        spans.append(round((end_s - begin_s) / 60))
    assert spans == [5, 5, 15, 30, 60]
