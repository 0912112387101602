"""What the devices of several nodes report, put together."""

from gpupanel.domain.telemetry import DeviceReading, DeviceState, TelemetrySample
from gpupanel.runs.supervision.node_samples import NodeSamples
from tests.fakes.devices import CPU_ONLY


def sample_with(used_mib: int) -> TelemetrySample:
    reading = DeviceReading(key="cpu", memory_used_mib=used_mib)
    return TelemetrySample(time_s=1.0, readings=(reading,))


def test_that_devices_are_those_that_a_node_said_last() -> None:
    samples = NodeSamples()
    samples.take("a", None, sample_with(1))
    assert samples.inventory() is None
    assert samples.sample().readings == ()
    samples.take("a", CPU_ONLY, sample_with(2))
    samples.take("a", None, sample_with(3))
    found = samples.sample().reading("cpu@a")
    assert found is not None
    assert found.memory_used_mib == 3
    samples.lose("a")
    lost = samples.sample().reading("cpu@a")
    assert lost is not None
    assert lost.state is DeviceState.LOST
