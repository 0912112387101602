import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest

from gpupanel.domain.device import DeviceInventory, DeviceKind, PhysicalDevice
from gpupanel.domain.memory import (
    CUDA_CONTEXT_MIB,
    AllMemory,
    Allocator,
    GrowingMemory,
    LimitedMemory,
    SplitMemory,
)
from gpupanel.domain.profile import DeviceSettings
from gpupanel.domain.telemetry import DeviceReading, TelemetrySample
from gpupanel.ui.device_choices import DeviceChoices
from gpupanel.ui.inputs.quiet_inputs import Slider, SpinBox
from gpupanel.ui.panels.device_panel import DevicePanel
from tests.fakes.devices import RTX_3060, RTX_4090, TWO_UNEQUAL, sample_with
from tests.ui.device_panel_person import (
    bar,
    button,
    card,
    choose,
    click,
    drag,
    menu_actions,
    policy_box,
    seen,
    seen_texts,
)

BIG, SMALL = RTX_4090.key, RTX_3060.key


@pytest.fixture
def panel(qtbot) -> DevicePanel:
    panel = DevicePanel()
    qtbot.addWidget(panel)
    panel.resize(320, 900)
    panel.show()
    panel.setInventory(TWO_UNEQUAL)
    panel.setSample(sample_with(gpu_4090=1000, gpu_3060=2000))
    return panel


def parts(panel: DevicePanel, key: str) -> list[SpinBox]:
    boxes = seen(card(panel, key), SpinBox)
    return [box for box in boxes if "logical device" in box.accessibleName()]


@pytest.mark.parametrize(
    ("choice", "policy"),
    [
        ("all", AllMemory()),
        ("growth", GrowingMemory()),
        ("limit", LimitedMemory(limit_mib=4096)),
        ("limit_growth", LimitedMemory(limit_mib=4096, growth=True)),
    ],
)
def test_that_every_policy_is_chosen_by_its_name(panel, choice, policy):
    panel.setValue(DeviceChoices(memory={SMALL: LimitedMemory(limit_mib=4096)}))
    choose(policy_box(panel, SMALL), "split")
    choose(policy_box(panel, SMALL), choice)
    assert panel.value().memory[SMALL] == policy


def test_that_a_split_that_grows_stays_so_while_its_parts_change(panel, qtbot):
    panel.setValue(DeviceChoices(memory={SMALL: SplitMemory(split_mib=(2048, 1024), growth=True)}))
    assert policy_box(panel, SMALL).value() == "split_growth"
    qtbot.waitUntil(lambda: len(bar(panel, SMALL).border_positions()) == 2)
    drag(bar(panel, SMALL), 0, 22)
    dragged = panel.value().memory[SMALL]
    assert isinstance(dragged, SplitMemory)
    assert dragged.growth
    assert dragged.split_mib[0] > 2048
    parts(panel, SMALL)[1].setValue(512)
    assert panel.value().memory[SMALL].growth
    choose(policy_box(panel, SMALL), "split")
    fixed = panel.value().memory[SMALL]
    assert (fixed.split_mib[1], fixed.growth) == (512, False)
    choose(policy_box(panel, SMALL), "split_growth")
    assert panel.value().memory[SMALL] == fixed.model_copy(update={"growth": True})


def test_that_the_cap_in_the_bar_the_slider_and_the_number_are_one(panel):
    panel.setValue(DeviceChoices(memory={SMALL: LimitedMemory(limit_mib=4096, growth=True)}))
    drag(bar(panel, SMALL), 0, 44)
    policy = panel.value().memory[SMALL]
    assert isinstance(policy, LimitedMemory)
    assert policy.growth
    assert policy.limit_mib > 5500
    assert policy.limit_mib % 256 == 0
    [slider] = seen(card(panel, SMALL), Slider)
    [number] = seen(card(panel, SMALL), SpinBox)
    assert (slider.value(), number.value()) == (policy.limit_mib,) * 2
    number.setValue(3000)
    assert bar(panel, SMALL).use().cap_mib == 3000


def test_that_the_context_stands_behind_the_cap_and_counts(panel):
    panel.setValue(DeviceChoices(memory={SMALL: LimitedMemory(limit_mib=4096)}))
    use = bar(panel, SMALL).use()
    assert (use.other_processes_mib, use.limits_mib, use.context_mib) == (
        2000,
        (4096,),
        CUDA_CONTEXT_MIB,
    )
    assert "+ 500 MiB CUDA context, of 10.0 GiB free now" in seen_texts(card(panel, SMALL))
    panel.setValue(DeviceChoices(memory={SMALL: LimitedMemory(limit_mib=10_200)}))
    assert "+ 500 MiB CUDA context: over the 10.0 GiB free now" in seen_texts(card(panel, SMALL))
    panel.setValue(DeviceChoices(memory={SMALL: GrowingMemory()}))
    assert bar(panel, SMALL).use().context_mib == 0


def test_that_the_card_says_what_can_be_had_without_a_limit(panel):
    def said() -> str:
        return seen_texts(card(panel, SMALL))

    # Of 10,288 MiB, the context and what TensorFlow leaves to others of capability 8.6.
    panel.setValue(DeviceChoices(memory={SMALL: GrowingMemory()}))
    assert "Up to 8.1 GiB, of 10.0 GiB free now" in said()
    choose(policy_box(panel, SMALL), "all")
    assert "Up to 8.1 GiB, of 10.0 GiB free now" in said()
    devices = DeviceSettings(allocator=Allocator.CUDA_MALLOC_ASYNC)
    panel.setValue(DeviceChoices(devices=devices, memory={SMALL: AllMemory()}))
    assert "Up to 9.6 GiB, of 10.0 GiB free now" in said()
    choose(policy_box(panel, SMALL), "limit")
    assert "Up to" not in said()


def test_that_what_the_driver_keeps_is_neither_used_nor_free(panel):
    reading = DeviceReading(
        key=SMALL,
        memory_used_mib=2000,
        memory_free_mib=12_288 - 2000 - 400,
        memory_total_mib=12_288,
        memory_reserved_mib=400,
    )
    panel.setValue(DeviceChoices(memory={SMALL: LimitedMemory(limit_mib=9500)}))
    panel.setSample(TelemetrySample(time_s=1.0, readings=(reading,)))
    use = bar(panel, SMALL).use()
    assert (use.reserved_mib, use.free_mib) == (400, 9888)
    assert "over the 9.7 GiB free now" in seen_texts(card(panel, SMALL))
    # Neither slider nor line goes further than what an unused GPU, or this one, can give.
    [slider] = seen(card(panel, SMALL), Slider)
    assert slider.maximum() == 12_288 - 400 - CUDA_CONTEXT_MIB
    panel.setValue(DeviceChoices(memory={SMALL: LimitedMemory(limit_mib=4096)}))
    drag(bar(panel, SMALL), 0, 1000)
    dragged = panel.value().memory[SMALL]
    assert isinstance(dragged, LimitedMemory)
    assert dragged.limit_mib == 9888 - CUDA_CONTEXT_MIB


def test_that_parts_of_a_split_are_added_set_dragged_and_removed(panel, qtbot):
    choose(policy_box(panel, SMALL), "split")
    first = panel.value().memory[SMALL]
    assert isinstance(first, SplitMemory)
    assert sum(first.split_mib) + CUDA_CONTEXT_MIB <= 12_288 - 2000
    panel.setValue(DeviceChoices(memory={SMALL: SplitMemory(split_mib=(2048, 2048))}))
    mine = card(panel, SMALL)
    click(button(mine, "Add a logical device"))
    sizes = panel.value().memory[SMALL].split_mib
    assert sizes[:2] == (2048, 2048)
    assert sum(sizes) + CUDA_CONTEXT_MIB <= 12_288 - 2000
    parts(panel, SMALL)[1].setValue(1024)
    assert panel.value().memory[SMALL].split_mib[1] == 1024
    before = panel.value().memory[SMALL].split_mib
    qtbot.waitUntil(lambda: len(bar(panel, SMALL).border_positions()) == 3)
    drag(bar(panel, SMALL), 0, -22)
    after = panel.value().memory[SMALL].split_mib
    assert after[0] < before[0]
    assert sum(after) == sum(before)
    click(button(mine, "Remove logical device 1"))
    assert panel.value().memory[SMALL].split_mib == after[1:]
    assert not button(mine, "Remove logical device 1").isEnabled()
    click(button(mine, "Make equal"))
    assert len(set(panel.value().memory[SMALL].split_mib)) == 1


def test_that_a_full_split_gives_a_new_part_half_of_the_largest(panel):
    panel.setValue(DeviceChoices(memory={SMALL: SplitMemory(split_mib=(6000, 4000))}))
    click(button(card(panel, SMALL), "Add a logical device"))
    assert panel.value().memory[SMALL] == SplitMemory(split_mib=(3000, 4000, 3000))


def test_that_no_more_parts_are_added_than_make_sense(panel):
    panel.setValue(DeviceChoices(memory={SMALL: SplitMemory(split_mib=(500,) * 16)}))
    assert not button(card(panel, SMALL), "Add a logical device").isEnabled()


def test_that_the_bar_is_worked_with_the_keyboard(panel):
    panel.setValue(DeviceChoices(memory={SMALL: LimitedMemory(limit_mib=4096)}))
    bar(panel, SMALL).setFocus()
    QTest.keyClick(bar(panel, SMALL), Qt.Key.Key_Right)
    assert panel.value().memory[SMALL] == LimitedMemory(limit_mib=4352)


def test_that_presets_say_what_they_mean_on_this_gpu_now(panel):
    entries = menu_actions(panel, SMALL)
    desktop = next(text for text in entries if text.startswith("Share with the desktop"))
    assert desktop == "Share with the desktop: up to 8.6 GiB"
    entries[desktop].trigger()
    assert panel.value().memory[SMALL] == LimitedMemory(
        limit_mib=12_288 - 2000 - 1024 - CUDA_CONTEXT_MIB, growth=True
    )
    entries["Leave room for other processes: up to 5.5 GiB"].trigger()
    assert panel.value().memory[SMALL] == LimitedMemory(
        limit_mib=6144 - CUDA_CONTEXT_MIB, growth=True
    )
    entries["Take all"].trigger()
    assert panel.value().memory[SMALL] == AllMemory()
    assert policy_box(panel, SMALL).currentData() == "all"


def test_that_one_policy_is_applied_to_all_gpus_in_use(panel):
    panel.setValue(DeviceChoices(memory={SMALL: LimitedMemory(limit_mib=8192, growth=True)}))
    menu_actions(panel, SMALL)["Apply to all GPUs in use"].trigger()
    assert panel.value().memory == dict.fromkeys(
        (SMALL, BIG), LimitedMemory(limit_mib=8192, growth=True)
    )
    assert "Every GPU in use has this policy now." in seen_texts(card(panel, SMALL))
    choose(policy_box(panel, BIG), "growth")
    assert "Every GPU in use" not in seen_texts(panel)


@pytest.mark.parametrize(("limit_mib", "words"), [(20_480, "20.0 GiB"), (12_000, "11.7 GiB")])
def test_that_a_policy_that_does_not_fit_is_not_applied_and_says_where(panel, limit_mib, words):
    """With the CUDA context, for which 288 MiB are too little."""
    mine, wide = AllMemory(), LimitedMemory(limit_mib=limit_mib)
    panel.setValue(DeviceChoices(memory={BIG: wide, SMALL: mine}))
    menu_actions(panel, BIG)["Apply to all GPUs in use"].trigger()
    assert panel.value().memory == {BIG: wide, SMALL: mine}
    assert f"RTX 3060 keeps its own: {words} do not fit." in seen_texts(card(panel, BIG))


def test_that_gpus_that_are_not_in_use_are_left_alone_by_apply_to_all(panel):
    panel.setValue(
        DeviceChoices(
            devices=DeviceSettings(visible=(SMALL,)), memory={SMALL: LimitedMemory(limit_mib=512)}
        )
    )
    assert not menu_actions(panel, SMALL)["Apply to all GPUs in use"].isEnabled()


def test_that_the_allocator_is_chosen_in_the_menu_and_reported_where_it_is_not_the_usual_one(panel):
    assert "Allocator" not in seen_texts(panel)
    menu_actions(panel, SMALL)["CUDA's (cuda_malloc_async)"].trigger()
    assert panel.value().devices.allocator is Allocator.CUDA_MALLOC_ASYNC
    for key in (SMALL, BIG):
        assert "Allocator: CUDA's (cuda_malloc_async)" in seen_texts(card(panel, key))
        assert menu_actions(panel, key)["CUDA's (cuda_malloc_async)"].isChecked()


def test_that_a_gpu_without_readings_can_still_be_limited(qtbot, panel):
    bare = PhysicalDevice(key="GPU-bare", kind=DeviceKind.GPU, name="Bare")
    panel.setInventory(DeviceInventory(driver="1", devices=(bare, TWO_UNEQUAL.devices[-1])))
    choose(policy_box(panel, "GPU-bare"), "limit")
    assert panel.value().memory["GPU-bare"] == LimitedMemory(limit_mib=3584)
    [number] = seen(card(panel, "GPU-bare"), SpinBox)
    number.setValue(100_000)
    assert panel.value().memory["GPU-bare"] == LimitedMemory(limit_mib=100_000)
    assert "The memory size is not known." in seen_texts(card(panel, "GPU-bare"))
