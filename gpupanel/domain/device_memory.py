"""What a training is estimated to take of one memory, term by term."""

from pydantic import computed_field

from gpupanel.domain.value import Value

MARGIN = 1.15
"""What is estimated may be so much too small: see ``bench_memory_estimate.py``."""
MEASURED_MARGIN = 1.05
"""The margin of an estimate that was corrected by a measurement on the same device."""


class DeviceMemory(Value):
    """One logical device with a limit of its own, or all of a physical device.

    Attributes:
        device: The key of the physical device.
        logical_device: TensorFlow's name of the logical device; empty: all of the physical one.
        examples: That the replicas there take at a time, together.
        weights_mib: Of the model, with moving statistics, for each replica that is there.
        gradients_mib: And sums of gradients.
        optimizer_mib: What the optimizer and averages keep for each weight.
        data_mib: All examples, where they are copied to the device; else those of two calls.
        activations_mib: Of a step: what layers give, the examples among it.
        update_mib: What is held besides for a moment while the weights are updated, as far as the
            activations, which are gone by then, do not make room for it.
        overhead_mib: What goes of the device besides: CUDA's context and libraries, once for all
            parts of a split, and what TensorFlow leaves to others where it has no limit; on the
            host TensorFlow's process.
        room_mib: What there is for the training: what is free now less the overhead, or the limit
            where that is less; ``None``: not known.
        is_limit: Whether that is a limit.
        is_measured: Whether activations were measured on this device and not only estimated.
    """

    device: str
    logical_device: str = ""
    examples: int
    weights_mib: float
    gradients_mib: float
    optimizer_mib: float
    activations_mib: float
    data_mib: float = 0.0
    update_mib: float = 0.0
    overhead_mib: float
    room_mib: int | None = None
    is_limit: bool = False
    is_measured: bool = False

    @computed_field  # type: ignore[prop-decorator]
    @property
    def total_mib(self) -> float:
        """All that goes of the device."""
        return self.counted_mib + self.overhead_mib

    @computed_field  # type: ignore[prop-decorator]
    @property
    def counted_mib(self) -> float:
        """What has to fit into the room: all but the overhead."""
        kept = self.weights_mib + self.gradients_mib + self.optimizer_mib
        return kept + self.activations_mib + self.update_mib + self.data_mib

    @property
    def fits(self) -> bool:
        """Whether there is room for it, also where the estimate is somewhat too small."""
        return self.fits_beside(0.0)

    def fits_beside(self, more_mib: float) -> bool:
        """Whether there is room for it and so much more."""
        margin = MEASURED_MARGIN if self.is_measured else MARGIN
        more_mib += (margin - 1.0) * (self.activations_mib + self.update_mib)
        return self.room_mib is None or self.counted_mib + more_mib <= self.room_mib
