"""Real training steps with more and more examples, until the memory that they may take is full."""

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from gpupanel.domain.batch_search import BatchSearchRequest, SearchEnd
from gpupanel.domain.data import NpzData
from gpupanel.domain.device import CPU_KEY
from gpupanel.domain.model import CnnModel, MlpModel, Model
from gpupanel.domain.optimizer import Optimizer
from gpupanel.domain.profile import DeviceSettings, Profile
from gpupanel.domain.telemetry import DeviceReading, TelemetrySample
from gpupanel.domain.training import TrainingSettings
from gpupanel.planning.batch_targets import batch_targets
from gpupanel.planning.context import planning_context
from gpupanel.runs.readiness import Machine
from gpupanel.runs.tools.batch_search.search import find_batches, try_batches
from gpupanel.trainer.progress_lines import ProgressLines
from gpupanel.trainer.tools.batch_search import _Search
from tests.fakes.devices import CPU_ONLY
from tests.forked.processes import run_forked

pytestmark = pytest.mark.tensorflow


def images(folder: Path, count: int, side: int) -> NpzData:
    path = folder / "images.npz"
    features = np.random.default_rng(0).integers(0, 255, (count, side, side, 3), np.uint8)
    np.savez(path, x=features, y=np.arange(count, dtype=np.int32) % 3)
    return NpzData(path=str(path))


def profile(data: NpzData, model: Model, **training: object) -> Profile:
    return Profile(
        devices=DeviceSettings(visible=(CPU_KEY,)),
        data=data,
        model=model,
        training=TrainingSettings(**training),
    )


def request(of: Profile, **parts: object) -> BatchSearchRequest:
    (target,) = batch_targets(planning_context(of, CPU_ONLY))
    given = {"first": 32, "most": 2**20, "seconds": 300.0, "memory_limit_bytes": 2**31, **parts}
    return BatchSearchRequest(profile=target.context.profile, plan=target.plan, **given)


def answered(asked: BatchSearchRequest) -> list[dict[str, dict[str, object]]]:
    done = run_forked(
        list(try_batches.command),
        input=json.dumps(asked.model_dump(mode="json")),
        env={**os.environ, "CUDA_VISIBLE_DEVICES": "-1", "TF_CPP_MIN_LOG_LEVEL": "3"},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


def test_that_all_of_a_small_data_set_fits_with_everything_that_a_profile_asks(
    tmp_path: Path,
) -> None:
    of = profile(
        images(tmp_path, 50, 8),
        CnnModel(filters=(4,), batch_norm=True),
        accumulation_steps=2,
        mixed_precision=True,
        optimizer=Optimizer.SGD,
        momentum=0.9,
        ema=0.9,
        clip_norm=1.0,
    )
    *lines, last = answered(request(of))
    assert last["ended"]["end"] == SearchEnd.ALL_EXAMPLES
    assert last["ended"]["example_count"] == 50
    begun = [line["begun"]["examples"] for line in lines if "begun" in line]
    trials = [line["trial"] for line in lines if "trial" in line]
    assert begun == [each["examples"] for each in trials] == [8, 16, 32, 36, 44, 50]
    assert all(each["fits"] and each["step_seconds"] > 0.0 for each in trials)  # type: ignore[operator]


def test_that_it_continues_from_what_was_tried_and_ends_in_time(tmp_path: Path) -> None:
    of = profile(images(tmp_path, 50, 8), MlpModel(hidden=(8,)))
    tried = ({"examples": 16, "fits": True}, {"examples": 24, "fits": False})
    *lines, last = answered(request(of, trials=tried))
    assert [line["begun"]["examples"] for line in lines if "begun" in line] == [20, 22]
    assert last["ended"]["end"] == SearchEnd.FOUND
    assert answered(request(of, seconds=1e-3))[-1]["ended"]["end"] == SearchEnd.TIME


def test_that_what_is_wrong_with_the_data_is_a_problem(tmp_path: Path) -> None:
    of = profile(NpzData(path=str(tmp_path / "gone.npz")), MlpModel())
    (last,) = answered(request(of))
    assert last["ended"]["end"] == SearchEnd.FAILED
    (problem,) = last["ended"]["problems"]  # type: ignore[misc]
    assert problem["code"] == "data_file_missing"


def test_that_it_ends_when_nobody_listens_any_more(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = request(profile(NpzData(path="/x.npz"), MlpModel()))
    lines = ProgressLines()
    search = _Search(asked, lines, time.monotonic() + 60.0)
    monkeypatch.setattr(os, "getppid", lambda: 1)
    with pytest.raises(SystemExit):
        search.run(None, 100)  # type: ignore[arg-type]


@pytest.mark.slow
def test_that_what_does_not_fit_is_really_refused(tmp_path: Path) -> None:
    of = profile(images(tmp_path, 8_000, 64), MlpModel(hidden=(512,)))
    reading = DeviceReading(key=CPU_KEY, memory_free_mib=1_600)
    machine = Machine(CPU_ONLY, TelemetrySample(time_s=0.0, readings=(reading,)))
    found = find_batches(of, machine, 300.0)
    (device,) = found.devices
    assert device.problems == ()
    assert device.stopped is SearchEnd.FOUND
    assert 500 < device.largest < 6_400
    assert any(not each.fits for each in device.trials)
    # What is held of it at a time stays below what it may take.
    assert device.peak_mib is not None
    assert device.peak_mib < device.room_mib
    assert device.ratio is not None
    assert 0.5 < device.ratio < 2.0


def test_that_memory_beyond_the_limit_is_refused_to_the_process() -> None:
    code = (
        "from gpupanel.files.process_limits import limit_further_memory\n"
        "import os\n"
        "limit_further_memory(64 * 2**20)\n"
        "held = [bytearray(48 * 2**20)]\n"
        "try:\n"
        "    bytearray(64 * 2**20 + (2 * os.cpu_count() + 8) * 16 * 2**20)\n"
        "except MemoryError:\n"
        "    print('refused')\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "refused\n"
