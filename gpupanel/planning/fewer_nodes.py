"""The same training where nodes of its cluster are gone: on the devices that are left."""

from gpupanel.domain.device import DeviceInventory
from gpupanel.domain.plan import LaunchPlan
from gpupanel.domain.profile import Profile
from gpupanel.domain.telemetry import TelemetrySample
from gpupanel.planning.context import Known
from gpupanel.planning.prepare import prepare


def on_nodes_there(
    profile: Profile, inventory: DeviceInventory, sample: TelemetrySample | None = None
) -> tuple[Profile, LaunchPlan] | None:
    """What the profile becomes on the devices that are there, and the plan for it.

    Devices that are gone are not named any more. A number of workers, or shares and quotas of
    replicas, stay where they still fit; otherwise each GPU has a worker, shares are equal, and
    quotas follow the free memory. Any division of a global batch is the same mathematics.

    Args:
        profile: Of a run on a cluster.
        inventory: The devices of the nodes that answer.
        sample: What they report.

    Returns:
        ``None`` where nothing can train.
    """
    here = tuple(key for key in profile.devices.visible if inventory.named(key))
    if profile.devices.visible and not here:
        return None
    devices = profile.devices.model_copy(update={"visible": here})
    wanted, on_each = profile.strategy, {"workers": None}
    for strategy in (
        wanted,
        wanted.model_copy(update=on_each),
        wanted.for_any_replicas(),
        wanted.for_any_replicas().model_copy(update=on_each),
    ):
        fewer = profile.model_copy(update={"devices": devices, "strategy": strategy})
        preparation = prepare(fewer, inventory, Known(sample))
        if preparation.is_startable and preparation.plan is not None:
            return fewer, preparation.plan
    return None
