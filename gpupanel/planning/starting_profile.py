"""What a window begins with that was asked for nothing: an example worth watching."""

from gpupanel.domain.device import DeviceInventory
from gpupanel.domain.model import CnnModel
from gpupanel.domain.profile import Profile
from gpupanel.domain.strategy import StrategyKind, StrategySettings
from gpupanel.domain.training import TrainingSettings

_EPOCHS = 100
"""A quarter of a minute on two cores."""


def starting_profile(inventory: DeviceInventory) -> Profile:
    """A small convolutional network that learns handwritten digits, which need no download.

    It takes every GPU: several replicas, each with as much of a batch as it is fast. Without a GPU
    it trains on the CPU.

    Args:
        inventory: The devices of this machine.
    """
    several = len(inventory.gpus) > 1
    return Profile(
        name="first training",
        strategy=StrategySettings(
            kind=StrategyKind.MIRRORED if several else StrategyKind.ONE_DEVICE,
            shares="balanced" if several else "equal",
        ),
        model=CnnModel(filters=(32, 64), hidden=(128,), dropout=0.3),
        training=TrainingSettings(epochs=_EPOCHS, global_batch_size=32, learning_rate=1e-4),
    )
