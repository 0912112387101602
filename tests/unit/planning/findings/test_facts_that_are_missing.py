"""What findings say where a fact about the machine or the run is missing, and which fixes stay."""

from dataclasses import replace

from gpupanel.domain.data import DataCache, ImagesData
from gpupanel.domain.device import CPU_KEY
from gpupanel.domain.finding import Finding
from gpupanel.domain.gpu_support import GpuSupport
from gpupanel.domain.problem import Problem
from gpupanel.domain.strategy import AllReduce, StrategyKind, StrategySettings
from gpupanel.domain.telemetry import DeviceProcess, DeviceReading
from gpupanel.domain.time_spent import ReplicaTime
from gpupanel.planning.context import Known
from gpupanel.planning.findings.context import FindingContext, HostObservation
from gpupanel.planning.findings.host_findings import cpu_quota, swap_growing
from gpupanel.planning.findings.link_findings import slow_pcie_link
from gpupanel.planning.findings.replica_findings import exchange_bound
from gpupanel.planning.findings.sharing_findings import other_process_on_cpu, other_process_on_gpu
from gpupanel.planning.prepare import prepare
from tests.fakes.devices import CPU_ONLY, RTX_3060, RTX_4090, TWO_UNEQUAL
from tests.unit.planning.findings.recorded import (
    START_S,
    context_of,
    on_gpu,
    profile_of,
    reading,
    recorded,
    reports_of,
    spent,
)
from tests.unit.planning.findings.test_device_findings import held_back

EXCHANGING = ReplicaTime(computing_s=0.5, exchanging_s=0.5)


def swapping(context: FindingContext) -> FindingContext:
    hosts = tuple(
        HostObservation(time_s=START_S + 10 * place, swap_used_mib=used)
        for place, used in enumerate((100, 400, 900))
    )
    return replace(context, hosts=hosts)


def test_that_images_in_memory_may_be_kept_on_the_disk_where_the_machine_is_known() -> None:
    images = ImagesData(path="/images", cache=DataCache.MEMORY, image_size=(32, 32))
    profile = profile_of().model_copy(update={"data": images})
    reports = reports_of(lambda _: spent())
    context = swapping(context_of(profile, CPU_ONLY, reports=reports))
    (finding,) = swap_growing(context)
    assert finding.problem.fix is not None
    assert finding.problem.fix.label == "Cache on disk"
    (unknown,) = swap_growing(replace(context, inventory=None))
    assert unknown.problem.fix is None


def test_that_the_cost_of_a_quota_is_left_out_where_the_processors_are_not_known() -> None:
    (finding,) = cpu_quota(replace(held_back(0, 70, 160, 249), inventory=None))
    assert finding.cost_fraction is None
    assert "0.5 processors: the kernel" in finding.problem.message


def test_that_what_a_link_could_be_is_left_out_where_it_is_not_known() -> None:
    (finding,) = slow_pcie_link(on_gpu(lambda _: reading(pcie_width=2)))
    assert "with 2 lanes while it trains: examples" in finding.problem.message


def exchanging(
    replicas: int = 2,
    all_reduce: AllReduce = AllReduce.AUTO,
    shares: tuple[int, ...] | None = None,
    *,
    gpus: bool = False,
    kind: StrategyKind = StrategyKind.MIRRORED,
    support: GpuSupport | None = None,
) -> Finding:
    keys = (RTX_4090.key, RTX_3060.key) if gpus else (CPU_KEY,)
    profile = profile_of(kind, batch=48, visible=keys, replicas=replicas)
    strategy = StrategySettings(kind=kind, all_reduce=all_reduce, shares=shares or "equal")
    profile = profile.model_copy(update={"strategy": strategy})
    machine = TWO_UNEQUAL if gpus else CPU_ONLY
    reports = reports_of(lambda _: spent(1.0, *(EXCHANGING,) * replicas))
    context = context_of(profile, machine, reports=reports)
    plan = prepare(profile, machine, Known(support=support)).plan
    assert plan is not None
    (finding,) = exchange_bound(replace(context, plan=plan, support=support))
    return finding


def labels(finding: Finding) -> list[str]:
    problem = finding.problem
    fixes = (problem.fix, *problem.alternatives)
    return [fix.label for fix in fixes if fix is not None]


def test_that_gpus_may_sum_by_nccl_and_not_as_they_do_already() -> None:
    assert labels(exchanging(all_reduce=AllReduce.HIERARCHICAL_COPY, gpus=True)) == ["Use NCCL"]
    assert labels(exchanging(gpus=True)) == ["Use Hierarchical copy"]


def test_that_workers_sum_over_a_ring_and_may_sum_by_nccl_on_gpus_only() -> None:
    workers = StrategyKind.MULTI_WORKER
    assert labels(exchanging(gpus=True, kind=workers)) == ["Use NCCL"]
    assert labels(exchanging(gpus=True, kind=workers, all_reduce=AllReduce.NCCL)) == []
    assert labels(exchanging(kind=workers)) == []


def test_that_nccl_is_not_offered_where_it_is_missing() -> None:
    support = GpuSupport(without_nccl=Problem(code="x", message="There is none."))
    assert labels(exchanging(gpus=True, support=support)) == []
    workers = StrategyKind.MULTI_WORKER
    assert labels(exchanging(gpus=True, kind=workers, support=support)) == []
    copies = AllReduce.HIERARCHICAL_COPY
    assert labels(exchanging(gpus=True, all_reduce=copies, support=support)) == []


def test_that_an_odd_number_of_replicas_is_not_summed_by_hierarchical_copy() -> None:
    assert labels(exchanging(replicas=3)) == []


def test_that_shares_that_were_given_are_not_changed_by_a_larger_batch() -> None:
    assert not any("batch" in label for label in labels(exchanging(shares=(32, 16))))


def test_that_a_busy_processor_is_found_where_nobody_knows_by_whom() -> None:
    hosts = tuple(
        HostObservation(time_s=START_S + 10 * place, others_fraction=0.6, free_fraction=0.0)
        for place in range(3)
    )
    (finding,) = other_process_on_cpu(replace(recorded("clean", profile_of()), hosts=hosts))
    assert "take 60 % of" in finding.problem.message
    assert "busiest" not in finding.problem.message


def test_that_a_process_whose_memory_is_not_known_is_found_by_its_use() -> None:
    other = DeviceProcess(pid=7, name="game", utilization_percent=60.0)

    def shared(_: int) -> DeviceReading:
        plain = reading()
        return plain.model_copy(update={"processes": (*plain.processes, other)})

    (finding,) = other_process_on_gpu(on_gpu(shared))
    assert "too: 60 % of the time." in finding.problem.message
