"""What a window begins with that was asked for nothing: an example worth watching."""

from typing import Final

from gpupanel.domain.device import DeviceInventory
from gpupanel.domain.profile import Profile
from gpupanel.domain.strategy import StrategyKind, StrategySettings
from gpupanel.planning.visible_gpus import default_gpus

_EXAMPLE: Final = Profile.model_validate(
    {
        "name": "first training",
        "data": {"source": "digits", "validation_fraction": 0.2},
        "model": {"source": "cnn", "filters": [32, 64], "hidden": [128], "dropout": 0.3},
        # A quarter of a minute on two cores.
        "training": {"epochs": 100, "global_batch_size": 32, "learning_rate": 1e-4},
    }
)
_BEGINNINGS: Final = (_EXAMPLE, Profile())
"""The first window's, and those of each new profile."""
STARTING_NAMES: Final = frozenset(each.name for each in _BEGINNINGS)
"""Names that nobody chose."""


def starting_profile(inventory: DeviceInventory) -> Profile:
    """A small convolutional network that learns handwritten digits, which need no download.

    It takes every GPU that the shell leaves: several replicas, each with as much of a batch as it
    is fast. Without a GPU it trains on the CPU.

    Args:
        inventory: The devices of this machine.
    """
    if len(default_gpus(inventory)) < 2:
        return _EXAMPLE
    balanced = StrategySettings(kind=StrategyKind.MIRRORED, shares="balanced")
    return _EXAMPLE.model_copy(update={"strategy": balanced})


def is_still_starting(profile: Profile) -> bool:
    """Whether nobody has chosen a model or a setting of the training yet."""
    return any(
        (profile.model, profile.training) == (each.model, each.training) for each in _BEGINNINGS
    )
