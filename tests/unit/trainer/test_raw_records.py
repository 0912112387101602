"""Raw bytes and serialized tensors in records are read as the type that was written, or asked."""

import base64
import io
import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from gpupanel.domain.data import Scaling, TfrecordData
from gpupanel.domain.preview import PreviewRequest
from gpupanel.domain.previewed_profile import with_detected
from gpupanel.domain.problem import Problem, ProblemError
from gpupanel.domain.profile import Profile
from gpupanel.trainer.datasets.examples import Array, DataSet
from gpupanel.trainer.datasets.records.raw_bytes import likely_types, tensor_in
from gpupanel.trainer.datasets.source import Reading, source_of
from gpupanel.trainer.tools.preview.preview import preview
from tests.forked.processes import run_forked
from tests.unit.trainer.record_files import example, image, write_records

RANDOM = np.random.default_rng(5)
IMAGES = RANDOM.normal(size=(6, 5, 4))
"""Six examples of twenty numbers."""
VALUES: dict[str, Array] = {
    "uint8": (IMAGES * 60 + 128).clip(0, 255).astype("<u1"),
    "uint16": (abs(IMAGES) * 900).astype("<u2"),
    "int16": (IMAGES * 900).astype("<i2"),
    "int32": (IMAGES * 90_000).astype("<i4"),
    "int64": (IMAGES * 5).astype("<i8"),
    "float32": IMAGES.astype("<f4"),
    "float64": IMAGES.astype("<f8"),
}


def records(folder: Path, values: list[bytes], **more: Any) -> Path:
    rows = (example(x=value, y=number % 2, **more) for number, value in enumerate(values))
    return write_records(folder / "rows.tfrecord", rows)


def read(path: Path, **chosen: object) -> DataSet:
    data = TfrecordData(path=str(path), **chosen)
    return source_of(data).read(data, Reading(print))


def refused(path: Path, **chosen: object) -> Problem:
    with pytest.raises(ProblemError) as raised:
        read(path, **chosen)
    (problem,) = raised.value.problems
    assert problem.hint
    return problem


def rows_of(data: DataSet) -> Array:
    return data.training.read(np.arange(len(data.training), dtype=np.int32))


@pytest.mark.parametrize("said", ["by features", "by the profile"])
@pytest.mark.parametrize("dtype", VALUES)
def test_that_raw_bytes_are_of_the_type_that_their_number_and_content_show(
    tmp_path: Path, dtype: str, said: str
) -> None:
    values = VALUES[dtype]
    sizes = {"height": 5, "width": 4} if said == "by features" else {}
    chosen = {} if sizes else {"shape": (5, 4)}
    path = records(tmp_path, [each.tobytes() for each in values], **sizes)
    data = read(path, **chosen)
    np.testing.assert_array_equal(rows_of(data), values.astype(np.float32))
    assert (data.scaling is Scaling.DIVIDE) == (dtype == "uint8")
    settings = TfrecordData(path=str(path), **chosen)
    found = preview(PreviewRequest(data=settings)).found
    assert found.get("raw_type", "uint8") == dtype


@pytest.mark.parametrize(
    ("values", "types"),
    [
        (IMAGES.astype("<f2"), {"uint16", "float16"}),
        ((abs(IMAGES) * 20_000).clip(0, 65_535).astype("<u2"), {"uint16", "int16"}),
        (np.zeros((6, 5, 4), "<f4"), {"float32", "int32"}),
    ],
)
def test_that_bytes_that_may_be_of_several_types_are_asked_about(
    tmp_path: Path, values: Array, types: set[str]
) -> None:
    path = records(tmp_path, [each.tobytes() for each in values], height=5, width=4)
    problem = refused(path)
    assert (problem.code, problem.field) == ("record_type_ambiguous", "data.raw_type")
    assert all(each in problem.message for each in types)
    assert problem.fix is not None
    chosen = read(path, raw_type=str(values.dtype.name))
    np.testing.assert_array_equal(rows_of(chosen), values.astype(np.float32))


@pytest.mark.parametrize("dtype", ["uint16", "int32", "int64", "float32", "float64"])
def test_that_wider_numbers_without_a_shape_are_not_taken_for_pixels(
    tmp_path: Path, dtype: str
) -> None:
    values = {**VALUES, "int64": (IMAGES * 900).astype("<i8")}[dtype]
    problem = refused(records(tmp_path, [each.tobytes() for each in values]))
    assert problem.code == "record_type_ambiguous"
    assert "uint8" in problem.message
    assert dtype in problem.message


def test_that_pixels_without_a_shape_stay_pixels(tmp_path: Path) -> None:
    digits = np.zeros((6, 784), np.uint8)
    digits[:, 200:500] = RANDOM.integers(0, 256, (6, 300))
    for values in (digits, RANDOM.integers(0, 256, (6, 100)).astype(np.uint8)):
        data = read(records(tmp_path, [each.tobytes() for each in values]))
        assert np.array_equal(rows_of(data), values)


_SERIALIZED = """
import base64, json, sys
import numpy as np
import tensorflow as tf

given = json.loads(sys.stdin.read())
print(json.dumps({
    name: [base64.b64encode(tf.io.serialize_tensor(
        tf.constant(np.array(each), name)).numpy()).decode() for each in values]
    for name, values in given.items()
}))
"""


@pytest.fixture(scope="module")
def serialized() -> dict[str, list[bytes]]:
    """The values of each type, and others, as TensorFlow writes tensors."""
    given = {name: values.tolist() for name, values in VALUES.items()}
    given |= {"float16": [0.5, 1.5], "bool": [[True, False], [False, True]], "string": ["a", "b"]}
    given["bfloat16"] = [[0.5, 1.5], [2.5, 3.5]]
    done = run_forked(
        [sys.executable, "-c", _SERIALIZED],
        input=json.dumps(given),
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    return {
        name: [base64.b64decode(each) for each in values]
        for name, values in json.loads(done.stdout).items()
    }


@pytest.mark.tensorflow
@pytest.mark.parametrize("dtype", VALUES)
def test_that_serialized_tensors_say_their_type_and_shape(
    tmp_path: Path, serialized: dict[str, list[bytes]], dtype: str
) -> None:
    path = records(tmp_path, serialized[dtype])
    data = read(path)
    assert data.training.feature_shape == (5, 4)
    np.testing.assert_array_equal(rows_of(data), VALUES[dtype].astype(np.float32))
    settings = TfrecordData(path=str(path))
    found = with_detected(Profile(data=settings), preview(PreviewRequest(data=settings))).data
    assert found.raw_type == "tensor"
    assert np.array_equal(rows_of(read(path, raw_type="tensor")), rows_of(data))
    assert read(path, shape=(20,)).training.feature_shape == (20,)


@pytest.mark.tensorflow
def test_that_tensors_that_are_no_numbers_or_differ_are_named(
    tmp_path: Path, serialized: dict[str, list[bytes]]
) -> None:
    scalars = read(records(tmp_path, serialized["float16"]))
    assert rows_of(scalars).tolist() == [[0.5], [1.5]]
    assert rows_of(read(records(tmp_path, serialized["bool"]))).tolist() == [[1, 0], [0, 1]]
    for other in ("string", "bfloat16"):
        assert tensor_in(serialized[other][0]) is None
        path = records(tmp_path, serialized[other])
        assert refused(path, raw_type="tensor").code == "record_feature_unfit"
    first, second = VALUES["float32"][0], VALUES["int32"][1]
    assert first.nbytes == second.nbytes
    path = records(tmp_path, [serialized["float32"][0], serialized["int32"][1]])
    problem = refused(path, cache="memory")
    assert problem.code == "record_features_differ"
    assert "a tensor of another type or shape" in problem.message


@pytest.mark.parametrize(
    "value",
    [
        b"",
        b"\x08",
        b"\x08\x01\x12",
        b"\x08\x01\x12\x00\x22\x04",
        b"\x08\x01\x12\x00\x22\x03abc",
        b"\x08\x01\x12\x04\x12\x02\x08\x02\x22\x04abcd",
        b"\x08\x63\x12\x00\x22\x04abcd",
        b"\x08" + b"\xff" * 30,
        b"\x08\x01\x12\x7f\x12\x02\x08\x01\x22\x04abcd",
    ],
)
def test_that_bytes_of_a_stranger_are_no_tensor(value: bytes) -> None:
    assert tensor_in(value) is None


def test_that_no_type_is_likely_for_numbers_of_no_known_width() -> None:
    assert likely_types(b"abcdef", 3) == ()
    assert likely_types(b"a", None) == ("uint8",)


def masked(folder: Path, *, labelled: bool = False) -> Path:
    rows = (
        example(
            image=image(40 * number),
            mask=image(number),
            name=b"n",
            **({"label": number % 2} if labelled else {}),
        )
        for number in range(4)
    )
    return write_records(folder / "masks.tfrecord", rows)


def test_that_an_image_with_a_mask_beside_it_is_read_with_its_label_or_refused_by_name(
    tmp_path: Path,
) -> None:
    problem = refused(masked(tmp_path), image_size=(4, 4))
    assert (problem.code, problem.field) == ("record_mask_is_no_label", "data.labels")
    assert '"image"' in problem.message
    assert '"mask"' in problem.message
    data = read(masked(tmp_path, labelled=True), image_size=(4, 4))
    assert rows_of(data)[:, 0, 0, 0].tolist() == [0, 40, 80, 120]
    as_number = refused(masked(tmp_path), labels="mask", image_size=(4, 4))
    assert "not names of classes" in as_number.message


@pytest.mark.parametrize(
    "label",
    [
        {"label": b"\1", "depth": 3},  # a number as bytes; the depth of an image is no map of it
        {"fine_label": 1, "coarse_label": 0},
    ],
)
def test_that_one_number_is_no_mask(tmp_path: Path, label: dict[str, Any]) -> None:
    rows = [example(image=image(n), **label) for n in range(2)]
    problem = refused(write_records(tmp_path / "a.tfrecord", rows))
    assert (problem.code, problem.field) == ("record_features_ambiguous", "data.labels")


def test_that_of_two_images_none_is_taken_for_its_length(tmp_path: Path) -> None:
    rows = [example(left=image(9 * n, side=9 + n), right=image(0), label=n) for n in range(2)]
    problem = refused(write_records(tmp_path / "a.tfrecord", rows))
    assert (problem.code, problem.field) == ("record_features_ambiguous", "data.features")


def test_that_a_label_is_no_example_where_images_differ_in_length(tmp_path: Path) -> None:
    rows = [example(image_raw=bytes(30 + n), label=n) for n in range(2)]
    problem = refused(write_records(tmp_path / "a.tfrecord", rows))
    assert (problem.code, problem.field) == ("record_features_ambiguous", "data.features")
    assert "image_raw (30 to 31 bytes)" in problem.message


def test_that_dark_images_of_16_bits_are_pointed_out(tmp_path: Path) -> None:
    def png(greatest: int) -> bytes:
        file = io.BytesIO()
        Image.fromarray(np.arange(64, dtype=np.uint16).reshape(8, 8) * (greatest // 63)).save(
            file, "PNG"
        )
        return file.getvalue()

    def said(*greatest: int) -> list[str]:
        rows = [example(image=png(each), label=n) for n, each in enumerate(greatest)]
        path = write_records(tmp_path / "a.tfrecord", rows)
        found = preview(PreviewRequest(data=TfrecordData(path=str(path))))
        return [each.code for each in found.problems]

    assert said(4095, 2000) == ["images_dark"]
    assert said(4095, 65535) == []
