"""A portion of a history is handed from process to process as numbers and text, never as code."""

import io
import math
import pickle
from pathlib import Path

import msgspec
import pytest

from gpupanel.domain.events import PhaseChanged, StepsDone, encode_event
from gpupanel.runs.directory.tails import Place
from gpupanel.runs.following.gathered_lines import (
    GatheredLines,
    Portion,
    read_portion,
    write_portion,
)
from gpupanel.runs.following.steps import StepBatch

STEPS = tuple(
    StepsDone(
        time_s=5.5 + step,
        step=step,
        steps=1,
        epoch=1,
        step_in_epoch=step,
        examples=8,
        loss=1.0 / step,
        accuracy=None if step == 2 else 0.25,
        examples_per_second=9.0,
    )
    for step in (1, 2, 3)
)
OTHER = encode_event(PhaseChanged(time_s=2.0, phase="training")).encode()
PLACE = Place(offset=2**40, identity=(2**33, 2**64 - 1))


def portion() -> Portion:
    lines = GatheredLines(keeps_lines=False)
    lines.add("".join(encode_event(step) + "\n" for step in STEPS).encode() + OTHER + b"\n")
    return Portion(lines.parts, PLACE)


def handed_over() -> bytes:
    stream = io.BytesIO()
    write_portion(portion(), stream)
    return stream.getvalue()


def framed(content: bytes) -> io.BytesIO:
    return io.BytesIO(len(content).to_bytes(8, "little") + content)


def test_that_a_portion_arrives_as_it_was_sent() -> None:
    stream = io.BytesIO(handed_over() * 2)

    for _ in range(2):
        found = read_portion(stream)
        assert found is not None
        assert found.place == PLACE
        steps, other = found.parts
        assert other == OTHER
        assert isinstance(steps, StepBatch)
        assert list(steps.step) == [1, 2, 3]
        assert list(steps.time_s) == [6.5, 7.5, 8.5]
        assert list(steps.metrics["loss"]) == [step.loss for step in STEPS]
        assert math.isnan(steps.metrics["accuracy"][1])
        assert (steps.first, steps.last) == (STEPS[0], STEPS[-1])
    assert read_portion(stream) is None


@pytest.mark.parametrize("length", [0, 1, 7, 8, 9, 100])
def test_that_a_stream_that_ends_within_a_portion_has_no_more(length: int) -> None:
    assert read_portion(io.BytesIO(handed_over()[:length])) is None


def test_that_what_is_no_portion_is_refused_and_a_pickle_is_not_run(tmp_path: Path) -> None:
    marker = tmp_path / "run"

    class Evil:
        def __reduce__(self) -> tuple[object, tuple[object, ...]]:
            return marker.touch, ()

    sent = pickle.dumps(Evil())
    for stream in (framed(sent), io.BytesIO(sent), io.BytesIO(b"\xff" * 100)):
        with pytest.raises(ValueError, match=r"no portion has|MessagePack|Expected|truncated"):
            read_portion(stream)
    assert not marker.exists()


def test_that_columns_that_do_not_belong_together_are_refused() -> None:
    steps = portion().parts[0]
    assert isinstance(steps, StepBatch)
    packed = steps.packed()

    for columns in (
        (*packed.columns[:-1], packed.columns[-1][:8]),
        (*packed.columns[:-1], packed.columns[-1][:9]),
        packed.columns[:-1],
        (b"",) * len(packed.columns),
    ):
        torn = msgspec.structs.replace(packed, columns=columns)
        content = msgspec.msgpack.encode([[torn], PLACE])
        with pytest.raises(ValueError, match=r"column|multiple|shorter"):
            read_portion(framed(content))
