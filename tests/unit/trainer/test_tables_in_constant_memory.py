"""Tables that are far larger than what reading them takes."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

READ = """
import sys
import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet
from gpupanel.domain.data import TableData
from gpupanel.trainer.datasets.source import Reading, read_data
import gpupanel.trainer.datasets.sources.table


def anonymous_mib():
    with open("/proc/self/status") as status:
        line = next(line for line in status if line.startswith("RssAnon"))
    return int(line.split()[1]) / 1024


before = anonymous_mib()
most = [before]
reading = Reading(print, on_progress=lambda *_: most.append(anonymous_mib()))
data = TableData(path=sys.argv[1], cache="none", target="y", predicts="values")
found = read_data(data, reading).training
imported = max(most)
order = np.random.default_rng(0).permutation(len(found)).astype(np.int32)[: int(sys.argv[2])]
labels_mib = 3 * found.labels.nbytes / 2**20  # these are held, and once more while they are made
for start in range(0, len(order), 256):
    found.read(order[start : start + 256])
print(len(found), before, imported, anonymous_mib() - labels_mib)
"""


def grown(path: Path, cache: Path, read_rows: int = 0) -> tuple[int, float, float]:
    """How many rows there are, and how much memory importing and reading some took, in MiB."""
    done = subprocess.run(
        [sys.executable, "-c", READ, str(path), str(read_rows)],
        env={**os.environ, "GPUPANEL_CACHE_DIR": str(cache)},
        capture_output=True,
        text=True,
        check=True,
    )
    rows, before, imported, read = map(float, done.stdout.split())
    return int(rows), imported - before, read - before


def write_csv(path: Path, mib: int) -> None:
    line = ",".join(f"{place * 1.37:.3f}" for place in range(30)) + "\n"
    block = line * (2**20 // len(line) + 1)
    with path.open("w") as file:
        file.write(",".join([*(f"x{place}" for place in range(29)), "y"]) + "\n")
        for _ in range(mib):
            file.write(block)


@pytest.mark.long
def test_that_importing_takes_the_same_memory_whatever_the_size(tmp_path: Path) -> None:
    write_csv(tmp_path / "small.csv", 12)
    write_csv(tmp_path / "large.csv", 96)
    rows, small_mib, _ = grown(tmp_path / "small.csv", tmp_path / "cache")
    more_rows, large_mib, _ = grown(tmp_path / "large.csv", tmp_path / "cache")
    assert more_rows > 7 * rows
    # What the larger one would take more, were it held: 84 MiB as text, 35 MiB as numbers.
    assert large_mib < small_mib + 25


@pytest.mark.alone
@pytest.mark.slow
def test_that_a_table_is_read_in_a_tenth_of_its_size(tmp_path: Path) -> None:
    write_csv(tmp_path / "table.csv", 1600)
    rows, imported_mib, read_mib = grown(tmp_path / "table.csv", tmp_path / "cache", 100_000)
    size_mib = rows * 30 * 4 / 2**20
    assert size_mib > 900
    assert max(imported_mib, read_mib) < size_mib / 10
