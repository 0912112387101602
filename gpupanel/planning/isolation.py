"""One process for each GPU: what TensorFlow cannot do within one is possible then."""

from gpupanel.domain.device import PhysicalDevice
from gpupanel.domain.memory import logical_device_count
from gpupanel.domain.problem import Change, Fix
from gpupanel.domain.profile import Profile
from gpupanel.domain.strategy import AllReduce, StrategyKind


def isolated(profile: Profile, gpus: tuple[PhysicalDevice, ...]) -> Fix | None:
    """The same run with a worker for each GPU; ``None`` where that is not possible.

    Evaluating and predicting need no strategy of several processes; TensorFlow wants equally many
    logical devices in every worker.
    """
    counts = {logical_device_count(profile.memory_policy(gpu.key)) for gpu in gpus}
    if profile.task != "train" or len(gpus) < 2 or len(counts) > 1:
        return None
    changes = [
        Change(path=("strategy", "kind"), value=StrategyKind.MULTI_WORKER.value),
        Change(path=("strategy", "workers"), value=len(gpus)),
    ]
    if profile.strategy.all_reduce is not AllReduce.AUTO:
        changes.append(Change(path=("strategy", "all_reduce"), value=AllReduce.AUTO.value))
    if profile.strategy.placement is not None:
        changes.append(Change(path=("strategy", "placement")))
    return Fix(label="Give each GPU a process of its own", changes=tuple(changes))
