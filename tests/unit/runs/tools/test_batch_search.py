"""Batches are tried by processes that may die, hang or disturb: each is an answer, or a problem."""

import json
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from threading import Event

import pytest

from gpupanel.domain.batch_fit import BatchFit, BatchProgress
from gpupanel.domain.batch_search import SearchEnd
from gpupanel.domain.data import PythonData
from gpupanel.domain.device import CPU_KEY, DeviceInventory
from gpupanel.domain.model_summary import ModelSummary, SummaryRequest, summary_request
from gpupanel.domain.problem import Problem
from gpupanel.domain.profile import DeviceSettings, Profile
from gpupanel.domain.step_memory import MemoryPeak, StepMemory
from gpupanel.domain.strategy import StrategyKind, StrategySettings
from gpupanel.domain.telemetry import DeviceReading, TelemetrySample
from gpupanel.runs.questions.model_summary import summarize_model
from gpupanel.runs.questions.question import Question
from gpupanel.runs.readiness import Machine
from gpupanel.runs.tools.batch_search import search as batch_search
from gpupanel.runs.tools.batch_search.free_memory import FreeMemory
from gpupanel.runs.tools.batch_search.problems import too_slow
from gpupanel.runs.tools.batch_search.search import find_batches, try_batches
from tests.fakes.batch_child import CHILD, Reader
from tests.fakes.devices import CPU_ONLY, RTX_4090, TWO_UNEQUAL, sample_with
from tests.fakes.questions import answering, asked_of
from tests.forked.processes import child_processes

MIB = 2**20
STEP = StepMemory(
    peaks=(MemoryPeak(fixed_bytes=100 * MIB, bytes_per_example=MIB),),
    example_bytes=0,
    weight_bytes=100 * MIB,
    trainable_bytes=100 * MIB,
)
CPU_PROFILE = Profile(devices=DeviceSettings(visible=(CPU_KEY,)))
GPU_PROFILE = Profile(devices=DeviceSettings(visible=(RTX_4090.key,)))
FREE = TelemetrySample(time_s=0.0, readings=(DeviceReading(key=CPU_KEY, memory_free_mib=2_000),))
CPU_MACHINE = Machine(CPU_ONLY, FREE)
GPU_MACHINE = Machine(TWO_UNEQUAL, sample_with(gpu_4090=20_000))


def child(folder: Path, code: str) -> tuple[str, ...]:
    return (sys.executable, "-c", CHILD + code, str(folder))


def summarizing(**found: object) -> Question[SummaryRequest, ModelSummary]:
    return asked_of(summarize_model, answering(ModelSummary(**found)))


def tried(
    folder: Path,
    code: str,
    profile: Profile = CPU_PROFILE,
    machine: Machine = CPU_MACHINE,
    seconds: float = 30.0,
    reader: Reader | None = None,
    cancelled: Event | None = None,
    news: list[BatchProgress] | None = None,
    command: tuple[str, ...] | None = None,
) -> BatchFit:
    reader = reader or Reader()
    found = find_batches(
        profile,
        machine,
        seconds,
        cancelled=cancelled,
        on_progress=(news if news is not None else []).append,
        question=replace(try_batches, command=command or child(folder, code)),
        summarize=summarizing(step=STEP),
        make_reader=lambda _: reader,
    )
    assert reader.is_closed
    assert not child_processes()
    return found


class Reactions(list[BatchProgress]):
    """What is heard; something is done once so many examples are tried."""

    def __init__(self, examples: int, do: Callable[[], object]) -> None:
        super().__init__()
        self._examples, self._do = examples, do

    def append(self, progress: BatchProgress) -> None:
        super().append(progress)
        if progress.examples == self._examples:
            self._do()


def requests(folder: Path) -> list[dict[str, object]]:
    count = int((folder / "started").read_text())
    return [json.loads((folder / f"{number}.json").read_text()) for number in range(count)]


def codes(found: BatchFit) -> list[str]:
    return [each.code for each in found.all_problems]


def test_that_no_process_is_started_when_all_is_known(tmp_path: Path) -> None:
    code = "fits(64); say(begun={'examples': 68}); os.abort()"
    found = tried(tmp_path, code)
    (device,) = found.devices
    assert (device.stopped, device.largest) == (SearchEnd.FOUND, 64)
    assert len(requests(tmp_path)) == 1


def test_that_what_was_found_is_an_answer(tmp_path: Path) -> None:
    news: list[BatchProgress] = []
    found = tried(tmp_path, "fits(64, 500.0); fits(128, 500.0); end('found')", news=news)
    (device,) = found.devices
    assert (device.largest, device.stopped, found.largest_batch) == (128, SearchEnd.FOUND, 128)
    assert [(each.examples, each.largest) for each in news] == [(0, 0), (64, 0), (128, 64)]
    (request,) = requests(tmp_path)
    assert request["memory_limit_bytes"] == (2_000 - 512 - 400) * MIB
    assert request["first"] == 1_088 - 400


def test_that_a_process_that_dies_of_memory_is_followed_by_another(tmp_path: Path) -> None:
    code = (
        "if count == 0:\n"
        "    fits(64); say(begun={'examples': 128}); os.kill(os.getpid(), signal.SIGSEGV)\n"
        "fits(96); end('found')"
    )
    found = tried(tmp_path, code)
    (device,) = found.devices
    assert [(each.examples, each.fits) for each in device.trials] == [
        (64, True),
        (128, False),
        (96, True),
    ]
    assert found.largest_batch == 96
    assert len(requests(tmp_path)[1]["trials"]) == 2  # type: ignore[arg-type]


def test_that_a_killed_process_is_tried_once_more(tmp_path: Path) -> None:
    code = (
        "if count == 0:\n"
        "    say(begun={'examples': 64}); os.kill(os.getpid(), signal.SIGKILL)\n"
        "fits(64); end('found')"
    )
    assert tried(tmp_path, code).largest_batch == 64
    other = tmp_path / "other"
    other.mkdir()
    code = (
        "trials = request['trials']\n"
        "if len(trials) == 2: end('nothing_fits')\n"
        "else: say(begun={'examples': 2 - len(trials)}); os.kill(os.getpid(), signal.SIGKILL)"
    )
    found = tried(other, code)
    assert codes(found) == ["fit_batch_nothing_fits"]
    assert found.largest_batch == 0
    assert len(requests(other)) == 4  # each of two numbers twice


def test_that_a_refusal_of_a_used_gpu_is_doubted_once(tmp_path: Path) -> None:
    code = (
        "if count == 0: fits(64); refused(128); end('out_of_memory')\n"
        "elif count == 1: fits(128); refused(256); end('out_of_memory')\n"
        "elif count == 2: refused(256); end('out_of_memory')\n"
        "else: fits(192); end('found')"
    )
    found = tried(tmp_path, code, GPU_PROFILE, GPU_MACHINE)
    (device,) = found.devices
    assert [(each.examples, each.fits) for each in device.trials] == [
        (64, True),
        (128, True),
        (256, False),
        (192, True),
    ]
    assert requests(tmp_path)[0]["memory_limit_bytes"] is None


@pytest.mark.parametrize("later", [FreeMemory(200, 100), FreeMemory(2_000, 400)])
def test_that_memory_that_others_take_ends_it(tmp_path: Path, later: FreeMemory) -> None:
    code = "fits(64); say(begun={'examples': 128}); time.sleep(600)"
    reader = Reader(FreeMemory(2_000, None), FreeMemory(2_000, 100))
    news = Reactions(128, lambda: reader.readings.append(later))
    found = tried(tmp_path, code, reader=reader, news=news)
    (device,) = found.devices
    assert device.stopped is SearchEnd.DISTURBED
    assert [each.fits for each in device.trials] == [True]
    assert found.largest_batch == 64


def test_that_nothing_is_tried_where_less_is_free_than_was_planned(tmp_path: Path) -> None:
    found = tried(tmp_path, "time.sleep(600)", reader=Reader(FreeMemory(1_300, 0)))
    assert found.devices[0].stopped is SearchEnd.DISTURBED
    assert codes(found) == ["fit_batch_disturbed"]
    assert found.largest_batch is None


def test_that_a_first_step_that_never_ends_is_ended(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(batch_search, "_GRACE_S", 0.1)
    monkeypatch.setattr(batch_search, "_LEAST_S", 0.1)
    code = "say(begun={'examples': 64}); time.sleep(60)"
    begin_s = time.monotonic()
    found = tried(tmp_path, code, seconds=0.9)
    assert time.monotonic() - begin_s < 20.0
    assert codes(found) == ["fit_batch_too_slow"]
    assert "The steps with 64 took" in too_slow(60.0, 64).message
    assert found.devices[0].stopped is SearchEnd.TIME
    assert found.largest_batch is None
    silent = tried(tmp_path, "end('time')")
    assert codes(silent) == ["fit_batch_too_slow"]
    partly = tried(tmp_path, "fits(64); end('time')")
    assert (codes(partly), partly.largest_batch) == ([], 64)


@pytest.mark.parametrize(
    ("code", "problem"),
    [
        ("raise SystemExit(3)", "fit_batch_died"),
        ("os.kill(os.getpid(), signal.SIGSEGV)", "fit_batch_died"),
        ("print('{')", "fit_batch_unreadable"),
        ("print('[' * 100_000)", "fit_batch_unreadable"),
        ("say(trial={'examples': -1, 'fits': True})", "fit_batch_unreadable"),
    ],
)
def test_that_another_end_of_the_process_is_a_problem(
    tmp_path: Path, code: str, problem: str
) -> None:
    found = tried(tmp_path, code)
    assert codes(found) == [problem]
    assert found.largest_batch is None


def test_that_a_process_that_cannot_be_started_is_a_problem(tmp_path: Path) -> None:
    found = tried(tmp_path, "", command=(str(tmp_path / "missing"),))
    assert codes(found) == ["fit_batch_not_started"]


def test_that_processes_that_only_die_come_to_an_end(tmp_path: Path) -> None:
    code = (
        "n = 2 ** 20 >> len(request['trials'])\n"
        "if n: say(begun={'examples': n}); os.abort()\n"
        "end('nothing_fits')"
    )
    found = tried(tmp_path, code)
    assert codes(found) == ["fit_batch_nothing_fits"]


def test_that_it_is_cancelled_at_any_moment(tmp_path: Path) -> None:
    cancelled = Event()
    news = Reactions(1, cancelled.set)
    code = "say(begun={'examples': 1}); time.sleep(600)"
    found = tried(tmp_path, code, cancelled=cancelled, news=news)
    assert found.largest_batch is None
    assert found.devices[0].stopped is SearchEnd.FAILED


def test_that_what_cannot_be_tried_is_said() -> None:
    def found(profile: Profile, machine: Machine = CPU_MACHINE, **summary: object) -> BatchFit:
        summarize = summarizing(**{"step": STEP, **summary})
        return find_batches(profile, machine, 5.0, summarize=summarize)

    code = CPU_PROFILE.model_copy(update={"data": PythonData(path="/data.py")})
    assert find_batches(code, CPU_MACHINE).needs_start
    assert found(CPU_PROFILE, needs_download=True).needs_download
    assert found(CPU_PROFILE, needs_start=True).needs_start
    problem = Problem(code="data_file_missing", message="There is no such file.")
    assert found(CPU_PROFILE, problems=(problem,)).problems == (problem,)
    apart = StrategySettings(kind=StrategyKind.MODEL_PARALLEL)
    devices = DeviceSettings(visible=(CPU_KEY,), cpu_replicas=2)
    placed = Profile(devices=devices, strategy=apart)
    assert codes(found(placed)) == ["fit_batch_layers_placed"]
    nothing = Machine(DeviceInventory(devices=()))
    assert codes(found(CPU_PROFILE, nothing)) == ["fit_batch_without_plan"]
    full = TelemetrySample(time_s=0.0, readings=(DeviceReading(key=CPU_KEY, memory_free_mib=900),))
    assert codes(found(CPU_PROFILE, Machine(CPU_ONLY, full))) == ["fit_batch_no_room"]


def test_that_strategies_with_weights_on_the_host_say_so(tmp_path: Path) -> None:
    central = StrategySettings(kind=StrategyKind.CENTRAL_STORAGE)
    profile = CPU_PROFILE.model_copy(update={"strategy": central})
    found = tried(tmp_path, "fits(64); end('found')", profile)
    assert codes(found) == ["fit_batch_with_all_weights"]
    assert found.largest_batch == 64


def test_that_what_it_shows_of_memory_is_in_the_next_estimate(tmp_path: Path) -> None:
    tried(tmp_path, "fits(200, 600.0); end('found')")
    step = summarizing(step=STEP)(summary_request(CPU_PROFILE)).step
    assert step is not None
    measured = step.measured_on(CPU_KEY, jit_compile=False)
    assert measured is not None
    assert measured.ratio == 2.5
