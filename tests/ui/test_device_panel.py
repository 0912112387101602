import time

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QAbstractButton, QApplication, QLabel, QPushButton, QScrollArea

from gpupanel.domain.cuda_variables import CudaVariables
from gpupanel.domain.device import CPU_KEY, DeviceInventory, UnresponsiveGpu
from gpupanel.domain.gpu_claim import GpuClaim
from gpupanel.domain.gpu_failure import ASLEEP, NO_ANSWER, GpuFailure
from gpupanel.domain.memory import (
    AllMemory,
    GrowingMemory,
    LimitedMemory,
    SplitMemory,
)
from gpupanel.domain.problem import Fix, Problem
from gpupanel.domain.profile import DeviceSettings
from gpupanel.domain.telemetry import ComputeMode, DeviceReading, DeviceState, TelemetrySample
from gpupanel.ui.device_choices import DeviceChoices
from gpupanel.ui.inputs.quiet_inputs import ComboBox, Slider, SpinBox
from gpupanel.ui.inputs.switch import Switch
from gpupanel.ui.panels.device_panel import DevicePanel
from gpupanel.ui.panels.device_panel.device_card import DeviceCard
from gpupanel.ui.panels.device_panel.memory_editor import MemoryEditor
from gpupanel.ui.widgets.buttons import FoldButton
from gpupanel.ui.widgets.memory_bar import MemoryBar
from gpupanel.ui.widgets.sparkline import Sparkline
from tests.fakes.devices import CPU_ONLY, RTX_3060, RTX_4090, TWO_UNEQUAL
from tests.fakes.readings import OUR_PID, busy_sample, with_lost
from tests.ui.device_panel_person import button, card, choose, click, policy_box, seen, seen_texts

ELSEWHERE = "GPU-elsewhere"


@pytest.fixture
def panel(qtbot) -> DevicePanel:
    panel = DevicePanel()
    qtbot.addWidget(panel)
    panel.resize(320, 900)
    panel.show()
    return panel


def cards(panel: DevicePanel) -> list[DeviceCard]:
    return sorted(panel.findChildren(DeviceCard), key=lambda card: card.y())


def switch(panel: DevicePanel, key: str) -> Switch:
    return card(panel, key).findChild(Switch)


def test_that_there_is_a_card_per_device_in_the_inventorys_order(panel, qtbot):
    panel.setInventory(TWO_UNEQUAL)
    qtbot.waitUntil(lambda: cards(panel)[1].y() > 0)
    assert [each.device.key for each in cards(panel)] == ["GPU-4090", "GPU-3060", CPU_KEY]
    assert panel.objectName() == "device_list"


def test_that_no_named_device_means_every_gpu(panel):
    panel.setInventory(TWO_UNEQUAL)
    on = [switch(panel, each.key).isChecked() for each in TWO_UNEQUAL.devices]
    assert on == [True, True, False]
    assert panel.value() == DeviceChoices()


def test_that_no_named_device_means_the_gpus_that_the_shell_leaves(panel):
    variables = CudaVariables(visible_devices="1")
    panel.setInventory(TWO_UNEQUAL.model_copy(update={"cuda_variables": variables}))
    on = [switch(panel, each.key).isChecked() for each in TWO_UNEQUAL.devices]
    assert on == [False, True, False]
    # Switched on, the other one is named, and used.
    click(switch(panel, "GPU-4090"))
    assert panel.value().devices.visible == ("GPU-4090", "GPU-3060")


def test_that_no_named_device_means_the_cpu_where_there_is_no_gpu(panel):
    panel.setInventory(CPU_ONLY)
    assert switch(panel, CPU_KEY).isChecked()
    assert "No NVIDIA driver answers here: training runs on the CPU." in seen_texts(panel)


def test_that_a_switch_writes_the_devices_in_use_by_their_keys(panel, qtbot):
    panel.setInventory(TWO_UNEQUAL)
    with qtbot.waitSignal(panel.valueChanged) as reported:
        click(switch(panel, "GPU-3060"))
    assert reported.args == [panel.value()]
    assert panel.value().devices.visible == ("GPU-4090",)
    QTest.keyClick(switch(panel, CPU_KEY), Qt.Key.Key_Space)
    click(switch(panel, "GPU-3060"))
    assert panel.value().devices.visible == ("GPU-4090", "GPU-3060", CPU_KEY)


def test_that_the_cpu_takes_the_place_of_the_last_gpu_and_a_gpu_that_of_the_cpu(panel):
    panel.setInventory(TWO_UNEQUAL)
    click(switch(panel, "GPU-3060"))
    assert "use the CPU instead" in switch(panel, "GPU-4090").toolTip()
    click(switch(panel, "GPU-4090"))
    assert panel.value().devices.visible == (CPU_KEY,)
    click(switch(panel, "GPU-3060"))
    assert panel.value().devices.visible == ("GPU-3060",)


def test_that_switching_the_cpu_off_brings_back_the_gpus_that_were_used_before(panel):
    panel.setInventory(TWO_UNEQUAL)
    click(switch(panel, "GPU-4090"))
    click(switch(panel, "GPU-3060"))
    click(switch(panel, CPU_KEY))
    assert panel.value().devices.visible == ("GPU-3060",)
    panel.setValue(DeviceChoices(devices=DeviceSettings(visible=(CPU_KEY,))))
    panel.setSample(with_lost(busy_sample(TWO_UNEQUAL, 0.0), "GPU-3060"))
    click(switch(panel, CPU_KEY))
    assert panel.value().devices.visible == ("GPU-4090",)


def test_that_the_cpu_stays_on_where_no_gpu_answers(panel):
    panel.setInventory(CPU_ONLY)
    click(switch(panel, CPU_KEY))
    assert panel.value() == DeviceChoices()
    assert "no GPU answers" in switch(panel, CPU_KEY).toolTip()


def test_that_showing_a_value_is_silent(panel, qtbot):
    panel.setInventory(TWO_UNEQUAL)
    with qtbot.assertNotEmitted(panel.valueChanged):
        panel.setValue(
            DeviceChoices(
                devices=DeviceSettings(visible=("GPU-3060", CPU_KEY), cpu_replicas=3),
                memory={"GPU-3060": LimitedMemory(limit_mib=2048)},
            )
        )
        panel.setSample(busy_sample(TWO_UNEQUAL, 1.0))


@pytest.mark.parametrize(
    "policy",
    [
        AllMemory(),
        GrowingMemory(),
        LimitedMemory(limit_mib=2048, growth=True),
        LimitedMemory(limit_mib=999_999),
        SplitMemory(split_mib=(2048, 2048)),
        SplitMemory(split_mib=(1024, 3072, 512)),
        SplitMemory(split_mib=(1024,) * 20),
    ],
)
def test_that_a_value_comes_back_as_it_was_set(panel, qtbot, policy):
    choices = DeviceChoices(memory={"GPU-4090": policy, "default": AllMemory()})
    panel.setInventory(TWO_UNEQUAL)
    panel.setValue(choices)
    panel.setSample(busy_sample(TWO_UNEQUAL, 1.0))
    assert panel.value() == choices
    editor = MemoryEditor()
    qtbot.addWidget(editor)
    editor.setValue(policy)
    editor.setRoom(12_288, 10_000)
    assert editor.value() == policy


def test_that_a_limit_is_offered_that_fits_into_what_is_free(panel):
    panel.setInventory(TWO_UNEQUAL)
    panel.setSample(busy_sample(TWO_UNEQUAL, 1.0))
    choose(policy_box(panel, "GPU-3060"), "limit")
    policy = panel.value().memory["GPU-3060"]
    others = 12_288 // 8 + 12_288 // 4
    assert isinstance(policy, LimitedMemory)
    assert 0 < policy.limit_mib <= 12_288 - others - 500


def test_that_the_slider_and_the_number_follow_each_other(panel):
    panel.setInventory(TWO_UNEQUAL)
    panel.setValue(DeviceChoices(memory={"GPU-4090": LimitedMemory(limit_mib=8192)}))
    slider = card(panel, "GPU-4090").findChild(Slider)
    [number] = seen(card(panel, "GPU-4090"), SpinBox)
    QTest.keyClick(slider, Qt.Key.Key_Right)
    assert panel.value().memory["GPU-4090"] == LimitedMemory(limit_mib=8448)
    assert number.value() == 8448
    number.selectAll()
    QTest.keyClicks(number, "5000")
    QTest.keyClick(number, Qt.Key.Key_Return)
    assert panel.value().memory["GPU-4090"] == LimitedMemory(limit_mib=5000)
    assert slider.value() == 5000
    QTest.keyClick(slider, Qt.Key.Key_End)
    # No limit counts the CUDA context, and what is beyond is not given out whole.
    assert panel.value().memory["GPU-4090"] == LimitedMemory(limit_mib=24_564 - 500)


def test_that_a_limit_above_what_is_free_is_shown_in_words(panel):
    panel.setInventory(TWO_UNEQUAL)
    panel.setOwnProcesses(frozenset([OUR_PID]))
    panel.setSample(busy_sample(TWO_UNEQUAL, 1.0))
    panel.setValue(DeviceChoices(memory={"GPU-3060": LimitedMemory(limit_mib=12_000)}))
    assert "More than the 10.5 GiB free now" in seen_texts(card(panel, "GPU-3060"))
    panel.setValue(DeviceChoices(memory={"GPU-3060": LimitedMemory(limit_mib=4096)}))
    assert "of 10.5 GiB free now" in seen_texts(card(panel, "GPU-3060"))


def test_that_the_default_policy_holds_until_a_device_gets_its_own(panel):
    panel.setInventory(TWO_UNEQUAL)
    panel.setValue(DeviceChoices(memory={"default": AllMemory()}))
    assert policy_box(panel, "GPU-4090").currentData() == "all"
    choose(policy_box(panel, "GPU-4090"), "growth")
    assert panel.value().memory == {"default": AllMemory(), "GPU-4090": GrowingMemory()}
    assert policy_box(panel, "GPU-3060").currentData() == "all"


def test_that_the_cpu_has_replicas_and_no_memory_policy_and_no_power(panel):
    panel.setInventory(CPU_ONLY)
    panel.setSample(busy_sample(CPU_ONLY, 1.0))
    mine = card(panel, CPU_KEY)
    assert seen(mine, ComboBox) == []
    assert " W" not in seen_texts(mine)
    assert seen(mine, SpinBox) == []  # few need them
    [more] = seen(mine, FoldButton)
    more.click()
    [replicas] = seen(mine, SpinBox)
    QTest.keyClick(replicas, Qt.Key.Key_Up)
    assert panel.value().devices.cpu_replicas == 2


def test_that_logical_devices_of_the_cpu_that_a_profile_has_are_never_hidden(panel):
    panel.setInventory(CPU_ONLY)
    panel.setValue(DeviceChoices(devices=DeviceSettings(visible=(CPU_KEY,), cpu_replicas=2)))
    [replicas] = seen(card(panel, CPU_KEY), SpinBox)
    assert replicas.value() == 2


def test_that_readings_are_shown_and_what_is_not_known_is_a_dash(panel):
    panel.setInventory(TWO_UNEQUAL)
    assert "\N{EN DASH} / 450 W" in seen_texts(card(panel, "GPU-4090"))
    sample = busy_sample(TWO_UNEQUAL, 0.0)
    panel.setSample(sample)
    texts = seen_texts(card(panel, "GPU-4090"))
    for words in ("68 %", "9.0 / 24.0 GiB", "58 °C", "292 / 450 W"):
        assert words in texts
    assert card(panel, "GPU-4090").findChild(Sparkline).values() == (67.5,)


def test_that_the_runs_own_memory_is_distinct_from_that_of_other_processes(panel):
    panel.setInventory(TWO_UNEQUAL)
    panel.setValue(DeviceChoices(memory={"GPU-3060": LimitedMemory(limit_mib=4096)}))
    panel.setSample(busy_sample(TWO_UNEQUAL, 0.0))
    bar = card(panel, "GPU-3060").findChild(MemoryBar)
    assert (bar.use().other_processes_mib, bar.use().ours_mib) == (4608, 0)
    panel.setOwnProcesses(frozenset([OUR_PID]))
    assert (bar.use().other_processes_mib, bar.use().ours_mib) == (1536, 3072)
    assert bar.use().cap_mib == 4096


def test_that_a_lost_device_is_shown_in_words_and_comes_back(panel):
    panel.setInventory(TWO_UNEQUAL)
    sample = busy_sample(TWO_UNEQUAL, 0.0)
    panel.setSample(with_lost(sample, "GPU-4090"))
    assert "Lost: it stopped answering. The kernel's log" in seen_texts(card(panel, "GPU-4090"))
    assert card(panel, "GPU-4090").findChild(Sparkline).values() == (None,)
    assert "Lost" not in seen_texts(card(panel, "GPU-3060"))
    panel.setSample(sample)
    assert "Lost" not in seen_texts(card(panel, "GPU-4090"))


@pytest.mark.parametrize(
    ("state", "failure", "words"),
    [
        (DeviceState.LOST, GpuFailure(said="GPU is lost", code=15), "GPU is lost (NVML error 15)"),
        (DeviceState.NO_ANSWER, NO_ANSWER, "Does not answer: the driver was asked for it"),
    ],
)
def test_that_a_device_that_stopped_answering_says_what_came_back(panel, state, failure, words):
    panel.setInventory(TWO_UNEQUAL)
    reading = DeviceReading(key="GPU-4090", state=state, failure=failure)
    panel.setSample(TelemetrySample(time_s=0.0, readings=(reading,)))
    shown = seen_texts(card(panel, "GPU-4090"))
    assert words in shown
    assert failure.advice in shown


@pytest.mark.parametrize(
    ("state", "words"),
    [(DeviceState.ASLEEP, "Asleep: it is idle"), (DeviceState.RESTING, "Idle: not asked")],
)
def test_that_a_gpu_that_is_not_asked_says_why_and_stays_in_use(panel, state, words):
    panel.setInventory(TWO_UNEQUAL)
    reading = DeviceReading(key="GPU-4090", state=state, age_s=25.0)
    panel.setSample(TelemetrySample(time_s=0.0, readings=(reading,)))
    shown = seen_texts(card(panel, "GPU-4090"))
    assert words in shown
    assert "s old" not in shown
    assert "GPU-4090" in panel.value().keys_in_use(TWO_UNEQUAL)


def test_that_a_sleeping_gpu_of_which_nothing_is_known_can_be_woken(panel, qtbot):
    asleep = UnresponsiveGpu(failure=ASLEEP, index=0, pci_bus_id="0000:01:00.0")
    panel.setInventory(CPU_ONLY.model_copy(update={"unresponsive": (asleep,), "driver": "580.65"}))
    assert "Asleep: being asked what it is would wake it." in seen_texts(panel)
    with qtbot.waitSignal(panel.unresponsive.wakeRequested):
        click(button(panel, "Wake it up"))


def test_that_an_absent_gpu_is_not_said_to_be_elsewhere_while_one_does_not_answer(panel):
    silent = UnresponsiveGpu(failure=NO_ANSWER, index=2, key="GPU-3070")
    panel.setInventory(TWO_UNEQUAL.model_copy(update={"unresponsive": (silent,)}))
    panel.setValue(DeviceChoices(devices=DeviceSettings(visible=("GPU-3070", "GPU-3080"))))
    assert "Not among the devices that answer, but selected" in seen_texts(panel)
    assert "Not in this machine, but selected" in seen_texts(panel)


def test_that_a_lost_device_that_nobody_named_is_not_in_use(panel):
    panel.setInventory(TWO_UNEQUAL)
    sample = busy_sample(TWO_UNEQUAL, 0.0)
    panel.setSample(with_lost(sample, "GPU-4090"))
    assert not switch(panel, "GPU-4090").isChecked()
    assert "only device in use" in switch(panel, "GPU-3060").toolTip()
    panel.setSample(sample)
    assert switch(panel, "GPU-4090").isChecked()
    assert panel.value() == DeviceChoices()
    panel.setValue(DeviceChoices(devices=DeviceSettings(visible=("GPU-4090",))))
    panel.setSample(with_lost(sample, "GPU-4090"))
    assert switch(panel, "GPU-4090").isChecked()


def test_that_a_device_on_which_nobody_may_compute_is_not_in_use_unless_it_is_named(panel):
    panel.setInventory(TWO_UNEQUAL)
    mode = ComputeMode.PROHIBITED
    readings = (DeviceReading(key="GPU-4090", compute_mode=mode), DeviceReading(key="GPU-3060"))
    panel.setSample(TelemetrySample(time_s=0.0, readings=readings))
    on = [switch(panel, each.key).isChecked() for each in TWO_UNEQUAL.devices]
    assert on == [False, True, False]
    panel.setValue(DeviceChoices(devices=DeviceSettings(visible=("GPU-4090",))))
    assert switch(panel, "GPU-4090").isChecked()


def test_that_a_device_of_another_machine_is_kept_until_it_is_removed(panel, qtbot):
    choices = DeviceChoices(
        devices=DeviceSettings(visible=("GPU-3060", ELSEWHERE)),
        memory={ELSEWHERE: LimitedMemory(limit_mib=4096)},
    )
    panel.setInventory(TWO_UNEQUAL)
    panel.setValue(choices)
    assert panel.value() == choices
    assert "Not in this machine" in seen_texts(panel)
    click(switch(panel, "GPU-4090"))
    assert panel.value().devices.visible == ("GPU-4090", "GPU-3060", ELSEWHERE)
    [remove] = seen(panel, QPushButton)
    click(remove)
    assert panel.value() == DeviceChoices(devices=DeviceSettings(visible=("GPU-4090", "GPU-3060")))
    assert "Not in this machine" not in seen_texts(panel)


def test_that_cards_keep_their_curves_when_the_driver_names_itself_anew(panel):
    panel.setInventory(TWO_UNEQUAL)
    panel.setSample(busy_sample(TWO_UNEQUAL, 0.0))
    panel.setInventory(TWO_UNEQUAL.model_copy(update={"driver": "999"}))
    assert len(card(panel, "GPU-4090").findChild(Sparkline).values()) == 1
    assert "Driver 999" in seen_texts(panel)


def test_that_a_device_that_goes_loses_its_card_and_the_others_keep_theirs(panel, qtbot):
    panel.setInventory(TWO_UNEQUAL)
    panel.setSample(busy_sample(TWO_UNEQUAL, 0.0))
    first = card(panel, "GPU-4090")
    panel.setInventory(DeviceInventory(driver="580", devices=(RTX_4090, CPU_ONLY.devices[0])))
    qtbot.waitUntil(lambda: len(panel.findChildren(DeviceCard)) == 2)
    assert card(panel, "GPU-4090") is first


def test_that_a_problem_of_the_driver_is_shown_in_its_words(panel):
    panel.setInventory(
        DeviceInventory(devices=CPU_ONLY.devices, problem="The driver is of another version.")
    )
    assert "The driver is of another version." in seen_texts(panel)


def test_that_nothing_moves_while_readings_change(panel, qtbot):
    panel.setInventory(TWO_UNEQUAL)
    panel.setSample(busy_sample(TWO_UNEQUAL, 0.0))
    qtbot.waitUntil(lambda: cards(panel)[1].y() > 0)

    def places():
        panel.layout().activate()
        QApplication.processEvents()
        return {label: label.mapTo(panel, label.rect().topLeft()) for label in seen(panel, QLabel)}

    before = places()
    changed = set()
    for moment in range(1, 40):
        panel.setSample(busy_sample(TWO_UNEQUAL, float(moment)))
        changed.add(seen_texts(panel))
        assert places() == before
    assert len(changed) > 20


def test_that_every_control_teaches(panel):
    panel.setInventory(TWO_UNEQUAL)
    panel.setValue(
        DeviceChoices(
            devices=DeviceSettings(visible=("GPU-4090", "GPU-3060", CPU_KEY, ELSEWHERE)),
            memory={
                "GPU-4090": LimitedMemory(limit_mib=4096),
                "GPU-3060": SplitMemory(split_mib=(1024, 1024)),
            },
        )
    )
    silent = [
        each
        for kind in (Switch, ComboBox, Slider, SpinBox, QAbstractButton)
        for each in seen(panel, kind)
        if not each.toolTip()
    ]
    assert silent == []
    names = [each for each in seen(card(panel, "GPU-3060"), QLabel) if each.text() == "RTX 3060"]
    assert RTX_3060.key in names[0].toolTip()


def test_that_a_gpu_that_was_lost_before_the_start_has_a_card_until_it_answers(panel, qtbot):
    no_power = GpuFailure(said="Insufficient External Power", code=8)
    lost = UnresponsiveGpu(
        failure=no_power, name="NVIDIA GeForce RTX 3060", pci_bus_id="00000000:02:00.0", index=1
    )
    beside = TWO_UNEQUAL.model_copy(
        update={
            "devices": (TWO_UNEQUAL.devices[0], TWO_UNEQUAL.devices[-1]),
            "unresponsive": (lost,),
        }
    )
    panel.setInventory(beside)
    shown = seen_texts(panel)
    assert "RTX 3060 at 0000:02:00.0" in shown
    assert "Does not answer: the driver says: Insufficient External Power (NVML error 8)." in shown
    assert "plug in the power cables" in shown
    with qtbot.waitSignal(panel.unresponsive.doctorRequested):
        click(button(panel, "Open Doctor"))
    panel.setInventory(TWO_UNEQUAL)
    assert "Does not answer" not in seen_texts(panel)
    unnamed = UnresponsiveGpu(failure=NO_ANSWER, index=2)
    alone = CPU_ONLY.model_copy(update={"unresponsive": (unnamed,), "driver": "580.65"})
    panel.setInventory(alone)
    assert "GPU 2" in seen_texts(panel)
    assert "No GPU answers: training runs on the CPU." in seen_texts(panel)


def test_that_a_problem_of_the_installation_has_the_way_to_the_doctor_beside_its_fix(panel, qtbot):
    panel.setInventory(TWO_UNEQUAL)
    cpu = Fix.of("Train on the CPU", "devices.visible", [CPU_KEY])
    refused = Problem(
        code="gpu_not_usable",
        field="devices.visible",
        message="TensorFlow cannot use RTX 4090.",
        fix=cpu,
    )
    panel.setProblems((refused,))
    with qtbot.waitSignal(panel.general.doctorRequested):
        click(button(panel, "Open Doctor"))
    with qtbot.waitSignal(panel.general.fixRequested) as asked:
        click(button(panel, "Train on the CPU"))
    assert asked.args == [cpu]
    panel.setProblems((refused.model_copy(update={"code": "devices_mixed"}),))
    assert "Open Doctor" not in [each.text() for each in seen(panel, QPushButton)]


def test_that_a_problem_leaves_a_low_panel_to_the_devices(panel, qtbot):
    panel.setInventory(TWO_UNEQUAL)
    refused = Problem(
        code="memory_limit_cancels_growth",
        field="memory",
        message="RTX 4090 has a fixed limit; then RTX 3060 cannot grow: " * 3,
        fix=Fix.of("Let every chosen GPU grow", "devices.visible", [CPU_KEY]),
        alternatives=(Fix.of("Give each GPU a process of its own", "devices.visible", []),),
    )
    panel.setProblems((refused,))
    panel.resize(304, 700)
    qtbot.waitUntil(lambda: len(seen(panel.general, QPushButton)) == 2)
    whole = panel.general.height()
    panel.resize(304, 460)  # that of 1280 x 800 at 150 %
    qtbot.waitUntil(lambda: len(seen(panel.general, QPushButton)) == 1)
    qtbot.waitUntil(lambda: panel.general.height() < whole - 60)
    assert panel.general.height() < 460 // 5
    panel.resize(304, 700)
    qtbot.waitUntil(lambda: len(seen(panel.general, QPushButton)) == 2)


def test_that_a_problem_below_the_devices_is_as_wide_as_their_cards(panel, qtbot):
    panel.setInventory(TWO_UNEQUAL)
    problem = Problem(code="memory_limit_cancels_growth", field="memory", message="One grows.")
    panel.setProblems((problem,))
    bar = panel.findChild(QScrollArea).verticalScrollBar()
    first = cards(panel)[0]

    def ends_alike():
        note = panel.general
        return note.mapTo(panel, QPoint(note.width(), 0)).x() == (
            first.mapTo(panel, QPoint(first.width(), 0)).x()
        )

    panel.resize(320, 1400)
    qtbot.waitUntil(lambda: bar.maximum() == 0 and ends_alike())
    panel.resize(320, 520)
    qtbot.waitUntil(lambda: bar.maximum() > 0 and ends_alike())


def test_that_a_card_says_whose_run_holds_the_gpu_since_when_and_until_when(panel):
    now_s = time.time()
    claim = GpuClaim(user="<b>ada</b>", since_s=now_s - 60.0, until_s=now_s + 3_600.0)
    held = DeviceReading(key="GPU-4090", claims=(claim,))
    panel.setInventory(TWO_UNEQUAL)
    panel.setSample(TelemetrySample(time_s=now_s, readings=(held,)))
    words = f"In use by {claim.words(now_s)}"
    assert words in seen_texts(card(panel, "GPU-4090"))
    assert words not in seen_texts(card(panel, "GPU-3060"))
    # Folded, too: it is what somebody looks for who wants to train.
    card(panel, "GPU-4090").setOpen(is_open=False)
    assert words in seen_texts(card(panel, "GPU-4090"))
    panel.setSample(TelemetrySample(time_s=now_s, readings=(DeviceReading(key="GPU-4090"),)))
    assert words not in seen_texts(card(panel, "GPU-4090"))


def test_that_a_lost_gpu_that_somebody_holds_says_both(panel):
    now_s = time.time()
    claim = GpuClaim(user="ada", since_s=now_s)
    lost = DeviceReading(key="GPU-4090", state=DeviceState.LOST, claims=(claim,))
    panel.setInventory(TWO_UNEQUAL)
    panel.setSample(TelemetrySample(time_s=now_s, readings=(lost,)))
    said = seen_texts(card(panel, "GPU-4090"))
    assert "Lost: it stopped answering" in said
    assert f"In use by {claim.words(now_s)}" in said
