"""What a run was started again with, in words."""

from gpupanel.domain.problem import Change
from gpupanel.runs.following.change_words import change_words


def test_that_keys_are_told_with_their_values_as_a_profile_has_them() -> None:
    changes = (
        Change(path=("strategy", "kind"), value="mirrored"),
        Change(path=("strategy", "shares"), value=[48, 16]),
        Change(path=("training", "mixed_precision"), value=True),
        Change(path=("memory", "GPU-1"), value=None),
    )
    assert change_words(changes) == (
        "strategy.kind = mirrored, strategy.shares = [48, 16], training.mixed_precision = true, "
        "without memory.GPU-1"
    )


def test_that_nothing_changed_has_no_words() -> None:
    assert not change_words(())
