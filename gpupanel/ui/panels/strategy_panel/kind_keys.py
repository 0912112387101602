"""Which keys mean something to which strategy, and what was last chosen for them."""

from gpupanel.domain.strategy import (
    GANG_KINDS,
    SHARING_KINDS,
    AllReduce,
    StrategyKind,
    StrategySettings,
)

_KEYS = {
    "workers": GANG_KINDS,
    "parameter_servers": (StrategyKind.PARAMETER_SERVER,),
    "shares": SHARING_KINDS,
    "placement": (StrategyKind.MODEL_PARALLEL,),
    "all_reduce": (StrategyKind.MIRRORED, StrategyKind.MULTI_WORKER),
}


class KindKeys:
    """Remembers settings, so that what was typed comes back with the kind that it was for."""

    def __init__(self) -> None:
        self._last: dict[str, object] = {}

    def forget(self) -> None:
        """Nothing was chosen yet."""
        self._last.clear()

    def remember(self, settings: StrategySettings) -> None:
        """Keep what these settings say that means something to their kind."""
        for key, kinds in _KEYS.items():
            if settings.kind in kinds:
                self._last[key] = getattr(settings, key)

    def settings(self, kind: StrategyKind) -> StrategySettings:
        """The settings of a kind that was just chosen: nothing in them is for another one."""
        known = {
            key: self._last[key]
            for key, kinds in _KEYS.items()
            if kind in kinds and key in self._last
        }
        if kind is StrategyKind.MULTI_WORKER and known.get("all_reduce") is not AllReduce.NCCL:
            known.pop("all_reduce", None)
        return StrategySettings.model_validate({"kind": kind, **known})
