"""Writes docs/profile.md anew; `make docs` runs it."""

from pathlib import Path

from gpupanel.domain.profile_reference import profile_reference

Path(__file__).with_name("profile.md").write_text(profile_reference(), encoding="utf-8")
