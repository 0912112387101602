"""Processor time of an image of a folder, against Keras's own way of training on it.

``python bench_image_processor.py [--images N] [--rounds N]``: sides take turns, each in processes
of its own, all of which count: the run, who watches over it and who waits for it. Figures are
medians over the rounds of an epoch that follows the first one, so that nothing that is done once
counts; what else uses the machine changes them little. Keras's way is
``keras.utils.image_dataset_from_directory`` with ``fit``; the network has little to compute.

What cannot be spread over cores is the interpreter, which threads take turns with, and the thread
that hands a call its examples: the processor time in user mode of Python's threads in a process
that reads as a run does, with a decoder that gives pixels without unpacking any, and without
copying these: threads do that without the interpreter, as they do all calls into the system.
TensorFlow's own threads, which need no interpreter, are not among them. From that and from the time
of reading alone follows by calculation what more cores are worth: nobody measured it.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import psutil
from bench_image_folder import CASES, KERAS, STRIDED, environment, make_images, profile_of

from gpupanel.domain.data import DataCache
from gpupanel.domain.images_data import JpegDecoding
from gpupanel.domain.profile_toml import dump_profile
from gpupanel.trainer.datasets.examples import Indices
from gpupanel.trainer.steps.look_ahead import LookAhead

_SIDE, _BATCH, _EPOCHS, _STEPS = 224, 32, 4, 4
_LOOK_S = 0.02
_BOUNDS = {JpegDecoding.EXACT: 0.85, JpegDecoding.FAST: 1.0}
"""Keras's time over the panel's, at least."""
_SERIAL_US = 30.0
"""At most."""
_CORES = (8, 16, 32)


@dataclass(frozen=True)
class Alone:
    """Microseconds of an image that is read as a run reads it, and that nothing is computed of.

    Attributes:
        all: Of the process.
        serial: That cannot be spread over cores; of a process that unpacks nothing.
    """

    all: float
    serial: float


def used_s(marker: str) -> float:
    """Seconds of processor that processes have used until now whose runs are kept there."""
    return sum(_used_s(process, marker) for process in psutil.process_iter())


def _used_s(process: psutil.Process, marker: str) -> float:
    try:
        if process.environ().get("GPUPANEL_RUNS_DIR") != marker:
            return 0.0
        times = process.cpu_times()
    except psutil.Error:
        return 0.0
    return float(times.user + times.system)


def following_us(
    command: Sequence[str], folder: Path, count: int, epochs_done: Callable[[str], int]
) -> float:
    """Microseconds of an image in the epochs that follow the first.

    Args:
        command: Trains for so many epochs.
        folder: Where it keeps what it writes.
        count: How many images an epoch has.
        epochs_done: Of what it has printed so far.
    """
    places, printed = environment(folder), folder / "printed"
    used: list[float] = []
    with printed.open("w") as output:
        process = subprocess.Popen(command, env=places, stdout=output, stderr=subprocess.DEVNULL)
        while process.poll() is None and len(used) < _EPOCHS:
            time.sleep(_LOOK_S)
            if epochs_done(printed.read_text()) > len(used):
                used.append(used_s(places["GPUPANEL_RUNS_DIR"]))
        if process.wait():
            raise SystemExit(f"{command} ended with {process.returncode}.")
    return (used[-1] - used[0]) / (len(used) - 1) / count * 1e6


def with_keras(images: Path, count: int) -> float:
    """Microseconds of an image in Keras's ``fit``."""
    asked = json.dumps([str(images), _SIDE, _BATCH, _EPOCHS])
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-c", STRIDED + KERAS, asked]
        return following_us(command, Path(folder), count, lambda printed: printed.count("epoch"))


def with_gpupanel(images: Path, count: int, decode: JpegDecoding) -> float:
    """Microseconds of an image in a run."""
    with tempfile.TemporaryDirectory() as folder:
        code, path = Path(folder) / "model.py", Path(folder) / "profile.toml"
        code.write_text(STRIDED)
        profile = profile_of(images, code, DataCache.NONE, decode=decode, epochs=_EPOCHS)
        path.write_text(dump_profile(profile))
        command = [sys.executable, "-P", "-m", "gpupanel", "run", "--trust", "--json", str(path)]
        runs = Path(environment(Path(folder))["GPUPANEL_RUNS_DIR"])

        def epochs_done(_printed: str) -> int:
            logs = (each.read_text() for each in runs.glob("*/events.jsonl"))
            return sum(log.count('"kind":"epoch_done"') for log in logs)

        return following_us(command, Path(folder), count, epochs_done)


def _read_only(ahead: LookAhead, chunk: Indices) -> None:
    ahead._examples.read(chunk)


def read_alone(images: Path, decode: JpegDecoding, *, unpacked: bool) -> tuple[float, float]:
    """Microseconds of an image, all and those of Python's threads in user mode.

    Args:
        images: The folder.
        decode: How they are unpacked.
        unpacked: Whether they are, and their pixels written where calls take them from.
    """
    import tensorflow as tf

    from gpupanel.trainer.datasets.examples import Examples
    from gpupanel.trainer.datasets.images import jpeg_decoder
    from gpupanel.trainer.datasets.images.decoding import ImageDecoding
    from gpupanel.trainer.datasets.images.sets import list_sets
    from gpupanel.trainer.steps.streamed_feed import StreamedFeed

    ready = np.zeros((_BATCH, _SIDE, _SIDE, 3), np.uint8)
    if not unpacked:
        jpeg_decoder._Decoding.function = (
            lambda self, _: tf.function(  # type: ignore[method-assign]
                lambda contents: tf.constant(ready)[: tf.shape(contents)[0]],
                input_signature=[tf.TensorSpec([self.count], tf.string)],
                autograph=False,
            ).get_concrete_function()
        )
        LookAhead._read = lambda self, chunk, _: _read_only(self, chunk)  # type: ignore[method-assign]
    data = profile_of(images, Path(), DataCache.NONE, decode=decode).data
    listed = list_sets(data)["training"]
    files = listed.with_decoding(ImageDecoding(jpeg_decoder.JpegDecoder())).files
    examples = Examples(files, np.zeros(len(files.paths), np.int32))
    feed = StreamedFeed(examples, {0: "/device:CPU:0"})
    batches = len(examples) // (_STEPS * _BATCH)
    order = np.random.default_rng(0).permutation(len(examples)).astype(np.int32)
    calls = order[: batches * _STEPS * _BATCH].reshape(batches, _STEPS, _BATCH)
    bounds = np.array([[0, _BATCH]], np.int32)

    def epoch() -> None:
        feed.expect([(call, bounds) for call in calls])
        for call in calls:
            feed.tensors(call, bounds)

    epoch()
    before_s, epochs = (time.process_time(), _interpreted_s()), 1 if unpacked else 20
    for _ in range(epochs):
        epoch()
    after_s = time.process_time(), _interpreted_s()
    feed.close()
    all_us, interpreted_us = (
        1e6 * (after - before) / epochs / calls.size
        for before, after in zip(before_s, after_s, strict=True)
    )
    return all_us, interpreted_us


def _interpreted_s() -> float:
    """Seconds in user mode of the threads that Python runs in."""
    own = {thread.native_id for thread in threading.enumerate()}
    return sum(each.user_time for each in psutil.Process().threads() if each.id in own)


def alone(images: Path, decode: JpegDecoding) -> Alone:
    """What a process of its own each measures."""
    return Alone(*(_in_process(images, decode, part) for part in ("all", "serial")))


def _in_process(images: Path, decode: JpegDecoding, part: str) -> float:
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run(
            [sys.executable, __file__, "--alone", part, decode.value, str(images)],
            env=environment(Path(folder)),
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            check=True,
        )
    return float(done.stdout.splitlines()[-1])


def by_cores(found: Alone) -> Iterator[float]:
    """Images a second with so many cores, as far as these decide it; by calculation."""
    for cores in _CORES:
        yield 1e6 / max(found.all / cores, found.serial)


def compare(count: int, rounds: int) -> bool:
    """Print the figures as tables of the guide; whether each is within its bound."""
    case, keras, used, read = CASES["light"], list[float](), {}, {}
    with tempfile.TemporaryDirectory() as folder:
        images = Path(folder)
        make_images(images, case, count)
        for _ in range(rounds):
            keras.append(with_keras(images, count))
            for decode in JpegDecoding:
                used.setdefault(decode, []).append(with_gpupanel(images, count, decode))
                read.setdefault(decode, []).append(alone(images, decode))
    load = ", ".join(f"{each:.1f}" for each in os.getloadavg())
    print(f"{case.title}, {count:,} to {_SIDE}x{_SIDE}, {rounds} rounds; load {load} at the end\n")
    print("| processor time of an image | measured | bound |\n|---|---|---|")
    print(f"| Keras's `fit` | {statistics.median(keras):,.0f} us | |")
    are_within = True
    for decode, times in used.items():
        ratio = statistics.median(each / own for each, own in zip(keras, times, strict=True))
        are_within &= ratio >= _BOUNDS[decode]
        print(
            f"| a run, {decode.value}: Keras's time over it | {statistics.median(times):,.0f} us: "
            f"{ratio:.2f} | {_BOUNDS[decode]} |"
        )
    middle = {
        decode: Alone(
            statistics.median(each.all for each in found),
            statistics.median(each.serial for each in found),
        )
        for decode, found in read.items()
    }
    for decode, found in middle.items():
        are_within &= found.serial <= _SERIAL_US
        print(f"| reading alone, {decode.value} | {found.all:,.0f} us | |")
        print(f"| of it not to be spread | {found.serial:.0f} us | {_SERIAL_US:.0f} us |")
    print("\nBy calculation, not measured: images a second that are read\n")
    print(f"| cores | {' | '.join(map(str, _CORES))} |\n|---|{'---|' * len(_CORES)}")
    for decode, found in middle.items():
        cells = " | ".join(f"{each:,.0f}" for each in by_cores(found))
        print(f"| {decode.value} | {cells} |")
    return are_within


def main() -> int:
    """Print what was asked for; 1 where a figure is not within its bound."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--images", type=int, default=CASES["light"].images)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--alone", nargs=3, help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.alone:
        part, decode, images = asked.alone
        used_us, serial_us = read_alone(Path(images), JpegDecoding(decode), unpacked=part == "all")
        print(used_us if part == "all" else serial_us)
        return 0
    return 0 if compare(asked.images, asked.rounds) else 1


if __name__ == "__main__":
    sys.exit(main())
