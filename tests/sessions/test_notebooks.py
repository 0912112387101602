"""A notebook's cells, one after the other, end with the weights of the script."""

import json
import sys
from pathlib import Path

import pytest

from tests.forked.processes import run_forked
from tests.forked.terminal import gpupanel
from tests.sessions.both import furthest, weights

pytestmark = [pytest.mark.tensorflow, pytest.mark.slow]  # test_notebook.py compares the code

DIGITS = Path("resources/profiles/digits.toml")


def test_that_the_notebook_of_an_example_ends_with_the_weights_of_its_script(
    tmp_path: Path,
) -> None:
    profile = tmp_path / "digits.toml"
    profile.write_text(DIGITS.read_text().replace("epochs = 30", "epochs = 2"))
    cells = tmp_path / "digits.ipynb"
    script = tmp_path / "script" / "digits.py"
    script.parent.mkdir()
    for written in (cells, script):
        completed = gpupanel("export", profile, "-o", written)
        assert completed.returncode == 0, completed.stderr
    joined = tmp_path / "cells" / "joined.py"
    joined.parent.mkdir()
    document = json.loads(cells.read_text())
    code = ["".join(cell["source"]) for cell in document["cells"] if cell["cell_type"] == "code"]
    joined.write_text("\n\n".join(code))
    printed = [
        run_forked(
            [sys.executable, str(each)], cwd=each.parent, capture_output=True, text=True, check=True
        ).stdout
        for each in (script, joined)
    ]
    assert printed[0] == printed[1]
    assert printed[0].count("epoch") == 2
    kept = [weights(each.parent / "model.keras") for each in (script, joined)]
    assert furthest(*kept) == 0.0
