"""Clocks, and everything else of a GPU, are read and never set; but the power limit, when asked."""

import re
from pathlib import Path

import gpupanel

NAME = re.compile(r"nvml[A-Z]\w*")
CHANGES = re.compile(
    r"Set(?!ting)|Reset|Clear|Create|Destroy|Enable|Disable|Modify|Remove|Freeze|Write"
)
PACKAGE = Path(gpupanel.__file__).parent
LIMIT = "nvmlDeviceSetPowerManagementLimit"


def named_in(folder: Path) -> dict[str, set[str]]:
    """The functions of NVML that are named, with the files that name them."""
    found: dict[str, set[str]] = {}
    for path in folder.rglob("*.py"):
        for name in NAME.findall(path.read_text(encoding="utf-8")):
            found.setdefault(name, set()).add(path.relative_to(PACKAGE).as_posix())
    return found


def test_that_no_function_of_nvml_that_changes_something_is_named_but_that_of_the_limit() -> None:
    named = named_in(PACKAGE)
    assert "nvmlDeviceGetUUID" in named
    assert {name for name in named if CHANGES.search(name)} == {LIMIT}
    assert named[LIMIT] == {"devices/nvml/gpu.py"}


def test_that_nothing_sets_a_limit_but_a_person_who_asks_for_it() -> None:
    callers = {
        path.relative_to(PACKAGE).as_posix()
        for path in PACKAGE.rglob("*.py")
        if "set_power_limit(" in path.read_text(encoding="utf-8")
    }
    assert callers == {
        "devices/nvml/gpu.py",
        "devices/power_limits.py",
        "cli/verbs/power.py",
        # As a person orders it in a window's dialog, on its machine or on a host.
        "ui/workers/this_machine.py",
        "hosts/here/tools.py",
        "hosts/there/tools.py",
    }
