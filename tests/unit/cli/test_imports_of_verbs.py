"""Commands that people type often import what they use: each module costs them processor time."""

import subprocess
import sys

import pytest

_TOLD = """
import sys
from gpupanel.cli.app import app
try:
    app(args=sys.argv[1:], standalone_mode=False)
finally:
    sys.stderr.write("MODULES " + " ".join(sys.modules))
"""
_OF_PROFILES = ("gpupanel.domain.profile", "gpupanel.planning.prepare", "gpupanel.runs.readiness")
_NEVER = ("tensorflow", "keras", "numpy", "PySide6", "h5py")


@pytest.mark.parametrize(
    ("arguments", "unused"),
    [
        (["--version"], _OF_PROFILES),
        (["devices"], _OF_PROFILES),
        (["devices", "--json"], _OF_PROFILES),
        (
            ["check", "--help"],
            ("gpupanel.devices.doctor.examination", "gpupanel.domain.bench", "gpupanel.runs.slurm"),
        ),
    ],
)
def test_that_a_verb_imports_nothing_that_it_does_not_use(
    arguments: list[str], unused: tuple[str, ...]
) -> None:
    done = subprocess.run(
        [sys.executable, "-P", "-c", _TOLD, *arguments], capture_output=True, text=True, check=True
    )
    modules = done.stderr.rpartition("MODULES ")[2].split()
    assert "gpupanel.cli.app" in modules
    assert not {*unused, *_NEVER} & {*modules}


def test_that_a_preview_without_a_model_imports_nothing_of_models_and_failures() -> None:
    code = (
        "import sys; from gpupanel.trainer.tools.preview.__main__ import main; main();"
        "sys.stderr.write(' '.join(sys.modules))"
    )
    done = subprocess.run(
        [sys.executable, "-P", "-c", code],
        input='{"data": {"source": "digits"}}',
        capture_output=True,
        text=True,
        check=True,
    )
    unused = {"h5py", "http.client", "gpupanel.domain.profile", "gpupanel.trainer.failures"}
    assert not unused & {*done.stderr.split()}
