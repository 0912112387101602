"""Power and clocks, and everything else of a GPU, are read and never set."""

import re
from pathlib import Path

import gpupanel

NAME = re.compile(r"nvml[A-Z]\w*")
CHANGES = re.compile(
    r"Set(?!ting)|Reset|Clear|Create|Destroy|Enable|Disable|Modify|Remove|Freeze|Write"
)


def test_that_no_function_of_nvml_that_changes_something_is_named_anywhere() -> None:
    named = {
        name
        for path in Path(gpupanel.__file__).parent.rglob("*.py")
        for name in NAME.findall(path.read_text(encoding="utf-8"))
    }
    assert "nvmlDeviceGetUUID" in named
    assert CHANGES.search("nvmlDeviceSetPowerManagementLimit")
    assert not {name for name in named if CHANGES.search(name)}
