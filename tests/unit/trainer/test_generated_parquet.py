"""Generated Parquet files are read as pandas reads them, by a run and its script alike."""

import datetime
import decimal
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as some

from gpupanel.domain.data import TableData
from gpupanel.domain.preview import PreviewRequest
from gpupanel.domain.previewed_profile import with_detected
from gpupanel.domain.profile import Profile
from gpupanel.planning.script.data_section import data_section
from gpupanel.trainer.datasets.source import Reading, source_of
from gpupanel.trainer.tools.preview.preview import preview

NUMBERS: dict[str, Any] = {
    **{name: getattr(pa, name)() for name in ("int8", "int16", "int64", "uint8", "uint32")},
    **{name: getattr(pa, name)() for name in ("float32", "float64")},
    "decimal": pa.decimal128(12, 2),
    "bool": pa.bool_(),
    "coded": pa.dictionary(pa.int8(), pa.int64()),
}
DATES: dict[str, Any] = {
    "date32": pa.date32(),
    **{f"moment_{unit}": pa.timestamp(unit) for unit in ("s", "ms", "us", "ns")},
    "zoned": pa.timestamp("us", "America/New_York"),
}
NAMES: dict[str, Any] = {
    "text": pa.string(),
    "large": pa.large_string(),
    "dictionary": pa.dictionary(pa.int16(), pa.string()),
}
TOWNS = ("Köln", "Bonn", "a b", "01067", "None", "x,y")


@some.composite
def columns(draw: some.DrawFn) -> tuple[str, pa.Array]:
    """A name of a type, and cells of it."""
    rows = 24
    kind = draw(some.sampled_from([*NUMBERS, *DATES, *NAMES]))
    if kind in NAMES:
        cells: Any = some.sampled_from([*TOWNS, None])
    elif kind in DATES:
        seconds = some.integers(-631_152_000, 4_102_444_800)  # from 1950 to 2100
        cells = seconds.map(lambda each: datetime.datetime.fromtimestamp(each, datetime.UTC))
        cells = cells.map(lambda moment: moment.replace(tzinfo=None)) | some.none()
    elif kind == "bool":
        cells = some.booleans() | some.none()
    elif kind == "decimal":
        cells = some.integers(-(10**6), 10**6).map(lambda each: decimal.Decimal(each) / 4)
    else:
        cells = some.integers(0, 100) | some.none()
    values = draw(some.lists(cells, min_size=rows, max_size=rows))
    return kind, pa.array(values, {**NUMBERS, **DATES, **NAMES}[kind])


def truth(kind: str, column: pd.Series) -> np.ndarray:
    """The features of a column, by pandas."""
    held = column.dropna()
    if kind in NAMES:
        return np.float32([[cell == name for name in sorted(set(held))] for cell in column])
    if kind in DATES:
        moments = pd.to_datetime(column, utc=True)
        days = (moments - pd.Timestamp(0, tz="UTC")) / pd.Timedelta(days=1)
        numbers = days - np.floor(days.dropna().iloc[0])
    else:
        numbers = column.astype("float64")
    return np.float32(
        numbers.fillna(np.float32(numbers).astype("float64")[~numbers.isna()].mean())
    )[:, None]


@settings(
    max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(some.lists(columns(), min_size=1, max_size=4))
def test_that_each_type_of_parquet_is_what_pandas_takes_it_for(
    tmp_path: Path, drawn: list[tuple[str, pa.Array]]
) -> None:
    path = tmp_path / "t.parquet"
    names = [f"{kind}.{place}" for place, (kind, _) in enumerate(drawn)]
    held = [name for name, (_, cells) in zip(names, drawn, strict=True) if cells.null_count < 24]
    cells = dict(zip(names, (cells for _, cells in drawn), strict=True))
    others = {"always": pa.array(range(24)), "y": pa.array(["u", "v"] * 12)}
    pyarrow.parquet.write_table(pa.table({**cells, **others}), path)
    data = TableData(path=str(path), validation_fraction=0)
    found = preview(PreviewRequest(data=data))
    assert not found.is_refused, found.problems
    filled = with_detected(Profile(data=data), found).data
    made: dict[str, Any] = {"np": np, "SEED": 1}
    exec(data_section(filled), made)
    run = source_of(data).read(data, Reading(lambda *_: None)).training
    frame = pd.read_parquet(path)
    kinds = dict(zip(names, (kind for kind, _ in drawn), strict=True))
    expected = [truth(kinds[name], frame[name]) for name in held]
    expected.append(np.float32(range(24))[:, None])
    read = np.asarray(run.read(np.arange(24, dtype=np.int32)))
    np.testing.assert_array_equal(made["x"], read)
    np.testing.assert_allclose(read, np.concatenate(expected, axis=1), rtol=1e-5, atol=1e-3)
