"""The terminal starts without what most of its verbs do not need."""

import subprocess
import sys


def test_that_no_verb_waits_for_numpy_or_qt() -> None:
    code = (
        "import sys, gpupanel.cli.app\n"
        "print(*sorted({'numpy', 'sklearn', 'tensorflow', 'PySide6'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert done.stdout.split() == []
