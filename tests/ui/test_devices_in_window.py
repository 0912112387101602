"""Devices and memory as the window ties them to the profile and to what will happen."""

import pytest
from PySide6.QtCore import QSettings

from gpupanel.domain.device import CPU_KEY, UnresponsiveGpu
from gpupanel.domain.gpu_failure import ASLEEP, NO_ANSWER
from gpupanel.domain.memory import GrowingMemory, LimitedMemory
from gpupanel.domain.profile import Profile
from gpupanel.domain.strategy import StrategyKind, StrategySettings
from gpupanel.ui.bindings.doctor_binding import DoctorBinding
from gpupanel.ui.inputs.switch import Switch
from gpupanel.ui.widgets.problem_row import ProblemRow
from gpupanel.ui.workers.device_worker import DeviceWatch
from tests.fakes.devices import RTX_3060, RTX_4090, TWO_UNEQUAL
from tests.fakes.person import Person
from tests.ui.device_panel_person import button, card, choose, click, policy_box, seen_texts
from tests.ui.new_window import new_window

pytestmark = pytest.mark.usefixtures("preview_without_process", "undressed")


@pytest.fixture
def window(qtbot, tmp_path, runs_dir):
    """The window with two unequal GPUs, which nobody really reads."""
    settings = QSettings(str(tmp_path / "settings.ini"), QSettings.Format.IniFormat)
    window = new_window(settings, runs_dir, Person())
    qtbot.addWidget(window)
    window.resize(1280, 800)
    with qtbot.waitExposed(window):
        window.show()
    window.session.set_inventory(TWO_UNEQUAL)
    mirrored = StrategySettings(kind=StrategyKind.MIRRORED)
    window.session.open_profile(Profile(strategy=mirrored), None)
    window.session.prepare_now()
    yield window
    window.session.mark_saved(tmp_path / "saved.toml")
    window.close()


def test_that_a_problem_of_a_device_is_mended_on_its_card(window):
    choose(policy_box(window.devices, RTX_3060.key), "limit_growth")
    window.session.edit(
        window.session.profile.model_copy(
            update={"memory": {RTX_3060.key: LimitedMemory(limit_mib=20_000, growth=True)}}
        )
    )
    window.session.prepare_now()
    mine = card(window.devices, RTX_3060.key)
    assert "20,000 MiB of RTX 3060 are asked for" in seen_texts(mine)
    [fix] = [each.fix for each in mine.problems.problems()]
    click(button(mine, fix.label))
    window.session.prepare_now()
    assert window.session.profile.memory[RTX_3060.key].limit_mib < 12_288
    assert mine.problems.problems() == ()


def test_that_growth_that_differs_is_shown_once_and_mended_with_one_click(window):
    choose(policy_box(window.devices, RTX_4090.key), "all")
    assert not window.session.prepare_now().is_startable
    [problem] = window.session.preparation.problems
    click(button(window.devices, problem.fix.label))
    assert window.session.prepare_now().is_startable
    assert window.session.profile.memory_policy(RTX_4090.key) == GrowingMemory()


def test_that_a_click_on_a_problem_leads_to_the_device_that_it_is_about(window):
    memory = {RTX_3060.key: LimitedMemory(limit_mib=20_000, growth=True)}
    window.session.edit(window.session.profile.model_copy(update={"memory": memory}))
    window.session.prepare_now()
    card(window.devices, RTX_3060.key).setOpen(is_open=False)
    row = next(
        each
        for each in window.session_page.plan.findChildren(ProblemRow)
        if each.problem().field.startswith(f"memory.{RTX_3060.key}")
    )
    click(row)
    assert card(window.devices, RTX_3060.key).is_open
    assert window.focusWidget() is policy_box(window.devices, RTX_3060.key)


def test_that_a_session_whose_gpus_are_all_switched_off_can_be_started_on_the_cpu(window):
    for gpu in (RTX_4090, RTX_3060):
        click(card(window.devices, gpu.key).findChild(Switch))
    assert window.session.prepare_now().is_startable
    assert [device.key for device in window.session.preparation.plan.devices] == [CPU_KEY]
    click(card(window.devices, CPU_KEY).findChild(Switch))
    window.session.prepare_now()
    assert [device.key for device in window.session.preparation.plan.devices] == [RTX_3060.key]


def test_that_cpu_and_gpus_together_are_mended_by_one_click_to_either(window):
    click(card(window.devices, CPU_KEY).findChild(Switch))
    window.session.prepare_now()
    click(button(window.devices, "Train on the CPU"))
    assert window.session.prepare_now().is_startable
    assert [device.key for device in window.session.preparation.plan.devices] == [CPU_KEY]


@pytest.mark.parametrize(
    ("failure", "text", "asked"),
    [
        (ASLEEP, "Wake it up", (DeviceWatch, "wake")),
        (NO_ANSWER, "Open Doctor", (DoctorBinding, "open_doctor")),
    ],
    ids=["asleep", "silent"],
)
def test_that_the_card_of_a_gpu_that_does_not_answer_wakes_it_or_opens_the_doctor(
    monkeypatch, request, failure, text, asked
):
    heard = []
    monkeypatch.setattr(*asked, lambda _part: heard.append(text))
    window = request.getfixturevalue("window")
    silent = UnresponsiveGpu(failure=failure, index=2)
    window.session.set_inventory(TWO_UNEQUAL.model_copy(update={"unresponsive": (silent,)}))
    click(button(window.devices.unresponsive, text))
    assert heard == [text]
