"""Writes the pages of the guide that are made of declarations; `make docs` runs it."""

from pathlib import Path

from references.environment import environment_reference
from references.profile import profile_reference
from references.terminal import terminal_reference

GUIDE = Path(__file__).parents[1] / "resources" / "guide"

for name, page in (
    ("terminal.md", terminal_reference()),
    ("profile.md", profile_reference()),
    ("environment.md", environment_reference()),
):
    (GUIDE / name).write_text(page, encoding="utf-8")
