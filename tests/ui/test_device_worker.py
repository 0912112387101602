import threading
import time
from dataclasses import replace

import pytest
from PySide6.QtCore import QObject, QThread, QTimer, Slot

from gpupanel.devices.machine_devices import machine_devices
from gpupanel.domain.device import CPU_KEY, DeviceInventory
from gpupanel.domain.telemetry import DeviceState, TelemetrySample
from gpupanel.ui.workers.device_worker import DeviceWatch
from tests.fakes.devices import CPU_ONLY, TWO_UNEQUAL
from tests.fakes.readings import busy_sample
from tests.nvml.standin import RTX_3060, RTX_4090, StandinState


class FakeDriver:
    """Stands in for the sampler: as slow as asked, and remembers which thread asked."""

    def __init__(self, slow_s: float = 0.0) -> None:
        self.slow_s = slow_s
        self.devices: DeviceInventory = TWO_UNEQUAL
        self._listed = self.devices
        self.threads: set[int] = set()
        self.samples = 0
        self.is_closed = False
        self.was_told_to_hurry = False
        self.was_woken = False

    def make(self) -> "FakeDriver":
        self.threads.add(threading.get_ident())
        return self

    def inventory(self) -> DeviceInventory:
        self.threads.add(threading.get_ident())
        # Sampled are the devices that were listed: a test may change them at any moment.
        self._listed = self.devices
        return self._listed

    def sample(self) -> TelemetrySample:
        self.threads.add(threading.get_ident())
        time.sleep(self.slow_s)
        self.samples += 1
        return busy_sample(self._listed, float(self.samples))

    def wake(self) -> None:
        self.was_woken = True

    def stop_waiting(self) -> None:
        self.was_told_to_hurry = True

    def close(self) -> None:
        self.threads.add(threading.get_ident())
        self.is_closed = True


class Listener(QObject):
    def __init__(self) -> None:
        super().__init__()
        self.threads: list[QThread] = []
        self.reported: list[object] = []

    @Slot(object)
    def hear(self, value: object) -> None:
        self.threads.append(QThread.currentThread())
        self.reported.append(value)


class LongestGap(QObject):
    """The longest time that the event loop of this thread did not come round."""

    def __init__(self) -> None:
        super().__init__()
        self.gap_s = 0.0
        self._last = 0.0
        self._timer = QTimer(self, interval=5)
        self._timer.timeout.connect(self._tick)

    def start(self) -> None:
        self._last = time.perf_counter()
        self._timer.start()

    def stop(self) -> None:
        self._timer.stop()

    @Slot()
    def _tick(self) -> None:
        now = time.perf_counter()
        self.gap_s, self._last = max(self.gap_s, now - self._last), now


@pytest.fixture
def watching(qtbot):
    watches = []

    def watch(driver: FakeDriver) -> DeviceWatch:
        watches.append(DeviceWatch(make_source=driver.make))
        return watches[-1]

    yield watch
    for each in watches:
        each.stop()


def test_that_the_inventory_comes_first_and_samples_follow(qtbot, watching):
    watch = watching(FakeDriver())
    order = Listener()
    watch.inventoryChanged.connect(order.hear)
    watch.sampled.connect(order.hear)
    watch.start(interval_ms=5)
    qtbot.waitUntil(lambda: len(order.reported) >= 4)
    assert order.reported[0] == TWO_UNEQUAL
    assert [sample.time_s for sample in order.reported[1:4]] == [1.0, 2.0, 3.0]
    assert set(order.threads) == {QThread.currentThread()}


def test_that_the_driver_is_only_ever_asked_in_the_workers_thread(qtbot, watching):
    driver = FakeDriver()
    watch = watching(driver)
    with qtbot.waitSignal(watch.sampled):
        watch.start(interval_ms=5)
    watch.stop()
    assert driver.is_closed
    assert driver.was_told_to_hurry
    assert len(driver.threads) == 1
    assert threading.get_ident() not in driver.threads


def test_that_a_window_that_nobody_sees_asks_every_five_seconds_and_at_once_when_it_is_seen(
    qtbot, watching
):
    driver = FakeDriver()
    watch = watching(driver)
    watch.start(20)
    qtbot.waitUntil(lambda: driver.samples >= 3, timeout=10_000)
    watch.set_seen(is_seen=False)
    watch.wake()
    qtbot.waitUntil(lambda: driver.was_woken, timeout=10_000)
    before = driver.samples
    qtbot.wait(300)
    assert driver.samples <= before + 1
    watch.set_seen(is_seen=True)
    qtbot.waitUntil(lambda: driver.samples >= before + 4, timeout=2_000)


def test_that_a_slow_driver_does_not_stall_the_window(qtbot, watching):
    driver = FakeDriver(slow_s=0.5)
    watch = watching(driver)
    watch.start(interval_ms=10)
    longest, last = 0.0, time.perf_counter()
    end = last + 1.2
    while last < end:
        qtbot.wait(5)
        now = time.perf_counter()
        longest, last = max(longest, now - last), now
    assert driver.samples >= 1
    assert longest < 0.3


def test_that_a_changed_inventory_is_reported_and_an_equal_one_is_not(qtbot, watching):
    driver = FakeDriver()
    watch = watching(driver)
    heard = Listener()
    watch.inventoryChanged.connect(heard.hear)
    watch.start(interval_ms=1)
    qtbot.waitUntil(lambda: driver.samples > 25)
    assert heard.reported == [TWO_UNEQUAL]
    driver.devices = CPU_ONLY
    qtbot.waitUntil(lambda: len(heard.reported) == 2)
    assert heard.reported[1] == CPU_ONLY


def test_that_a_device_that_appears_is_listed_before_its_first_reading_comes(qtbot, watching):
    driver = FakeDriver()
    driver.devices = CPU_ONLY
    watch = watching(driver)
    order = Listener()
    watch.inventoryChanged.connect(order.hear)
    watch.sampled.connect(order.hear)
    watch.start(interval_ms=1)
    qtbot.waitUntil(lambda: driver.samples > 3)
    driver.devices = TWO_UNEQUAL
    qtbot.waitUntil(lambda: order.reported[-1] != TWO_UNEQUAL and TWO_UNEQUAL in order.reported)
    listed = order.reported.index(TWO_UNEQUAL)
    assert [reading.key for reading in order.reported[listed - 1].readings] == [CPU_KEY]
    assert len(order.reported[listed + 1].readings) == 3


def test_that_a_gpu_lost_and_one_that_appears_are_reported_in_time_while_another_is_slow(
    qtbot, nvml_in_process
):
    watch = DeviceWatch()
    heard = Listener()
    watch.sampled.connect(heard.hear)
    longest = LongestGap()

    def state(gpu):
        reading = heard.reported[-1].reading(gpu.uuid) if heard.reported else None
        return None if reading is None else reading.state

    def told_after(new_state, holds):
        nvml_in_process.tell(new_state)
        began = time.perf_counter()
        qtbot.waitUntil(holds, timeout=20_000)
        return time.perf_counter() - began

    slow = StandinState(gpus=(replace(RTX_4090, slow_ms=500), RTX_3060))
    try:
        watch.start()
        qtbot.waitUntil(lambda: state(RTX_3060) is DeviceState.OK, timeout=20_000)
        longest.start()
        nvml_in_process.tell(slow)
        qtbot.waitUntil(lambda: heard.reported[-1].reading(RTX_4090.uuid).age_s > 0, timeout=20_000)
        lost_s = told_after(
            slow.with_gpu(1, lost=True), lambda: state(RTX_3060) is DeviceState.LOST
        )
        back_s = told_after(slow, lambda: state(RTX_3060) is DeviceState.OK)
        slow_one = state(RTX_4090)
    finally:
        longest.stop()
        watch.stop()
    assert lost_s < 2.0
    assert back_s < 2.0
    assert slow_one is DeviceState.OK
    assert longest.gap_s < 0.3


def test_that_a_window_closed_while_a_slow_driver_is_first_read_waits_for_one_call(
    qtbot, nvml_in_process
):
    nvml_in_process.tell(StandinState(gpus=(replace(RTX_4090, slow_ms=500), RTX_3060)))
    watch = DeviceWatch()
    watch.start()
    qtbot.wait(700)
    begin = time.perf_counter()
    watch.stop()
    # A warning that a thread was left behind would fail the test, too.
    assert time.perf_counter() - begin < 1.5


def test_that_nothing_is_heard_after_stop(qtbot, watching):
    driver = FakeDriver()
    watch = watching(driver)
    with qtbot.waitSignal(watch.sampled):
        watch.start(interval_ms=1)
    watch.start(interval_ms=1)
    watch.stop()
    watch.stop()
    heard = Listener()
    watch.sampled.connect(heard.hear)
    watch.start(interval_ms=1)
    qtbot.wait(50)
    assert heard.reported == []
    assert driver.is_closed


def test_that_a_driver_that_never_answers_is_left_behind(qtbot, watching, monkeypatch, caplog):
    from gpupanel.ui.workers import device_worker

    monkeypatch.setattr(device_worker, "_JOIN_MS", 50)
    driver = FakeDriver(slow_s=0.6)
    watch = watching(driver)
    watch.start()
    qtbot.waitUntil(lambda: bool(driver.threads))
    begin = time.perf_counter()
    watch.stop()
    assert time.perf_counter() - begin < 0.4
    assert "does not answer" in caplog.text
    caplog.clear()
    assert watch._thread.isRunning()
    qtbot.waitUntil(watch._thread.isFinished)


def test_that_the_real_devices_are_read(qtbot, tmp_path):
    watch = DeviceWatch(folder=tmp_path)
    heard = Listener()
    watch.inventoryChanged.connect(heard.hear)
    try:
        with qtbot.waitSignal(watch.sampled, timeout=20_000) as reported:
            watch.start()
    finally:
        watch.stop()
    assert heard.reported[0].device(CPU_KEY) is not None
    assert reported.args[0].reading(CPU_KEY).memory_used_mib > 0
    assert reported.args[0].disk.path == str(tmp_path)


def test_that_a_window_lists_the_devices_as_the_shell_means_them(monkeypatch):
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "1")
    source = machine_devices()
    try:
        variables = source.inventory().cuda_variables
    finally:
        source.close()
    assert variables is not None
    assert variables.visible_devices == "1"
