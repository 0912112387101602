"""Writes the pages of the guide that are made of declarations anew; `make docs` runs it."""

from pathlib import Path

from gpupanel.domain.profile_reference import profile_reference

GUIDE = Path(__file__).parents[1] / "resources" / "guide"

(GUIDE / "profile.md").write_text(profile_reference(), encoding="utf-8")
