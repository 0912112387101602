import pytest
from PySide6.QtCore import QPoint, QSettings
from PySide6.QtGui import QGuiApplication
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QLabel, QScrollArea, QScrollBar, QToolButton, QWidget

from gpupanel.domain.device import (
    CPU_KEY,
    DeviceInventory,
    DeviceKind,
    DeviceLink,
    LinkKind,
    PhysicalDevice,
)
from gpupanel.domain.memory import LimitedMemory
from gpupanel.domain.problem import Change, Fix, Problem, Severity
from gpupanel.domain.profile import DeviceDescription, DeviceSettings
from gpupanel.domain.telemetry import (
    DeviceProcess,
    DeviceReading,
    DiskReading,
    TelemetrySample,
    ThrottleReason,
)
from gpupanel.ui.bindings.folds_binding import FoldsBinding
from gpupanel.ui.device_choices import DeviceChoices
from gpupanel.ui.inputs.switch import Switch
from gpupanel.ui.panels.device_panel import DevicePanel
from gpupanel.ui.panels.device_panel.device_card import DeviceCard
from gpupanel.ui.panels.device_panel.readings_view import NoticeTag
from gpupanel.ui.panels.live_panel import LivePanel
from gpupanel.ui.session_layout import SessionLayout
from gpupanel.ui.widgets.buttons import FoldButton
from gpupanel.ui.widgets.core_bars import CoreBars
from gpupanel.ui.widgets.memory_bar import MemoryBar
from gpupanel.ui.widgets.process_list import ProcessList
from gpupanel.ui.widgets.sparkline import Sparkline
from tests.fakes.devices import CPU, RTX_3060, RTX_4090, TWO_UNEQUAL
from tests.fakes.readings import EIGHT_DEVICES, busy_sample
from tests.ui.device_panel_person import button, card, click, policy_box, seen, seen_texts

FULL = RTX_4090.model_copy(
    update={
        "architecture": "Ada Lovelace",
        "pci_bus_id": "00000000:01:00.0",
        "temperature_slowdown_c": 83.0,
        "temperature_shutdown_c": 98.0,
        "pcie_generation_max": 4,
        "pcie_width_max": 16,
    }
)
LINKED = DeviceInventory(
    driver="580",
    devices=(FULL, RTX_3060, CPU),
    links=(DeviceLink(keys=(FULL.key, RTX_3060.key), kind=LinkKind.NVLINK, nvlink_count=4),),
)
A100 = PhysicalDevice(
    key="GPU-a100",
    kind=DeviceKind.GPU,
    name="NVIDIA A100-SXM4-40GB",
    memory_total_mib=40_960,
    is_partitioned=True,
)
INSTANCES = tuple(
    PhysicalDevice(
        key=f"MIG-{index}",
        kind=DeviceKind.GPU,
        name="NVIDIA A100-SXM4-40GB MIG 3g.20gb",
        memory_total_mib=20_096,
        parent_key=A100.key,
    )
    for index in range(2)
)
USE_LESS = Fix(label="Use 6,388 MiB", changes=(Change(path=("memory", "x"), value=1),))
PROCESS = DeviceProcess(pid=7, name="python", user="ada", memory_used_mib=900, is_mine=True)


@pytest.fixture
def panel(qtbot) -> DevicePanel:
    panel = DevicePanel()
    qtbot.addWidget(panel)
    panel.resize(320, 900)
    panel.show()
    return panel


def tell(panel: DevicePanel, key: str, **reading: object) -> None:
    """A sample in which that device reports this."""
    readings = (DeviceReading(key=key, **reading),)
    panel.setSample(TelemetrySample(time_s=0.0, readings=readings))


def notices(panel: DevicePanel, key: str) -> str:
    return seen_texts(seen(card(panel, key), NoticeTag)[0])


def test_that_details_are_folded_until_somebody_wants_them(panel):
    panel.setInventory(LINKED)
    assert "Ada Lovelace" not in seen_texts(panel)
    click(button(card(panel, FULL.key), "Details"))
    assert "Ada Lovelace, 8.9" in seen_texts(panel)
    click(button(card(panel, FULL.key), "Details"))
    assert "Ada Lovelace" not in seen_texts(panel)


def test_that_details_report_every_reading(panel):
    panel.setInventory(LINKED)
    card(panel, FULL.key).details.findChild(FoldButton).click()
    tell(
        panel,
        FULL.key,
        clock_mhz=2520,
        memory_clock_mhz=10_501,
        fan_percent=34.0,
        memory_utilization_percent=12.0,
        memory_reserved_mib=400,
        throttle_reasons=(ThrottleReason.POWER_CAP, ThrottleReason.SYNC_BOOST),
        pcie_generation=1,
        pcie_width=8,
        ecc_corrected=3,
        ecc_uncorrected=0,
        retired_pages=2,
    )
    texts = seen_texts(card(panel, FULL.key))
    for words in (
        *("2,520 MHz", "10,501 MHz", "34 %", "12 %", "400 MiB", "83 °C", "98 °C"),
        *(
            "power limit, clocks of the sync group",
            "gen 1 x8",
            "gen 4 x16",
            "3 corrected, 0 uncorrected",
        ),
        *("00000000:01:00.0", "4 NVLinks", "to RTX 3060"),
    ):
        assert words in texts
    assert texts.count("\N{EN DASH}") < 5


def test_that_no_line_of_the_details_moves_while_readings_change(panel):
    panel.setInventory(LINKED)
    mine = card(panel, FULL.key)
    mine.details.findChild(FoldButton).click()

    def places() -> list[QPoint]:
        return [label.mapTo(panel, QPoint()) for label in seen(mine.details, QLabel)]

    tell(panel, FULL.key, throttle_reasons=())
    QApplication.processEvents()  # lays out what the first reading has shown
    before = places()
    tell(panel, FULL.key, throttle_reasons=tuple(ThrottleReason), retired_pages=123_456)
    assert places() == before
    [throttling] = [each for each in seen(mine, QLabel) if "power limit, " in each.text()]
    assert "heat, by the hardware" in throttling.toolTip()


def test_that_each_reading_can_be_absent_on_its_own(panel):
    panel.setInventory(TWO_UNEQUAL)
    mine = card(panel, RTX_3060.key)
    mine.details.findChild(FoldButton).click()
    tell(panel, RTX_3060.key, clock_mhz=210, ecc_corrected=None)
    texts = seen_texts(mine).splitlines()
    assert texts[texts.index("Clock") + 1] == "210 MHz"
    for caption in ("Fan", "Throttling", "PCI Express now", "Memory errors", "Retired memory"):
        assert texts[texts.index(caption) + 1] == "\N{EN DASH}"
    tell(panel, RTX_3060.key, throttle_reasons=())
    texts = seen_texts(mine).splitlines()
    assert texts[texts.index("Throttling") + 1] == "none"


def test_that_gpus_that_are_connected_alike_share_a_line(panel):
    gpus = EIGHT_DEVICES.gpus
    links = [
        DeviceLink(keys=(gpus[0].key, other.key), kind=LinkKind.NVLINK, nvlink_count=18)
        for other in gpus[1:]
    ]
    panel.setFolds({gpus[0].key: True})
    panel.setInventory(EIGHT_DEVICES.model_copy(update={"links": tuple(links)}))
    mine = card(panel, gpus[0].key)
    mine.details.findChild(FoldButton).click()
    assert "18 NVLinks\nto all 6 other GPUs" in seen_texts(mine)
    links[-1] = links[-1].model_copy(update={"kind": LinkKind.PCIE_SWITCH, "nvlink_count": 0})
    panel.setInventory(EIGHT_DEVICES.model_copy(update={"links": tuple(links)}))
    assert "PCIe switch\nto H100 80GB HBM3 #7" in seen_texts(mine)
    assert "all 6 other GPUs" not in seen_texts(mine)


def test_that_the_uuid_is_copied(panel):
    panel.setInventory(TWO_UNEQUAL)
    card(panel, RTX_3060.key).details.findChild(FoldButton).click()
    click(button(card(panel, RTX_3060.key), "Copy the UUID"))
    assert QGuiApplication.clipboard().text() == RTX_3060.key


@pytest.mark.parametrize(
    ("reason", "words", "severity"),
    [
        (ThrottleReason.POWER_CAP, "Power limit", Severity.HINT),
        (ThrottleReason.THERMAL, "Throttled: heat", Severity.WARNING),
        (ThrottleReason.HARDWARE_THERMAL, "Too hot", Severity.ERROR),
        (ThrottleReason.HARDWARE_POWER_BRAKE, "Power brake", Severity.ERROR),
    ],
)
def test_that_throttling_is_shown_on_the_card_in_words(panel, reason, words, severity):
    panel.setInventory(TWO_UNEQUAL)
    tell(panel, RTX_3060.key, throttle_reasons=(reason, ThrottleReason.IDLE))
    assert notices(panel, RTX_3060.key) == words
    tag = seen(card(panel, RTX_3060.key), NoticeTag)[0]
    assert tag.notice().severity is severity
    assert tag.notice().sentence in tag.toolTip()


def test_that_a_killed_process_that_does_not_end_is_shown_on_the_card(panel):
    panel.setInventory(TWO_UNEQUAL)
    stuck = DeviceProcess(pid=4711, name="python", memory_used_mib=900, was_killed=True)
    tell(panel, RTX_3060.key, processes=(stuck,))
    assert notices(panel, RTX_3060.key) == "Killed process"
    tag = seen(card(panel, RTX_3060.key), NoticeTag)[0]
    assert tag.notice().sentence.startswith("python (4711) was killed and does not end")


def test_that_an_idle_gpu_is_no_news(panel):
    panel.setInventory(TWO_UNEQUAL)
    tell(panel, RTX_3060.key, throttle_reasons=(ThrottleReason.IDLE,))
    assert notices(panel, RTX_3060.key) == ""


def test_that_what_comes_and_goes_does_not_flicker(panel):
    panel.setInventory(TWO_UNEQUAL)
    for _ in range(5):
        tell(panel, RTX_3060.key, throttle_reasons=(ThrottleReason.POWER_CAP,))
        tell(panel, RTX_3060.key, throttle_reasons=())
        assert notices(panel, RTX_3060.key) == "Power limit"
    for _ in range(10):
        tell(panel, RTX_3060.key, throttle_reasons=())
    assert notices(panel, RTX_3060.key) == ""


def test_that_old_readings_say_how_old_they_are(panel):
    panel.setInventory(TWO_UNEQUAL)
    tell(panel, RTX_3060.key, age_s=1.9)
    assert notices(panel, RTX_3060.key) == ""
    tell(panel, RTX_3060.key, age_s=3.6, throttle_reasons=(ThrottleReason.THERMAL,))
    assert notices(panel, RTX_3060.key) == "4 s old"


def test_that_many_gpus_are_folded_and_each_can_be_opened(panel):
    panel.resize(320, 700)
    panel.setInventory(EIGHT_DEVICES)
    panel.setSample(busy_sample(EIGHT_DEVICES, 1.0))
    first = card(panel, "GPU-0")
    QTest.qWait(0)  # layouts follow with the next turn
    folded = first.sizeHint().height()
    assert seen(first, Sparkline) == []
    assert "%" in seen_texts(first)
    click(button(first, "Open H100 80GB HBM3 #1"))
    assert first.is_open
    assert seen(first, Sparkline)
    assert first.sizeHint().height() > folded
    assert 7 * (folded + 8) < 640
    panel.setInventory(EIGHT_DEVICES.model_copy(update={"devices": EIGHT_DEVICES.devices[:-1]}))
    assert card(panel, "GPU-0").is_open
    assert not card(panel, "GPU-1").is_open


def test_that_each_of_eight_gpus_can_have_one_line(panel):
    panel.resize(320, 640)  # as in a window of 1280 x 800
    panel.setInventory(EIGHT_DEVICES)
    panel.setSample(busy_sample(EIGHT_DEVICES, 1.0))
    click(button(panel, "Lines"))
    assert panel.in_lines()
    assert seen(panel.findChild(QScrollArea), QScrollBar) == []
    for device in EIGHT_DEVICES.devices:
        mine = card(panel, device.key)
        [bar], [switch] = seen(mine, MemoryBar), seen(mine, Switch)
        assert mine.height() < 2 * switch.height()
        assert bar.mapTo(mine, QPoint()).x() < switch.mapTo(mine, QPoint()).x()
        assert "%" in seen_texts(mine)
    assert "29.9" not in seen_texts(panel)


def test_that_a_line_is_opened_for_a_while_and_all_is_as_before_without_lines(panel):
    panel.setInventory(TWO_UNEQUAL)
    panel.setFolds({RTX_3060.key: False})
    panel.setInLines(True)
    folded = card(panel, RTX_4090.key)
    assert not folded.is_open
    click(button(folded, "Open RTX 4090"))
    assert seen(folded, Sparkline)
    # Above the numbers again, and not beside the name.
    [bar] = seen(folded, MemoryBar)
    assert bar.width() > 0.8 * folded.width()
    click(button(panel, "Lines"))
    assert not panel.in_lines()
    assert [card(panel, each.key).is_open for each in (RTX_4090, RTX_3060)] == [True, False]
    assert panel.folds() == {RTX_3060.key: False}


def test_that_heat_is_seen_in_a_line_too(panel):
    panel.setInventory(TWO_UNEQUAL)
    panel.setInLines(True)
    tell(panel, RTX_3060.key, throttle_reasons=())
    assert not card(panel, RTX_3060.key).readings.isVisible()
    tell(panel, RTX_3060.key, throttle_reasons=(ThrottleReason.THERMAL,))
    assert "Heat" in seen_texts(card(panel, RTX_3060.key))


def test_that_lines_and_hidden_plots_are_remembered(panel, qtbot, tmp_path):
    settings = QSettings(str(tmp_path / "window.ini"), QSettings.Format.IniFormat)
    sections = SessionLayout(QWidget(), [], [])
    live = LivePanel()
    for each in (sections, live):
        qtbot.addWidget(each)
    first = FoldsBinding(panel, sections, live, settings, panel)
    assert not panel.in_lines()
    panel.setInLines(True)
    (memory,) = [title for title in live.shown_plots() if title.startswith("Memory")]
    live.set_shown_plots({memory: False, "of an older version": True})
    first.stop()
    other, later = DevicePanel(), LivePanel()
    for each in (other, later):
        qtbot.addWidget(each)
    FoldsBinding(other, sections, later, settings, other)
    assert other.in_lines()
    assert other.findChild(QToolButton, "device_lines").isChecked()
    assert later.plot_wall.memory_plot not in later.plot_wall.plots
    assert later.plot_wall.loss_plot in later.plot_wall.plots
    later.set_shown_plots(dict.fromkeys(later.shown_plots(), False))
    assert later.plot_wall.plots


def test_that_of_many_gpus_those_are_open_that_leave_all_seen(panel, qtbot):
    panel.setInventory(EIGHT_DEVICES)
    cards = [card(panel, device.key) for device in EIGHT_DEVICES.devices]
    qtbot.waitUntil(lambda: [each.is_open for each in cards] == [True] + [False] * 7)
    bottom = max(each.mapTo(panel, each.rect().bottomLeft()).y() for each in cards)
    assert bottom <= panel.height()


def test_that_many_gpus_are_open_where_all_can_be_seen(panel):
    panel.resize(320, 1600)
    panel.setInventory(EIGHT_DEVICES)
    gpus = [card(panel, f"GPU-{number}") for number in range(7)]
    assert [each.is_open for each in gpus] == [True] * 7
    click(button(gpus[2], "Fold H100 80GB HBM3 #3"))
    panel.resize(320, 900)
    # As many as leave all seen, from above.
    assert [each.is_open for each in gpus] == [True] + [False] * 6
    panel.resize(320, 700)
    assert [each.is_open for each in gpus] == [False] * 7
    panel.resize(320, 1600)
    assert [each.is_open for each in gpus] == [True, True, False, *[True] * 4]


def test_that_a_folded_card_reports_heat_and_its_bar_does_not_move(panel):
    panel.setInventory(EIGHT_DEVICES)
    panel.setValue(DeviceChoices(memory={"GPU-1": LimitedMemory(limit_mib=4096)}))
    tell(panel, "GPU-1", throttle_reasons=(ThrottleReason.THERMAL,))
    assert notices(panel, "GPU-1") == "Heat"
    assert card(panel, "GPU-1").readings.bar.border_positions() == ()


def test_that_a_gpu_in_mig_mode_has_no_switch_and_its_instances_stand_behind_it(panel, qtbot):
    panel.setInventory(DeviceInventory(driver="580", devices=(A100, *INSTANCES, CPU)))
    whole = card(panel, A100.key)
    assert seen(whole, Switch) == []
    assert "In MIG mode: only its instances can compute." in seen_texts(whole)
    assert not policy_box(panel, A100.key).isVisible()
    assert "MIG 3g.20gb #2" in seen_texts(card(panel, INSTANCES[1].key))
    lefts = [
        card(panel, device.key).findChild(Sparkline).mapTo(panel, QPoint()).x()
        for device in (A100, *INSTANCES)
    ]
    assert lefts[0] < lefts[1] == lefts[2]
    click(seen(card(panel, INSTANCES[0].key), Switch)[0])
    assert panel.value().devices.visible == (INSTANCES[1].key,)


def test_that_a_device_that_appears_leaves_the_curves_of_the_others(panel):
    panel.setInventory(DeviceInventory(driver="580", devices=(RTX_3060, CPU)))
    tell(panel, RTX_3060.key, gpu_utilization_percent=50.0)
    panel.setInventory(TWO_UNEQUAL)
    assert card(panel, RTX_3060.key).readings.history() == (50.0,)


def test_that_an_absent_device_is_called_by_its_name(panel):
    described = {"GPU-x": DeviceDescription(name="NVIDIA GeForce RTX 3090", memory_total_mib=24576)}
    panel.setInventory(TWO_UNEQUAL)
    panel.setValue(
        DeviceChoices(devices=DeviceSettings(visible=("GPU-3060", "GPU-x"), described=described))
    )
    assert "RTX 3090, 24.0 GiB" in seen_texts(panel)
    click(button(panel, "Remove from profile"))
    assert panel.value().devices == DeviceSettings(visible=("GPU-3060",))


def test_that_each_processor_has_a_bar_and_many_share_one(panel, qtbot):
    panel.setInventory(TWO_UNEQUAL)
    tell(panel, CPU_KEY, core_utilization_percent=(10.0, 90.0))
    [bars] = seen(card(panel, CPU_KEY), CoreBars)
    assert bars.bars() == ((10.0, 10.0), (90.0, 90.0))
    assert "the busiest, number 1, is busy 90 %" in bars.toolTip()
    tell(panel, CPU_KEY, core_utilization_percent=(0.0, 100.0) * 128)
    assert len(bars.bars()) <= bars.width() / 4
    assert bars.bars()[0][1] == 100.0


def test_that_the_disk_of_the_runs_is_shown_and_warned_of(panel):
    panel.setInventory(TWO_UNEQUAL)
    sample = TelemetrySample(time_s=0.0, readings=())
    panel.setSample(sample)
    assert "Runs folder" not in seen_texts(panel)
    disk = DiskReading(path="/home/ada/runs", total_mib=900_000, free_mib=400_000)
    panel.setSample(sample.model_copy(update={"disk": disk}))
    assert "390.6 GiB free" in seen_texts(card(panel, CPU_KEY))
    assert "Runs folder" not in seen_texts(card(panel, RTX_3060.key))
    full = disk.model_copy(update={"free_mib": 900})
    panel.setSample(sample.model_copy(update={"disk": full}))
    assert "only 900 MiB free" in seen_texts(card(panel, CPU_KEY))


def test_that_processes_stand_in_the_details_and_can_be_asked_to_end(panel, qtbot):
    panel.setInventory(TWO_UNEQUAL)
    card(panel, RTX_3060.key).details.findChild(FoldButton).click()
    tell(panel, RTX_3060.key, processes=(PROCESS,))
    [shown] = seen(card(panel, RTX_3060.key), ProcessList)
    assert shown.processes() == (PROCESS,)
    with qtbot.waitSignal(panel.endRequested) as reported:
        click(button(shown, "End python, process 7"))
    assert reported.args == [PROCESS]
    panel.setOwnProcesses(frozenset([7]))
    assert "This run" in seen_texts(shown)


def test_that_a_problem_stands_on_the_device_that_it_is_about(panel, qtbot):
    own = Problem(
        code="memory_limit_above_free",
        severity=Severity.WARNING,
        field=f"memory.{RTX_3060.key}.limit_mib",
        message="9,120 MiB are asked for.",
        fix=USE_LESS,
    )
    general = Problem(
        code="memory_growth_differs",
        field="memory",
        message="Memory growth differs.",
        fix=Fix(label="Let all grow", changes=USE_LESS.changes),
        alternatives=(Fix(label="A process for each", changes=USE_LESS.changes),),
    )
    elsewhere = own.model_copy(update={"field": "strategy.shares", "message": "Shares."})
    hint = own.model_copy(update={"severity": Severity.HINT, "message": "By the way."})
    panel.setInventory(TWO_UNEQUAL)
    seen_texts(panel)
    place = card(panel, RTX_3060.key).mapTo(panel, QPoint())
    panel.setProblems((general, general, own, elsewhere, hint))
    assert "9,120 MiB are asked for." in seen_texts(card(panel, RTX_3060.key))
    texts = seen_texts(panel)
    assert texts.count("Memory growth differs.") == 1
    assert "1 more: see What will happen." in texts
    assert "Shares." not in texts
    assert "By the way." not in texts
    assert card(panel, RTX_3060.key).mapTo(panel, QPoint()) == place
    fixes = ((panel, USE_LESS), (panel.general, general.alternatives[0]))
    for place, fix in fixes:
        with qtbot.waitSignal(place.fixRequested) as reported:
            click(button(panel, fix.label))
        assert reported.args == [fix]
    panel.setProblems(())
    assert "MiB are asked for" not in seen_texts(panel)
    assert "Memory growth differs." not in seen_texts(panel)


def test_that_a_field_leads_to_the_settings_of_its_device(panel, qtbot):
    panel.setInventory(EIGHT_DEVICES)
    panel.activateWindow()
    panel.show_field("memory.GPU-6.limit_mib")
    assert card(panel, "GPU-6").is_open
    assert panel.focusWidget() is policy_box(panel, "GPU-6")
    panel.show_field("strategy.shares")
    assert panel.focusWidget() is policy_box(panel, "GPU-6")


def test_that_the_doctor_is_asked_for(panel, qtbot):
    with qtbot.waitSignal(panel.head.doctorRequested):
        click(button(panel, "Doctor"))
    assert button(panel, "Doctor").objectName() == "doctor_button"


def test_that_cards_are_kept_apart_from_the_readings_of_others(panel):
    panel.setInventory(TWO_UNEQUAL)
    tell(panel, RTX_3060.key, gpu_utilization_percent=10.0)
    values = {
        each.device.key: each.findChild(Sparkline).values()
        for each in panel.findChildren(DeviceCard)
    }
    assert values == {RTX_3060.key: (10.0,), RTX_4090.key: (None,), CPU_KEY: (None,)}
