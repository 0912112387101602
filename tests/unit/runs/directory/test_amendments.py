"""A run's profile and plan are changed together or not at all, whenever it is cut short."""

import errno
from pathlib import Path

import pytest

from gpupanel.domain.plan import LaunchPlan
from gpupanel.domain.profile import Profile
from gpupanel.domain.run_layout import RunLayout
from gpupanel.domain.strategy import StrategyKind, StrategySettings
from gpupanel.files import plan_file
from gpupanel.files.whole_files import write_whole
from gpupanel.planning.prepare import prepare
from gpupanel.runs.directory import amendments
from gpupanel.runs.directory.amendments import amend, finish_amendment
from gpupanel.runs.directory.profile_file import read_profile
from gpupanel.runs.launcher import create_run
from tests.fakes.devices import CPU_ONLY

BEFORE = Profile(name="before")
AFTER = Profile(name="after", strategy=StrategySettings(kind=StrategyKind.CENTRAL_STORAGE))


def plan_of(profile: Profile) -> LaunchPlan:
    plan = prepare(profile, CPU_ONLY).plan
    assert plan is not None
    return plan


@pytest.fixture
def layout(runs_dir: Path) -> RunLayout:
    return create_run(BEFORE, plan_of(BEFORE), runs_dir)


def standing(layout: RunLayout) -> tuple[Profile, LaunchPlan]:
    plan = LaunchPlan.model_validate_json(layout.plan.read_text(encoding="utf-8"))
    return read_profile(layout.profile), plan


class Cut(BaseException):
    """As if the process was killed there."""


class CutShort:
    """Writes like :func:`write_whole` until it has done so a number of times."""

    def __init__(self, after: int, error: BaseException) -> None:
        self._left = after
        self._error = error

    def __call__(self, path: Path, text: str, *, private: bool = False) -> None:
        if self._left == 0:
            raise self._error
        self._left -= 1
        write_whole(path, text, private=private)


def test_that_both_are_new_and_the_former_ones_are_kept(layout: RunLayout) -> None:
    amend(layout, AFTER, plan_of(AFTER))
    assert standing(layout) == (AFTER, plan_of(AFTER))
    assert read_profile(layout.former_profile(1)) == BEFORE
    assert LaunchPlan.model_validate_json(layout.former_plan(1).read_text()) == plan_of(BEFORE)
    assert not layout.amendment.exists()


def test_that_every_former_one_is_kept(layout: RunLayout) -> None:
    amend(layout, AFTER, plan_of(AFTER))
    amend(layout, BEFORE, plan_of(BEFORE))
    assert standing(layout) == (BEFORE, plan_of(BEFORE))
    assert [read_profile(layout.former_profile(each)).name for each in (1, 2)] == [
        "before",
        "after",
    ]


@pytest.mark.parametrize("writes", range(6))
def test_that_one_cut_short_anywhere_is_whole_after_the_next_start(
    layout: RunLayout, monkeypatch: pytest.MonkeyPatch, writes: int
) -> None:
    cut = CutShort(writes, Cut())
    monkeypatch.setattr(amendments, "write_whole", cut)
    monkeypatch.setattr(plan_file, "write_whole", cut)
    if writes < 5:
        with pytest.raises(Cut):
            amend(layout, AFTER, plan_of(AFTER))
    else:
        amend(layout, AFTER, plan_of(AFTER))
    cut = write_whole
    monkeypatch.setattr(amendments, "write_whole", cut)
    monkeypatch.setattr(plan_file, "write_whole", cut)
    finish_amendment(layout)
    wanted = AFTER if writes else BEFORE
    assert standing(layout) == (wanted, plan_of(wanted))
    assert not layout.amendment.exists()
    if writes:
        assert read_profile(layout.former_profile(1)) == BEFORE
        assert not layout.former_profile(2).exists()


@pytest.mark.parametrize("writes", range(5))
def test_that_a_full_disk_leaves_both_as_they_were(
    layout: RunLayout, monkeypatch: pytest.MonkeyPatch, writes: int
) -> None:
    full = OSError(errno.ENOSPC, "No space left on device")
    cut = CutShort(writes, full)
    monkeypatch.setattr(amendments, "write_whole", cut)
    monkeypatch.setattr(plan_file, "write_whole", cut)
    with pytest.raises(OSError, match="No space"):
        amend(layout, AFTER, plan_of(AFTER))
    finish_amendment(layout)
    assert standing(layout) == (BEFORE, plan_of(BEFORE))


def test_that_nothing_to_finish_is_nothing_done(layout: RunLayout) -> None:
    finish_amendment(layout)
    assert standing(layout) == (BEFORE, plan_of(BEFORE))
    assert not layout.former_profile(1).exists()
