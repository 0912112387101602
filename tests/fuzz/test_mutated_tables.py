"""Tables that something has happened to: read, or refused with a reason; never a crash."""

import io
import time
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gpupanel.domain.data import TableData, Target
from gpupanel.domain.preview import PreviewRequest
from gpupanel.trainer.tools.preview.preview import preview
from tests.fuzz.mutations import damaged

LONGEST_S = 10.0
FEW = settings(
    max_examples=60,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
MANY = settings(FEW, max_examples=3_000)


def csv(delimiter: str, decimal: str, encoding: str) -> bytes:
    random = np.random.default_rng(2)
    lines = [delimiter.join(["id", "größe", "kind", "day", "y"])]
    for place in range(40):
        size = f"{random.normal():.3f}".replace(".", decimal)
        kind = ["röt", '"a,b;c"', ""][place % 3]
        lines.append(
            delimiter.join([str(place), size, kind, f"2024-01-{place % 28 + 1:02}", f"{place % 2}"])
        )
    return "\n".join(lines).encode(encoding)


def parquet() -> bytes:
    table = pa.table(
        {
            "x": np.arange(30) * 1.5,
            "kind": pa.array(["a", "b", None] * 10).dictionary_encode(),
            "when": pa.array(list(range(30)), pa.timestamp("ns")),
            "y": np.arange(30) % 2,
        }
    )
    file = io.BytesIO()
    pyarrow.parquet.write_table(table, file)
    return file.getvalue()


TABLES = [csv(",", ".", "utf-8"), csv(";", ",", "cp1252"), csv("\t", ".", "utf-16")]
CHOSEN = st.fixed_dictionaries(
    {
        "target": st.sampled_from([None, "y", "kind", ("id", "y"), "größe"]),
        "missing": st.sampled_from(["mean", "drop", "error"]),
        "predicts": st.sampled_from([None, *Target]),
        "group": st.sampled_from([None, "kind"]),
    }
)


def assert_read_or_told(path: Path, content: bytes, chosen: dict[str, object]) -> None:
    path.write_bytes(content)
    start_s = time.monotonic()
    found = preview(PreviewRequest(data=TableData(path=str(path), **chosen)))
    assert time.monotonic() - start_s < LONGEST_S
    codes = {problem.code for problem in found.problems}
    assert "trainer_crashed" not in codes, found.problems
    assert found.example_count or codes
    for problem in found.problems:
        assert problem.message
        assert problem.hint


@FEW
@given(content=damaged(TABLES), chosen=CHOSEN)
def test_that_damaged_text_is_read_or_refused(
    tmp_path: Path, content: bytes, chosen: dict[str, object]
) -> None:
    assert_read_or_told(tmp_path / "t.csv", content, chosen)


@FEW
@given(content=damaged([parquet()]), chosen=CHOSEN)
def test_that_damaged_parquet_is_read_or_refused(
    tmp_path: Path, content: bytes, chosen: dict[str, object]
) -> None:
    assert_read_or_told(tmp_path / "t.parquet", content, chosen)


@pytest.mark.slow
@MANY
@given(content=damaged(TABLES), chosen=CHOSEN)
def test_that_three_thousand_damaged_texts_are_read_or_refused(
    tmp_path: Path, content: bytes, chosen: dict[str, object]
) -> None:
    assert_read_or_told(tmp_path / "t.csv", content, chosen)


@pytest.mark.slow
@MANY
@given(content=damaged([parquet()]), chosen=CHOSEN)
def test_that_three_thousand_damaged_files_of_parquet_are_read_or_refused(
    tmp_path: Path, content: bytes, chosen: dict[str, object]
) -> None:
    assert_read_or_told(tmp_path / "t.parquet", content, chosen)
