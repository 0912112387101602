"""The band under the loss: where a run's time goes, of all devices or of one."""

import pytest
from PySide6.QtWidgets import QComboBox

from gpupanel.domain.events import RunStarted, TimeReported
from gpupanel.domain.profile import DeviceSettings, Profile
from gpupanel.domain.strategy import StrategyKind, StrategySettings
from gpupanel.domain.time_spent import ReplicaTime, TimeSpent
from gpupanel.planning.prepare import prepare
from gpupanel.ui import theme
from gpupanel.ui.panels.live_panel import LivePanel
from tests.fakes.devices import RTX_3060, RTX_4090, TWO_UNEQUAL

START = 1_000.0


def reported(second: int, *, slow_s: float = 0.8) -> TimeReported:
    """Of two replicas: the first waits while the second one computes."""
    fast = ReplicaTime(computing_s=0.2, exchanging_s=0.1, waiting_for_replicas_s=slow_s - 0.2)
    slow = ReplicaTime(computing_s=slow_s, exchanging_s=0.1)
    spent = TimeSpent(seconds=1.0, host_s=0.9 - slow_s, replicas=(fast, slow))
    return TimeReported(time_s=START + second, step=10 * second, spent=spent)


@pytest.fixture
def panel(qtbot) -> LivePanel:
    panel = LivePanel()
    qtbot.addWidget(panel)
    panel.resize(1_100, 700)
    panel.show()
    panel.setDevices(TWO_UNEQUAL)
    profile = Profile(
        devices=DeviceSettings(visible=(RTX_4090.key, RTX_3060.key)),
        strategy=StrategySettings(kind=StrategyKind.MIRRORED),
    )
    plan = prepare(profile, TWO_UNEQUAL).plan
    assert plan is not None
    panel.setPlan(plan)
    panel.addEvents([RunStarted(time_s=START, supervisor_pid=1)])
    panel.addEvents([reported(second) for second in range(1, 30)])
    qtbot.waitUntil(panel.plot_wall.isVisible)
    panel.plot_wall.redraw()
    return panel


def values(panel: LivePanel) -> dict[str, str]:
    return {each.label: each.value for each in panel.plot_wall.time_plot.legend.entries()}


def choose(panel: LivePanel, label: str) -> None:
    box = panel.findChild(QComboBox, "time_spent_device")
    box.setCurrentIndex(box.findText(label))


def test_that_the_band_is_a_mean_over_all_devices_at_first(panel):
    assert values(panel) == {
        "compute": "50 %",
        "exchange": "10 %",
        "replicas": "30 %",
        "host": "10 %",
    }


def test_that_one_devices_time_is_shown_when_it_is_chosen(panel):
    choose(panel, "RTX 4090")
    assert values(panel)["replicas"] == "60 %"
    choose(panel, "RTX 3060")
    assert values(panel) == {"compute": "80 %", "exchange": "10 %", "host": "10 %"}


def test_that_activities_are_painted_on_each_other_in_their_colours(panel, qtbot):
    plot = panel.plot_wall.time_plot
    plot.canvas.setTimeRange(5.0, 25.0)
    plot.canvas.redraw(keep_axes=True)
    picture = plot.canvas.grab().toImage()
    box = plot.canvas.getPlotItem().vb.sceneBoundingRect().toRect()
    ratio = picture.devicePixelRatio()
    column = [
        picture.pixelColor(int(box.center().x() * ratio), int(y * ratio)).name()
        for y in range(box.top() + 2, box.bottom() - 1)
    ]
    colors = theme.current().activities
    heights = {
        name: column.count(colors[place]) / len(column)
        for place, name in enumerate(
            ("compute", "exchange", "replicas", "data", "host", "validation", "saving")
        )
    }
    assert heights["compute"] == pytest.approx(0.5, abs=0.15)
    assert heights["replicas"] == pytest.approx(0.3, abs=0.15)
    assert heights["data"] == 0.0
    order = [colors.index(each) for each in column if each in colors]
    assert order == sorted(order, reverse=True)  # from above: the last one first


def test_that_a_click_on_the_legend_hides_nothing_of_the_band(panel, qtbot):
    assert not any(each.is_clickable for each in panel.plot_wall.time_plot.legend.entries())


def test_that_a_run_of_one_device_offers_no_choice(qtbot):
    panel = LivePanel()
    qtbot.addWidget(panel)
    panel.show()
    panel.setDevices(TWO_UNEQUAL)
    plan = prepare(Profile(devices=DeviceSettings(visible=(RTX_4090.key,))), TWO_UNEQUAL).plan
    assert plan is not None
    panel.setPlan(plan)
    assert panel.findChild(QComboBox, "time_spent_device").isHidden()
