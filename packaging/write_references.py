"""Writes the pages of the guide that are made of declarations; `make docs` runs it."""

from pathlib import Path

from gpupanel.cli.terminal_reference import terminal_reference
from gpupanel.domain.environment_reference import environment_reference
from gpupanel.domain.problem_reference.page import problem_reference
from gpupanel.domain.profile_reference import profile_reference

GUIDE = Path(__file__).parents[1] / "resources" / "guide"

for name, page in (
    ("terminal.md", terminal_reference()),
    ("profile.md", profile_reference()),
    ("problems.md", problem_reference()),
    ("environment.md", environment_reference()),
):
    (GUIDE / name).write_text(page, encoding="utf-8")
