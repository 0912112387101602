"""What holds devices back, from what they and the host report; silent where they do not."""

from dataclasses import replace

import pytest

from gpupanel.domain.device import CPU_KEY, DeviceInventory
from gpupanel.domain.strategy import StrategyKind
from gpupanel.domain.telemetry import DeviceProcess, DeviceReading, DeviceState, ThrottleReason
from gpupanel.domain.training import TrainingSettings
from gpupanel.planning.findings.context import (
    BusyProcess,
    DeviceClock,
    FindingContext,
    HostObservation,
    QuotaCounters,
)
from gpupanel.planning.fixes import apply_fix
from tests.fakes.devices import CPU_ONLY, RTX_4090, TWO_UNEQUAL
from tests.unit.planning.findings.recorded import (
    OWN_PID,
    START_S,
    context_of,
    found_in,
    on_gpu,
    profile_of,
    reading,
    recorded,
    reports_of,
    spent,
)

FASTEST = (DeviceClock(key=RTX_4090.key, clock_mhz=2_500),)
OWN = DeviceProcess(pid=OWN_PID, name="python", memory_used_mib=9_000)


def with_link(lanes: int | None, generation: int | None) -> DeviceInventory:
    """The two GPUs, the first of which could have that link."""
    gpu = RTX_4090.model_copy(update={"pcie_width_max": lanes, "pcie_generation_max": generation})
    return TWO_UNEQUAL.model_copy(update={"devices": (gpu, *TWO_UNEQUAL.devices[1:])})


def test_that_a_gpu_that_works_as_it_should_has_no_findings() -> None:
    assert found_in(on_gpu(lambda _: reading(), clocks=FASTEST)) == {}


@pytest.mark.parametrize(
    ("link", "words"),
    [
        ({"pcie_width": 4}, "PCI Express 4 with 4 lanes"),
        ({"pcie_generation": 1}, "PCI Express 1 with 16 lanes"),
    ],
    ids=["four lanes", "generation 1"],
)
def test_that_a_slow_link_of_a_gpu_at_work_is_found(link: dict[str, int], words: str) -> None:
    context = on_gpu(lambda _: reading(**link), inventory=with_link(16, 4))

    finding = found_in(context)["slow_pcie_link"]

    assert words in finding.problem.message
    assert "(card and slot can have 4 with 16)" in finding.problem.message
    assert finding.device_key == RTX_4090.key
    assert finding.since_s == START_S


@pytest.mark.parametrize(
    ("readings", "most"),
    [
        (lambda _: reading(pcie_generation=1, gpu_utilization_percent=0.0), (16, 4)),
        (lambda n: reading(pcie_width=16 if n == 30 else 4), (16, 4)),
        (lambda _: reading(pcie_width=8), (16, 4)),
        (lambda _: reading(pcie_width=4), (4, 4)),
        (lambda _: reading(pcie_width=None), (16, 4)),
        (lambda _: reading(pcie_generation=1, age_s=3.0), (16, 4)),
        (lambda _: reading(pcie_generation=1, state=DeviceState.LOST), (16, 4)),
    ],
    ids=["idle", "not always", "eight lanes", "all it can have", "not known", "old", "lost"],
)
def test_that_a_link_is_not_blamed_for_what_is_usual_or_not_known(readings, most) -> None:
    found = found_in(on_gpu(readings, inventory=with_link(*most)))
    assert "slow_pcie_link" not in found


def held(*reasons: ThrottleReason, **values: object) -> DeviceReading:
    return reading(throttle_reasons=reasons, **values)


def test_that_heat_is_found_with_the_clock_that_it_costs_and_since_when() -> None:
    def readings(number: int) -> DeviceReading:
        if number < 20:
            return reading()
        return held(ThrottleReason.THERMAL, clock_mhz=2_000, temperature_c=88.0)

    finding = found_in(on_gpu(readings, clocks=FASTEST))["thermal_throttling"]

    assert "RTX 4090 slows itself down because it is too hot at 88 °C" in finding.problem.message
    assert "2,000 MHz of 2,500 MHz, 20 % less" in finding.problem.message
    assert finding.cost_fraction == pytest.approx(0.2)
    assert finding.since_s == START_S + 10.0


def test_that_heat_is_found_without_clocks_too_and_its_cost_is_not_known() -> None:
    context = on_gpu(lambda _: held(ThrottleReason.HARDWARE_THERMAL, clock_mhz=None))
    assert found_in(context)["thermal_throttling"].cost_fraction is None


def test_that_a_weak_power_supply_is_found() -> None:
    found = found_in(on_gpu(lambda _: held(ThrottleReason.HARDWARE_POWER_BRAKE)))
    assert "power supply does not give it enough" in found["power_throttling"].problem.message


@pytest.mark.parametrize(("clock_mhz", "is_found"), [(2_400, False), (2_000, True)])
def test_that_the_power_limit_is_a_finding_where_it_costs_a_tenth_of_the_clock(
    clock_mhz: int, is_found: bool
) -> None:
    context = on_gpu(lambda _: held(ThrottleReason.POWER_CAP, clock_mhz=clock_mhz), clocks=FASTEST)
    found = found_in(context)
    assert ("power_throttling" in found) is is_found
    assert found_in(replace(context, clocks=())) == {}


@pytest.mark.parametrize(
    "readings",
    [
        lambda n: held(ThrottleReason.THERMAL) if n % 3 == 2 else reading(),
        lambda n: held(ThrottleReason.THERMAL) if n < 50 else reading(),
        lambda _: held(ThrottleReason.IDLE, ThrottleReason.SYNC_BOOST),
        lambda _: reading(throttle_reasons=None),
        lambda _: held(ThrottleReason.THERMAL, gpu_utilization_percent=3.0),
    ],
    ids=["now and then", "over", "other reasons", "not known", "idle"],
)
def test_that_a_clock_is_not_blamed_for_a_moment_or_for_nothing(readings) -> None:
    assert "thermal_throttling" not in found_in(on_gpu(readings, clocks=FASTEST))


def shared_with(count: int = 60, **process: object) -> FindingContext:
    other = DeviceProcess.model_validate({"pid": 77, "name": "blender", "user": "ada", **process})
    return on_gpu(lambda _: reading(processes=(OWN, other)), count)


def test_that_another_process_that_computes_is_named_with_its_pid() -> None:
    finding = found_in(shared_with(utilization_percent=42.0, memory_used_mib=3_000))[
        "other_process_on_gpu"
    ]

    assert finding.problem.message == (
        "blender (process 77) of ada uses RTX 4090, too: 42 % of the time, 3,000 MiB of its memory."
    )
    assert finding.cost_fraction == pytest.approx(0.42)
    assert finding.device_key == RTX_4090.key


def test_that_a_process_whose_use_is_not_known_counts_by_what_it_holds() -> None:
    assert "other_process_on_gpu" in found_in(shared_with(memory_used_mib=4_000))
    assert found_in(shared_with(memory_used_mib=400)) == {}
    assert found_in(shared_with()) == {}


def test_that_a_desktop_is_no_finding() -> None:
    assert found_in(shared_with(utilization_percent=4.0, memory_used_mib=4_000)) == {}


def test_that_processes_of_another_pid_namespace_are_not_accused() -> None:
    busy = shared_with(utilization_percent=42.0)
    # The run's own process is not in the list under the pid that it has here.
    assert found_in(replace(busy, own_pids=frozenset({1}))) == {}
    assert found_in(shared_with(utilization_percent=42.0, name=None)) == {}


def hosts(*others: float | None, free: float = 0.02, **more: object) -> FindingContext:
    seen = tuple(
        HostObservation(
            time_s=START_S + 10 * place,
            others_fraction=fraction,
            free_fraction=free,
            busiest=BusyProcess(pid=12_345, name="ffmpeg", fraction=0.3),
        )
        for place, fraction in enumerate(others)
    )
    return replace(recorded("clean", profile_of()), hosts=seen, **more)


def test_that_a_busy_neighbour_on_the_processor_is_named() -> None:
    finding = found_in(hosts(None, 0.0, 0.35, 0.4))["other_process_on_cpu"]

    assert finding.problem.message == (
        "Other programs take 35 % of a CPU; the busiest of them, ffmpeg (process 12345), takes "
        "30 %."
    )
    assert finding.cost_fraction == pytest.approx(0.35)
    assert finding.since_s == START_S + 10
    assert finding.device_key == CPU_KEY


@pytest.mark.parametrize(
    "context",
    [
        hosts(0.4, 0.1),
        hosts(0.4),
        hosts(None, None),
        hosts(0.4, 0.4, free=0.3),
        hosts(0.4, 0.4, reports=reports_of(lambda _: spent(), count=5)),
    ],
    ids=["over", "once", "not known", "room for both", "the first seconds"],
)
def test_that_a_neighbour_is_not_guessed(context: FindingContext) -> None:
    assert found_in(context) == {}


def test_that_a_neighbour_on_the_processor_takes_nothing_from_a_gpu() -> None:
    seen = hosts(0.4, 0.4).hosts
    assert found_in(on_gpu(lambda _: reading(), hosts=seen)) == {}


def swapping(*used_mib: int | None) -> FindingContext:
    seen = tuple(
        HostObservation(time_s=START_S + 10 * place, swap_used_mib=used)
        for place, used in enumerate(used_mib)
    )
    return replace(recorded("clean", profile_of()), hosts=seen)


def test_that_swap_that_grows_is_found_with_its_figures() -> None:
    finding = found_in(swapping(100, 100, 300, 900))["swap_growing"]

    assert "900 MiB of it are in swap on the disk, 800 MiB more than 30 s ago" in (
        finding.problem.message
    )
    assert finding.since_s == START_S + 20


@pytest.mark.parametrize(
    "used_mib", [(4_000, 4_000, 4_000), (0, 10, 40), (0, 900, 900), (None, None), (900,)]
)
def test_that_swap_that_is_at_rest_or_not_known_is_no_finding(used_mib) -> None:
    assert found_in(swapping(*used_mib)) == {}


def held_back(*throttled: int, processors: float = 0.5, periods: int = 100) -> FindingContext:
    seen = tuple(
        HostObservation(
            time_s=START_S + 10 * place,
            quota=QuotaCounters(
                processors=processors,
                periods=1_000 + periods * place,
                throttled_periods=count,
                throttled_s=float(count) / 4,
            ),
        )
        for place, count in enumerate(throttled)
    )
    return replace(recorded("clean", profile_of()), hosts=seen)


def test_that_a_quota_that_holds_the_run_back_is_found() -> None:
    finding = found_in(held_back(0, 70, 160, 249))["cpu_quota"]

    assert "allows the run 0.5 processors of the 8 there are" in finding.problem.message
    assert "in 83 % of the periods of the last 30 s" in finding.problem.message
    assert finding.cost_fraction == pytest.approx(249 / 4 / 8 / 30)


@pytest.mark.parametrize(
    "context",
    [
        held_back(0, 5, 9, 12),
        held_back(0, 90, 90),
        held_back(0, 40, periods=40),
        held_back(900, 0, 90),
        held_back(90),
    ],
    ids=["seldom", "over", "too short", "another group", "one observation"],
)
def test_that_a_quota_that_leaves_enough_is_no_finding(context: FindingContext) -> None:
    assert found_in(context) == {}


def test_that_mixed_precision_is_proposed_where_the_card_makes_it_sure() -> None:
    context = on_gpu(lambda _: reading(), parameters=25_000_000)

    problem = found_in(context)["mixed_precision_helps"].problem

    assert "RTX 4090 computes at least twice as fast in 16-bit floats" in problem.message
    assert problem.fix is not None
    assert apply_fix(context.profile, problem.fix).training.mixed_precision


def old_card() -> DeviceInventory:
    gpu = RTX_4090.model_copy(update={"compute_capability": (6, 1)})
    return TWO_UNEQUAL.model_copy(update={"devices": (gpu, *TWO_UNEQUAL.devices[1:])})


@pytest.mark.parametrize(
    ("percent", "facts"),
    [
        (97.0, {"parameters": 10_000}),
        (97.0, {}),
        (60.0, {"parameters": 25_000_000}),
        (97.0, {"parameters": 25_000_000, "inventory": old_card()}),
        (97.0, {"parameters": 25_000_000, "shares": (4,)}),
        (
            97.0,
            {"parameters": 25_000_000, "reports": reports_of(lambda _: spent(1.0, host_s=0.4))},
        ),
    ],
    ids=["small network", "not known", "not busy", "old card", "few examples", "host is busy"],
)
def test_that_mixed_precision_is_not_proposed_on_a_guess(percent, facts) -> None:
    context = on_gpu(lambda _: reading(gpu_utilization_percent=percent), **facts)
    assert "mixed_precision_helps" not in found_in(context)


def test_that_mixed_precision_that_is_on_is_not_proposed() -> None:
    context = on_gpu(lambda _: reading(), parameters=25_000_000)
    training = TrainingSettings(mixed_precision=True)
    context = replace(context, profile=context.profile.model_copy(update={"training": training}))
    assert found_in(context) == {}


def test_that_of_two_gpus_of_one_name_the_number_is_said() -> None:
    twins = tuple(RTX_4090.model_copy(update={"key": f"GPU-{place}"}) for place in range(2))
    inventory = TWO_UNEQUAL.model_copy(update={"devices": (*twins, *CPU_ONLY.devices)})
    profile = profile_of(StrategyKind.MIRRORED, visible=("GPU-0", "GPU-1"))
    context = context_of(profile, inventory)
    assert [context.name(gpu.key) for gpu in twins] == ["RTX 4090 (GPU 0)", "RTX 4090 (GPU 1)"]
