"""Which picture goes with which strategy."""

from typing import assert_never

from gpupanel.domain.strategy import StrategyKind
from gpupanel.ui.panels.strategy_panel.pictures.layers import LayerPicture
from gpupanel.ui.panels.strategy_panel.pictures.picture import Division, Picture
from gpupanel.ui.panels.strategy_panel.pictures.replicas import ReplicaPicture
from gpupanel.ui.panels.strategy_panel.pictures.servers import ServerPicture


def picture_of(division: Division) -> Picture:
    """The picture of that division."""
    match division.plan.strategy:
        case (
            StrategyKind.ONE_DEVICE
            | StrategyKind.MIRRORED
            | StrategyKind.CENTRAL_STORAGE
            | StrategyKind.MULTI_WORKER
        ):
            return ReplicaPicture(division)
        case StrategyKind.PARAMETER_SERVER:
            return ServerPicture(division)
        case StrategyKind.MODEL_PARALLEL:
            return LayerPicture(division)
    assert_never(division.plan.strategy)
