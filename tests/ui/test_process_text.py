from gpupanel.domain.telemetry import DeviceProcess
from gpupanel.planning.other_processes import OtherProcesses
from gpupanel.ui.device_labels import DeviceLabels
from gpupanel.ui.process_text import other_process_lines, process_label
from tests.fakes.devices import RTX_4090, TWO_UNEQUAL

XORG = DeviceProcess(pid=5, name="Xorg", user="root", memory_used_mib=300)
UNSEEN = DeviceProcess(pid=6)


def held(*processes: DeviceProcess) -> OtherProcesses:
    return OtherProcesses(
        device_key=RTX_4090.key, device_name=RTX_4090.name, memory_mib=300, processes=processes
    )


def test_that_a_line_names_the_device_and_who_uses_it():
    (line,) = other_process_lines((held(XORG, UNSEEN),), DeviceLabels(TWO_UNEQUAL))
    assert line == "RTX 4090: Xorg (root) 300 MiB, process 6 –"  # noqa: RUF001


def test_that_many_processes_are_cut_short():
    (line,) = other_process_lines((held(*[XORG] * 6),), DeviceLabels(TWO_UNEQUAL))
    assert line.endswith(", 2 more")


def test_that_a_process_is_shown_with_its_user_where_that_is_known():
    assert process_label(XORG) == "Xorg · root"
    assert process_label(UNSEEN) == "Process 6"
