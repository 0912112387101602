"""Arrays are written into archives without Python objects, by any NumPy."""

import io

import numpy as np
import pytest

from gpupanel.files.npz_archive import write_npz


@pytest.mark.parametrize("compressed", [False, True])
def test_that_an_archive_holds_the_arrays_and_nothing_else(compressed: bool) -> None:
    file = io.BytesIO()
    write_npz(file, {"a/b": np.arange(3), "names": np.array(["x"])}, compressed=compressed)
    file.seek(0)
    with np.load(file, allow_pickle=False) as read:
        assert {name: read[name].tolist() for name in read} == {"a/b": [0, 1, 2], "names": ["x"]}


def test_that_python_objects_are_not_written() -> None:
    file = io.BytesIO()
    with pytest.raises(ValueError, match="strange"):
        write_npz(file, {"strange": np.array([object()])})
    assert not file.getvalue()
