"""The bytes of TFRecord files are read as TensorFlow reads them."""

import json
import os
import random
import sys
from pathlib import Path

import numpy as np
import pytest

from gpupanel.domain.data import TfrecordData
from gpupanel.trainer.datasets.records.crc32c import masked_crc, masked_crcs
from gpupanel.trainer.datasets.records.example_fields import (
    MOST_FIELDS,
    NoExampleError,
    byte_spans,
    count_of,
    features_of,
    numbers_of,
)
from gpupanel.trainer.datasets.records.first_records import taker
from gpupanel.trainer.datasets.source import Reading, read_data
from tests.forked.processes import run_forked
from tests.unit.trainer.record_files import example, example_of, message, varint, write_records


def unmasked(crc: int) -> int:
    rotated = (crc - 0xA282EAD8) % 2**32
    return (rotated >> 17 | rotated << 15) % 2**32


def values_of(record: bytes, *wanted: str) -> dict[str, list[object]]:
    take = taker(record)
    found = features_of(take, len(record), frozenset(wanted) if wanted else None)
    return {
        name: [record[slice(*span)] for span in byte_spans(take, each)]
        if each.kind == "bytes"
        else numbers_of(take, each).tolist()
        for name, each in found.items()
    }


def test_that_checksums_are_those_of_the_standard() -> None:
    assert unmasked(masked_crc(b"123456789")) == 0xE3069283
    assert [unmasked(crc) for crc in masked_crcs([bytes(32), b"\xff" * 32, bytes(range(32))])] == [
        0x8A9136AA,
        0x62A8AB43,
        0x46DD794E,
    ]  # RFC 3720, B.4


def test_that_checksums_of_many_are_those_of_each() -> None:
    draw = random.Random(4)
    lengths = [*range(12), 1023, 1024, 1025, 5000, *range(65_530, 65_543), 131_073, 131_076]
    pieces = [draw.randbytes(length) for length in lengths]
    expected = [masked_crc(piece) for piece in pieces]
    assert masked_crcs(pieces) == expected
    assert [masked_crcs([piece])[0] for piece in pieces] == expected
    assert masked_crcs(pieces[:12]) == expected[:12]
    assert masked_crcs([]) == []


def test_that_features_of_each_type_are_read() -> None:
    record = example(
        a=[b"", b"one", bytes(300)],
        b=[0.5, -2.0],
        c=[0, 1, 127, 128, 300, -1, 2**62, -(2**63)],
        d=7,
        long_name_of_a_feature_that_has_more_letters_than_one_byte_can_say_so_it_takes_two_bytes__ü=1,
    )
    found = values_of(record)
    assert found["a"] == [b"", b"one", bytes(300)]
    assert (found["b"], found["d"]) == ([0.5, -2.0], [7])
    assert found["c"] == [0, 1, 127, 128, 300, -1, 2**62, -(2**63)]
    assert len(found) == 5
    assert values_of(record, "d", "none") == {"d": [7]}
    take = taker(record)
    assert count_of(take, features_of(take, len(record))["b"]) == 2


def test_that_what_is_written_unusually_is_read_all_the_same() -> None:
    floats = b"".join(varint(1 << 3 | 5) + np.float32(each).tobytes() for each in (1.5, 2.5))
    whole = b"".join(varint(1 << 3) + varint(each) for each in (300, -5))
    entry = message(2, message(2, floats)) + message(1, b"after")
    more = message(1, b"two") + message(2, message(3, whole) + message(3, message(1, varint(9))))
    unknown = varint(15 << 3) + varint(2**40) + varint(9 << 3 | 1) + bytes(8) + message(7, b"x")
    twice = message(1, message(1, message(1, b"two") + message(2, message(1, message(1, b"x")))))
    record = twice + unknown + message(1, unknown + message(1, entry) + message(1, more))
    assert values_of(record) == {"after": [1.5, 2.5], "two": [300, -5, 9]}
    take = taker(record)
    assert count_of(take, features_of(take, len(record))["after"]) == 2
    empty = message(1, message(1, message(1, b"none") + message(2, b"")))
    assert values_of(record + empty + message(1, b"")) == values_of(record)
    assert values_of(b"") == {}


@pytest.mark.parametrize(
    "record",
    [
        b"\x0a",
        b"\x0a\x05ab",
        b"\x0a" + varint(2**63),
        b"\x0a" + b"\xff" * 30,
        b"\x0f\x01",
        b"\x00\x01",
        b"no example at all, but a line of text",
        message(1, message(1, message(1, b"\xff\xfe") + message(2, b""))),
        message(1, message(1, message(1, bytes(5000)) + message(2, b""))),
        message(1, message(3, b"") * (MOST_FIELDS + 1)),
    ],
    ids=lambda record: record[:8].hex(),
)
def test_that_bytes_that_are_no_example_are_refused(record: bytes) -> None:
    with pytest.raises(NoExampleError):
        values_of(record)


@pytest.mark.parametrize("values", [b"\x80", b"\x01\xff", b"\x80" * 10 + b"\x01"])
def test_that_numbers_that_are_cut_short_are_refused(values: bytes) -> None:
    of_list = message(3, message(1, values))
    record = message(1, message(1, message(1, b"a") + message(2, of_list)))
    with pytest.raises(NoExampleError):
        values_of(record)
    floats = message(2, message(1, values + b"ab"[: 3 - len(values) % 4]))
    record = message(1, message(1, message(1, b"a") + message(2, floats)))
    with pytest.raises(NoExampleError):
        values_of(record)


_BY_TENSORFLOW = """
import json, sys
import tensorflow as tf

found = []
for record in tf.data.TFRecordDataset(sys.argv[1]).as_numpy_iterator():
    features = tf.train.Example.FromString(record).features.feature
    found.append({
        name: [each.hex() if isinstance(each, bytes) else each for each in
               getattr(feature, feature.WhichOneof("kind")).value]
        for name, feature in features.items()
    })
options = tf.io.TFRecordOptions(compression_type="GZIP")
for name, given in (("plain", None), ("packed", options)):
    with tf.io.TFRecordWriter(f"{sys.argv[1]}.{name}", given) as file:
        for number in range(20):
            file.write(tf.train.Example(features=tf.train.Features(feature={
                "x": tf.train.Feature(float_list=tf.train.FloatList(value=[number / 7, -number])),
                "y": tf.train.Feature(int64_list=tf.train.Int64List(value=[number - 5])),
                "z": tf.train.Feature(bytes_list=tf.train.BytesList(value=[bytes(number)])),
            })).SerializeToString())
print(json.dumps(found))
"""


@pytest.mark.tensorflow
def test_that_tensorflow_reads_what_is_written_here_and_writes_what_is_read_here(
    tmp_path: Path,
) -> None:
    draw = random.Random(9)
    made = [
        {
            f"name {draw.randrange(99)}": draw.choice(
                [
                    [draw.randbytes(draw.randrange(300)) for _ in range(3)],
                    [float(np.float32(draw.uniform(-9, 9))) for _ in range(200)],
                    [draw.choice([0, 1, 128, -1, 2**40, -(2**63)]) for _ in range(200)],
                ]
            )
            for _ in range(4)
        }
        for _ in range(200)
    ]
    path = write_records(tmp_path / "a.tfrecord", map(example_of, made))
    done = run_forked(
        [sys.executable, "-c", _BY_TENSORFLOW, str(path)],
        env={**os.environ, "CUDA_VISIBLE_DEVICES": "-1", "TF_CPP_MIN_LOG_LEVEL": "3"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-4000:]
    for found, expected in zip(json.loads(done.stdout), made, strict=True):
        assert found == {
            name: [each.hex() if isinstance(each, bytes) else each for each in values]
            for name, values in expected.items()
        }
        assert values_of(example_of(expected)) == expected
    for name in ("plain", "packed"):
        check_written_by_tensorflow(Path(f"{path}.{name}"))


def check_written_by_tensorflow(path: Path) -> None:
    data = TfrecordData(path=str(path), predicts="values", cache="none")
    found = read_data(data, Reading(print)).training
    rows = found.read(np.arange(20, dtype=np.int32))
    assert np.array_equal(rows, np.float32([[number / 7, -number] for number in range(20)]))
    assert found.labels.tolist() == [number - 5 for number in range(20)]
