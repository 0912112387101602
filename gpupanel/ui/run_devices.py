"""Which devices are shown beside the curves of a run."""

from gpupanel.domain.cluster import key_in
from gpupanel.domain.device import DeviceInventory, DeviceKind, PhysicalDevice
from gpupanel.domain.plan import LaunchPlan, PlannedDevice
from gpupanel.ui.session import Session


def devices_of_run(plan: LaunchPlan | None, inventory: DeviceInventory) -> DeviceInventory:
    """The devices that are known now, then those of the run that are not among them any more.

    The devices of now keep their place, and with it their colour. Of a cluster only the nodes of
    the run are shown.

    Args:
        plan: Of the run; ``None``: not known.
        inventory: Of this machine or a cluster, as the session has it.
    """
    if plan is None:
        return inventory
    planned = {device.key: device for device in _planned(plan)}
    nodes = {process.node for process in plan.gang}
    known = {device.key for device in inventory.devices}
    kept = [each for each in inventory.devices if each.node in nodes or each.key in planned]
    gone = [device for key, device in planned.items() if key not in known]
    return inventory.model_copy(update={"devices": (*kept, *gone)})


def shown_plan(plan: LaunchPlan) -> LaunchPlan:
    """The plan as it is drawn: the processors of its nodes, each ``cpu`` there, have other keys.

    It is not what is launched.
    """
    # GPUs have a key of their own everywhere.
    if not plan.is_on_nodes or all(device.kind is DeviceKind.GPU for device in plan.devices):
        return plan
    keys = {
        (number, device.key): _key(device, process.node)
        for number, process in enumerate(plan.gang)
        for device in process.devices
    }
    replicas = tuple(
        replica.model_copy(
            update={
                "device_key": keys.get((replica.process, replica.device_key), replica.device_key)
            }
        )
        for replica in plan.replicas
    )
    devices = {
        key: device.model_copy(update={"key": key})
        for process in plan.gang
        for device in process.devices
        for key in [_key(device, process.node)]
    }
    return plan.model_copy(update={"replicas": replicas, "devices": tuple(devices.values())})


def _key(device: PlannedDevice, node: str | None) -> str:
    known = PhysicalDevice(key=device.key, kind=device.kind, name=device.name)
    return device.key if node is None else key_in(node, known)


def _planned(plan: LaunchPlan) -> list[PhysicalDevice]:
    """The devices of a plan, by the keys that they have among those of all its nodes."""
    return [
        PhysicalDevice(
            key=_key(device, process.node),
            kind=device.kind,
            name=device.name,
            memory_total_mib=device.memory_total_mib,
            node=process.node,
        )
        for process in plan.gang
        for device in process.devices
    ]


def known_devices(session: Session) -> DeviceInventory | None:
    """Of the session; none where its cluster cannot be asked: those of the run are shown."""
    if session.inventory is None and session.no_devices:
        return DeviceInventory(devices=())
    return session.inventory
