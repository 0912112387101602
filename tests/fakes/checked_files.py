"""What a run's folder holds, as if whoever starts the run had just checked and trusted it."""

from pathlib import Path

from gpupanel.domain.checked_files import CheckedFiles, digest_of
from gpupanel.domain.run_layout import RunLayout
from gpupanel.trainer.user_code import RunCode


def as_checked(layout: RunLayout) -> CheckedFiles:
    """The digests of profile, plan and code as they are now, where they are there."""
    files = (layout.profile, layout.plan, layout.model_code, layout.data_code)
    return CheckedFiles(
        digests={
            str(each.relative_to(layout.root)): digest_of(each.read_bytes())
            for each in files
            if each.is_file()
        }
    )


def trusted(key: str, named: str, kept: Path) -> RunCode:
    """Code as it is now in that file, which the person trusts."""
    return RunCode(key, named, kept, digest_of(kept.read_bytes()))
