"""Exports of models of each kind of data, made once."""

import json
import os
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.forked.processes import run_forked

SCRIPT = Path(__file__).with_name("made_exports.py")


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("exports")
    done = run_forked(
        [sys.executable, str(SCRIPT), str(folder)],
        env={**os.environ, "CUDA_VISIBLE_DEVICES": "-1", "TF_CPP_MIN_LOG_LEVEL": "3"},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    return folder


@pytest.fixture(scope="session")
def expected(folder: Path) -> dict[str, Any]:
    answer: dict[str, Any] = json.loads((folder / "expected.json").read_text())
    return answer
