"""What a person chooses about the devices of this machine, or of the nodes of a cluster."""

from pydantic import Field

from gpupanel.domain.device import CPU_KEY, DeviceInventory, PhysicalDevice
from gpupanel.domain.memory import (
    DEFAULT_MEMORY_KEY,
    Allocator,
    GrowingMemory,
    LimitedMemory,
    MemoryPolicy,
    SplitMemory,
    gives_out_whole,
)
from gpupanel.domain.profile import DeviceSettings
from gpupanel.domain.value import Value
from gpupanel.planning.visible_gpus import default_gpus


class DeviceChoices(Value):
    """The ``[devices]`` and ``[memory]`` tables of a profile: what the device panel edits.

    Attributes:
        memory: Policies by device key, ``default`` among them, as the profile has them.
    """

    devices: DeviceSettings = DeviceSettings()
    memory: dict[str, MemoryPolicy] = Field(default_factory=dict)

    def memory_policy(self, key: str) -> MemoryPolicy:
        """The policy of a device: its own, else the default one, else growth."""
        return self.memory.get(key) or self.memory.get(DEFAULT_MEMORY_KEY) or GrowingMemory()

    def keys_in_use(
        self, inventory: DeviceInventory, lost: frozenset[str] = frozenset()
    ) -> tuple[str, ...]:
        """The devices in use, spelled out.

        None named means every GPU that the shell leaves and that is not among the ``lost`` ones,
        or the CPU without one.
        """
        if not self.devices.visible:
            gpus = tuple(gpu.key for gpu in default_gpus(inventory) if gpu.key not in lost)
            return gpus or processors(inventory)
        present = {device.key for device in inventory.devices}
        return tuple(
            dict.fromkeys(
                found
                for key in self.devices.visible
                # It is the processor of every node.
                for found in (
                    processors(inventory) if key == CPU_KEY and key not in present else (key,)
                )
            )
        )

    def absent_keys(self, inventory: DeviceInventory) -> tuple[str, ...]:
        """What is named here and not in this machine: from a profile of another one."""
        named = dict.fromkeys((*self.devices.visible, *self.memory))
        known = {DEFAULT_MEMORY_KEY, CPU_KEY, *(device.key for device in inventory.devices)}
        return tuple(key for key in named if key not in known)

    def with_visible(self, keys: tuple[str, ...]) -> "DeviceChoices":
        """The same with these devices in use."""
        devices = self.devices.model_copy(update={"visible": keys})
        return self.model_copy(update={"devices": devices})

    def with_use_switched(
        self,
        key: str,
        inventory: DeviceInventory,
        lost: frozenset[str] = frozenset(),
        before: tuple[str, ...] = (),
    ) -> "DeviceChoices":
        """The same with one device of this machine in use if it was not, and the reverse.

        Which devices are used is spelled out by that, in the inventory's order; devices of another
        machine stay behind them. Where the last device is switched off, another kind takes its
        place: the CPU for the last GPU, GPUs for the CPU.

        Args:
            key: Of the device.
            inventory: The devices of this machine.
            lost: Those that do not answer.
            before: What ``visible`` was when GPUs were used last: they take the CPU's place.
        """
        in_use = set(self.keys_in_use(inventory, lost)) ^ {key}
        cpus = set(processors(inventory))
        if not in_use and key in cpus:
            return self.with_visible(_answering(before, inventory, lost))
        others = in_use - {key}
        if key in in_use - cpus and others and others <= cpus:
            # Replicas must be of one kind: a GPU takes the place of the CPU that was alone.
            in_use = {key}
        elif not in_use:
            in_use = cpus
        return self._with_in_use(in_use, inventory)

    def with_node_switched(
        self, node: str, inventory: DeviceInventory, lost: frozenset[str] = frozenset()
    ) -> "DeviceChoices":
        """The same with all GPUs of a node in use if none of its devices was; else without any.

        A node without a GPU takes part with its processor.
        """
        in_use = set(self.keys_in_use(inventory, lost))
        own = {device.key for device in inventory.devices if device.node == node}
        if in_use & own:
            return self._with_in_use(in_use - own, inventory)
        gpus = {gpu.key for gpu in inventory.gpus if gpu.node == node} - lost
        # Replicas must be of one kind: where GPUs come, processors go.
        kept = in_use - set(processors(inventory)) if gpus else in_use
        return self._with_in_use(kept | (gpus or own), inventory)

    def _with_in_use(self, in_use: set[str], inventory: DeviceInventory) -> "DeviceChoices":
        present = tuple(each.key for each in inventory.devices if each.key in in_use)
        absent = set(self.absent_keys(inventory))
        return self.with_visible(
            (*present, *(each for each in self.devices.visible if each in absent))
        )

    def may_be_switched_off(
        self, key: str, inventory: DeviceInventory, lost: frozenset[str] = frozenset()
    ) -> bool:
        """Whether anything could take the device's place; nothing can take that of the CPU alone.

        Args:
            key: Of a device of this machine.
            inventory: The devices of this machine.
            lost: Those that do not answer.
        """
        if self.keys_in_use(inventory, lost) != (key,):
            return True
        return key not in processors(inventory) or bool(_answering((), inventory, lost))

    def with_cpu_replicas(self, replicas: int) -> "DeviceChoices":
        """The same with so many logical devices made of the CPU."""
        devices = self.devices.model_copy(update={"cpu_replicas": replicas})
        return self.model_copy(update={"devices": devices})

    def with_allocator(self, allocator: Allocator) -> "DeviceChoices":
        """The same with GPU memory handed out by that one."""
        devices = self.devices.model_copy(update={"allocator": allocator})
        return self.model_copy(update={"devices": devices})

    def gpus_in_use(
        self, inventory: DeviceInventory, lost: frozenset[str] = frozenset()
    ) -> tuple[PhysicalDevice, ...]:
        """The GPUs of this machine that are in use, in the inventory's order."""
        in_use = set(self.keys_in_use(inventory, lost))
        return tuple(gpu for gpu in inventory.gpus if gpu.key in in_use)

    def applied_to_all(
        self, key: str, inventory: DeviceInventory, lost: frozenset[str] = frozenset()
    ) -> tuple["DeviceChoices", tuple[PhysicalDevice, ...]]:
        """The same with the policy of one device for every GPU in use.

        Returns:
            The choices, and the GPUs that keep their own policy since they have too little memory.
        """
        policy = self.memory_policy(key)
        gpus = self.gpus_in_use(inventory, lost)
        fitting = {gpu.key: policy for gpu in gpus if _fits(policy, gpu)}
        choices = self.model_copy(update={"memory": {**self.memory, key: policy, **fitting}})
        return choices, tuple(gpu for gpu in gpus if gpu.key not in (key, *fitting))

    def with_memory(self, key: str, policy: MemoryPolicy) -> "DeviceChoices":
        """The same with that policy for one device."""
        return self.model_copy(update={"memory": {**self.memory, key: policy}})

    def without(self, key: str) -> "DeviceChoices":
        """The same with nothing said about one device."""
        visible = tuple(each for each in self.devices.visible if each != key)
        memory = {each: policy for each, policy in self.memory.items() if each != key}
        described = {each: it for each, it in self.devices.described.items() if each != key}
        devices = self.devices.model_copy(update={"visible": visible, "described": described})
        return self.model_copy(update={"devices": devices, "memory": memory})


def processors(inventory: DeviceInventory) -> tuple[str, ...]:
    """The keys of the processors: that of this machine, or one of each node."""
    return tuple(device.key for device in inventory.devices if not device.is_gpu) or (CPU_KEY,)


def _answering(
    wanted: tuple[str, ...], inventory: DeviceInventory, lost: frozenset[str]
) -> tuple[str, ...]:
    """The GPUs among these that answer; all that do where none is named, or none is left."""
    gpus = tuple(
        gpu.key for gpu in inventory.gpus if gpu.key not in lost and not gpu.is_partitioned
    )
    return tuple(key for key in gpus if key in wanted) or gpus


def _fits(policy: MemoryPolicy, gpu: PhysicalDevice) -> bool:
    if gpu.memory_total_mib is None or not isinstance(policy, LimitedMemory | SplitMemory):
        return True
    return gives_out_whole(gpu.memory_total_mib, policy)
