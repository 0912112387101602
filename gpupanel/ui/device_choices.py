"""What a person chooses about the devices of this machine."""

from pydantic import Field

from gpupanel.domain.device import CPU_KEY, DeviceInventory
from gpupanel.domain.memory import DEFAULT_MEMORY_KEY, GrowingMemory, MemoryPolicy
from gpupanel.domain.profile import DeviceSettings
from gpupanel.domain.value import Value


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

    def keys_in_use(self, inventory: DeviceInventory) -> tuple[str, ...]:
        """The devices in use, spelled out: none named means every GPU, or the CPU without one."""
        if self.devices.visible:
            return self.devices.visible
        return tuple(device.key for device in inventory.gpus) or (CPU_KEY,)

    def absent_keys(self, inventory: DeviceInventory) -> tuple[str, ...]:
        """What is named here and not in this machine: from a profile of another one."""
        named = dict.fromkeys((*self.devices.visible, *self.memory))
        return tuple(
            key for key in named if key != DEFAULT_MEMORY_KEY and inventory.device(key) is None
        )

    def with_visible(self, keys: tuple[str, ...]) -> "DeviceChoices":
        """The same with these devices in use."""
        devices = self.devices.model_copy(update={"visible": keys})
        return self.model_copy(update={"devices": devices})

    def with_cpu_replicas(self, replicas: int) -> "DeviceChoices":
        """The same with so many logical devices made of the CPU."""
        devices = self.devices.model_copy(update={"cpu_replicas": replicas})
        return self.model_copy(update={"devices": devices})

    def with_memory(self, key: str, policy: MemoryPolicy) -> "DeviceChoices":
        """The same with that policy for one device."""
        return self.model_copy(update={"memory": {**self.memory, key: policy}})

    def without(self, key: str) -> "DeviceChoices":
        """The same with nothing said about one device."""
        visible = tuple(each for each in self.devices.visible if each != key)
        memory = {each: policy for each, policy in self.memory.items() if each != key}
        return self.with_visible(visible).model_copy(update={"memory": memory})
