"""What TensorFlow's allocator counts is reported for each GPU, every ten seconds and at the end."""

import subprocess
import sys
from pathlib import Path

import pytest

from gpupanel.domain.events import MemoryReported, decode_event
from tests.unit.trainer.trained_runs import CHILD_ENVIRONMENT, COUNTED

pytestmark = pytest.mark.tensorflow


def test_that_memory_in_use_is_reported_for_each_gpu_when_it_is_due(tmp_path: Path) -> None:
    events = tmp_path / "events.jsonl"
    program = Path(__file__).with_name("read_memory.py")
    done = subprocess.run(
        [sys.executable, str(program), str(events)],
        env={**CHILD_ENVIRONMENT, **COUNTED},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-4000:]
    reported = [decode_event(line) for line in events.read_bytes().splitlines()]
    # At 10 and at 20 seconds, and at the end; the CPU's memory is not reported.
    assert [type(each) for each in reported] == [MemoryReported] * 3
    for each in reported:
        assert each.process == 3
        assert [device.device_key for device in each.devices] == ["GPU-0", "GPU-1"]
        split, whole = each.devices
        # Both parts of the first one count; 64 MiB are held on the logical device of its first.
        assert 64 <= whole.in_use_mib <= whole.peak_mib
        assert whole.in_use_mib <= split.in_use_mib
        assert split.in_use_mib <= split.peak_mib
