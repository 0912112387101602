"""Machines for the stand-in NVML that are more than two plain GPUs."""

from dataclasses import replace

from tests.nvml.standin import NOT_SUPPORTED, RTX_3060, RTX_4090, StandinGpu, StandinState

# NVML's topology levels.
SAME_BOARD, PCIE_SWITCH, PCIE_SWITCHES, HOST_BRIDGE, NUMA_NODE, SYSTEM = 0, 10, 20, 30, 40, 50

_BUS = "00000000:{:02X}:00.0"

KEPLER = StandinGpu(
    name="Tesla K80",
    uuid="GPU-33333333-cccc-4ccc-8ccc-00000000000a",
    bus=_BUS.format(0x03),
    capability="3.7",
    architecture=2,
    memory_total_mib=11_441,
    memory_reserved_mib=0,
    temperature_c=30,
    power_mw=26_000,
    power_limit_mw=149_000,
    ecc_corrected=12,
    ecc_uncorrected=1,
    retired_pages_single_bit=2,
    retired_pages_double_bit=1,
    near={_BUS.format(0x04): SAME_BOARD},
)
"""Old, with pages taken out of use."""

LOST = StandinGpu(
    name="Tesla K80",
    uuid="GPU-44444444-dddd-4ddd-8ddd-00000000000b",
    bus=_BUS.format(0x04),
    capability="3.7",
    architecture=2,
    memory_total_mib=11_441,
)
"""The other half of the board; falls off the bus when its ``lost`` is set."""

BARE = StandinGpu(
    name="NVIDIA Graphics Device",
    uuid="GPU-55555555-eeee-4eee-8eee-000000000bae",
    bus=_BUS.format(0x05),
    memory_total_mib=None,
    utilization_percent=None,
    temperature_c=None,
    power_mw=None,
    power_limit_mw=None,
    compute_mode=None,
    fail={
        "nvmlDeviceGetCudaComputeCapability": NOT_SUPPORTED,
        "nvmlDeviceGetNumFans": NOT_SUPPORTED,
    },
)
"""Tells who it is and nothing else."""

SLOW = StandinGpu(
    name="NVIDIA TITAN V",
    uuid="GPU-66666666-ffff-4fff-8fff-0000000510e0",
    bus=_BUS.format(0x06),
    capability="7.0",
    architecture=5,
    memory_total_mib=12_288,
    clock_mhz=1_200,
    fan=(45,),
    slow_ms=500,
)
"""Half a second for every answer."""

_A100_BUS = _BUS.format(0x07)
INSTANCES = tuple(
    StandinGpu(
        name=f"NVIDIA A100-SXM4-40GB MIG {slices}g.{gib}gb",
        uuid=f"MIG-77777777-{place:04x}-4aaa-8aaa-0000000a0100",
        bus=_A100_BUS,
        capability="8.0",
        memory_total_mib=mib,
        memory_reserved_mib=12,
        memory_used_mib=used,
        utilization_percent=None,
        temperature_c=None,
        power_mw=None,
        power_limit_mw=None,
        mig_place=place,
        fail={"nvmlDeviceGetNumFans": NOT_SUPPORTED},
        compute=((4_000_000 + place, used),),
    )
    for place, slices, gib, mib, used in ((0, 3, 20, 19_968, 5_000), (2, 1, 5, 4_864, 700))
)
MIG = StandinGpu(
    name="NVIDIA A100-SXM4-40GB",
    uuid="GPU-77777777-aaaa-4aaa-8aaa-0000000a0100",
    bus=_A100_BUS,
    capability="8.0",
    architecture=7,
    memory_total_mib=40_960,
    memory_used_mib=5_724,
    utilization_percent=None,
    power_mw=61_000,
    power_limit_mw=400_000,
    clock_mhz=1_410,
    memory_clock_mhz=1_215,
    throttle_mask=0,
    ecc_corrected=0,
    ecc_uncorrected=0,
    remapped_rows_corrected=1,
    remapped_rows_uncorrected=2,
    mig_mode=1,
    nvlink=("switch",) * 12,
    instances=INSTANCES,
)
"""In MIG mode with two instances, at places 0 and 2."""

HOPPER = StandinGpu(
    name="NVIDIA H100 80GB HBM3",
    uuid="GPU-88888888-bbbb-4bbb-8bbb-0000000b0100",
    bus=_BUS.format(0x08),
    capability="9.0",
    architecture=9,
    memory_total_mib=81_559,
    utilization_percent=97,
    memory_utilization_percent=61,
    temperature_c=84,
    temperature_slowdown_c=87,
    temperature_shutdown_c=92,
    power_mw=699_000,
    power_limit_mw=700_000,
    power_limit_default_mw=700_000,
    power_limit_least_mw=200_000,
    power_limit_most_mw=700_000,
    clock_mhz=1_755,
    memory_clock_mhz=2_619,
    throttle_mask=0x4 | 0x20,
    pcie_generation=5,
    pcie_width=16,
    pcie_generation_max=5,
    pcie_width_max=16,
    ecc_corrected=0,
    ecc_uncorrected=0,
    remapped_rows_corrected=0,
    remapped_rows_uncorrected=0,
    mig_mode=0,
    nvlink=("switch",) * 18,
    near={RTX_3060.bus: NUMA_NODE},
)
"""Busy, hot and at its power limit."""

EIGHT_MIXED = StandinState(gpus=(RTX_4090, RTX_3060, KEPLER, LOST, BARE, SLOW, MIG, HOPPER))
"""Eight of mixed ages: one may be lost, one is bare, one slow, one in MIG mode."""

NVLINK_PAIR = StandinState(
    gpus=tuple(
        StandinGpu(
            name="NVIDIA GeForce RTX 3090",
            uuid=f"GPU-99999999-{place}ccc-4ccc-8ccc-000000003090",
            bus=_BUS.format(0x21 + place),
            capability="8.6",
            architecture=7,
            memory_total_mib=24_576,
            nvlink=(_BUS.format(0x22 - place).replace("00000000", "0000"),) * 4,
            nvlink_down=(_BUS.format(0x22 - place),),
        )
        for place in range(2)
    )
)
"""Two with a bridge of four NVLinks, written with a short domain; a fifth is down."""

TWO_FABRICS = StandinState(
    gpus=tuple(
        replace(
            HOPPER,
            uuid=f"GPU-aaaaaaaa-{place}ddd-4ddd-8ddd-0000000b0100",
            bus=_BUS.format(0x31 + place),
            nvlink=("switch",) * (18 - place),
            nvlink_fabric=place // 2,
        )
        for place in range(4)
    )
)
"""Four behind NVSwitches, the first two on one fabric, the others on another."""
